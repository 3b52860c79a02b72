//! What an event asks of all claims for its stamps, and the words to which its Official Account answers.

use serde::{Deserialize, Serialize};

use crate::domain::{Malformed, bounded::Whole, proof::normalised};

/// What an event asks of all claims.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct ClaimLimits {
    /// How long a participant waits between two stamps, in seconds (`minIntervalSeconds`).
    pub min_interval_seconds: Option<Whole<1, 86_400>>,
    /// How fast a participant may travel between two stamps that have a place, in km/h (`maxSpeedKmh`).
    pub max_speed_kmh: Option<Whole<1, 1_000>>,
    /// How long after a window a claim may arrive whose proof was taken within it, in minutes (`lateMinutes`).
    pub late_minutes: Option<Whole<1, 1_440>>,
}

/// The most characters of a keyword, once normalised.
const MOST_OF_A_KEYWORD: usize = 64;

/// The texts to which the Official Account answers how far somebody's card is: 1 to 8, normalised as passcodes are.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "Vec<String>")]
pub struct Keywords(Vec<String>);

impl Keywords {
    /// Returns whether there is none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Returns whether a text, as a participant sent it, is one of them.
    #[must_use]
    pub fn has(&self, text: &str) -> bool {
        !self.is_empty() && self.0.contains(&normalised(text))
    }

    /// Returns them, normalised.
    #[must_use]
    pub fn as_slice(&self) -> &[String] {
        &self.0
    }
}

impl TryFrom<Vec<String>> for Keywords {
    type Error = Malformed;

    fn try_from(texts: Vec<String>) -> Result<Self, Malformed> {
        if !(1..=8).contains(&texts.len()) {
            return Err(Malformed::new("keywords", "must have 1 to 8 texts, or be left out"));
        }
        let keyword = |(place, text): (usize, &String)| {
            let text = normalised(text);
            let fits = (1..=MOST_OF_A_KEYWORD).contains(&text.chars().count());
            let malformed = || Malformed::new(format!("keywords[{place}]"), "must have 1 to 64 characters, white space not counted");
            fits.then_some(text).ok_or_else(malformed)
        };
        texts.iter().enumerate().map(keyword).collect::<Result<_, _>>().map(Self)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn keywords(texts: &[&str]) -> Result<Keywords, String> {
        texts.iter().map(ToString::to_string).collect::<Vec<_>>().try_into().map_err(|error: Malformed| error.to_string())
    }

    #[test]
    fn a_keyword_is_known_however_it_is_typed() {
        let known = keywords(&["スタンプ", "Stamps"]).unwrap();
        assert!(known.has("ｽﾀﾝﾌﾟ") && known.has(" STAMPS\n") && !known.has("stamp") && !known.has(""));
        assert!(!Keywords::default().has(""));
    }

    #[test]
    fn keywords_are_one_to_eight_texts() {
        assert!(keywords(&[]).is_err() && keywords(&["a"; 9]).is_err());
        let empty = "keywords[1]: must have 1 to 64 characters, white space not counted";
        assert_eq!(keywords(&["a", " "]).unwrap_err(), empty);
    }
}
