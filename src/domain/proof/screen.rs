//! What the screen at a stamp shows: a code for each step of the next minutes.

use super::{CodeSource, Generation, RotatingSettings, Step};
use crate::domain::time::Timestamp;

/// For how long a screen gets codes at once, in milliseconds: without a network it shows them until they run out.
const SHOWN_MILLIS: i64 = 600_000;

/// The code of one step.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ScreenCode {
    /// The code.
    pub code: String,
    /// The first instant of its step.
    pub from: Timestamp,
    /// The first instant of the next step.
    pub until: Timestamp,
}

impl ScreenCode {
    /// Makes the codes of the steps from now on for ten minutes, the present one first; `None` without a key.
    #[must_use]
    pub fn from_now_on(
        source: &CodeSource<'_>,
        generation: Generation,
        settings: RotatingSettings,
        now: Timestamp,
    ) -> Option<Vec<Self>> {
        let seconds = settings.step_seconds.get();
        let end = now.plus_millis(SHOWN_MILLIS);
        let steps = std::iter::successors(Some(Step::of(now, seconds)), |step| Some(step.next()));
        let shown = steps.take_while(|step| step.start(seconds) < end).map(|step| {
            let (from, until) = (step.start(seconds), step.next().start(seconds));
            source.shown(generation, step).map(|code| Self { code, from, until })
        });
        shown.collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::{
        bounded::Whole,
        proof::{ProofKeys, contract_keys},
    };

    fn shown(keys: &ProofKeys, step_seconds: u32, now: &str) -> Option<Vec<ScreenCode>> {
        let (event_id, stamp_id) = ("stamp-rally-202606".parse().unwrap(), "001".parse().unwrap());
        let source = CodeSource { keys, event_id: &event_id, stamp_id: &stamp_id };
        let step_seconds = i64::from(step_seconds).try_into().unwrap();
        let settings = RotatingSettings { step_seconds, tolerance_steps: Whole::known(0) };
        ScreenCode::from_now_on(&source, Generation::FIRST, settings, now.parse().unwrap())
    }

    #[test]
    fn the_first_code_is_the_contracts_and_each_follows_without_a_gap() {
        let codes = shown(&contract_keys(), 30, "2026-05-23T10:00:05.000Z").unwrap();
        // Step 59317860 has another minute; the step of this instant is made by the same source.
        assert_eq!(
            (codes[0].from.to_string(), codes[0].until.to_string()),
            ("2026-05-23T10:00:00.000Z".to_owned(), "2026-05-23T10:00:30.000Z".to_owned())
        );
        assert!(codes.windows(2).all(|two| two[0].until == two[1].from && two[0].code != two[1].code));
        let last = codes.last().unwrap();
        assert!(codes.len() == 21 && last.until >= "2026-05-23T10:10:05.000Z".parse().unwrap());
    }

    #[test]
    fn ten_minutes_are_covered_whatever_the_length_of_a_step() {
        for (step_seconds, count) in [(10, 60), (300, 2), (77, 9)] {
            let codes = shown(&contract_keys(), step_seconds, "2026-05-23T10:00:00.000Z").unwrap();
            assert!(codes.len() >= count, "{step_seconds}: {}", codes.len());
            assert!(codes[0].from <= "2026-05-23T10:00:00.000Z".parse().unwrap());
            assert!(codes.last().unwrap().until >= "2026-05-23T10:10:00.000Z".parse().unwrap());
        }
    }

    #[test]
    fn without_a_key_there_is_no_code() {
        assert_eq!(shown(&ProofKeys::default(), 30, "2026-05-23T10:00:00.000Z"), None);
    }
}
