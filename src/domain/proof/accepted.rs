//! What a stamp's fact says of the proof that was accepted.

use serde::{Deserialize, Serialize};

use super::{Generation, HardwareId, Meters, ProofKind, Step};
use crate::domain::time::Timestamp;

/// The proof of an acquired stamp: how it was proved and how strong that is; never a code, a passcode or a place.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct AcceptedProof {
    /// The kinds that held.
    pub kinds: Vec<ProofKind>,
    /// How strong they are together, 0 to 3.
    pub trust: u8,
    /// The generation of the code.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub generation: Option<Generation>,
    /// The step of a screen's code.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub step: Option<Step>,
    /// How far away from the stamp the phone believed to be.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub distance_meters: Option<Meters>,
    /// How exact that was.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub accuracy_meters: Option<Meters>,
    /// The beacon that LINE reported.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hwid: Option<HardwareId>,
    /// Who granted it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub staff: Option<Witness>,
    /// When the proof was taken, by the word of the phone, or of LINE.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub captured_at: Option<Timestamp>,
    /// Whether the windows were open only then, and not when it was received.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub late: bool,
}

/// Who granted a stamp: a `staffId`, or `admin:{name}` for the bearer of an admin token.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Witness(String);

impl Witness {
    /// Names a member of the staff.
    #[must_use]
    pub fn staff(staff_id: &str) -> Self {
        Self(staff_id.to_owned())
    }

    /// Names the bearer of an admin token.
    #[must_use]
    pub fn admin(name: &str) -> Self {
        Self(format!("admin:{name}"))
    }

    /// Returns it as text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}
