//! Conditional requests (RFC 9110, section 13): a setting can't be overwritten unseen.

use std::future::{Ready, ready};

use actix_web::{
    FromRequest, HttpRequest,
    dev::Payload,
    http::header::{self, HeaderName},
};

use crate::domain::time::Timestamp;
use crate::http::problem::ApiError;

/// `If-Match` and `If-None-Match` of a PUT.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Preconditions {
    matches: Option<Tags>,
    matches_none: Option<Tags>,
}

#[derive(Debug, PartialEq, Eq)]
enum Tags {
    /// `*`: whatever version there is.
    Any,
    /// Each with the text between its quotes, and whether it is weak.
    These(Vec<Tag>),
}

#[derive(Debug, PartialEq, Eq)]
struct Tag {
    text: String,
    is_weak: bool,
}

/// What is stored of a setting, as preconditions see it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Present {
    /// Nothing.
    Nothing,
    /// An item that can't be read: no tag is its version.
    Unreadable,
    /// This version.
    Version(Timestamp),
}

impl Preconditions {
    /// Checks whether they hold for what is stored.
    pub fn check(&self, present: Present) -> Result<(), ApiError> {
        let version = if let Present::Version(version) = present { Some(version.to_string()) } else { None };
        let stored = |tag: &Tag| Some(&tag.text) == version.as_ref();
        let matches = self.matches.as_ref().is_none_or(|tags| match tags {
            Tags::Any => present != Present::Nothing,
            Tags::These(tags) => tags.iter().any(|tag| stored(tag) && !tag.is_weak),
        });
        let matches_none = self.matches_none.as_ref().is_none_or(|tags| match tags {
            Tags::Any => present == Present::Nothing,
            Tags::These(tags) => !tags.iter().any(stored),
        });
        if matches && matches_none { Ok(()) } else { Err(ApiError::VersionConflict) }
    }
}

impl FromRequest for Preconditions {
    type Error = ApiError;
    type Future = Ready<Result<Self, ApiError>>;

    fn from_request(req: &HttpRequest, _: &mut Payload) -> Self::Future {
        let read = || {
            Ok(Self {
                matches: tags(req, &header::IF_MATCH, "If-Match")?,
                matches_none: tags(req, &header::IF_NONE_MATCH, "If-None-Match")?,
            })
        };
        ready(read())
    }
}

/// Returns the tags of a header, which may come in several lines.
fn tags(req: &HttpRequest, name: &HeaderName, shown: &str) -> Result<Option<Tags>, ApiError> {
    let lines: Option<Vec<&str>> = req.headers().get_all(name).map(|line| line.to_str().ok()).collect();
    match lines {
        Some(lines) if lines.is_empty() => Ok(None),
        lines => lines.and_then(|lines| parse(&lines.join(","))).map(Some).ok_or_else(|| {
            ApiError::InvalidRequest(format!("{shown}: must be * or tags in double quotes, as `ETag` had them"))
        }),
    }
}

fn parse(text: &str) -> Option<Tags> {
    if text.trim() == "*" {
        return Some(Tags::Any);
    }
    let mut tags = Vec::new();
    let mut rest = text.trim();
    while !rest.is_empty() {
        let (is_weak, quoted) = rest.strip_prefix("W/").map_or((false, rest), |quoted| (true, quoted));
        let (tag, after) = quoted.strip_prefix('"')?.split_once('"')?;
        tags.push(Tag { text: tag.to_owned(), is_weak });
        let after = after.trim_start();
        rest = if after.is_empty() { after } else { after.strip_prefix(',')?.trim_start() };
    }
    if tags.is_empty() { None } else { Some(Tags::These(tags)) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use actix_web::test::TestRequest;

    const OLD: &str = "2026-05-23T10:00:00.000Z";
    const NEW: &str = "2026-05-23T10:00:00.001Z";

    async fn check(header: (&'static str, &str), version: Option<&str>) -> Result<(), ApiError> {
        let req = TestRequest::put().insert_header(header).to_http_request();
        let present = version.map_or(Present::Nothing, |version| Present::Version(version.parse().unwrap()));
        Preconditions::extract(&req).await?.check(present)
    }

    async fn holds(header: (&'static str, &str), version: Option<&str>) -> bool {
        match check(header, version).await {
            Ok(()) => true,
            Err(ApiError::VersionConflict) => false,
            Err(other) => panic!("{other}"),
        }
    }

    #[actix_web::test]
    async fn if_match_holds_for_the_version_it_names() {
        let (old, several) = (format!("\"{OLD}\""), format!("\"x\" , \"{OLD}\""));
        assert!(holds(("if-match", &old), Some(OLD)).await);
        assert!(holds(("if-match", &several), Some(OLD)).await);
        assert!(holds(("if-match", "*"), Some(OLD)).await);
        assert!(!holds(("if-match", &old), Some(NEW)).await);
        assert!(!holds(("if-match", &format!("W/{old}")), Some(OLD)).await, "weak tags never match strongly");
    }

    #[actix_web::test]
    async fn if_match_on_nothing_never_holds() {
        assert!(!holds(("if-match", "*"), None).await);
        assert!(!holds(("if-match", "\"x\""), None).await);
    }

    #[actix_web::test]
    async fn if_none_match_star_only_creates() {
        assert!(holds(("if-none-match", "*"), None).await);
        assert!(!holds(("if-none-match", "*"), Some(OLD)).await);
        assert!(!holds(("if-none-match", &format!("W/\"{OLD}\"")), Some(OLD)).await);
    }

    #[actix_web::test]
    async fn without_conditions_everything_holds() {
        assert!(holds(("accept", "*/*"), None).await && holds(("accept", "*/*"), Some(OLD)).await);
    }

    #[actix_web::test]
    async fn what_is_no_tag_is_refused_by_name() {
        for text in ["", "abc", "\"abc", "\"a\" \"b\"", "*, \"a\"", OLD] {
            let refused = check(("if-match", text), None).await.unwrap_err();
            assert!(matches!(&refused, ApiError::InvalidRequest(rule) if rule.starts_with("If-Match")), "{text}");
        }
    }
}
