use super::*;

#[tokio::test]
async fn another_issuer_is_invalid_even_with_a_right_signature() {
    let story = Story::begins();
    for issuer in [
        json!("https://access.line.me/"),
        json!("http://access.line.me"),
        json!("https://evil.example"),
        json!(["https://access.line.me"]),
        json!(null),
        json!(5),
    ] {
        assert_eq!(invalid(&story.verify_claims(&hanako_with("iss", issuer)).await), "issuer");
    }
    assert_eq!(invalid(&story.verify_claims(&hanako_without("iss")).await), "issuer");
}

#[tokio::test]
async fn a_token_of_another_channel_is_invalid_even_if_that_one_is_ours_too() {
    let story = Story::begins();
    let token = story.signer.token(&hanako_with("aud", json!(OTHER_CHANNEL)));
    let elsewhere = LoginChannels { ids: vec![OTHER_CHANNEL.to_owned()], hs256_secret: None };
    assert_eq!(invalid(&story.verify(&token).await), "audience");
    assert!(is_hanako(&story.verifier.verify(&token, &elsewhere).await));
    assert_eq!(invalid(&story.verify(&token).await), "audience");
}

#[tokio::test]
async fn an_audience_that_is_not_one_text_is_invalid() {
    let story = Story::begins();
    for audience in [json!([OURS]), json!([OURS, OTHER_CHANNEL]), json!(1_234_567_890), json!(null), json!("")] {
        assert_eq!(invalid(&story.verify_claims(&hanako_with("aud", audience)).await), "audience");
    }
    assert_eq!(invalid(&story.verify_claims(&hanako_without("aud")).await), "audience");
    let none = LoginChannels { ids: Vec::new(), hs256_secret: None };
    assert_eq!(invalid(&story.verifier.verify(&story.signer.token(&hanako()), &none).await), "audience");
}

#[tokio::test]
async fn a_subject_that_is_not_a_user_id_is_invalid() {
    let story = Story::begins();
    for subject in [
        json!("U1234567890abcdef"),
        json!("C0123456789abcdef0123456789abcdef"),
        json!(format!("{HANAKO}#")),
        json!(format!(" {HANAKO}")),
        json!(HANAKO.to_uppercase()),
        json!(5),
        json!(null),
    ] {
        assert_eq!(invalid(&story.verify_claims(&hanako_with("sub", subject)).await), "subject");
    }
    assert_eq!(invalid(&story.verify_claims(&hanako_without("sub")).await), "subject");
}

#[tokio::test]
async fn a_token_is_good_until_its_end_and_the_leeway_and_not_a_millisecond_longer() {
    let story = Story::begins();
    let token = story.signer.token(&hanako());
    story.clock.advance(Duration::from_millis(3_630_000 - 1));
    assert!(is_hanako(&story.verify(&token).await));
    story.clock.advance(Duration::from_millis(1));
    assert!(matches!(story.verify(&token).await, Err(TokenError::Expired)));
}

#[tokio::test]
async fn an_expired_token_is_expired_only_if_all_else_is_right() {
    let story = Story::begins();
    let expired = hanako_with("exp", json!(START - 31));
    assert!(matches!(story.verify_claims(&expired).await, Err(TokenError::Expired)));
    let forged = Signer::new("key-1").token(&expired);
    assert_eq!(invalid(&story.verify(&forged).await), "signature");
    for (claim, value, reason) in [
        ("iss", json!("https://evil.example"), "issuer"),
        ("aud", json!(OTHER_CHANNEL), "audience"),
        ("sub", json!("nobody"), "subject"),
        ("iat", json!(START + 31), "issued_at"),
    ] {
        let mut claims = expired.clone();
        claims[claim] = value;
        assert_eq!(invalid(&story.verify_claims(&claims).await), reason);
    }
}

#[tokio::test]
async fn a_token_from_the_future_is_invalid() {
    let story = Story::begins();
    assert!(is_hanako(&story.verify_claims(&hanako_with("iat", json!(START + 30))).await));
    assert_eq!(invalid(&story.verify_claims(&hanako_with("iat", json!(START + 31))).await), "issued_at");
}

#[tokio::test]
async fn times_that_are_missing_or_not_whole_seconds_are_invalid() {
    let story = Story::begins();
    for (claim, reason) in [("exp", "expires_at"), ("iat", "issued_at")] {
        assert_eq!(invalid(&story.verify_claims(&hanako_without(claim)).await), reason);
        for value in [json!("1779539400"), json!(null), json!(1.5), json!(u64::MAX), json!([START])] {
            assert_eq!(invalid(&story.verify_claims(&hanako_with(claim, value)).await), reason);
        }
    }
    // Far beyond any calendar is a number all the same, and must not overflow.
    assert!(is_hanako(&story.verify_claims(&hanako_with("exp", json!(i64::MAX))).await));
    assert!(matches!(story.verify_claims(&hanako_with("exp", json!(i64::MIN))).await, Err(TokenError::Expired)));
    assert_eq!(invalid(&story.verify_claims(&hanako_with("iat", json!(i64::MAX))).await), "issued_at");
    assert!(is_hanako(&story.verify_claims(&hanako_with("iat", json!(i64::MIN))).await));
}

#[tokio::test]
async fn claims_that_are_no_json_object_are_invalid() {
    let story = Story::begins();
    for claims in [json!([]), json!("U"), json!(null), json!(5)] {
        assert_eq!(invalid(&story.verify_claims(&claims).await), "form");
    }
}

#[tokio::test]
async fn claims_that_line_may_add_are_passed_over() {
    let story = Story::begins();
    let mut claims = hanako();
    claims["amr"] = json!(["linesso"]);
    claims["nonce"] = json!(7);
    claims["brandNew"] = json!({"a": null});
    assert!(is_hanako(&story.verify_claims(&claims).await));
    assert!(is_hanako(&story.verify_claims(&hanako_without("name")).await));
}
