//! What organisers are shown: each item's attributes by their own names.

use serde::Serialize;
use serde_json::Value;

use crate::domain::{
    bounded::Whole,
    event::{Event, LiffId},
    fact::{Fact, Friendship, User},
    ids::{RequestId, StampId},
    proof::{AcceptedProof, Generations, ProofSettings, Proofs},
    schedule::AllHours,
    stamp::{Notify, StampMaster},
    time::Timestamp,
};
use crate::store::listing::Holder;

use super::notice_view::NoticeView;

/// An event.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct EventView<'a> {
    event_id: &'a str,
    name: &'a str,
    starts_at: Timestamp,
    ends_at: Timestamp,
    time_zone: String,
    channel: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    liff_id: Option<&'a str>,
    index_shards: u8,
    #[serde(skip_serializing_if = "Option::is_none")]
    completion_message_content: Option<&'a Value>,
    #[serde(skip_serializing_if = "Option::is_none")]
    min_interval_seconds: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    max_speed_kmh: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    late_minutes: Option<u32>,
    created_at: Timestamp,
    updated_at: Timestamp,
}

impl<'a> EventView<'a> {
    pub fn of(event: &'a Event) -> Self {
        Self {
            event_id: event.event_id.as_str(),
            name: event.name.as_str(),
            starts_at: event.window.starts_at(),
            ends_at: event.window.ends_at(),
            time_zone: event.time_zone.to_string(),
            channel: event.channel.as_str(),
            liff_id: event.liff_id.as_ref().map(LiffId::as_str),
            index_shards: event.index_shards.count(),
            completion_message_content: event.completion_message_content.as_ref(),
            min_interval_seconds: event.limits.min_interval_seconds.map(Whole::get),
            max_speed_kmh: event.limits.max_speed_kmh.map(Whole::get),
            late_minutes: event.limits.late_minutes.map(Whole::get),
            created_at: event.created_at,
            updated_at: event.updated_at,
        }
    }
}

/// A stamp master.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct StampMasterView<'a> {
    event_id: &'a str,
    stamp_id: &'a str,
    name: &'a str,
    order: u16,
    is_active: bool,
    flex_message_content: &'a Value,
    #[serde(flatten)]
    rules: ClaimRulesView<'a>,
    updated_at: Timestamp,
}

/// What a claim must satisfy; what it leaves open isn't there. A passcode isn't shown.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct ClaimRulesView<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    proofs: Option<&'a Proofs>,
    #[serde(skip_serializing_if = "Option::is_none")]
    proof_settings: Option<&'a ProofSettings>,
    #[serde(skip_serializing_if = "Option::is_none")]
    available_from: Option<Timestamp>,
    #[serde(skip_serializing_if = "Option::is_none")]
    available_until: Option<Timestamp>,
    #[serde(skip_serializing_if = "AllHours::is_empty")]
    hours: &'a AllHours,
    #[serde(skip_serializing_if = "<[StampId]>::is_empty")]
    after: &'a [StampId],
    #[serde(skip_serializing_if = "Generations::is_untouched")]
    codes: &'a Generations,
    #[serde(skip_serializing_if = "Option::is_none")]
    notify: Option<&'static str>,
}

impl<'a> ClaimRulesView<'a> {
    fn of(master: &'a StampMaster) -> Self {
        let rules = &master.rules;
        Self {
            proofs: Some(&rules.proofs).filter(|proofs| **proofs != Proofs::default()),
            proof_settings: Some(&rules.settings).filter(|settings| **settings != ProofSettings::default()),
            available_from: rules.schedule.available.from,
            available_until: rules.schedule.available.until,
            hours: &rules.schedule.hours,
            after: rules.after.ids(),
            codes: &rules.codes,
            notify: Some(master.notify).filter(|notify| *notify != Notify::Always).map(Notify::as_str),
        }
    }
}

impl<'a> StampMasterView<'a> {
    pub fn of(master: &'a StampMaster) -> Self {
        Self {
            event_id: master.event_id.as_str(),
            stamp_id: master.stamp_id.as_str(),
            name: master.name.as_str(),
            order: master.order.number(),
            is_active: master.is_active,
            flex_message_content: &master.flex_message_content,
            rules: ClaimRulesView::of(master),
            updated_at: master.updated_at,
        }
    }
}

/// A registration.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct UserView<'a> {
    event_id: &'a str,
    line_user_id: &'a str,
    created_at: Timestamp,
    updated_at: Timestamp,
    #[serde(skip_serializing_if = "Option::is_none")]
    request_id: Option<&'a str>,
}

impl<'a> UserView<'a> {
    pub fn of(user: &'a User) -> Self {
        Self {
            event_id: user.event_id.as_str(),
            line_user_id: user.line_user_id.as_str(),
            created_at: user.created_at,
            updated_at: user.updated_at,
            request_id: user.request_id.as_ref().map(RequestId::as_str),
        }
    }
}

/// A participant who has a stamp, since when, and how they proved it, where that is asked for.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct HolderView<'a> {
    line_user_id: &'a str,
    acquired_at: Timestamp,
    #[serde(skip_serializing_if = "Option::is_none")]
    proof: Option<&'a AcceptedProof>,
}

impl<'a> HolderView<'a> {
    pub fn of(holder: &'a Holder, proof: Option<&'a AcceptedProof>) -> Self {
        Self { line_user_id: holder.line_user_id.as_str(), acquired_at: holder.acquired_at, proof }
    }
}

/// A follow or unfollow.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct FriendshipView {
    following: bool,
    occurred_at: Timestamp,
}

impl FriendshipView {
    pub fn of(friendship: &Friendship) -> Self {
        Self { following: friendship.following, occurred_at: friendship.occurred_at }
    }
}

/// Any fact of a participant.
#[derive(Debug, Serialize)]
#[serde(tag = "entityType", rename_all = "SCREAMING_SNAKE_CASE", rename_all_fields = "camelCase")]
pub enum FactView<'a> {
    /// The card became complete.
    Completed {
        event_id: &'a str,
        line_user_id: &'a str,
        completed_at: Timestamp,
        by_stamp_id: &'a str,
        #[serde(flatten)]
        notice: NoticeView<'a>,
    },
    /// A notice was ordered again.
    Resend {
        event_id: &'a str,
        line_user_id: &'a str,
        stamp_id: &'a str,
        number: u16,
        requested_by: &'a str,
        requested_at: Timestamp,
        #[serde(flatten)]
        notice: NoticeView<'a>,
    },
    /// The notice of a completed card was ordered again.
    ResendCompleted {
        event_id: &'a str,
        line_user_id: &'a str,
        number: u16,
        requested_by: &'a str,
        requested_at: Timestamp,
        #[serde(flatten)]
        notice: NoticeView<'a>,
    },
    /// Registered.
    User(UserView<'a>),
    /// Acquired a stamp.
    UserStamp {
        event_id: &'a str,
        line_user_id: &'a str,
        stamp_id: &'a str,
        acquired_at: Timestamp,
        #[serde(skip_serializing_if = "Option::is_none")]
        request_id: Option<&'a str>,
        #[serde(skip_serializing_if = "Option::is_none")]
        proof: Option<&'a AcceptedProof>,
        #[serde(flatten)]
        notice: NoticeView<'a>,
    },
}

impl<'a> FactView<'a> {
    pub fn of(fact: &'a Fact) -> Self {
        let (event_id, line_user_id) = (fact.event_id().as_str(), fact.line_user_id().as_str());
        match fact {
            Fact::Completed(fact) => Self::Completed {
                event_id,
                line_user_id,
                completed_at: fact.completed_at,
                by_stamp_id: fact.by_stamp_id.as_str(),
                notice: (&fact.notice).into(),
            },
            Fact::Resend(fact) => Self::Resend {
                event_id,
                line_user_id,
                stamp_id: fact.stamp_id.as_str(),
                number: fact.number,
                requested_by: &fact.requested_by,
                requested_at: fact.requested_at,
                notice: (&fact.notice).into(),
            },
            Fact::ResendCompleted(fact) => Self::ResendCompleted {
                event_id,
                line_user_id,
                number: fact.number,
                requested_by: &fact.requested_by,
                requested_at: fact.requested_at,
                notice: (&fact.notice).into(),
            },
            Fact::User(user) => Self::User(UserView::of(user)),
            Fact::UserStamp(fact) => Self::UserStamp {
                event_id,
                line_user_id,
                stamp_id: fact.stamp_id.as_str(),
                acquired_at: fact.acquired_at,
                request_id: fact.request_id.as_ref().map(RequestId::as_str),
                proof: fact.proof.as_ref(),
                notice: (&fact.notice).into(),
            },
        }
    }
}
