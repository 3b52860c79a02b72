//! Claims: what a participant asks for, the evidence that comes with it, and how it is decided and refused.
//!
//! | file | holds |
//! | --- | --- |
//! | `claim/evidence.rs` | what a claim brings |
//! | `claim/case.rs` | what it is decided by, and what a decision may ask for |
//! | `claim/decide.rs` | the decision: the fact, a refusal, or what must be known first |
//! | `claim/judge.rs` | whether the evidence is a proof that the stamp takes |
//! | `claim/person.rs` | whose code staff scanned |
//! | `claim/pace.rs` | interval and speed between two stamps |
//! | `claim/refusal.rs`, `claim/texts.rs` | refusals with their figures, and what a participant reads of them |

mod case;
mod decide;
mod evidence;
mod judge;
mod pace;
mod person;
mod refusal;
mod texts;

#[cfg(test)]
mod tests;

use super::{
    event::{Event, Phase, Window},
    fact::User,
    ids::{LineUserId, RequestId},
    time::Timestamp,
};

pub use case::{Case, Known, NoKeys, Question};
pub use decide::{Decision, PaceGuard, Registration, Wanted};
pub use evidence::{BroughtCode, Evidence, Report, Typed};
pub use judge::{TRIES, TRIES_SECONDS};
pub use person::person_of;
pub use refusal::{Refusal, Rejection, whole_seconds};

/// A claim for a stamp.
#[derive(Debug, Clone, PartialEq)]
pub struct Claim {
    /// Who claims, as a verified token says.
    pub line_user_id: LineUserId,
    /// The request that brought it.
    pub request_id: RequestId,
    /// What it brings to show that the participant is at the stamp.
    pub evidence: Evidence,
}

/// Decides on a registration: returns the fact to record, or why not. Registering is possible before the start too, and
/// never after the end.
pub fn register(
    event: &Event,
    line_user_id: LineUserId,
    request_id: RequestId,
    now: Timestamp,
) -> Result<User, Refusal> {
    if event.window.is_over(now) {
        return Err(Refusal::EventEnded);
    }
    Ok(User::registers(event.event_id.clone(), line_user_id, request_id, now))
}

/// Refuses what comes too early or too late.
fn admit(window: Window, now: Timestamp) -> Result<(), Refusal> {
    match window.phase(now) {
        Phase::ToCome => Err(Refusal::EventNotStarted),
        Phase::Open => Ok(()),
        Phase::Over => Err(Refusal::EventEnded),
    }
}
