//! This program in its other roles, each a process of its own: it prints one line when it is ready, and ends with its
//! standard input.

use std::{
    env,
    io::{self, BufRead, BufReader, Write},
    net::TcpListener,
    process::{ChildStdin, ChildStdout, Command, Stdio},
};

use anyhow::{Context, bail};
use stamp_rally::dev::{
    engine::{Engine, Storage},
    line::{ChannelSettings, Memory, StandIn},
};

use super::{bare, process::Process, scene};

/// What an argument list for a role begins with.
pub const FLAG: &str = "--role";

/// Another process of this program, in a role.
pub struct Role {
    pub process: Process,
    /// What it said when it was ready.
    pub ready: String,
    orders: ChildStdin,
    answers: BufReader<ChildStdout>,
}

impl Role {
    pub fn start(name: &str, arguments: &[&str]) -> anyhow::Result<Self> {
        let mut command = Command::new(env::current_exe()?);
        command.arg(FLAG).arg(name).args(arguments).stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut process = Process::start(&mut command)?;
        let orders = process.child().stdin.take().context("the role has no stdin")?;
        let answers = process.child().stdout.take().context("no way to hear from the role")?;
        let mut role = Self { process, ready: String::new(), orders, answers: BufReader::new(answers) };
        role.ready = role.hear().with_context(|| format!("the role {name}"))?;
        Ok(role)
    }

    /// Gives an order and waits until it is carried out; what the role says then.
    pub fn carry_out(&mut self, order: &str) -> anyhow::Result<String> {
        writeln!(self.orders, "{order}")?;
        self.hear()
    }

    fn hear(&mut self) -> anyhow::Result<String> {
        let mut line = String::new();
        if self.answers.read_line(&mut line)? == 0 {
            bail!("it has ended");
        }
        Ok(line.trim().to_owned())
    }
}

/// Plays a role until standard input ends.
pub fn play(arguments: &[String]) -> anyhow::Result<()> {
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    match arguments.as_slice() {
        ["engine"] => {
            let engine = Engine::start(TcpListener::bind("127.0.0.1:0")?, Storage::Memory)?;
            say(&engine.endpoint_url())?;
            until_the_end(|_| Ok(String::new()))
        }
        ["line"] => {
            let channel = ChannelSettings {
                access_token: Some(scene::ACCESS_TOKEN.to_owned()),
                ..ChannelSettings::new(scene::CHANNEL, scene::LOGIN_CHANNEL, "2000000001", "secret")
            };
            let line = StandIn::start(TcpListener::bind("127.0.0.1:0")?, &Memory::InMemory, vec![channel])?;
            say(&line.base_url())?;
            until_the_end(|_| Ok(String::new()))
        }
        ["bare-put", engine] => {
            let bare = bare::Puts::new(engine)?;
            say("ready")?;
            until_the_end(|order| bare.carry_out(order))
        }
        ["bare-signature", line] => {
            let bare = bare::Signatures::new(line)?;
            say("ready")?;
            until_the_end(|order| bare.carry_out(order))
        }
        ["bare-verification", line] => {
            let bare = bare::Verifications::new(line)?;
            say("ready")?;
            until_the_end(|order| bare.carry_out(order))
        }
        ["bare-notices", engine, line, people] => {
            let bare = bare::Notices::new(engine, line, people)?;
            say("ready")?;
            until_the_end(|order| bare.carry_out(order))
        }
        _ => bail!("no such role: {arguments:?}"),
    }
}

fn until_the_end(carry_out: impl Fn(&str) -> anyhow::Result<String>) -> anyhow::Result<()> {
    for order in io::stdin().lines() {
        say(&carry_out(&order?)?)?;
    }
    Ok(())
}

fn say(line: &str) -> io::Result<()> {
    let mut out = io::stdout().lock();
    writeln!(out, "{line}")?;
    out.flush()
}
