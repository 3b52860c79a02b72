//! Each rule of the settings, and the line that reports it.

mod admin;
mod channel;
mod layers;
mod sections;

use std::{ffi::OsString, fs, path::PathBuf, time::Duration};

use secrecy::ExposeSecret;

use super::*;

const CHANNEL: &str = r#"
[line.channels.main]
login_channel_ids = ["1234567890"]
messaging_channel_id = "2345678901"
channel_secrets = ["newest-secret", "older-secret"]
"#;

/// A configuration file that is gone with the test.
struct File(PathBuf);

impl File {
    fn with(text: &str) -> Self {
        let path = std::env::temp_dir().join(format!("stamp-rally-{}.toml", uuid::Uuid::new_v4()));
        fs::write(&path, text).unwrap();
        Self(path)
    }
}

impl Drop for File {
    fn drop(&mut self) {
        let _ = fs::remove_file(&self.0);
    }
}

fn load(text: &str, variables: &[(&str, &str)]) -> Result<Settings, String> {
    let file = File::with(text);
    let environment = variables.iter().map(|(name, value)| (OsString::from(name), OsString::from(value)));
    Settings::load(Some(&file.0), environment)
        .map_err(|error| error.to_string().replace(&file.0.display().to_string(), "rally.toml"))
}

/// The line that a file ends the start with.
fn refusal(text: &str) -> String {
    load(text, &[]).unwrap_err()
}

/// The line that a variable ends the start with.
fn variable_refusal(name: &str, value: &str) -> String {
    load("", &[(name, value)]).unwrap_err()
}

#[track_caller]
fn refuses(text: &str, line: &str) {
    assert_eq!(refusal(text), line);
}
