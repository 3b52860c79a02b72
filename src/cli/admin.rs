//! `stamp-rally admin token new`: a token for an organiser.

use std::io::Write;

use anyhow::Context;
use base64::{Engine, engine::general_purpose::URL_SAFE_NO_PAD};
use clap::ValueEnum;
use sha2::{Digest, Sha256};

use crate::http::auth::{Events, Role, token_name};

/// Organisers' access.
#[derive(Debug, clap::Subcommand)]
pub enum AdminCommand {
    /// Tokens of the organiser's API
    #[command(subcommand)]
    Token(TokenCommand),
}

/// Tokens of the organiser's API.
#[derive(Debug, clap::Subcommand)]
pub enum TokenCommand {
    /// Make a token: prints it once, and the line for `admin.tokens` in the configuration
    New(NewToken),
}

/// What the token is for.
#[derive(Debug, clap::Args)]
pub struct NewToken {
    /// Whose it is; part of the facts of what they ask for [default: the role and part of the hash]
    #[arg(long, value_parser = |name: &str| token_name(name.to_owned()))]
    name: Option<String>,
    /// What it may do: viewer reads, operator also resends, admin also changes settings
    #[arg(long, value_enum, default_value_t = Role::Admin)]
    role: Role,
    /// Event ids separated by commas, or * for all
    #[arg(long, value_delimiter = ',', default_value = "*")]
    events: Vec<String>,
}

/// Carries the command out: what to keep is printed to `out`, what to do with it to `notes`.
pub fn execute(command: AdminCommand, out: &mut impl Write, notes: &mut impl Write) -> anyhow::Result<()> {
    let AdminCommand::Token(TokenCommand::New(wanted)) = command;
    let mut secret = [0; 32];
    getrandom::fill(&mut secret).context("the system has no random bytes")?;
    new_token(wanted, secret, out, notes)
}

/// The token is the text of 32 random bytes in base64url; the configuration holds the SHA-256 of that text.
fn new_token(wanted: NewToken, secret: [u8; 32], out: &mut impl Write, notes: &mut impl Write) -> anyhow::Result<()> {
    Events::try_from(wanted.events.clone()).map_err(|problem| anyhow::anyhow!("--events {problem}"))?;
    let token = URL_SAFE_NO_PAD.encode(secret);
    let hash = hex_sha256(&token);
    let role = wanted.role.to_possible_value().context("every role has a name")?;
    let role = role.get_name();
    let name = wanted.name.unwrap_or_else(|| format!("{role}-{}", &hash[..6]));
    writeln!(notes, "The token, shown this once; hand it to the organiser who needs it:")?;
    writeln!(out, "{token}")?;
    writeln!(notes, "Its line for `tokens` in [admin] of the configuration:")?;
    let events: Vec<String> = wanted.events.into_iter().map(quoted).collect();
    let (name, role, events) = (quoted(name), quoted(role.to_owned()), events.join(", "));
    writeln!(out, r#"{{ name = {name}, role = {role}, sha256 = "{hash}", events = [{events}] }}"#)?;
    Ok(())
}

/// As TOML writes a text.
fn quoted(text: String) -> String {
    toml::Value::String(text).to_string()
}

/// Returns the SHA-256 of a text, in hexadecimal digits.
pub(super) fn hex_sha256(text: &str) -> String {
    <[u8; 32]>::from(Sha256::digest(text)).map(|byte| format!("{byte:02x}")).concat()
}

#[cfg(test)]
mod tests {
    use std::{ffi::OsString, fs};

    use clap::Parser;

    use super::{
        super::{
            args::{Args, Command},
            config::Settings,
        },
        *,
    };

    fn call(arguments: &[&str]) -> Vec<String> {
        let arguments = ["stamp-rally", "admin", "token", "new"].iter().chain(arguments);
        let Some(Command::Admin(command)) = Args::try_parse_from(arguments).unwrap().into_command() else {
            unreachable!()
        };
        let (mut out, mut notes) = (Vec::new(), Vec::new());
        execute(command, &mut out, &mut notes).unwrap();
        String::from_utf8(out).unwrap().lines().map(str::to_owned).collect()
    }

    fn configured(line: &str) -> Settings {
        let file = std::env::temp_dir().join(format!("stamp-rally-{}.toml", uuid::Uuid::new_v4()));
        fs::write(&file, format!("[admin]\ntokens = [\n  {line},\n]\n")).unwrap();
        let settings = Settings::load(Some(&file), Vec::<(OsString, OsString)>::new()).unwrap();
        fs::remove_file(file).unwrap();
        settings
    }

    #[test]
    fn the_printed_line_is_taken_by_the_configuration_and_fits_the_token() {
        let said = call(&["--name", "Mariko \"M\" 佐藤", "--role", "operator", "--events", "rally-1,rally-2"]);
        let [token, line] = said.as_slice() else { panic!("two lines: {said:?}") };
        let settings = configured(line);
        let [configured] = settings.admin.tokens.as_slice() else { panic!("one token") };
        assert_eq!(configured.name, "Mariko \"M\" 佐藤");
        assert_eq!(configured.role, Role::Operator);
        assert!(
            configured.events.contains(&"rally-2".parse().unwrap())
                && !configured.events.contains(&"rally-3".parse().unwrap())
        );
        assert_eq!(configured.sha256.as_slice(), Sha256::digest(token).as_slice());
    }

    #[test]
    fn without_arguments_the_token_may_everything_everywhere() {
        let said = call(&[]);
        let settings = configured(&said[1]);
        assert_eq!(settings.admin.tokens[0].role, Role::Admin);
        assert_eq!(settings.admin.tokens[0].events, Events::All);
        assert!(settings.admin.tokens[0].name.starts_with("admin-"));
    }

    #[test]
    fn two_tokens_differ_and_hold_32_random_bytes() {
        let (one, other) = (call(&[]), call(&[]));
        assert_ne!(one[0], other[0]);
        assert_eq!(URL_SAFE_NO_PAD.decode(&one[0]).unwrap().len(), 32);
    }

    #[test]
    fn an_event_id_that_cannot_be_one_is_refused() {
        let wanted = NewToken { name: None, role: Role::Viewer, events: vec!["a#b".to_owned()] };
        let error = new_token(wanted, [0; 32], &mut Vec::new(), &mut Vec::new()).unwrap_err();
        assert_eq!(
            error.to_string(),
            "--events `a#b` is no event id: use 1 to 64 letters, digits, hyphens and underscores, or \"*\""
        );
    }
}
