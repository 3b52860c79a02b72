//! Handling one job, on whatever way its record came.

use std::sync::Arc;

use tracing::Instrument as _;

use super::{
    effect::{Handling, Progress, Work},
    lanes::Waiting,
};

/// A job that was handled.
pub(super) struct Handled {
    pub job: Waiting<Arc<dyn Work>>,
    pub progress: Progress,
}

/// Handles a job in a span that names its effect and its record. `source` names the shard in logs.
pub(super) async fn handle(job: Waiting<Arc<dyn Work>>, under: Handling, source: &str) -> Handled {
    let span = tracing::info_span!(
        "consumer.job",
        effect = job.lane.effect,
        shard.id = source,
        sequence = job.sequence.as_str()
    );
    let progress = job.work.handle(&under).instrument(span).await;
    Handled { job, progress }
}
