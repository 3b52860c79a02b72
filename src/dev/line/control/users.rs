//! Users: made, related, given ID tokens, and their phones read.

use serde::Deserialize;
use serde_json::{Value, json};

use super::input::{Asked, listed};
use crate::dev::line::{
    answer::{Answer, Outcome},
    chance,
    jws::{self, IdTokenOrder, Subject},
    ledger::{PushFilter, Relation, With},
    platform::Platform,
    webhooks::{self, WebhookOrder},
};

/// An order for one user or many.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
pub struct NewUsers {
    name: Option<String>,
    user_id: Option<String>,
    /// A friend unless it says otherwise.
    relation: Option<Relation>,
    /// Short for the relations `friend` and `notFriend`.
    friend: Option<bool>,
    /// The channels that know the user; all if left out.
    channels: Option<Vec<String>>,
    /// Makes so many, numbered after the name.
    count: Option<u32>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(super) struct NewRelation {
    channel: Option<String>,
    relation: Relation,
    /// Sends the `follow` or `unfollow` that LINE would.
    #[serde(default)]
    webhook: bool,
}

/// Answers 201 with the user, or with `{"users":[ids]}` where a count was given.
pub(super) fn make(platform: &Platform, order: &NewUsers) -> Outcome {
    let Some(count) = order.count else {
        let user_id = order.make(platform, "")?;
        return show(platform, &user_id).map(|answer| Answer { status: 201, ..answer });
    };
    if order.user_id.is_some() {
        return Err(Answer::message(400, "`userId` and `count` don't go together"));
    }
    let made: Result<Vec<_>, _> = (1..=count).map(|number| order.make(platform, &format!(" {number}"))).collect();
    Ok(Answer { status: 201, ..listed("users", made?) })
}

impl NewUsers {
    /// Returns the order for a friend of every channel.
    pub fn friend(name: &str, user_id: Option<&str>) -> Self {
        Self { name: Some(name.to_owned()), user_id: user_id.map(str::to_owned), ..Self::default() }
    }

    /// Makes one user and returns the id.
    pub fn make(&self, platform: &Platform, number: &str) -> Result<String, Answer> {
        let user_id = self.user_id.clone().unwrap_or_else(chance::user_id);
        if !chance::is_id(&user_id, 'U') {
            return Err(Answer::message(400, "a `userId` is `U` and 32 lower-case hex digits"));
        }
        let relation = self.relation.unwrap_or(match self.friend {
            Some(false) => Relation::NotFriend,
            _ => Relation::Friend,
        });
        let channels = match &self.channels {
            Some(names) => names.clone(),
            None => platform.channels.iter().map(|channel| channel.name().to_owned()).collect(),
        };
        for name in &channels {
            platform.channel(Some(name))?;
        }
        let relations: Vec<_> = channels.into_iter().map(|channel| (channel, relation)).collect();
        let name = format!("{}{number}", self.name.as_deref().unwrap_or("花子"));
        platform.ledger().put_user(&user_id, &name, &relations, platform.clock.now_ms())?;
        Ok(user_id)
    }
}

pub(super) fn list(platform: &Platform) -> Outcome {
    Ok(listed("users", platform.ledger().users(None)?))
}

pub(super) fn show(platform: &Platform, user_id: &str) -> Outcome {
    platform.user_name(user_id)?;
    let found = platform.ledger().users(Some(user_id))?;
    Ok(Answer::json(200, &json!(found.first())))
}

pub(super) async fn relate(platform: &Platform, user_id: &str, order: NewRelation) -> Outcome {
    platform.user_name(user_id)?;
    let channel = platform.channel(order.channel.as_deref())?;
    if order.webhook && channel.now().webhook_url.is_none() {
        return Err(webhooks::no_url(channel));
    }
    let before = platform.ledger().relation(channel.name(), user_id)?.map(|(relation, _)| relation);
    platform.ledger().set_relation(channel.name(), user_id, order.relation)?;
    let deliveries = match friendship_event(user_id, before, order.relation) {
        Some(event) if order.webhook => {
            let channel = Some(channel.name().to_owned());
            webhooks::send(platform, &WebhookOrder { channel, events: vec![event], ..WebhookOrder::default() }).await?
        }
        _ => Vec::new(),
    };
    let body = json!({
        "userId": user_id, "channel": channel.name(), "relation": order.relation, "deliveries": deliveries,
    });
    Ok(Answer::json(200, &body))
}

/// `follow` for a friend, `unfollow` for a user who blocked the account; the rest sends nothing.
fn friendship_event(user_id: &str, before: Option<Relation>, now: Relation) -> Option<Value> {
    match now {
        Relation::Friend => {
            let unblocked = before == Some(Relation::Blocked);
            Some(json!({ "type": "follow", "userId": user_id, "follow": { "isUnblocked": unblocked } }))
        }
        Relation::Blocked => Some(json!({ "type": "unfollow", "userId": user_id })),
        Relation::Deleted | Relation::NotFriend => None,
    }
}

pub(super) fn id_token(platform: &Platform, user_id: &str, order: &IdTokenOrder) -> Outcome {
    Ok(Answer::json(200, &json!({ "idToken": mint(platform, user_id, order)? })))
}

/// Answers with the token alone as text, for a shell: `$(curl -s …/id-token?channel=main)`.
pub(super) fn bare_id_token(platform: &Platform, user_id: &str, asked: &Asked) -> Outcome {
    asked.only(&["channel", "age", "expiresIn"])?;
    let order = IdTokenOrder {
        channel: asked.text("channel").map(str::to_owned),
        age: asked.parsed("age")?,
        expires_in: asked.parsed("expiresIn")?,
        ..IdTokenOrder::default()
    };
    Ok(Answer::text(200, &mint(platform, user_id, &order)?))
}

/// Returns an ID token of a user that the control API made.
pub fn mint(platform: &Platform, user_id: &str, order: &IdTokenOrder) -> Result<String, Answer> {
    let name = platform.user_name(user_id)?;
    let channel = platform.channel(order.channel.as_deref())?;
    let subject = Subject {
        user_id,
        name: &name,
        aud: channel.settings.login_channel_ids.first().map(String::as_str).unwrap_or_default(),
        login_secret: channel.settings.login_channel_secret.as_deref(),
    };
    jws::mint(order, &subject, &platform.keyring(), platform.clock.now_ms()).map_err(|why| Answer::message(400, &why))
}

pub(super) fn phone_of(platform: &Platform, user_id: &str, asked: &Asked) -> Outcome {
    asked.only(&["channel"])?;
    platform.user_name(user_id)?;
    Ok(listed("messages", phone(platform, user_id, asked.text("channel"))?))
}

/// Returns what the user's phone shows, in the order it arrived: one entry a message.
pub fn phone(platform: &Platform, user_id: &str, channel: Option<&str>) -> Result<Vec<Value>, Answer> {
    let filter = PushFilter {
        user_id: Some(user_id.to_owned()),
        channel: channel.map(str::to_owned),
        shown: Some(true),
        ..PushFilter::default()
    };
    let pushes = platform.ledger().pushes(&filter, With::Messages)?;
    let mut shown = Vec::new();
    for push in &pushes {
        let messages = push.messages.as_ref().and_then(Value::as_array).into_iter().flatten();
        for (message, sent) in messages.zip(push.sent_messages.as_array().into_iter().flatten()) {
            shown.push(json!({
                "id": sent["id"], "message": message, "channel": push.channel, "kind": push.kind,
                "deliveredAt": push.accepted_at, "requestId": push.request_id, "retryKey": push.retry_key,
            }));
        }
    }
    Ok(shown)
}
