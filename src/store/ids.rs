//! Names of shards, records and workers.

use std::{cmp::Ordering, str::FromStr};

use derive_more::{Display, From};

/// Names a shard of a stream, by any text: the stream makes the names, and promises no form.
#[derive(Debug, Display, From, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ShardId(String);

impl ShardId {
    /// Returns the name as text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

/// A shard as the stream lists it. Whether it is closed is not part of it: only a shard that was read to its end is
/// certainly closed (listings are eventually consistent, and emulators disagree about `EndingSequenceNumber`).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ListedShard {
    /// Its name.
    pub id: ShardId,
    /// The shard that must be read to its end before this one; it may be trimmed already.
    pub parent: Option<ShardId>,
}

/// Names one run of one worker: never the same twice, so a lease of the run before has another owner.
#[derive(Debug, Display, From, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct WorkerId(String);

impl WorkerId {
    /// Makes a new name (UUID v4).
    #[must_use]
    pub fn generate() -> Self {
        Self(uuid::Uuid::new_v4().to_string())
    }

    /// Returns the name as text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

/// Names one run of one server: never the same twice, so that what it counts is its own.
#[derive(Debug, Display, From, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ProcessId(String);

impl ProcessId {
    /// Makes a new name (UUID v4).
    #[must_use]
    pub fn generate() -> Self {
        Self(uuid::Uuid::new_v4().to_string())
    }
}

/// A sequence number: decimal digits, of which the stream promises neither the number nor a size that fits a machine
/// word (API reference: 21 to 40 characters). Compared as the number it is.
#[derive(Debug, Display, Clone, PartialEq, Eq, Hash)]
pub struct SequenceNumber(String);

/// A text that is no sequence number.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("a sequence number is made of digits")]
pub struct MalformedSequence;

impl SequenceNumber {
    /// Returns the digits, as the stream gave them.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }

    fn significant(&self) -> &str {
        self.0.trim_start_matches('0')
    }
}

impl FromStr for SequenceNumber {
    type Err = MalformedSequence;

    fn from_str(text: &str) -> Result<Self, MalformedSequence> {
        Self::try_from(text.to_owned())
    }
}

impl TryFrom<String> for SequenceNumber {
    type Error = MalformedSequence;

    fn try_from(text: String) -> Result<Self, MalformedSequence> {
        let fits = (1..=200).contains(&text.len()) && text.bytes().all(|b| b.is_ascii_digit());
        if fits { Ok(Self(text)) } else { Err(MalformedSequence) }
    }
}

impl Ord for SequenceNumber {
    fn cmp(&self, other: &Self) -> Ordering {
        let (a, b) = (self.significant(), other.significant());
        // Equal numbers written differently are still different texts.
        a.len().cmp(&b.len()).then_with(|| a.cmp(b)).then_with(|| self.0.len().cmp(&other.0.len()))
    }
}

impl PartialOrd for SequenceNumber {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn sequence_numbers_compare_as_numbers_of_any_length(a: u128, b: u128, zeros in 0usize..5) {
            let sequence = |text: String| SequenceNumber::try_from(text).unwrap();
            let (left, right) = (sequence(a.to_string()), sequence(b.to_string()));
            prop_assert_eq!(left.cmp(&right), a.cmp(&b));
            let padded = sequence(format!("{}{b}", "0".repeat(zeros)));
            if a != b {
                prop_assert_eq!(left.cmp(&padded), a.cmp(&b));
            }
        }
    }

    #[test]
    fn forty_digits_are_beyond_every_machine_word_and_still_compare() {
        let less: SequenceNumber = "1111111111111111111111111111111111111110".parse().unwrap();
        let more: SequenceNumber = "1111111111111111111111111111111111111111".parse().unwrap();
        assert!(less < more);
        assert!("".parse::<SequenceNumber>().is_err() && "12a".parse::<SequenceNumber>().is_err());
    }
}
