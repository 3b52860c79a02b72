//! `stamp-rally flex check FILE…`: templates against LINE's rules.

use std::{
    io::Write,
    path::{Path, PathBuf},
};

use anyhow::{Context, bail};
use serde_json::Value;

use super::text_file;
use crate::domain::json::Plain;
use crate::line::flex::{self, Fault};

/// Templates of Flex Messages.
#[derive(Debug, clap::Subcommand)]
pub enum FlexCommand {
    /// Check templates against LINE's limits; prints file, path and limit of each fault
    Check {
        /// JSON files, each a whole Flex message
        #[arg(required = true, value_name = "FILE")]
        files: Vec<PathBuf>,
    },
}

pub fn execute(command: &FlexCommand, out: &mut impl Write) -> anyhow::Result<()> {
    match command {
        FlexCommand::Check { files } => check(files, out),
    }
}

/// Every file is looked at, whatever is wrong with the ones before it.
fn check(files: &[PathBuf], out: &mut impl Write) -> anyhow::Result<()> {
    let mut bad = 0;
    for file in files {
        let shown = file.display();
        match read_template(file).map(|message| flex::check(&message)) {
            Ok(faults) if faults.is_empty() => writeln!(out, "{shown}: ok")?,
            Ok(faults) => {
                bad += 1;
                for Fault { path, limit, .. } in faults {
                    writeln!(out, "{shown}: {}: {limit}", if path.is_empty() { "/" } else { &path })?;
                }
            }
            Err(error) => {
                bad += 1;
                writeln!(out, "{error:#}")?;
            }
        }
    }
    if bad > 0 {
        bail!("{bad} of {} templates can't be used", files.len());
    }
    Ok(())
}

/// Reads the JSON of a template file; the error names the file, and its encoding or the line of what isn't JSON.
pub(super) fn read_template(file: &Path) -> anyhow::Result<Value> {
    let text = text_file::read(file).with_context(|| file.display().to_string())?;
    let Plain(template) = serde_json::from_str(&text).with_context(|| format!("{} is not JSON", file.display()))?;
    Ok(template)
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    fn shipped() -> Vec<PathBuf> {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("flex_templates");
        fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect()
    }

    fn checked(files: &[PathBuf]) -> (String, anyhow::Result<()>) {
        let mut out = Vec::new();
        let result = check(files, &mut out);
        (String::from_utf8(out).unwrap(), result)
    }

    fn folder() -> PathBuf {
        let folder = std::env::temp_dir().join(format!("stamp-rally-{}", uuid::Uuid::new_v4()));
        fs::create_dir(&folder).unwrap();
        folder
    }

    #[test]
    fn every_template_that_ships_is_good() {
        let files = shipped();
        assert!(files.len() >= 3);
        let (said, result) = checked(&files);
        result.unwrap();
        assert_eq!(said.lines().filter(|line| line.ends_with(": ok")).count(), files.len());
    }

    #[test]
    fn each_fault_is_printed_with_file_path_and_limit() {
        let folder = folder();
        let file = folder.join("bad.json");
        let message = r#"{"type":"flex","altText":"","contents":{"type":"bubble"}}"#;
        fs::write(&file, message).unwrap();
        let missing = folder.join("missing.json");
        let broken = folder.join("broken.json");
        fs::write(&broken, "{\n  \"type\": flex }").unwrap();
        let (said, result) = checked(&[file.clone(), missing.clone(), broken.clone()]);
        let file = file.display();
        assert!(said.contains(&format!("{file}: /altText: must not be empty: give it text\n")), "{said}");
        assert!(
            said.contains(&format!(
                "{file}: /contents: has no block: give the bubble a header, hero, body or footer\n"
            )),
            "{said}"
        );
        assert!(said.contains(&format!("{}: No such file", missing.display())), "{said}");
        assert!(said.contains(&format!("{} is not JSON: expected ident at line 2", broken.display())), "{said}");
        assert_eq!(result.unwrap_err().to_string(), "3 of 3 templates can't be used");
        fs::remove_dir_all(folder).unwrap();
    }

    #[test]
    fn every_row_of_the_table_of_verdicts_is_printed_with_file_path_and_limit() {
        let folder = tempfile::tempdir().unwrap();
        for (number, row) in flex::tests::verdicts::all().iter().enumerate() {
            let file = folder.path().join(format!("{number}.json"));
            fs::write(&file, row.message().to_string()).unwrap();
            let (out, result) = checked(std::slice::from_ref(&file));
            let shown = file.display();
            let expected = match &row.refused {
                None => format!("{shown}: ok\n"),
                Some(refused) if refused.at.is_empty() => format!("{shown}: /: {}\n", refused.limit),
                Some(refused) => format!("{shown}: {}: {}\n", refused.at, refused.limit),
            };
            assert_eq!((out, result.is_err()), (expected, row.refused.is_some()), "{}", row.rule);
        }
    }

    #[test]
    fn a_file_in_another_encoding_is_named_and_a_byte_order_mark_is_none() {
        let folder = tempfile::tempdir().unwrap();
        let message = &flex::tests::verdicts::all()[0].message().to_string();
        let marked = folder.path().join("marked.json");
        fs::write(&marked, format!("\u{feff}{message}")).unwrap();
        let wide = folder.path().join("wide.json");
        fs::write(&wide, message.encode_utf16().flat_map(u16::to_be_bytes).collect::<Vec<u8>>()).unwrap();
        let japanese = folder.path().join("japanese.json");
        fs::write(&japanese, b"{\"altText\": \"\x93\x94\x91\xE4\"}").unwrap();
        let (out, result) = checked(&[marked.clone(), wide.clone(), japanese.clone()]);
        let lines: Vec<_> = out.lines().collect();
        assert_eq!(lines[0], format!("{}: ok", marked.display()));
        let wide =
            format!("{}: is UTF-16 without a byte order mark, not UTF-8 (byte 00 at offset 0): save", wide.display());
        assert!(lines[1].starts_with(&wide), "{out}");
        let japanese = format!(
            "{}: is not UTF-8 (byte 93 at offset 13, line 1), it looks like Shift_JIS: save it as UTF-8, for example \
             with `iconv -f CP932 -t UTF-8`",
            japanese.display()
        );
        assert_eq!(lines[2], japanese);
        assert_eq!(result.unwrap_err().to_string(), "2 of 3 templates can't be used");
    }
}
