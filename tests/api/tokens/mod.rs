//! Who a caller is: only what a verified ID token says.

mod by_line;
mod forged;
mod keys;
mod meant;

use reqwest::Method;
use stamp_rally::line::id_token::Verification;

use super::house::{Answer, Fittings, PAGE, Person};

/// Tokens are verified by LINE.
fn endpoint() -> Fittings {
    Fittings { verification: Verification::Endpoint, ..Fittings::default() }
}

/// Every way to claim to be a participant.
async fn no_way_gets_in(who: &Person<'_>, code: &str, what: &str) {
    for (method, path) in
        [(Method::PUT, "/me"), (Method::GET, "/me"), (Method::GET, "/me/stamps/001"), (Method::POST, "/me/stamps/001")]
    {
        let answer = Answer::to(who.request(method, path).header("origin", PAGE)).await;
        assert_eq!((answer.status, answer.body["code"].as_str()), (401, Some(code)), "{what}: {answer:?}");
        let answer = answer.refuses(401, code);
        assert_eq!(
            answer.header("www-authenticate"),
            if code == "token_missing" { "Bearer" } else { "Bearer error=\"invalid_token\"" }
        );
        assert_eq!(answer.header("access-control-allow-origin"), PAGE, "the page can read it");
        let shown = answer.body.to_string();
        assert!(who.token.len() < 10 || !shown.contains(&who.token), "{what}: a token is never shown");
    }
}
