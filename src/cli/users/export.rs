//! `stamp-rally users export`: the CSV of the organiser's API, to a file or to standard output.

use std::{
    io::{self, IsTerminal, Write},
    path::PathBuf,
    pin::pin,
};

use anyhow::bail;
use futures_util::TryStreamExt as _;
use indicatif::{ProgressBar, ProgressDrawTarget};

use super::which::Which;
use crate::cli::{draft::Draft, printed::counted, progress::progress, store};
use crate::domain::ids::EventId;
use crate::http::csv;
use crate::store::{Store, listing::Users};

/// What to export, and where to.
#[derive(Debug, clap::Args)]
pub struct ExportArgs {
    #[command(flatten)]
    which: Which,
    /// Where to; complete when it appears under this name [default: standard output]
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
}

/// Writes all participants to the file, or to `out` where there is none; `notes` gets how many they were.
pub(super) async fn export(
    store: &Store,
    ExportArgs { which, output }: &ExportArgs,
    out: &mut impl Write,
    notes: &mut impl Write,
) -> anyhow::Result<()> {
    let event = store::event(store, &which.event_id).await?;
    let mut users = store.all_users(&event, which.span(event.time_zone)?, which.direction());
    let event_id = &event.event_id;
    let bar = progress("participants", None);
    let Some(file) = output else {
        if io::stdout().is_terminal() {
            // On the same screen a progress bar would break the rows up.
            bar.set_draw_target(ProgressDrawTarget::hidden());
        }
        write_all(&mut users, out, &bar).await?;
        return Ok(note_unreadable(users.unreadable(), event_id, notes)?);
    };
    let draft = Draft::of(file)?;
    let mut part = draft.file();
    let number = tokio::select! {
        // First, so that it is listened for before anything is asked.
        biased;
        _ = tokio::signal::ctrl_c() => bail!("interrupted: nothing is written to {}", file.display()),
        number = write_all(&mut users, &mut part, &bar) => number?,
    };
    draft.complete()?;
    note_unreadable(users.unreadable(), event_id, notes)?;
    let participants = counted(number, "participant", "participants");
    Ok(writeln!(notes, "{participants} written to {}", file.display())?)
}

/// Prints how many registrations were passed over, if any.
pub(super) fn note_unreadable(count: usize, event_id: &EventId, notes: &mut impl Write) -> io::Result<()> {
    if count == 0 {
        return Ok(());
    }
    let left_out =
        counted(count, "registration can't be read and is left out", "registrations can't be read and are left out");
    writeln!(notes, "{left_out}: `stamp-rally table check --event {event_id}` names what to mend")
}

async fn write_all(users: &mut Users, out: &mut impl Write, bar: &ProgressBar) -> anyhow::Result<u64> {
    let mut parts = pin!(csv::file(users));
    while let Some(part) = parts.try_next().await? {
        out.write_all(&part.bytes)?;
        bar.inc(part.rows as u64);
    }
    out.flush()?;
    bar.finish_and_clear();
    Ok(bar.position())
}
