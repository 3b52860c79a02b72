//! The arguments of the program.

#[cfg(feature = "dev")]
use std::path::PathBuf;

#[cfg(feature = "dev")]
use super::dev::DevArgs;
#[cfg(feature = "lambda")]
use super::lambda::LambdaArgs;
use super::{
    admin::AdminCommand,
    codes::CodesCommand,
    deliveries::DeliveriesCommand,
    event::EventCommand,
    flex::FlexCommand,
    options::WithSettings,
    proof_key::ProofKeyCommand,
    reconcile::ReconcileArgs,
    serve::{ConsumeArgs, ServeArgs},
    staff::StaffCommand,
    stats::StatsCommand,
    table::TableCommand,
    users::UsersCommand,
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
    #[cfg_attr(
        feature = "dev",
        expect(clippy::unnecessary_wraps, reason = "there is a default command in this build alone")
    )]
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
    /// Codes of stamps: printed, rotated, revoked
    Codes(WithSettings<CodesCommand>),
    /// The stream consumer alone
    Consume(ConsumeArgs),
    /// What became of notices; send them again
    Deliveries(WithSettings<DeliveriesCommand>),
    /// Everything on this machine: API, consumer, DynamoDB engine, stand-in LINE, demo rally (no command means this)
    #[cfg(feature = "dev")]
    Dev(DevArgs),
    /// Events and their stamps
    Event(WithSettings<EventCommand>),
    /// Templates of Flex Messages
    #[command(subcommand)]
    Flex(FlexCommand),
    /// The delivery as an AWS Lambda, behind an event source mapping of the table's stream
    #[cfg(feature = "lambda")]
    Lambda(LambdaArgs),
    /// Keys of codes and passcodes
    #[command(subcommand)]
    ProofKey(ProofKeyCommand),
    /// Send what the stream has forgotten, where it was certainly never tried; give the rest to a person to decide
    Reconcile(ReconcileArgs),
    /// The HTTP API
    Serve(ServeArgs),
    /// Tokens of staff and screens
    Staff(WithSettings<StaffCommand>),
    /// Counts of a rally
    Stats(WithSettings<StatsCommand>),
    /// The two tables
    Table(WithSettings<TableCommand>),
    /// Participants by registration time
    Users(WithSettings<UsersCommand>),
}
