//! What a claim is decided by, and what a decision may ask for.

use crate::domain::{
    event::Event,
    fact::Facts,
    proof::ProofKeys,
    stamp::{StampMaster, StampMasters},
    time::Timestamp,
};

/// What a claim is decided by.
#[derive(Clone, Copy)]
pub struct Case<'a> {
    /// The event.
    pub event: &'a Event,
    /// Its stamps.
    pub masters: &'a StampMasters,
    /// The claimed one.
    pub master: &'a StampMaster,
    /// The keys of codes and passcodes.
    pub keys: &'a ProofKeys,
    /// When the claim was received.
    pub now: Timestamp,
}

/// What was read because a decision asked for it.
#[derive(Clone, Copy, Default)]
pub struct Known<'a> {
    /// All facts of the participant.
    pub facts: Option<&'a Facts>,
    /// How many passcodes the participant tried, this one included.
    pub tries: Option<u32>,
    /// Whether the case has the master as the table has it, and not as it was cached.
    pub has_newest_master: bool,
}

/// What must be known before a claim is decided.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Question {
    /// The participant's facts: one consistent Query.
    Facts,
    /// The master as the table has it: one `GetItem`.
    NewestMaster,
    /// The number of this try: one Update that counts it.
    Try,
}

/// A stamp is proved by a key, and this server has none.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("a stamp takes codes or a passcode, and `proofs.keys` has no key: configure the keys that made them")]
pub struct NoKeys;
