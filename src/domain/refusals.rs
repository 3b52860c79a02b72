//! How often claims were refused: by hour, stamp and reason, and by nobody.

use std::{collections::BTreeMap, fmt, str::FromStr};

use super::{Malformed, ids::StampId};

/// How many of an hour are kept: the most frequent.
const MOST: usize = 500;

/// Why a claim for a stamp was refused; its text is `{stampId}#{reason}`.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct RefusedFor {
    /// Which stamp was claimed.
    pub stamp_id: StampId,
    /// The refusal's `reason`, or its code where that has one reason only.
    pub reason: String,
}

impl fmt::Display for RefusedFor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}#{}", self.stamp_id, self.reason)
    }
}

impl FromStr for RefusedFor {
    type Err = Malformed;

    fn from_str(text: &str) -> Result<Self, Malformed> {
        let (stamp_id, reason) = text.split_once('#').unwrap_or((text, ""));
        let is_word = !reason.is_empty() && reason.bytes().all(|byte| byte.is_ascii_lowercase() || byte == b'_');
        if !is_word {
            return Err(Malformed::new("counts", "must be counted by {stampId}#{reason}"));
        }
        Ok(Self { stamp_id: stamp_id.parse()?, reason: reason.to_owned() })
    }
}

/// Refused claims of one event in one hour.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct RefusalCounts(pub BTreeMap<RefusedFor, u64>);

impl RefusalCounts {
    /// Counts one.
    pub fn count(&mut self, refused: RefusedFor) {
        *self.0.entry(refused).or_default() += 1;
    }

    /// Adds what another process counted.
    pub fn add(&mut self, other: Self) {
        for (refused, count) in other.0 {
            *self.0.entry(refused).or_default() += count;
        }
    }

    /// Returns the 500 most frequent: an item has room for no more.
    #[must_use]
    pub fn largest(&self) -> Self {
        let mut all: Vec<_> = self.0.iter().collect();
        all.sort_by_key(|(_, count)| std::cmp::Reverse(**count));
        Self(all.into_iter().take(MOST).map(|(refused, count)| (refused.clone(), *count)).collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refused(stamp: usize, reason: &str) -> RefusedFor {
        RefusedFor { stamp_id: stamp.to_string().parse().unwrap(), reason: reason.to_owned() }
    }

    #[test]
    fn the_text_is_read_back_and_others_are_refused() {
        let text = refused(1, "too_far").to_string();
        assert_eq!((text.as_str(), text.parse()), ("1#too_far", Ok(refused(1, "too_far"))));
        for bad in ["1", "1#", "#too_far", "1#Too", "1#a#b"] {
            assert!(bad.parse::<RefusedFor>().is_err(), "{bad}");
        }
    }

    #[test]
    fn of_more_than_an_item_holds_the_most_frequent_are_kept() {
        let mut counts = RefusalCounts::default();
        for stamp in 0..600 {
            counts.count(refused(stamp, "hours"));
        }
        (0..3).for_each(|_| counts.count(refused(599, "hours")));
        let kept = counts.largest();
        assert_eq!((kept.0.len(), kept.0[&refused(599, "hours")]), (500, 4));
    }
}
