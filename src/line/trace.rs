//! The trace that requests to LINE belong to: that of the request they are made for, or one of their own.

use crate::domain::trace::TraceContext;

tokio::task_local! {
    static CURRENT: TraceContext;
}

/// Runs a future; the requests to LINE that it makes itself (not those of tasks that it starts) belong to the trace.
pub async fn within<F: Future>(trace: TraceContext, work: F) -> F::Output {
    CURRENT.scope(trace, work).await
}

/// Returns the trace of what runs now, where it is part of one.
#[must_use]
pub fn current() -> Option<TraceContext> {
    CURRENT.try_with(|trace| *trace).ok()
}

/// Returns the header of a request that is sent now.
pub(super) fn traceparent() -> String {
    #[cfg(feature = "otel")]
    if let Some(exported) = exported::traceparent() {
        return exported;
    }
    current().unwrap_or_else(TraceContext::generate).to_string()
}

#[cfg(feature = "otel")]
pub use exported::follow;

/// Spans that go to an OpenTelemetry collector have ids of its making.
#[cfg(feature = "otel")]
mod exported {
    use opentelemetry::{
        Context,
        trace::{SpanContext, SpanId, TraceContextExt as _, TraceFlags, TraceId, TraceState},
    };
    use tracing_opentelemetry::OpenTelemetrySpanExt as _;

    use crate::domain::trace::TraceContext;

    /// Makes a span the child of a caller's; to be done before the span is entered.
    pub fn follow(span: &tracing::Span, parent: TraceContext) {
        let trace_id = TraceId::from(u128::from(parent.trace_id()));
        let (span_id, flags) = (SpanId::from(parent.span_id()), TraceFlags::new(parent.flags()));
        let parent = SpanContext::new(trace_id, span_id, flags, true, TraceState::NONE);
        // Fails where nothing is exported: then there is nothing to connect.
        let _ = span.set_parent(Context::new().with_remote_span_context(parent));
    }

    /// Names the span that runs now, if it goes to a collector.
    pub(super) fn traceparent() -> Option<String> {
        let context = tracing::Span::current().context();
        let span = context.span().span_context().clone();
        span.is_valid().then(|| format!("00-{}-{}-{:02x}", span.trace_id(), span.span_id(), span.trace_flags()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn request_to_line_belongs_to_the_trace_it_is_made_in_or_to_a_new_one() {
        let trace = TraceContext::generate();
        assert_eq!(within(trace, async { traceparent() }).await, trace.to_string());
        assert_eq!(current(), None);
        assert_ne!(traceparent(), traceparent());
    }
}
