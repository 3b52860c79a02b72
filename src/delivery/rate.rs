//! How many pushes a second a worker may make on one channel: pure, time is handed in.
//!
//! `delivery.pushes_per_second` is shared among the workers that own shards: their shares
//! ([`share`](crate::consumer::place::share)) add up to it exactly. A worker that gets a smaller share keeps to it at once, one that gets a larger share waits for a second, so that the
//! others' pushes of the last second still fit.

use std::{collections::VecDeque, num::NonZeroU32, time::Duration};

/// The stretch of time that the limit speaks of.
const SECOND: Duration = Duration::from_secs(1);

/// After a pause, the pushes of this time may be made at once. Notices come in batches, one for each read of the stream
/// (`delivery.poll_interval_ms`): what waited for the read need not wait again for a place in an even row.
const AT_ONCE: Duration = Duration::from_millis(250);

/// So many pushes in a stretch of time, and never more in any as long.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Share {
    pushes: u32,
    time: Duration,
}

impl Default for Share {
    /// None at all.
    fn default() -> Self {
        Self::from(0)
    }
}

impl From<u32> for Share {
    /// So many a second.
    fn from(pushes: u32) -> Self {
        Self { pushes, time: SECOND }
    }
}

impl Share {
    /// The share of each of so many instances that know nothing of each other in a rate a second (0 counts as 1). Where
    /// there are more of them than pushes a second, each makes one in so many seconds that they come to the rate.
    #[must_use]
    pub fn among(rate: u32, instances: NonZeroU32) -> Self {
        let rate = rate.max(1);
        if rate >= instances.get() {
            return Self::from(rate / instances);
        }
        let nanos = (u64::from(instances.get()) * 1_000_000_000).div_ceil(u64::from(rate));
        Self { pushes: 1, time: Duration::from_nanos(nanos) }
    }

    /// How long a process waits before its first push, where pushes are rare: the one whose place it takes may have made
    /// one just now, and those that start together should not push together. `chance` is a part from 0 to 1.
    #[must_use]
    pub fn first_wait(self, chance: f64) -> Duration {
        if self.time > SECOND { self.time.mul_f64(1.0 + chance.clamp(0.0, 1.0)) } else { Duration::ZERO }
    }

    /// Whether it allows more than another one.
    fn is_more_than(self, other: Self) -> bool {
        u128::from(self.pushes) * other.time.as_nanos() > u128::from(other.pushes) * self.time.as_nanos()
    }

    /// Between two pushes, where many wait.
    fn interval(self) -> Duration {
        self.time / self.pushes.max(1)
    }
}

/// Whether a push may be made now.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Turn {
    /// It may, and is counted.
    Go,
    /// Not yet: ask again after this time.
    Wait(Duration),
}

/// The pushes of one worker on one channel: in no stretch of time more than its share; evenly spaced where many wait, a batch
/// after a pause at once.
#[derive(Debug, Clone, Default)]
pub struct RateLimit {
    share: Share,
    raised: Option<(Duration, Share)>,
    next: Duration,
    /// Within the share's time.
    last: VecDeque<Duration>,
}

impl RateLimit {
    /// Changes the share. A larger one counts `after` this long (at least the second in which others may still have
    /// made their pushes), a smaller one at once.
    pub fn set_share(&mut self, share: impl Into<Share>, now: Duration, after: Duration) {
        let share = share.into();
        self.settle(now);
        match self.raised {
            // The same raise again keeps its moment.
            Some((_, coming)) if coming == share => {}
            _ if share.is_more_than(self.share) => self.raised = Some((now + after, share)),
            _ => (self.share, self.raised) = (share, None),
        }
    }

    /// Asks for a push at `now`, a time since some fixed moment.
    pub fn at(&mut self, now: Duration) -> Turn {
        self.settle(now);
        let Share { pushes, time } = self.share;
        while self.last.front().is_some_and(|push| now.saturating_sub(*push) >= time) {
            self.last.pop_front();
        }
        if pushes == 0 {
            return Turn::Wait(self.raised.map_or(SECOND, |(from, _)| from.saturating_sub(now)));
        }
        if now < self.next {
            return Turn::Wait(self.next.saturating_sub(now));
        }
        if let Some(oldest) = self.last.front().filter(|_| self.last.len() >= pushes as usize) {
            return Turn::Wait((*oldest + time).saturating_sub(now));
        }
        self.last.push_back(now);
        self.next = self.next.max(now.saturating_sub(AT_ONCE)) + self.share.interval();
        Turn::Go
    }

    fn settle(&mut self, now: Duration) {
        if let Some((from, share)) = self.raised.filter(|(from, _)| *from <= now) {
            (self.share, self.raised) = (share, None);
            // Begins anew: what the smaller share had planned is no plan for the larger.
            self.next = self.next.min(from + share.interval());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::consumer::place::share;
    use proptest::prelude::*;

    fn most_in_a_second(pushes: &[Duration]) -> usize {
        let within =
            |first: &Duration| pushes.iter().filter(|push| **push >= *first && **push < *first + SECOND).count();
        pushes.iter().map(within).max().unwrap_or_default()
    }

    /// Pushes as fast as it may until `end`, waking up late by `late`.
    fn run(limit: &mut RateLimit, from: Duration, end: Duration, late: &mut dyn FnMut() -> Duration) -> Vec<Duration> {
        let (mut now, mut pushes) = (from, Vec::new());
        while now < end {
            match limit.at(now) {
                Turn::Go => pushes.push(now),
                Turn::Wait(time) => now += time + late(),
            }
        }
        pushes
    }

    #[test]
    fn a_channel_of_twenty_a_second_gets_twenty_evenly() {
        let mut limit = RateLimit::default();
        limit.set_share(20, Duration::ZERO, Duration::ZERO);
        let pushes = run(&mut limit, Duration::ZERO, Duration::from_secs(5), &mut || Duration::ZERO);
        assert_eq!(pushes.len(), 100);
        assert!(pushes.windows(2).all(|pair| pair[1] == pair[0] + Duration::from_millis(50)));
    }

    #[test]
    fn a_batch_after_a_pause_goes_out_at_once_and_the_next_ones_evenly() {
        let mut limit = RateLimit::default();
        limit.set_share(100, Duration::ZERO, Duration::ZERO);
        let (begin, end) = (Duration::from_secs(10), Duration::from_secs(11));
        let pushes = run(&mut limit, begin, end, &mut || Duration::ZERO);
        assert!(pushes[..25].iter().all(|push| *push == begin));
        assert!(pushes[26..].windows(2).all(|pair| pair[1] == pair[0] + Duration::from_millis(10)));
        assert_eq!(pushes.len(), 100, "and the second's limit stands");
    }

    #[test]
    fn a_worker_without_a_share_waits_and_goes_on_when_it_gets_one() {
        let mut limit = RateLimit::default();
        assert_eq!(limit.at(Duration::ZERO), Turn::Wait(SECOND));
        limit.set_share(2, SECOND, SECOND);
        assert_eq!(limit.at(SECOND), Turn::Wait(SECOND));
        assert_eq!(limit.at(2 * SECOND), Turn::Go);
    }

    #[test]
    fn instances_beyond_the_rate_push_once_in_several_seconds_and_together_come_to_it() {
        let share = |rate, instances| Share::among(rate, NonZeroU32::new(instances).unwrap());
        assert_eq!(share(100, 4), Share::from(25));
        assert_eq!(share(100, 3), Share::from(33), "never more than all together may");
        assert_eq!(share(5, 5), Share::from(1));
        assert_eq!(share(2, 5), Share { pushes: 1, time: Duration::from_millis(2500) });
        assert_eq!(share(3, 10).time, Duration::from_nanos(3_333_333_334));
        let mut limit = RateLimit::default();
        let share = share(2, 5);
        limit.set_share(share, Duration::ZERO, share.first_wait(0.0));
        let pushes = run(&mut limit, Duration::ZERO, Duration::from_secs(11), &mut || Duration::ZERO);
        assert_eq!(pushes, [2500, 5000, 7500, 10_000].map(Duration::from_millis));
    }

    proptest! {
        /// However late each wakes: over so many seconds that each gets its turn, all together keep to the rate.
        #[test]
        fn instances_together_never_exceed_the_rate_over_the_time_of_a_turn(
            rate in 1u32..20,
            instances in 1u32..20,
            late in prop::collection::vec(0u64..400, 1..20),
        ) {
            let instances = NonZeroU32::new(instances).unwrap();
            let (share, mut late) = (Share::among(rate, instances), late.into_iter().cycle());
            let mut all = Vec::new();
            for _ in 0..instances.get() {
                let mut limit = RateLimit::default();
                limit.set_share(share, Duration::ZERO, share.first_wait(0.0));
                let mut late = || Duration::from_millis(late.next().unwrap());
                all.extend(run(&mut limit, Duration::ZERO, share.time * 6, &mut late));
            }
            let most = f64::from(rate) * share.time.as_secs_f64();
            for begin in &all {
                let within = all.iter().filter(|push| **push >= *begin && **push < *begin + share.time).count();
                let pushes = f64::from(u32::try_from(within).unwrap());
                prop_assert!(pushes <= most + 1e-6, "{within} in {:?}, {most} are allowed", share.time);
            }
        }

        #[test]
        fn never_more_than_its_share_in_any_second(
            share in 1u32..60,
            gaps in prop::collection::vec(0u64..1500, 1..20),
            late in prop::collection::vec(0u64..400, 1..20),
        ) {
            let mut limit = RateLimit::default();
            limit.set_share(share, Duration::ZERO, Duration::ZERO);
            let (mut pushes, mut from, mut late) = (Vec::new(), Duration::ZERO, late.into_iter().cycle());
            for gap in gaps {
                let end = from + Duration::from_millis(gap);
                pushes.extend(run(&mut limit, from, end, &mut || Duration::from_millis(late.next().unwrap())));
                from = pushes.last().copied().unwrap_or_default().max(end) + Duration::from_millis(gap / 2);
            }
            prop_assert!(most_in_a_second(&pushes) <= share as usize);
        }

        /// Two workers: one is alone, the other comes, and one of them leaves again.
        #[test]
        fn two_workers_together_never_exceed_the_rate(rate in 2u32..50, sees_at in 0u64..900, leaves_at in 3000u64..5000) {
            let at = Duration::from_millis;
            let (mut first, mut second) = (RateLimit::default(), RateLimit::default());
            first.set_share(rate, Duration::ZERO, Duration::ZERO);
            // The newcomer arrives at 1000; the first sees it up to a renewal (900 ms) later; the newcomer waits that long
            // and the second in which the first may still have pushed at its old rate.
            let mut pushes = run(&mut first, Duration::ZERO, at(1000 + sees_at), &mut || Duration::ZERO);
            first.set_share(share(rate, 0, 2), at(1000 + sees_at), SECOND);
            second.set_share(share(rate, 1, 2), at(1000), at(900) + SECOND);
            pushes.extend(run(&mut first, at(1000 + sees_at), at(leaves_at), &mut || Duration::ZERO));
            pushes.extend(run(&mut second, at(1000), at(8000), &mut || Duration::ZERO));
            second.set_share(rate, at(8000), SECOND);
            pushes.extend(run(&mut second, at(8000), at(12000), &mut || Duration::ZERO));
            prop_assert!(most_in_a_second(&pushes) <= rate as usize);
        }
    }
}
