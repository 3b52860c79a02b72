//! `stats rebuild`: what was counted as facts came, beside the facts counted anew.

use std::io::Write;

use crate::cli::{printed::counted, progress::progress};
use crate::domain::{
    counts::{self, Counts, Hour, Hours},
    event::Event,
    mode::Mode,
    time::Timestamp,
};
use crate::store::{
    Store, StoreError,
    counts::{Recount, Tallied},
};

/// A fact may be counted so long after it happened: younger hours are in motion and aren't corrected.
const IN_MOTION_MS: i64 = 2 * 3600 * 1000;

/// Compares, corrects what may be corrected, and prints each hour that differs. An error if any differs still, or if what
/// may be a fact of the event can't be read.
pub(super) async fn rebuild(
    store: &Store,
    event: &Event,
    mode: Mode,
    now: Timestamp,
    out: &mut impl Write,
) -> anyhow::Result<()> {
    forget_unreadable(store, event, mode, out).await?;
    let comparison = Comparison::read(store, event, now).await?;
    let mut open = 0;
    for (hour, difference) in &comparison.differences {
        let settled = comparison.settle(hour, difference, mode, store).await?;
        open += usize::from(settled != Settled::Corrected);
        writeln!(out, "{}", comparison.line(hour, settled))?;
    }
    match (comparison.differences.len(), open) {
        (0, _) => writeln!(out, "equal: {}", comparison.in_all())?,
        (hours, 0) => {
            let hours = counted(hours, "hour", "hours");
            writeln!(out, "{hours} corrected; now equal: {}", comparison.in_all())?;
        }
        _ => {}
    }
    let problems = comparison.problems(open);
    anyhow::ensure!(problems.is_empty(), problems.join("; "));
    Ok(())
}

/// Removes items of the counts that can't be read: what they counted is found missing then, and corrected.
async fn forget_unreadable(store: &Store, event: &Event, mode: Mode, out: &mut impl Write) -> anyhow::Result<()> {
    for unreadable in &store.counts(&event.event_id).await?.unreadable {
        let forgotten = mode == Mode::ForReal && store.forget_counts(unreadable).await?;
        let what = if forgotten { "removed" } else { "left out" };
        writeln!(out, "{}  {} {}: {what}", unreadable.sk, unreadable.attribute, unreadable.problem)?;
    }
    Ok(())
}

/// The facts of an event, and what was counted of them before and after they were read: an hour that moved between the
/// two is in motion, and proves nothing.
struct Comparison<'a> {
    event: &'a Event,
    before: Tallied,
    facts: Recount,
    after: Tallied,
    differences: Hours,
    /// The first hour that is too young to be over.
    young: Option<Timestamp>,
}

/// What became of a difference.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Settled {
    Corrected,
    InMotion,
    /// The run is dry, or another one corrected the hour just now.
    Left,
}

impl<'a> Comparison<'a> {
    async fn read(store: &Store, event: &'a Event, now: Timestamp) -> Result<Self, StoreError> {
        let before = store.counts(&event.event_id).await?;
        let bar = progress("items read", None);
        let facts = store.count_facts(event, |read| bar.set_position(read as u64)).await?;
        bar.finish_and_clear();
        let after = store.counts(&event.event_id).await?;
        let differences = counts::differences(&facts.hours, &after.hours);
        let young = Hour::of(now.plus_millis(-IN_MOTION_MS), event.time_zone).start();
        Ok(Self { event, before, facts, after, differences, young })
    }

    async fn settle(&self, hour: &Hour, difference: &Counts, mode: Mode, store: &Store) -> Result<Settled, StoreError> {
        if self.waits() || self.moves(hour) {
            return Ok(Settled::InMotion);
        }
        let seen = self.after.corrections.get(hour);
        let corrected = mode == Mode::ForReal && store.correct(&self.event.event_id, hour, seen, difference).await?;
        Ok(if corrected { Settled::Corrected } else { Settled::Left })
    }

    fn moves(&self, hour: &Hour) -> bool {
        hour.start() >= self.young || self.before.hours.get(hour) != self.after.hours.get(hour)
    }

    /// Returns whether nothing may be corrected yet. What was counted before the zone was changed belongs to other hours, so
    /// it is corrected as a whole, when none of them is in motion.
    fn waits(&self) -> bool {
        self.differences.keys().any(|hour| !hour.is_of(self.event.time_zone))
            && self.differences.keys().any(|hour| self.moves(hour))
    }

    fn line(&self, hour: &Hour, settled: Settled) -> String {
        let what = match settled {
            Settled::Corrected => "corrected",
            Settled::InMotion => "still in motion",
            Settled::Left => "not corrected",
        };
        let zone = if hour.is_of(self.event.time_zone) { "" } else { " (of another time zone)" };
        let (facts, counted) = (at(&self.facts.hours, hour), at(&self.after.hours, hour));
        format!("{}  facts {facts}, counted {counted}: {what}{zone}", hour.as_str())
    }

    /// Returns why the counts aren't proven right, if so many hours differ still.
    fn problems(&self, open: usize) -> Vec<String> {
        let differing = (open > 0).then(|| {
            let hours = counted(open, "hour differs", "hours differ");
            format!(
                "{hours} from the facts: those in motion can be corrected two hours after they ended, others when the \
                 consumer has caught up; run it again then"
            )
        });
        let uncounted = (self.facts.unreadable > 0).then(|| {
            let items = counted(self.facts.unreadable, "item", "items");
            let event_id = &self.event.event_id;
            format!(
                "{items} of this event can't be read and may be facts that were not counted: `stamp-rally table check \
                 --event {event_id}` lists what to mend"
            )
        });
        differing.into_iter().chain(uncounted).collect()
    }

    fn in_all(&self) -> String {
        words(&counts::total(&self.facts.hours))
    }
}

/// Returns counts in words; stamps by id.
pub(super) fn words(counts: &Counts) -> String {
    let stamps = counts.stamps.iter().map(|(id, count)| format!("{id}: {count}")).collect::<Vec<_>>().join(", ");
    let registrations = counted(counts.registrations, "registration", "registrations");
    let cards = counted(counts.completions, "completed card", "completed cards");
    format!("{registrations}, {cards}, stamps [{stamps}]")
}

fn at(hours: &Hours, hour: &Hour) -> String {
    hours.get(hour).map_or_else(|| "nothing".to_owned(), words)
}
