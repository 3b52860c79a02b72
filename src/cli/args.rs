//! The arguments of the program.

use std::{env, fmt::Display, path::PathBuf, str::FromStr};

#[cfg(feature = "dev")]
use super::dev::DevArgs;
#[cfg(feature = "lambda")]
use super::lambda::LambdaArgs;
use super::{
    admin::AdminCommand,
    config::{Settings, SettingsError},
    deliveries::DeliveriesArgs,
    event::EventArgs,
    flex::FlexCommand,
    logging,
    reconcile::ReconcileArgs,
    serve::{ConsumeArgs, ServeArgs},
    stats::StatsArgs,
    table::TableArgs,
    users::UsersArgs,
};

/// The backend of a stamp rally inside LINE.
#[derive(Debug, clap::Parser)]
#[command(name = "stamp-rally", version, args_conflicts_with_subcommands = true)]
pub struct Args {
    /// Configuration file of a call without a command; a command takes its own: `stamp-rally COMMAND --config FILE`
    #[cfg(feature = "dev")]
    #[arg(long, value_name = "FILE")]
    config: Option<PathBuf>,
    /// What to do.
    #[command(subcommand)]
    command: Option<Command>,
}

impl Args {
    /// What to do. A call without a command means `dev`, where it is built in.
    #[must_use]
    pub fn into_command(self) -> Option<Command> {
        #[cfg(feature = "dev")]
        return Some(self.command.unwrap_or_else(|| Command::Dev(DevArgs::alone(self.config))));
        #[cfg(not(feature = "dev"))]
        return self.command;
    }
}

/// The commands, each in the file of its name.
#[derive(Debug, clap::Subcommand)]
pub enum Command {
    /// Organisers' access
    #[command(subcommand)]
    Admin(AdminCommand),
    /// The stream consumer alone
    Consume(ConsumeArgs),
    /// What became of notices; send them again
    Deliveries(DeliveriesArgs),
    /// Everything on this machine: API, consumer, DynamoDB engine, stand-in LINE, demo rally (no command means this)
    #[cfg(feature = "dev")]
    Dev(DevArgs),
    /// Events and their stamps
    Event(EventArgs),
    /// Templates of Flex Messages
    #[command(subcommand)]
    Flex(FlexCommand),
    /// The delivery as an AWS Lambda, behind an event source mapping of the table's stream
    #[cfg(feature = "lambda")]
    Lambda(LambdaArgs),
    /// Send what the stream has forgotten, where it was certainly never tried; give the rest to a person to decide
    Reconcile(ReconcileArgs),
    /// The HTTP API
    Serve(ServeArgs),
    /// Counts of a rally
    Stats(StatsArgs),
    /// The two tables
    Table(TableArgs),
    /// Participants by registration time
    Users(UsersArgs),
}

/// For commands that need the settings: `#[command(flatten)]`.
#[derive(Clone, Debug, clap::Args)]
pub struct SettingsArgs {
    /// Configuration file, laid over the defaults; the environment (`STAMP_RALLY__SECTION__KEY`) is laid over it
    #[arg(long, global = true, env = "STAMP_RALLY_CONFIG", value_name = "FILE")]
    pub config: Option<PathBuf>,
}

impl SettingsArgs {
    /// The settings of this process.
    pub fn load(&self) -> Result<Settings, SettingsError> {
        // A variable that is set but empty names no file.
        let file = self.config.as_deref().filter(|path| !path.as_os_str().is_empty());
        Settings::load(file, env::vars_os())
    }

    /// Loads the settings, and starts the log as they say.
    pub fn start(&self) -> Result<Settings, SettingsError> {
        let settings = self.load()?;
        logging::start(settings.log.format);
        Ok(settings)
    }

    /// The same for who talks to LINE; logs what should be looked at.
    pub fn start_with_line(&self) -> Result<Settings, SettingsError> {
        let settings = self.start()?;
        for warning in settings.warnings() {
            tracing::warn!("{warning}");
        }
        Ok(settings)
    }
}

/// Takes whole numbers from 1 to the greatest of a type that has no zero.
pub(super) fn from_one<N: FromStr + Copy + Display>(most: N) -> impl Fn(&str) -> Result<N, String> + Clone {
    move |text| text.parse().map_err(|_| format!("must be a whole number from 1 to {most}"))
}
