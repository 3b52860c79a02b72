//! Proofs of presence: how a claim shows that the participant is at the stamp, and how strong that is.
//!
//! | file | holds |
//! | --- | --- |
//! | `proof/accepted.rs` | what a stamp's fact says of the proof that was accepted |
//! | `proof/code.rs`, `proof/crockford.rs` | codes: printed, shown on a screen, of a person |
//! | `proof/generations.rs` | the generations of a stamp's codes: rotated, revoked |
//! | `proof/keys.rs` | the keys that make and check codes and passcodes |
//! | `proof/order.rs` | what operators order about generations |
//! | `proof/passcode.rs` | passcodes, as they are compared |
//! | `proof/place.rs` | places, and distances between them |
//! | `proof/printed.rs` | printed codes, as organisers get them |
//! | `proof/screen.rs` | what a screen shows |
//! | `proof/settings.rs` | what each kind needs to know of a stamp |

mod accepted;
mod code;
mod crockford;
mod generations;
mod keys;
mod order;
mod passcode;
mod place;
mod printed;
mod screen;
mod settings;

use serde::{Deserialize, Serialize};

use super::{Malformed, worded::worded};

pub use accepted::{AcceptedProof, Witness};
pub(super) use code::Timeliness;
#[cfg(test)]
pub(super) use code::tests::contract_keys;
pub use code::{Code, CodeSource, PERSON_STEP_SECONDS, PersonCode, StampCode, Step};
pub use generations::{CodeGeneration, CodeKind, Generation, Generations, Living};
pub use keys::{KeyFault, ProofKeys};
pub use order::{CodeChange, CodeOrder, CodeRefusal};
pub use passcode::{Passcode, PasscodeHash};
pub use place::{Circle, Fix, Meters};
pub use printed::PrintedCode;
pub use screen::ScreenCode;
pub use settings::{BeaconSettings, HardwareId, LocationSettings, ProofSettings, RotatingSettings};

worded! {
    /// A way to show that a participant is at a stamp.
    #[derive(Serialize, Deserialize)]
    #[serde(rename_all = "snake_case")]
    ProofKind {
        /// LINE reported the stamp's beacon near the participant.
        Beacon = "beacon",
        /// The phone's place.
        Location = "location",
        /// None is asked for.
        Open = "open",
        /// A word that is told or shown at the stamp.
        Passcode = "passcode",
        /// A code of a screen, which changes.
        QrRotating = "qr_rotating",
        /// A printed code.
        QrStatic = "qr_static",
        /// A member of the staff granted it.
        Staff = "staff",
    }
}

impl ProofKind {
    /// Returns how much a stamp is worth that was acquired by this alone; a place only adds to others.
    fn trust(self) -> u8 {
        match self {
            Self::Location | Self::Open => 0,
            Self::Beacon | Self::Passcode | Self::QrStatic => 1,
            Self::QrRotating => 2,
            Self::Staff => 3,
        }
    }

    /// Returns whether it is a code of the stamp.
    pub(super) fn is_code(self) -> bool {
        matches!(self, Self::QrRotating | Self::QrStatic)
    }

    /// Returns whether judging it takes a key.
    pub(super) fn needs_key(self) -> bool {
        matches!(self, Self::Passcode | Self::QrRotating | Self::QrStatic)
    }

    fn stands_alone(self) -> bool {
        matches!(self, Self::Beacon | Self::Open | Self::Staff)
    }
}

/// The greatest trust.
const MOST_TRUST: u8 = 3;

/// Returns the trust of kinds that held together: the strongest counts, a place adds 1, up to 3.
#[must_use]
pub fn trust(kinds: &[ProofKind]) -> u8 {
    let strongest = kinds.iter().map(|kind| kind.trust()).max().unwrap_or(0);
    let place = u8::from(kinds.contains(&ProofKind::Location));
    (strongest + place).min(MOST_TRUST)
}

/// How a stamp may be proved: one to four alternatives, each of one to three kinds that must all hold.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "Vec<Vec<ProofKind>>", into = "Vec<Vec<ProofKind>>")]
pub struct Proofs(Vec<Vec<ProofKind>>);

impl Proofs {
    /// Returns the alternatives in their order.
    #[must_use]
    pub fn alternatives(&self) -> &[Vec<ProofKind>] {
        &self.0
    }

    /// Returns whether one of the alternatives has this kind.
    #[must_use]
    pub fn take(&self, kind: ProofKind) -> bool {
        self.0.iter().flatten().any(|taken| *taken == kind)
    }

    /// Returns where the first kind stands that needs a key, as a path: `proofs[0][1]`.
    #[must_use]
    pub fn first_that_needs_a_key(&self) -> Option<String> {
        self.place_of(ProofKind::needs_key)
    }

    /// Returns where a kind stands first, as a path.
    #[must_use]
    pub fn place_of_kind(&self, kind: ProofKind) -> Option<String> {
        self.place_of(|taken| taken == kind)
    }

    fn place_of(&self, is_it: impl Fn(ProofKind) -> bool) -> Option<String> {
        let places = self
            .0
            .iter()
            .enumerate()
            .flat_map(|(number, kinds)| kinds.iter().enumerate().map(move |(place, kind)| (number, place, *kind)));
        let found = places.into_iter().find(|(_, _, kind)| is_it(*kind));
        found.map(|(number, place, _)| format!("proofs[{number}][{place}]"))
    }

    fn check(alternatives: &[Vec<ProofKind>]) -> Result<(), Malformed> {
        if !(1..=4).contains(&alternatives.len()) {
            return Err(Malformed::new("proofs", "must have 1 to 4 alternatives"));
        }
        alternatives.iter().enumerate().try_for_each(|(number, kinds)| check(number, kinds))
    }
}

/// Refuses an alternative that no claim could bring, or that says the same twice.
fn check(number: usize, kinds: &[ProofKind]) -> Result<(), Malformed> {
    let refuse = |rule: &str| Err(Malformed::new(format!("proofs[{number}]"), rule));
    if !(1..=3).contains(&kinds.len()) {
        return refuse("must have 1 to 3 kinds");
    }
    for (place, kind) in kinds.iter().enumerate() {
        let refuse = |rule: String| Err(Malformed::new(format!("proofs[{number}][{place}]"), rule));
        if kinds[..place].contains(kind) {
            return refuse(format!("{kind} stands twice: name each kind once"));
        }
        if kind.stands_alone() && kinds.len() > 1 {
            return refuse(format!("{kind} stands alone: give it an alternative of its own"));
        }
    }
    if kinds.contains(&ProofKind::QrStatic) && kinds.contains(&ProofKind::QrRotating) {
        return refuse("a claim brings one code: give qr_static and qr_rotating an alternative each");
    }
    Ok(())
}

impl Default for Proofs {
    /// No proof is asked for.
    fn default() -> Self {
        Self(vec![vec![ProofKind::Open]])
    }
}

impl TryFrom<Vec<Vec<ProofKind>>> for Proofs {
    type Error = Malformed;

    fn try_from(alternatives: Vec<Vec<ProofKind>>) -> Result<Self, Malformed> {
        Self::check(&alternatives)?;
        Ok(Self(alternatives))
    }
}

impl From<Proofs> for Vec<Vec<ProofKind>> {
    fn from(proofs: Proofs) -> Self {
        proofs.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ProofKind::{Beacon, Location, Open, Passcode, QrRotating, QrStatic, Staff};

    fn refused(alternatives: Vec<Vec<ProofKind>>) -> String {
        Proofs::try_from(alternatives).unwrap_err().to_string()
    }

    #[test]
    fn proofs_are_one_to_four_alternatives_of_one_to_three_kinds() {
        assert!(Proofs::try_from(vec![vec![QrRotating, Location, Passcode], vec![Staff]]).is_ok());
        assert_eq!(refused(vec![]), "proofs: must have 1 to 4 alternatives");
        assert_eq!(refused(vec![vec![Open]; 5]), "proofs: must have 1 to 4 alternatives");
        assert_eq!(refused(vec![vec![Open], vec![]]), "proofs[1]: must have 1 to 3 kinds");
    }

    #[test]
    fn open_staff_and_beacon_stand_alone_and_no_kind_stands_twice() {
        for kind in [Open, Staff, Beacon] {
            let rule = format!("proofs[0][1]: {kind} stands alone: give it an alternative of its own");
            assert_eq!(refused(vec![vec![Location, kind]]), rule);
        }
        let twice = refused(vec![vec![Location, Location]]);
        assert_eq!(twice, "proofs[0][1]: location stands twice: name each kind once");
        assert!(refused(vec![vec![QrStatic, QrRotating]]).starts_with("proofs[0]: a claim brings one code"));
    }

    #[test]
    fn the_strongest_kind_counts_and_a_place_adds_one_up_to_three() {
        assert_eq!(
            [Open, QrStatic, Passcode, Beacon, QrRotating, Staff].map(|kind| trust(&[kind])),
            [0, 1, 1, 1, 2, 3]
        );
        assert_eq!(trust(&[QrStatic, Location]), 2);
        assert_eq!(trust(&[QrRotating, Location, Passcode]), 3);
        assert_eq!(trust(&[Location]), 1);
    }
}
