//! What each kind of proof needs to know of a stamp (`proofSettings`).

use std::str::FromStr;

use serde::{Deserialize, Serialize};

use super::{ProofKind, Proofs, place::Circle};
use crate::domain::{
    Malformed,
    bounded::{Latitude, Longitude, Whole},
    ids::text_type,
};

/// What the kinds of a stamp's proofs need to know. It is replaced whole.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ProofSettings {
    /// `qr_rotating`
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub qr_rotating: Option<RotatingSettings>,
    /// `location`
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub location: Option<LocationSettings>,
    /// `beacon`
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub beacon: Option<BeaconSettings>,
}

/// How the code of a screen changes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
pub struct RotatingSettings {
    /// How long a code is shown.
    pub step_seconds: Whole<10, 300>,
    /// How many steps after its end it is still good.
    pub tolerance_steps: Whole<0, 20>,
}

impl Default for RotatingSettings {
    fn default() -> Self {
        Self { step_seconds: Whole::known(30), tolerance_steps: Whole::known(1) }
    }
}

/// Where a stamp is.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct LocationSettings {
    /// Degrees north.
    pub latitude: Latitude,
    /// Degrees east.
    pub longitude: Longitude,
    /// How far away a phone may be.
    #[serde(default = "radius")]
    pub radius_meters: Whole<10, 5000>,
    /// How inexact a phone's place may be.
    #[serde(default = "max_accuracy")]
    pub max_accuracy_meters: Whole<10, 2000>,
}

fn radius() -> Whole<10, 5000> {
    Whole::known(100)
}

fn max_accuracy() -> Whole<10, 2000> {
    Whole::known(200)
}

impl LocationSettings {
    /// Returns the circle in which the stamp is.
    #[must_use]
    pub fn circle(&self) -> Circle {
        let radius = f64::from(self.radius_meters.get());
        Circle { latitude: self.latitude.get(), longitude: self.longitude.get(), radius }
    }
}

/// Which beacons stand at a stamp.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "RawBeacon")]
pub struct BeaconSettings {
    /// Their hardware ids, 1 to 16.
    pub hwids: Vec<HardwareId>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RawBeacon {
    hwids: Vec<HardwareId>,
}

impl TryFrom<RawBeacon> for BeaconSettings {
    type Error = &'static str;

    fn try_from(raw: RawBeacon) -> Result<Self, Self::Error> {
        if (1..=16).contains(&raw.hwids.len()) {
            Ok(Self { hwids: raw.hwids })
        } else {
            Err("hwids must have 1 to 16 hardware ids")
        }
    }
}

text_type! {
    /// The hardware id of a LINE beacon: 10 hexadecimal digits, lower case.
    HardwareId, "hwid", "must be 10 hexadecimal digits, lower case", |text| {
        text.len() == 10 && text.bytes().all(|byte| byte.is_ascii_digit() || (b'a'..=b'f').contains(&byte))
    }
}

impl ProofSettings {
    /// Returns how the code of the stamp's screen changes.
    #[must_use]
    pub fn rotating(&self) -> RotatingSettings {
        self.qr_rotating.unwrap_or_default()
    }

    /// Refuses proofs of which a kind lacks its settings; `qr_rotating` has defaults.
    pub fn must_serve(&self, proofs: &Proofs) -> Result<(), Malformed> {
        let lacking = [
            (ProofKind::Location, self.location.is_none(), "latitude and longitude"),
            (ProofKind::Beacon, self.beacon.is_none(), "hwids"),
        ];
        for (kind, _, needed) in lacking.into_iter().filter(|(_, is_lacking, _)| *is_lacking) {
            if let Some(place) = proofs.place_of_kind(kind) {
                return Err(Malformed::new(place, format!("{kind} needs proofSettings.{kind} with {needed}")));
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn read(json: serde_json::Value) -> Result<ProofSettings, String> {
        serde_path_to_error::deserialize(json).map_err(|error| error.to_string())
    }

    #[test]
    fn defaults_are_the_contracts() {
        let settings = read(json!({"qr_rotating": {}, "location": {"latitude": 35.6, "longitude": 139}})).unwrap();
        let full = json!({
            "qr_rotating": {"stepSeconds": 30, "toleranceSteps": 1},
            "location": {"latitude": 35.6, "longitude": 139.0, "radiusMeters": 100, "maxAccuracyMeters": 200},
        });
        assert_eq!(serde_json::to_value(&settings).unwrap(), full);
        assert_eq!(read(full).unwrap(), settings);
    }

    #[test]
    fn what_is_out_of_its_bounds_is_refused_with_its_path() {
        for (json, path) in [
            (json!({"qr_rotating": {"stepSeconds": 9}}), "qr_rotating.stepSeconds"),
            (json!({"qr_rotating": {"toleranceSteps": 21}}), "qr_rotating.toleranceSteps"),
            (json!({"location": {"latitude": 91, "longitude": 0}}), "location.latitude"),
            (json!({"location": {"latitude": 0, "longitude": 0, "radiusMeters": 5001}}), "location.radiusMeters"),
            (json!({"beacon": {"hwids": ["0123456789", "ABCDEF0123"]}}), "beacon.hwids[1]"),
            (json!({"beacon": {"hwids": []}}), "beacon"),
            (json!({"gps": {}}), "gps"),
        ] {
            let error = read(json).unwrap_err();
            assert!(error.starts_with(&format!("{path}: ")), "{error}");
        }
    }

    #[test]
    fn a_kind_without_its_settings_is_refused_with_its_place_among_the_proofs() {
        let proofs = Proofs::try_from(vec![vec![ProofKind::QrRotating, ProofKind::Location]]).unwrap();
        let refused = ProofSettings::default().must_serve(&proofs).unwrap_err().to_string();
        assert_eq!(refused, "proofs[0][1]: location needs proofSettings.location with latitude and longitude");
        let beacon = Proofs::try_from(vec![vec![ProofKind::Beacon]]).unwrap();
        assert!(ProofSettings::default().must_serve(&beacon).is_err());
        assert!(ProofSettings::default().must_serve(&Proofs::default()).is_ok());
    }
}
