//! Numbers within bounds that their type names.

use serde::{Deserialize, Serialize};

/// A whole number from `LOW` to `HIGH`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(try_from = "i64", into = "u32")]
pub struct Whole<const LOW: u32, const HIGH: u32>(u32);

impl<const LOW: u32, const HIGH: u32> Whole<LOW, HIGH> {
    /// Makes one that is known to fit when the program is compiled.
    ///
    /// # Panics
    ///
    /// Where it doesn't fit; in a constant that is an error of the compiler.
    #[must_use]
    pub const fn known(number: u32) -> Self {
        assert!(LOW <= number && number <= HIGH, "it is within the bounds");
        Self(number)
    }

    /// Returns the number.
    #[must_use]
    pub fn get(self) -> u32 {
        self.0
    }
}

impl<const LOW: u32, const HIGH: u32> TryFrom<i64> for Whole<LOW, HIGH> {
    type Error = String;

    fn try_from(number: i64) -> Result<Self, String> {
        let fits = u32::try_from(number).ok().filter(|number| (LOW..=HIGH).contains(number));
        fits.map(Self).ok_or_else(|| format!("must be a whole number from {LOW} to {HIGH}"))
    }
}

impl<const LOW: u32, const HIGH: u32> From<Whole<LOW, HIGH>> for u32 {
    fn from(number: Whole<LOW, HIGH>) -> Self {
        number.0
    }
}

/// Degrees of an angle, from minus `MOST` to `MOST`.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "f64", into = "f64")]
pub struct Degrees<const MOST: u32>(f64);

impl<const MOST: u32> Degrees<MOST> {
    /// Returns the number.
    #[must_use]
    pub fn get(self) -> f64 {
        self.0
    }
}

impl<const MOST: u32> TryFrom<f64> for Degrees<MOST> {
    type Error = String;

    fn try_from(degrees: f64) -> Result<Self, String> {
        // Not a number is beyond every bound.
        if degrees.abs() <= f64::from(MOST) {
            Ok(Self(degrees))
        } else {
            Err(format!("must be degrees from -{MOST} to {MOST}"))
        }
    }
}

impl<const MOST: u32> From<Degrees<MOST>> for f64 {
    fn from(degrees: Degrees<MOST>) -> Self {
        degrees.0
    }
}

/// Degrees north.
pub type Latitude = Degrees<90>;

/// Degrees east.
pub type Longitude = Degrees<180>;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_whole_number_is_within_its_bounds() {
        type Steps = Whole<10, 300>;
        assert_eq!([9, 10, 300, 301].map(|number| Steps::try_from(number).is_ok()), [false, true, true, false]);
        assert_eq!(Steps::try_from(-1).unwrap_err(), "must be a whole number from 10 to 300");
        assert!(serde_json::from_str::<Steps>("10.5").is_err());
    }

    #[test]
    fn degrees_are_finite_and_within_their_bounds() {
        assert!([90.0, -90.0, 0.0].into_iter().all(|degrees| Latitude::try_from(degrees).is_ok()));
        assert!([90.000_001, f64::NAN, f64::INFINITY].into_iter().all(|degrees| Latitude::try_from(degrees).is_err()));
        assert!(Longitude::try_from(180.0).is_ok() && Longitude::try_from(-180.1).is_err());
    }
}
