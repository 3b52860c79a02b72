//! Codes: of a stamp, printed (`S…`) or shown on a screen (`R…`), and of a person, for staff to scan (`P…`).

#[cfg(test)]
pub(in crate::domain) mod tests;

use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};

use super::{CodeKind, Generation, RotatingSettings, crockford, keys::ProofKeys};
use crate::domain::{
    bounded::Whole,
    ids::{EventId, LineUserId, StampId},
    time::Timestamp,
};

/// How long a person's code is shown.
pub const PERSON_STEP_SECONDS: u32 = 60;

/// How early a code of a screen is good: clocks of servers differ.
const EARLY_MILLIS: i64 = 2_000;

/// The widths of a code's fields, in characters.
mod width {
    pub const TAG: usize = 8;
    pub const GENERATION: usize = 2;
    pub const STEP: usize = 6;
    pub const USER: usize = 26;
    pub const MAC: usize = 16;
}

/// The first 80 bits of a signature.
type Mac = [u8; 10];

/// The first 40 bits of a hash: which stamp a code is of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Tag(u64);

impl Tag {
    fn of(event_id: &EventId, stamp_id: &StampId) -> Self {
        let hash = Sha256::digest(format!("{event_id}#{stamp_id}"));
        Self(hash[..5].iter().fold(0, |tag, byte| tag << 8 | u64::from(*byte)))
    }
}

/// A stretch of time for which a changing code is shown: Unix seconds divided by its length.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Step(u32);

/// Whether a step is good now.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Timeliness {
    /// It begins only later.
    Early,
    /// It is good.
    Good,
    /// It ended, and so did its tolerance.
    Expired,
}

impl Step {
    /// Returns the step of an instant.
    #[must_use]
    pub fn of(at: Timestamp, seconds: u32) -> Self {
        let step = at.as_millis().div_euclid(i64::from(seconds) * 1000);
        Self(u32::try_from(step).unwrap_or(0))
    }

    /// Returns the next one.
    #[must_use]
    pub fn next(self) -> Self {
        Self(self.0.saturating_add(1))
    }

    /// Returns its first instant.
    #[must_use]
    pub fn start(self, seconds: u32) -> Timestamp {
        Timestamp::EPOCH.plus_millis(i64::from(self.0) * i64::from(seconds) * 1000)
    }

    /// Returns whether it is good: from 2 s before its start until so many steps after its end.
    pub(in crate::domain) fn timeliness(self, now: Timestamp, settings: RotatingSettings) -> Timeliness {
        let seconds = settings.step_seconds.get();
        let end = Self(self.0.saturating_add(1).saturating_add(settings.tolerance_steps.get())).start(seconds);
        if now < self.start(seconds).plus_millis(-EARLY_MILLIS) {
            Timeliness::Early
        } else if now < end {
            Timeliness::Good
        } else {
            Timeliness::Expired
        }
    }
}

/// How a person's code changes.
const PERSON: RotatingSettings =
    RotatingSettings { step_seconds: Whole::known(PERSON_STEP_SECONDS), tolerance_steps: Whole::known(1) };

/// A code as it was read; nothing of it is believed before its signature was checked.
#[derive(Clone, PartialEq, Eq)]
pub enum Code {
    /// Of a person.
    Person(PersonCode),
    /// Of a stamp.
    Stamp(StampCode),
}

/// A code of a person.
#[derive(Clone, PartialEq, Eq)]
pub struct PersonCode {
    /// Whose it is.
    pub line_user_id: LineUserId,
    step: Step,
    mac: Mac,
}

/// A code of a stamp.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct StampCode {
    tag: Tag,
    /// Which generation it is of.
    pub generation: Generation,
    /// The step of a screen's code; a printed one has none.
    pub step: Option<Step>,
    mac: Mac,
}

impl StampCode {
    /// Returns its kind.
    #[must_use]
    pub fn kind(&self) -> CodeKind {
        if self.step.is_some() { CodeKind::QrRotating } else { CodeKind::QrStatic }
    }

    /// Returns whether it says to be of this stamp.
    #[must_use]
    pub fn names(&self, event_id: &EventId, stamp_id: &StampId) -> bool {
        self.tag == Tag::of(event_id, stamp_id)
    }
}

impl Code {
    /// Reads a code as it was scanned or typed; `None` = it is none.
    #[must_use]
    pub fn read(text: &str) -> Option<Self> {
        let text = crockford::normalised(text);
        let mut fields = Fields(text.get(1..)?);
        let code = match text.get(..1)? {
            "S" => Self::Stamp(fields.stamp_code(|_| Some(None))?),
            "R" => Self::Stamp(fields.stamp_code(|fields| fields.step().map(Some))?),
            "P" => Self::Person(fields.person_code()?),
            _ => return None,
        };
        fields.0.is_empty().then_some(code)
    }
}

/// The fields of a code that weren't read yet.
struct Fields<'t>(&'t str);

impl Fields<'_> {
    fn next(&mut self, width: usize) -> Option<u128> {
        let (field, rest) = self.0.split_at_checked(width)?;
        self.0 = rest;
        crockford::read(field)
    }

    fn stamp_code(&mut self, step: impl FnOnce(&mut Self) -> Option<Option<Step>>) -> Option<StampCode> {
        let tag = Tag(u64::try_from(self.next(width::TAG)?).ok()?);
        let generation = i64::try_from(self.next(width::GENERATION)?).ok()?.try_into().ok()?;
        Some(StampCode { tag, generation, step: step(self)?, mac: self.mac()? })
    }

    fn person_code(&mut self) -> Option<PersonCode> {
        let line_user_id = format!("U{:032x}", self.next(width::USER)?).parse().ok()?;
        Some(PersonCode { line_user_id, step: self.step()?, mac: self.mac()? })
    }

    fn step(&mut self) -> Option<Step> {
        self.next(width::STEP)?.try_into().ok().map(Step)
    }

    fn mac(&mut self) -> Option<Mac> {
        self.next(width::MAC)?.to_be_bytes()[6..].try_into().ok()
    }
}

/// Makes and checks the codes of one stamp.
#[derive(Debug, Clone, Copy)]
pub struct CodeSource<'a> {
    /// The keys.
    pub keys: &'a ProofKeys,
    /// Of which event.
    pub event_id: &'a EventId,
    /// Which stamp.
    pub stamp_id: &'a StampId,
}

impl CodeSource<'_> {
    /// Makes the printed code of a generation; `None` without a key.
    #[must_use]
    pub fn printed(&self, generation: Generation) -> Option<String> {
        self.make(generation, None)
    }

    /// Makes the code that a screen shows for a step; `None` without a key.
    #[must_use]
    pub fn shown(&self, generation: Generation, step: Step) -> Option<String> {
        self.make(generation, Some(step))
    }

    /// Returns whether a code is of this stamp, and signed by one of the keys.
    #[must_use]
    pub fn made(&self, code: &StampCode) -> bool {
        code.names(self.event_id, self.stamp_id)
            && self.keys.have_signed(self.context(code.generation, code.step).as_bytes(), &code.mac)
    }

    fn make(&self, generation: Generation, step: Option<Step>) -> Option<String> {
        let mac = self.keys.sign(self.context(generation, step).as_bytes())?;
        let tag = Tag::of(self.event_id, self.stamp_id);
        let mut code = if step.is_some() { "R" } else { "S" }.to_owned();
        code += &crockford::write(tag.0.into(), width::TAG);
        code += &crockford::write(generation.number().into(), width::GENERATION);
        code.extend(step.map(|step| crockford::write(step.0.into(), width::STEP)));
        Some(code + &mac_text(&mac))
    }

    fn context(&self, generation: Generation, step: Option<Step>) -> String {
        let Self { event_id, stamp_id, .. } = self;
        match step {
            None => format!("qr_static#{event_id}#{stamp_id}#{generation}"),
            Some(step) => format!("qr_rotating#{event_id}#{stamp_id}#{generation}#{}", step.0),
        }
    }
}

impl PersonCode {
    /// Makes the code of a person for this instant, and returns it with the instant at which its step ends; `None` without
    /// a key.
    #[must_use]
    pub fn make(
        keys: &ProofKeys,
        event_id: &EventId,
        line_user_id: &LineUserId,
        now: Timestamp,
    ) -> Option<(String, Timestamp)> {
        let step = Step::of(now, PERSON_STEP_SECONDS);
        let user = u128::from_str_radix(line_user_id.as_str().strip_prefix('U')?, 16).ok()?;
        let mac = keys.sign(person_context(event_id, line_user_id, step).as_bytes())?;
        let (user, at) = (crockford::write(user, width::USER), crockford::write(step.0.into(), width::STEP));
        Some((format!("P{user}{at}{}", mac_text(&mac)), step.next().start(PERSON_STEP_SECONDS)))
    }

    /// Returns whether one of the keys signed it for this event.
    #[must_use]
    pub fn is_signed(&self, keys: &ProofKeys, event_id: &EventId) -> bool {
        keys.have_signed(person_context(event_id, &self.line_user_id, self.step).as_bytes(), &self.mac)
    }

    /// Returns whether it is good now.
    pub(in crate::domain) fn timeliness(&self, now: Timestamp) -> Timeliness {
        self.step.timeliness(now, PERSON)
    }
}

fn person_context(event_id: &EventId, line_user_id: &LineUserId, step: Step) -> String {
    format!("person#{event_id}#{line_user_id}#{}", step.0)
}

fn mac_text(signature: &[u8; 32]) -> String {
    let number = signature[..10].iter().fold(0_u128, |number, byte| number << 8 | u128::from(*byte));
    crockford::write(number, width::MAC)
}
