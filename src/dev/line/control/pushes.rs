//! What was accepted, and what was asked.

use serde_json::json;

use super::input::{Asked, listed};
use crate::dev::line::{
    answer::{Answer, Outcome},
    endpoint::Endpoint,
    ledger::{PushFilter, With},
    platform::Platform,
};

/// Accepted pushes and replies; any number of them unless `limit` says otherwise.
pub(super) fn list(platform: &Platform, asked: &Asked) -> Outcome {
    asked.only(&["channel", "user", "retryKey", "shown", "after", "limit", "messages"])?;
    let filter = PushFilter {
        channel: asked.text("channel").map(str::to_owned),
        user_id: asked.text("user").map(str::to_owned),
        retry_key: asked.text("retryKey").map(str::to_owned),
        shown: asked.parsed("shown")?,
        after: asked.parsed("after")?.unwrap_or(0),
        limit: asked.parsed("limit")?,
    };
    let with = if asked.parsed("messages")? == Some(false) { With::Nothing } else { With::Messages };
    let ledger = platform.ledger();
    let (total, shown) = ledger.count_pushes(&filter)?;
    let pushes = ledger.pushes(&filter, with)?;
    Ok(Answer::json(200, &json!({ "total": total, "shown": shown, "pushes": pushes })))
}

pub(super) fn retry_keys(platform: &Platform, asked: &Asked) -> Outcome {
    asked.only(&["channel"])?;
    Ok(listed("retryKeys", platform.ledger().retry_keys(asked.text("channel"))?))
}

/// `{"endpoints":{"push":{"200":8,"409":1,"dropped":1}}}`.
pub(super) fn counts(platform: &Platform) -> Answer {
    listed("endpoints", platform.journal().counts())
}

pub(super) fn log(platform: &Platform, asked: &Asked) -> Outcome {
    asked.only(&["endpoint", "after"])?;
    if let Some(name) = asked.text("endpoint").filter(|name| Endpoint::named(name).is_none()) {
        return Err(Answer::message(400, &format!("no endpoint `{name}`; there are: {}", Endpoint::names())));
    }
    let after = asked.parsed("after")?.unwrap_or(0);
    Ok(listed("requests", platform.journal().log(asked.text("endpoint"), after)))
}
