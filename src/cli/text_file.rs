//! Text files as editors save them: UTF-8, with or without a byte order mark.

use std::{fs, io, path::Path};

use crate::domain::encoding::{self, OtherEncoding};

/// Reads a text file.
///
/// # Errors
///
/// What the system says; for another encoding than UTF-8 (`InvalidData`) which one it seems to be, where, and what to
/// do.
pub(super) fn read(path: &Path) -> io::Result<String> {
    let bytes = fs::read(path)?;
    encoding::utf_8(&bytes)
        .map(str::to_owned)
        .map_err(|other| io::Error::new(io::ErrorKind::InvalidData, refusal(&other)))
}

fn refusal(other: &OtherEncoding) -> String {
    let remedy = match other.name {
        None => String::new(),
        // Windows' own Shift_JIS has more letters than the standard.
        Some("Shift_JIS") => ", for example with `iconv -f CP932 -t UTF-8`".to_owned(),
        Some(name) => format!(", for example with `iconv -f {name} -t UTF-8`"),
    };
    format!("{other}: save it as UTF-8{remedy}")
}
