//! Codes: of a stamp, printed (`S…`) or shown on a screen (`R…`), and of a person, for staff to scan (`P…`).

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

#[cfg(test)]
pub(in crate::domain) mod tests {
    use super::*;
    use base64::{Engine as _, prelude::BASE64_URL_SAFE_NO_PAD};
    use proptest::prelude::*;

    /// The contract's key: bytes 0 to 31.
    pub(in crate::domain) fn contract_keys() -> ProofKeys {
        let bytes: Vec<u8> = (0..32).collect();
        ProofKeys::read([BASE64_URL_SAFE_NO_PAD.encode(bytes).as_str()]).unwrap()
    }

    fn ids() -> (EventId, StampId) {
        ("stamp-rally-202606".parse().unwrap(), "001".parse().unwrap())
    }

    fn stamp_code(text: &str) -> StampCode {
        match Code::read(text) {
            Some(Code::Stamp(code)) => code,
            _ => panic!("{text} is no code of a stamp"),
        }
    }

    fn with<T>(check: impl FnOnce(&CodeSource<'_>) -> T) -> T {
        let (keys, (event_id, stamp_id)) = (contract_keys(), ids());
        check(&CodeSource { keys: &keys, event_id: &event_id, stamp_id: &stamp_id })
    }

    #[test]
    fn the_contracts_codes_are_made_and_read() {
        with(|source| {
            let printed = source.printed(Generation::FIRST).unwrap();
            assert_eq!(printed, "SBJV9RZ43010QG3PKWJFQE5FNBP");
            assert!(source.made(&stamp_code(&printed)) && stamp_code(&printed).step.is_none());
            let shown = source.shown(Generation::FIRST, Step(59_317_860)).unwrap();
            assert_eq!(shown, "RBJV9RZ43011RJ7K488PT7SYYVCRJBQCG");
            assert!(source.made(&stamp_code(&shown)));
            assert_eq!(stamp_code(&shown).step, Some(Step(59_317_860)));
        });
    }

    #[test]
    fn the_contracts_code_of_a_person_is_made_and_read() {
        let (keys, (event_id, _)) = (contract_keys(), ids());
        let hanako = "U00000000000000000000000000000001".parse().unwrap();
        let now = Step(29_658_930).start(PERSON_STEP_SECONDS).plus_millis(59_999);
        let (code, until) = PersonCode::make(&keys, &event_id, &hanako, now).unwrap();
        assert_eq!(code, "P000000000000000000000000010W93SJ8E4MRR67J5BAKYFC");
        assert_eq!(until, now.plus_millis(1));
        let Some(Code::Person(read)) = Code::read(&code) else { panic!("it is a person's") };
        assert_eq!(read.line_user_id, hanako);
        assert!(read.is_signed(&keys, &event_id) && !read.is_signed(&keys, &"autumn".parse().unwrap()));
    }

    #[test]
    fn a_code_is_read_as_it_is_typed() {
        let printed = stamp_code("SBJV9RZ43010QG3PKWJFQE5FNBP");
        for typed in
            ["sbjv-9rz4-30 1oqg 3pkw jfqe 5fnbp", "ＳBJV9RZ43O1OQG3PKWJFQE5FNBP", "SBJV9RZ430l0QG3PKWJFQE5FNBP"]
        {
            assert!(stamp_code(typed) == printed, "{typed}");
        }
    }

    #[test]
    fn what_is_no_code_is_none() {
        let long = format!("{}0", "SBJV9RZ43010QG3PKWJFQE5FNBP");
        for other in [
            "",
            "S",
            "灯台",
            "🗼🗼🗼",
            "https://liff.line.me/1234567890-AbcdEfgh",
            &long[..26],
            &long,
            "SBJV9RZ43000QG3PKWJFQE5FNBP",
        ] {
            assert!(Code::read(other).is_none(), "{other}");
        }
    }

    #[test]
    fn a_code_of_another_stamp_generation_step_or_key_is_not_ours() {
        with(|source| {
            let printed = stamp_code(&source.printed(Generation::FIRST).unwrap());
            let two: Generation = 2_i64.try_into().unwrap();
            assert!(!source.made(&StampCode { generation: two, ..printed }));
            assert!(!source.made(&StampCode { step: Some(Step(1)), ..printed }));
            let other = "002".parse().unwrap();
            assert!(!CodeSource { stamp_id: &other, ..*source }.made(&printed));
            assert!(!CodeSource { keys: &ProofKeys::default(), ..*source }.made(&printed));
            assert_eq!(CodeSource { keys: &ProofKeys::default(), ..*source }.printed(two), None);
        });
    }

    #[test]
    fn a_step_is_good_from_two_seconds_before_its_start_until_its_tolerance_ends() {
        let settings = RotatingSettings { step_seconds: Whole::known(30), tolerance_steps: Whole::known(1) };
        let step = Step(59_317_860);
        let at = |millis| step.timeliness(step.start(30).plus_millis(millis), settings);
        assert_eq!(
            [-2_001, -2_000, 59_999, 60_000].map(at),
            [Timeliness::Early, Timeliness::Good, Timeliness::Good, Timeliness::Expired]
        );
        let none = RotatingSettings { tolerance_steps: Whole::known(0), ..settings };
        assert_eq!(step.timeliness(step.start(30).plus_millis(29_999), none), Timeliness::Good);
        assert_eq!(step.timeliness(step.start(30).plus_millis(30_000), none), Timeliness::Expired);
    }

    proptest! {
        #[test]
        fn one_changed_character_makes_it_no_code_of_ours(place in 1_usize..27, digit in 0_usize..32) {
            with(|source| {
                let mut text = source.printed(Generation::FIRST).unwrap().into_bytes();
                let new = b"0123456789ABCDEFGHJKMNPQRSTVWXYZ"[digit];
                prop_assume!(text[place] != new);
                text[place] = new;
                let read = Code::read(&String::from_utf8(text).unwrap());
                prop_assert!(!matches!(read, Some(Code::Stamp(code)) if source.made(&code)));
                Ok(())
            })?;
        }

        #[test]
        fn any_text_is_read_without_a_panic(text: String) {
            let _ = Code::read(&text);
        }
    }
}
