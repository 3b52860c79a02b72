//! What a process has of a channel's month: pure.

use std::{collections::HashSet, num::NonZeroU32, time::Duration};

use crate::domain::{notice::NoticeId, time::Month};

/// What a process has of a channel's month.
#[derive(Debug)]
pub(super) struct State {
    month: Month,
    /// Pushes that may be reserved and not made at a time.
    most: NonZeroU32,
    /// Notices that are worked on.
    pub at_hand: u32,
    /// Pushes that are reserved and free.
    free: u32,
    /// Pushes that are being made.
    in_flight: u32,
    /// Notices whose push had no clear answer: each has its unit.
    with_unit: HashSet<NoticeId>,
    /// Until this uptime there is nothing left.
    used_up_until: Option<Duration>,
    /// A reservation that isn't answered yet.
    asked: Option<Asked>,
    /// What is left of months that are over.
    former: Vec<(Month, u32)>,
}

/// A reservation that isn't answered yet: it is asked for again as it was.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Asked {
    pub id: String,
    pub pushes: u32,
}

/// What kind of unit a push has.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    /// One that was free.
    New,
    /// That of an earlier attempt without a clear answer.
    OfNotice,
}

/// What follows from asking for a unit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Take {
    /// So many are to be reserved first.
    Reserve(u32),
    /// Here it is.
    Unit(Kind),
    /// There is none.
    UsedUp,
}

impl State {
    pub fn new(month: Month, most: NonZeroU32) -> Self {
        Self {
            month,
            most,
            at_hand: 0,
            free: 0,
            in_flight: 0,
            with_unit: HashSet::new(),
            used_up_until: None,
            asked: None,
            former: Vec::new(),
        }
    }

    /// Begins another month, if it is one: nothing is reserved in it yet.
    pub fn turn(&mut self, month: Month) {
        if month == self.month {
            return;
        }
        let free = std::mem::take(&mut self.free);
        self.former.extend((free > 0).then_some((self.month, free)));
        self.with_unit.clear();
        (self.month, self.used_up_until, self.asked) = (month, None, None);
    }

    pub fn take(&mut self, notice: &NoticeId, uptime: Duration) -> Take {
        if self.with_unit.contains(notice) {
            return Take::Unit(Kind::OfNotice);
        }
        if self.free > 0 {
            self.free -= 1;
            self.in_flight += 1;
            return Take::Unit(Kind::New);
        }
        if self.used_up_until.is_some_and(|until| uptime < until) {
            return Take::UsedUp;
        }
        let room = self.most.get().saturating_sub(self.in_flight).max(1);
        Take::Reserve(self.at_hand.saturating_sub(self.in_flight).clamp(1, room))
    }

    pub fn is_used_up(&self, month: Month) -> bool {
        month == self.month && self.used_up_until.is_some() && self.free == 0
    }

    pub fn would_admit(&self, month: Month, uptime: Duration) -> bool {
        !self.is_used_up(month) || self.used_up_until.is_none_or(|until| uptime >= until)
    }

    /// Returns the reservation to ask for: the one whose answer got lost, or a new one.
    pub fn asks(&mut self, id: impl FnOnce() -> String, pushes: u32) -> Asked {
        self.asked.get_or_insert_with(|| Asked { id: id(), pushes }).clone()
    }

    /// The reservation has an answer.
    pub fn answered(&mut self) {
        self.asked = None;
    }

    /// So many are reserved. Returns true if there were none before.
    pub fn reserved(&mut self, pushes: u32) -> bool {
        self.answered();
        self.free += pushes;
        self.used_up_until.take().is_some()
    }

    /// There is nothing left until this uptime. Returns true if that is new.
    pub fn used_up(&mut self, until: Duration) -> bool {
        self.answered();
        self.used_up_until.replace(until).is_none()
    }

    /// A push was made.
    pub fn made(&mut self) {
        self.in_flight = self.in_flight.saturating_sub(1);
    }

    /// A push was not made: its unit is free.
    pub fn free(&mut self, month: Month) {
        self.made();
        self.keep(month, 1);
    }

    /// A push may have been made: its unit stays with the notice.
    pub fn stays_with(&mut self, notice: &NoticeId, month: Month) {
        self.made();
        if month == self.month {
            self.with_unit.insert(notice.clone());
        }
    }

    /// The notice needs no unit any more.
    pub fn settled(&mut self, notice: &NoticeId) {
        self.with_unit.remove(notice);
    }

    /// These are reserved and free.
    pub fn keep(&mut self, month: Month, pushes: u32) {
        if month == self.month {
            self.free += pushes;
        } else {
            self.former.push((month, pushes));
        }
    }

    /// Returns whether there is something to give back.
    pub fn has_rest(&self, month: Month) -> bool {
        !self.former.is_empty() || (self.free > 0 && (self.at_hand == 0 || month != self.month))
    }

    /// Takes what is to be given back.
    pub fn take_rest(&mut self) -> Vec<(Month, u32)> {
        let mut rest = std::mem::take(&mut self.former);
        if self.at_hand == 0 && self.free > 0 {
            rest.push((self.month, std::mem::take(&mut self.free)));
        }
        rest
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::notice::NoticeKey;

    fn notice(stamp: &str) -> NoticeId {
        NoticeId {
            event_id: "rally".parse().unwrap(),
            line_user_id: "U0123456789abcdef0123456789abcdef".parse().unwrap(),
            key: NoticeKey::Stamp(stamp.parse().unwrap()),
        }
    }

    fn may() -> Month {
        "2026-05".parse().unwrap()
    }

    fn june() -> Month {
        "2026-06".parse().unwrap()
    }

    fn state(most: u32, at_hand: u32) -> State {
        State { at_hand, ..State::new(may(), NonZeroU32::new(most).unwrap()) }
    }

    fn take(state: &mut State) -> Take {
        state.take(&notice("001"), Duration::ZERO)
    }

    #[test]
    fn as_many_are_reserved_as_are_at_hand_and_no_more_than_the_most() {
        for (most, at_hand, reserved) in [(1, 0, 1), (1, 64, 1), (10, 3, 3), (10, 64, 10)] {
            assert_eq!(take(&mut state(most, at_hand)), Take::Reserve(reserved));
        }
        let mut state = state(10, 64);
        state.reserved(6);
        for _ in 0..6 {
            assert_eq!(take(&mut state), Take::Unit(Kind::New));
        }
        assert_eq!(take(&mut state), Take::Reserve(4), "what is in flight is reserved and not made either");
    }

    #[test]
    fn a_push_without_a_clear_answer_keeps_its_unit_and_the_same_push_again_needs_no_other() {
        let mut state = state(1, 1);
        state.reserved(1);
        assert_eq!(take(&mut state), Take::Unit(Kind::New));
        state.stays_with(&notice("001"), may());
        assert_eq!(take(&mut state), Take::Unit(Kind::OfNotice));
        assert_eq!(state.take(&notice("002"), Duration::ZERO), Take::Reserve(1), "another push needs one");
        state.settled(&notice("001"));
        assert_eq!(take(&mut state), Take::Reserve(1));
    }

    #[test]
    fn what_is_free_is_given_back_when_nothing_is_at_hand_or_the_month_is_over() {
        let mut state = state(10, 1);
        state.reserved(3);
        assert!(!state.has_rest(may()));
        state.at_hand = 0;
        assert!(state.has_rest(may()));
        assert_eq!((state.take_rest(), state.take_rest()), (vec![(may(), 3)], vec![]));

        let mut state = self::state(10, 1);
        state.reserved(3);
        assert_eq!(take(&mut state), Take::Unit(Kind::New));
        assert!(state.has_rest(june()));
        state.turn(june());
        state.free(may());
        assert_eq!(state.take_rest(), [(may(), 2), (may(), 1)]);
        assert_eq!(take(&mut state), Take::Reserve(1), "the new month begins with nothing");
    }

    #[test]
    fn used_up_is_until_it_is_asked_again_a_push_is_given_back_or_the_month_turns() {
        let until = Duration::from_secs(30);
        let mut state = state(10, 1);
        assert!(state.used_up(until) && !state.used_up(until));
        assert_eq!(take(&mut state), Take::UsedUp);
        assert!(state.is_used_up(may()) && !state.would_admit(may(), Duration::ZERO));
        assert!(state.would_admit(may(), until));
        assert_eq!(state.take(&notice("001"), until), Take::Reserve(1));
        assert!(state.reserved(1) && !state.is_used_up(may()));

        state.used_up(until);
        assert!(state.would_admit(june(), Duration::ZERO));
        state.turn(june());
        assert!(!state.is_used_up(june()));
    }

    #[test]
    fn a_reservation_whose_answer_got_lost_is_asked_for_again_as_it_was() {
        let mut state = state(10, 7);
        let first = state.asks(|| "first".to_owned(), 7);
        assert_eq!(state.asks(|| "second".to_owned(), 3), first);
        state.reserved(first.pushes);
        assert_eq!(state.asks(|| "second".to_owned(), 3).id, "second");
    }
}
