//! Puts everything together: one file a command.

mod admin;
mod args;
mod codes;
pub mod config;
mod deliveries;
#[cfg(feature = "dev")]
mod dev;
mod draft;
mod event;
pub mod event_file;
mod flex;
#[cfg(feature = "lambda")]
mod lambda;
mod logging;
mod metrics;
mod options;
#[cfg(feature = "otel")]
mod otel;
mod printed;
mod progress;
mod proof_key;
mod reconcile;
mod serve;
pub mod service;
mod staff;
mod stats;
mod store;
mod table;
#[cfg(test)]
mod tests;
mod text_file;
mod users;

use std::{
    io::{self, Write},
    process::ExitCode,
};

use clap::{CommandFactory, Parser};

use args::{Args, Command};
use printed::{AnswerIsNo, OnceClosed, Printed};

/// The exit code of a call that can't be understood, as clap has it.
const USAGE: u8 = 2;

/// The exit code of a command that did what it was asked, and whose answer is no.
const NO: u8 = 3;

/// Runs the command named by the process's arguments.
///
/// 0: done, also where the reader of stdout has closed it (`| head -1`). 1: it failed, one line on stderr says why.
/// 2: the arguments can't be understood. 3: it is done, and the answer is no, as one line on stderr says.
#[must_use]
pub fn run() -> ExitCode {
    let args = match Args::try_parse() {
        Ok(args) => args,
        Err(answer) => return show(&answer),
    };
    let Some(command) = args.into_command() else {
        let _ = writeln!(io::stderr(), "{}", Args::command().render_help());
        return ExitCode::from(USAGE);
    };
    match on_runtime(command) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) if printed::is_enough(&error) => ExitCode::SUCCESS,
        Err(error) => {
            let _ = writeln!(io::stderr(), "stamp-rally: {}", one_line(&error));
            if error.is::<AnswerIsNo>() { ExitCode::from(NO) } else { ExitCode::FAILURE }
        }
    }
}

/// Help and version are answers, everything else is a wrong call.
fn show(answer: &clap::Error) -> ExitCode {
    let _ = answer.print();
    ExitCode::from(u8::try_from(answer.exit_code()).unwrap_or(USAGE))
}

fn on_runtime(command: Command) -> anyhow::Result<()> {
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
    let done = runtime.block_on(execute(command));
    #[cfg(feature = "otel")]
    otel::flush();
    done
}

async fn execute(command: Command) -> anyhow::Result<()> {
    let stdout = |once_closed| Printed::to(io::stdout().lock(), once_closed);
    match command {
        // A token that could not be read is a failure.
        Command::Admin(command) => admin::execute(command, &mut io::stdout().lock(), &mut io::stderr().lock()),
        Command::Codes(args) => codes::execute(args, &mut stdout(OnceClosed::Finish)).await,
        Command::Consume(args) => serve::consume(args).await,
        Command::Deliveries(args) => deliveries::execute(args, &mut stdout(OnceClosed::Finish)).await,
        #[cfg(feature = "dev")]
        Command::Dev(args) => dev::execute(args).await,
        Command::Event(args) => event::execute(args, &mut stdout(OnceClosed::Finish)).await,
        Command::Flex(command) => flex::execute(&command, &mut stdout(OnceClosed::Finish)),
        #[cfg(feature = "lambda")]
        Command::Lambda(args) => lambda::execute(args).await,
        // As with a token.
        Command::ProofKey(command) => proof_key::execute(&command, &mut io::stdout().lock(), &mut io::stderr().lock()),
        Command::Reconcile(args) => reconcile::execute(args, &mut stdout(OnceClosed::Finish)).await,
        Command::Serve(args) => serve::serve(args).await,
        // A token that could not be read is a failure.
        Command::Staff(args) => staff::execute(args, &mut io::stdout().lock(), &mut io::stderr()).await,
        Command::Stats(args) => stats::execute(args, &mut stdout(OnceClosed::Finish)).await,
        Command::Table(args) => table::execute(args, &mut stdout(OnceClosed::Finish)).await,
        Command::Users(args) => users::execute(args, &mut stdout(OnceClosed::Stop), &mut io::stderr()).await,
    }
}

/// An error with its causes, as one line.
fn one_line(error: &anyhow::Error) -> String {
    format!("{error:#}").split_whitespace().collect::<Vec<_>>().join(" ")
}
