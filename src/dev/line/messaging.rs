//! The Messaging API: push, reply, validate, quota, profile, bot info.

use serde_json::{Value, json};

use super::{
    answer::{Answer, Outcome},
    chance,
    endpoint::{Call, Endpoint, profile_user},
    faults::{MONTHLY_LIMIT, RATE_LIMITED},
    ledger::{Acceptance, NewPush, Rate, TokenState, Way},
    messages,
    platform::{Channel, Platform},
    tokens,
};

const RETRY_KEY: &str = "x-line-retry-key";
const UNKNOWN_RECIPIENT: &str = "Failed to send messages";

/// A channel whose token was good, and what its rate bucket said. Every attempt takes from the
/// bucket, also one that is refused for another reason.
struct Sender<'a> {
    channel: &'a Channel,
    rate: Rate,
    now_ms: i64,
}

fn sender<'a>(platform: &'a Platform, call: &Call) -> Result<Sender<'a>, Answer> {
    let (place, channel) = tokens::authorise(platform, &call.headers)?;
    let now_ms = platform.clock.now_ms();
    let rate = platform.switches().take(place, call.endpoint, now_ms);
    Ok(Sender { channel, rate, now_ms })
}

impl Sender<'_> {
    fn within_rate(&self) -> Result<(), Answer> {
        match self.rate {
            Rate::Exceeded => Err(Answer::message(429, RATE_LIMITED)),
            Rate::Within => Ok(()),
        }
    }
}

/// `POST /v2/bot/message/push`: token, JSON, shape, messages, recipient, retry key, rate, quota, in
/// this order (LINE's own is unconfirmed).
pub(super) fn push(platform: &Platform, call: &Call) -> Outcome {
    let sender = sender(platform, call)?;
    let body = json_body(call)?;
    let to = recipient(&body)?;
    let messages = checked_messages(&body)?;
    let retry_key = retry_key(call)?;
    let quota = sender.channel.now().quota;
    let acceptance = platform.ledger().accept(&NewPush {
        channel: sender.channel.name(),
        user_id: to,
        request_id: &call.request_id,
        messages,
        now_ms: sender.now_ms,
        way: Way::Push { retry_key: retry_key.as_deref(), quota, rate: sender.rate },
    })?;
    answer(acceptance)
}

/// `POST /v2/bot/message/reply`: never with a retry key; a reply token works once, for a minute.
pub(super) fn reply(platform: &Platform, call: &Call) -> Outcome {
    let sender = sender(platform, call)?;
    if call.headers.contains_key(RETRY_KEY) {
        return Err(Answer::message(400, "The X-Line-Retry-Key header is not supported for this endpoint"));
    }
    let body = json_body(call)?;
    let token = text_member(&body, "replyToken")?;
    let messages = checked_messages(&body)?;
    sender.within_rate()?;
    let mut ledger = platform.ledger();
    let TokenState::Good { target } = ledger.token_state(sender.channel.name(), token, sender.now_ms)? else {
        return Err(Answer::message(400, "Invalid reply token"));
    };
    let acceptance = ledger.accept(&NewPush {
        channel: sender.channel.name(),
        user_id: &target,
        request_id: &call.request_id,
        messages,
        now_ms: sender.now_ms,
        way: Way::Reply { token },
    })?;
    answer(acceptance)
}

fn answer(acceptance: Acceptance) -> Outcome {
    match acceptance {
        Acceptance::Accepted(sent) => Ok(Answer::json(200, &json!({ "sentMessages": sent }))),
        Acceptance::AlreadyAccepted { request_id, sent } => {
            let body = json!({ "message": "The retry key is already accepted", "sentMessages": sent });
            Err(Answer::json(409, &body).with("x-line-accepted-request-id", &request_id))
        }
        Acceptance::MonthlyLimit => Err(Answer::message(429, MONTHLY_LIMIT)),
        Acceptance::RateLimited => Err(Answer::message(429, RATE_LIMITED)),
        Acceptance::UnknownUser => Err(Answer::message(400, UNKNOWN_RECIPIENT)),
    }
}

/// `POST /v2/bot/message/validate/push`: checks the messages and sends nothing.
pub(super) fn validate(platform: &Platform, call: &Call) -> Outcome {
    let sender = sender(platform, call)?;
    if call.headers.contains_key(RETRY_KEY) {
        return Err(Answer::message(400, "The X-Line-Retry-Key header is not supported for this endpoint"));
    }
    let body = json_body(call)?;
    checked_messages(&body)?;
    sender.within_rate()?;
    Ok(Answer::json(200, &json!({})))
}

/// The four questions: quota, consumption, profile, bot info.
pub(super) fn question(platform: &Platform, call: &Call) -> Outcome {
    let sender = sender(platform, call)?;
    sender.within_rate()?;
    match call.endpoint {
        Endpoint::Consumption => {
            let used = platform.ledger().usage(sender.channel.name(), sender.now_ms)?;
            Ok(Answer::json(200, &json!({ "totalUsage": used })))
        }
        Endpoint::Info => Ok(Answer::json(200, &info(sender.channel))),
        Endpoint::Profile => profile(platform, &sender, profile_user(&call.path)),
        _ => Ok(Answer::json(
            200,
            &match sender.channel.now().quota {
                Some(value) => json!({ "type": "limited", "value": value }),
                None => json!({ "type": "none" }),
            },
        )),
    }
}

fn profile(platform: &Platform, sender: &Sender<'_>, user_id: &str) -> Outcome {
    if !chance::is_id(user_id, 'U') {
        return Err(Answer::message(400, "The value for the 'userId' parameter is invalid"));
    }
    let name = platform.ledger().profile_name(sender.channel.name(), user_id, sender.now_ms)?;
    let name = name.ok_or_else(|| Answer::message(404, "Not found"))?;
    Ok(Answer::json(200, &json!({ "displayName": name, "userId": user_id, "language": "ja" })))
}

fn info(channel: &Channel) -> Value {
    json!({
        "userId": channel.bot_id(),
        "basicId": format!("@{}", &channel.bot_id()[1..9]),
        "displayName": channel.name(),
        "chatMode": "bot",
        "markAsReadMode": "auto",
    })
}

fn json_body(call: &Call) -> Result<Value, Answer> {
    if !call.content_type().starts_with("application/json") {
        return Err(Answer::message(415, &format!("The content type, {}, is not supported", call.content_type())));
    }
    let parsed: serde_json::Result<Value> = serde_json::from_slice(&call.body);
    match parsed {
        Ok(body @ Value::Object(_)) => Ok(body),
        Ok(_) => Err(not_json(1, 1)),
        Err(error) => Err(not_json(error.line(), error.column())),
    }
}

fn not_json(line: usize, column: usize) -> Answer {
    Answer::message(400, &format!("The request body could not be parsed as JSON (line: {line}, column: {column})"))
}

/// `to` in the form of a user, group or room id.
fn recipient(body: &Value) -> Result<&str, Answer> {
    let to = text_member(body, "to")?;
    if ['U', 'C', 'R'].iter().any(|prefix| chance::is_id(to, *prefix)) { Ok(to) } else { Err(invalid_property("to")) }
}

fn text_member<'a>(body: &'a Value, name: &str) -> Result<&'a str, Answer> {
    match body.get(name) {
        None | Some(Value::Null) => Err(messages::general(&[messages::Fault::new("May not be empty", name)])),
        Some(Value::String(text)) if text.is_empty() => {
            Err(messages::general(&[messages::Fault::new("May not be empty", name)]))
        }
        Some(Value::String(text)) => Ok(text),
        Some(_) => Err(invalid_property(name)),
    }
}

fn checked_messages(body: &Value) -> Result<&[Value], Answer> {
    match body.get("messages") {
        None | Some(Value::Null) => Err(messages::general(&[messages::Fault::new("May not be empty", "messages")])),
        Some(Value::Array(found)) => messages::check(found).map(|()| found.as_slice()),
        Some(_) => Err(invalid_property("messages")),
    }
}

fn invalid_property(name: &str) -> Answer {
    Answer::message(400, &format!("The property, '{name}', in the request body is invalid (line: -, column: -)"))
}

/// The retry key in the one spelling that it is remembered by; 400 if it isn't 8-4-4-4-12 hex digits.
fn retry_key(call: &Call) -> Result<Option<String>, Answer> {
    let Some(value) = call.headers.get(RETRY_KEY) else { return Ok(None) };
    let value = value.to_str().unwrap_or_default();
    match uuid::Uuid::try_parse(value) {
        Ok(key) if value.len() == 36 => Ok(Some(key.to_string())),
        _ => Err(Answer::message(400, "The X-Line-Retry-Key header must be a UUID")),
    }
}
