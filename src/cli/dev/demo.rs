//! The demo rallies: their event files and templates.

use std::{
    fs,
    path::{Path, PathBuf},
};

use anyhow::Context;

/// The event of the first of them.
pub(super) const DEMO_EVENT: &str = "stamp-rally-202606";

/// The demo rallies, as they lie in the repository: path below the data folder, text.
const FILES: [(&str, &str); 5] = [
    ("events/stamp-rally-202606.toml", include_str!("../../../config/events/stamp-rally-202606.toml")),
    ("events/proof-rally-202606.toml", include_str!("../../../config/events/proof-rally-202606.toml")),
    ("flex_templates/rally-completed.json", include_str!("../../../flex_templates/rally-completed.json")),
    ("flex_templates/stamp-acquired.json", include_str!("../../../flex_templates/stamp-acquired.json")),
    ("flex_templates/stamp-acquired-last.json", include_str!("../../../flex_templates/stamp-acquired-last.json")),
];
const TEMPLATES: &str = "flex_templates";

/// Returns the event files, the second rally's first, and the folder of their templates: those of the folder this is
/// started in, which may have been changed since the program was built, or else the compiled-in ones, below the data folder.
pub(super) fn files(data: &Path) -> anyhow::Result<([PathBuf; 2], PathBuf)> {
    let (files, templates) = (events_in(Path::new("config")), PathBuf::from(TEMPLATES));
    if files.iter().all(|file| file.is_file()) && templates.is_dir() {
        return Ok((files, templates));
    }
    let folder = data.join("demo");
    for (path, text) in FILES {
        let path = folder.join(path);
        fs::create_dir_all(path.parent().unwrap_or(&folder))?;
        fs::write(&path, text).with_context(|| path.display().to_string())?;
    }
    Ok((events_in(&folder), folder.join(TEMPLATES)))
}

fn events_in(folder: &Path) -> [PathBuf; 2] {
    [FILES[1].0, FILES[0].0].map(|path| folder.join(path))
}
