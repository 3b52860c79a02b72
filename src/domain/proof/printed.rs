//! A printed code, as organisers get it.

use serde::Serialize;

use super::{CodeGeneration, CodeKind, CodeSource};
use crate::domain::event::LiffId;

/// The printed code of a generation, and the link that opens the event's page with it.
#[derive(Clone, PartialEq, Eq, Serialize)]
pub struct PrintedCode {
    /// The code.
    pub code: String,
    /// Its link, where the event has a LIFF app.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub link: Option<String>,
}

impl PrintedCode {
    /// Returns the code of a generation; `None` if it is revoked or shown on a screen, or without a key.
    #[must_use]
    pub fn of(generation: &CodeGeneration, source: &CodeSource<'_>, liff_id: Option<&LiffId>) -> Option<Self> {
        let is_printed = generation.kind == CodeKind::QrStatic && generation.revoked_at.is_none();
        let code = is_printed.then(|| source.printed(generation.generation)).flatten()?;
        Some(Self { link: liff_id.map(|liff_id| liff_id.link_of_code(&code)), code })
    }
}

impl std::fmt::Debug for PrintedCode {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("PrintedCode(…)")
    }
}
