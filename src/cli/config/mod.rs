//! Typed settings: layered, checked, and refusing to start.
//!
//! Three layers, each laid over the one before: the defaults (`config/default.toml`, compiled in, and a command's own),
//! the file named by `--config` or `STAMP_RALLY_CONFIG`, the environment (`STAMP_RALLY__SECTION__KEY`). What is wrong
//! ends the start with one line that names the key, where its value came from and what to do. Each section
//! deserialises into the type that its room uses, with the functions of [`domain::config_value`](crate::domain::config_value).

mod error;
mod layers;
mod rules;
mod sections;

#[cfg(test)]
mod tests;

use std::{ffi::OsString, path::Path};

use serde::Deserialize;

use crate::delivery::DeliverySettings;
use crate::line::LineSettings;
use crate::store::table::TableNames;
pub use error::SettingsError;
use layers::Layers;
pub use sections::{AdminSettings, HttpSettings, LogFormat, LogSettings, OpsSettings, ProofsSettings};

/// Everything that can be set, checked.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Settings {
    /// The server.
    pub http: HttpSettings,
    /// The two tables.
    pub store: TableNames,
    /// The LINE platform and its channels.
    pub line: LineSettings,
    /// The pace of delivery.
    pub delivery: DeliverySettings,
    /// The keys of codes and passcodes.
    pub proofs: ProofsSettings,
    /// What operators ask of a process without a server.
    pub ops: OpsSettings,
    /// Who may use the organiser's API.
    pub admin: AdminSettings,
    /// How the log is written.
    pub log: LogSettings,
}

impl Settings {
    /// Reads the defaults, with `file` (if there is one) and the variables of `environment` laid over them.
    ///
    /// The environment is handed in (usually [`std::env::vars_os`]); variables of other programs are passed over.
    pub fn load(
        file: Option<&Path>,
        environment: impl IntoIterator<Item = (OsString, OsString)>,
    ) -> Result<Self, SettingsError> {
        Self::load_over("", file, environment)
    }

    /// Reads the same, with a command's own defaults (TOML).
    pub fn load_over(
        defaults: &str,
        file: Option<&Path>,
        environment: impl IntoIterator<Item = (OsString, OsString)>,
    ) -> Result<Self, SettingsError> {
        let mut layers = Layers::defaults(defaults)?;
        if let Some(path) = file {
            layers.lay_file(path)?;
        }
        layers.lay_environment(environment)?;
        layers.check_shape()?;
        let settings: Self = layers.read()?;
        rules::check_tables(&settings.store, &layers)?;
        rules::check_channels(&settings.line.channels, &layers)?;
        rules::check_tokens(&settings.admin.tokens, &layers)?;
        Ok(settings)
    }

    /// Returns what works but should be looked at, one sentence each, for the log at the start.
    #[must_use]
    pub fn warnings(&self) -> Vec<String> {
        self.line.warnings()
    }
}
