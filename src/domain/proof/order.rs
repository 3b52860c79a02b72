//! What operators order about the codes of a stamp.

use super::{CodeGeneration, CodeKind, Generation, Generations};
use crate::domain::time::Timestamp;

/// What an operator orders about a stamp's codes.
#[derive(Debug, Clone, Copy)]
pub struct CodeOrder<'a> {
    /// What is to be done.
    pub change: CodeChange,
    /// The name of the operator.
    pub by: &'a str,
    /// When it is ordered.
    pub at: Timestamp,
}

impl CodeOrder<'_> {
    /// Carries the order out, and returns the generation that it made or revoked. A repeated revocation changes nothing.
    pub fn carry_out(&self, codes: &mut Generations) -> Result<CodeGeneration, CodeRefusal> {
        match self.change {
            CodeChange::Revoke(kind, generation) => {
                codes.revoke((kind, generation), self.by, self.at).ok_or(CodeRefusal::Unknown)
            }
            CodeChange::Rotate(kind) => codes.rotate(kind, self.by, self.at).ok_or(CodeRefusal::UsedUp),
        }
    }
}

/// A change of a stamp's codes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CodeChange {
    /// A generation is revoked.
    Revoke(CodeKind, Generation),
    /// The next generation is made.
    Rotate(CodeKind),
}

/// Why an order about a stamp's codes is refused.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum CodeRefusal {
    /// The event has no such stamp.
    #[error("there is no such stamp")]
    NoStamp,
    /// The stamp never had such a generation.
    #[error("the stamp's codes have no such generation")]
    Unknown,
    /// There are 99 generations.
    #[error("there are 99 generations of these codes, and no more can be made: show one that isn't revoked")]
    UsedUp,
}

#[cfg(test)]
mod tests {
    use super::*;
    use CodeKind::QrStatic;

    #[test]
    fn an_order_is_carried_out_or_refused_with_what_is_in_its_way() {
        let generation = |number: i64| Generation::try_from(number).unwrap();
        let (mut codes, at) = (Generations::default(), "2026-05-23T10:00:00.000Z".parse().unwrap());
        let order = |change| CodeOrder { change, by: "office", at };
        let unknown = order(CodeChange::Revoke(QrStatic, generation(2))).carry_out(&mut codes);
        assert_eq!(unknown, Err(CodeRefusal::Unknown));
        for _ in 2..=99 {
            order(CodeChange::Rotate(QrStatic)).carry_out(&mut codes).unwrap();
        }
        assert_eq!(order(CodeChange::Rotate(QrStatic)).carry_out(&mut codes), Err(CodeRefusal::UsedUp));
        let revoked = order(CodeChange::Revoke(QrStatic, generation(99))).carry_out(&mut codes).unwrap();
        assert_eq!((revoked.revoked_at, revoked.revoked_by.as_deref()), (Some(at), Some("office")));
    }
}
