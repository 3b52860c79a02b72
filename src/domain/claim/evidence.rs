//! What a claim brings to show that the participant is at the stamp.

use std::{fmt, time::Duration};

use crate::domain::{
    proof::{Code, Fix, HardwareId, ProofKind, StampCode, Witness},
    time::Timestamp,
};

/// What a claim brings. Nothing of it is believed before it was judged.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Evidence {
    /// A code that was scanned or typed.
    pub code: Option<BroughtCode>,
    /// A passcode as it was typed.
    pub passcode: Option<Typed>,
    /// Where the phone believes to be.
    pub fix: Option<Fix>,
    /// How long ago all this was taken, by the phone's word; absent: now.
    pub age: Option<Duration>,
    /// What another party than the participant's phone says.
    pub report: Option<Report>,
}

/// A code that a claim brings.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum BroughtCode {
    /// It reads as no code of a stamp; it may have been meant as any.
    Other,
    /// It reads as a code of a stamp.
    Stamp(StampCode),
}

impl BroughtCode {
    /// Reads a code as it was scanned or typed.
    #[must_use]
    pub fn read(text: &str) -> Self {
        match Code::read(text) {
            Some(Code::Stamp(code)) => Self::Stamp(code),
            Some(Code::Person(_)) | None => Self::Other,
        }
    }

    fn may_be(self, kind: ProofKind) -> bool {
        match self {
            Self::Other => true,
            Self::Stamp(code) => ProofKind::from(code.kind()) == kind,
        }
    }
}

impl fmt::Debug for BroughtCode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(if *self == Self::Other { "Other" } else { "Stamp(…)" })
    }
}

/// A text that must not be shown.
#[derive(Clone, PartialEq, Eq)]
pub struct Typed(pub String);

impl fmt::Debug for Typed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Typed(…)")
    }
}

/// What another party than the participant's phone says of their presence.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Report {
    /// LINE's platform saw them near a beacon.
    Beacon {
        /// Which one.
        hwid: HardwareId,
        /// When.
        at: Timestamp,
    },
    /// A member of the staff grants the stamp.
    Staff(Witness),
}

impl Evidence {
    /// Returns whether it has something for a kind of proof.
    pub(super) fn has(&self, kind: ProofKind) -> bool {
        match kind {
            ProofKind::Beacon => matches!(self.report, Some(Report::Beacon { .. })),
            ProofKind::Location => self.fix.is_some(),
            ProofKind::Open => true,
            ProofKind::Passcode => self.passcode.is_some(),
            ProofKind::QrRotating | ProofKind::QrStatic => self.code.is_some_and(|code| code.may_be(kind)),
            ProofKind::Staff => matches!(self.report, Some(Report::Staff(_))),
        }
    }

    /// Returns when it was taken, by the word of the phone or of LINE, if either says so.
    pub(super) fn captured_at(&self, receipt: Timestamp) -> Option<Timestamp> {
        match (&self.report, self.age) {
            (Some(Report::Beacon { at, .. }), _) => Some((*at).min(receipt)),
            (_, Some(age)) => Some(receipt.plus_millis(-i64::try_from(age.as_millis()).unwrap_or(i64::MAX))),
            (_, None) => None,
        }
    }
}
