//! The delivery's bookkeeping on the items that call for notices: each one guarded Update.

use aws_sdk_dynamodb::{
    operation::update_item::builders::UpdateItemFluentBuilder,
    types::{AttributeValue, ReturnValuesOnConditionCheckFailure::AllOld},
};

use crate::domain::{
    notice::{NoticeId, Parked, ParkedState, Via},
    time::Timestamp,
};

use super::{
    Store, StoreError,
    guard::{Guarded, guarded},
    items::{self, text},
    keys::{Gsi1Key, ItemKey},
};

/// What a guarded Update found.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Marked {
    /// It was so already (or moved on meanwhile): nothing was changed, and that is success.
    Already,
    /// The item is gone (the participant was erased).
    NoItem,
    /// It is written.
    Done,
}

/// That a notice got to its participant: what its mark says.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Sending<'a> {
    /// When we knew it (`flexMessageSentAt`).
    pub at: Timestamp,
    /// LINE's `x-line-request-id` of what it accepted (`flexMessageRequestId`).
    pub request_id: Option<&'a str>,
    /// How (`noticeVia`).
    pub via: Via,
}

impl Store {
    /// Access pattern 5: marks a notice sent, on condition that the item exists and is unsent; takes it out of a
    /// special state (`noticeState`, `noticeSince`, `noticeReason`, `GSI1PK`, `GSI1SK` go). What it went through
    /// stays readable (`noticeTriedAt`, `flexMessageError`).
    /// Sets what is known of its sending.
    #[tracing::instrument(name = "store.mark_sent", level = "debug", skip_all)]
    pub async fn mark_sent(&self, notice: &NoticeId, sending: &Sending<'_>) -> Result<Marked, StoreError> {
        let mut change = Change::unsent(notice)
            .set("flexMessageSent", ":sent", AttributeValue::Bool(true))
            .set("flexMessageSentAt", ":at", text(sending.at.to_string()))
            .set("noticeVia", ":via", text(sending.via.as_str()));
        if let Some(request_id) = sending.request_id {
            change = change.set("flexMessageRequestId", ":requestId", text(request_id));
        }
        let left = ["noticeState", "noticeSince", "noticeReason", "GSI1PK", "GSI1SK"];
        self.mark(left.into_iter().fold(change, Change::remove)).await
    }

    /// Parks a notice, on condition that the item exists, is unsent (its `flexMessageSent` is anything but true, where it
    /// can't be read) and is in the state `from` (`None` = not parked). Sets `noticeState`, `noticeSince`, `noticeReason`
    /// and the index keys, and where they are known `noticeTriedAt` (the first one stays) and `flexMessageError`.
    #[tracing::instrument(name = "store.park", level = "debug", skip_all)]
    pub async fn park(
        &self,
        notice: &NoticeId,
        from: Option<ParkedState>,
        parked: &Parked,
    ) -> Result<Marked, StoreError> {
        self.mark(Change::unsent(notice).only_in(from).parked(notice, parked)).await
    }

    /// Records that an attempt ended without a clear answer (`noticeTriedAt`), before the next one. The first one
    /// stays; a later one is [`Marked::Already`].
    #[tracing::instrument(name = "store.note_attempt", level = "debug", skip_all)]
    pub async fn note_attempt(&self, notice: &NoticeId, at: Timestamp) -> Result<Marked, StoreError> {
        let change = Change::unsent(notice).only_without("noticeTriedAt");
        self.mark(change.set("noticeTriedAt", ":at", text(at.to_string()))).await
    }

    /// Takes an attempt of `at` back that was noted before it was made: it was certainly not accepted.
    #[tracing::instrument(name = "store.forget_attempt", level = "debug", skip_all)]
    pub async fn forget_attempt(&self, notice: &NoticeId, at: Timestamp) -> Result<Marked, StoreError> {
        let change = Change::unsent(notice).only_at("noticeTriedAt", ":at", text(at.to_string()));
        self.mark(change.remove("noticeTriedAt")).await
    }

    async fn mark(&self, change: Change) -> Result<Marked, StoreError> {
        let update = self.client.update_item().table_name(&self.tables.main);
        let update = change.of(update).return_values_on_condition_check_failure(AllOld);
        // On the heap: thousands of notices may wait, each with a future that has room for this request.
        Ok(match guarded(Box::pin(update.send()).await)? {
            Guarded::Done => Marked::Done,
            Guarded::Refused(Some(_)) => Marked::Already,
            Guarded::Refused(None) => Marked::NoItem,
        })
    }
}

/// One Update of a notice's item: what it sets and removes, and on what condition.
struct Change {
    key: ItemKey,
    condition: String,
    set: Vec<String>,
    remove: Vec<&'static str>,
    values: Vec<(&'static str, AttributeValue)>,
}

impl Change {
    /// Changes an item that exists and whose notice is unsent: its `flexMessageSent` is anything but true. (It may have been
    /// spoilt while the message was pushed: then it is mended by the mark, and what was pushed isn't forgotten.)
    fn unsent(notice: &NoticeId) -> Self {
        Self {
            key: ItemKey::Notice(notice.clone()),
            condition: "attribute_exists(flexMessageSent) AND flexMessageSent <> :true".to_owned(),
            set: Vec::new(),
            remove: Vec::new(),
            values: vec![(":true", AttributeValue::Bool(true))],
        }
    }

    /// Sets what a parked notice has.
    fn parked(self, notice: &NoticeId, parked: &Parked) -> Self {
        let listed = Gsi1Key::Parked { notice: notice.clone(), state: parked.state, since: parked.since };
        let mut change = self
            .set("noticeState", ":state", text(parked.state.as_str()))
            .set("noticeSince", ":since", text(parked.since.to_string()))
            .set("GSI1PK", ":listPk", text(listed.pk()))
            .set("GSI1SK", ":listSk", text(listed.sk()));
        change = match &parked.reason {
            Some(reason) => change.set("noticeReason", ":reason", text(reason)),
            None => change.remove("noticeReason"),
        };
        if let Some(maybe_sent_at) = parked.maybe_sent_at {
            change = change.set_once("noticeTriedAt", ":triedAt", text(maybe_sent_at.to_string()));
        }
        if let Some(error) = &parked.error {
            change = change.set("flexMessageError", ":error", items::refusal(error));
        }
        change
    }

    fn only_in(self, state: Option<ParkedState>) -> Self {
        match state {
            Some(state) => self.only_at("noticeState", ":from", text(state.as_str())),
            None => self.only_without("noticeState"),
        }
    }

    fn only_at(mut self, name: &'static str, placeholder: &'static str, value: AttributeValue) -> Self {
        self.condition = format!("{} AND {name} = {placeholder}", self.condition);
        self.values.push((placeholder, value));
        self
    }

    fn only_without(mut self, name: &str) -> Self {
        self.condition = format!("{} AND attribute_not_exists({name})", self.condition);
        self
    }

    fn set(mut self, name: &'static str, placeholder: &'static str, value: AttributeValue) -> Self {
        self.set.push(format!("{name} = {placeholder}"));
        self.values.push((placeholder, value));
        self
    }

    /// Sets what is not set yet.
    fn set_once(mut self, name: &'static str, placeholder: &'static str, value: AttributeValue) -> Self {
        self.set.push(format!("{name} = if_not_exists({name}, {placeholder})"));
        self.values.push((placeholder, value));
        self
    }

    fn remove(mut self, name: &'static str) -> Self {
        self.remove.push(name);
        self
    }

    fn of(self, update: UpdateItemFluentBuilder) -> UpdateItemFluentBuilder {
        let clause = |verb: &str, parts: String| if parts.is_empty() { parts } else { format!("{verb} {parts} ") };
        let expression = clause("SET", self.set.join(", ")) + &clause("REMOVE", self.remove.join(", "));
        let update = update
            .set_key(Some(items::primary_key(&self.key)))
            .update_expression(expression)
            .condition_expression(self.condition);
        self.values.into_iter().fold(update, |update, (name, value)| update.expression_attribute_values(name, value))
    }
}
