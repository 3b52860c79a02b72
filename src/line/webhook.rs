//! LINE's webhook: the signature over the raw bytes, and the few webhook events that we act on.

use std::collections::HashMap;

use base64::{Engine, engine::general_purpose::STANDARD};
use hmac::{Hmac, KeyInit, Mac};
use secrecy::{ExposeSecret, SecretString};
use serde::Deserialize;
use serde_json::value::RawValue;
use sha2::Sha256;

use crate::domain::{
    ids::{LineUserId, WebhookEventId},
    proof::HardwareId,
    time::Timestamp,
};

/// A body that isn't a JSON object: it isn't a webhook, even if it is signed.
#[derive(Debug, thiserror::Error)]
#[error("not a webhook: the body isn't a JSON object with events")]
pub struct NotAWebhook;

/// One webhook event, as far as we act on it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum WebhookEvent {
    /// A user came near a beacon.
    Beacon {
        /// The user.
        line_user_id: LineUserId,
        /// When, also on redelivery.
        at: Timestamp,
        /// The same on redelivery: by it a webhook event that comes twice is recognised.
        id: WebhookEventId,
        /// Which beacon.
        hwid: HardwareId,
    },
    /// A user added the Official Account as a friend, or unblocked it.
    Follow {
        /// The user.
        line_user_id: LineUserId,
        /// When, also on redelivery.
        at: Timestamp,
        /// The same on redelivery: by it a webhook event that comes twice is recognised.
        id: WebhookEventId,
    },
    /// Anything else: types we don't act on or don't know yet, groups and rooms, what can't be read.
    Other,
    /// A user blocked the Official Account.
    Unfollow {
        /// The user.
        line_user_id: LineUserId,
        /// When, also on redelivery.
        at: Timestamp,
        /// The same on redelivery: by it a webhook event that comes twice is recognised.
        id: WebhookEventId,
    },
}

impl WebhookEvent {
    /// Returns whom it is about, if we act on it.
    #[must_use]
    pub fn line_user_id(&self) -> Option<&LineUserId> {
        match self {
            Self::Beacon { line_user_id, .. }
            | Self::Follow { line_user_id, .. }
            | Self::Unfollow { line_user_id, .. } => Some(line_user_id),
            Self::Other => None,
        }
    }
}

/// Returns whether one of the channel secrets signed these very bytes (LINE: "Verify webhook signature":
/// base64, standard alphabet with padding, of the HMAC-SHA256 of the raw body). Constant time;
/// an empty secret signs nothing.
pub fn is_signed<'a>(body: &[u8], signature: &str, secrets: impl Iterator<Item = &'a SecretString>) -> bool {
    let Ok(signature) = STANDARD.decode(signature) else { return false };
    let mut signed = false;
    for secret in secrets.map(|secret| secret.expose_secret().as_bytes()).filter(|secret| !secret.is_empty()) {
        signed |= signs(secret, body, &signature);
    }
    signed
}

fn signs(secret: &[u8], body: &[u8], signature: &[u8]) -> bool {
    let Ok(mut mac) = Hmac::<Sha256>::new_from_slice(secret) else { return false };
    mac.update(body);
    mac.verify_slice(signature).is_ok()
}

/// Reads the webhook events of a body whose signature is right, in their order.
///
/// # Errors
///
/// Only for a body that isn't a JSON object. What can't be read in one webhook event makes it
/// [`WebhookEvent::Other`] and leaves the rest alone; without `events` (or with none) there are none.
pub fn read(body: &[u8]) -> Result<Vec<WebhookEvent>, NotAWebhook> {
    let body: Members<'_> = serde_json::from_slice(body).map_err(|_| NotAWebhook)?;
    let events: Vec<&RawValue> = member(&body, "events").unwrap_or_default();
    Ok(events.into_iter().map(|event| acted_on(event).unwrap_or(WebhookEvent::Other)).collect())
}

/// The members of an object, each unread until it is asked for: a value that isn't asked for can't be wrong.
type Members<'a> = HashMap<String, &'a RawValue>;

fn member<'a, T: Deserialize<'a>>(members: &Members<'a>, name: &str) -> Option<T> {
    serde_json::from_str(members.get(name)?.get()).ok()
}

/// A follow, an unfollow, a beacon that was entered (LINE: "Common properties"); `None` for anything else.
fn acted_on(event: &RawValue) -> Option<WebhookEvent> {
    let event: Members<'_> = serde_json::from_str(event.get()).ok()?;
    let kind: String = member(&event, "type")?;
    let source: Members<'_> = member(&event, "source")?;
    if member::<String>(&source, "type")? != "user" {
        return None;
    }
    let line_user_id = member(&source, "userId")?;
    let at = Timestamp::from_millis(member(&event, "timestamp")?)?;
    let id = member(&event, "webhookEventId")?;
    match kind.as_str() {
        "beacon" => {
            let beacon: Members<'_> = member(&event, "beacon")?;
            let hwid = member(&beacon, "hwid")?;
            (member::<String>(&beacon, "type")? == "enter").then_some(WebhookEvent::Beacon {
                line_user_id,
                at,
                id,
                hwid,
            })
        }
        "follow" => Some(WebhookEvent::Follow { line_user_id, at, id }),
        "unfollow" => Some(WebhookEvent::Unfollow { line_user_id, at, id }),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::{Value, json};

    // LINE's published known answer ("Verify webhook signature").
    const SECRET: &str = "8c570fa6dd201bb328f1c1eac23a96d8";
    const BODY: &[u8] = br#"{"destination":"U8e742f61d673b39c7fff3cecb7536ef0","events":[]}"#;
    const SIGNATURE: &str = "GhRKmvmHys4Pi8DxkF4+EayaH0OqtJtaZxgTD9fMDLs=";

    const HANAKO: &str = "U0123456789abcdef0123456789abcdef";
    const TARO: &str = "Ufedcba9876543210fedcba9876543210";

    fn signed_with(body: &[u8], signature: &str, secrets: &[&str]) -> bool {
        let secrets: Vec<SecretString> = secrets.iter().map(|&secret| secret.into()).collect();
        is_signed(body, signature, secrets.iter())
    }

    #[test]
    fn lines_known_answer_is_signed() {
        assert!(signed_with(BODY, SIGNATURE, &[SECRET]));
    }

    #[test]
    fn a_beacon_that_was_entered_is_read_and_banners_stays_and_other_ids_are_not() {
        let body = |beacon: Value| {
            let source = json!({"type": "user", "userId": HANAKO});
            let event =
                json!({"type": "beacon", "timestamp": 1, "webhookEventId": "01HX", "source": source, "beacon": beacon});
            serde_json::to_vec(&json!({"events": [event]})).unwrap()
        };
        let read = |beacon: Value| read(&body(beacon)).unwrap().remove(0);
        let entered = read(json!({"type": "enter", "hwid": "0123456789", "dm": "ff"}));
        assert!(matches!(entered, WebhookEvent::Beacon { hwid, .. } if hwid.as_str() == "0123456789"));
        for other in [
            json!({"type": "stay", "hwid": "0123456789"}),
            json!({"type": "enter", "hwid": "ABCDEF0123"}),
            json!({"type": "enter"}),
        ] {
            assert_eq!(read(other), WebhookEvent::Other);
        }
    }

    #[test]
    fn while_a_secret_is_replaced_both_sign() {
        assert!(signed_with(BODY, SIGNATURE, &["the-new-one", SECRET]));
        assert!(signed_with(BODY, SIGNATURE, &[SECRET, "the-old-one"]));
        assert!(!signed_with(BODY, SIGNATURE, &["the-new-one", "the-old-one"]));
        assert!(!signed_with(BODY, SIGNATURE, &[]));
    }

    #[test]
    fn one_changed_byte_is_not_signed() {
        for at in [0, 20, BODY.len() - 1] {
            let mut changed = BODY.to_vec();
            changed[at] ^= 1;
            assert!(!signed_with(&changed, SIGNATURE, &[SECRET]), "byte {at}");
        }
        assert!(!signed_with(&[BODY, b"\n"].concat(), SIGNATURE, &[SECRET]));
    }

    #[test]
    fn only_the_one_spelling_of_base64_is_a_signature() {
        let url_safe = SIGNATURE.replace('+', "-").replace('/', "_");
        let hex =
            STANDARD.decode(SIGNATURE).unwrap().iter().map(|byte| format!("{byte:02x}")).collect::<Vec<_>>().concat();
        // The last letter of a 32-byte value carries two unused bits: `t` has one of them set.
        let slack = SIGNATURE.replace("s=", "t=");
        let cut = STANDARD.encode(&STANDARD.decode(SIGNATURE).unwrap()[..16]);
        let spaced = format!(" {SIGNATURE}");
        let broken = format!("{}\n{}", &SIGNATURE[..20], &SIGNATURE[20..]);
        let bare = SIGNATURE.trim_end_matches('=');
        for bad in ["", "=", bare, &url_safe, &hex, &slack, &cut, &spaced, &broken, "\u{3042}"] {
            assert!(!signed_with(BODY, bad, &[SECRET]), "{bad:?}");
        }
    }

    #[test]
    fn an_empty_secret_signs_nothing() {
        // openssl dgst -sha256 -hmac "" of an empty body.
        assert!(!signed_with(b"", "thNnmggU2ex3L5XXeMNfxf8Wl8STcVZTxscSFEKSxa0=", &[""]));
    }

    fn event(kind: &str, user: &str, id: &str) -> Value {
        json!({"type": kind, "mode": "active", "timestamp": 1_779_535_800_123_i64, "webhookEventId": id,
            "source": {"type": "user", "userId": user}, "deliveryContext": {"isRedelivery": false},
            "replyToken": "0f3779fba3b349968c5d07db31eab56f", "follow": {"isUnblocked": true}})
    }

    fn read_events(events: &Value) -> Vec<WebhookEvent> {
        let body = json!({"destination": "U8e742f61d673b39c7fff3cecb7536ef0", "events": events});
        read(body.to_string().as_bytes()).unwrap()
    }

    fn follow(user: &str, id: &str) -> WebhookEvent {
        let at = "2026-05-23T11:30:00.123Z".parse().unwrap();
        WebhookEvent::Follow { line_user_id: user.parse().unwrap(), at, id: id.parse().unwrap() }
    }

    #[test]
    fn several_users_follow_and_unfollow_in_one_body() {
        let read = read_events(&json!([
            event("follow", HANAKO, "01HXXXXXXXXXXXXXXXXXXXXXX1"),
            event("unfollow", TARO, "01HXXXXXXXXXXXXXXXXXXXXXX2"),
        ]));
        assert_eq!(read[0], follow(HANAKO, "01HXXXXXXXXXXXXXXXXXXXXXX1"));
        assert!(matches!(&read[1], WebhookEvent::Unfollow { line_user_id, .. } if line_user_id.as_str() == TARO));
        assert_eq!(read.len(), 2);
    }

    #[test]
    fn without_events_there_are_none() {
        assert_eq!(read(BODY).unwrap(), []);
        for body in ["{}", r#"{"events":null}"#, r#"{"events":{}}"#, r#"{"events":"follow"}"#, " {\"events\":[]}\n"] {
            assert_eq!(read(body.as_bytes()).unwrap(), [], "{body}");
        }
    }

    #[test]
    fn what_is_no_json_object_is_no_webhook() {
        for body in
            ["", "events", "[]", "null", "1", "[[]]", r#"{"events":[]"#, r#"{"events":[]}{}"#, r#"{"events":[}]}"#]
        {
            assert!(read(body.as_bytes()).is_err(), "{body}");
        }
        assert!(read(b"\xff\xfe").is_err());
        assert!(read("[".repeat(100_000).as_bytes()).is_err());
    }

    #[test]
    fn what_cannot_be_read_in_one_webhook_event_never_spoils_the_others() {
        let whole = event("follow", HANAKO, "1");
        let changed = |member: &str, value: Value| {
            let mut event = whole.clone();
            event[member] = value;
            event
        };
        let gone = |member: &str| {
            let mut event = whole.clone();
            event.as_object_mut().unwrap().remove(member);
            event
        };
        let others = vec![
            json!(null),
            json!("follow"),
            json!([]),
            json!({}),
            gone("type"),
            changed("type", json!(5)),
            changed("type", json!("somethingNew")),
            changed("type", json!("message")),
            gone("source"),
            changed("source", json!(null)),
            changed("source", json!("user")),
            changed("source", json!({"type": "group", "groupId": "C1", "userId": HANAKO})),
            changed("source", json!(["user", HANAKO])),
            changed("source", json!({"type": "user"})),
            changed("source", json!({"type": "user", "userId": 5})),
            changed("source", json!({"type": "user", "userId": "U123"})),
            gone("timestamp"),
            changed("timestamp", json!("1779535800123")),
            changed("timestamp", json!(1.5)),
            changed("timestamp", json!(i64::MAX)),
            gone("webhookEventId"),
            changed("webhookEventId", json!("a#b")),
            changed("webhookEventId", json!(7)),
        ];
        for other in others {
            assert_eq!(
                read_events(&json!([other, event("follow", HANAKO, "2")])),
                [WebhookEvent::Other, follow(HANAKO, "2")],
                "{other}"
            );
        }
    }

    #[test]
    fn half_an_emoji_or_an_endless_number_spoils_nothing() {
        let bad = r#"{"type":"message","message":{"text":"\ud83d"},"timestamp":1e999}"#;
        let body = format!(r#"{{"events":[{bad},{}],"x":1e999}}"#, event("follow", HANAKO, "2"));
        assert_eq!(read(body.as_bytes()).unwrap(), [WebhookEvent::Other, follow(HANAKO, "2")]);
    }

    #[test]
    fn members_that_line_may_add_are_passed_over() {
        let mut new = event("follow", HANAKO, "1");
        new["source"]["name"] = json!({"first": "Hanako"});
        new["brandNew"] = json!([1, {"a": null}]);
        assert_eq!(read_events(&json!([new])), [follow(HANAKO, "1")]);
    }
}
