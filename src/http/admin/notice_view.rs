//! What organisers are shown of each notice: one word for what became of it, and what is known about that.

use serde::Serialize;

use crate::domain::{
    delivery_state::{DeliveryState, NoticeLine, Sent},
    notice::{NoticeKey, Parked},
    time::Timestamp,
};

use super::view::ErrorView;

/// One notice.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct NoticeLineView<'a> {
    #[serde(flatten)]
    fact: SourceView<'a>,
    called_at: Timestamp,
    state: &'static str,
    #[serde(flatten)]
    about: AboutView<'a>,
}

/// The fact from which it follows, by its key.
#[derive(Debug, Serialize)]
#[serde(tag = "entityType", rename_all = "SCREAMING_SNAKE_CASE", rename_all_fields = "camelCase")]
enum SourceView<'a> {
    /// The completed card.
    Completed,
    /// A resend.
    Resend {
        stamp_id: &'a str,
        number: u16,
        #[serde(skip_serializing_if = "Option::is_none")]
        requested_by: Option<&'a str>,
    },
    /// An acquired stamp.
    UserStamp { stamp_id: &'a str },
}

/// What is known about its state, by the names that the facts have for it.
#[derive(Debug, Default, Serialize)]
#[serde(rename_all = "camelCase")]
struct AboutView<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    flex_message_sent_at: Option<Timestamp>,
    #[serde(skip_serializing_if = "Option::is_none")]
    flex_message_request_id: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    flex_message_error: Option<ErrorView<'a>>,
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

impl<'a> NoticeLineView<'a> {
    /// Shows a notice, folded.
    pub fn of(line: &'a NoticeLine<'a>) -> Self {
        let fact = match &line.key {
            NoticeKey::Completed => SourceView::Completed,
            NoticeKey::Resend { stamp_id, number } => {
                SourceView::Resend { stamp_id: stamp_id.as_str(), number: *number, requested_by: line.requested_by }
            }
            NoticeKey::Stamp(stamp_id) => SourceView::UserStamp { stamp_id: stamp_id.as_str() },
        };
        Self { fact, called_at: line.called_at, state: line.state.as_str(), about: AboutView::of(&line.state) }
    }
}

impl<'a> AboutView<'a> {
    fn of(state: &DeliveryState<'a>) -> Self {
        match state {
            DeliveryState::Parked(parked) => Self::parked(parked),
            DeliveryState::Sent(sent) => Self::sent(sent),
            DeliveryState::SentToNonFriend { sent, unfollowed_at } => {
                Self { unfollowed_at: Some(*unfollowed_at), ..Self::sent(sent) }
            }
            DeliveryState::Pending { tried_at } => Self { notice_tried_at: *tried_at, ..Self::default() },
        }
    }

    fn sent(sent: &Sent<'a>) -> Self {
        Self {
            flex_message_sent_at: sent.at,
            flex_message_request_id: sent.request_id,
            sent_by_resend: sent.by_resend,
            ..Self::default()
        }
    }

    fn parked(parked: &'a Parked) -> Self {
        Self {
            flex_message_error: parked.error.as_ref().map(ErrorView::of),
            notice_since: Some(parked.since),
            notice_reason: parked.reason.as_deref(),
            notice_tried_at: parked.tried_at,
            ..Self::default()
        }
    }
}
