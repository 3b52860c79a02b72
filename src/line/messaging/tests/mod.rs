//! Hanako gets her message, or we know what to do about it.

mod push;
mod reply;
mod token;

use std::{
    error::Error,
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
};

use futures_util::future::join_all;
use serde_json::json;

use super::{
    super::stub::{LineStub, Reply, Request, by_proxy, clock, shown, unreachable},
    *,
};
use crate::domain::manual_clock::ManualClock;

const ISSUE: &str = "/oauth2/v3/token";
const HANAKO: &str = "U0123456789abcdef0123456789abcdef";
const LONG_LIVED: &str = "the-long-lived-token";
const CHANNEL_SECRET: &str = "the-channel-secret";
const KEY: Uuid = Uuid::from_u128(0xa899_849e_45bd_51cd_b516_408b_d4ea_6e78);

fn long_lived(platform: Platform) -> Messenger {
    Messenger::new(platform, Access::LongLived(LONG_LIVED.into()), clock())
}

fn stateless(platform: Platform, clock: &Arc<ManualClock>) -> Messenger {
    let access =
        Access::Stateless { messaging_channel_id: "1234567890".to_owned(), channel_secret: CHANNEL_SECRET.into() };
    Messenger::new(platform, access, clock.clone())
}

fn message() -> Value {
    json!({"type": "flex", "altText": "スタンプ", "contents": {"type": "bubble"}})
}

async fn push(messenger: &Messenger) -> Result<Accepted, PushError> {
    messenger.push(&HANAKO.parse().unwrap(), &message(), KEY).await
}

async fn push_answered(answer: impl Fn() -> Reply + Send + Sync + 'static) -> Result<Accepted, PushError> {
    let line = LineStub::start(move |_| answer());
    push(&long_lived(line.platform())).await
}

fn sent() -> Reply {
    Reply::json(200, &json!({"sentMessages": [{"id": "461230966842064897"}]})).with("x-line-request-id", "req-1")
}

/// Issues `token-1`, `token-2`, …; the rest is the test's.
fn issuing(answers: impl Fn(&Request) -> Reply + Send + Sync + 'static) -> LineStub {
    let issued = AtomicUsize::new(0);
    LineStub::start(move |asked| match asked.path.as_str() {
        ISSUE => {
            let n = issued.fetch_add(1, Ordering::SeqCst) + 1;
            Reply::json(200, &json!({"token_type": "Bearer", "access_token": format!("token-{n}"), "expires_in": 900}))
        }
        _ => answers(asked),
    })
}

fn bearer(asked: &Request) -> &str {
    &asked.headers["authorization"]
}

async fn quota(limit: Value, used: Value) -> Result<Quota, LineError> {
    let line = LineStub::start(move |asked| match asked.path.as_str() {
        QUOTA => Reply::json(200, &limit),
        _ => Reply::json(200, &used),
    });
    long_lived(line.platform()).quota().await
}

#[tokio::test]
async fn the_quota_is_the_limit_and_what_is_used_of_it() {
    let used = || json!({"totalUsage": 200});
    let limited = quota(json!({"type": "limited", "value": 200}), used()).await.unwrap();
    assert_eq!(limited, Quota { limit: Some(200), used: 200 });
    assert!(limited.is_used_up() && !Quota { limit: Some(201), used: 200 }.is_used_up());
    let free = quota(json!({"type": "none"}), used()).await.unwrap();
    assert_eq!(free, Quota { limit: None, used: 200 });
    assert!(!free.is_used_up());
    assert!(matches!(quota(json!({"type": "limited"}), used()).await, Err(LineError::Broken { .. })));
    assert!(matches!(quota(json!({"type": "none"}), json!({})).await, Err(LineError::Broken { .. })));
}

#[tokio::test]
async fn an_unknown_quota_says_what_can_be_done() {
    let line = LineStub::start(|_| Reply::text(500, ""));
    assert!(matches!(long_lived(line.platform()).quota().await, Err(LineError::Unavailable { .. })));
    assert!(matches!(long_lived(unreachable()).quota().await, Err(LineError::Unavailable { .. })));
    let line = issuing(|_| Reply::json(401, &json!({"message": "no"})));
    let failed = stateless(line.platform(), &clock()).quota().await;
    assert!(matches!(failed, Err(LineError::Refused { status: 401, .. })));
    assert_eq!((line.count(ISSUE), line.count(QUOTA)), (2, 2));
}

#[tokio::test]
async fn a_quota_from_a_proxy_is_not_lines() {
    let line = LineStub::start(|_| by_proxy(200, r#"{"type": "limited", "value": 0, "totalUsage": 0}"#));
    assert!(matches!(long_lived(line.platform()).quota().await, Err(LineError::Unavailable { .. })));
}

#[tokio::test]
async fn no_error_and_no_debug_shows_a_token_a_secret_or_a_message() {
    let answers: [fn(&Request) -> Reply; 5] = [
        |_| Reply::Close,
        |_| Reply::text(500, "token-1 the-channel-secret"),
        |_| Reply::json(401, &json!({})),
        |_| Reply::json(400, &json!({})),
        |_| Reply::json(200, &json!({"access_token": ["token-1"]})),
    ];
    for answer in answers {
        let line = LineStub::start(answer);
        let held = issuing(answer);
        for messenger in
            [long_lived(line.platform()), stateless(line.platform(), &clock()), stateless(held.platform(), &clock())]
        {
            let failed = push(&messenger).await.err().map(|error| shown(&error)).unwrap_or_default();
            let unread = messenger.quota().await.err().map(|error| shown(&error)).unwrap_or_default();
            let all = format!("{failed} {unread} {messenger:?}");
            for secret in [LONG_LIVED, CHANNEL_SECRET, "token-1", "token-2", "スタンプ"] {
                assert!(!all.contains(secret), "{all}");
            }
        }
    }
    let access = Access::Stateless { messaging_channel_id: "1".to_owned(), channel_secret: CHANNEL_SECRET.into() };
    assert!(!format!("{access:?}").contains(CHANNEL_SECRET));
}
