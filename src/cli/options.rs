//! Options that several commands take.

use std::{env, fmt::Display, path::PathBuf, str::FromStr};

use clap::builder::{PossibleValuesParser, TypedValueParser};

use super::{
    config::{Settings, SettingsError},
    logging,
};
use crate::domain::{mode::Mode, notice::ParkedState};

/// A command with commands below it, all of which need the settings.
#[derive(Debug, clap::Args)]
pub struct WithSettings<C: clap::Subcommand> {
    #[command(flatten)]
    pub(super) settings: SettingsArgs,
    #[command(subcommand)]
    pub(super) command: C,
}

/// For commands that need the settings: `#[command(flatten)]`.
#[derive(Clone, Debug, clap::Args)]
pub struct SettingsArgs {
    /// Configuration file, laid over the defaults; the environment (`STAMP_RALLY__SECTION__KEY`) is laid over it
    #[arg(long, global = true, env = "STAMP_RALLY_CONFIG", value_name = "FILE")]
    pub config: Option<PathBuf>,
}

impl SettingsArgs {
    /// Loads the settings of this process.
    pub fn load(&self) -> Result<Settings, SettingsError> {
        // A variable that is set but empty names no file.
        let file = self.config.as_deref().filter(|path| !path.as_os_str().is_empty());
        Settings::load(file, env::vars_os())
    }

    /// Loads the settings, and starts the log as they say.
    pub fn start(&self) -> anyhow::Result<Settings> {
        let settings = self.load()?;
        logging::start(settings.log.format)?;
        Ok(settings)
    }

    /// Starts a command that talks to LINE; logs what should be looked at.
    pub fn start_with_line(&self) -> anyhow::Result<Settings> {
        let settings = self.start()?;
        for warning in settings.warnings() {
            tracing::warn!(setting.warning = warning, "a setting should be looked at");
        }
        Ok(settings)
    }
}

/// `--dry-run`, for commands that can be tried before they change something: `#[command(flatten)]`.
#[derive(Clone, Copy, Debug, clap::Args)]
pub struct DryRun {
    /// Report what would be done: nothing is sent, and nothing is written
    #[arg(long)]
    dry_run: bool,
}

impl From<DryRun> for Mode {
    fn from(DryRun { dry_run }: DryRun) -> Self {
        if dry_run { Self::DryRun } else { Self::ForReal }
    }
}

/// Makes a parser that takes these states.
pub(super) fn one_of(states: &[ParkedState]) -> impl TypedValueParser<Value = ParkedState> {
    let names: Vec<_> = states.iter().map(|state| state.as_str()).collect();
    PossibleValuesParser::new(names).try_map(|text| text.parse::<ParkedState>())
}

/// Takes whole numbers from 1 to the greatest of a type that has no zero.
pub(super) fn from_one<N: FromStr + Copy + Display>(most: N) -> impl Fn(&str) -> Result<N, String> + Clone {
    move |text| text.parse().map_err(|_| format!("must be a whole number from 1 to {most}"))
}
