//! `stats show` and `stats rebuild`: counts of a rally, and the proof that they are right.

use std::{
    collections::BTreeMap,
    io::{IsTerminal, Write},
};

use indicatif::{ProgressBar, ProgressDrawTarget};

use super::{args::SettingsArgs, store};
use crate::domain::{
    counts::{self, Counts, Hour, Hours},
    event::Event,
    ids::EventId,
    time::{MachineClock, Timestamp},
};
use crate::store::{Store, counts::Recount};

/// Counts of a rally.
#[derive(Debug, clap::Args)]
pub struct StatsArgs {
    #[command(flatten)]
    settings: SettingsArgs,
    #[command(subcommand)]
    command: StatsCommand,
}

/// Counts of a rally.
#[derive(Debug, clap::Subcommand)]
enum StatsCommand {
    /// Count the facts anew, compare with what was counted as they came, and correct hours that are over
    Rebuild {
        /// The event's id
        #[arg(value_name = "EVENT")]
        event_id: EventId,
        /// Only compare
        #[arg(long)]
        dry_run: bool,
    },
    /// What was counted: registrations, stamps, completed cards, by hour
    Show {
        /// The event's id
        #[arg(value_name = "EVENT")]
        event_id: EventId,
    },
}

/// A fact may be counted so long after it happened: hours younger than this are in motion and aren't corrected.
const IN_MOTION_MS: i64 = 2 * 3600 * 1000;

/// Carries the command out.
pub async fn execute(args: StatsArgs, out: &mut impl Write) -> anyhow::Result<()> {
    let settings = args.settings.start()?;
    store::with(&settings, async |store| match &args.command {
        StatsCommand::Rebuild { event_id, dry_run } => {
            let event = store::event(store, event_id).await?;
            let correct = if *dry_run { Correct::Nothing } else { Correct::HoursThatAreOver };
            rebuild(store, &event, correct, MachineClock::start().now(), out).await
        }
        StatsCommand::Show { event_id } => {
            let event = store::event(store, event_id).await?;
            let tallied = store.counts(&event.event_id).await?;
            for (hour, counts) in &tallied.hours {
                writeln!(out, "{}  {}", hour.as_str(), words(counts))?;
            }
            Ok(writeln!(out, "in all  {}", words(&counts::total(&tallied.hours)))?)
        }
    })
    .await
}

/// What to do about a difference.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Correct {
    HoursThatAreOver,
    Nothing,
}

/// Reads what is counted before and after the facts: an hour that moved between them is in motion, and proves nothing.
async fn rebuild(
    store: &Store,
    event: &Event,
    correct: Correct,
    now: Timestamp,
    out: &mut impl Write,
) -> anyhow::Result<()> {
    let before = store.counts(&event.event_id).await?;
    let bar = progress_bar();
    let Recount { hours: facts, unreadable } = store.count_facts(event, |read| bar.set_position(read as u64)).await?;
    bar.finish_and_clear();
    let after = store.counts(&event.event_id).await?;
    let differences = counts::differences(&facts, &after.hours);
    let over = Hour::of(now.plus_millis(-IN_MOTION_MS), event.time_zone).start();
    let moves = |hour: &Hour| hour.start() >= over || before.hours.get(hour) != after.hours.get(hour);
    // Counted before the zone was changed: what is taken from those hours belongs to others, so it is all or nothing.
    let is_of_another_zone = differences.keys().any(|hour| !hour.is_of(event.time_zone));
    let waits = is_of_another_zone && differences.keys().any(moves);
    let mut open = 0;
    for (hour, difference) in &differences {
        let moving = waits || moves(hour);
        let corrected = correct == Correct::HoursThatAreOver
            && !moving
            && store.correct(&event.event_id, hour, after.corrections.get(hour), difference).await?;
        open += usize::from(!corrected);
        let what = match (corrected, moving) {
            (true, _) => "corrected",
            (false, true) => "still in motion",
            (false, false) => "not corrected",
        };
        let what = if hour.is_of(event.time_zone) { what.to_owned() } else { format!("{what} (of another time zone)") };
        writeln!(out, "{}  facts {}, counted {}: {what}", hour.as_str(), at(&facts, hour), at(&after.hours, hour))?;
    }
    match (differences.len(), open) {
        (0, _) => writeln!(out, "equal: {}", words(&counts::total(&facts)))?,
        (hours, 0) => writeln!(out, "{hours} hours corrected; now equal: {}", words(&counts::total(&facts)))?,
        (_, open) => anyhow::bail!(
            "{open} hours differ from the facts: those in motion can be corrected two hours after they ended, others when the consumer has caught up; run it again then"
        ),
    }
    anyhow::ensure!(
        unreadable == 0,
        "{unreadable} items of the table can't be read and were not counted: the log names them"
    );
    Ok(())
}

fn at(hours: &Hours, hour: &Hour) -> String {
    hours.get(hour).map_or_else(|| "nothing".to_owned(), words)
}

fn words(counts: &Counts) -> String {
    let stamps: BTreeMap<&str, i64> = counts.stamps.iter().map(|(id, count)| (id.as_str(), *count)).collect();
    let stamps = stamps.iter().map(|(id, count)| format!("{id}: {count}")).collect::<Vec<_>>().join(", ");
    format!("{} registrations, {} completed cards, stamps [{stamps}]", counts.registrations, counts.completions)
}

/// Items read so far; only where somebody watches.
fn progress_bar() -> ProgressBar {
    let target =
        if std::io::stderr().is_terminal() { ProgressDrawTarget::stderr() } else { ProgressDrawTarget::hidden() };
    let bar = ProgressBar::with_draw_target(None, target);
    bar.set_message("items read");
    bar
}
