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
    event_file::{self, EventFile},
    options::{DryRun, WithSettings},
    store,
};
use crate::domain::{
    ids::{ChannelName, EventId},
    time::MachineClock,
};

pub use apply::{Application, apply};

/// Events and their stamps.
#[derive(Debug, clap::Subcommand)]
pub enum EventCommand {
    /// Write events and their stamps as files say, and show what changes
    ///
    /// Where the table differs from a file, by the API or an earlier file, the difference is shown and the file's value
    /// written; what the file doesn't name keeps its value. Refused is only to overwrite what changes while this runs:
    /// between reading the table and writing to it.
    Apply {
        /// Event files, for example `config/events/my-rally.toml`
        #[arg(required = true, value_name = "FILE")]
        files: Vec<PathBuf>,
        /// The folder of the Flex Messages that the files name
        #[arg(long, value_name = "DIR", default_value = "flex_templates")]
        templates: PathBuf,
        #[command(flatten)]
        dry_run: DryRun,
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

pub async fn execute(args: WithSettings<EventCommand>, out: &mut impl Write) -> anyhow::Result<()> {
    let settings = args.settings.start()?;
    let now = MachineClock::start().now();
    match args.command {
        EventCommand::Apply { files, templates, dry_run } => {
            let files = read(&files, &templates)?;
            let channels: Vec<_> = settings.line.channels.keys().map(ChannelName::as_str).collect();
            let (keys, mode) = (&settings.proofs.keys, dry_run.into());
            let application = Application { channels: &channels, files: &files, keys, now, mode };
            store::with(&settings, async |store| apply(store, &application, out).await).await
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
