//! Files that appear under their name when they are complete.

use std::{
    ffi::OsString,
    fs::{self, File},
    io,
    path::{Path, PathBuf},
};

use anyhow::{Context, bail};

/// A file that isn't complete yet, under a name of its own; removed unless it is completed.
pub(super) struct Draft {
    file: File,
    path: PathBuf,
    wanted: PathBuf,
    is_complete: bool,
}

impl Draft {
    /// `FILE.part`, which must not be there yet: two exports that write one file would spoil it.
    pub(super) fn of(wanted: &Path) -> anyhow::Result<Self> {
        let path = PathBuf::from([wanted.as_os_str(), ".part".as_ref()].into_iter().collect::<OsString>());
        match File::create_new(&path) {
            Ok(file) => Ok(Self { file, path, wanted: wanted.to_owned(), is_complete: false }),
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
                bail!("{} is there: another export is writing it, or one was killed; if so, delete it", path.display())
            }
            Err(error) => Err(error).with_context(|| path.display().to_string()),
        }
    }

    /// Returns the file, to be written.
    pub(super) fn file(&self) -> &File {
        &self.file
    }

    /// Gives the file the name that is wanted, in the place of an older one.
    pub(super) fn complete(mut self) -> anyhow::Result<()> {
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
    use std::io::Write;

    use super::*;

    #[test]
    fn a_draft_appears_under_its_name_when_it_is_complete() {
        let folder = tempfile::tempdir().unwrap();
        let wanted = folder.path().join("users.csv");
        let draft = Draft::of(&wanted).unwrap();
        draft.file().write_all(b"all").unwrap();
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
