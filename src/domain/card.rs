//! The stamp card: folds the facts of one participant into what a screen shows.

use super::{
    event::Event,
    fact::{Acquisition, Completed, Facts, UserStamp},
    ids::StampId,
    notice::NoticeStatus,
    stamp::{StampMaster, StampMasters},
};

/// What a participant sees. The only place where the meaning of their facts lives: HTTP, delivery,
/// console and statistics all fold with it.
#[derive(Debug, Clone, PartialEq)]
pub struct StampCard<'a> {
    /// Every active stamp, and every other one that is acquired, in order.
    pub stamps: Vec<CardStamp<'a>>,
    /// Stamps acquired and active.
    pub acquired_count: usize,
    /// Stamps active; those that can't be read count as active.
    pub total_count: usize,
    /// All active stamps are acquired, or the card was completed before.
    pub completed: bool,
}

/// One place on the card.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct CardStamp<'a> {
    /// The stamp that belongs there.
    pub master: &'a StampMaster,
    /// The acquisition, if it happened.
    pub acquired: Acquisition<'a>,
}

impl<'a> StampCard<'a> {
    /// Folds facts over the event's masters. A stamp whose master is gone has no place on a card
    /// (it stays among the facts).
    #[must_use]
    pub fn fold(masters: &'a StampMasters, facts: &'a Facts) -> Self {
        let stamps = masters.readable.iter();
        let stamps = stamps.map(|master| CardStamp { master, acquired: facts.acquisition(&master.stamp_id) });
        let stamps = stamps.filter(|stamp| stamp.master.is_active || stamp.acquired != Acquisition::None).collect();
        let progress = Progress::of(masters, facts);
        Self {
            stamps,
            acquired_count: progress.acquired,
            total_count: progress.total,
            completed: progress.is_complete() || facts.completed.is_some(),
        }
    }
}

/// How far a card is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Progress {
    /// Stamps acquired and active.
    pub acquired: usize,
    /// Stamps active; those that can't be read count as active.
    pub total: usize,
}

impl Progress {
    /// Counts the active stamps, and those of them that are acquired.
    #[must_use]
    pub fn of(masters: &StampMasters, facts: &Facts) -> Self {
        let set_aside = Self::among(masters.unreadable.iter(), facts);
        let active = Self::among_readable(masters, facts);
        Self { acquired: active.acquired + set_aside.acquired, total: active.total + set_aside.total }
    }

    /// The same without the stamps that can't be read.
    fn among_readable(masters: &StampMasters, facts: &Facts) -> Self {
        Self::among(masters.active().map(|master| &master.stamp_id), facts)
    }

    fn among<'a>(stamps: impl Iterator<Item = &'a StampId> + Clone, facts: &Facts) -> Self {
        let acquired = stamps.clone().filter(|stamp_id| facts.has_stamp(stamp_id));
        Self { acquired: acquired.count(), total: stamps.count() }
    }

    /// Returns how far the card was when a stamp was acquired, that one counted. A notice says this: it reads the same
    /// whenever it is sent, and a repeated push has the same text.
    #[must_use]
    pub fn when_acquired(stamp: &UserStamp, masters: &StampMasters, facts: &Facts) -> Self {
        let moment = (stamp.acquired_at, &stamp.stamp_id);
        let then = |other: &&UserStamp| (other.acquired_at, &other.stamp_id) <= moment;
        let stamps = facts.stamps.iter().filter(then).cloned().collect();
        Self::of(masters, &Facts { stamps, ..Facts::default() })
    }

    /// Returns whether every active stamp is acquired, and there is one.
    #[must_use]
    pub fn is_complete(self) -> bool {
        self.total > 0 && self.acquired == self.total
    }
}

/// Returns the fact that follows from a full card, if it is due: complete, and not recorded yet. Its time is when the
/// newest of the active stamps was acquired, so every process computes the same fact.
#[must_use]
pub fn completion_due(event: &Event, masters: &StampMasters, facts: &Facts) -> Option<Completed> {
    if facts.completed.is_some() || !facts.unreadable.is_empty() || !Progress::of(masters, facts).is_complete() {
        return None;
    }
    let counts =
        |id: &StampId| masters.unreadable.contains(id) || masters.active().any(|master| master.stamp_id == *id);
    let counted = facts.stamps.iter().filter(|stamp| counts(&stamp.stamp_id));
    let last = counted.max_by_key(|stamp| (stamp.acquired_at, &stamp.stamp_id))?;
    let notice = match event.completion_message_content {
        Some(_) => NoticeStatus::Pending { maybe_sent_at: None },
        None => NoticeStatus::None,
    };
    Some(Completed {
        event_id: last.event_id.clone(),
        line_user_id: last.line_user_id.clone(),
        completed_at: last.acquired_at,
        by_stamp_id: last.stamp_id.clone(),
        notice,
    })
}

/// Returns whether the card would be complete without the stamps that can't be read. Whether it is can be said only when they
/// are mended or gone: until then completing it is pending.
#[must_use]
pub fn completion_pending(masters: &StampMasters, facts: &Facts) -> bool {
    facts.completed.is_none()
        && Progress::among_readable(masters, facts).is_complete()
        && !Progress::of(masters, facts).is_complete()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::{
        event::EventChange,
        fact::FactKey,
        ids::LineUserId,
        notice::NoticeKey,
        setting::Name,
        stamp::{StampMasterChange, StampOrder},
        time::Timestamp,
    };

    fn event() -> Event {
        let change = EventChange {
            name: Some(Name::try_from("初夏のラリー".to_owned()).unwrap()),
            starts_at: Some("2026-05-23T01:00:00.000Z".parse().unwrap()),
            ends_at: Some("2026-05-23T08:00:00.000Z".parse().unwrap()),
            channel: Some("main".parse().unwrap()),
            ..EventChange::default()
        };
        change.create("e".parse().unwrap(), Timestamp::EPOCH).unwrap()
    }

    fn master(id: &str, order: i64) -> StampMaster {
        let change = StampMasterChange {
            name: Some(Name::try_from(format!("スタンプ{id}")).unwrap()),
            order: Some(StampOrder::try_from(order).unwrap()),
            flex_message_content: Some(serde_json::Value::Null),
            ..StampMasterChange::default()
        };
        change.create("e".parse().unwrap(), id.parse().unwrap(), Timestamp::EPOCH).unwrap()
    }

    fn asleep(master: StampMaster) -> StampMaster {
        StampMaster { is_active: false, ..master }
    }

    fn stamps<const N: usize>(masters: [StampMaster; N]) -> StampMasters {
        Vec::from(masters).into()
    }

    fn held(id: &str, minute: i64) -> UserStamp {
        UserStamp {
            proof: None,
            event_id: "e".parse().unwrap(),
            line_user_id: LineUserId::stored("U1234567890abcdef").unwrap(),
            stamp_id: id.parse().unwrap(),
            acquired_at: Timestamp::EPOCH.plus_millis(minute * 60_000),
            request_id: None,
            notice: NoticeStatus::Pending { maybe_sent_at: None },
        }
    }

    fn facts(stamps: &[UserStamp]) -> Facts {
        Facts { stamps: stamps.to_vec(), ..Facts::default() }
    }

    fn shown<'a>(card: &StampCard<'a>) -> Vec<(&'a str, bool)> {
        card.stamps.iter().map(|stamp| (stamp.master.stamp_id.as_str(), stamp.acquired != Acquisition::None)).collect()
    }

    #[test]
    fn a_card_shows_the_active_stamps_by_order_and_ties_by_id() {
        let (masters, facts) = (stamps([master("c", 2), master("b", 1), master("a", 2)]), facts(&[held("a", 1)]));
        let card = StampCard::fold(&masters, &facts);
        assert_eq!(shown(&card), [("b", false), ("a", true), ("c", false)]);
        assert_eq!((card.acquired_count, card.total_count, card.completed), (1, 3, false));
    }

    #[test]
    fn a_held_stamp_stays_listed_after_it_was_made_inactive_but_does_not_count() {
        let (masters, facts) =
            (stamps([asleep(master("a", 1)), asleep(master("b", 2)), master("c", 3)]), facts(&[held("a", 1)]));
        let card = StampCard::fold(&masters, &facts);
        assert_eq!(shown(&card), [("a", true), ("c", false)]);
        assert_eq!((card.acquired_count, card.total_count, card.completed), (0, 1, false));
    }

    #[test]
    fn a_card_without_active_stamps_is_not_complete() {
        assert!(!StampCard::fold(&stamps([asleep(master("a", 1))]), &facts(&[held("a", 1)])).completed);
    }

    #[test]
    fn a_completed_card_stays_completed_when_a_stamp_is_added() {
        let masters = stamps([master("a", 1)]);
        let done = completion_due(&event(), &masters, &facts(&[held("a", 1)])).unwrap();
        let facts = Facts { completed: Some(done), ..facts(&[held("a", 1)]) };
        let masters = stamps([master("a", 1), master("b", 2)]);
        let card = StampCard::fold(&masters, &facts);
        assert_eq!((card.acquired_count, card.total_count, card.completed), (1, 2, true));
    }

    #[test]
    fn the_completion_names_the_newest_counted_stamp_on_every_process() {
        let masters = stamps([master("a", 1), master("b", 2), asleep(master("c", 3))]);
        let done = completion_due(&event(), &masters, &facts(&[held("c", 9), held("b", 5), held("a", 2)])).unwrap();
        assert_eq!((done.by_stamp_id.as_str(), done.completed_at), ("b", held("b", 5).acquired_at));
        assert_eq!(done.notice, NoticeStatus::None, "this event has no completion message");
    }

    #[test]
    fn a_notice_says_how_far_the_card_was_when_its_stamp_was_acquired() {
        let masters = stamps([master("a", 1), master("b", 2)]);
        let facts = facts(&[held("a", 1), held("b", 2)]);
        assert_eq!(Progress::when_acquired(&facts.stamps[0], &masters, &facts), Progress { acquired: 1, total: 2 });
        assert_eq!(Progress::when_acquired(&facts.stamps[1], &masters, &facts), Progress { acquired: 2, total: 2 });
    }

    fn with_unreadable(masters: StampMasters, stamp_id: &str) -> StampMasters {
        StampMasters { unreadable: [stamp_id.parse().unwrap()].into(), ..masters }
    }

    #[test]
    fn a_card_is_not_complete_without_a_stamp_that_cannot_be_read_and_completing_it_is_pending() {
        let masters = with_unreadable(stamps([master("a", 1)]), "x");
        let facts = facts(&[held("a", 1)]);
        let card = StampCard::fold(&masters, &facts);
        assert_eq!(shown(&card), [("a", true)]);
        assert_eq!((card.acquired_count, card.total_count, card.completed), (1, 2, false));
        assert_eq!(completion_due(&event(), &masters, &facts), None);
        assert!(completion_pending(&masters, &facts));
        assert!(!completion_pending(&stamps([master("a", 1), master("b", 2)]), &facts), "b is simply missing");
    }

    #[test]
    fn a_card_with_every_stamp_is_complete_whatever_the_unreadable_one_turns_out_to_be() {
        let masters = with_unreadable(stamps([master("a", 1)]), "x");
        let facts = facts(&[held("a", 1), held("x", 2)]);
        assert_eq!(completion_due(&event(), &masters, &facts).unwrap().by_stamp_id.as_str(), "x");
        assert!(!completion_pending(&masters, &facts));
    }

    #[test]
    fn a_stamp_whose_fact_cannot_be_read_is_acquired_and_completes_no_card() {
        let masters = stamps([master("a", 1), master("b", 2)]);
        let unreadable = vec![FactKey::Notice(NoticeKey::Stamp("b".parse().unwrap()))];
        let facts = Facts { unreadable, ..facts(&[held("a", 1)]) };
        let card = StampCard::fold(&masters, &facts);
        assert_eq!(card.stamps[1].acquired, Acquisition::Unreadable);
        assert_eq!((card.acquired_count, card.completed), (2, true));
        assert_eq!(completion_due(&event(), &masters, &facts), None, "when it was completed can't be said");
    }
}
