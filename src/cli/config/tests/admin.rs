//! Tokens of organisers.

use super::*;
use crate::http::auth::{Events, Role};

fn token(name: &str, digit: char) -> String {
    let hash = digit.to_string().repeat(64);
    format!("{{ name = \"{name}\", role = \"viewer\", sha256 = \"{hash}\", events = [\"rally-1\"] }}")
}

fn tokens(tokens: &[String]) -> String {
    format!("[admin]\ntokens = [{}]\n", tokens.join(", "))
}

#[test]
fn tokens_are_read_with_role_hash_and_events() {
    let settings = load(&tokens(&[token("Mariko", 'a'), token("Kenji", 'B')]), &[]).unwrap();
    let mariko = &settings.admin.tokens[0];
    assert_eq!((mariko.name.as_str(), mariko.role, mariko.sha256), ("Mariko", Role::Viewer, [0xaa; 32]));
    assert!(
        mariko.events.contains(&"rally-1".parse().unwrap()) && !mariko.events.contains(&"rally-2".parse().unwrap())
    );
    assert_eq!(settings.admin.tokens[1].sha256, [0xbb; 32]);
    for all in ["\"*\"", "[\"*\"]", "[\"rally-1\", \"*\"]"] {
        let settings = load(&tokens(&[token("Mariko", 'a').replace("[\"rally-1\"]", all)]), &[]).unwrap();
        assert_eq!(settings.admin.tokens[0].events, Events::All);
    }
    assert!(Role::Viewer < Role::Operator && Role::Operator < Role::Admin);
}

#[test]
fn two_tokens_share_neither_name_nor_hash() {
    refuses(
        &tokens(&[token("Mariko", 'a'), token("Mariko", 'b')]),
        "`admin.tokens[1].name` (file rally.toml): `Mariko` is the name of another token too: give each its own",
    );
    refuses(
        &tokens(&[token("Mariko", 'a'), token("Kenji", 'a')]),
        "`admin.tokens[1].sha256` (file rally.toml): token `Kenji` has the hash of another: make a token for each",
    );
}

#[test]
fn a_token_that_is_not_whole_is_refused() {
    let changed = |from: &str, to: &str| refusal(&tokens(&[token("Mariko", 'a').replace(from, to)]));
    let hash = "a".repeat(64);
    for wrong in ["a".repeat(63), "a".repeat(65), "g".repeat(64), "+a".repeat(32), "あ".repeat(64)] {
        assert_eq!(
            changed(&hash, &wrong),
            "`admin.tokens[0].sha256` (file rally.toml): must be the SHA-256 of the token: 64 hexadecimal digits"
        );
    }
    assert_eq!(
        changed("viewer", "owner"),
        "`admin.tokens[0].role` (file rally.toml): unknown variant `owner`, expected one of `viewer`, `operator`, `admin`"
    );
    assert_eq!(
        changed("[\"rally-1\"]", "[]"),
        "`admin.tokens[0].events` (file rally.toml): is empty: list event ids, or \"*\" for all"
    );
    assert_eq!(
        changed("rally-1", "rally#1"),
        "`admin.tokens[0].events` (file rally.toml): `rally#1` is no event id: use 1 to 64 letters, digits, hyphens and underscores, or \"*\""
    );
    assert_eq!(
        changed("Mariko", "Mari\\nko"),
        "`admin.tokens[0].name` (file rally.toml): must be a name of 1 to 64 characters"
    );
    assert_eq!(changed("name = \"Mariko\", ", ""), "`admin.tokens[0]` (file rally.toml): missing field `name`");
}
