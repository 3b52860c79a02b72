//! The demo rally: its event file and templates.

use std::{
    fs,
    path::{Path, PathBuf},
};

use anyhow::Context;

/// The event that they make.
pub(super) const DEMO_EVENT: &str = "stamp-rally-202606";

/// The demo rally, as it lies in the repository: path below the data folder, text.
const FILES: [(&str, &str); 4] = [
    ("events/stamp-rally-202606.toml", include_str!("../../../config/events/stamp-rally-202606.toml")),
    ("flex_templates/rally-completed.json", include_str!("../../../flex_templates/rally-completed.json")),
    ("flex_templates/stamp-acquired.json", include_str!("../../../flex_templates/stamp-acquired.json")),
    ("flex_templates/stamp-acquired-last.json", include_str!("../../../flex_templates/stamp-acquired-last.json")),
];
const TEMPLATES: &str = "flex_templates";

/// Returns the demo's event file and the folder of its templates: those of the folder this is started in, which may have
/// been changed since the program was built, or else the compiled-in ones, below the data folder.
pub(super) fn files(data: &Path) -> anyhow::Result<(PathBuf, PathBuf)> {
    let (file, templates) = (Path::new("config").join(FILES[0].0), PathBuf::from(TEMPLATES));
    if file.is_file() && templates.is_dir() {
        return Ok((file, templates));
    }
    let folder = data.join("demo");
    for (path, text) in FILES {
        let path = folder.join(path);
        fs::create_dir_all(path.parent().unwrap_or(&folder))?;
        fs::write(&path, text).with_context(|| path.display().to_string())?;
    }
    Ok((folder.join(FILES[0].0), folder.join(TEMPLATES)))
}
