//! `stamp-rally users export`: the CSV of the organiser's API, to a file or to standard output.

use std::{
    ffi::OsString,
    fs::{self, File},
    io::{self, IsTerminal, Write},
    path::{Path, PathBuf},
    pin::pin,
};

use anyhow::{Context, bail};
use futures_util::TryStreamExt as _;
use indicatif::{ProgressBar, ProgressDrawTarget};

use super::which::Which;
use crate::cli::{printed::counted, progress::progress, store};
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
    let mut part = &draft.file;
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

/// A file that isn't complete yet, under a name of its own; removed unless it is completed.
struct Draft {
    file: File,
    path: PathBuf,
    wanted: PathBuf,
    is_complete: bool,
}

impl Draft {
    /// `FILE.part`, which must not be there yet: two exports that write one file would spoil it.
    fn of(wanted: &Path) -> anyhow::Result<Self> {
        let path = PathBuf::from([wanted.as_os_str(), ".part".as_ref()].into_iter().collect::<OsString>());
        match File::create_new(&path) {
            Ok(file) => Ok(Self { file, path, wanted: wanted.to_owned(), is_complete: false }),
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
                bail!("{} is there: another export is writing it, or one was killed; if so, delete it", path.display())
            }
            Err(error) => Err(error).with_context(|| path.display().to_string()),
        }
    }

    fn complete(mut self) -> anyhow::Result<()> {
        self.file.sync_all().with_context(|| self.path.display().to_string())?;
        fs::rename(&self.path, &self.wanted).with_context(|| self.wanted.display().to_string())?;
        self.is_complete = true;
        Ok(())
    }
}

impl Drop for Draft {
    fn drop(&mut self) {
        if !self.is_complete {
            // What fails here fails again at the next export, which reports it.
            let _ = fs::remove_file(&self.path);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_draft_appears_under_its_name_when_it_is_complete() {
        let folder = tempfile::tempdir().unwrap();
        let wanted = folder.path().join("users.csv");
        let draft = Draft::of(&wanted).unwrap();
        (&draft.file).write_all(b"all").unwrap();
        assert!(!wanted.exists() && folder.path().join("users.csv.part").exists());
        draft.complete().unwrap();
        assert_eq!(fs::read(&wanted).unwrap(), b"all");
        assert!(!folder.path().join("users.csv.part").exists());
    }

    #[test]
    fn a_draft_that_is_given_up_leaves_the_older_file_and_nothing_else() {
        let folder = tempfile::tempdir().unwrap();
        let wanted = folder.path().join("users.csv");
        fs::write(&wanted, "yesterday").unwrap();
        drop(Draft::of(&wanted).unwrap());
        assert_eq!(fs::read(&wanted).unwrap(), b"yesterday");
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
    }

    #[test]
    fn two_exports_do_not_write_one_file() {
        let folder = tempfile::tempdir().unwrap();
        let wanted = folder.path().join("users.csv");
        let first = Draft::of(&wanted).unwrap();
        let Err(refused) = Draft::of(&wanted) else { panic!("a second one") };
        assert!(refused.to_string().contains("users.csv.part is there: another export is writing it"), "{refused}");
        first.complete().unwrap();
    }
}
