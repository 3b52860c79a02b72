//! Organisers: callers with a configured admin token of a sufficient role, for the event in the path.

use std::{
    collections::BTreeSet,
    fmt,
    future::{Ready, ready},
    sync::Arc,
};

use actix_web::{FromRequest, HttpRequest, dev::Payload, web::Data};
use clap::ValueEnum;
use serde::Deserialize;
use sha2::{Digest as _, Sha256};
use subtle::{ConditionallySelectable as _, ConstantTimeEq as _};

use crate::domain::ids::EventId;
use crate::http::problem::ApiError;

use super::{Credentials, grammar};

/// What a token may do; each role may do what the ones before it may.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Deserialize, ValueEnum)]
#[serde(rename_all = "lowercase")]
pub enum Role {
    /// Reads.
    Viewer,
    /// Also resends.
    Operator,
    /// Also changes settings.
    Admin,
}

/// The events a token is for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Events {
    /// All of them, future ones too.
    All,
    /// These.
    These(BTreeSet<EventId>),
}

impl Events {
    /// Returns whether an event is one of them.
    #[must_use]
    pub fn contains(&self, event_id: &EventId) -> bool {
        match self {
            Self::All => true,
            Self::These(ids) => ids.contains(event_id),
        }
    }
}

/// One configured admin token; the token itself is known to its bearer alone.
#[derive(Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct AdminToken {
    /// What it is called: `requestedBy` of what it asks for.
    #[serde(deserialize_with = "grammar::name")]
    pub name: String,
    /// What it may do.
    pub role: Role,
    /// The SHA-256 of the token.
    #[serde(deserialize_with = "grammar::sha256")]
    pub sha256: [u8; 32],
    /// For which events.
    #[serde(deserialize_with = "grammar::events")]
    pub events: Events,
}

impl fmt::Debug for AdminToken {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("AdminToken").field("name", &self.name).field("role", &self.role).finish_non_exhaustive()
    }
}

/// The configured admin tokens.
#[derive(Debug, Default)]
pub struct AdminTokens(Vec<Arc<AdminToken>>);

impl AdminTokens {
    /// Takes these tokens, and no others.
    #[must_use]
    pub fn new(tokens: Vec<AdminToken>) -> Self {
        Self(tokens.into_iter().map(Arc::new).collect())
    }

    /// Returns the configured token that this text is. Compares with every one in constant time: how long it takes shows
    /// neither whether one fits nor which.
    pub(super) fn find(&self, token: &str) -> Option<&Arc<AdminToken>> {
        let presented = Sha256::digest(token.as_bytes());
        let mut found = u32::MAX;
        for (index, known) in (0u32..).zip(&self.0) {
            found.conditional_assign(&index, known.sha256.ct_eq(presented.as_slice()));
        }
        self.0.get(usize::try_from(found).ok()?)
    }
}

/// The bearer of a token whose [`Role`] is `LEAST` or more, for the event in the request's path.
#[derive(Debug)]
pub struct Organiser<const LEAST: u8>(Arc<AdminToken>);

/// May read.
pub type Viewer = Organiser<{ Role::Viewer as u8 }>;
/// May also resend.
pub type Operator = Organiser<{ Role::Operator as u8 }>;
/// May also change settings.
pub type Admin = Organiser<{ Role::Admin as u8 }>;

impl<const LEAST: u8> Organiser<LEAST> {
    /// Returns the name of their token.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.0.name
    }

    /// Returns whether their token is for this event; of the event in the path it is.
    #[must_use]
    pub fn may_see(&self, event_id: &EventId) -> bool {
        self.0.events.contains(event_id)
    }
}

impl<const LEAST: u8> FromRequest for Organiser<LEAST> {
    type Error = ApiError;
    type Future = Ready<Result<Self, ApiError>>;

    fn from_request(req: &HttpRequest, _: &mut Payload) -> Self::Future {
        ready(admit(req, LEAST).map(Self))
    }
}

fn admit(req: &HttpRequest, least: u8) -> Result<Arc<AdminToken>, ApiError> {
    let tokens = req.app_data::<Data<AdminTokens>>();
    let token = match Credentials::of(req) {
        Credentials::Bearer(text) => tokens.and_then(|tokens| tokens.find(text)),
        Credentials::Nothing | Credentials::Unusable => None,
    };
    let token = token.ok_or(ApiError::AdminTokenInvalid)?;
    if (token.role as u8) < least {
        return Err(ApiError::Forbidden("this token's role may not do that"));
    }
    match req.match_info().get("eventId").map(str::parse::<EventId>) {
        Some(Ok(event_id)) if !token.events.contains(&event_id) => {
            Err(ApiError::Forbidden("this token is not for this event"))
        }
        // A malformed id belongs to no event: the path is refused for it next.
        Some(Ok(_) | Err(_)) | None => Ok(Arc::clone(token)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn token(name: &str, text: &str) -> AdminToken {
        let sha256 = Sha256::digest(text.as_bytes()).into();
        AdminToken { name: name.to_owned(), role: Role::Viewer, sha256, events: Events::All }
    }

    #[test]
    fn a_token_is_found_by_its_hash_and_by_nothing_else() {
        let tokens = AdminTokens::new(vec![token("office", "a"), token("agency", "b")]);
        assert_eq!(tokens.find("a").unwrap().name, "office");
        assert_eq!(tokens.find("b").unwrap().name, "agency");
        assert!(tokens.find("c").is_none() && tokens.find("").is_none());
        assert!(AdminTokens::default().find("a").is_none());
    }

    #[test]
    fn a_token_is_for_all_events_or_for_those_it_names() {
        let event = "spring".parse().unwrap();
        let these = |id: &str| Events::These([id.parse().unwrap()].into());
        assert!(Events::All.contains(&event) && these("spring").contains(&event));
        assert!(!these("autumn").contains(&event));
    }

    #[test]
    fn an_admin_may_what_an_operator_may_and_an_operator_what_a_viewer_may() {
        assert!(Role::Admin > Role::Operator && Role::Operator > Role::Viewer);
    }

    #[test]
    fn a_token_never_shows_its_hash() {
        assert_eq!(format!("{:?}", token("office", "a")), r#"AdminToken { name: "office", role: Viewer, .. }"#);
    }
}
