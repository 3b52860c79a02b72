//! Places on a sphere, and distances between them.

use serde::{Deserialize, Serialize};

/// The radius of the earth in metres.
const EARTH: f64 = 6_371_000.0;

/// A distance in whole metres, rounded up to tens: what is stored and told of a place, never the place itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Meters(pub u32);

impl Meters {
    /// Rounds a distance up to tens.
    #[must_use]
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "clamped to the range before")]
    pub fn rounded_up(meters: f64) -> Self {
        Self((meters / 10.0).ceil().clamp(0.0, 2_100_000.0) as u32 * 10)
    }
}

/// A circle on the earth.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Circle {
    /// Degrees north, -90 to 90.
    pub latitude: f64,
    /// Degrees east, -180 to 180.
    pub longitude: f64,
    /// In metres.
    pub radius: f64,
}

impl Circle {
    /// Returns the distance of two centres in metres (haversine, on a sphere).
    #[must_use]
    pub fn distance(&self, other: &Self) -> f64 {
        let [from, to] = [self.latitude, other.latitude].map(f64::to_radians);
        let half = |a: f64, b: f64| ((b - a) / 2.0).sin().powi(2);
        let east = half(self.longitude.to_radians(), other.longitude.to_radians());
        let chord = half(from, to) + from.cos() * to.cos() * east;
        2.0 * EARTH * chord.sqrt().clamp(0.0, 1.0).asin()
    }

    /// Returns the distance of two edges in metres; 0 where the circles meet.
    #[must_use]
    pub fn gap(&self, other: &Self) -> f64 {
        (self.distance(other) - self.radius - other.radius).max(0.0)
    }
}

/// Where a phone believes to be: a circle with its accuracy as radius. It leaves this process in no form.
#[derive(Clone, Copy, PartialEq)]
pub struct Fix(pub Circle);

impl std::fmt::Debug for Fix {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Fix(…)")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(latitude: f64, longitude: f64) -> Circle {
        Circle { latitude, longitude, radius: 0.0 }
    }

    #[test]
    fn distances_are_those_of_a_sphere() {
        // A degree of a great circle, Tokyo to Osaka, across the date line, pole to pole.
        assert!((at(0.0, 0.0).distance(&at(0.0, 1.0)) - 111_194.93).abs() < 0.1);
        let osaka = at(35.681_236, 139.767_125).distance(&at(34.702_485, 135.495_951));
        assert!((osaka - 403_500.0).abs() < 500.0, "{osaka}");
        assert!((at(0.0, 179.5).distance(&at(0.0, -179.5)) - 111_194.93).abs() < 0.1);
        assert!((at(90.0, 0.0).distance(&at(-90.0, 0.0)) - std::f64::consts::PI * EARTH).abs() < 0.1);
    }

    #[test]
    fn circles_that_meet_have_no_gap() {
        let around = |longitude| Circle { latitude: 0.0, longitude, radius: 60_000.0 };
        assert!(around(0.0).gap(&around(1.0)) < 1e-9);
        assert!((around(0.0).gap(&around(2.0)) - 102_389.85).abs() < 1.0);
    }

    #[test]
    fn metres_are_rounded_up_to_tens() {
        assert_eq!([0.0, 0.1, 10.0, 171.2].map(Meters::rounded_up), [Meters(0), Meters(10), Meters(10), Meters(180)]);
    }

    #[test]
    fn a_fix_is_never_shown() {
        assert_eq!(format!("{:?}", Fix(at(35.0, 139.0))), "Fix(…)");
    }
}
