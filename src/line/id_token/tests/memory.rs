use super::{
    super::super::{Access, messaging::Messenger},
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
    story.clock.turn(Duration::from_secs(90));
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
    let messenger = Messenger::new(story.line.platform(), access, story.clock.clock());
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
