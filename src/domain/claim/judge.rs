//! Whether what a claim brings is a proof that the stamp takes.

use std::time::Duration;

use super::{
    BroughtCode, Claim, Evidence, Refusal, Rejection, Report,
    case::{Case, Known, NoKeys, Question},
};
use crate::domain::{
    claim::refusal::Rejection::{CodeEarly, CodeExpired, CodeOtherStamp, CodeRevoked, CodeUnknown},
    ids::StampId,
    proof::{AcceptedProof, CodeSource, Living, Meters, ProofKind, StampCode, Timeliness, trust},
    stamp::StampMaster,
};

/// How many passcodes may be tried in [`TRIES_SECONDS`].
pub const TRIES: u32 = 5;

/// The stretch of time in which passcodes are counted.
pub const TRIES_SECONDS: u32 = 600;

/// How old a phone's place may be.
const FRESH_FIX: Duration = Duration::from_mins(1);

/// Why judging ends without a proof.
#[derive(Debug)]
pub(super) enum Stop {
    Ask(Question),
    NoKeys(NoKeys),
    Refuse(Refusal),
}

impl From<Rejection> for Stop {
    fn from(rejection: Rejection) -> Self {
        Self::Refuse(Refusal::Rejected(rejection))
    }
}

/// The alternative that counts.
#[derive(Debug)]
pub(super) struct Chosen<'a> {
    pub(super) kinds: &'a [ProofKind],
}

impl Chosen<'_> {
    /// Returns whether it holds only if the passcode is the right one, which is judged last.
    pub(super) fn needs_passcode(&self) -> bool {
        self.kinds.contains(&ProofKind::Passcode)
    }
}

/// A claim, and what it is judged by.
#[derive(Clone, Copy)]
pub(super) struct Judge<'a> {
    pub(super) claim: &'a Claim,
    pub(super) case: &'a Case<'a>,
    pub(super) known: &'a Known<'a>,
}

impl<'a> Judge<'a> {
    /// Returns the first alternative that holds, those with a passcode last; their other kinds hold, the passcode isn't
    /// judged yet. If none does, the first that was brought whole gives the reason.
    pub(super) fn choose(&self) -> Result<Chosen<'a>, Stop> {
        let alternatives = self.case.master.rules.proofs.alternatives();
        let (last, first): (Vec<_>, Vec<_>) =
            alternatives.iter().partition(|kinds| kinds.contains(&ProofKind::Passcode));
        let mut reasons = Vec::new();
        for kinds in first.into_iter().chain(last).filter(|kinds| self.is_brought(kinds)) {
            match self.holds(kinds) {
                Ok(()) => return Ok(Chosen { kinds }),
                Err(Stop::Refuse(refusal)) => reasons.push((kinds, refusal)),
                Err(stop) => return Err(stop),
            }
        }
        let first_brought = alternatives.iter().find(|kinds| self.is_brought(kinds));
        let reason = reasons.into_iter().find(|(kinds, _)| Some(*kinds) == first_brought).map(|(_, refusal)| refusal);
        Err(Stop::Refuse(reason.unwrap_or_else(|| self.nothing_brought())))
    }

    fn nothing_brought(&self) -> Refusal {
        match self.evidence().report {
            Some(Report::Staff(_)) => Refusal::Rejected(Rejection::KindNotTaken),
            Some(Report::Beacon { .. }) | None => {
                Refusal::ProofRequired { proofs: self.case.master.rules.proofs.clone() }
            }
        }
    }

    fn evidence(&self) -> &'a Evidence {
        &self.claim.evidence
    }

    fn is_brought(&self, kinds: &[ProofKind]) -> bool {
        kinds.iter().all(|kind| self.evidence().has(*kind))
    }

    fn holds(&self, kinds: &[ProofKind]) -> Result<(), Stop> {
        if self.case.keys.is_empty() && kinds.iter().any(|kind| kind.needs_key()) {
            return Err(Stop::NoKeys(NoKeys));
        }
        kinds.iter().try_for_each(|kind| match kind {
            ProofKind::Location => self.is_near().map_err(Stop::from),
            ProofKind::QrRotating | ProofKind::QrStatic => self.is_good_code(),
            ProofKind::Beacon | ProofKind::Open | ProofKind::Passcode | ProofKind::Staff => Ok(()),
        })
    }

    /// Accuracy, age, then distance.
    fn is_near(&self) -> Result<(), Rejection> {
        let Some((settings, fix)) = self.case.master.rules.settings.location.zip(self.evidence().fix) else {
            return Ok(());
        };
        let limit = settings.max_accuracy_meters.get();
        if fix.0.radius > f64::from(limit) {
            return Err(Rejection::LocationInaccurate(Meters(limit)));
        }
        if self.evidence().age.is_some_and(|age| age > FRESH_FIX) {
            return Err(Rejection::LocationStale);
        }
        let distance = settings.circle().distance(&fix.0);
        if distance - fix.0.radius > f64::from(settings.radius_meters.get()) {
            return Err(Rejection::TooFar(Meters::rounded_up(distance)));
        }
        Ok(())
    }

    /// Tag and signature, stamp, generation, step.
    fn is_good_code(&self) -> Result<(), Stop> {
        let Some(BroughtCode::Stamp(code)) = self.evidence().code else { return Err(CodeUnknown.into()) };
        let stamp_id = self.maker(&code).ok_or(CodeUnknown)?;
        if *stamp_id != self.case.master.stamp_id {
            return Err(CodeOtherStamp(stamp_id.clone()).into());
        }
        self.is_living(&code)?;
        match code.step.map(|step| step.timeliness(self.case.now, self.case.master.rules.settings.rotating())) {
            Some(Timeliness::Early) => Err(CodeEarly.into()),
            Some(Timeliness::Expired) => Err(CodeExpired.into()),
            Some(Timeliness::Good) | None => Ok(()),
        }
    }

    /// Returns the stamp that a code is of and was made for: first the claimed one is tried.
    fn maker(&self, code: &StampCode) -> Option<&'a StampId> {
        let (event_id, keys) = (&self.case.event.event_id, self.case.keys);
        let mut ids = [&self.case.master.stamp_id].into_iter().chain(self.case.masters.ids());
        let named = ids.find(|stamp_id| code.names(event_id, stamp_id))?;
        CodeSource { keys, event_id, stamp_id: named }.made(code).then_some(named)
    }

    /// A generation that another server has just made is asked for before it is refused.
    fn is_living(&self, code: &StampCode) -> Result<(), Stop> {
        match self.case.master.rules.codes.living(code.kind(), code.generation) {
            Living::Yes => Ok(()),
            Living::Revoked => Err(CodeRevoked.into()),
            Living::Unknown if self.known.has_newest_master => Err(CodeUnknown.into()),
            Living::Unknown => Err(Stop::Ask(Question::NewestMaster)),
        }
    }

    /// Judges the passcode. A try is counted before.
    pub(super) fn is_passcode(&self) -> Result<(), Stop> {
        let Some(tries) = self.known.tries else { return Err(Stop::Ask(Question::Try)) };
        if tries > TRIES {
            return Err(Stop::Refuse(Refusal::TooManyTries { retry_after: self.until_next_tries() }));
        }
        let (event_id, master) = (&self.case.event.event_id, self.case.master);
        let right = master
            .rules
            .passcode_hash
            .zip(self.evidence().passcode.as_ref())
            .is_some_and(|(hash, typed)| hash.is_of(&typed.0, self.case.keys, (event_id, &master.stamp_id)));
        if right { Ok(()) } else { Err(Rejection::PasscodeWrong { tries_left: TRIES - tries }.into()) }
    }

    fn until_next_tries(&self) -> Duration {
        let stretch = i64::from(TRIES_SECONDS) * 1000;
        let passed = self.case.now.as_millis().rem_euclid(stretch);
        Duration::from_millis(u64::try_from(stretch - passed).unwrap_or(0))
    }

    /// Returns what the fact says of the proof; nothing of a stamp that asks for none, on time.
    pub(super) fn accepted(&self, chosen: &Chosen<'_>, is_late: bool) -> Option<AcceptedProof> {
        let (kinds, evidence) = (chosen.kinds, self.evidence());
        let granted = matches!(evidence.report, Some(Report::Staff(_)));
        if kinds == [ProofKind::Open] && !is_late && !granted {
            return None;
        }
        let mut proof =
            AcceptedProof { kinds: kinds.to_vec(), trust: trust(kinds), late: is_late, ..Default::default() };
        proof.captured_at = evidence.captured_at(self.case.now);
        if let Some(BroughtCode::Stamp(code)) = evidence.code.filter(|_| kinds.iter().any(|kind| kind.is_code())) {
            (proof.generation, proof.step) = (Some(code.generation), code.step);
        }
        if let Some((near, fix)) = self.place().filter(|_| kinds.contains(&ProofKind::Location)) {
            (proof.distance_meters, proof.accuracy_meters) =
                (Some(Meters::rounded_up(near)), Some(Meters::rounded_up(fix)));
        }
        match &evidence.report {
            Some(Report::Beacon { hwid, .. }) if kinds.contains(&ProofKind::Beacon) => proof.hwid = Some(hwid.clone()),
            Some(Report::Staff(witness)) => proof.staff = Some(witness.clone()),
            Some(Report::Beacon { .. }) | None => {}
        }
        Some(proof)
    }

    /// Returns the distance to the stamp and the accuracy of the phone's place, in metres.
    fn place(&self) -> Option<(f64, f64)> {
        let (settings, fix) = self.case.master.rules.settings.location.zip(self.evidence().fix)?;
        Some((settings.circle().distance(&fix.0), fix.0.radius))
    }
}

/// Returns the stamps that come first and that a participant doesn't have, inactive ones excepted.
pub(super) fn missing(case: &Case<'_>, has: impl Fn(&StampId) -> bool) -> Vec<StampId> {
    let is_inactive = |id: &StampId| case.masters.find(id).is_some_and(|master: &StampMaster| !master.is_active);
    let first = case.master.rules.after.ids().iter();
    first.filter(|id| !has(id) && !is_inactive(id)).cloned().collect()
}
