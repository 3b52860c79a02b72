use super::*;

/// LINE's verify endpoint, answering `answer`.
struct Asking {
    line: LineStub,
    signer: Signer,
    clock: Arc<ManualClock>,
    verifier: TokenVerifier,
}

impl Asking {
    fn line(answer: impl Fn() -> Reply + Send + Sync + 'static) -> Self {
        let line = LineStub::start(move |_: &Request| answer());
        let clock = clock();
        let platform = line.platform_within(Duration::from_secs(20));
        let verifier = TokenVerifier::new(platform, settings(Verification::Endpoint), clock.clone());
        Self { line, signer: Signer::new("key-1"), clock, verifier }
    }

    /// LINE accepts the token and says this.
    fn says(claims: Value) -> Self {
        Self::line(move || Reply::json(200, &claims))
    }

    fn refuses(description: &'static str) -> Self {
        Self::line(move || Reply::json(400, &json!({"error": "invalid_request", "error_description": description})))
    }

    async fn verify(&self) -> Outcome {
        self.verifier.verify(&self.signer.token(&hanako()), &ours()).await
    }
}

#[tokio::test]
async fn line_is_asked_with_the_tokens_own_audience() {
    let asking = Asking::says(hanako());
    let token = asking.signer.token(&hanako());
    assert!(is_hanako(&asking.verifier.verify(&token, &ours()).await));
    let asked = &asking.line.asked(VERIFY)[0];
    assert_eq!(asked.method, "POST");
    assert_eq!(asked.headers["content-type"], "application/x-www-form-urlencoded");
    assert!(!asked.headers.contains_key("authorization"));
    assert_eq!(asked.body, format!("id_token={token}&client_id={OURS}"));
}

#[tokio::test]
async fn a_token_of_another_channel_is_not_even_asked_about() {
    let asking = Asking::says(hanako());
    for audience in [json!(OTHER_CHANNEL), json!([OURS]), json!(5), json!(null)] {
        let token = asking.signer.token(&hanako_with("aud", audience));
        assert_eq!(invalid(&asking.verifier.verify(&token, &ours()).await), "audience");
    }
    let token = asking.signer.token(&hanako_without("aud"));
    assert_eq!(invalid(&asking.verifier.verify(&token, &ours()).await), "audience");
    for bad in ["", "id_token", "a.b.c"] {
        assert_eq!(invalid(&asking.verifier.verify(bad, &ours()).await), "header");
    }
    assert_eq!(invalid(&asking.verifier.verify(&"a".repeat(20_000), &ours()).await), "too_long");
    assert_eq!(asking.line.count(VERIFY), 0);
}

// Facts of LINE Login's reference, "Verify ID token": one test for each failure.

#[tokio::test]
async fn line_says_malformed_or_badly_signed() {
    assert_eq!(invalid(&Asking::refuses("Invalid IdToken.").verify().await), "refused_by_line");
}

#[tokio::test]
async fn line_says_not_a_jws() {
    assert_eq!(invalid(&Asking::refuses("JWS format error").verify().await), "refused_by_line");
}

#[tokio::test]
async fn line_says_forged() {
    assert_eq!(invalid(&Asking::refuses("JWS verification failed").verify().await), "refused_by_line");
}

#[tokio::test]
async fn line_says_another_issuer() {
    assert_eq!(invalid(&Asking::refuses("Invalid IdToken Issuer.").verify().await), "refused_by_line");
}

#[tokio::test]
async fn line_says_expired() {
    assert!(matches!(Asking::refuses("IdToken expired.").verify().await, Err(TokenError::Expired)));
}

#[tokio::test]
async fn line_says_another_audience() {
    assert_eq!(invalid(&Asking::refuses("Invalid IdToken Audience.").verify().await), "refused_by_line");
}

#[tokio::test]
async fn line_says_another_nonce() {
    assert_eq!(invalid(&Asking::refuses("Invalid IdToken Nonce.").verify().await), "refused_by_line");
}

#[tokio::test]
async fn line_says_another_subject() {
    assert_eq!(invalid(&Asking::refuses("Invalid IdToken Subject Identifier.").verify().await), "refused_by_line");
}

#[tokio::test]
async fn line_says_no_without_a_word() {
    assert_eq!(invalid(&Asking::line(|| Reply::text(400, "{}")).verify().await), "refused_by_line");
}

#[tokio::test]
async fn what_line_says_of_a_good_token_is_checked_again() {
    for (claim, value, reason) in [
        ("iss", json!("https://evil.example"), "issuer"),
        ("aud", json!(OTHER_CHANNEL), "audience"),
        // Accepted too, but not the one that was asked about.
        ("aud", json!("1234567899"), "audience"),
        ("aud", json!(1_234_567_890), "audience"),
        ("sub", json!("nobody"), "subject"),
        ("iat", json!(START + 31), "issued_at"),
    ] {
        assert_eq!(invalid(&Asking::says(hanako_with(claim, value)).verify().await), reason);
        assert_eq!(invalid(&Asking::says(hanako_without(claim)).verify().await), reason);
    }
    assert!(matches!(Asking::says(hanako_with("exp", json!(START - 30))).verify().await, Err(TokenError::Expired)));
    assert_eq!(invalid(&Asking::says(hanako_without("exp")).verify().await), "expires_at");
}

#[tokio::test]
async fn an_answer_that_says_nothing_about_the_token_leaves_it_open() {
    let answers: [fn() -> Reply; 13] = [
        || Reply::Close,
        || Reply::text(200, "<html>"),
        || Reply::text(200, "[]"),
        || Reply::text(200, ""),
        || Reply::text(200, &"x".repeat(1_000_000)),
        || Reply::text(400, "<html>"),
        || Reply::text(413, ""),
        || Reply::text(429, ""),
        || Reply::text(500, ""),
        || Reply::text(503, "{}"),
        || Reply::text(503, &format!("{{\"message\":\"bad eyJ token of {HANAKO}\"}}")),
        || Reply::text(404, "{}"),
        || Reply::text(302, ""),
    ];
    for answer in answers {
        let outcome = Asking::line(answer).verify().await;
        assert!(matches!(outcome, Err(TokenError::Unavailable(_))), "{outcome:?}");
        let shown = shown(&outcome.unwrap_err());
        assert!(!shown.contains("eyJ") && !shown.contains(HANAKO), "{shown}");
    }
}

#[tokio::test]
async fn what_a_proxy_answers_about_a_token_leaves_it_open() {
    let good = hanako().to_string();
    let expired = json!({"error": "invalid_request", "error_description": "IdToken expired."}).to_string();
    for (status, body) in [(200, good), (400, expired), (400, "{}".to_owned()), (401, "{}".to_owned())] {
        let outcome = Asking::line(move || by_proxy(status, &body)).verify().await;
        assert!(matches!(outcome, Err(TokenError::Unavailable(_))), "{status}: {outcome:?}");
    }
}

#[tokio::test]
async fn line_is_asked_once_about_a_token() {
    let asking = Asking::says(hanako());
    let token = asking.signer.token(&hanako());
    for _ in 0..3 {
        assert!(is_hanako(&asking.verifier.verify(&token, &ours()).await));
    }
    assert_eq!(asking.line.count(VERIFY), 1);
    let elsewhere = LoginChannels { ids: vec![OTHER_CHANNEL.to_owned()], hs256_secret: None };
    assert_eq!(invalid(&asking.verifier.verify(&token, &elsewhere).await), "audience");
    asking.clock.advance(Duration::from_hours(1));
    assert!(is_hanako(&asking.verifier.verify(&token, &ours()).await));
    assert_eq!(asking.line.count(VERIFY), 2);
    asking.clock.advance(Duration::from_secs(30));
    assert!(matches!(asking.verifier.verify(&token, &ours()).await, Err(TokenError::Expired)));
    assert_eq!(asking.line.count(VERIFY), 2);
}

#[tokio::test]
async fn web_logins_tokens_are_asked_about_only_where_the_channel_has_a_login_secret() {
    let asking = Asking::says(hanako());
    let token = hs256(&json!({"alg": "HS256", "typ": "JWT"}), &hanako(), LOGIN_SECRET.as_bytes());
    assert_eq!(invalid(&asking.verifier.verify(&token, &ours()).await), "algorithm");
    assert_eq!(asking.line.count(VERIFY), 0);
    assert!(is_hanako(&asking.verifier.verify(&token, &ours_with_web_login()).await));
    assert_eq!(invalid(&asking.verifier.verify(&token, &ours()).await), "algorithm");
}

/// What is looked at before LINE is asked isn't signed.
#[tokio::test]
async fn claims_in_claims_in_claims_are_refused_and_line_is_not_asked() {
    let asking = Asking::says(hanako());
    let claims = encoded(format!("{{\"aud\":{}", crate::domain::json::bomb(5_900)));
    let token = format!("{}.{claims}.AAAA", encoded(asking.signer.header().to_string()));
    assert!(token.len() < LONGEST);
    assert_eq!(invalid(&asking.verifier.verify(&token, &ours()).await), "audience");
    let without_base64 = format!("{}.+/=", unsigned(&asking.signer.header(), &hanako()));
    assert_eq!(invalid(&asking.verifier.verify(&without_base64, &ours()).await), "form");
    assert_eq!(asking.line.count(VERIFY), 0);
}
