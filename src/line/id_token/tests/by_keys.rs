use super::*;

#[tokio::test]
async fn a_good_token_names_hanako() {
    let story = Story::begins();
    assert!(is_hanako(&story.verify_claims(&hanako()).await));
    let asked = &story.line.asked(CERTS)[0];
    assert_eq!((asked.method.as_str(), asked.body.as_str()), ("GET", ""));
}

#[tokio::test]
async fn what_is_not_a_token_is_invalid_and_fetches_nothing() {
    let story = Story::begins();
    let token = story.signer.token(&hanako());
    let (head, signature) = token.rsplit_once('.').unwrap();
    let bad = [
        "",
        ".",
        "..",
        "...",
        "id_token",
        "a.b.c",
        "\u{3042}.\u{3042}.\u{3042}",
        head,
        &format!("x{token}"),
        &format!("{token}.{signature}"),
        &format!("Bearer {token}"),
    ];
    for bad in bad {
        assert_eq!(invalid(&story.verify(bad).await), "header", "{bad}");
    }
    assert_eq!(story.fetches(), 0);
}

#[tokio::test]
async fn a_changed_or_missing_signature_is_invalid() {
    let story = Story::begins();
    let token = story.signer.token(&hanako());
    let (head, signature) = token.rsplit_once('.').unwrap();
    let bytes = URL_SAFE_NO_PAD.decode(signature).unwrap();
    let mut changed = bytes.clone();
    changed[40] ^= 1;
    for signature in [encoded(changed), encoded([0; 64]), encoded(&bytes[..63]), String::new()] {
        assert_eq!(invalid(&story.verify(&format!("{head}.{signature}")).await), "signature");
    }
    for signature in [format!("{signature}="), format!("{signature}\n"), "+/+/".to_owned()] {
        assert_eq!(invalid(&story.verify(&format!("{head}.{signature}")).await), "form");
    }
}

#[tokio::test]
async fn claims_changed_after_the_signature_are_invalid() {
    let story = Story::begins();
    let token = story.signer.token(&hanako());
    let signature = token.rsplit_once('.').unwrap().1;
    let taro = hanako_with("sub", json!("Ufedcba9876543210fedcba9876543210"));
    let forged = format!("{}.{signature}", unsigned(&story.signer.header(), &taro));
    assert_eq!(invalid(&story.verify(&forged).await), "signature");
}

#[tokio::test]
async fn a_signature_by_another_key_under_lines_kid_is_invalid() {
    let story = Story::begins();
    let forger = Signer::new("key-1");
    assert_eq!(invalid(&story.verify(&forger.token(&hanako())).await), "signature");
}

#[tokio::test]
async fn a_signature_in_der_is_invalid() {
    let story = Story::begins();
    assert_eq!(invalid(&story.verify(&story.signer.token_with_der(&hanako())).await), "signature");
}

#[tokio::test]
async fn without_a_signature_algorithm_nothing_is_accepted() {
    let story = Story::begins();
    for alg in ["none", "None", "NONE", ""] {
        let header = json!({"alg": alg, "typ": "JWT", "kid": "key-1"});
        for token in [format!("{}.", unsigned(&header, &hanako())), story.signer.token_with(&header, &hanako())] {
            assert_eq!(invalid(&story.verify(&token).await), "algorithm");
        }
    }
}

#[tokio::test]
async fn another_algorithm_in_the_header_is_invalid() {
    let story = Story::begins();
    for alg in ["RS256", "PS256", "ES384", "EdDSA", "HS384", "HS512", "HS256"] {
        let header = json!({"alg": alg, "typ": "JWT", "kid": "key-1"});
        let token = story.signer.token_with(&header, &hanako());
        assert_eq!(invalid(&story.verify(&token).await), "algorithm", "{alg}");
        assert_eq!(invalid(&story.verifier.verify(&token, &ours_with_web_login()).await), "algorithm", "{alg}");
    }
}

#[tokio::test]
async fn lines_public_key_is_never_a_secret() {
    let story = Story::begins();
    let jwk = story.signer.jwk();
    let texts = [jwk["x"].as_str().unwrap(), &jwk.to_string(), LOGIN_SECRET];
    let keys: Vec<&[u8]> = [story.signer.point.as_slice(), &story.signer.point[1..]]
        .into_iter()
        .chain(texts.iter().map(|text| text.as_bytes()))
        .collect();
    for key in keys {
        let token = hs256(&json!({"alg": "HS256", "typ": "JWT", "kid": "key-1"}), &hanako(), key);
        for accepted in [ours(), ours_with_web_login()] {
            assert_eq!(invalid(&story.verifier.verify(&token, &accepted).await), "algorithm");
        }
        let token = hs256(&json!({"alg": "HS256", "typ": "JWT"}), &hanako(), key);
        assert_eq!(invalid(&story.verify(&token).await), "algorithm");
        if key != LOGIN_SECRET.as_bytes() {
            assert_eq!(invalid(&story.verifier.verify(&token, &ours_with_web_login()).await), "signature");
        }
    }
}

#[tokio::test]
async fn web_logins_hs256_is_accepted_only_where_the_channel_has_a_login_secret() {
    let story = Story::begins();
    let token = hs256(&json!({"alg": "HS256", "typ": "JWT"}), &hanako(), LOGIN_SECRET.as_bytes());
    assert!(is_hanako(&story.verifier.verify(&token, &ours_with_web_login()).await));
    // Also after it was accepted once, for the same Login channel.
    assert_eq!(invalid(&story.verifier.verify(&token, &ours()).await), "algorithm");
    let claims = hanako_with("exp", json!(START - 31));
    let late = hs256(&json!({"alg": "HS256"}), &claims, LOGIN_SECRET.as_bytes());
    assert!(matches!(story.verifier.verify(&late, &ours_with_web_login()).await, Err(TokenError::Expired)));
    let empty = LoginChannels { hs256_secret: Some("".into()), ..ours() };
    let token = hs256(&json!({"alg": "HS256"}), &hanako(), b"");
    assert_eq!(invalid(&story.verifier.verify(&token, &empty).await), "algorithm");
    assert_eq!(story.fetches(), 0);
}

#[tokio::test]
async fn a_token_without_a_kid_is_invalid() {
    let story = Story::begins();
    let token = story.signer.token_with(&json!({"alg": "ES256", "typ": "JWT"}), &hanako());
    assert_eq!(invalid(&story.verify(&token).await), "key_id_missing");
    let token = story.signer.token_with(&json!({"alg": "ES256", "kid": 5}), &hanako());
    assert_eq!(invalid(&story.verify(&token).await), "header");
}

#[tokio::test]
async fn a_header_that_asks_for_what_we_do_not_know_is_invalid() {
    let story = Story::begins();
    for (name, value) in [
        ("crit", json!(["b64"])),
        ("crit", json!(["exp"])),
        ("crit", json!([])),
        ("crit", json!(null)),
        ("b64", json!(false)),
        ("b64", json!(null)),
    ] {
        let mut header = story.signer.header();
        header[name] = value;
        assert_eq!(invalid(&story.verify(&story.signer.token_with(&header, &hanako())).await), "form", "{header}");
    }
}

#[tokio::test]
async fn a_key_that_the_token_brings_along_is_not_used() {
    let story = Story::begins();
    let forger = Signer::new("key-1");
    let mut header = forger.header();
    header["jwk"] = forger.jwk();
    header["jku"] = json!("http://127.0.0.1:1/keys");
    assert_eq!(invalid(&story.verify(&forger.token_with(&header, &hanako())).await), "signature");
}

#[tokio::test]
async fn a_token_of_20_kb_is_not_even_looked_at() {
    let story = Story::begins();
    let long = story.signer.token(&hanako_with("name", json!("花".repeat(5_000))));
    assert!(long.len() > 20_000);
    assert_eq!(invalid(&story.verify(&long).await), "too_long");
    assert_eq!(invalid(&story.verify(&"a.".repeat(10_000)).await), "too_long");
    assert_eq!(story.fetches(), 0);
    let just_fits = story.signer.token(&hanako_with("name", json!("x".repeat(5_700))));
    assert!(just_fits.len() > 7_500 && just_fits.len() <= LONGEST);
    assert!(is_hanako(&story.verify(&just_fits).await));
}

#[tokio::test]
async fn no_error_and_no_debug_shows_anything_of_a_token() {
    let story = Story::begins();
    let token = story.signer.token(&hanako());
    let others = [
        story.signer.token(&hanako_with("aud", json!(OTHER_CHANNEL))),
        story.signer.token(&hanako_with("exp", json!(5))),
        Signer::new("unknown-kid").token(&hanako()),
        format!("{token}A"),
        format!("A{token}"),
    ];
    for other in others {
        let error = shown(&story.verify(&other).await.unwrap_err());
        for part in other.split('.').chain([HANAKO, "花子", OTHER_CHANNEL, "unknown-kid"]) {
            assert!(!error.contains(part), "{error}");
        }
    }
    story.verify(&token).await.unwrap();
    let all = format!("{:?} {:?}", story.verifier, ours_with_web_login());
    for part in token.split('.').chain([HANAKO, LOGIN_SECRET]) {
        assert!(!all.contains(part), "{all}");
    }
}

#[tokio::test]
async fn a_header_or_claims_in_a_list_are_invalid_even_with_a_right_signature() {
    let story = Story::begins();
    let claims = json!(["https://access.line.me", OURS, HANAKO, START + 3_600, START]);
    assert_eq!(invalid(&story.verify(&story.signer.token(&claims)).await), "form");
    let header = json!(["ES256", "key-1", null, null]);
    assert_eq!(invalid(&story.verify(&story.signer.token_with(&header, &hanako())).await), "header");
}

#[tokio::test]
async fn a_name_said_twice_is_invalid() {
    let story = Story::begins();
    let twice = |json: &Value, name: &str| {
        let json = json.to_string();
        encoded(format!("{},\"{name}\":{}}}", &json[..json.len() - 1], json!("another")))
    };
    let (header, claims) = (story.signer.header(), hanako());
    let token = |head: String| story.signer.signs(&head, &ECDSA_P256_SHA256_FIXED_SIGNING);
    let headers = token(format!("{}.{}", twice(&header, "kid"), encoded(claims.to_string())));
    assert_eq!(invalid(&story.verify(&headers).await), "header");
    let subjects = token(format!("{}.{}", encoded(header.to_string()), twice(&claims, "sub")));
    assert_eq!(invalid(&story.verify(&subjects).await), "form");
}
