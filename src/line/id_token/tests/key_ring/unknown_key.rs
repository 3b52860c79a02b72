//! A `kid` that is not in the copy, while the key set can not be fetched: not known, which is neither good nor bad.

use super::*;

/// What the endpoint says while no keys can be had of it.
fn no_keys() -> [Keys; 6] {
    [
        Keys::Down,
        Keys::Text(500, String::new()),
        Keys::Text(404, "{}".to_owned()),
        Keys::Text(200, "<html>".to_owned()),
        Keys::Text(200, "{}".to_owned()),
        Keys::Set(json!({"keys": []})),
    ]
}

#[tokio::test]
async fn a_new_key_that_cannot_be_fetched_leaves_its_tokens_open_until_it_is_there() {
    for said in no_keys() {
        let story = Story::begins();
        story.verify_claims(&hanako()).await.unwrap();
        let new = Signer::new("key-2");
        let token = new.token(&hanako());
        story.line_is(said);
        // The keys were fetched within the time: LINE has no such key.
        story.clock.advance(REFETCH.saturating_sub(A_MOMENT));
        assert_eq!(invalid(&story.verify(&token).await), "unknown_key");
        assert_eq!(story.fetches(), 1);
        // Not within the time any more, and they can't be fetched.
        story.clock.advance(A_MOMENT);
        assert!(is_unavailable(&story.verify(&token).await));
        assert_eq!(story.fetches(), 2);
        // A failed fetch counts: no second one within the time, and the same answer.
        story.line_publishes(&[story.signer.jwk(), new.jwk()]);
        story.clock.advance(REFETCH.saturating_sub(A_MOMENT));
        let outcome = story.verify(&token).await;
        assert!(is_unavailable(&outcome) && outcome.unwrap_err().source().is_some());
        assert!(is_hanako(&story.verify(&fresh(&story.signer, 1)).await), "known keys are used as before");
        assert_eq!(story.fetches(), 2);
        story.clock.advance(A_MOMENT);
        assert!(is_hanako(&story.verify(&token).await));
        assert_eq!(story.fetches(), 3);
    }
}

#[tokio::test]
async fn a_key_set_that_does_not_answer_in_time_leaves_unknown_keys_open() {
    let story = Story::begins_within(Duration::from_millis(200));
    story.verify_claims(&hanako()).await.unwrap();
    story.clock.advance(REFETCH);
    story.line_is(Keys::Unheard);
    assert!(is_unavailable(&story.verify(&Signer::new("key-2").token(&hanako())).await));
    assert!(is_hanako(&story.verify(&fresh(&story.signer, 1)).await));
    assert_eq!(story.fetches(), 2);
}

#[tokio::test]
async fn a_burst_of_forged_kids_makes_one_fetch_in_the_time_while_they_fail_too() {
    let story = Story::begins();
    story.verify_claims(&hanako()).await.unwrap();
    story.line_is(Keys::Text(500, String::new()));
    let forgeries: Vec<_> = (0..100).map(|n| Signer::new(&format!("forged-{n}")).token(&hanako())).collect();
    for fetches in [2, 3] {
        story.clock.advance(REFETCH);
        let outcomes = join_all(forgeries.iter().map(|token| story.verify(token))).await;
        assert!(outcomes.iter().all(is_unavailable));
        story.clock.advance(REFETCH.saturating_sub(A_MOMENT));
        assert!(is_unavailable(&story.verify(&forgeries[0]).await));
        assert_eq!(story.fetches(), fetches);
        story.clock.advance(A_MOMENT);
    }
    story.line_publishes(&[story.signer.jwk()]);
    story.clock.advance(REFETCH);
    assert_eq!(invalid(&story.verify(&forgeries[0]).await), "unknown_key", "now LINE has said so");
}

/// Nothing promises that LINE's request id is at this address; a set of keys is known by what it holds.
#[tokio::test]
async fn a_key_set_needs_no_request_id_and_a_login_page_is_none() {
    let story = Story::begins();
    story.line_is(Keys::Proxy(200, "<html>Log in to go on</html>".to_owned()));
    assert!(is_unavailable(&story.verify_claims(&hanako()).await));
    story.line_is(Keys::Proxy(200, json!({"keys": [story.signer.jwk()]}).to_string()));
    story.clock.advance(Duration::from_secs(1));
    assert!(is_hanako(&story.verify_claims(&hanako()).await));
}
