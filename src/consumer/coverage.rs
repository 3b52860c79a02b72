//! Which facts a shard's progress says may have been handed out: pure.
//!
//! After a crash the next owner must know which jobs were certainly never begun. So before a record is handed out, the
//! stored span must contain the time of its fact. The span is written ahead, so that this costs at most one write a
//! second however many records there are.

use crate::domain::time::Timestamp;
use crate::store::progress::FactSpan;

/// How far ahead of now the span reaches: facts of the next moments are covered without a write.
const AHEAD_MS: i64 = 2_000;

/// While a backlog is worked on, the span reaches so far beyond what was read of it: most pages are covered before they
/// come, and what is still far away is not covered after a crash.
const BEYOND_MS: i64 = 10 * 60_000;

/// What is older may have been trimmed although the stream didn't say so: it keeps records for 24 hours (AWS developer
/// guide: "Change data capture for DynamoDB Streams"), and reading from the trim horizon is never refused.
const REMEMBERED_MS: i64 = 23 * 3_600_000;

/// How far behind now the span begins at least: a completed card's fact is dated by its last stamp, whose own notice is
/// finished by then.
const BEHIND_MS: i64 = 5_000;

/// What is stored, and what the owner before may have handed out.
#[derive(Debug, Clone, Default)]
pub struct Coverage {
    stored: Option<FactSpan>,
    inherited: Option<FactSpan>,
}

impl Coverage {
    /// Creates the coverage of a shard whose last owner left this span.
    #[must_use]
    pub fn inherit(stored: Option<FactSpan>) -> Self {
        Self { stored, inherited: stored }
    }

    /// Returns whether a job with a fact of this time may be handed out.
    #[must_use]
    pub fn covers(&self, at: Timestamp) -> bool {
        self.stored.is_some_and(|span| span.contains(at))
    }

    /// Returns whether the owner before may have handed it out.
    #[must_use]
    pub fn is_maybe_handed_out(&self, at: Timestamp) -> bool {
        self.inherited.is_some_and(|span| span.contains(at))
    }

    /// Notes that everything was read again that the owner before can have handed out and that the stream still has.
    /// Returns what the stream may have forgotten: that can't be distinguished any more from what was never handed out.
    #[must_use]
    pub fn caught_up(&mut self, now: Timestamp) -> Option<FactSpan> {
        let inherited = self.inherited.take()?;
        let remembered = now.plus_millis(-REMEMBERED_MS);
        let through = inherited.through.min(remembered);
        (inherited.from <= remembered).then_some(FactSpan { from: inherited.from, through })
    }

    /// Notes that what the owner before can have handed out can't be read again, and returns it.
    pub fn cut_off(&mut self) -> Option<FactSpan> {
        self.inherited.take()
    }

    /// Returns the span to write now: all that is unfinished and what comes next, and what the owner before may have handed
    /// out. From now on it may be what is stored, so only what both spans contain is covered until [`Coverage::stored`] says
    /// that it is.
    #[must_use]
    pub fn next(&mut self, unfinished: Option<FactSpan>, now: Timestamp) -> FactSpan {
        let around = FactSpan { from: now.plus_millis(-BEHIND_MS), through: now.plus_millis(AHEAD_MS) };
        let beyond = unfinished.map(|span| FactSpan { through: span.through.plus_millis(BEYOND_MS), ..span });
        let wanted = match (unfinished, beyond) {
            (_, Some(beyond)) if beyond.through < now => beyond,
            (Some(unfinished), _) => unfinished.and(around),
            (None, _) => around,
        };
        let next = self.inherited.map_or(wanted, |inherited| inherited.and(wanted));
        if let Some(stored) = &mut self.stored {
            (stored.from, stored.through) = (stored.from.max(next.from), stored.through.min(next.through));
        }
        next
    }

    /// Returns the span of a shard that is given back with nothing under way: what waits and may have been handed out, and
    /// what the owner before may have handed out. Nothing is handed out any more, so nothing else need be covered.
    #[must_use]
    pub fn at_rest(&self, maybe_handed_out: Option<FactSpan>) -> Option<FactSpan> {
        match (maybe_handed_out, self.inherited) {
            (Some(one), Some(other)) => Some(one.and(other)),
            (one, other) => one.or(other),
        }
    }

    /// Notes that the span is stored.
    pub fn stored(&mut self, span: FactSpan) {
        self.stored = Some(span);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(seconds: i64) -> Timestamp {
        Timestamp::from_millis(1_780_000_000_000 + seconds * 1000).unwrap()
    }

    #[test]
    fn nothing_is_handed_out_before_it_is_covered() {
        let mut coverage = Coverage::default();
        assert!(!coverage.covers(at(0)));
        let span = coverage.next(Some(FactSpan { from: at(-600), through: at(-300) }), at(0));
        coverage.stored(span);
        assert!(coverage.covers(at(-600)) && coverage.covers(at(-300)) && coverage.covers(at(2)));
        assert!(!coverage.covers(at(-601)) && !coverage.covers(at(3)));
    }

    #[test]
    fn a_backlog_is_covered_as_far_as_it_was_read_and_a_little_beyond() {
        let mut coverage = Coverage::default();
        let tip = coverage.next(None, at(0));
        coverage.stored(tip);
        let span = coverage.next(Some(FactSpan { from: at(-7200), through: at(-7100) }), at(0));
        assert_eq!(span, FactSpan { from: at(-7200), through: at(-6500) });
        assert!(!coverage.covers(at(0)), "it may not be covered any more");
        coverage.stored(span);
        assert!(coverage.covers(at(-7200)) && coverage.covers(at(-6500)) && !coverage.covers(at(-6499)));
    }

    #[test]
    fn facts_of_the_next_two_seconds_need_no_write_of_their_own() {
        let mut coverage = Coverage::default();
        let span = coverage.next(None, at(0));
        coverage.stored(span);
        assert!(coverage.covers(at(1)), "acquired a second after the write");
        assert!(coverage.covers(at(-4)), "a completed card, dated by its last stamp");
    }

    #[test]
    fn what_the_owner_before_may_have_handed_out_stays_so_until_it_was_all_read_again() {
        let mut coverage = Coverage::inherit(Some(FactSpan { from: at(-90), through: at(-80) }));
        assert!(coverage.is_maybe_handed_out(at(-85)) && !coverage.is_maybe_handed_out(at(-79)));
        assert_eq!(coverage.next(None, at(0)), FactSpan { from: at(-90), through: at(2) });
        assert_eq!(coverage.caught_up(at(0)), None);
        assert!(!coverage.is_maybe_handed_out(at(-85)));
        assert_eq!(coverage.next(None, at(0)), FactSpan { from: at(-5), through: at(2) });
    }

    #[test]
    fn what_the_stream_may_have_forgotten_of_it_is_not_believed_to_be_read_again() {
        let day = 24 * 3600;
        let mut coverage = Coverage::inherit(Some(FactSpan { from: at(-90), through: at(10) }));
        assert_eq!(coverage.caught_up(at(day)), Some(FactSpan { from: at(-90), through: at(10) }));
        let mut coverage = Coverage::inherit(Some(FactSpan { from: at(-90), through: at(day) }));
        assert_eq!(coverage.caught_up(at(day)), Some(FactSpan { from: at(-90), through: at(3600) }));
        assert!(!coverage.is_maybe_handed_out(at(-90)), "returned once, and kept by the caller");
    }

    #[test]
    fn a_shard_given_back_with_nothing_under_way_covers_nothing() {
        let mut coverage = Coverage::default();
        let span = coverage.next(None, at(0));
        coverage.stored(span);
        assert_eq!(coverage.at_rest(None), None);
        let begun = FactSpan { from: at(-9), through: at(-8) };
        assert_eq!(coverage.at_rest(Some(begun)), Some(begun), "given up while it was under way");
        let coverage = Coverage::inherit(Some(FactSpan { from: at(-90), through: at(-80) }));
        assert_eq!(coverage.at_rest(Some(begun)), Some(FactSpan { from: at(-90), through: at(-8) }));
    }

    #[test]
    fn a_fact_from_a_clock_that_runs_ahead_is_covered_too() {
        let mut coverage = Coverage::default();
        assert_eq!(coverage.next(Some(FactSpan { from: at(30), through: at(30) }), at(0)).through, at(30));
    }

    #[test]
    fn while_a_write_is_under_way_only_what_both_spans_contain_is_covered() {
        let mut coverage = Coverage::default();
        let wide = coverage.next(Some(FactSpan { from: at(-600), through: at(-600) }), at(0));
        coverage.stored(wide);
        let _sent = coverage.next(None, at(10));
        assert!(!coverage.covers(at(-600)), "it may be stored already, whether or not its answer comes");
        assert!(!coverage.covers(at(11)), "and it may not be");
    }
}
