//! Over which index partitions an event's participants are spread.

use std::{collections::BTreeSet, fmt};

use sha2::{Digest, Sha256};

use crate::domain::{event::IndexShards, ids::LineUserId};

/// Which of an event's index partitions a participant's entries are in. An event of one partition has no
/// number in its keys, as in the source article.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Shard(Option<u8>);

impl Shard {
    /// Returns the shard of a participant: SHA-256 of the user id, its first 8 bytes as a big-endian number, modulo the
    /// number of shards. Part of the contract: another answer would look for participants where they aren't.
    #[must_use]
    pub fn of(line_user_id: &LineUserId, shards: IndexShards) -> Self {
        if shards == IndexShards::ONE {
            return Self(None);
        }
        let hash = Sha256::digest(line_user_id.as_str());
        let number = hash.iter().take(8).fold(0_u64, |number, byte| (number << 8) | u64::from(*byte));
        Self(u8::try_from(number % u64::from(shards.count())).ok())
    }

    /// All shards of an event, each once, whatever it was spread over in its time ([`Event::all_index_shards`]).
    ///
    /// [`Event::all_index_shards`]: crate::domain::event::Event::all_index_shards
    pub fn all(shards: impl IntoIterator<Item = IndexShards>) -> BTreeSet<Self> {
        let of = |shards: IndexShards| {
            let numbered = shards != IndexShards::ONE;
            (0..shards.count()).map(move |number| Self(numbered.then_some(number)))
        };
        shards.into_iter().flat_map(of).collect()
    }

    /// Every shard that any event could have.
    pub(in super::super) fn possible() -> impl Iterator<Item = Self> {
        std::iter::once(Self(None)).chain((0..32).map(|number| Self(Some(number))))
    }

    pub(super) fn parse(parts: &[&str]) -> Option<Self> {
        match parts {
            [] => Some(Self(None)),
            [number] => number.parse().ok().filter(|n| *n < 32 && format!("{n:02}") == *number).map(|n| Self(Some(n))),
            _ => None,
        }
    }
}

impl fmt::Display for Shard {
    /// Writes what a key says at its end: nothing, or `#07`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.map_or(Ok(()), |number| write!(f, "#{number:02}"))
    }
}
