//! `stamp-rally event apply|list|show`: rallies without a browser.

mod apply;
mod attributes;
mod names;
mod plan;
mod show;

#[cfg(test)]
mod tests;

use std::{
    io::Write,
    path::{Path, PathBuf},
};

use super::{
    config::Settings,
    event_file::{self, EventFile},
    options::SettingsArgs,
    store,
};
use crate::domain::{
    ids::{ChannelName, EventId},
    time::{MachineClock, Timestamp},
};

pub use apply::{Means, apply};

/// Events and their stamps.
#[derive(Debug, clap::Args)]
pub struct EventArgs {
    #[command(flatten)]
    settings: SettingsArgs,
    #[command(subcommand)]
    command: EventCommand,
}

/// Events and their stamps.
#[derive(Debug, clap::Subcommand)]
enum EventCommand {
    /// Write events and their stamps as files say, and show what changes
    ///
    /// Where the table differs from a file, whoever made it so (the API, an earlier file), the difference is shown and
    /// the file's value written; what the file doesn't name keeps its value. Refused is only to overwrite what somebody
    /// changes while this runs: between reading the table and writing to it.
    Apply {
        /// Event files, for example `config/events/my-rally.toml`
        #[arg(required = true, value_name = "FILE")]
        files: Vec<PathBuf>,
        /// The folder of the Flex Messages that the files name
        #[arg(long, value_name = "DIR", default_value = "flex_templates")]
        templates: PathBuf,
        /// Show what would change, and write nothing
        #[arg(long)]
        dry_run: bool,
    },
    /// List all events by start
    List,
    /// Show an event and its stamps
    Show {
        /// The event's id
        #[arg(value_name = "ID")]
        event_id: EventId,
    },
}

/// Carries the command out.
pub async fn execute(args: EventArgs, out: &mut impl Write) -> anyhow::Result<()> {
    let settings = args.settings.start()?;
    let now = MachineClock::start().now();
    match args.command {
        EventCommand::Apply { files, templates, dry_run } => {
            let means = if dry_run { Means::Looking } else { Means::Writing };
            apply_files(&settings, &read(&files, &templates)?, now, means, out).await
        }
        EventCommand::List => store::with(&settings, async |store| show::list(store, now, out).await).await,
        EventCommand::Show { event_id } => {
            store::with(&settings, async |store| show::show(store, &event_id, out).await).await
        }
    }
}

fn read(files: &[PathBuf], templates: &Path) -> anyhow::Result<Vec<EventFile>> {
    files.iter().map(|file| event_file::read(file, templates)).collect()
}

async fn apply_files(
    settings: &Settings,
    files: &[EventFile],
    now: Timestamp,
    means: Means,
    out: &mut impl Write,
) -> anyhow::Result<()> {
    let channels: Vec<_> = settings.line.channels.keys().map(ChannelName::as_str).collect();
    store::with(settings, async |store| apply(store, &channels, files, now, means, out).await).await
}
