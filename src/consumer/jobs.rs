//! The jobs of one shard or batch: from the record that brings them until they are finished.

use std::sync::Arc;

use tracing::Instrument as _;

use crate::domain::time::Timestamp;
use crate::store::stream::Record;

use super::{
    effect::{Effects, FactRef, Handling, Progress, Work},
    lanes::{Lane, Lanes, Waiting},
    window::{Ticket, Window},
};

/// Jobs in their lanes until they are handed out, and in the window until they are finished.
#[derive(Default)]
pub(super) struct Jobs {
    pub window: Window,
    pub lanes: Lanes<Arc<dyn Work>>,
}

/// A job that was handled.
pub(super) struct Handled {
    pub job: Waiting<Arc<dyn Work>>,
    pub progress: Progress,
}

/// Handles a job in a span that names its effect and its record. `source` names the shard in logs.
pub(super) async fn handle(job: Waiting<Arc<dyn Work>>, handling: Handling, source: &str) -> Handled {
    let span = tracing::info_span!(
        "consumer.job",
        effect = job.lane.effect,
        shard.id = source,
        sequence = job.sequence.as_str()
    );
    let progress = job.work.handle(&handling).instrument(span).await;
    Handled { job, progress }
}

impl Jobs {
    /// Puts the jobs of a record in their lanes, and returns their facts; one without a job is finished as soon as it is
    /// read. `None`: it was read before. `source` names the shard in logs.
    pub fn take_in(
        &mut self,
        record: &Record,
        effects: &Effects,
        source: &str,
        is_maybe_handed_out: impl Fn(Timestamp) -> bool,
    ) -> Option<Vec<(Ticket, FactRef)>> {
        let jobs = effects.iter().filter_map(|effect| Some((effect.name(), effect.job(record, source)?)));
        let jobs: Vec<_> = jobs.collect();
        let times = jobs.iter().map(|(_, job)| job.fact.at).collect();
        let tickets = self.window.read(record.sequence.clone(), record.at, times)?;
        let facts = tickets.into_iter().zip(jobs).map(|(ticket, (effect, job))| {
            let (lane, at) = (Lane { effect, order_key: job.order_key }, job.fact.at);
            let (sequence, maybe_handed_out) = (record.sequence.clone(), is_maybe_handed_out(at));
            self.lanes.push(Waiting { ticket, sequence, lane, at, maybe_handed_out, work: job.work });
            (ticket, job.fact)
        });
        Some(facts.collect())
    }

    /// Takes note of what a job came to.
    pub fn handled(&mut self, Handled { job, progress }: Handled) {
        match progress {
            Progress::Finished => {
                self.window.finish(job.ticket);
                self.lanes.finished(job.lane);
            }
            Progress::Unfinished => self.lanes.unfinished(job),
        }
    }
}
