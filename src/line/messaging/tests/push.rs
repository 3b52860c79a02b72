use super::*;
use crate::domain::trace::TraceContext;
use crate::line::trace;

#[tokio::test]
async fn a_push_carries_its_retry_key_from_the_first_attempt() {
    let line = LineStub::start(|_| sent());
    let accepted = push(&long_lived(line.platform())).await.unwrap();
    assert_eq!(accepted, Accepted { request_id: Some("req-1".to_owned()), before: false });
    let asked = &line.asked(PUSH)[0];
    assert_eq!(asked.method, "POST");
    assert_eq!(asked.headers["x-line-retry-key"], "a899849e-45bd-51cd-b516-408bd4ea6e78");
    assert_eq!(asked.headers["content-type"], "application/json");
    assert_eq!(bearer(asked), "Bearer the-long-lived-token");
    let body: Value = serde_json::from_str(&asked.body).unwrap();
    assert_eq!(body, json!({"to": HANAKO, "messages": [message()]}));
    assert_eq!(line.count(PUSH), 1);
}

#[tokio::test]
async fn push_belongs_to_the_trace_that_it_is_made_in() {
    let line = LineStub::start(|_| sent());
    let made_for = TraceContext::generate();
    trace::within(made_for, push(&long_lived(line.platform()))).await.unwrap();
    push(&long_lived(line.platform())).await.unwrap();
    let asked = line.asked(PUSH);
    assert_eq!(asked[0].headers["traceparent"], made_for.to_string());
    let own: TraceContext = asked[1].headers["traceparent"].parse().unwrap();
    assert_ne!(own.trace_id(), made_for.trace_id());
}

#[tokio::test]
async fn a_retry_key_that_was_accepted_before_is_success() {
    let said = json!({"message": "The retry key is already accepted"});
    let answer = move || {
        let answer = Reply::json(409, &said).with("x-line-request-id", "req-2");
        answer.with("x-line-accepted-request-id", "req-1")
    };
    let accepted = push_answered(answer).await.unwrap();
    assert_eq!(accepted, Accepted { request_id: Some("req-1".to_owned()), before: true });
}

#[tokio::test]
async fn a_2xx_is_accepted_whatever_its_body_says() {
    for body in ["", "<html>", "{\"sentMessages\":5}", &"x".repeat(1_000_000)] {
        let body = body.to_owned();
        assert!(push_answered(move || Reply::text(200, &body)).await.is_ok());
    }
    let broken =
        || Reply::Raw("HTTP/1.1 200 OK\r\nx-line-request-id: req-1\r\ncontent-length: 50\r\n\r\n{\"se".to_owned());
    assert_eq!(push_answered(broken).await.unwrap().request_id.as_deref(), Some("req-1"));
    let endless = || {
        Reply::RawAndHang("HTTP/1.1 200 OK\r\nx-line-request-id: req-1\r\ncontent-length: 50\r\n\r\n{\"se".to_owned())
    };
    assert!(push_answered(endless).await.is_ok());
}

#[tokio::test]
async fn a_push_to_a_port_where_nothing_listens_never_left() {
    let failed = push(&long_lived(unreachable())).await.unwrap_err();
    assert!(matches!(failed, PushError::Unreachable { .. }), "{failed:?}");
    assert!(failed.source().is_some());
}

#[tokio::test]
async fn a_connection_lost_after_the_push_left_is_ambiguous() {
    let broken_head = || Reply::Raw("HTTP/1.1 2".to_owned());
    for failed in [push_answered(|| Reply::Close).await, push_answered(broken_head).await] {
        assert!(matches!(failed, Err(PushError::Ambiguous { .. })), "{failed:?}");
    }
}

#[tokio::test]
async fn a_connection_that_line_closed_meanwhile_is_not_written_to_twice() {
    let line = LineStub::start(|asked| if asked.path == PUSH { Reply::Close } else { Reply::json(200, &json!({})) });
    let messenger = long_lived(line.platform());
    // The first call leaves a connection in the pool; the push takes it, and it breaks after the push left.
    assert!(messenger.quota().await.is_err());
    assert!(matches!(push(&messenger).await, Err(PushError::Ambiguous { .. })));
    assert_eq!(line.count(PUSH), 1);
}

#[tokio::test]
async fn a_push_without_an_answer_in_time_is_ambiguous() {
    let line = LineStub::start(|_| Reply::Hang);
    let failed = push(&long_lived(line.platform_within(Duration::from_millis(200)))).await.unwrap_err();
    assert!(matches!(failed, PushError::Ambiguous { .. }), "{failed:?}");
}

#[tokio::test]
async fn what_is_not_lines_word_on_the_message_is_ambiguous() {
    for status in [500, 502, 503, 504, 301, 302, 408] {
        let elsewhere = move || Reply::text(status, "<html>").with("location", "http://127.0.0.1:1/");
        let failed = push_answered(elsewhere).await;
        assert!(matches!(failed, Err(PushError::Ambiguous { .. })), "{status}: {failed:?}");
    }
}

#[tokio::test]
async fn an_answer_without_lines_request_id_is_ambiguous_whatever_its_status() {
    for status in [200, 204, 302, 400, 401, 403, 404, 407, 409, 413, 425, 429, 451, 500, 503, 511] {
        let line = LineStub::start(move |_| by_proxy(status, "<html>Log in to go on</html>"));
        let failed = push(&long_lived(line.platform())).await.unwrap_err();
        assert!(matches!(failed, PushError::Ambiguous { .. }), "{status}: {failed:?}");
        assert!(shown(&failed).contains("not LINE's"), "{failed:?}");
        assert_eq!(line.count(PUSH), 1);
    }
    let accepted_elsewhere = || by_proxy(409, "{}").with("x-line-accepted-request-id", "req-1");
    assert!(matches!(push_answered(accepted_elsewhere).await, Err(PushError::Ambiguous { .. })));
    let without_a_value = || by_proxy(200, "{}").with("x-line-request-id", "");
    assert!(matches!(push_answered(without_a_value).await, Err(PushError::Ambiguous { .. })));
}

#[tokio::test]
async fn a_retry_after_comes_with_the_failure_of_line_and_of_a_proxy() {
    let answers: [fn() -> Reply; 4] =
        [|| Reply::text(429, "{}"), || Reply::text(503, ""), || by_proxy(503, ""), || by_proxy(200, "<html>")];
    for answer in answers {
        let failed = push_answered(move || answer().with("retry-after", "7")).await.unwrap_err();
        assert_eq!(failed.retry_after(), Some(RetryAfter::Seconds(7)), "{failed:?}");
        let failed = push_answered(move || answer().with("retry-after", "Sat, 23 May 2026 11:30:20 GMT")).await;
        let at = RetryAfter::At("2026-05-23T11:30:20.000Z".parse().unwrap());
        assert_eq!(failed.unwrap_err().retry_after(), Some(at));
        assert_eq!(push_answered(answer).await.unwrap_err().retry_after(), None);
    }
}

#[tokio::test]
async fn the_two_429s_are_distinguished_and_an_unclear_one_is_the_rate() {
    let answered = async |said: &str| {
        let body = json!({"message": said});
        push_answered(move || Reply::json(429, &body)).await.unwrap_err()
    };
    assert!(matches!(answered("You have reached your monthly limit.").await, PushError::MonthlyLimit));
    assert!(matches!(answered("Monthly Limit reached").await, PushError::MonthlyLimit));
    assert!(matches!(
        answered("The API rate limit has been exceeded. Try again later.").await,
        PushError::RateLimited { .. }
    ));
    assert!(matches!(push_answered(|| Reply::text(429, "<html>")).await, Err(PushError::RateLimited { .. })));
}

#[tokio::test]
async fn other_4xx_refuse_this_message_in_lines_words() {
    let body = json!({"message": "A message (messages[0]) in the request body is invalid",
        "details": [{"message": "May not be empty", "property": "/body/contents/0/text"}]});
    let failed = push_answered(move || Reply::json(400, &body)).await.unwrap_err();
    let PushError::Refused { status: 400, message } = failed else { panic!("{failed:?}") };
    assert_eq!(
        message,
        "A message (messages[0]) in the request body is invalid; /body/contents/0/text: May not be empty"
    );
    for status in [400, 404, 410, 413, 415, 499] {
        let failed = push_answered(move || Reply::text(status, "")).await;
        assert!(matches!(failed, Err(PushError::Refused { .. })), "{status}: {failed:?}");
    }
}

#[tokio::test]
async fn lines_words_are_kept_to_500_characters_and_endless_ones_not_read() {
    let long = json!({"message": "あ".repeat(2_000)});
    let failed = push_answered(move || Reply::json(400, &long)).await.unwrap_err();
    assert!(matches!(failed, PushError::Refused { message, .. } if message == "あ".repeat(500)));
    let endless = json!({"message": "a".repeat(1_000_000)});
    let failed = push_answered(move || Reply::json(400, &endless)).await.unwrap_err();
    assert!(matches!(failed, PushError::Refused { message, .. } if message.is_empty()));
}
