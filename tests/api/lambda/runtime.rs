//! A stand-in of the Lambda runtime API (AWS Lambda developer guide: "Using the Lambda runtime API for custom
//! runtimes"): hands an invocation to each request for the next one, and takes answers.

use std::{
    convert::Infallible,
    sync::Arc,
    time::{Duration, SystemTime},
};

use http_body_util::{BodyExt, Full};
use hyper::{
    Method, Request, Response,
    body::{Bytes, Incoming},
    server::conn::http1,
    service::service_fn,
};
use hyper_util::rt::TokioIo;
use serde_json::Value;
use tokio::{
    net::TcpListener,
    sync::{Mutex, mpsc},
    task::JoinSet,
};

/// The part of every path before what is asked for.
const RUNTIME: &str = "/2018-06-01/runtime/";

/// An event, and when it must be answered, in milliseconds since 1970.
struct Invocation {
    event: Value,
    deadline_ms: u128,
}

/// What came back: `Ok` for a response, `Err` for an error.
pub type Answer = Result<Value, Value>;

/// The running stand-in. It ends when it is dropped.
pub struct RuntimeApi {
    /// As `AWS_LAMBDA_RUNTIME_API` names it.
    pub address: String,
    invocations: mpsc::UnboundedSender<Invocation>,
    answers: mpsc::UnboundedReceiver<Answer>,
    _server: JoinSet<()>,
}

struct Desk {
    invocations: Mutex<mpsc::UnboundedReceiver<Invocation>>,
    answers: mpsc::UnboundedSender<Answer>,
}

impl RuntimeApi {
    pub async fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap().to_string();
        let (invocations, waiting) = mpsc::unbounded_channel();
        let (answered, answers) = mpsc::unbounded_channel();
        let desk = Arc::new(Desk { invocations: Mutex::new(waiting), answers: answered });
        let mut server = JoinSet::new();
        server.spawn(serve(listener, desk));
        Self { address, invocations, answers, _server: server }
    }

    /// Invokes the function once; it has so much time.
    pub async fn invoke(&mut self, event: Value, time: Duration) -> Answer {
        let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap();
        self.invocations.send(Invocation { event, deadline_ms: (now + time).as_millis() }).unwrap();
        self.answers.recv().await.unwrap()
    }
}

async fn serve(listener: TcpListener, desk: Arc<Desk>) {
    let mut connections = JoinSet::new();
    loop {
        let (stream, _) = listener.accept().await.unwrap();
        let desk = Arc::clone(&desk);
        let service = service_fn(move |request| answer(Arc::clone(&desk), request));
        connections.spawn(http1::Builder::new().serve_connection(TokioIo::new(stream), service));
    }
}

async fn answer(desk: Arc<Desk>, request: Request<Incoming>) -> Result<Response<Full<Bytes>>, Infallible> {
    let path = request.uri().path().strip_prefix(RUNTIME).unwrap().to_owned();
    if request.method() == Method::GET {
        assert_eq!(path, "invocation/next");
        // A caller that has hung up gets none.
        let Some(invocation) = desk.invocations.lock().await.recv().await else { return Ok(accepted()) };
        return Ok(Response::builder()
            .header("lambda-runtime-aws-request-id", "8476a536-e9f4-11e8-9739-2dfe598c3fcd")
            .header("lambda-runtime-deadline-ms", invocation.deadline_ms.to_string())
            .header(
                "lambda-runtime-invoked-function-arn",
                "arn:aws:lambda:ap-northeast-1:123456789012:function:deliver",
            )
            .body(Full::from(invocation.event.to_string()))
            .unwrap());
    }
    let body = serde_json::from_slice(&request.into_body().collect().await.unwrap().to_bytes()).unwrap();
    let answer = if path.ends_with("/response") { Ok(body) } else { Err(body) };
    desk.answers.send(answer).unwrap();
    Ok(accepted())
}

fn accepted() -> Response<Full<Bytes>> {
    Response::builder().status(202).body(Full::default()).unwrap()
}
