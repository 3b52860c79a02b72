//! The stamp card: folds the facts of one participant into what a screen shows.

use super::{
    event::Event,
    fact::{Completed, Facts, UserStamp},
    ids::StampId,
    notice::NoticeStatus,
    stamp::StampMaster,
};

/// What a participant sees. The only place where the meaning of their facts lives: HTTP, delivery,
/// console and statistics all fold with it.
#[derive(Debug, Clone, PartialEq)]
pub struct StampCard<'a> {
    /// Every active stamp, and every other one that is held, in order.
    pub stamps: Vec<CardStamp<'a>>,
    /// Stamps held and active.
    pub acquired_count: usize,
    /// Stamps active.
    pub total_count: usize,
    /// All active stamps are held, or the card was completed before.
    pub completed: bool,
}

/// One place on the card.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct CardStamp<'a> {
    /// The stamp that belongs there.
    pub master: &'a StampMaster,
    /// The acquisition, if it happened.
    pub acquired: Option<&'a UserStamp>,
}

impl<'a> StampCard<'a> {
    /// Folds facts over the event's masters. A stamp whose master is gone has no place on a card
    /// (it stays among the facts).
    #[must_use]
    pub fn fold(masters: &'a [StampMaster], facts: &'a Facts) -> Self {
        let mut stamps: Vec<CardStamp<'a>> = masters
            .iter()
            .map(|master| CardStamp { master, acquired: facts.stamp(&master.stamp_id) })
            .filter(|stamp| stamp.master.is_active || stamp.acquired.is_some())
            .collect();
        stamps.sort_by(|a, b| a.master.place().cmp(&b.master.place()));
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
    /// Stamps held and active.
    pub acquired: usize,
    /// Stamps active.
    pub total: usize,
}

impl Progress {
    /// Counts the active stamps, and those of them that are held.
    #[must_use]
    pub fn of(masters: &[StampMaster], facts: &Facts) -> Self {
        let active = masters.iter().filter(|master| master.is_active);
        let held = active.clone().filter(|master| facts.stamp(&master.stamp_id).is_some());
        Self { acquired: held.count(), total: active.count() }
    }

    /// How far the card was when a stamp was acquired, that one counted. A notice tells this: it
    /// reads the same whenever it is sent, and a repeated push carries the same text.
    #[must_use]
    pub fn when_acquired(stamp: &UserStamp, masters: &[StampMaster], facts: &Facts) -> Self {
        let moment = (stamp.acquired_at, &stamp.stamp_id);
        let then = |other: &&UserStamp| (other.acquired_at, &other.stamp_id) <= moment;
        let stamps = facts.stamps.iter().filter(then).cloned().collect();
        Self::of(masters, &Facts { stamps, ..Facts::default() })
    }

    /// Every active stamp is held, and there is one.
    #[must_use]
    pub fn is_complete(self) -> bool {
        self.total > 0 && self.acquired == self.total
    }
}

/// The fact that follows from a full card, if it is due: complete, and not recorded yet. It tells
/// when the newest of the active stamps was acquired, so everybody who works it out gets the same.
#[must_use]
pub fn completion_due(event: &Event, masters: &[StampMaster], facts: &Facts) -> Option<Completed> {
    if facts.completed.is_some() || !Progress::of(masters, facts).is_complete() {
        return None;
    }
    let is_active = |id: &StampId| masters.iter().any(|master| master.is_active && master.stamp_id == *id);
    let counted = facts.stamps.iter().filter(|stamp| is_active(&stamp.stamp_id));
    let last = counted.max_by_key(|stamp| (stamp.acquired_at, &stamp.stamp_id))?;
    let notice = match event.completion_message_content {
        Some(_) => NoticeStatus::Waiting { tried_at: None },
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::{
        event::{EventChange, Name},
        ids::LineUserId,
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

    fn held(id: &str, minute: i64) -> UserStamp {
        UserStamp {
            event_id: "e".parse().unwrap(),
            line_user_id: LineUserId::stored("U1234567890abcdef").unwrap(),
            stamp_id: id.parse().unwrap(),
            acquired_at: Timestamp::EPOCH.plus_millis(minute * 60_000),
            request_id: None,
            notice: NoticeStatus::Waiting { tried_at: None },
        }
    }

    fn facts(stamps: &[UserStamp]) -> Facts {
        Facts { stamps: stamps.to_vec(), ..Facts::default() }
    }

    fn shown<'a>(card: &StampCard<'a>) -> Vec<(&'a str, bool)> {
        card.stamps.iter().map(|stamp| (stamp.master.stamp_id.as_str(), stamp.acquired.is_some())).collect()
    }

    #[test]
    fn a_card_shows_the_active_stamps_by_order_and_ties_by_id() {
        let (masters, facts) = ([master("c", 2), master("b", 1), master("a", 2)], facts(&[held("a", 1)]));
        let card = StampCard::fold(&masters, &facts);
        assert_eq!(shown(&card), [("b", false), ("a", true), ("c", false)]);
        assert_eq!((card.acquired_count, card.total_count, card.completed), (1, 3, false));
    }

    #[test]
    fn a_held_stamp_stays_listed_after_it_was_made_inactive_but_does_not_count() {
        let (masters, facts) =
            ([asleep(master("a", 1)), asleep(master("b", 2)), master("c", 3)], facts(&[held("a", 1)]));
        let card = StampCard::fold(&masters, &facts);
        assert_eq!(shown(&card), [("a", true), ("c", false)]);
        assert_eq!((card.acquired_count, card.total_count, card.completed), (0, 1, false));
    }

    #[test]
    fn a_card_without_active_stamps_is_not_complete() {
        assert!(!StampCard::fold(&[asleep(master("a", 1))], &facts(&[held("a", 1)])).completed);
    }

    #[test]
    fn a_completed_card_stays_completed_when_a_stamp_is_added() {
        let masters = [master("a", 1)];
        let done = completion_due(&event(), &masters, &facts(&[held("a", 1)])).unwrap();
        let facts = Facts { completed: Some(done), ..facts(&[held("a", 1)]) };
        let masters = [master("a", 1), master("b", 2)];
        let card = StampCard::fold(&masters, &facts);
        assert_eq!((card.acquired_count, card.total_count, card.completed), (1, 2, true));
    }

    #[test]
    fn the_completion_tells_the_newest_counted_stamp_whoever_works_it_out() {
        let masters = [master("a", 1), master("b", 2), asleep(master("c", 3))];
        let done = completion_due(&event(), &masters, &facts(&[held("c", 9), held("b", 5), held("a", 2)])).unwrap();
        assert_eq!((done.by_stamp_id.as_str(), done.completed_at), ("b", held("b", 5).acquired_at));
        assert_eq!(done.notice, NoticeStatus::None, "this event has no completion message");
    }

    #[test]
    fn a_notice_tells_how_far_the_card_was_when_its_stamp_was_acquired() {
        let masters = [master("a", 1), master("b", 2)];
        let facts = facts(&[held("a", 1), held("b", 2)]);
        assert_eq!(Progress::when_acquired(&facts.stamps[0], &masters, &facts), Progress { acquired: 1, total: 2 });
        assert_eq!(Progress::when_acquired(&facts.stamps[1], &masters, &facts), Progress { acquired: 2, total: 2 });
    }
}
