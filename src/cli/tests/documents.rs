//! What `docs/` says of configuration, commands and problem codes is what there is.

use std::{collections::BTreeSet, ffi::OsString, fs, path::Path};

use clap::CommandFactory;
use serde_json::Value;

use crate::cli::{args::Args, config::Settings};

fn page(name: &str) -> String {
    fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("docs").join(name)).unwrap()
}

/// The words in backquotes of a text.
fn quoted(text: &str) -> impl Iterator<Item = &str> {
    text.split('`').skip(1).step_by(2)
}

/// The first cells of the rows below a table's head.
fn first_cells<'a>(page: &'a str, head: &str) -> Vec<&'a str> {
    let rows = page.lines().skip_while(|line| !line.starts_with(head)).skip(2);
    rows.take_while(|line| line.starts_with('|')).map(|row| row.split(" | ").next().unwrap()).collect()
}

/// The keys that may stand below a section, as the refusal of one that may not names them.
fn keys_below(section: &str) -> Vec<String> {
    let variable = format!("STAMP_RALLY__{}__ZZZ", section.replace('.', "__").to_uppercase());
    let refused = Settings::load(None, [(OsString::from(variable), OsString::from("1"))]).unwrap_err().to_string();
    let (_, expected) = refused.split_once(", expected ").unwrap_or_else(|| panic!("{refused}"));
    quoted(expected).map(|key| format!("{section}.{key}")).collect()
}

#[test]
fn docs_configuration_names_every_key_and_no_other() {
    let page = page("configuration.md");
    let named: BTreeSet<String> =
        first_cells(&page, "| key ").into_iter().flat_map(quoted).map(|key| key.replace("{name}", "main")).collect();
    let sections = ["http", "store", "line", "line.channels.main", "delivery", "proofs", "ops", "admin", "log"];
    let mut known: BTreeSet<String> = sections.into_iter().flat_map(keys_below).collect();
    assert!(known.remove("line.channels"), "a section of its own: {known:?}");
    assert_eq!(named, known);
}

/// The commands that have no commands below them, as they are typed.
fn leaves(command: &clap::Command, above: &str) -> Vec<String> {
    let below = command.get_subcommands().filter(|command| command.get_name() != "help");
    let leaves: Vec<String> =
        below.flat_map(|command| leaves(command, &format!("{above} {}", command.get_name()))).collect();
    if leaves.is_empty() { vec![above.to_owned()] } else { leaves }
}

#[test]
fn docs_operate_names_every_command_and_no_other() {
    let page = page("operate.md");
    let is_word =
        |word: &&str| word.bytes().all(|byte| byte.is_ascii_lowercase() || byte == b'-') && !word.starts_with('-');
    let named: BTreeSet<String> = first_cells(&page, "| command ")
        .into_iter()
        .filter_map(|cell| quoted(cell).next())
        .map(|call| call.split(' ').take_while(is_word).collect::<Vec<_>>().join(" "))
        .collect();
    let mut known: BTreeSet<String> = leaves(&Args::command(), "stamp-rally").into_iter().collect();
    // Only in builds with their features.
    known.extend(["dev", "lambda"].map(|command| format!("stamp-rally {command}")));
    assert_eq!(named, known);
}

#[test]
fn docs_api_names_every_problem_code_and_no_other() {
    let description: Value = serde_json::from_str(include_str!("../../http/openapi.json")).unwrap();
    let known = description["components"]["schemas"]["Problem"]["properties"]["code"]["enum"].as_array().unwrap();
    let known: BTreeSet<&str> = known.iter().map(|code| code.as_str().unwrap()).collect();
    let page = page("api.md");
    let rows = page.lines().skip_while(|line| !line.starts_with("| status ")).skip(2);
    let codes = rows.take_while(|line| line.starts_with('|')).flat_map(quoted);
    let is_code =
        |code: &&str| code.contains('_') && code.bytes().all(|byte| byte.is_ascii_lowercase() || byte == b'_');
    let others = BTreeSet::from(["forbidden"]);
    let named: BTreeSet<&str> = codes.filter(|code| is_code(code) || others.contains(code)).collect();
    assert_eq!(named, known);
}

#[test]
fn files_named_in_the_architecture_and_contributing_pages_exist() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    for name in ["docs/architecture.md", "CONTRIBUTING.md", "README.md"] {
        let page = fs::read_to_string(root.join(name)).unwrap();
        let is_file = |word: &&str| word.starts_with("src/") || word.starts_with("tests/");
        // The rest of a line of code, or a placeholder, is no file's name.
        let is_path = |word: &&str| !word.contains([' ', '{', '*', ':']);
        for named in quoted(&page).filter(is_file).filter(is_path) {
            assert!(root.join(named).exists(), "{name} names {named}, which isn't there");
        }
    }
}
