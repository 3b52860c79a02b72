//! Event files: an event and its stamps, with their templates, as an organiser writes them.
//!
//! `config/events/{eventId}.toml` holds the attributes of the EVENT and a `[[stamps]]` for each `STAMP_MASTER`;
//! messages are files of the templates' folder. An error names the line and the key.

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

use super::{flex::read_template, text_file};
use crate::domain::{
    bounded::Whole,
    event::{IndexShards, LiffId, Window},
    ids::{ChannelName, EventId, StampId},
    proof::{Passcode, ProofSettings, Proofs},
    schedule::AllHours,
    setting::Name,
    stamp::{After, ClaimRulesChange, Notify, StampOrder},
    time::{TimeZone, Timestamp},
};
use crate::line::flex::Template;
use crate::store::items;

/// An event as its file has it. What is `None` isn't in the file.
#[derive(Clone, Debug, PartialEq)]
pub struct EventFile {
    /// `eventId`, and the file.
    pub event_id: Placed<EventId>,
    /// `name`.
    pub name: Placed<Name>,
    /// `startsAt` and `endsAt`.
    pub window: Window,
    /// `timeZone`.
    pub time_zone: Option<TimeZone>,
    /// `channel`.
    pub channel: Placed<ChannelName>,
    /// `liffId`.
    pub liff_id: Option<LiffId>,
    /// `indexShards`.
    pub index_shards: Option<Placed<IndexShards>>,
    /// The message of `completionTemplate`; its place ends with the template's file.
    pub completion_message: Option<Placed<Template>>,
    /// `minIntervalSeconds`.
    pub min_interval_seconds: Option<Whole<1, 86_400>>,
    /// `maxSpeedKmh`.
    pub max_speed_kmh: Option<Whole<1, 1_000>>,
    /// `lateMinutes`.
    pub late_minutes: Option<Whole<1, 1_440>>,
    /// `[[stamps]]`, as the file orders them.
    pub stamps: Vec<StampEntry>,
}

/// One of the `[[stamps]]`.
#[derive(Clone, Debug, PartialEq)]
pub struct StampEntry {
    /// `stampId`, each once in a file.
    pub stamp_id: StampId,
    /// `name`.
    pub name: Name,
    /// `order`.
    pub order: StampOrder,
    /// `isActive`.
    pub is_active: Option<bool>,
    /// Where the stamp begins in the file.
    pub place: String,
    /// `passcode`.
    pub passcode: Option<Placed<Passcode>>,
    /// The other rules of a claim for it.
    pub rules: ClaimRulesChange,
    /// `notify`.
    pub notify: Option<Notify>,
    /// The message of `template`; its place ends with the template's file.
    pub message: Placed<Template>,
}

/// A value, and where it stands, for what is found wrong later.
#[derive(Clone, Debug, PartialEq)]
pub struct Placed<T> {
    /// The value.
    pub value: T,
    /// In words: ``event file rally.toml, line 5, `channel` ``.
    pub place: String,
}

/// Reads an event file and the templates it names, which stay inside the folder `templates`.
///
/// The error is one line that names the file, the line and the key.
pub fn read(file: &Path, templates: &Path) -> anyhow::Result<EventFile> {
    let text = text_file::read(file).with_context(|| format!("event file {}", file.display()))?;
    parse(file, &text, templates)
}

/// The same for the text of an event file.
pub fn parse(file: &Path, text: &str, templates: &Path) -> anyhow::Result<EventFile> {
    let reader = Reader { file, text };
    let raw = reader.parse()?;
    reader.refuse_repeated_stamps(&raw.stamps)?;
    let mut folder = Folder { path: templates, read: BTreeMap::new() };
    let mut message = |key: &str, name: &Spanned<String>| {
        let (name, at) = (name.get_ref(), name.span().start);
        let value = folder.template(name).map_err(|error| reader.error(key, at, &format!("{error:#}")))?;
        anyhow::Ok(Placed { value, place: format!("{}: {}", reader.place(key, at), templates.join(name).display()) })
    };
    let completion_message =
        raw.completion_template.as_ref().map(|name| message("completionTemplate", name)).transpose()?;
    let mut stamps = Vec::new();
    for stamp in raw.stamps {
        let (place, stamp) = (reader.place("stamps", stamp.span().start), stamp.into_inner());
        let message = message("stamps.template", &stamp.template)?;
        stamps.push(StampEntry {
            place,
            passcode: stamp.passcode.map(|passcode| reader.placed("stamps.passcode", passcode)),
            rules: ClaimRulesChange {
                proofs: stamp.proofs,
                settings: stamp.proof_settings.map(Some),
                passcode_hash: None,
                available_from: stamp.available_from.map(|Instant(at)| Some(at)),
                available_until: stamp.available_until.map(|Instant(at)| Some(at)),
                hours: stamp.hours.map(Some),
                after: stamp.after.map(Some),
            },
            notify: stamp.notify,
            stamp_id: stamp.stamp_id,
            name: stamp.name,
            order: stamp.order,
            is_active: stamp.is_active,
            message,
        });
    }
    let window = Window::new(raw.starts_at.0, raw.ends_at.get_ref().0)
        .map_err(|error| reader.error("endsAt", raw.ends_at.span().start, &error.rule))?;
    Ok(EventFile {
        event_id: reader.placed("eventId", raw.event_id),
        name: reader.placed("name", raw.name),
        window,
        time_zone: raw.time_zone,
        channel: reader.placed("channel", raw.channel),
        liff_id: raw.liff_id,
        index_shards: raw.index_shards.map(|shards| reader.placed("indexShards", shards)),
        completion_message,
        min_interval_seconds: raw.min_interval_seconds,
        max_speed_kmh: raw.max_speed_kmh,
        late_minutes: raw.late_minutes,
        stamps,
    })
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
struct RawEvent {
    event_id: Spanned<EventId>,
    name: Spanned<Name>,
    starts_at: Instant,
    ends_at: Spanned<Instant>,
    time_zone: Option<TimeZone>,
    channel: Spanned<ChannelName>,
    liff_id: Option<LiffId>,
    index_shards: Option<Spanned<IndexShards>>,
    completion_template: Option<Spanned<String>>,
    min_interval_seconds: Option<Whole<1, 86_400>>,
    max_speed_kmh: Option<Whole<1, 1_000>>,
    late_minutes: Option<Whole<1, 1_440>>,
    #[serde(default)]
    stamps: Vec<Spanned<RawStamp>>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
struct RawStamp {
    stamp_id: StampId,
    name: Name,
    order: StampOrder,
    is_active: Option<bool>,
    template: Spanned<String>,
    proofs: Option<Proofs>,
    proof_settings: Option<ProofSettings>,
    passcode: Option<Spanned<Passcode>>,
    available_from: Option<Instant>,
    available_until: Option<Instant>,
    hours: Option<AllHours>,
    after: Option<After>,
    notify: Option<Notify>,
}

/// TOML's own date-times and texts alike, with an offset (RFC 3339).
struct Instant(Timestamp);

impl<'de> Deserialize<'de> for Instant {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        let text = match Value::deserialize(from)? {
            Value::Datetime(moment) => moment.to_string(),
            Value::String(text) => text,
            other => other.to_string(),
        };
        Timestamp::parse_instant("instant", &text).map(Self).map_err(|error| D::Error::custom(error.rule))
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
            // The domain names the field too.
            let field = format!("{}: ", key.rsplit('.').next().unwrap_or(key));
            let problem = error.message();
            let problem = problem.strip_prefix(&field).unwrap_or(problem);
            self.error(key, error.span().map_or(0, |span| span.start), problem)
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

    fn placed<T>(&self, key: &str, value: Spanned<T>) -> Placed<T> {
        Placed { place: self.place(key, value.span().start), value: value.into_inner() }
    }

    fn place(&self, key: &str, at: usize) -> String {
        let place = format!("event file {}, line {}", self.file.display(), self.line(at));
        match key {
            "" | "." => place,
            key => format!("{place}, `{key}`"),
        }
    }

    fn error(&self, key: &str, at: usize, problem: &str) -> anyhow::Error {
        anyhow!("{}: {problem}", self.place(key, at))
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
        let template = Template::parse(read_template(&file)?).map_err(|faults| {
            let others = match faults.len() {
                1 => String::new(),
                faults => format!(" (and {} more: see `stamp-rally flex check`)", faults - 1),
            };
            let first = faults.first().map(ToString::to_string).unwrap_or_default();
            anyhow!("{}: {first}{others}", file.display())
        })?;
        items::storable("message", template.message()).with_context(|| file.display().to_string())?;
        Ok(template)
    }
}
