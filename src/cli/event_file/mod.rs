//! Event files: an event and its stamps, with their templates, as an organiser writes them.
//!
//! `config/events/{eventId}.toml` holds the attributes of the EVENT and a `[[stamps]]` for each `STAMP_MASTER`;
//! messages are files of the templates' folder. What is read here is text: `event apply` turns it into the
//! types of the domain.

#[cfg(test)]
mod tests;

use std::{
    collections::BTreeMap,
    fs,
    path::{Component, Path},
};

use anyhow::{Context, anyhow, bail};
use serde::{Deserialize, Deserializer, de::Error};
use toml::{Spanned, Value};

use super::flex::read_template;
use crate::line::flex::Template;

/// An event as its file has it.
#[derive(Clone, Debug, PartialEq)]
pub struct EventFile {
    /// `eventId`.
    pub event_id: String,
    /// `name`.
    pub name: String,
    /// `startsAt`, an instant with its offset (RFC 3339).
    pub starts_at: String,
    /// `endsAt`, an instant with its offset (RFC 3339).
    pub ends_at: String,
    /// `timeZone`, an IANA name.
    pub time_zone: Option<String>,
    /// `channel`.
    pub channel: String,
    /// `liffId`.
    pub liff_id: Option<String>,
    /// `indexShards`.
    pub index_shards: Option<u16>,
    /// The message of `completionTemplate`.
    pub completion_message: Option<Template>,
    /// `[[stamps]]`, as the file orders them.
    pub stamps: Vec<StampEntry>,
}

/// One of the `[[stamps]]`.
#[derive(Clone, Debug, PartialEq)]
pub struct StampEntry {
    /// The line of the file where it begins, for what is found wrong later.
    pub line: usize,
    /// `stampId`.
    pub stamp_id: String,
    /// `name`.
    pub name: String,
    /// `order`.
    pub order: u16,
    /// `isActive`; true where the file doesn't say.
    pub is_active: bool,
    /// The message of `template`.
    pub message: Template,
}

/// Reads an event file and the templates it names, which stay inside the folder `templates`.
///
/// The error is one line that names the file, the line and the key.
pub fn read(file: &Path, templates: &Path) -> anyhow::Result<EventFile> {
    let text = fs::read_to_string(file).with_context(|| format!("event file {}", file.display()))?;
    let reader = Reader { file, text: &text };
    let raw = reader.parse()?;
    reader.refuse_repeated_stamps(&raw.stamps)?;
    let mut folder = Folder { path: templates, read: BTreeMap::new() };
    let mut message = |key: &str, name: &Spanned<String>| {
        folder.template(name.get_ref()).map_err(|error| reader.error(key, name.span().start, &format!("{error:#}")))
    };
    let completion_message =
        raw.completion_template.as_ref().map(|name| message("completionTemplate", name)).transpose()?;
    let mut stamps = Vec::new();
    for stamp in raw.stamps {
        let line = reader.line(stamp.span().start);
        let stamp = stamp.into_inner();
        let message = message("stamps.template", &stamp.template)?;
        let RawStamp { stamp_id, name, order, is_active, .. } = stamp;
        stamps.push(StampEntry { line, stamp_id, name, order, is_active, message });
    }
    Ok(EventFile {
        event_id: raw.event_id,
        name: raw.name,
        starts_at: raw.starts_at,
        ends_at: raw.ends_at,
        time_zone: raw.time_zone,
        channel: raw.channel,
        liff_id: raw.liff_id,
        index_shards: raw.index_shards,
        completion_message,
        stamps,
    })
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
struct RawEvent {
    event_id: String,
    name: String,
    #[serde(deserialize_with = "instant")]
    starts_at: String,
    #[serde(deserialize_with = "instant")]
    ends_at: String,
    time_zone: Option<String>,
    channel: String,
    liff_id: Option<String>,
    index_shards: Option<u16>,
    completion_template: Option<Spanned<String>>,
    #[serde(default)]
    stamps: Vec<Spanned<RawStamp>>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
struct RawStamp {
    stamp_id: String,
    name: String,
    order: u16,
    #[serde(default = "active")]
    is_active: bool,
    template: Spanned<String>,
}

fn active() -> bool {
    true
}

/// TOML's own date-times and texts alike.
fn instant<'de, D: Deserializer<'de>>(from: D) -> Result<String, D::Error> {
    match Value::deserialize(from)? {
        Value::Datetime(moment) => Ok(moment.to_string()),
        Value::String(text) => Ok(text),
        _ => Err(D::Error::custom("must be an instant with its offset, for example 2026-05-23T10:00:00+09:00")),
    }
}

/// The text of an event file, and where in it something is wrong.
struct Reader<'f> {
    file: &'f Path,
    text: &'f str,
}

impl Reader<'_> {
    fn parse(&self) -> anyhow::Result<RawEvent> {
        let broken = |error: &toml::de::Error, key: &str| {
            self.error(key, error.span().map_or(0, |span| span.start), error.message())
        };
        let document = toml::Deserializer::parse(self.text).map_err(|error| broken(&error, ""))?;
        serde_path_to_error::deserialize(document).map_err(|error| {
            // `Spanned` hides behind a member with a name of its own.
            let key = error.path().to_string().replace(".$__serde_spanned_private_value", "");
            broken(error.inner(), key.trim_start_matches('.'))
        })
    }

    fn refuse_repeated_stamps(&self, stamps: &[Spanned<RawStamp>]) -> anyhow::Result<()> {
        for (number, stamp) in stamps.iter().enumerate() {
            let id = &stamp.get_ref().stamp_id;
            if stamps[..number].iter().any(|earlier| &earlier.get_ref().stamp_id == id) {
                let problem = format!("`{id}` stands twice: give each stamp its own");
                return Err(self.error("stamps.stampId", stamp.span().start, &problem));
            }
        }
        Ok(())
    }

    fn line(&self, at: usize) -> usize {
        self.text.get(..at).map_or(1, |before| before.matches('\n').count() + 1)
    }

    fn error(&self, key: &str, at: usize, problem: &str) -> anyhow::Error {
        let place = format!("event file {}, line {}", self.file.display(), self.line(at));
        match key {
            "" | "." => anyhow!("{place}: {problem}"),
            key => anyhow!("{place}, `{key}`: {problem}"),
        }
    }
}

/// The folder of templates; each file is read and checked once.
struct Folder<'f> {
    path: &'f Path,
    read: BTreeMap<String, Template>,
}

impl Folder<'_> {
    fn template(&mut self, name: &str) -> anyhow::Result<Template> {
        if let Some(template) = self.read.get(name) {
            return Ok(template.clone());
        }
        let template = self.load(name)?;
        self.read.insert(name.to_owned(), template.clone());
        Ok(template)
    }

    fn load(&self, name: &str) -> anyhow::Result<Template> {
        let relative = Path::new(name);
        let inside = relative.components().all(|part| matches!(part, Component::Normal(_)));
        if name.is_empty() || !inside {
            bail!("`{name}` leads out of the templates' folder: name a file inside it");
        }
        let file = self.path.join(relative);
        // A link may lead out too.
        let real = fs::canonicalize(&file).with_context(|| file.display().to_string())?;
        if !real.starts_with(fs::canonicalize(self.path)?) {
            bail!("`{name}` leads out of the templates' folder: name a file inside it");
        }
        Template::parse(read_template(&file)?).map_err(|faults| {
            let others = match faults.len() {
                1 => String::new(),
                faults => format!(" (and {} more: see `stamp-rally flex check`)", faults - 1),
            };
            let first = faults.first().map(ToString::to_string).unwrap_or_default();
            anyhow!("{}: {first}{others}", file.display())
        })
    }
}
