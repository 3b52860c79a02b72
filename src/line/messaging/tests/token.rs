use super::*;

#[tokio::test]
async fn a_refused_long_lived_token_is_not_used_again() {
    for status in [401, 403] {
        let line = LineStub::start(move |_| Reply::json(status, &json!({"message": "Authentication failed."})));
        let messenger = long_lived(line.platform());
        messenger.renew_token();
        let failed = push(&messenger).await.unwrap_err();
        assert!(matches!(failed, PushError::Unauthorized { status: found, message }
            if found == status && message == "Authentication failed."));
        assert_eq!((line.count(PUSH), line.count(ISSUE)), (1, 0));
    }
}

#[tokio::test]
async fn a_stateless_token_is_issued_once_and_used_until_a_minute_before_its_end() {
    let (line, clock) = (issuing(|_| sent()), clock());
    let messenger = stateless(line.platform(), &clock);
    push(&messenger).await.unwrap();
    clock.advance(Duration::from_millis(839_999));
    push(&messenger).await.unwrap();
    assert_eq!(line.count(ISSUE), 1);
    clock.advance(Duration::from_millis(1));
    push(&messenger).await.unwrap();
    assert_eq!(line.count(ISSUE), 2);
    let pushes = line.asked(PUSH);
    assert_eq!(pushes.iter().map(bearer).collect::<Vec<_>>(), ["Bearer token-1", "Bearer token-1", "Bearer token-2"]);
    let form = &line.asked(ISSUE)[0];
    assert_eq!(form.headers["content-type"], "application/x-www-form-urlencoded");
    assert_eq!(form.body, "grant_type=client_credentials&client_id=1234567890&client_secret=the-channel-secret");
}

#[tokio::test]
async fn a_hundred_first_pushes_share_one_issued_token() {
    let (line, clock) = (issuing(|_| sent()), clock());
    let messenger = stateless(line.platform(), &clock);
    let outcomes = join_all((0..100).map(|_| push(&messenger))).await;
    assert!(outcomes.iter().all(Result::is_ok));
    assert_eq!((line.count(ISSUE), line.count(PUSH)), (1, 100));
}

#[tokio::test]
async fn a_refused_token_is_replaced_once_and_the_push_repeated_with_the_same_key() {
    for status in [401, 403] {
        let line = issuing(move |asked| {
            if bearer(asked) == "Bearer token-1" { Reply::json(status, &json!({"message": "no"})) } else { sent() }
        });
        let messenger = stateless(line.platform(), &clock());
        assert!(push(&messenger).await.is_ok());
        assert_eq!(line.count(ISSUE), 2);
        let pushes = line.asked(PUSH);
        assert_eq!(pushes.iter().map(bearer).collect::<Vec<_>>(), ["Bearer token-1", "Bearer token-2"]);
        assert_eq!(pushes[0].headers["x-line-retry-key"], pushes[1].headers["x-line-retry-key"]);
        assert_eq!(pushes[0].body, pushes[1].body);
    }
}

#[tokio::test]
async fn a_flood_of_refusals_of_one_token_replaces_it_once() {
    let line = issuing(|asked| if bearer(asked) == "Bearer token-1" { Reply::json(401, &json!({})) } else { sent() });
    let messenger = stateless(line.platform(), &clock());
    // All hundred set out with the first token.
    messenger.token.current().await.unwrap();
    let outcomes = join_all((0..100).map(|_| push(&messenger))).await;
    assert!(outcomes.iter().all(Result::is_ok));
    assert_eq!((line.count(ISSUE), line.count(PUSH)), (2, 200));
}

#[tokio::test]
async fn a_late_refusal_of_the_old_token_leaves_the_new_one_alone() {
    let line = issuing(|_| sent());
    let messenger = stateless(line.platform(), &clock());
    let old = messenger.token.current().await.unwrap();
    messenger.token.forget_refused(&old);
    messenger.token.current().await.unwrap();
    messenger.token.forget_refused(&old);
    messenger.token.current().await.unwrap();
    assert_eq!(line.count(ISSUE), 2);
}

#[tokio::test]
async fn a_channel_that_stays_refused_is_unauthorized_after_one_new_token() {
    let line = issuing(|_| Reply::json(403, &json!({"message": "Access to this API is not available"})));
    let failed = push(&stateless(line.platform(), &clock())).await;
    assert!(matches!(failed, Err(PushError::Unauthorized { status: 403, .. })), "{failed:?}");
    assert_eq!((line.count(ISSUE), line.count(PUSH)), (2, 2));
}

#[tokio::test]
async fn a_refused_push_does_not_cost_its_token() {
    let line = issuing(|_| Reply::json(400, &json!({"message": "Failed to send messages"})));
    let messenger = stateless(line.platform(), &clock());
    for _ in 0..3 {
        assert!(matches!(push(&messenger).await, Err(PushError::Refused { .. })));
    }
    assert_eq!(line.count(ISSUE), 1);
}

#[tokio::test]
async fn without_a_token_the_push_certainly_never_left() {
    let answers: [fn() -> Reply; 7] = [
        || Reply::Close,
        || Reply::text(500, ""),
        || Reply::text(429, ""),
        || Reply::text(200, "<html>"),
        || Reply::json(200, &json!({"access_token": 5})),
        || Reply::json(200, &json!({"access_token": ""})),
        || Reply::text(200, &"x".repeat(1_000_000)),
    ];
    for answer in answers {
        let line = LineStub::start(move |_| answer());
        let failed = push(&stateless(line.platform(), &clock())).await.unwrap_err();
        assert!(matches!(failed, PushError::Unreachable { .. }), "{failed:?}");
        assert_eq!((line.count(ISSUE), line.count(PUSH)), (1, 0));
    }
    let line = LineStub::start(|_| Reply::Hang);
    let hasty = line.platform_within(Duration::from_millis(200));
    assert!(matches!(push(&stateless(hasty, &clock())).await, Err(PushError::Unreachable { .. })));
}

#[tokio::test]
async fn a_proxy_that_answers_for_a_token_says_nothing_about_the_channel() {
    for status in [200, 400, 401, 403, 404, 407] {
        let granted = json!({"access_token": "of-a-proxy", "expires_in": 900}).to_string();
        let line = LineStub::start(move |_| by_proxy(status, &granted).with("retry-after", "3"));
        let failed = push(&stateless(line.platform(), &clock())).await.unwrap_err();
        assert!(matches!(failed, PushError::Unreachable { .. }), "{status}: {failed:?}");
        assert_eq!(failed.retry_after(), Some(RetryAfter::Seconds(3)));
        assert_eq!((line.count(ISSUE), line.count(PUSH)), (1, 0));
    }
}

#[tokio::test]
async fn a_proxys_401_costs_no_token() {
    for status in [401, 403] {
        let line = issuing(move |_| by_proxy(status, "<html>"));
        let messenger = stateless(line.platform(), &clock());
        for _ in 0..2 {
            assert!(matches!(push(&messenger).await, Err(PushError::Ambiguous { .. })));
            assert!(matches!(messenger.quota().await, Err(LineError::Unavailable { .. })));
        }
        assert_eq!((line.count(ISSUE), line.count(PUSH), line.count(QUOTA)), (1, 2, 2));
    }
}

#[tokio::test]
async fn a_channel_that_gets_no_token_is_unauthorized() {
    let answers: [(u16, Value, &str); 2] = [
        (
            400,
            json!({"error": "invalid_request", "error_description": "Invalid 'client_credentials'."}),
            "Invalid 'client_credentials'.",
        ),
        (
            404,
            json!({"message": "Cannot find channel key that satisfies the conditions"}),
            "Cannot find channel key that satisfies the conditions",
        ),
    ];
    for (status, body, words) in answers {
        let line = LineStub::start(move |_| Reply::json(status, &body));
        let failed = push(&stateless(line.platform(), &clock())).await.unwrap_err();
        assert!(matches!(failed, PushError::Unauthorized { status: found, message }
            if found == status && message == words));
        assert_eq!(line.count(PUSH), 0);
    }
}

#[tokio::test]
async fn pushes_that_waited_for_a_failing_token_call_do_not_repeat_it_each() {
    let line = LineStub::start(|_| Reply::text(503, ""));
    let messenger = stateless(line.platform(), &clock());
    let outcomes = join_all((0..100).map(|_| push(&messenger))).await;
    assert!(outcomes.iter().all(|outcome| matches!(outcome, Err(PushError::Unreachable { .. }))));
    assert_eq!(line.count(ISSUE), 1);
    // The next push asks anew.
    assert!(push(&messenger).await.is_err());
    assert_eq!(line.count(ISSUE), 2);
}

#[tokio::test]
async fn a_token_is_forgotten_on_request() {
    let line = issuing(|_| sent());
    let messenger = stateless(line.platform(), &clock());
    push(&messenger).await.unwrap();
    messenger.renew_token();
    push(&messenger).await.unwrap();
    assert_eq!(bearer(&line.asked(PUSH)[1]), "Bearer token-2");
}

#[tokio::test]
async fn a_token_with_a_very_short_life_is_used_for_half_of_it() {
    let clock = clock();
    let line = LineStub::start(|asked| match asked.path.as_str() {
        ISSUE => Reply::json(200, &json!({"access_token": "t", "expires_in": 20})),
        _ => sent(),
    });
    let messenger = stateless(line.platform(), &clock);
    push(&messenger).await.unwrap();
    clock.advance(Duration::from_millis(9_999));
    push(&messenger).await.unwrap();
    assert_eq!(line.count(ISSUE), 1);
    clock.advance(Duration::from_millis(1));
    push(&messenger).await.unwrap();
    assert_eq!(line.count(ISSUE), 2);
}

#[tokio::test]
async fn a_token_that_cannot_be_sent_is_our_trouble_not_the_messages() {
    let access = Access::LongLived("line\nbreak".into());
    let messenger = Messenger::new(unreachable(), access, clock());
    assert!(matches!(push(&messenger).await, Err(PushError::Unauthorized { status: 0, .. })));
}
