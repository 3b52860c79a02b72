use secrecy::SecretString;

use super::*;
use crate::line::messaging::reply::ReplyError;

const REPLY: &str = "/v2/bot/message/reply";
const TOKEN: &str = "nHuyWiB7yP5Zw52FIkcQobQuGDXCTA";

async fn reply(messenger: &Messenger) -> Result<Accepted, ReplyError> {
    messenger.reply(&SecretString::from(TOKEN), &message()).await
}

async fn reply_answered(answer: impl Fn() -> Reply + Send + Sync + 'static) -> Result<Accepted, ReplyError> {
    let line = LineStub::start(move |_| answer());
    reply(&long_lived(line.platform())).await
}

#[tokio::test]
async fn a_reply_carries_its_token_and_no_retry_key() {
    let line = LineStub::start(|_| sent());
    let accepted = reply(&long_lived(line.platform())).await.unwrap();
    assert_eq!(accepted, Accepted { request_id: Some("req-1".to_owned()), before: false });
    let asked = &line.asked(REPLY)[0];
    assert_eq!((asked.method.as_str(), bearer(asked)), ("POST", "Bearer the-long-lived-token"));
    assert!(!asked.headers.contains_key("x-line-retry-key"));
    let body: Value = serde_json::from_str(&asked.body).unwrap();
    assert_eq!(body, json!({"replyToken": TOKEN, "messages": [message()]}));
    assert_eq!(line.count(REPLY), 1);
}

#[tokio::test]
async fn a_400_is_a_clear_no_in_lines_words() {
    let said = json!({"message": "Invalid reply token"});
    let failed = reply_answered(move || Reply::json(400, &said)).await.unwrap_err();
    let ReplyError::Refused { status: 400, message } = failed else { panic!("{failed:?}") };
    assert_eq!(message, "Invalid reply token");
    for status in [404, 409, 410, 413, 415, 499] {
        let failed = reply_answered(move || Reply::text(status, "")).await;
        assert!(matches!(failed, Err(ReplyError::Refused { .. })), "{status}: {failed:?}");
    }
}

#[tokio::test]
async fn too_many_and_unreachable_are_a_clear_no_too() {
    let too_many = reply_answered(|| Reply::text(429, "{}").with("retry-after", "7")).await;
    let after = Some(RetryAfter::Seconds(7));
    assert!(matches!(too_many, Err(ReplyError::TooMany { retry_after }) if retry_after == after), "{too_many:?}");
    let failed = reply(&long_lived(unreachable())).await;
    assert!(matches!(failed, Err(ReplyError::Unreachable { .. })), "{failed:?}");
}

#[tokio::test]
async fn what_is_not_lines_word_on_the_reply_is_ambiguous() {
    for status in [500, 502, 503, 504, 301, 408] {
        let failed = reply_answered(move || Reply::text(status, "<html>")).await;
        assert!(matches!(failed, Err(ReplyError::Ambiguous { .. })), "{status}: {failed:?}");
    }
    for status in [200, 400, 401, 429] {
        let failed = reply_answered(move || by_proxy(status, "<html>")).await;
        assert!(matches!(failed, Err(ReplyError::Ambiguous { .. })), "{status}: {failed:?}");
    }
    let lost = reply_answered(|| Reply::Close).await;
    assert!(matches!(lost, Err(ReplyError::Ambiguous { .. })), "{lost:?}");
}

#[tokio::test]
async fn a_refused_channel_token_is_replaced_once() {
    let line = issuing(|asked| match bearer(asked) {
        "Bearer token-1" => Reply::json(401, &json!({"message": "no"})),
        _ => sent(),
    });
    reply(&stateless(line.platform(), &clock())).await.unwrap();
    assert_eq!((line.count(ISSUE), line.count(REPLY)), (2, 2));
    let refused = reply_answered(|| Reply::json(403, &json!({"message": "no"}))).await;
    assert!(matches!(refused, Err(ReplyError::Unauthorized { status: 403, .. })), "{refused:?}");
}

#[tokio::test]
async fn no_error_shows_a_token_or_the_message() {
    let answers: [fn() -> Reply; 3] = [|| Reply::Close, || Reply::text(500, TOKEN), || Reply::json(400, &json!({}))];
    for answer in answers {
        let shown = shown(&reply_answered(answer).await.unwrap_err());
        assert!(![TOKEN, LONG_LIVED, "スタンプ"].iter().any(|secret| shown.contains(secret)), "{shown}");
    }
}
