//! Staff, who grant stamps, and screens, which show their codes: bearers of a token that the event's organiser made.

use actix_web::HttpRequest;

use crate::domain::{
    ids::{EventId, StampId},
    proof::Witness,
    staff::{Staff, StaffRole, StaffToken},
    time::Timestamp,
};
use crate::http::problem::ApiError;

use super::{AdminToken, AdminTokens, Credentials, Role};

/// Where and when a token must be good.
#[derive(Debug, Clone, Copy)]
pub(in crate::http) struct Post<'a> {
    /// In which event.
    pub event_id: &'a EventId,
    /// At which stamp.
    pub stamp_id: &'a StampId,
    /// Who the event's staff and screens are.
    pub staff: &'a [Staff],
    /// The time.
    pub now: Timestamp,
}

impl<'a> Post<'a> {
    /// Returns whose token this is, if it is one of the event's that is good now.
    fn find(&self, token: &str) -> Option<&'a Staff> {
        let staff_id = StaffToken::staff_id(token)?;
        let named = self.staff.iter().find(|staff| staff.staff_id == staff_id)?;
        (named.sha256.is_of(token) && named.is_good(self.now)).then_some(named)
    }

    fn admit(&self, staff: &Staff, role: StaffRole) -> Result<(), ApiError> {
        if staff.role != role {
            return Err(ApiError::Forbidden("this token's role may not do that"));
        }
        if !staff.stamps.contain(self.stamp_id) {
            return Err(ApiError::Forbidden("this token is not for this stamp"));
        }
        Ok(())
    }

    fn admit_organiser(&self, token: &AdminToken) -> Result<(), ApiError> {
        if token.role < Role::Operator {
            return Err(ApiError::Forbidden("this token's role may not do that"));
        }
        if !token.events.contains(self.event_id) {
            return Err(ApiError::Forbidden("this token is not for this event"));
        }
        Ok(())
    }
}

/// A caller who may grant one stamp: a member of the staff, or an organiser. There is no other way to make one.
#[derive(Debug)]
pub(in crate::http) struct Granter {
    /// Who grants, as facts have it.
    pub witness: Witness,
}

impl Granter {
    /// Verifies the token that a request brings: of staff whose token is for this stamp, or of an operator or admin of
    /// this event.
    pub fn verified(req: &HttpRequest, post: &Post<'_>, organisers: &AdminTokens) -> Result<Self, ApiError> {
        let token = bearer(req)?;
        let witness = match (post.find(token), organisers.find(token)) {
            (Some(staff), _) => {
                post.admit(staff, StaffRole::Staff).map(|()| Witness::staff(staff.staff_id.as_str()))?
            }
            (None, Some(organiser)) => post.admit_organiser(organiser).map(|()| Witness::admin(&organiser.name))?,
            (None, None) => return Err(ApiError::StaffTokenInvalid),
        };
        Ok(Self { witness })
    }
}

/// A screen that may show the codes of one stamp. There is no other way to make one.
#[derive(Debug)]
pub(in crate::http) struct Screen(());

impl Screen {
    /// Verifies the token that a request brings: of a screen for this stamp.
    pub fn verified(req: &HttpRequest, post: &Post<'_>) -> Result<Self, ApiError> {
        let staff = post.find(bearer(req)?).ok_or(ApiError::StaffTokenInvalid)?;
        post.admit(staff, StaffRole::Screen).map(Self)
    }
}

fn bearer(req: &HttpRequest) -> Result<&str, ApiError> {
    match Credentials::of(req) {
        Credentials::Bearer(token) => Ok(token),
        Credentials::Nothing | Credentials::Unusable => Err(ApiError::StaffTokenInvalid),
    }
}

#[cfg(test)]
mod tests {
    use actix_web::test::TestRequest;

    use super::*;
    use crate::domain::staff::StaffOrder;

    fn at(text: &str) -> Timestamp {
        text.parse().unwrap()
    }

    fn hired(role: StaffRole, stamps: &[&str], chance: u8) -> (Staff, StaffToken) {
        let stamps: Vec<String> = stamps.iter().map(|id| (*id).to_owned()).collect();
        let expires_at = Some(at("2026-05-23T18:00:00.000Z"));
        let order =
            StaffOrder { name: "受付".parse().unwrap(), role, stamps: stamps.try_into().unwrap(), expires_at };
        order.make("rally".parse().unwrap(), at("2026-05-23T09:00:00.000Z"), [chance; 38].into()).unwrap()
    }

    /// The code of the refusal at a stamp, of a granter and of a screen.
    fn refusals(staff: &[Staff], token: &str, stamp: &str, now: &str) -> [Option<&'static str>; 2] {
        let req = TestRequest::default().insert_header(("authorization", format!("Bearer {token}"))).to_http_request();
        let (event_id, stamp_id) = ("rally".parse().unwrap(), stamp.parse().unwrap());
        let post = Post { event_id: &event_id, stamp_id: &stamp_id, staff, now: at(now) };
        let code = |error: ApiError| error.code();
        let granter = Granter::verified(&req, &post, &AdminTokens::default()).err().map(code);
        [granter, Screen::verified(&req, &post).err().map(code)]
    }

    #[test]
    fn a_token_is_good_for_its_role_at_its_stamps_and_for_nothing_else() {
        let (reception, its_token) = hired(StaffRole::Staff, &["001"], 1);
        let (screen, screens_token) = hired(StaffRole::Screen, &["*"], 2);
        let (staff, noon) = ([reception, screen], "2026-05-23T12:00:00.000Z");
        assert_eq!(refusals(&staff, its_token.as_str(), "001", noon), [None, Some("forbidden")]);
        assert_eq!(refusals(&staff, its_token.as_str(), "002", noon), [Some("forbidden"); 2]);
        assert_eq!(refusals(&staff, screens_token.as_str(), "002", noon), [Some("forbidden"), None]);
    }

    #[test]
    fn a_token_that_is_unknown_expired_or_revoked_is_none() {
        let ((reception, token), noon) = (hired(StaffRole::Staff, &["*"], 1), "2026-05-23T12:00:00.000Z");
        let staff = [reception.clone()];
        let none = [Some("staff_token_invalid"); 2];
        assert_eq!(refusals(&[], token.as_str(), "001", noon), none, "of another event, say");
        assert_eq!(refusals(&staff, &format!("{}x", token.as_str()), "001", noon), none);
        assert_eq!(refusals(&staff, reception.staff_id.as_str(), "001", noon), none);
        assert_eq!(refusals(&staff, token.as_str(), "001", "2026-05-23T18:00:00.000Z"), none);
        let revoked = Staff { revoked_at: Some(at(noon)), ..reception };
        assert_eq!(refusals(&[revoked], token.as_str(), "001", noon), none);
    }
}
