//! `stamp-rally table create|status|backfill|check`: the two tables, made, compared with what they should be, completed,
//! and searched for items that can't be read.

mod backfill;
mod check;

use std::io::Write;

use anyhow::bail;

use super::{config::Settings, options::WithSettings, store::clients};
use crate::store::table::{Difference, TableReport, create, status};
use backfill::BackfillArgs;
use check::CheckArgs;

/// The two tables.
#[derive(Debug, clap::Subcommand)]
pub enum TableCommand {
    /// Give the stamps of a table made from the article their keys in the index GSI2; continues where it was interrupted,
    /// and may be run at any time
    Backfill(BackfillArgs),
    /// List every item of both tables that can't be read, or that contradicts its key or another item, with its key and
    /// what to do about it; changes nothing. Exit code 3 if there are any
    Check(CheckArgs),
    /// Make the tables, or complete what is there; may be run at any time
    Create,
    /// Compare the tables with what they should be; changes nothing
    Status,
}

pub async fn execute(args: WithSettings<TableCommand>, out: &mut impl Write) -> anyhow::Result<()> {
    let settings = args.settings.start()?;
    match args.command {
        TableCommand::Backfill(args) => backfill::execute(&settings, args, out).await,
        TableCommand::Check(args) => check::execute(&settings, args, out).await,
        TableCommand::Create => make(&settings, out).await,
        TableCommand::Status => compare(&settings, out).await,
    }
}

async fn make(settings: &Settings, out: &mut impl Write) -> anyhow::Result<()> {
    let (clients, names) = (clients().await?, &settings.store);
    let before = status(&clients.table, names).await?;
    let after = create(&clients.table, names).await?;
    for (before, after) in before.iter().zip(&after) {
        writeln!(out, "{}", made(before, after))?;
    }
    if after.iter().all(TableReport::is_as_defined) {
        return Ok(());
    }
    bail!("the rest is left as it is: a person has to decide on it");
}

async fn compare(settings: &Settings, out: &mut impl Write) -> anyhow::Result<()> {
    let reports = status(&clients().await?.table, &settings.store).await?;
    for report in &reports {
        writeln!(out, "{report}")?;
    }
    match reports.iter().filter(|report| !report.is_as_defined()).count() {
        0 => Ok(()),
        some => bail!("{some} of {} tables are not as defined", reports.len()),
    }
}

/// Returns what was done to a table, and what is left to do: a line each.
fn made(before: &TableReport, after: &TableReport) -> String {
    let gone = before.differences.iter().filter(|difference| !after.differences.contains(difference));
    let mut lines: Vec<_> = gone.filter_map(done).map(|what| format!("{}: {what}", after.table)).collect();
    if lines.is_empty() || !after.is_as_defined() {
        lines.push(after.to_string());
    }
    lines.join("\n")
}

/// Returns what put a difference right; `None` for what passed by itself.
fn done(difference: &Difference) -> Option<String> {
    match difference {
        Difference::IndexMissing(index) => Some(format!("completed: index {index} added")),
        Difference::StreamOff => Some("completed: stream switched on".to_owned()),
        Difference::TableMissing => Some("made".to_owned()),
        Difference::TtlOff(wanted) => Some(format!("completed: items expire by `{wanted}`")),
        Difference::Billing(_)
        | Difference::IndexKeys(..)
        | Difference::IndexNotReady(..)
        | Difference::IndexProjection(..)
        | Difference::Keys(_)
        | Difference::NotReady(_)
        | Difference::StreamView(_)
        | Difference::TtlAttribute(_) => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn report(differences: &[Difference]) -> TableReport {
        TableReport { table: "line-event".to_owned(), differences: differences.to_vec() }
    }

    #[test]
    fn what_was_made_or_completed_is_printed() {
        assert_eq!(made(&report(&[Difference::TableMissing]), &report(&[])), "line-event: made");
        let lacks =
            [Difference::StreamOff, Difference::TtlOff("ttl".to_owned()), Difference::IndexMissing("GSI2".to_owned())];
        assert_eq!(
            made(&report(&lacks), &report(&[])),
            "line-event: completed: stream switched on\nline-event: completed: items expire by `ttl`\n\
             line-event: completed: index GSI2 added"
        );
    }

    #[test]
    fn a_table_that_lacked_nothing_is_as_defined() {
        assert_eq!(made(&report(&[]), &report(&[])), "line-event: as defined");
        let busy = Difference::NotReady("UPDATING".to_owned());
        assert_eq!(made(&report(&[busy]), &report(&[])), "line-event: as defined");
    }

    #[test]
    fn what_only_a_person_can_mend_is_listed_after_what_was_done() {
        let billing = Difference::Billing("PROVISIONED".to_owned());
        assert_eq!(
            made(&report(&[Difference::StreamOff, billing.clone()]), &report(&[billing])),
            "line-event: completed: stream switched on\nline-event: it is billed as PROVISIONED, not on demand: \
             beyond its capacity a rush is throttled (left as it is: a person has to decide)"
        );
    }
}
