//! `stamp-rally users list|export`: participants by registration time.

mod export;

use std::{io::Write, num::NonZeroUsize, path::PathBuf};

use clap::ValueEnum;

use super::{options::SettingsArgs, printed::counted, store};
use crate::domain::{
    Malformed,
    event::Event,
    ids::EventId,
    time::{Span, TimeZone},
};
use crate::store::{
    Store,
    listing::{Direction, Wanted},
    paging::Pages,
};

/// Rows of a page at most.
const PAGE: usize = 1000;

/// Participants by registration time.
#[derive(Debug, clap::Args)]
pub struct UsersArgs {
    #[command(flatten)]
    settings: SettingsArgs,
    #[command(subcommand)]
    command: UsersCommand,
}

/// Participants by registration time.
#[derive(Debug, clap::Subcommand)]
enum UsersCommand {
    /// Write all of them as CSV that opens in Excel; any number in constant memory
    Export {
        #[command(flatten)]
        which: Which,
        /// Where to; complete when it appears under this name [default: standard output]
        #[arg(short, long, value_name = "FILE")]
        output: Option<PathBuf>,
    },
    /// List them
    List {
        #[command(flatten)]
        which: Which,
        /// At most so many
        #[arg(long, default_value = "100", value_parser = one_or_more)]
        limit: NonZeroUsize,
    },
}

/// Which participants.
#[derive(Debug, clap::Args)]
struct Which {
    /// The event's id
    #[arg(value_name = "EVENT")]
    event_id: EventId,
    /// First day in the event's time zone (2026-05-23), or an instant with its offset (2026-05-23T10:00:00+09:00)
    #[arg(long)]
    from: Option<String>,
    /// Last day, inclusive, or an instant, exclusive
    #[arg(long)]
    to: Option<String>,
    /// asc: the first to register comes first
    #[arg(long, value_enum, default_value_t = Order::Asc)]
    order: Order,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum Order {
    Asc,
    Desc,
}

fn one_or_more(text: &str) -> Result<NonZeroUsize, &'static str> {
    text.parse().map_err(|_| "must be a whole number, 1 or more")
}

impl Which {
    fn span(&self, zone: TimeZone) -> anyhow::Result<Span> {
        // Arguments are named with dashes.
        let named =
            |Malformed { what, rule }| anyhow::anyhow!("--{what}: {}", rule.replace("after from", "after --from"));
        Span::parse(self.from.as_deref(), self.to.as_deref(), zone).map_err(named)
    }

    fn direction(&self) -> Direction {
        match self.order {
            Order::Asc => Direction::Asc,
            Order::Desc => Direction::Desc,
        }
    }
}

/// Carries the command out: rows are printed to `out`, what to know about them to `notes`.
pub async fn execute(args: UsersArgs, out: &mut impl Write, notes: &mut impl Write) -> anyhow::Result<()> {
    let settings = args.settings.start()?;
    store::with(&settings, async |store| match &args.command {
        UsersCommand::Export { which, output } => {
            let event = store::event(store, &which.event_id).await?;
            let users = store.all_users(&event, which.span(event.time_zone)?, which.direction());
            export::export(users, &which.event_id, output.as_deref(), out, notes).await
        }
        UsersCommand::List { which, limit } => {
            let event = store::event(store, &which.event_id).await?;
            list(store, &event, which, limit.get(), out, notes).await
        }
    })
    .await
}

async fn list(
    store: &Store,
    event: &Event,
    which: &Which,
    limit: usize,
    out: &mut impl Write,
    notes: &mut impl Write,
) -> anyhow::Result<()> {
    let (span, direction) = (which.span(event.time_zone)?, which.direction());
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
    note_unreadable(unreadable, id, notes)?;
    if pages.is_over() {
        return Ok(writeln!(notes, "{shown} shown, that is all")?);
    }
    Ok(writeln!(
        notes,
        "{shown} shown, more follow: raise --limit, narrow --from and --to, or `stamp-rally users export {id}`"
    )?)
}

/// Prints how many registrations were passed over, if any.
fn note_unreadable(count: usize, event_id: &EventId, notes: &mut impl Write) -> std::io::Result<()> {
    if count == 0 {
        return Ok(());
    }
    let left_out =
        counted(count, "registration can't be read and is left out", "registrations can't be read and are left out");
    writeln!(notes, "{left_out}: `stamp-rally table check --event {event_id}` names what to mend")
}
