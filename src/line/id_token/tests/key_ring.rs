mod unknown_key;

use futures_util::future::{Either, join_all, select};

use super::{super::super::stub::unreachable, *};

const REFETCH: Duration = Duration::from_secs(30);
const AN_HOUR: Duration = Duration::from_hours(1);
const A_MOMENT: Duration = Duration::from_millis(1);

/// A token that lives long enough for stories of several hours.
fn long_lived(signer: &Signer) -> String {
    signer.token(&hanako_with("exp", json!(START + 1_000_000)))
}

/// Tokens of the same user that were never seen before.
fn fresh(signer: &Signer, n: i64) -> String {
    signer.token(&hanako_with("exp", json!(START + 1_000_000 + n)))
}

fn is_unavailable(outcome: &Outcome) -> bool {
    matches!(outcome, Err(TokenError::Unavailable(_)))
}

#[tokio::test]
async fn a_hundred_first_requests_fetch_the_keys_once() {
    let story = Story::begins();
    let tokens: Vec<_> = (0..100).map(|n| fresh(&story.signer, n)).collect();
    let outcomes = join_all(tokens.iter().map(|token| story.verify(token))).await;
    assert!(outcomes.iter().all(is_hanako));
    assert_eq!(story.fetches(), 1);
}

#[tokio::test]
async fn an_unknown_kid_fetches_at_most_once_in_the_pause_not_once_a_request() {
    let story = Story::begins();
    story.verify_claims(&hanako()).await.unwrap();
    story.clock.advance(REFETCH);
    let forgeries: Vec<_> = (0..100).map(|n| Signer::new(&format!("forged-{n}")).token(&hanako())).collect();
    let outcomes = join_all(forgeries.iter().map(|token| story.verify(token))).await;
    assert!(outcomes.iter().all(|outcome| invalid(outcome) == "unknown_key"));
    assert_eq!(story.fetches(), 2);
    story.clock.advance(REFETCH.saturating_sub(A_MOMENT));
    assert_eq!(invalid(&story.verify(&forgeries[0]).await), "unknown_key");
    assert_eq!(story.fetches(), 2);
    story.clock.advance(A_MOMENT);
    assert_eq!(invalid(&story.verify(&forgeries[0]).await), "unknown_key");
    assert_eq!(story.fetches(), 3);
}

#[tokio::test]
async fn a_new_key_of_lines_is_found_by_its_first_token() {
    let story = Story::begins();
    story.verify_claims(&hanako()).await.unwrap();
    let new = Signer::new("key-2");
    story.line_publishes(&[story.signer.jwk(), new.jwk()]);
    story.clock.advance(REFETCH);
    let tokens: Vec<_> = (0..20).map(|n| fresh(&new, n)).collect();
    let outcomes = join_all(tokens.iter().map(|token| story.verify(token))).await;
    assert!(outcomes.iter().all(is_hanako));
    assert!(is_hanako(&story.verify(&fresh(&story.signer, 1)).await));
    assert_eq!(story.fetches(), 2);
}

#[tokio::test]
async fn known_keys_keep_working_while_the_endpoint_is_down() {
    let story = Story::begins();
    story.verify_claims(&hanako()).await.unwrap();
    for said in [Keys::Down, Keys::Text(500, String::new()), Keys::Text(200, "<html>".to_owned())] {
        story.line_is(said);
        story.clock.advance(AN_HOUR);
        assert!(is_hanako(&story.verify(&long_lived(&story.signer)).await));
        assert!(is_unavailable(&story.verify(&Signer::new("key-2").token(&hanako())).await));
    }
    assert_eq!(story.fetches(), 4);
}

#[tokio::test]
async fn without_any_key_and_without_an_answer_a_token_is_unavailable() {
    let answers = [
        Keys::Down,
        Keys::Text(500, String::new()),
        Keys::Text(404, "{}".to_owned()),
        Keys::Text(302, String::new()),
        Keys::Text(200, "<html>".to_owned()),
        Keys::Text(200, "[]".to_owned()),
        Keys::Text(200, "{}".to_owned()),
        Keys::Text(200, format!("{{\"keys\":[],\"x\":\"{}\"}}", "x".repeat(1_000_000))),
        Keys::Set(json!({"keys": []})),
        Keys::Set(json!({"keys": "none"})),
    ];
    for answer in answers {
        let story = Story::begins();
        story.line_is(answer);
        let outcome = story.verify_claims(&hanako()).await;
        assert!(is_unavailable(&outcome), "{outcome:?}");
        assert!(outcome.unwrap_err().source().is_some());
    }
}

#[tokio::test]
async fn a_token_is_unavailable_while_line_is_unreachable() {
    let verifier = TokenVerifier::new(unreachable(), settings(Verification::Jwks), clock());
    assert!(is_unavailable(&verifier.verify(&Signer::new("key-1").token(&hanako()), &ours()).await));
}

#[tokio::test]
async fn an_endpoint_that_hangs_is_given_up() {
    let story = Story::begins_within(Duration::from_millis(200));
    story.line_is(Keys::Unheard);
    assert!(is_unavailable(&story.verify_claims(&hanako()).await));
}

#[test]
fn keys_are_waited_for_three_seconds_at_most() {
    let line = LineStub::start(|_| Reply::Hang);
    assert_eq!(line.platform_within(Duration::from_secs(10)).short_timeout(), Duration::from_secs(3));
    assert_eq!(line.platform_within(Duration::from_secs(2)).short_timeout(), Duration::from_secs(2));
}

#[tokio::test]
async fn a_hundred_who_wait_for_a_failing_fetch_share_it_and_the_next_second_may_bring_the_keys() {
    let story = Story::begins();
    story.line_is(Keys::Down);
    let tokens: Vec<_> = (0..100).map(|n| fresh(&story.signer, n)).collect();
    let outcomes = join_all(tokens.iter().map(|token| story.verify(token))).await;
    assert!(outcomes.iter().all(is_unavailable));
    assert_eq!(story.fetches(), 1);
    story.line_publishes(&[story.signer.jwk()]);
    assert!(is_unavailable(&story.verify(&tokens[0]).await));
    story.clock.advance(Duration::from_secs(1));
    assert!(is_hanako(&story.verify(&tokens[0]).await));
    assert_eq!(story.fetches(), 2);
}

#[tokio::test]
async fn a_withdrawn_key_goes_within_the_hour_and_takes_its_verified_tokens_along() {
    let story = Story::begins();
    let token = long_lived(&story.signer);
    assert!(is_hanako(&story.verify(&token).await));
    story.line_publishes(&[Signer::new("key-2").jwk()]);
    story.clock.advance(AN_HOUR.saturating_sub(A_MOMENT));
    assert!(is_hanako(&story.verify(&token).await));
    story.clock.advance(A_MOMENT);
    assert_eq!(invalid(&story.verify(&token).await), "unknown_key");
    assert_eq!(story.fetches(), 2);
}

#[tokio::test]
async fn an_old_copy_is_fetched_by_one_while_the_others_use_it() {
    let story = Story::begins();
    story.verify_claims(&hanako()).await.unwrap();
    story.clock.advance(AN_HOUR);
    story.line_is(Keys::Unheard);
    let (token, other) = (fresh(&story.signer, 0), fresh(&story.signer, 1));
    // The first waits for an answer that doesn't come; the second doesn't wait for the first.
    let first = story.verify(&token);
    let second = story.verify(&other);
    let first_of_them = select(Box::pin(first), Box::pin(second)).await;
    let Either::Right((outcome, _)) = first_of_them else { panic!("the first waits") };
    assert!(is_hanako(&outcome));
}

#[tokio::test]
async fn callers_who_go_away_in_the_middle_cannot_ask_for_more_fetches() {
    let story = Story::begins();
    story.verify_claims(&hanako()).await.unwrap();
    story.clock.advance(REFETCH);
    story.line_is(Keys::Unheard);
    for n in 0..10 {
        let token = Signer::new(&format!("forged-{n}")).token(&hanako());
        // Polled once, then dropped.
        let gone = select(Box::pin(story.verify(&token)), std::future::ready(())).await;
        drop(gone);
    }
    // The one fetch of this pause is spent, although no caller stayed to see its outcome: LINE has said nothing.
    let new = Signer::new("key-2");
    story.line_publishes(&[story.signer.jwk(), new.jwk()]);
    assert!(is_unavailable(&story.verify(&new.token(&hanako())).await));
    assert!(is_hanako(&story.verify(&fresh(&story.signer, 1)).await));
    story.clock.advance(REFETCH);
    assert!(is_hanako(&story.verify(&new.token(&hanako())).await));
}

#[tokio::test]
async fn a_caller_that_gives_up_before_there_is_a_copy_leaves_the_fetch_to_the_next() {
    let story = Story::begins();
    story.line_is(Keys::Unheard);
    let token = fresh(&story.signer, 0);
    drop(select(Box::pin(story.verify(&token)), std::future::ready(())).await);
    story.line_publishes(&[story.signer.jwk()]);
    assert!(is_hanako(&story.verify(&token).await));
}

#[tokio::test]
async fn only_whole_p256_signature_keys_of_a_set_are_used() {
    let story = Story::begins();
    let changed = |member: &str, value: Value| {
        let mut jwk = story.signer.jwk();
        jwk[member] = value;
        jwk
    };
    let rsa = json!({"kty": "RSA", "alg": "RS256", "use": "sig", "kid": "key-1", "n": "AQAB", "e": "AQAB"});
    let broken = [
        rsa,
        json!(null),
        json!("key-1"),
        json!({}),
        changed("kty", json!("OKP")),
        changed("crv", json!("P-384")),
        changed("alg", json!("ES384")),
        changed("alg", json!(5)),
        changed("use", json!("enc")),
        changed("kid", json!(5)),
        changed("x", json!("AAAA")),
        changed("x", json!("*")),
        changed("y", json!(null)),
        // A point that isn't on the curve.
        changed("y", json!(encoded([7; 32]))),
    ];
    for entry in &broken {
        story.line_publishes(std::slice::from_ref(entry));
        story.clock.advance(Duration::from_secs(1));
        assert!(is_unavailable(&story.verify_claims(&hanako()).await), "{entry}");
    }
    let beside = [broken.as_slice(), &[story.signer.jwk()], &broken].concat();
    story.line_publishes(&beside);
    story.clock.advance(Duration::from_secs(1));
    assert!(is_hanako(&story.verify(&long_lived(&story.signer)).await));
}

#[tokio::test]
async fn a_key_without_alg_and_use_is_good_for_es256() {
    let story = Story::begins();
    let mut jwk = story.signer.jwk();
    for name in ["alg", "use"] {
        jwk.as_object_mut().unwrap().remove(name);
    }
    story.line_publishes(&[jwk]);
    assert!(is_hanako(&story.verify_claims(&hanako()).await));
}
