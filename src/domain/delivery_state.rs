//! What an operator reads of each notice: waiting, sent, sent to a participant who is no friend, held, failed, unknown,
//! expired, suppressed. Folded when it is read: nothing of it is stored.

use super::{
    fact::{Facts, Friendship},
    notice::{NoticeKey, NoticeStatus, Parked},
    time::Timestamp,
};

/// One notice of a participant, and what became of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NoticeLine<'a> {
    /// The fact from which it follows.
    pub key: NoticeKey,
    /// Who asked for it; only of a resend.
    pub requested_by: Option<&'a str>,
    /// When its fact happened.
    pub since: Timestamp,
    /// What became of it.
    pub state: DeliveryState<'a>,
}

/// What became of a notice, as far as is known.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum DeliveryState<'a> {
    /// It left the ordinary path: held, failed, unknown, expired or suppressed.
    Parked(&'a Parked),
    /// LINE accepted it, and nothing is known against its arrival.
    Sent(Sent<'a>),
    /// LINE accepted it, but the participant had blocked or removed the account before, as far as is known: LINE
    /// answers such a push with 200 and shows no message (Messaging API: "Send push message").
    SentToNonFriend {
        /// The sending.
        sent: Sent<'a>,
        /// Since when they don't follow the account.
        unfollowed_at: Timestamp,
    },
    /// It is pending: delivery sends it.
    Pending {
        /// When an attempt first ended without a clear answer, so that LINE may have accepted it.
        maybe_sent_at: Option<Timestamp>,
    },
}

/// That LINE accepted a notice.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Sent<'a> {
    /// When we marked it.
    pub at: Option<Timestamp>,
    /// LINE's `x-line-request-id` of the accepted push.
    pub request_id: Option<&'a str>,
    /// What LINE accepted was this resend of it.
    pub by_resend: Option<u16>,
}

impl DeliveryState<'_> {
    /// Returns one word for it.
    #[must_use]
    pub fn as_str(&self) -> &'static str {
        match self {
            Self::Parked(parked) => parked.state.as_str(),
            Self::Sent(_) => "sent",
            Self::SentToNonFriend { .. } => "sent_to_non_friend",
            Self::Pending { .. } => "waiting",
        }
    }
}

/// Returns every notice that follows from a participant's facts, in the order of the facts.
///
/// `friendships` are all their follows and unfollows of the event's channel, oldest first. Where none is known from
/// before a sending, nothing is assumed.
#[must_use]
pub fn fold<'a>(facts: &'a Facts, friendships: &[Friendship]) -> Vec<NoticeLine<'a>> {
    let stamps = facts
        .stamps
        .iter()
        .map(|stamp| (NoticeKey::Stamp(stamp.stamp_id.clone()), None, stamp.acquired_at, &stamp.notice));
    let resends = facts.resends.iter().map(|resend| {
        let key = NoticeKey::Resend { stamp_id: resend.stamp_id.clone(), number: resend.number };
        (key, Some(resend.requested_by.as_str()), resend.requested_at, &resend.notice)
    });
    let completed = facts.completed.iter().map(|card| (NoticeKey::Completed, None, card.completed_at, &card.notice));
    let notices = stamps.chain(resends).chain(completed);
    let mut lines: Vec<_> = notices
        .filter_map(|(key, requested_by, since, status)| {
            let state = state(facts, friendships, &key, status)?;
            Some(NoticeLine { key, requested_by, since, state })
        })
        .collect();
    lines.sort_by_key(|line| line.since);
    lines
}

/// Returns what became of the notice of a fact; `None` where none follows.
fn state<'a>(
    facts: &Facts,
    friendships: &[Friendship],
    key: &NoticeKey,
    status: &'a NoticeStatus,
) -> Option<DeliveryState<'a>> {
    match status {
        NoticeStatus::None => None,
        NoticeStatus::Parked(parked) => Some(DeliveryState::Parked(parked)),
        NoticeStatus::Pending { maybe_sent_at } => Some(DeliveryState::Pending { maybe_sent_at: *maybe_sent_at }),
        NoticeStatus::Sent { at, request_id } => {
            let by_resend = resend_that_sent(facts, key, status);
            let sent = Sent { at: *at, request_id: request_id.as_deref(), by_resend };
            let unfollowed = unfollowed_before(friendships, *at);
            Some(unfollowed.map_or(DeliveryState::Sent(sent), |unfollowed_at| DeliveryState::SentToNonFriend {
                sent,
                unfollowed_at,
            }))
        }
    }
}

/// Returns the resend whose acceptance marked a notice before it: both have the same mark.
fn resend_that_sent(facts: &Facts, key: &NoticeKey, mark: &NoticeStatus) -> Option<u16> {
    let (stamp_id, own) = match key {
        NoticeKey::Completed => return None,
        NoticeKey::Resend { stamp_id, number } => (stamp_id, *number),
        NoticeKey::Stamp(stamp_id) => (stamp_id, 0),
    };
    let later = facts.resends.iter().filter(|resend| resend.stamp_id == *stamp_id && resend.number > own);
    later.filter(|resend| resend.notice == *mark).map(|resend| resend.number).max()
}

/// Returns since when the participant was no friend, if the newest follow or unfollow before the sending says so.
fn unfollowed_before(friendships: &[Friendship], sent_at: Option<Timestamp>) -> Option<Timestamp> {
    let sent_at = sent_at?;
    let newest = friendships.iter().rfind(|friendship| friendship.occurred_at <= sent_at)?;
    (!newest.following).then_some(newest.occurred_at)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::{
        fact::{Completed, Resend, UserStamp},
        ids::LineUserId,
        notice::ParkedState,
    };

    fn minute(minute: i64) -> Timestamp {
        Timestamp::EPOCH.plus_millis(minute * 60_000)
    }

    fn sent(at: i64) -> NoticeStatus {
        NoticeStatus::Sent { at: Some(minute(at)), request_id: Some(format!("line-{at}")) }
    }

    fn parked(state: ParkedState) -> NoticeStatus {
        let reason = Some("monthly_limit".to_owned());
        NoticeStatus::Parked(Parked { state, since: minute(3), reason, maybe_sent_at: None, error: None })
    }

    fn hanako() -> LineUserId {
        LineUserId::stored("U1234567890abcdef").unwrap()
    }

    fn stamp(id: &str, at: i64, notice: NoticeStatus) -> UserStamp {
        UserStamp {
            proof: None,
            event_id: "e".parse().unwrap(),
            line_user_id: hanako(),
            stamp_id: id.parse().unwrap(),
            acquired_at: minute(at),
            request_id: None,
            notice,
        }
    }

    fn resend(number: u16, at: i64, notice: NoticeStatus) -> Resend {
        Resend {
            event_id: "e".parse().unwrap(),
            line_user_id: hanako(),
            stamp_id: "001".parse().unwrap(),
            number,
            requested_by: "office".to_owned(),
            requested_at: minute(at),
            notice,
        }
    }

    fn completed(notice: NoticeStatus) -> Completed {
        Completed {
            event_id: "e".parse().unwrap(),
            line_user_id: hanako(),
            completed_at: minute(1),
            by_stamp_id: "001".parse().unwrap(),
            notice,
        }
    }

    fn friendship(at: i64, following: bool) -> Friendship {
        Friendship {
            channel: "main".parse().unwrap(),
            line_user_id: hanako(),
            following,
            occurred_at: minute(at),
            webhook_event_id: "01H".parse().unwrap(),
        }
    }

    fn words(facts: &Facts, friendships: &[Friendship]) -> Vec<&'static str> {
        fold(facts, friendships).iter().map(|line| line.state.as_str()).collect()
    }

    /// Returns the word for one stamp's notice, given these follows and unfollows.
    fn word_of(notice: NoticeStatus, friendships: &[Friendship]) -> &'static str {
        words(&Facts { stamps: vec![stamp("001", 1, notice)], ..Facts::default() }, friendships)[0]
    }

    #[test]
    fn every_state_has_its_word() {
        for (notice, word) in [
            (NoticeStatus::Pending { maybe_sent_at: None }, "waiting"),
            (sent(2), "sent"),
            (parked(ParkedState::Held), "held"),
            (parked(ParkedState::Failed), "failed"),
            (parked(ParkedState::Unknown), "unknown"),
            (parked(ParkedState::Expired), "expired"),
            (parked(ParkedState::Suppressed), "suppressed"),
        ] {
            assert_eq!(word_of(notice, &[]), word);
        }
    }

    #[test]
    fn the_newest_follow_or_unfollow_before_the_sending_counts() {
        let (follows, unfollows) = (friendship(1, true), friendship(2, false));
        let both = [follows.clone(), unfollows.clone()];
        assert_eq!(word_of(sent(3), &both), "sent_to_non_friend");
        assert_eq!(word_of(sent(2), &both), "sent_to_non_friend", "the same moment is before");
        assert_eq!(word_of(sent(1), &both), "sent", "the unfollow came after");
        assert_eq!(word_of(sent(4), &[unfollows.clone(), friendship(3, true)]), "sent", "they came back");
        assert_eq!(word_of(sent(1), &[unfollows]), "sent", "nothing is known from before");
        assert_eq!(word_of(sent(3), &[]), "sent", "nothing is assumed");
    }

    #[test]
    fn a_participant_who_is_no_friend_changes_nothing_for_what_was_not_sent() {
        assert_eq!(word_of(parked(ParkedState::Failed), &[friendship(0, false)]), "failed");
        assert_eq!(word_of(NoticeStatus::Pending { maybe_sent_at: None }, &[friendship(0, false)]), "waiting");
        let undated = NoticeStatus::Sent { at: None, request_id: None };
        assert_eq!(word_of(undated, &[friendship(0, false)]), "sent", "it isn't known when");
    }

    #[test]
    fn notices_come_in_the_order_of_their_facts_and_facts_without_one_are_left_out() {
        let facts = Facts {
            stamps: vec![stamp("002", 5, NoticeStatus::Pending { maybe_sent_at: None }), stamp("001", 1, sent(2))],
            resends: vec![resend(1, 7, parked(ParkedState::Held))],
            completed: Some(completed(NoticeStatus::None)),
            ..Facts::default()
        };
        assert_eq!(words(&facts, &[]), ["sent", "waiting", "held"]);
        let facts = Facts { completed: Some(completed(sent(2))), ..facts };
        assert_eq!(words(&facts, &[]), ["sent", "sent", "waiting", "held"]);
        assert_eq!(fold(&facts, &[])[3].requested_by, Some("office"));
    }

    #[test]
    fn a_notice_that_a_resend_settled_names_it() {
        let facts = Facts {
            stamps: vec![stamp("001", 1, sent(9))],
            resends: vec![resend(1, 5, sent(9)), resend(2, 8, sent(9)), resend(3, 10, sent(11))],
            ..Facts::default()
        };
        let by_resend: Vec<_> = fold(&facts, &[])
            .into_iter()
            .map(|line| match line.state {
                DeliveryState::Sent(sent) => sent.by_resend,
                other => panic!("{other:?}"),
            })
            .collect();
        assert_eq!(by_resend, [Some(2), Some(2), None, None]);
    }
}
