//! `stamp-rally table backfill`: `GSI2` keys for the stamps of a table that was made from the article.

use std::{
    io::Write,
    num::NonZeroU32,
    time::{Duration, Instant},
};

use anyhow::{Context, bail};
use indicatif::ProgressBar;
use tokio_util::sync::CancellationToken;

use crate::cli::{
    config::Settings,
    options::from_one,
    printed::counted,
    progress::{pause_until, progress},
    service, store,
};
use crate::domain::{ids::EventId, time::MachineClock};
use crate::store::backfill::{Backfill, Counts, Interrupted};

/// Items that are looked at in one go: a page of them, and how much an interruption does again.
const MOST_AT_ONCE: u32 = 500;

/// `table backfill`.
#[derive(Clone, Copy, Debug, clap::Args)]
pub struct BackfillArgs {
    /// Items looked at in a second, of any kind; no more stamps than that are written. One index partition takes about
    /// 1,000 writes a second
    #[arg(long, value_name = "N", default_value = "500", value_parser = from_one(NonZeroU32::MAX))]
    rate: NonZeroU32,
}

pub async fn execute(settings: &Settings, args: BackfillArgs, out: &mut impl Write) -> anyhow::Result<()> {
    let shutdown = service::shutdown_signal()?;
    store::with(settings, async |store| {
        let (mut pass, interrupted) = store.backfill(MachineClock::start()).await?;
        if let Some(Interrupted { counts, at }) = interrupted {
            let items = counted(counts.looked_at, "item", "items");
            writeln!(out, "continuing where a run was interrupted at {at}, after {items}")?;
        }
        let bar = progress("items looked at", None);
        bar.set_position(pass.counts().looked_at);
        bar.reset_eta();
        let result = all(&mut pass, args.rate.get(), &bar, &shutdown).await;
        bar.finish_and_clear();
        writeln!(out, "{}", done(pass.counts()))?;
        result?;
        if pass.counts().left > 0 {
            bail!(left(&pass.missing_events()));
        }
        Ok(())
    })
    .await
}

async fn all(pass: &mut Backfill, rate: u32, bar: &ProgressBar, stop: &CancellationToken) -> anyhow::Result<()> {
    let (began, before) = (Instant::now(), pass.counts().looked_at);
    let most = u16::try_from(rate.min(MOST_AT_ONCE)).unwrap_or(u16::MAX);
    while !pass.is_over() {
        // What is broken off is done again by the next run.
        let page = tokio::select! {
            () = stop.cancelled() => bail!("interrupted: run it again to continue"),
            page = pass.step(most) => page,
        };
        page.context("it broke off: run it again to continue")?;
        bar.set_position(pass.counts().looked_at);
        bar.set_message(format!("{} got their keys", pass.counts().filled));
        let due = began + seconds(pass.counts().looked_at - before, rate);
        if !pass.is_over() {
            pause_until(due, stop).await;
        }
    }
    Ok(())
}

/// Returns how long so many items take at this rate.
fn seconds(items: u64, rate: u32) -> Duration {
    Duration::from_millis(items.saturating_mul(1000) / u64::from(rate.max(1)))
}

fn done(counts: Counts) -> String {
    let Counts { looked_at, filled, overtaken, left } = counts;
    let done = [
        format!("{} looked at", counted(looked_at, "item", "items")),
        counted(filled, "stamp got its GSI2 keys", "stamps got their GSI2 keys"),
    ];
    let overtaken =
        (overtaken > 0).then(|| counted(overtaken, "had them or was gone by then", "had them or were gone by then"));
    let left = (left > 0).then(|| counted(left, "is left as it is", "are left as they are"));
    done.into_iter().chain(overtaken).chain(left).collect::<Vec<_>>().join(", ")
}

/// Most events that are named in one line.
const MOST_NAMED: usize = 5;

/// Returns what to do about stamps that got no keys.
fn left(missing_events: &[&EventId]) -> String {
    if missing_events.is_empty() {
        return "some stamps are left as they are, and the log names them: write an event that does not exist with \
                `stamp-rally event apply FILE`, mend an item that can't be read, then run `stamp-rally table backfill` \
                again"
            .to_owned();
    }
    let named: Vec<&str> = missing_events.iter().take(MOST_NAMED).map(|event_id| event_id.as_str()).collect();
    let more = match missing_events.len().saturating_sub(MOST_NAMED) {
        0 => String::new(),
        more => format!(" and {more} more"),
    };
    format!(
        "stamps are left as they are because their events do not exist or can't be read ({}{more}): write each with `stamp-rally event \
         apply FILE`, then run `stamp-rally table backfill` again",
        named.join(", ")
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stamps_that_are_left_come_with_the_remedy() {
        let ids: Vec<EventId> = (1..=7).map(|n| format!("rally-{n}").parse().unwrap()).collect();
        let missing: Vec<&EventId> = ids.iter().collect();
        assert_eq!(
            left(&missing[..1]),
            "stamps are left as they are because their events do not exist or can't be read (rally-1): write each with `stamp-rally event \
             apply FILE`, then run `stamp-rally table backfill` again"
        );
        assert!(left(&missing).contains("(rally-1, rally-2, rally-3, rally-4, rally-5 and 2 more)"));
        assert!(left(&[]).contains("`stamp-rally event apply FILE`"));
    }

    #[test]
    fn the_rate_is_kept_over_the_whole_run() {
        assert_eq!(seconds(1500, 500), Duration::from_secs(3));
        assert_eq!(seconds(1, 3), Duration::from_millis(333));
    }

    #[test]
    fn what_happened_is_printed_and_what_did_not_happen_is_not() {
        let counts = Counts { looked_at: 9, filled: 4, ..Counts::default() };
        assert_eq!(done(counts), "9 items looked at, 4 stamps got their GSI2 keys");
        let counts = Counts { overtaken: 2, left: 1, ..counts };
        assert!(done(counts).ends_with(", 2 had them or were gone by then, 1 is left as it is"));
    }
}
