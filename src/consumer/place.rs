//! The place of a worker among the live ones: pure.

use std::time::Duration;

/// The place of this worker among the live ones.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Place {
    /// Its rank among those that do the work.
    pub rank: usize,
    /// How many workers share it, itself counted.
    pub workers: usize,
    /// What has become of its shards since the last look.
    pub membership: Membership,
    /// Within this time every other worker has seen it.
    pub seen_within: Duration,
}

/// What has become of the shards of a worker.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Membership {
    /// It owned none and owns some now.
    Joined,
    /// It owned some and owns none now.
    Left,
    /// Neither.
    Unchanged,
}

impl Membership {
    /// Returns what it means that a worker owned some shards before and owns some now.
    pub(super) fn of(before: usize, now: usize) -> Self {
        match (before, now) {
            (0, 1..) => Self::Joined,
            (1.., 0) => Self::Left,
            _ => Self::Unchanged,
        }
    }
}

impl Place {
    /// Returns the share of this worker in a rate: nothing without a shard, unless there is no worker that has one.
    #[must_use]
    pub fn share_of(&self, rate: u32) -> u32 {
        match (self.rank, self.workers) {
            (_, 0) => rate,
            (rank, workers) if rank >= workers => 0,
            (rank, workers) => share(rate, rank, workers),
        }
    }
}

/// Returns how a rate is dealt to `workers`, by their rank: the shares add up to `rate`. Where there are more workers than
/// that, the last ones get nothing.
#[must_use]
pub fn share(rate: u32, rank: usize, workers: usize) -> u32 {
    let workers = u32::try_from(workers.max(1)).unwrap_or(u32::MAX);
    let rank = u32::try_from(rank).unwrap_or(u32::MAX);
    rate / workers + u32::from(rank < rate % workers)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shares_add_up_to_the_rate() {
        for (rate, workers) in [(1, 1), (1, 3), (10, 3), (2000, 7), (7, 8)] {
            assert_eq!((0..workers).map(|rank| share(rate, rank, workers)).sum::<u32>(), rate);
        }
    }
}
