//! `stamp-rally users list|export`: participants by registration time.

mod export;
mod which;

use std::{io::Write, num::NonZeroUsize};

use super::{options::WithSettings, store};
use crate::store::{Store, listing::Wanted, paging::Pages};
use which::Which;

/// Rows of a page at most.
const PAGE: usize = 1000;

/// Participants by registration time.
#[derive(Debug, clap::Subcommand)]
pub enum UsersCommand {
    /// Write all of them as CSV that opens in Excel; any number in constant memory
    Export(export::ExportArgs),
    /// List them
    List(ListArgs),
}

/// What to list.
#[derive(Debug, clap::Args)]
pub struct ListArgs {
    #[command(flatten)]
    which: Which,
    /// At most so many
    #[arg(long, default_value = "100", value_parser = one_or_more)]
    limit: NonZeroUsize,
}

fn one_or_more(text: &str) -> Result<NonZeroUsize, &'static str> {
    text.parse().map_err(|_| "must be a whole number, 1 or more")
}

/// Carries the command out: rows are printed to `out`, what to know about them to `notes`.
pub async fn execute(
    args: WithSettings<UsersCommand>,
    out: &mut impl Write,
    notes: &mut impl Write,
) -> anyhow::Result<()> {
    let settings = args.settings.start()?;
    store::with(&settings, async |store| match &args.command {
        UsersCommand::Export(wanted) => export::export(store, wanted, out, notes).await,
        UsersCommand::List(wanted) => list(store, wanted, out, notes).await,
    })
    .await
}

async fn list(store: &Store, wanted: &ListArgs, out: &mut impl Write, notes: &mut impl Write) -> anyhow::Result<()> {
    let ListArgs { which, limit } = wanted;
    let event = &store::event(store, &which.event_id).await?;
    let (span, direction, limit) = (which.span(event.time_zone)?, which.direction(), limit.get());
    let (mut pages, mut left, mut unreadable) = (Pages::default(), limit, 0);
    writeln!(out, "{:<33}  {:<24}  {}", "lineUserId", "createdAt", event.time_zone)?;
    while left > 0
        && let Some(page) = pages
            .next(async |after| store.users(event, span, &Wanted { direction, limit: left.min(PAGE), after }).await)
            .await?
    {
        for user in &page.rows {
            let local = user.created_at.in_zone(event.time_zone);
            writeln!(out, "{:<33}  {}  {local}", user.line_user_id.as_str(), user.created_at)?;
        }
        left = left.saturating_sub(page.rows.len());
        unreadable += page.unreadable;
    }
    let (shown, id) = (limit - left, &event.event_id);
    export::note_unreadable(unreadable, id, notes)?;
    if pages.is_over() {
        return Ok(writeln!(notes, "{shown} shown, that is all")?);
    }
    Ok(writeln!(
        notes,
        "{shown} shown, more follow: raise --limit, narrow --from and --to, or `stamp-rally users export {id}`"
    )?)
}
