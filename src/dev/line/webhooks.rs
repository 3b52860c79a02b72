//! Webhooks as LINE sends them: completed, signed over the exact bytes, given up after two seconds.

use std::time::Instant;

use aws_lc_rs::hmac;
use base64::{Engine, engine::general_purpose::STANDARD};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

use super::{
    answer::Answer,
    chance,
    ledger::ReplyToken,
    platform::{Channel, Platform},
    webhook_clients::HeaderCase,
};

/// Types of webhook events that bring a reply token.
const REPLIABLE: [&str; 10] = [
    "message",
    "messageEdited",
    "follow",
    "join",
    "memberJoined",
    "postback",
    "videoPlayComplete",
    "beacon",
    "accountLink",
    "membership",
];

/// An order to send webhook events.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
pub(super) struct WebhookOrder {
    /// The first channel if left out.
    pub(super) channel: Option<String>,
    pub(super) events: Vec<Value>,
    /// Instead of `events`: these bytes, signed, whatever they are.
    pub(super) raw_body: Option<String>,
    /// One request for all events (the default), or one for each.
    pub(super) batch: Option<bool>,
    /// Sends every request so many times more.
    pub(super) duplicate: u32,
    /// Sets `deliveryContext.isRedelivery`, and makes unused reply tokens good again.
    pub(super) redelivery: bool,
    /// Sends the events as they are: nothing is filled in.
    pub(super) as_is: bool,
    pub(super) signature: Signature,
    /// Signs with this secret in place of the channel's.
    pub(super) secret: Option<String>,
    pub(super) header_case: HeaderCase,
    /// Where to, in place of the channel's webhook URL.
    pub(super) url: Option<String>,
}

#[derive(Clone, Copy, Debug, Default, Deserialize, Eq, PartialEq)]
#[serde(rename_all = "camelCase")]
pub(super) enum Signature {
    Missing,
    #[default]
    Right,
    Wrong,
}

/// What became of one request.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Delivery {
    /// 0 without an answer.
    pub(super) status: u16,
    /// As the test-webhook endpoint names it.
    pub(super) reason: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    detail: Option<String>,
    /// Milliseconds to the answer.
    took_ms: u64,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    events: Vec<Value>,
}

/// Sends what was ordered, one request after the other.
pub(super) async fn send(platform: &Platform, order: &WebhookOrder) -> Result<Vec<Delivery>, Answer> {
    let channel = platform.channel(order.channel.as_deref())?;
    let url = order.url.clone().or_else(|| channel.now().webhook_url.clone()).ok_or_else(|| no_url(channel))?;
    let sending = Sending { platform, channel, order, url };
    let mut deliveries = Vec::new();
    for (body, events) in sending.bodies()? {
        for _ in 0..=order.duplicate {
            deliveries.push(sending.post(&body, &events).await?);
        }
    }
    Ok(deliveries)
}

/// Returns the refusal for a channel without a webhook URL.
pub(super) fn no_url(channel: &Channel) -> Answer {
    let name = channel.name();
    Answer::message(409, &format!("channel `{name}` has no webhook URL; PATCH /control/channels/{name} sets one"))
}

/// A request body and the events in it.
type Parcel = (Vec<u8>, Vec<Value>);

/// An order, and what it is carried out with.
struct Sending<'a> {
    platform: &'a Platform,
    channel: &'a Channel,
    order: &'a WebhookOrder,
    url: String,
}

impl Sending<'_> {
    /// Returns one body for all events, or one for each.
    fn bodies(&self) -> Result<Vec<Parcel>, Answer> {
        if let Some(raw) = &self.order.raw_body {
            return Ok(vec![(raw.clone().into_bytes(), Vec::new())]);
        }
        let events = self.events()?;
        let envelope = |events: &[Value]| {
            let body = json!({ "destination": self.channel.bot_id(), "events": events });
            (serde_json::to_vec(&body).unwrap_or_default(), events.to_vec())
        };
        Ok(match self.order.batch {
            Some(false) => events.chunks(1).map(envelope).collect(),
            _ => vec![envelope(&events)],
        })
    }

    /// Returns the ordered events, completed and remembered.
    fn events(&self) -> Result<Vec<Value>, Answer> {
        let mut events = self.order.events.clone();
        if !self.order.as_is {
            for event in &mut events {
                let event = event.as_object_mut().ok_or_else(|| Answer::message(400, "an event is an object"))?;
                complete(event, self.order, self.platform.clock.now_ms());
            }
        }
        for event in &events {
            self.remember(event)?;
        }
        Ok(events)
    }

    /// Notes the reply token and, for a message in a one-to-one chat, that the user wrote.
    fn remember(&self, event: &Value) -> Result<(), Answer> {
        let text = |pointer: &str| event.pointer(pointer).and_then(Value::as_str);
        let now_ms = self.platform.clock.now_ms();
        let place = ["/source/groupId", "/source/roomId", "/source/userId"].iter().find_map(|pointer| text(pointer));
        let (ledger, channel) = (self.platform.ledger(), self.channel.name());
        if let (Some(token), Some(target)) = (text("/replyToken"), place) {
            let happened_at = event.get("timestamp").and_then(Value::as_i64).unwrap_or(now_ms);
            ledger.hand_out(&ReplyToken { token, channel, target, happened_at, received_at: now_ms })?;
        }
        if let (Some("message"), Some("user"), Some(user_id)) =
            (text("/type"), text("/source/type"), text("/source/userId"))
        {
            ledger.note_chat(channel, user_id, now_ms)?;
        }
        Ok(())
    }

    async fn post(&self, body: &[u8], events: &[Value]) -> Result<Delivery, Answer> {
        let client = self.platform.webhook_clients.client(self.order.header_case)?;
        let mut request = client.post(&self.url).header("content-type", "application/json; charset=utf-8");
        if let Some(signature) = self.signature(body) {
            request = request.header("x-line-signature", signature);
        }
        let began = Instant::now();
        let answered = request.body(body.to_vec()).send().await;
        let took_ms = u64::try_from(began.elapsed().as_millis()).unwrap_or(u64::MAX);
        let (status, reason, detail) = match answered {
            Ok(response) if response.status().is_success() => (response.status().as_u16(), "OK", None),
            Ok(response) => (response.status().as_u16(), "ERROR_STATUS_CODE", None),
            Err(error) if error.is_builder() => {
                return Err(Answer::message(400, &format!("unusable URL {}: {error}", self.url)));
            }
            Err(error) if error.is_timeout() => (0, "REQUEST_TIMEOUT", Some(error.to_string())),
            Err(error) => (0, "COULD_NOT_CONNECT", Some(error.to_string())),
        };
        Ok(Delivery { status, reason, detail, took_ms, events: events.to_vec() })
    }

    fn signature(&self, body: &[u8]) -> Option<String> {
        let secret = self.order.secret.clone().unwrap_or_else(|| self.channel.now().channel_secret.clone());
        match self.order.signature {
            Signature::Missing => None,
            Signature::Right => Some(sign(&secret, body)),
            Signature::Wrong => Some(sign(&format!("not {secret}"), body)),
        }
    }
}

/// Fills in what every webhook event has and the order left out; `userId` beside `type` is short for
/// a `source` of that user.
fn complete(event: &mut Map<String, Value>, order: &WebhookOrder, now_ms: i64) {
    if let (Some(user_id), false) = (event.remove("userId"), event.contains_key("source")) {
        event.insert("source".to_owned(), json!({ "type": "user", "userId": user_id }));
    }
    let mut default = |name: &str, value: Value| {
        event.entry(name.to_owned()).or_insert(value);
    };
    default("mode", json!("active"));
    default("timestamp", json!(now_ms));
    default("webhookEventId", json!(chance::ulid(now_ms)));
    default("deliveryContext", json!({ "isRedelivery": false }));
    if order.redelivery {
        event.insert("deliveryContext".to_owned(), json!({ "isRedelivery": true }));
    }
    let kind = event.get("type").and_then(Value::as_str).unwrap_or_default();
    let active = event.get("mode").and_then(Value::as_str) == Some("active");
    if active && REPLIABLE.contains(&kind) && event.contains_key("source") {
        event.entry("replyToken").or_insert_with(|| json!(chance::opaque(24)));
    }
}

/// Returns Base64 of HMAC-SHA256 with the channel secret over the raw bytes (verify webhook signature).
pub(super) fn sign(secret: &str, body: &[u8]) -> String {
    STANDARD.encode(hmac::sign(&hmac::Key::new(hmac::HMAC_SHA256, secret.as_bytes()), body).as_ref())
}

#[cfg(test)]
mod tests {
    use super::sign;

    #[test]
    fn the_signature_is_the_one_that_line_published() {
        let body = r#"{"destination":"U8e742f61d673b39c7fff3cecb7536ef0","events":[]}"#;
        assert_eq!(
            sign("8c570fa6dd201bb328f1c1eac23a96d8", body.as_bytes()),
            "GhRKmvmHys4Pi8DxkF4+EayaH0OqtJtaZxgTD9fMDLs="
        );
    }
}
