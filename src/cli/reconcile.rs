//! `stamp-rally reconcile`: what the stream has forgotten is sent, or left to an operator to decide.

use std::{
    collections::BTreeMap,
    io::{self, Write},
};

use anyhow::anyhow;
use indicatif::ProgressBar;
use parking_lot::Mutex;

use super::{
    options::{DryRun, SettingsArgs},
    printed::counted,
    progress::progress,
    service, store,
};
use crate::delivery::{
    Outcome,
    reconcile::{Counts, Left, Manner, Migrated, Readers, ReconcileError, Reconciled},
};
use crate::domain::{ids::EventId, mode::Mode, notice::ParkedState};

/// `reconcile`.
#[derive(Debug, clap::Args)]
pub struct ReconcileArgs {
    #[command(flatten)]
    settings: SettingsArgs,
    /// Only this event [default: all]
    #[arg(long, value_name = "EVENT")]
    event: Option<EventId>,
    #[command(flatten)]
    dry_run: DryRun,
    /// Send migrated notices too (of stamps that name no request): the former program certainly sent none of them
    #[arg(long)]
    assume_unsent: bool,
}

impl ReconcileArgs {
    fn manner(&self) -> Manner {
        let migrated = if self.assume_unsent { Migrated::Unsent } else { Migrated::MaybeSent };
        Manner { mode: self.dry_run.into(), migrated }
    }
}

/// Carries the command out. The table at the end shows what was done, also when it breaks off.
pub async fn execute(args: ReconcileArgs, out: &mut impl Write) -> anyhow::Result<()> {
    let settings = args.settings.start_with_line()?;
    let manner = args.manner();
    let parts = service::Builder::of_this_process(&settings)?;
    let shutdown = service::shutdown_signal()?;
    let (seen, bar) = (Seen::default(), progress("participants looked at", None));
    let done = store::with(&settings, async |store| {
        let notices = parts.notices(store)?;
        let report = |event: &EventId, counts: &Counts| seen.take(event, counts, &bar);
        let done = notices.delivery().reconcile(args.event.as_ref(), manner, &report, &shutdown).await;
        done.map_err(|error| if let ReconcileError::Store(error) = error { error.into() } else { anyhow!(error) })
    })
    .await;
    bar.finish_and_clear();
    if let Ok(done) = &done {
        done.events.iter().for_each(|(event, counts)| seen.take(event, counts, &bar));
    }
    let events = seen.0.into_inner();
    write_table(out, &events, manner.mode)?;
    let done = done?;
    write_left(out, &events, done.readers)?;
    let problems = problems(&done);
    anyhow::ensure!(problems.is_empty(), problems.join("; "));
    Ok(())
}

/// Returns why not everything was looked at.
fn problems(done: &Reconciled) -> Vec<String> {
    let interrupted = done.interrupted.then(|| "interrupted: run it again to continue".to_owned());
    let unreadable = (done.unreadable_events > 0).then(|| {
        let events = counted(done.unreadable_events, "event can't be read and was", "events can't be read and were");
        format!("{events} not looked at: `stamp-rally table check` names what to mend")
    });
    interrupted.into_iter().chain(unreadable).collect()
}

/// What each event has come to so far.
#[derive(Default)]
struct Seen(Mutex<BTreeMap<EventId, Counts>>);

impl Seen {
    fn take(&self, event: &EventId, counts: &Counts, bar: &ProgressBar) {
        let mut seen = self.0.lock();
        seen.insert(event.clone(), counts.clone());
        let all = total(&seen);
        bar.set_position(all.participants as u64);
        bar.set_message(format!("{} to send or sent, {} unknown", sent(&all), unknown(&all)));
    }
}

type Column = (&'static str, fn(&Counts) -> usize);

const COLUMNS: [Column; 8] = [
    ("participants", |counts| counts.participants),
    ("sent", sent),
    ("unknown", unknown),
    ("held", |counts| counts.tally.of(Outcome::Parked(ParkedState::Held))),
    ("failed", |counts| counts.tally.of(Outcome::Failed)),
    ("other", other),
    ("undecided", |counts| counts.undecided),
    ("unreadable", |counts| counts.unreadable),
];

fn sent(counts: &Counts) -> usize {
    counts.tally.of(Outcome::Sent)
}

fn unknown(counts: &Counts) -> usize {
    counts.tally.of(Outcome::Parked(ParkedState::Unknown))
}

/// Returns those settled by another process meanwhile, or without a message to send.
fn other(counts: &Counts) -> usize {
    let others = [
        Outcome::Sent,
        Outcome::Parked(ParkedState::Unknown),
        Outcome::Parked(ParkedState::Held),
        Outcome::Failed,
        Outcome::Wait,
    ];
    counts.tally.total() - others.map(|outcome| counts.tally.of(outcome)).iter().sum::<usize>()
}

fn total(events: &BTreeMap<EventId, Counts>) -> Counts {
    events.values().fold(Counts::default(), |mut all, counts| {
        all.add(counts);
        all
    })
}

fn write_table(out: &mut impl Write, events: &BTreeMap<EventId, Counts>, mode: Mode) -> io::Result<()> {
    let all = total(events);
    let rows: Vec<(&str, &Counts)> = events.iter().map(|(event, counts)| (event.as_str(), counts)).collect();
    let sum = (rows.len() > 1).then_some(("all", &all));
    let width = rows.iter().map(|(name, _)| name.len()).max().unwrap_or_default().max("event".len());
    let heads = COLUMNS.map(|(head, _)| if mode == Mode::DryRun && head == "sent" { "to send" } else { head });
    writeln!(out, "{:<width$}  {}", "event", heads.join("  "))?;
    for (name, counts) in rows.into_iter().chain(sum) {
        let cells: Vec<String> =
            COLUMNS.iter().zip(heads).map(|((_, of), head)| format!("{:>1$}", of(counts), head.len())).collect();
        writeln!(out, "{name:<width$}  {}", cells.join("  "))?;
    }
    if all.undecided > 0 {
        writeln!(out, "undecided: may just be worked on; run it again in a day")?;
    }
    if mode == Mode::DryRun {
        writeln!(out, "dry run: nothing was sent, and nothing was written")?;
    }
    Ok(())
}

/// Prints what was not taken, by event, and from when on it would be.
fn write_left(out: &mut impl Write, events: &BTreeMap<EventId, Counts>, readers: Option<Readers>) -> io::Result<()> {
    let to = match readers {
        Some(Readers::Function) => "the function, which may still be handed them",
        Some(Readers::Workers) => "the workers, which may still read them",
        None => return writeln!(out, "the table has no stream: run `stamp-rally table create`"),
    };
    for (event, Left { notices, first, last }) in
        events.iter().filter_map(|(event, counts)| Some((event, counts.left?)))
    {
        let times = if first == last { format!("{first}") } else { format!("{first} (the last: {last})") };
        writeln!(out, "{event}: {notices} left to {to}; `reconcile` takes them from {times} on")?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::delivery::Tally;

    #[test]
    fn what_is_left_is_reported_by_event_with_the_time_from_which_it_would_be_taken() {
        let at = |text: &str| text.parse().unwrap();
        let (first, last) = (at("2026-05-24T10:15:00.000Z"), at("2026-05-24T11:15:00.000Z"));
        let left = |left| Counts { left: Some(left), ..Counts::default() };
        let events = BTreeMap::from([
            ("autumn".parse().unwrap(), left(Left::one(first))),
            ("spring".parse().unwrap(), left(Left::one(first).and(Some(Left::one(last))))),
            ("winter".parse().unwrap(), Counts::default()),
        ]);
        let printed = |readers| {
            let mut out = Vec::new();
            write_left(&mut out, &events, readers).unwrap();
            String::from_utf8(out).unwrap()
        };
        assert_eq!(
            printed(Some(Readers::Workers)),
            "autumn: 1 left to the workers, which may still read them; `reconcile` takes them from \
             2026-05-24T10:15:00.000Z on\n\
             spring: 2 left to the workers, which may still read them; `reconcile` takes them from \
             2026-05-24T10:15:00.000Z (the last: 2026-05-24T11:15:00.000Z) on\n"
        );
        assert!(printed(Some(Readers::Function)).contains("1 left to the function, which may still be handed them"));
        assert_eq!(printed(None), "the table has no stream: run `stamp-rally table create`\n");
    }

    fn counts(outcomes: &[Outcome], undecided: usize) -> Counts {
        let mut tally = Tally::default();
        for outcome in outcomes {
            tally.count(*outcome);
        }
        Counts { participants: 1200, tally, left: None, undecided, unreadable: 0 }
    }

    fn table(events: &[(&str, Counts)], mode: Mode) -> String {
        let events = events.iter().map(|(event, counts)| (event.parse().unwrap(), counts.clone())).collect();
        let mut out = Vec::new();
        write_table(&mut out, &events, mode).unwrap();
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn the_table_shows_how_many_of_each_by_event_and_in_all() {
        let unknown = Outcome::Parked(ParkedState::Unknown);
        let spring = counts(&[Outcome::Sent, Outcome::Sent, unknown, Outcome::AlreadySent, Outcome::Wait], 3);
        let printed =
            table(&[("spring", spring), ("stamp-rally-202606", counts(&[Outcome::Failed], 0))], Mode::ForReal);
        assert_eq!(
            printed,
            "event               participants  sent  unknown  held  failed  other  undecided  unreadable\n\
             spring                      1200     2        1     0       0      1          3           0\n\
             stamp-rally-202606          1200     0        0     0       1      0          0           0\n\
             all                         2400     2        1     0       1      1          3           0\n\
             undecided: may just be worked on; run it again in a day\n"
        );
    }

    #[test]
    fn a_dry_run_says_so() {
        let printed = table(&[("spring", counts(&[Outcome::Sent], 0))], Mode::DryRun);
        assert_eq!(
            printed,
            "event   participants  to send  unknown  held  failed  other  undecided  unreadable\n\
             spring          1200        1        0     0       0      0          0           0\n\
             dry run: nothing was sent, and nothing was written\n"
        );
    }
}
