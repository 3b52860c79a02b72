//! What an event asks of all claims for its stamps.

use crate::domain::bounded::Whole;

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
