//! `stamp-rally proof-key new`: a key of codes and passcodes.

use std::io::Write;

use anyhow::Context;
use base64::{Engine, engine::general_purpose::URL_SAFE_NO_PAD};

/// Keys of codes and passcodes.
#[derive(Debug, clap::Subcommand)]
pub enum ProofKeyCommand {
    /// Make a key: prints it once, and the line for `proofs.keys` in the configuration
    New,
}

/// Carries the command out: what to keep is printed to `out`, what to do with it to `notes`.
pub fn execute(command: &ProofKeyCommand, out: &mut impl Write, notes: &mut impl Write) -> anyhow::Result<()> {
    match command {
        ProofKeyCommand::New => new_key(out, notes),
    }
}

/// The key is 32 random bytes, written in base64url.
fn new_key(out: &mut impl Write, notes: &mut impl Write) -> anyhow::Result<()> {
    let mut secret = [0; 32];
    getrandom::fill(&mut secret).context("the system has no random bytes")?;
    let key = URL_SAFE_NO_PAD.encode(secret);
    writeln!(notes, "The key, shown this once; every server needs it, and nobody else:")?;
    writeln!(out, "{key}")?;
    writeln!(notes, "Its line in [proofs] of the configuration; a key that is there already stays, after it:")?;
    writeln!(out, r#"keys = ["{key}"]"#)?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::{ffi::OsString, fs};

    use super::*;
    use crate::cli::config::Settings;

    fn made() -> Vec<String> {
        let (mut out, mut notes) = (Vec::new(), Vec::new());
        execute(&ProofKeyCommand::New, &mut out, &mut notes).unwrap();
        String::from_utf8(out).unwrap().lines().map(str::to_owned).collect()
    }

    #[test]
    fn the_printed_line_is_taken_by_the_configuration_and_has_the_key() {
        let said = made();
        let [key, line] = said.as_slice() else { panic!("two lines") };
        assert!(line.contains(key));
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("rally.toml");
        fs::write(&file, format!("[proofs]\n{line}\n")).unwrap();
        let settings = Settings::load(Some(&file), Vec::<(OsString, OsString)>::new()).unwrap();
        assert!(!settings.proofs.keys.is_empty());
    }

    #[test]
    fn two_keys_differ_and_hold_32_random_bytes() {
        let (one, other) = (made(), made());
        assert_ne!(one[0], other[0]);
        assert_eq!(URL_SAFE_NO_PAD.decode(&one[0]).unwrap().len(), 32);
    }
}
