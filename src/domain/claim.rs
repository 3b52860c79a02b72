//! Claims: what a participant asks for, the proof that comes with it, and how it is decided and refused.

use super::{
    event::{Event, Phase, Window},
    fact::{User, UserStamp},
    ids::{LineUserId, RequestId},
    notice::NoticeStatus,
    stamp::StampMaster,
    time::Timestamp,
};

/// A claim for a stamp.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Claim {
    /// Who claims, as a verified token says.
    pub line_user_id: LineUserId,
    /// The request that brought it.
    pub request_id: RequestId,
    /// What it brings to show that the participant is at the stamp.
    pub proof: Proof,
}

/// The proof that a claim brings.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Proof {
    /// The claim brings none.
    None,
    /// The claim brings one, of which no member is known. It is passed over: no stamp asks for a proof.
    Unknown,
}

/// Why a claim or a registration is refused.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum Refusal {
    /// `now >= endsAt`
    #[error("the event has ended")]
    EventEnded,
    /// `now < startsAt`
    #[error("the event has not started")]
    EventNotStarted,
    /// The master's `isActive` is false.
    #[error("the stamp is not active")]
    StampInactive,
}

impl Claim {
    /// Decides on the claim for a stamp: returns the fact to record, or why not. Whether the participant has the stamp
    /// already doesn't matter here: the conditional write finds out, and an acquired stamp is answered as such.
    pub fn decide(&self, event: &Event, master: &StampMaster, now: Timestamp) -> Result<UserStamp, Refusal> {
        admit(event.window, now)?;
        if !master.is_active {
            return Err(Refusal::StampInactive);
        }
        match self.proof {
            Proof::None | Proof::Unknown => Ok(self.acquires(master, now)),
        }
    }

    fn acquires(&self, master: &StampMaster, now: Timestamp) -> UserStamp {
        UserStamp {
            event_id: master.event_id.clone(),
            line_user_id: self.line_user_id.clone(),
            stamp_id: master.stamp_id.clone(),
            acquired_at: now,
            request_id: Some(self.request_id.clone()),
            notice: NoticeStatus::Pending { maybe_sent_at: None },
        }
    }
}

/// Decides on a registration: returns the fact to record, or why not. Registering is possible before the start too, and
/// never after the end.
pub fn register(
    event: &Event,
    line_user_id: LineUserId,
    request_id: RequestId,
    now: Timestamp,
) -> Result<User, Refusal> {
    if event.window.is_over(now) {
        return Err(Refusal::EventEnded);
    }
    Ok(User::registers(event.event_id.clone(), line_user_id, request_id, now))
}

/// Refuses what comes too early or too late.
fn admit(window: Window, now: Timestamp) -> Result<(), Refusal> {
    match window.phase(now) {
        Phase::ToCome => Err(Refusal::EventNotStarted),
        Phase::Open => Ok(()),
        Phase::Over => Err(Refusal::EventEnded),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::{
        event::EventChange,
        setting::Name,
        stamp::{StampMasterChange, StampOrder},
    };

    fn at(text: &str) -> Timestamp {
        text.parse().unwrap()
    }

    fn name(text: &str) -> Name {
        Name::try_from(text.to_owned()).unwrap()
    }

    fn event() -> Event {
        let change = EventChange {
            name: Some(name("初夏のラリー")),
            starts_at: Some(at("2026-05-23T01:00:00.000Z")),
            ends_at: Some(at("2026-05-23T08:00:00.000Z")),
            channel: Some("main".parse().unwrap()),
            ..EventChange::default()
        };
        change.create("stamp-rally-202606".parse().unwrap(), Timestamp::EPOCH).unwrap()
    }

    fn master() -> StampMaster {
        let change = StampMasterChange {
            name: Some(name("第1スタンプ")),
            order: Some(StampOrder::try_from(1).unwrap()),
            flex_message_content: Some(serde_json::Value::Null),
            ..StampMasterChange::default()
        };
        change.create(event().event_id, "001".parse().unwrap(), Timestamp::EPOCH).unwrap()
    }

    fn hanako() -> Claim {
        Claim {
            line_user_id: "U0123456789abcdef0123456789abcdef".parse().unwrap(),
            request_id: "r-1".parse().unwrap(),
            proof: Proof::None,
        }
    }

    #[test]
    fn a_claim_within_the_window_is_a_stamp_with_a_pending_notice() {
        let now = at("2026-05-23T02:00:00.000Z");
        let stamp = hanako().decide(&event(), &master(), now).unwrap();
        assert_eq!((stamp.acquired_at, stamp.request_id), (now, Some(hanako().request_id)));
        assert_eq!(stamp.notice, NoticeStatus::Pending { maybe_sent_at: None });
    }

    #[test]
    fn a_claim_before_the_start_is_refused_as_event_not_started() {
        assert_eq!(hanako().decide(&event(), &master(), at("2026-05-23T00:00:00.000Z")), Err(Refusal::EventNotStarted));
    }

    #[test]
    fn a_claim_at_the_end_is_refused_as_event_ended() {
        assert_eq!(hanako().decide(&event(), &master(), at("2026-05-23T08:00:00.000Z")), Err(Refusal::EventEnded));
    }

    #[test]
    fn a_claim_for_an_inactive_stamp_is_refused_as_stamp_inactive() {
        let inactive = StampMaster { is_active: false, ..master() };
        assert_eq!(hanako().decide(&event(), &inactive, at("2026-05-23T02:00:00.000Z")), Err(Refusal::StampInactive));
    }

    #[test]
    fn a_proof_that_no_stamp_asks_for_changes_nothing() {
        let now = at("2026-05-23T02:00:00.000Z");
        let claim = Claim { proof: Proof::Unknown, ..hanako() };
        assert_eq!(claim.decide(&event(), &master(), now), hanako().decide(&event(), &master(), now));
    }

    #[test]
    fn a_registration_is_taken_before_the_start_and_refused_from_the_end_on() {
        let register = |now| register(&event(), hanako().line_user_id, hanako().request_id, at(now));
        let user = register("2026-05-01T00:00:00.000Z").unwrap();
        assert_eq!((user.created_at, user.event_id), (at("2026-05-01T00:00:00.000Z"), event().event_id));
        assert!(register("2026-05-23T07:59:59.999Z").is_ok());
        assert_eq!(register("2026-05-23T08:00:00.000Z"), Err(Refusal::EventEnded));
    }

    #[test]
    fn the_window_holds_its_start_and_not_its_end() {
        let window = event().window;
        assert_eq!(admit(window, at("2026-05-23T00:59:59.999Z")), Err(Refusal::EventNotStarted));
        assert_eq!(admit(window, at("2026-05-23T01:00:00.000Z")), Ok(()));
        assert_eq!(admit(window, at("2026-05-23T07:59:59.999Z")), Ok(()));
        assert_eq!(admit(window, at("2026-05-23T08:00:00.000Z")), Err(Refusal::EventEnded));
    }
}
