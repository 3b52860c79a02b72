//! The generations of a stamp's codes. A code that leaked is replaced by one of a new generation, and revoked; no stamp
//! is lost by it.

use std::str::FromStr;

use derive_more::Display;
use serde::{Deserialize, Serialize};

use super::{ProofKind, Proofs};
use crate::domain::{Malformed, time::Timestamp, worded::worded};

worded! {
    /// The kind of a stamp's code.
    #[derive(Serialize, Deserialize)]
    #[serde(rename_all = "snake_case", try_from = "String")]
    CodeKind {
        /// Shown on a screen.
        QrRotating = "qr_rotating",
        /// Printed.
        QrStatic = "qr_static",
    }
}

impl FromStr for CodeKind {
    type Err = Malformed;

    fn from_str(text: &str) -> Result<Self, Malformed> {
        let found = Self::ALL.into_iter().find(|kind| kind.as_str() == text);
        found.ok_or_else(|| Malformed::new("kind", "must be qr_rotating or qr_static"))
    }
}

impl TryFrom<String> for CodeKind {
    type Error = Malformed;

    fn try_from(text: String) -> Result<Self, Malformed> {
        text.parse()
    }
}

impl From<CodeKind> for ProofKind {
    fn from(kind: CodeKind) -> Self {
        match kind {
            CodeKind::QrRotating => Self::QrRotating,
            CodeKind::QrStatic => Self::QrStatic,
        }
    }
}

/// The number of a generation, 1 to 99. The first is always there.
#[derive(Debug, Display, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(try_from = "i64", into = "i64")]
pub struct Generation(u8);

impl Generation {
    /// The first one.
    pub const FIRST: Self = Self(1);

    /// Returns the number.
    #[must_use]
    pub fn number(self) -> u8 {
        self.0
    }
}

impl TryFrom<i64> for Generation {
    type Error = Malformed;

    fn try_from(number: i64) -> Result<Self, Malformed> {
        let fits = u8::try_from(number).ok().filter(|number| (1..=99).contains(number));
        fits.map(Self).ok_or_else(|| Malformed::new("generation", "must be a whole number from 1 to 99"))
    }
}

impl FromStr for Generation {
    type Err = Malformed;

    /// Reads a number as a path or a command has it, in digits alone.
    fn from_str(text: &str) -> Result<Self, Malformed> {
        let is_number = text.bytes().all(|byte| byte.is_ascii_digit());
        // What has too many digits is as far off as 0.
        let number = text.parse::<i64>().ok().filter(|_| is_number);
        number.unwrap_or_default().try_into()
    }
}

impl From<Generation> for i64 {
    fn from(generation: Generation) -> Self {
        generation.0.into()
    }
}

/// One generation of a stamp's codes, as far as something happened to it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct CodeGeneration {
    /// Of which kind.
    pub kind: CodeKind,
    /// Which one.
    pub generation: Generation,
    /// When it was made; the first one has none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub created_at: Option<Timestamp>,
    /// The name of the admin token that made it; the first one has none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub created_by: Option<String>,
    /// Since when its codes are refused.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub revoked_at: Option<Timestamp>,
    /// The name of the admin token that revoked it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub revoked_by: Option<String>,
}

/// What is known of a generation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Living {
    /// Its codes are good.
    Yes,
    /// They were good once.
    Revoked,
    /// It was never made, as far as this copy knows.
    Unknown,
}

/// Every generation of a stamp's codes (`codes`).
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Generations(Vec<CodeGeneration>);

impl Generations {
    /// Returns whether nothing happened yet: there is the first generation of each kind, and it is good.
    #[must_use]
    pub fn is_untouched(&self) -> bool {
        self.0.is_empty()
    }

    /// Returns all of a kind, the first one included, oldest first.
    #[must_use]
    pub fn of(&self, kind: CodeKind) -> Vec<CodeGeneration> {
        let mut all: Vec<_> = self.0.iter().filter(|known| known.kind == kind).cloned().collect();
        if all.iter().all(|known| known.generation != Generation::FIRST) {
            all.push(first(kind));
        }
        all.sort_by_key(|known| known.generation);
        all
    }

    /// Returns all of the kinds that a stamp takes, and of kinds that something happened to, by kind, oldest first.
    #[must_use]
    pub fn listed(&self, proofs: &Proofs) -> Vec<CodeGeneration> {
        let is_recorded = |kind: CodeKind| self.0.iter().any(|known| known.kind == kind);
        let kinds = CodeKind::ALL.into_iter().filter(|kind| proofs.take((*kind).into()) || is_recorded(*kind));
        kinds.flat_map(|kind| self.of(kind)).collect()
    }

    /// Returns what is known of one.
    #[must_use]
    pub fn living(&self, kind: CodeKind, generation: Generation) -> Living {
        match self.find(kind, generation) {
            Some(known) if known.revoked_at.is_some() => Living::Revoked,
            Some(_) => Living::Yes,
            None if generation == Generation::FIRST => Living::Yes,
            None => Living::Unknown,
        }
    }

    /// Returns the newest one whose codes are good.
    #[must_use]
    pub fn newest_living(&self, kind: CodeKind) -> Option<Generation> {
        self.of(kind).into_iter().rev().find(|known| known.revoked_at.is_none()).map(|known| known.generation)
    }

    /// Makes the next generation. Earlier ones stay good until they are revoked. `None` if there are 99.
    pub fn rotate(&mut self, kind: CodeKind, by: &str, now: Timestamp) -> Option<CodeGeneration> {
        let newest = self.of(kind).last().map_or(Generation::FIRST, |known| known.generation);
        let generation = Generation::try_from(i64::from(newest) + 1).ok()?;
        let made = CodeGeneration { created_at: Some(now), created_by: Some(by.to_owned()), ..first(kind) };
        self.0.push(CodeGeneration { generation, ..made });
        self.0.last().cloned()
    }

    /// Revokes a generation; one that is revoked stays as it is. `None` if there is no such one.
    pub fn revoke(
        &mut self,
        (kind, generation): (CodeKind, Generation),
        by: &str,
        now: Timestamp,
    ) -> Option<CodeGeneration> {
        if self.find(kind, generation).is_none() && generation == Generation::FIRST {
            self.0.push(first(kind));
        }
        let found = self.0.iter_mut().find(|known| known.kind == kind && known.generation == generation)?;
        if found.revoked_at.is_none() {
            (found.revoked_at, found.revoked_by) = (Some(now), Some(by.to_owned()));
        }
        Some(found.clone())
    }

    fn find(&self, kind: CodeKind, generation: Generation) -> Option<&CodeGeneration> {
        self.0.iter().find(|known| known.kind == kind && known.generation == generation)
    }
}

fn first(kind: CodeKind) -> CodeGeneration {
    CodeGeneration {
        kind,
        generation: Generation::FIRST,
        created_at: None,
        created_by: None,
        revoked_at: None,
        revoked_by: None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use CodeKind::{QrRotating, QrStatic};

    fn at(text: &str) -> Timestamp {
        text.parse().unwrap()
    }

    fn generation(number: i64) -> Generation {
        number.try_into().unwrap()
    }

    #[test]
    fn a_kind_and_a_generation_are_read_by_their_words_and_digits() {
        assert_eq!("qr_static".parse::<CodeKind>(), Ok(QrStatic));
        let refused = "passcode".parse::<CodeKind>().unwrap_err().to_string();
        assert_eq!(refused, "kind: must be qr_rotating or qr_static");
        assert_eq!("99".parse::<Generation>(), Ok(generation(99)));
        for text in ["", "0", "100", "+1", "-1", "1.0", "one", "99999999999999999999"] {
            let refused = text.parse::<Generation>().unwrap_err().to_string();
            assert_eq!(refused, "generation: must be a whole number from 1 to 99", "{text}");
        }
    }

    #[test]
    fn the_first_generation_is_always_there_and_may_be_revoked() {
        let (mut codes, now) = (Generations::default(), at("2026-05-23T10:00:00.000Z"));
        assert_eq!(codes.living(QrStatic, Generation::FIRST), Living::Yes);
        let revoked = codes.revoke((QrStatic, Generation::FIRST), "office", now).unwrap();
        assert_eq!((revoked.revoked_at, revoked.revoked_by.as_deref()), (Some(now), Some("office")));
        assert_eq!(codes.living(QrStatic, Generation::FIRST), Living::Revoked);
        assert_eq!(codes.living(QrRotating, Generation::FIRST), Living::Yes);
        assert_eq!(codes.newest_living(QrStatic), None);
        assert_eq!(codes.revoke((QrStatic, Generation::FIRST), "agency", now.plus_millis(1)), Some(revoked));
    }

    #[test]
    fn a_rotated_code_leaves_the_earlier_one_good_until_it_is_revoked() {
        let (mut codes, now) = (Generations::default(), at("2026-05-23T10:00:00.000Z"));
        assert_eq!(codes.rotate(QrStatic, "office", now).unwrap().generation, generation(2));
        assert_eq!(codes.newest_living(QrStatic), Some(generation(2)));
        assert_eq!(codes.living(QrStatic, Generation::FIRST), Living::Yes);
        assert_eq!(codes.living(QrStatic, generation(3)), Living::Unknown);
        codes.revoke((QrStatic, generation(2)), "office", now);
        assert_eq!(codes.newest_living(QrStatic), Some(Generation::FIRST));
        assert_eq!(codes.revoke((QrStatic, generation(3)), "office", now), None);
        assert_eq!(codes.rotate(QrStatic, "office", now).unwrap().generation, generation(3));
    }

    #[test]
    fn generations_are_listed_of_the_kinds_that_the_stamp_takes_and_of_those_that_something_happened_to() {
        let (mut codes, now) = (Generations::default(), at("2026-05-23T10:00:00.000Z"));
        let proofs = Proofs::try_from(vec![vec![ProofKind::QrStatic]]).unwrap();
        let listed = |codes: &Generations, proofs: &Proofs| {
            codes.listed(proofs).into_iter().map(|known| (known.kind, known.generation.number())).collect::<Vec<_>>()
        };
        assert_eq!(listed(&codes, &Proofs::default()), []);
        assert_eq!(listed(&codes, &proofs), [(QrStatic, 1)]);
        codes.rotate(QrRotating, "office", now).unwrap();
        assert_eq!(listed(&codes, &proofs), [(QrRotating, 1), (QrRotating, 2), (QrStatic, 1)]);
    }

    #[test]
    fn a_hundredth_generation_is_refused() {
        let (mut codes, now) = (Generations::default(), at("2026-05-23T10:00:00.000Z"));
        assert!((2..=99).all(|_| codes.rotate(QrRotating, "office", now).is_some()));
        assert_eq!(codes.rotate(QrRotating, "office", now), None);
        assert_eq!(codes.of(QrRotating).len(), 99);
    }
}
