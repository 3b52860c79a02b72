//! How a house is fitted: the settings that a file and the environment would give the program, with a story's wishes.

use std::{ffi::OsString, time::Duration};

use serde_json::{Value, json};
use sha2::{Digest, Sha256};
use stamp_rally::{
    cli::config::Settings, delivery::RetrySettings, domain::time::Timestamp, line::id_token::Verification,
};

use super::{MINI_APP, PAGE, SECRET};

/// The contract's key of codes and passcodes: bytes 0 to 31.
const PROOF_KEY: &str = "AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8";

/// What one house has that others haven't.
#[derive(Clone)]
pub struct Fittings {
    /// How ID tokens are verified.
    pub verification: Verification,
    /// The Login channel secret of channel `main`: with one, tokens of web login (HS256) are taken.
    pub login_secret: Option<&'static str>,
    /// What webhooks of channel `main` may be signed with, newest first.
    pub webhook_secrets: &'static [&'static str],
    /// Which tables there are.
    pub tables: Tables,
    /// Which rally there is.
    pub rally: Rally,
    /// When the story begins; now if it doesn't say.
    pub begins: Option<Timestamp>,
    /// How long one request to LINE may take.
    pub line_timeout: Duration,
    /// How fast and for how long a notice is attempted again.
    pub retry: RetrySettings,
}

/// Which tables a house has.
#[derive(Clone, Copy)]
pub enum Tables {
    /// Those of `table create`.
    AsDefined,
    /// The source article's, as it describes them.
    OfTheArticle,
}

/// Which rally a house has.
#[derive(Clone, Copy)]
pub enum Rally {
    None,
    /// The demo rally, as its organiser puts it.
    Demo,
    /// The same rally with shorter messages, put into the store without a request.
    Stored,
}

impl Default for Fittings {
    fn default() -> Self {
        Self {
            verification: Verification::Jwks,
            login_secret: None,
            webhook_secrets: &[SECRET],
            tables: Tables::AsDefined,
            rally: Rally::Demo,
            begins: None,
            line_timeout: Duration::from_secs(5),
            retry: RetrySettings { first_backoff: Duration::from_millis(1), ..RetrySettings::default() },
        }
    }
}

impl Fittings {
    /// For stories of delivery: the time is always the same, and a notice that LINE doesn't take is parked at once.
    pub(super) fn for_delivery() -> Self {
        let moment = Duration::from_millis(1);
        let retry = RetrySettings {
            first_backoff: moment,
            longest_backoff: moment,
            ordinary_deadline: Duration::from_millis(300),
            held_deadline: Duration::from_millis(100),
            jitter: std::sync::Arc::new(|| 1.0),
        };
        Self {
            rally: Rally::Stored,
            begins: Some("2026-05-23T03:16:40.000Z".parse().unwrap()),
            line_timeout: Duration::from_secs(3),
            retry,
            ..Self::default()
        }
    }

    /// The settings, with LINE at this address.
    pub(super) fn settings(&self, line_url: &str) -> Settings {
        let mut main = json!({
            "login_channel_ids": ["1000000001", MINI_APP],
            "access_token": access_token("main"),
            "channel_secrets": self.webhook_secrets,
        });
        if let Some(secret) = self.login_secret {
            main["login_channel_secret"] = json!(secret);
        }
        let other = json!({
            "login_channel_ids": ["1000000002"],
            "access_token": access_token("other"),
            "channel_secrets": ["another-secret"],
        });
        let environment = [
            ("STAMP_RALLY__LINE__API_BASE_URL", line_url.to_owned()),
            ("STAMP_RALLY__LINE__CHANNELS", json!({ "main": main, "other": other }).to_string()),
            ("STAMP_RALLY__ADMIN__TOKENS", admin_tokens().to_string()),
            ("STAMP_RALLY__PROOFS__KEYS", json!([PROOF_KEY]).to_string()),
            ("STAMP_RALLY__HTTP__ALLOWED_ORIGINS", json!([PAGE]).to_string()),
        ];
        let environment = environment.map(|(key, value)| (OsString::from(key), OsString::from(value)));
        let mut settings = Settings::load(None, environment).unwrap();
        settings.line.verification = self.verification;
        settings.line.timeout = self.line_timeout;
        settings.delivery.pushes_per_second = 100_000;
        settings
    }
}

/// The long-lived access token of a channel.
pub(super) fn access_token(channel: &str) -> String {
    format!("token-of-{channel}")
}

fn admin_tokens() -> Value {
    let token = |name: &str, role: &str, events: &[&str]| {
        let digest = <[u8; 32]>::from(Sha256::digest(name)).map(|byte| format!("{byte:02x}")).concat();
        json!({ "name": name, "role": role, "sha256": digest, "events": events })
    };
    json!([
        token("organiser", "admin", &["*"]),
        token("operator", "operator", &["*"]),
        token("viewer", "viewer", &["*"]),
        token("neighbour", "admin", &["another-rally"]),
    ])
}
