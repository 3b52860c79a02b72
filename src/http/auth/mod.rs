//! Who calls, as types: a handler that takes an [`Admin`] can't be reached by any other caller, and a [`Participant`],
//! a `Granter` or a `Screen` exists only after a verified token.

mod grammar;
mod organiser;
mod participant;
mod staff;

pub use grammar::token_name;
pub use organiser::{Admin, AdminToken, AdminTokens, Events, Operator, Role, Viewer};
pub use participant::Participant;
pub(super) use participant::{count_from_nothing, id_token};
pub(super) use staff::{Granter, Post, Screen};

use actix_web::{HttpRequest, http::header};

/// What the `Authorization` header brought.
#[derive(Debug, PartialEq, Eq)]
enum Credentials<'a> {
    /// A bearer token (RFC 6750).
    Bearer(&'a str),
    /// None, or of another scheme.
    Nothing,
    /// Several headers, or text that no token is made of.
    Unusable,
}

impl<'a> Credentials<'a> {
    fn of(req: &'a HttpRequest) -> Self {
        let mut values = req.headers().get_all(header::AUTHORIZATION);
        match (values.next(), values.next()) {
            (None, _) => Self::Nothing,
            (Some(value), None) => value.to_str().map_or(Self::Unusable, Self::read),
            (Some(_), Some(_)) => Self::Unusable,
        }
    }

    fn read(text: &'a str) -> Self {
        let (scheme, token) = text.trim().split_once(' ').unwrap_or((text.trim(), ""));
        let token = token.trim_start();
        if !scheme.eq_ignore_ascii_case("bearer") || token.is_empty() {
            Self::Nothing
        } else if token.bytes().all(|b| b.is_ascii_graphic()) {
            Self::Bearer(token)
        } else {
            Self::Unusable
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bearer_token_is_read_whatever_the_case_of_its_scheme() {
        for text in ["Bearer abc", "bearer abc", "BEARER   abc "] {
            assert_eq!(Credentials::read(text), Credentials::Bearer("abc"), "{text}");
        }
        for text in ["", "Bearer", "Bearer ", "Basic abc", "Bearerabc"] {
            assert_eq!(Credentials::read(text), Credentials::Nothing, "{text}");
        }
        assert_eq!(Credentials::read("Bearer a b"), Credentials::Unusable);
    }

    #[test]
    fn two_authorization_headers_are_never_one() {
        let req = actix_web::test::TestRequest::default()
            .append_header(("authorization", "Bearer a"))
            .append_header(("authorization", "Bearer b"))
            .to_http_request();
        assert_eq!(Credentials::of(&req), Credentials::Unusable);
    }
}
