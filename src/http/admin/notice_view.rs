//! What organisers are shown of notices: what became of each, by the names that the facts have for it.

use serde::Serialize;

use crate::domain::{
    delivery_state::{DeliveryState, NoticeLine, Sent},
    notice::{NoticeKey, NoticeStatus, Parked, PushRefused, Via},
    time::Timestamp,
};

/// One notice, folded: one word for what became of it, and what is known about that.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct NoticeLineView<'a> {
    #[serde(flatten)]
    fact: SourceView<'a>,
    #[serde(rename = "calledAt")]
    since: Timestamp,
    state: &'static str,
    #[serde(flatten)]
    about: NoticeView<'a>,
}

/// The fact from which it follows, by its key.
#[derive(Debug, Serialize)]
#[serde(tag = "entityType", rename_all = "SCREAMING_SNAKE_CASE", rename_all_fields = "camelCase")]
enum SourceView<'a> {
    Completed,
    Resend {
        stamp_id: &'a str,
        number: u16,
        #[serde(skip_serializing_if = "Option::is_none")]
        requested_by: Option<&'a str>,
    },
    ResendCompleted {
        number: u16,
        #[serde(skip_serializing_if = "Option::is_none")]
        requested_by: Option<&'a str>,
    },
    UserStamp {
        stamp_id: &'a str,
    },
}

/// What is known of a notice.
#[derive(Debug, Default, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct NoticeView<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    flex_message_sent: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    flex_message_sent_at: Option<Timestamp>,
    #[serde(skip_serializing_if = "Option::is_none")]
    flex_message_request_id: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    notice_via: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    flex_message_error: Option<ErrorView<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    notice_state: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    notice_since: Option<Timestamp>,
    #[serde(skip_serializing_if = "Option::is_none")]
    notice_reason: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    notice_tried_at: Option<Timestamp>,
    #[serde(skip_serializing_if = "Option::is_none")]
    sent_by_resend: Option<u16>,
    #[serde(skip_serializing_if = "Option::is_none")]
    unfollowed_at: Option<Timestamp>,
}

/// LINE's refusal of a push, or ours.
#[derive(Debug, Serialize)]
struct ErrorView<'a> {
    status: u16,
    message: &'a str,
    at: Timestamp,
}

impl<'a> NoticeLineView<'a> {
    pub fn of(line: &'a NoticeLine<'a>) -> Self {
        let fact = match &line.key {
            NoticeKey::Completed => SourceView::Completed,
            NoticeKey::Resend { stamp_id, number } => {
                SourceView::Resend { stamp_id: stamp_id.as_str(), number: *number, requested_by: line.requested_by }
            }
            NoticeKey::ResendCompleted { number } => {
                SourceView::ResendCompleted { number: *number, requested_by: line.requested_by }
            }
            NoticeKey::Stamp(stamp_id) => SourceView::UserStamp { stamp_id: stamp_id.as_str() },
        };
        Self { fact, since: line.since, state: line.state.as_str(), about: (&line.state).into() }
    }
}

impl<'a> From<&'a DeliveryState<'a>> for NoticeView<'a> {
    fn from(state: &'a DeliveryState<'a>) -> Self {
        let sent = |Sent { at, request_id, via, by_resend }: &Sent<'a>| Self {
            flex_message_sent_at: *at,
            flex_message_request_id: *request_id,
            notice_via: via.map(Via::as_str),
            sent_by_resend: *by_resend,
            ..Self::default()
        };
        match state {
            DeliveryState::Parked(parked) => Self::parked(parked),
            DeliveryState::Sent(sending) => sent(sending),
            DeliveryState::SentToNonFriend { sent: sending, unfollowed_at } => {
                Self { unfollowed_at: Some(*unfollowed_at), ..sent(sending) }
            }
            DeliveryState::Pending { maybe_sent_at } => Self { notice_tried_at: *maybe_sent_at, ..Self::default() },
        }
    }
}

impl<'a> From<&'a NoticeStatus> for NoticeView<'a> {
    fn from(notice: &'a NoticeStatus) -> Self {
        let flex_message_sent = Some(notice.is_sent());
        match notice {
            NoticeStatus::None => Self::default(),
            NoticeStatus::Parked(parked) => {
                Self { flex_message_sent, notice_state: Some(parked.state.as_str()), ..Self::parked(parked) }
            }
            NoticeStatus::Sent { at, request_id, via } => Self {
                flex_message_sent,
                flex_message_sent_at: *at,
                flex_message_request_id: request_id.as_deref(),
                notice_via: via.map(Via::as_str),
                ..Self::default()
            },
            NoticeStatus::Pending { maybe_sent_at } => {
                Self { flex_message_sent, notice_tried_at: *maybe_sent_at, ..Self::default() }
            }
        }
    }
}

impl<'a> NoticeView<'a> {
    fn parked(parked: &'a Parked) -> Self {
        let error =
            |PushRefused { status, message, at }: &'a PushRefused| ErrorView { status: *status, message, at: *at };
        Self {
            flex_message_error: parked.error.as_ref().map(error),
            notice_since: Some(parked.since),
            notice_reason: parked.reason.as_deref(),
            notice_tried_at: parked.maybe_sent_at,
            ..Self::default()
        }
    }
}
