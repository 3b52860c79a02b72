use super::{
    super::{
        super::{Access, messaging::Messenger},
        claims::Claims,
        seen::{Seen, Signing, Verified},
    },
    *,
};
use crate::domain::time::TimeSource;

#[tokio::test]
async fn a_token_seen_before_needs_neither_line_nor_its_signature_checked_again() {
    let story = Story::begins();
    let token = story.signer.token(&hanako());
    for _ in 0..3 {
        assert!(is_hanako(&story.verify(&token).await));
    }
    let digest = seen::digest(&token);
    let remembered = story.verifier.0.seen.find(&digest, story.clock.uptime()).unwrap();
    assert_eq!(remembered.signing, Signing::LineKey);
}

#[tokio::test]
async fn a_token_seen_before_expires_all_the_same() {
    let story = Story::begins();
    let token = story.signer.token(&hanako_with("exp", json!(START + 60)));
    assert!(is_hanako(&story.verify(&token).await));
    story.clock.advance(Duration::from_secs(90));
    assert!(matches!(story.verify(&token).await, Err(TokenError::Expired)));
}

#[tokio::test]
async fn what_was_refused_is_not_remembered() {
    let story = Story::begins();
    for token in [
        Signer::new("key-1").token(&hanako()),
        story.signer.token(&hanako_with("exp", json!(START - 31))),
        story.signer.token(&hanako_with("aud", json!(OTHER_CHANNEL))),
    ] {
        assert!(story.verify(&token).await.is_err());
        assert!(story.verifier.0.seen.find(&seen::digest(&token), story.clock.uptime()).is_none());
    }
}

#[test]
fn verifying_and_pushing_run_on_any_thread() {
    fn any_thread<T: Send>(_: &T) {}
    let story = Story::begins();
    let accepted = ours();
    any_thread(&story.verifier.verify("", &accepted));
    let access = Access::LongLived("t".into());
    let messenger = Messenger::new(story.line.platform(), access, story.clock.clone());
    let (hanako, message) = (HANAKO.parse().unwrap(), json!({}));
    any_thread(&messenger.push(&hanako, &message, uuid::Uuid::nil()));
    any_thread(&messenger.quota());
}

#[test]
fn memory_is_bounded_and_forgets_what_was_not_used_for_longest() {
    let seen = Seen::default();
    let verified = |n: u32| {
        let claims = Claims::read(&serde_json::from_value(hanako()).unwrap()).unwrap();
        seen.keep(seen::digest(&n.to_string()), Verified { claims, signing: Signing::LineKey, at: Duration::ZERO });
    };
    let known = |n: u32| seen.find(&seen::digest(&n.to_string()), Duration::ZERO).is_some();
    (0..10_000).for_each(verified);
    assert!(known(0));
    verified(10_000);
    assert!(known(0) && known(10_000) && !known(1));
}

#[tokio::test]
async fn a_token_of_a_withdrawn_key_goes_with_the_keys_that_it_was_verified_with() {
    let story = Story::begins();
    story.verify_claims(&hanako()).await.unwrap();
    let (early, late) = (long_lived(&story.signer, 0), long_lived(&story.signer, 1));
    let new = Signer::new("key-2");
    story.line_publishes(&[new.jwk()]);
    // At the last moment of the copy that still has the key.
    story.clock.advance(Duration::from_hours(1) - Duration::from_millis(1));
    assert!(is_hanako(&story.verify(&early).await));
    story.clock.advance(Duration::from_millis(1));
    assert_eq!(invalid(&story.verify(&late).await), "unknown_key");
    assert_eq!(invalid(&story.verify(&early).await), "unknown_key");
}

/// Good for a day; each with a number of its own.
fn long_lived(signer: &Signer, n: i64) -> String {
    let mut claims = hanako_with("exp", json!(START + 86_400));
    claims["number"] = json!(n);
    signer.token(&claims)
}

#[tokio::test]
async fn what_one_channels_secret_signed_is_nothing_to_another_channel_with_another_secret() {
    let story = Story::begins();
    let token = hs256(&json!({"alg": "HS256", "typ": "JWT"}), &hanako(), LOGIN_SECRET.as_bytes());
    let another = LoginChannels { hs256_secret: Some("another-secret".into()), ..ours() };
    assert_eq!(invalid(&story.verifier.verify(&token, &another).await), "signature");
    assert!(is_hanako(&story.verifier.verify(&token, &ours_with_web_login()).await));
    assert_eq!(invalid(&story.verifier.verify(&token, &another).await), "signature");
    let empty = LoginChannels { hs256_secret: Some("".into()), ..ours() };
    assert_eq!(invalid(&story.verifier.verify(&token, &empty).await), "algorithm");
}
