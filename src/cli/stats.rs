//! `stats show` and `stats rebuild`: counts of a rally, and the proof that they are right.

mod rebuild;

use std::io::Write;

use super::{
    options::{DryRun, WithSettings},
    printed::counted,
    store,
};
use crate::domain::{counts, ids::EventId, time::MachineClock};
use rebuild::{rebuild, words};

/// Counts of a rally.
#[derive(Debug, clap::Subcommand)]
pub enum StatsCommand {
    /// Count the facts anew, compare with what was counted as they came, and correct hours that are over
    Rebuild {
        /// The event's id
        #[arg(value_name = "EVENT")]
        event_id: EventId,
        #[command(flatten)]
        dry_run: DryRun,
    },
    /// What was counted: registrations, stamps, completed cards, by hour
    Show {
        /// The event's id
        #[arg(value_name = "EVENT")]
        event_id: EventId,
    },
}

pub async fn execute(args: WithSettings<StatsCommand>, out: &mut impl Write) -> anyhow::Result<()> {
    let settings = args.settings.start()?;
    store::with(&settings, async |store| match &args.command {
        StatsCommand::Rebuild { event_id, dry_run } => {
            let event = store::event(store, event_id).await?;
            rebuild(store, &event, (*dry_run).into(), MachineClock::start().now(), out).await
        }
        StatsCommand::Show { event_id } => {
            let event = store::event(store, event_id).await?;
            let tallied = store.counts(&event.event_id).await?;
            for (hour, counts) in &tallied.hours {
                writeln!(out, "{}  {}", hour.as_str(), words(counts))?;
            }
            writeln!(out, "in all  {}", words(&counts::total(&tallied.hours)))?;
            if !tallied.unreadable.is_empty() {
                writeln!(
                    out,
                    "incomplete: {} of the counts can't be read (`stamp-rally stats rebuild {event_id}` mends that)",
                    counted(tallied.unreadable.len(), "item", "items")
                )?;
            }
            Ok(())
        }
    })
    .await
}
