//! What a claim brings, as it is sent.

use std::{fmt, time::Duration};

use serde::{Deserialize, Deserializer, de::Error};

use crate::domain::{
    bounded::{Latitude, Longitude},
    claim::{BroughtCode, Evidence, Typed},
    proof::{Circle, Fix},
};
use crate::http::body::{Input, present};

use super::BODY_LIMIT;

/// The most characters of a code or a passcode.
const MOST_OF_A_TEXT: usize = 128;

/// The most seconds ago that a proof can have been taken.
const MOST_SECONDS: f64 = 86_400.0;

/// `POST …/me/stamps/{stampId}`: may bring a proof.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ClaimInput {
    #[serde(default, deserialize_with = "present")]
    proof: Option<ProofInput>,
}

/// `POST …/me/scans`: brings a code, which says of which stamp it is.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields, try_from = "RawScan")]
pub struct ScanInput {
    code: String,
    proof: ProofInput,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RawScan {
    proof: ProofInput,
}

/// A proof; members that aren't known are passed over.
#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", expecting = "an object")]
struct ProofInput {
    #[serde(default, deserialize_with = "present")]
    code: Option<Text>,
    #[serde(default, deserialize_with = "present")]
    passcode: Option<Text>,
    #[serde(default, deserialize_with = "present")]
    location: Option<FixInput>,
    #[serde(default, deserialize_with = "age")]
    age_seconds: Option<Duration>,
}

/// A text of at most 128 characters, which is not shown.
#[derive(Deserialize)]
#[serde(try_from = "String")]
pub(in crate::http) struct Text(String);

impl Text {
    /// Returns it as it was sent.
    pub(in crate::http) fn as_str(&self) -> &str {
        &self.0
    }
}

impl TryFrom<String> for Text {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        if text.chars().nth(MOST_OF_A_TEXT).is_none() {
            Ok(Self(text))
        } else {
            Err(format!("must have {MOST_OF_A_TEXT} characters at most"))
        }
    }
}

impl fmt::Debug for Text {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Text(…)")
    }
}

/// Where the phone believes to be; members that aren't known are passed over.
#[derive(Deserialize)]
#[serde(expecting = "an object")]
struct FixInput {
    latitude: Latitude,
    longitude: Longitude,
    #[serde(deserialize_with = "accuracy")]
    accuracy: f64,
}

impl fmt::Debug for FixInput {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("FixInput(…)")
    }
}

fn accuracy<'de, D: Deserializer<'de>>(json: D) -> Result<f64, D::Error> {
    let meters = f64::deserialize(json)?;
    if meters >= 0.0 && meters.is_finite() { Ok(meters) } else { Err(D::Error::custom("must be metres, 0 or more")) }
}

fn age<'de, D: Deserializer<'de>>(json: D) -> Result<Option<Duration>, D::Error> {
    let seconds = f64::deserialize(json)?;
    if (0.0..=MOST_SECONDS).contains(&seconds) {
        Ok(Some(Duration::from_secs_f64(seconds)))
    } else {
        Err(D::Error::custom("must be seconds from 0 to 86400"))
    }
}

impl TryFrom<RawScan> for ScanInput {
    type Error = &'static str;

    fn try_from(raw: RawScan) -> Result<Self, Self::Error> {
        match &raw.proof.code {
            Some(Text(code)) => Ok(Self { code: code.clone(), proof: raw.proof }),
            None => Err("proof.code: is required"),
        }
    }
}

impl ScanInput {
    /// Returns the code as it was scanned or typed.
    pub(super) fn code(&self) -> &str {
        &self.code
    }
}

impl From<ProofInput> for Evidence {
    fn from(proof: ProofInput) -> Self {
        Self {
            code: proof.code.map(|Text(text)| BroughtCode::read(&text)),
            passcode: proof.passcode.map(|Text(text)| Typed(text)),
            fix: proof.location.map(|location| {
                let (latitude, longitude) = (location.latitude.get(), location.longitude.get());
                Fix(Circle { latitude, longitude, radius: location.accuracy })
            }),
            age: proof.age_seconds,
            report: None,
        }
    }
}

impl From<ClaimInput> for Evidence {
    fn from(input: ClaimInput) -> Self {
        input.proof.map(Self::from).unwrap_or_default()
    }
}

impl From<ScanInput> for Evidence {
    fn from(input: ScanInput) -> Self {
        input.proof.into()
    }
}

impl Input for ClaimInput {
    const LIMIT: usize = BODY_LIMIT;

    fn absent() -> Option<Self> {
        Some(Self::default())
    }
}

impl Input for ScanInput {
    const LIMIT: usize = BODY_LIMIT;
}
