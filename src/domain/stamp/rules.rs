//! What a claim for a stamp must satisfy: proofs, windows, hours, other stamps first.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};

use super::{StampMaster, StampMasters};
use crate::domain::{
    Malformed,
    ids::{EventId, StampId},
    proof::{Generations, Passcode, PasscodeHash, ProofKeys, ProofKind, ProofSettings, Proofs},
    schedule::{AllHours, Availability, Schedule},
    time::Timestamp,
};

/// What a claim for a stamp must satisfy.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct ClaimRules {
    /// How it may be proved (`proofs`).
    pub proofs: Proofs,
    /// What the kinds of proof need to know (`proofSettings`).
    pub settings: ProofSettings,
    /// What is stored of its passcode (`passcodeHash`).
    pub passcode_hash: Option<PasscodeHash>,
    /// When it can be acquired (`availableFrom`, `availableUntil`, `hours`).
    pub schedule: Schedule,
    /// Stamps to hold first (`after`).
    pub after: After,
    /// The generations of its codes (`codes`).
    pub codes: Generations,
}

/// A change of the rules that a writer asks for. What is `None` keeps its value; an inner `None` takes it away.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct ClaimRulesChange {
    /// `proofs`
    pub proofs: Option<Proofs>,
    /// `proofSettings`
    pub settings: Option<Option<ProofSettings>>,
    /// `passcode`
    pub passcode_hash: Option<Option<PasscodeHash>>,
    /// `availableFrom`
    pub available_from: Option<Option<Timestamp>>,
    /// `availableUntil`
    pub available_until: Option<Option<Timestamp>>,
    /// `hours`
    pub hours: Option<Option<AllHours>>,
    /// `after`
    pub after: Option<Option<After>>,
}

impl ClaimRulesChange {
    /// Returns the rules after the change. Refuses those that contradict each other.
    pub fn apply(self, old: &ClaimRules) -> Result<ClaimRules, Malformed> {
        let available = Availability {
            from: self.available_from.unwrap_or(old.schedule.available.from),
            until: self.available_until.unwrap_or(old.schedule.available.until),
        };
        let hours = self.hours.map_or_else(|| old.schedule.hours.clone(), Option::unwrap_or_default);
        let new = ClaimRules {
            proofs: self.proofs.unwrap_or_else(|| old.proofs.clone()),
            settings: self.settings.map_or_else(|| old.settings.clone(), Option::unwrap_or_default),
            passcode_hash: self.passcode_hash.unwrap_or(old.passcode_hash),
            schedule: Schedule { available, hours },
            after: self.after.map_or_else(|| old.after.clone(), Option::unwrap_or_default),
            codes: old.codes.clone(),
        };
        new.check()?;
        Ok(new)
    }

    /// Returns whether it has a value for an attribute.
    #[must_use]
    pub fn names(&self, attribute: &str) -> bool {
        match attribute {
            "proofs" => self.proofs.is_some(),
            "proofSettings" => self.settings.is_some(),
            "passcodeHash" => self.passcode_hash.is_some(),
            "availableFrom" => self.available_from.is_some(),
            "availableUntil" => self.available_until.is_some(),
            "hours" => self.hours.is_some(),
            "after" => self.after.is_some(),
            _ => false,
        }
    }

    /// Returns the change, and what it doesn't name from another one.
    #[must_use]
    pub fn or(self, other: Self) -> Self {
        Self {
            proofs: self.proofs.or(other.proofs),
            settings: self.settings.or(other.settings),
            passcode_hash: self.passcode_hash.or(other.passcode_hash),
            available_from: self.available_from.or(other.available_from),
            available_until: self.available_until.or(other.available_until),
            hours: self.hours.or(other.hours),
            after: self.after.or(other.after),
        }
    }
}

impl ClaimRules {
    fn check(&self) -> Result<(), Malformed> {
        self.schedule.available.check()?;
        self.settings.must_serve(&self.proofs)?;
        match self.proofs.place_of_kind(ProofKind::Passcode) {
            Some(place) if self.passcode_hash.is_none() => Err(Malformed::new(place, "passcode needs a passcode")),
            _ => Ok(()),
        }
    }
}

/// The stamps that a participant must hold first: none, or 1 to 16.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "Vec<StampId>")]
pub struct After(Vec<StampId>);

impl After {
    /// Returns their ids.
    #[must_use]
    pub fn ids(&self) -> &[StampId] {
        &self.0
    }
}

impl TryFrom<Vec<StampId>> for After {
    type Error = Malformed;

    fn try_from(ids: Vec<StampId>) -> Result<Self, Malformed> {
        if !(1..=16).contains(&ids.len()) {
            return Err(Malformed::new("after", "must name 1 to 16 stamps, or be left out"));
        }
        match ids.iter().enumerate().find(|(place, id)| ids[..*place].contains(id)) {
            Some((place, id)) => Err(Malformed::new(format!("after[{place}]"), format!("{id} stands twice"))),
            None => Ok(Self(ids)),
        }
    }
}

/// Refuses proofs that need a key where there is none.
pub fn must_have_keys(proofs: &Proofs, keys: &ProofKeys) -> Result<(), Malformed> {
    match proofs.first_that_needs_a_key() {
        Some(place) if keys.is_empty() => Err(Malformed::new(place, NEEDS_KEY)),
        _ => Ok(()),
    }
}

/// Returns what is stored of a passcode.
pub fn passcode_hash(
    passcode: &Passcode,
    keys: &ProofKeys,
    (event_id, stamp_id): (&EventId, &StampId),
) -> Result<PasscodeHash, Malformed> {
    passcode.hash(keys, event_id, stamp_id).ok_or_else(|| Malformed::new("passcode", NEEDS_KEY))
}

/// Why a server without a key refuses what only a key can judge.
const NEEDS_KEY: &str = "needs a key: configure `proofs.keys` (`stamp-rally proof-key new` makes one)";

/// Refuses a stamp whose `after` names itself, a stamp that the event doesn't have, or one that waits for this one.
///
/// `others` are the event's stamps as they will be; this one may be among them.
pub fn check_after(master: &StampMaster, others: &StampMasters) -> Result<(), Malformed> {
    for (place, first) in master.rules.after.ids().iter().enumerate() {
        let refuse = |rule: String| Err(Malformed::new(format!("after[{place}]"), rule));
        if *first == master.stamp_id {
            return refuse("names the stamp itself".to_owned());
        }
        if others.ids().all(|known| known != first) {
            return refuse(format!("the event has no stamp {first}"));
        }
        if leads_to(first, &master.stamp_id, others) {
            return refuse(format!("{first} waits for {}: nobody could acquire either", master.stamp_id));
        }
    }
    Ok(())
}

/// Returns whether one stamp waits for another, however many stand between.
fn leads_to(from: &StampId, wanted: &StampId, masters: &StampMasters) -> bool {
    let (mut open, mut seen) = (vec![from], BTreeSet::new());
    while let Some(id) = open.pop() {
        if id == wanted {
            return true;
        }
        if seen.insert(id) {
            open.extend(masters.find(id).into_iter().flat_map(|master| master.rules.after.ids()));
        }
    }
    false
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::{
        setting::Name,
        stamp::{StampMasterChange, StampOrder},
    };

    fn waits(id: &str, first: &[&str]) -> StampMaster {
        let change = StampMasterChange {
            name: Some(Name::try_from(id.to_owned()).unwrap()),
            order: Some(StampOrder::try_from(1).unwrap()),
            flex_message_content: Some(serde_json::Value::Null),
            ..StampMasterChange::default()
        };
        let master = change.create("spring".parse().unwrap(), id.parse().unwrap(), Timestamp::EPOCH).unwrap();
        let after = After(first.iter().map(|id| id.parse().unwrap()).collect());
        StampMaster { rules: ClaimRules { after, ..ClaimRules::default() }, ..master }
    }

    #[test]
    fn a_stamp_that_waits_for_itself_for_an_unknown_one_or_in_a_circle_is_refused() {
        let others: StampMasters = vec![waits("a", &["b"]), waits("b", &["c"]), waits("c", &[])].into();
        let refused = |master: &StampMaster| check_after(master, &others).map_err(|error| error.to_string());
        assert_eq!(refused(&waits("d", &["a", "c"])), Ok(()));
        assert_eq!(refused(&waits("d", &["a", "d"])), Err("after[1]: names the stamp itself".to_owned()));
        assert_eq!(refused(&waits("d", &["x"])), Err("after[0]: the event has no stamp x".to_owned()));
        let circle = "after[0]: a waits for c: nobody could acquire either";
        assert_eq!(refused(&waits("c", &["a"])), Err(circle.to_owned()));
    }

    #[test]
    fn after_names_one_to_sixteen_stamps_each_once() {
        let ids = |count: usize| (0..count).map(|n| n.to_string().parse().unwrap()).collect::<Vec<StampId>>();
        assert!(
            After::try_from(ids(16)).is_ok() && After::try_from(ids(17)).is_err() && After::try_from(ids(0)).is_err()
        );
        let twice = [ids(2), ids(1)].concat();
        assert_eq!(After::try_from(twice).unwrap_err().to_string(), "after[2]: 0 stands twice");
    }

    #[test]
    fn a_change_keeps_what_it_does_not_name_and_rules_that_contradict_each_other_are_refused() {
        let at = |text: &str| Some(Some(text.parse().unwrap()));
        let from = ClaimRulesChange { available_from: at("2026-05-23T10:00:00.000Z"), ..ClaimRulesChange::default() };
        let rules = from.apply(&ClaimRules::default()).unwrap();
        let until = ClaimRulesChange { available_until: at("2026-05-23T10:00:00.000Z"), ..ClaimRulesChange::default() };
        let refused = until.clone().apply(&rules).unwrap_err().to_string();
        assert_eq!(refused, "availableUntil: must be later than availableFrom");
        let both = ClaimRulesChange { available_from: Some(None), ..until }.apply(&rules).unwrap();
        assert_eq!(both.schedule.available.from, None);
        let proofs = Proofs::try_from(vec![vec![ProofKind::Passcode]]).unwrap();
        let alone = ClaimRulesChange { proofs: Some(proofs), ..ClaimRulesChange::default() };
        assert_eq!(alone.apply(&rules).unwrap_err().to_string(), "proofs[0][0]: passcode needs a passcode");
    }
}
