//! At which stamps a token is good.

use serde::{Deserialize, Serialize};

use crate::domain::{Malformed, ids::StampId};

/// What stands for all stamps.
const ALL: &str = "*";

/// The most stamps that a token names.
const MOST: usize = 999;

/// At which stamps a token is good: at all of its event, later ones too, or at those it names.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "Vec<String>", into = "Vec<String>")]
pub enum StaffStamps {
    /// `["*"]`
    All,
    /// These, at least one.
    These(Vec<StampId>),
}

impl StaffStamps {
    /// Returns whether a stamp is one of them.
    #[must_use]
    pub fn contain(&self, stamp_id: &StampId) -> bool {
        match self {
            Self::All => true,
            Self::These(ids) => ids.contains(stamp_id),
        }
    }

    /// Returns those that it names, each with its path.
    pub fn named(&self) -> impl Iterator<Item = (String, &StampId)> {
        let ids = match self {
            Self::All => &[][..],
            Self::These(ids) => ids,
        };
        ids.iter().enumerate().map(|(place, id)| (path(place), id))
    }
}

fn path(place: usize) -> String {
    format!("stamps[{place}]")
}

impl TryFrom<Vec<String>> for StaffStamps {
    type Error = Malformed;

    fn try_from(texts: Vec<String>) -> Result<Self, Malformed> {
        if texts == [ALL] {
            return Ok(Self::All);
        }
        if !(1..=MOST).contains(&texts.len()) {
            return Err(Malformed::new("stamps", format!("must be 1 to {MOST} stamp ids, or [\"*\"] for all")));
        }
        let mut ids: Vec<StampId> = Vec::with_capacity(texts.len());
        for (place, text) in texts.iter().enumerate() {
            let refuse = |rule: String| Malformed::new(path(place), rule);
            if text == ALL {
                return Err(refuse("\"*\" stands alone: it means all stamps".to_owned()));
            }
            let id = text.parse().map_err(|error: Malformed| refuse(format!("a stampId {}", error.rule)))?;
            if ids.contains(&id) {
                return Err(refuse(format!("{id} stands twice: name each stamp once")));
            }
            ids.push(id);
        }
        Ok(Self::These(ids))
    }
}

impl From<StaffStamps> for Vec<String> {
    fn from(stamps: StaffStamps) -> Self {
        match stamps {
            StaffStamps::All => vec![ALL.to_owned()],
            StaffStamps::These(ids) => ids.into_iter().map(String::from).collect(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn stamps(texts: &[&str]) -> Result<StaffStamps, String> {
        let texts: Vec<String> = texts.iter().map(|text| (*text).to_owned()).collect();
        StaffStamps::try_from(texts).map_err(|error| error.to_string())
    }

    #[test]
    fn a_token_is_good_at_all_stamps_or_at_those_it_names() {
        let (first, second) = ("001".parse().unwrap(), "002".parse().unwrap());
        assert!(stamps(&["*"]).unwrap().contain(&first));
        let these = stamps(&["001"]).unwrap();
        assert!(these.contain(&first) && !these.contain(&second));
        assert_eq!(serde_json::to_value(these).unwrap(), serde_json::json!(["001"]));
        assert_eq!(serde_json::to_value(StaffStamps::All).unwrap(), serde_json::json!(["*"]));
    }

    #[test]
    fn a_list_that_names_nothing_or_something_twice_is_refused_with_its_place() {
        assert_eq!(stamps(&[]).unwrap_err(), "stamps: must be 1 to 999 stamp ids, or [\"*\"] for all");
        assert_eq!(stamps(&["001", "001"]).unwrap_err(), "stamps[1]: 001 stands twice: name each stamp once");
        assert_eq!(stamps(&["001", "*"]).unwrap_err(), "stamps[1]: \"*\" stands alone: it means all stamps");
        let refused = "stamps[0]: a stampId must match [A-Za-z0-9][A-Za-z0-9_-]{0,63}";
        assert_eq!(stamps(&["a#b"]).unwrap_err(), refused);
    }
}
