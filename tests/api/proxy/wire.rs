//! The side of the proxy that faces the wire.

use std::{
    collections::BTreeMap,
    convert::Infallible,
    fmt,
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicBool, AtomicU64, Ordering},
    },
};

use http_body_util::{BodyExt, Full};
use hyper::{
    Request, Response, StatusCode, Uri,
    body::{Bytes, Incoming},
    header,
    service::service_fn,
};
use hyper_util::{
    client::legacy::{Client, connect::HttpConnector},
    rt::{TokioExecutor, TokioIo},
};
use tokio::{net::TcpListener, sync::oneshot, task::JoinSet};

use super::{
    call::{Call, Calls},
    deal::Deal,
    fault::{Fault, GateState, Rule},
    streams::Source,
};

/// What the proxy's two sides share: the test says what shall happen, the connections do it.
#[derive(Debug)]
pub(super) struct Wire {
    pub upstream: String,
    pub client: Client<HttpConnector, Full<Bytes>>,
    /// The engine's shard as several, if it is to be.
    pub deal: Mutex<Option<Deal>>,
    pub source: Mutex<Option<Source>>,
    /// Where reading the engine's shard continues; locked by the reader.
    pub next: tokio::sync::Mutex<Option<String>>,
    pub down: AtomicBool,
    pub rules: Mutex<Vec<Rule>>,
    pub gates: Mutex<Vec<(Calls, Arc<GateState>)>>,
    pub counts: Mutex<BTreeMap<Call, u64>>,
    pub faults: AtomicU64,
}

/// The connection breaks without an answer: what hyper does when a handler fails.
#[derive(Debug)]
pub(super) struct Broken;

impl fmt::Display for Broken {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str("the proxy breaks this connection")
    }
}

impl std::error::Error for Broken {}

impl Wire {
    pub fn to(upstream: &str) -> Self {
        let mut straight = HttpConnector::new();
        straight.set_nodelay(true);
        Self {
            upstream: upstream.trim_end_matches('/').to_owned(),
            client: Client::builder(TokioExecutor::new()).build(straight),
            deal: Mutex::default(),
            source: Mutex::default(),
            next: tokio::sync::Mutex::default(),
            down: AtomicBool::new(false),
            rules: Mutex::default(),
            gates: Mutex::default(),
            counts: Mutex::default(),
            faults: AtomicU64::new(0),
        }
    }

    async fn answer(&self, request: Request<Incoming>) -> Result<Response<Full<Bytes>>, Broken> {
        let (head, body) = request.into_parts();
        let body = body.collect().await.map_err(|_| Broken)?.to_bytes();
        let call = Call::read(&head.headers, &body);
        *own(&self.counts).entry(call.clone()).or_default() += 1;
        for gate in self.gates_before(&call) {
            gate.pass().await;
        }
        self.reachable()?;
        let fault = self.fault(&call);
        match fault {
            Some(Fault::LostRequest) => Err(Broken),
            Some(Fault::ServerError) => Ok(refusal(500, "InternalServerError", "The request failed.")),
            Some(Fault::ThroughputExceeded) => Ok(refusal(
                400,
                "ProvisionedThroughputExceededException",
                "The level of configured provisioned throughput for the table was exceeded.",
            )),
            Some(Fault::Throttled) => {
                Ok(refusal(400, "ThrottlingException", "Rate of requests exceeds the allowed throughput."))
            }
            Some(Fault::LimitExceeded) => {
                Ok(refusal(400, "LimitExceededException", "Too many operations for a given subscriber."))
            }
            Some(Fault::LostAnswer) => {
                self.carry_out(&call, head, body).await?;
                Err(Broken)
            }
            None => {
                let answer = self.carry_out(&call, head, body).await?;
                self.reachable()?;
                Ok(answer)
            }
        }
    }

    async fn carry_out(
        &self,
        call: &Call,
        head: hyper::http::request::Parts,
        body: Bytes,
    ) -> Result<Response<Full<Bytes>>, Broken> {
        match self.answer_dealt(call, &body).await {
            Some(answer) => answer,
            None => self.forward(head, body).await,
        }
    }

    async fn forward(&self, head: hyper::http::request::Parts, body: Bytes) -> Result<Response<Full<Bytes>>, Broken> {
        let mut request = Request::from_parts(head, Full::new(body));
        let path = request.uri().path_and_query().map_or("/", |path| path.as_str());
        *request.uri_mut() = format!("{}{path}", self.upstream).parse::<Uri>().map_err(|_| Broken)?;
        for hop in [header::HOST, header::CONNECTION, header::TRANSFER_ENCODING] {
            request.headers_mut().remove(hop);
        }
        let (mut head, body) = self.client.request(request).await.map_err(|_| Broken)?.into_parts();
        head.headers.remove(header::CONNECTION);
        head.headers.remove(header::TRANSFER_ENCODING);
        let body = body.collect().await.map_err(|_| Broken)?.to_bytes();
        Ok(Response::from_parts(head, Full::new(body)))
    }

    fn reachable(&self) -> Result<(), Broken> {
        if self.down.load(Ordering::SeqCst) { Err(Broken) } else { Ok(()) }
    }

    fn gates_before(&self, call: &Call) -> Vec<Arc<GateState>> {
        let gates = own(&self.gates);
        gates.iter().filter(|(calls, _)| calls.include(call)).map(|(_, gate)| Arc::clone(gate)).collect()
    }

    fn fault(&self, call: &Call) -> Option<Fault> {
        let mut rules = own(&self.rules);
        let fault = rules.iter_mut().find_map(|rule| rule.fault_for(call));
        self.faults.fetch_add(u64::from(fault.is_some()), Ordering::SeqCst);
        fault
    }
}

/// An error as DynamoDB words it.
pub(super) fn refusal(status: u16, code: &str, message: &str) -> Response<Full<Bytes>> {
    let body = format!(r#"{{"__type":"com.amazonaws.dynamodb.v20120810#{code}","message":"{message}"}}"#);
    let mut answer = Response::new(Full::new(Bytes::from(body)));
    *answer.status_mut() = StatusCode::from_u16(status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
    answer.headers_mut().insert(header::CONTENT_TYPE, header::HeaderValue::from_static("application/x-amz-json-1.0"));
    answer
}

/// A test that failed while it held the lock has been reported; the numbers are still right.
pub(super) fn own<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The whole life of the proxy's thread. Connections end with it.
pub(super) async fn run(listener: std::net::TcpListener, wire: Arc<Wire>, mut stop: oneshot::Receiver<Infallible>) {
    let Ok(listener) = TcpListener::from_std(listener) else { return };
    let mut connections = JoinSet::new();
    loop {
        tokio::select! {
            _ = &mut stop => return,
            Some(_) = connections.join_next() => {}
            Ok((connection, _)) = listener.accept() => {
                if wire.reachable().is_err() || connection.set_nodelay(true).is_err() {
                    continue;
                }
                let wire = Arc::clone(&wire);
                connections.spawn(async move {
                    let answers = service_fn(|request| wire.answer(request));
                    // It fails when it shall, and when the client goes.
                    let _ = hyper::server::conn::http1::Builder::new()
                        .serve_connection(TokioIo::new(connection), answers)
                        .await;
                });
            }
        }
    }
}
