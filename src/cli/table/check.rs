//! `stamp-rally table check`: every item that can't be read or that contradicts another, with its key and what to do.

use std::{
    io::{self, Write},
    num::NonZeroU32,
    time::{Duration, Instant},
};

use anyhow::{Context, bail};
use indicatif::ProgressBar;
use serde_json::json;
use tokio_util::sync::CancellationToken;

use crate::cli::{
    config::Settings,
    options::from_one,
    printed::{AnswerIsNo, counted},
    progress::{pause_until, progress},
    service, store,
};
use crate::domain::{ids::EventId, time::MachineClock};
use crate::store::check::{Check, Finding, Looked};

/// `table check`.
#[derive(Clone, Debug, clap::Args)]
pub struct CheckArgs {
    /// Only the items of this event [default: all items of both tables]
    #[arg(long, value_name = "EVENT")]
    event: Option<EventId>,
    /// One JSON object a line for each item, and nothing else: table, pk, sk, loggedPk, loggedSk, attribute, problem,
    /// remedy
    #[arg(long)]
    json: bool,
    /// Read capacity units consumed in a second: one is two items of up to 4 KB
    #[arg(long, value_name = "N", default_value = "500", value_parser = from_one(NonZeroU32::MAX))]
    rate: NonZeroU32,
}

pub async fn execute(settings: &Settings, args: CheckArgs, out: &mut impl Write) -> anyhow::Result<()> {
    let shutdown = service::shutdown_signal()?;
    store::with(settings, async |store| {
        let mut pass = store.check(args.event.clone(), MachineClock::start().now());
        let bar = progress("items looked at", None);
        let result = all(&mut pass, &args, &bar, &shutdown, out).await;
        bar.finish_and_clear();
        let (found, looked) = (result?, pass.looked());
        match &args.event {
            Some(event_id) if looked.belonging == 0 => bail!("event \"{event_id}\" does not exist"),
            _ if !args.json => out.write_all(summary(looked, found).as_bytes())?,
            _ => {}
        }
        if found > 0 {
            bail!(AnswerIsNo(counted(
                found,
                "item can't be read or contradicts another: it is listed with its remedy",
                "items can't be read or contradict another: each is listed with its remedy",
            )));
        }
        Ok(())
    })
    .await
}

/// Lists what is found, page by page; returns how much that is.
async fn all(
    pass: &mut Check,
    args: &CheckArgs,
    bar: &ProgressBar,
    stop: &CancellationToken,
    out: &mut impl Write,
) -> anyhow::Result<u64> {
    let (began, mut found) = (Instant::now(), 0);
    while !pass.is_over() {
        let findings = tokio::select! {
            () = stop.cancelled() => bail!("interrupted: what is listed is not all"),
            findings = pass.step() => findings.context("it broke off: what is listed is not all")?,
        };
        found += findings.len() as u64;
        bar.suspend(|| findings.iter().try_for_each(|finding| print(finding, args, out)))?;
        bar.set_position(pass.looked().items);
        bar.set_message(format!("{found} found"));
        if !pass.is_over() {
            pause_until(began + seconds(pass.looked(), args.rate), stop).await;
        }
    }
    Ok(found)
}

fn print(finding: &Finding, args: &CheckArgs, out: &mut impl Write) -> io::Result<()> {
    let Finding { table, pk, sk, attribute, problem, remedy } = finding;
    let logged = finding.logged_key();
    if args.json {
        let line = json!({
            "table": table, "pk": pk, "sk": sk, "loggedPk": logged[0], "loggedSk": logged[1],
            "attribute": attribute, "problem": problem, "remedy": remedy,
        });
        return writeln!(out, "{line}");
    }
    writeln!(out, "{table}  {pk}  {sk}")?;
    writeln!(out, "  in the log: item.pk {}, item.sk {}", logged[0], logged[1])?;
    writeln!(out, "  {attribute} {problem}")?;
    writeln!(out, "  remedy: {remedy}")
}

/// Returns how long what was consumed takes at this rate. An engine that doesn't report what it consumed is taken for one that
/// reads two items a unit.
fn seconds(looked: Looked, rate: NonZeroU32) -> Duration {
    let least = f64::from(u32::try_from(looked.items).unwrap_or(u32::MAX)) / 2.0;
    let consumed = if looked.capacity > 0.0 { looked.capacity } else { least };
    Duration::from_secs_f64(consumed / f64::from(rate.get()))
}

fn summary(looked: Looked, found: u64) -> String {
    let all = format!("{} looked at, {found} found\n", counted(looked.items, "item", "items"));
    match looked.without_keys {
        0 => all,
        some => {
            let stamps = counted(some, "stamp has", "stamps have");
            format!(
                "{all}{stamps} no GSI2 keys, as the source article's: `stamp-rally table backfill` gives each its own\n"
            )
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_rate_is_of_consumed_capacity_or_of_two_items_a_unit() {
        let rate = NonZeroU32::new(50).unwrap();
        let looked = Looked { items: 1000, capacity: 125.0, ..Looked::default() };
        assert_eq!(seconds(looked, rate), Duration::from_millis(2500));
        assert_eq!(seconds(Looked { capacity: 0.0, ..looked }, rate), Duration::from_secs(10));
    }

    #[test]
    fn stamps_without_index_keys_are_counted_and_no_finding() {
        let looked = Looked { items: 9, ..Looked::default() };
        assert_eq!(summary(looked, 0), "9 items looked at, 0 found\n");
        let summary = summary(Looked { without_keys: 4, ..looked }, 1);
        assert!(summary.starts_with("9 items looked at, 1 found\n4 stamps have no GSI2 keys"), "{summary}");
    }
}
