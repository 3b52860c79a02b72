//! Spans to an OpenTelemetry collector (feature `otel`): OTLP over HTTP, configured by the standard `OTEL_…` variables
//! (OpenTelemetry specification: "OpenTelemetry Protocol Exporter", "SDK environment variables").

use std::{env, sync::OnceLock, time::Duration};

use anyhow::Context as _;
use async_trait::async_trait;
use opentelemetry::trace::{SpanId, TraceId, TracerProvider as _};
use opentelemetry_http::{Bytes, HttpClient, HttpError, Request, Response};
use opentelemetry_otlp::{SpanExporter, WithHttpConfig as _};
use opentelemetry_sdk::{
    Resource,
    trace::{IdGenerator, RandomIdGenerator, SdkTracerProvider, Tracer},
};
use tokio::runtime::Handle;
use tracing::Subscriber;
use tracing_opentelemetry::OpenTelemetryLayer;
use tracing_subscriber::registry::LookupSpan;

use crate::line::trace;

const NAME: &str = "stamp-rally";

/// How long one export may take: what the OpenTelemetry specification says where nothing else is said.
const LONGEST_EXPORT: Duration = Duration::from_secs(10);

/// Kept for the last spans of the process, see [`flush`].
static PROVIDER: OnceLock<SdkTracerProvider> = OnceLock::new();

/// Returns what exports spans, where a collector is configured (`OTEL_EXPORTER_OTLP_ENDPOINT`, or that of traces alone).
///
/// # Errors
///
/// An address that is none, another protocol than `http/protobuf`, no CA files where https is wanted.
pub(super) fn layer<S>() -> anyhow::Result<Option<OpenTelemetryLayer<S, Tracer>>>
where
    S: Subscriber + for<'span> LookupSpan<'span>,
{
    if !["OTEL_EXPORTER_OTLP_ENDPOINT", "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT"].into_iter().any(is_set) {
        return Ok(None);
    }
    let client = reqwest::Client::builder().timeout(LONGEST_EXPORT).build().context("the exporter of spans")?;
    let client = OnRuntime { client, runtime: Handle::current() };
    let exporter = SpanExporter::builder().with_http().with_http_client(client).build();
    let exporter = exporter.context("OTEL_EXPORTER_OTLP_ENDPOINT")?;
    let resource = Resource::builder();
    let resource = if is_set("OTEL_SERVICE_NAME") { resource } else { resource.with_service_name(NAME) };
    let provider = SdkTracerProvider::builder()
        .with_batch_exporter(exporter)
        .with_id_generator(Ids(RandomIdGenerator::default()))
        .with_resource(resource.build())
        .build();
    let tracer = PROVIDER.get_or_init(|| provider).tracer(NAME);
    Ok(Some(tracing_opentelemetry::layer().with_tracer(tracer)))
}

/// Sends the spans that are left; to be called when the process ends, while the asynchronous runtime still runs, by a
/// thread that is not its own.
pub(super) fn flush() {
    if let Some(Err(error)) = PROVIDER.get().map(SdkTracerProvider::shutdown) {
        tracing::warn!(error = %error, "the last spans could not be exported");
    }
}

fn is_set(name: &str) -> bool {
    env::var_os(name).is_some_and(|value| !value.is_empty())
}

/// Sends on the process's runtime: the exporter's thread has none.
#[derive(Debug)]
struct OnRuntime {
    client: reqwest::Client,
    runtime: Handle,
}

#[async_trait]
impl HttpClient for OnRuntime {
    async fn send_bytes(&self, request: Request<Bytes>) -> Result<Response<Bytes>, HttpError> {
        let client = self.client.clone();
        self.runtime.spawn(async move { client.send_bytes(request).await }).await?
    }
}

/// Gives an exported trace the id that the log has.
#[derive(Debug)]
struct Ids(RandomIdGenerator);

impl IdGenerator for Ids {
    fn new_trace_id(&self) -> TraceId {
        trace::current().map_or_else(|| self.0.new_trace_id(), |trace| u128::from(trace.trace_id()).into())
    }

    fn new_span_id(&self) -> SpanId {
        self.0.new_span_id()
    }
}
