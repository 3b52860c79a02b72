//! What is logged has fixed sentences and one dictionary of fields: that of docs/operate.md.

use std::{collections::BTreeSet, fs, path::Path};

/// The sources of a folder, each up to its unit tests.
fn sources(folder: &Path) -> Vec<(String, String)> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            found.extend(sources(&path));
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            let text = fs::read_to_string(&path).unwrap();
            let text = text.split("#[cfg(test)]\nmod tests {").next().unwrap();
            found.push((path.display().to_string(), text.to_owned()));
        }
    }
    found
}

fn src(room: &str) -> Vec<(String, String)> {
    sources(&Path::new(env!("CARGO_MANIFEST_DIR")).join("src").join(room))
}

fn page() -> String {
    fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/docs/operate.md")).unwrap()
}

/// The arguments of a macro, from behind its parenthesis.
fn arguments(text: &str) -> Vec<String> {
    let (mut found, mut depth, mut in_string, mut before) = (vec![String::new()], 0, false, ' ');
    for character in text.chars() {
        match character {
            '"' if before != '\\' => in_string = !in_string,
            '(' | '[' | '{' if !in_string => depth += 1,
            ')' if !in_string && depth == 0 => break,
            ')' | ']' | '}' if !in_string => depth -= 1,
            _ => {}
        }
        if character == ',' && depth == 0 && !in_string {
            found.push(String::new());
        } else {
            found.last_mut().unwrap().push(character);
        }
        before = character;
    }
    let trimmed = found.into_iter().map(|argument| argument.trim().to_owned());
    trimmed.filter(|argument| !argument.is_empty()).collect()
}

/// The events and spans that a text logs, each by the name of its macro and its arguments.
fn logged(text: &str) -> impl Iterator<Item = (&str, Vec<String>)> {
    text.match_indices("tracing::").filter_map(|(at, found)| {
        let (name, rest) = text[at + found.len()..].split_once("!(")?;
        name.bytes().all(|byte| byte.is_ascii_lowercase() || byte == b'_').then(|| (name, arguments(rest)))
    })
}

#[test]
fn every_field_of_the_log_is_in_the_dictionary_of_docs_operate_and_no_other_is() {
    let mut used = BTreeSet::new();
    for (file, text) in src("") {
        for (_, arguments) in logged(&text) {
            for field in arguments.iter().filter(|argument| !argument.starts_with('"')) {
                let name = field.split(" = ").next().unwrap().trim_start_matches(['%', '?']);
                let is_a_name = |c: char| c.is_ascii_lowercase() || c == '.' || c == '_';
                assert!(name.chars().all(is_a_name), "{file}: {field}");
                used.insert(name.to_owned());
            }
        }
    }
    let page = page();
    let rows = page.lines().skip_while(|line| !line.starts_with("| field |")).skip(2);
    let cells = rows.take_while(|line| line.starts_with('|')).map(|row| row.split(" | ").next().unwrap());
    let named: BTreeSet<String> =
        cells.flat_map(|cell| cell.split('`').skip(1).step_by(2)).map(str::to_owned).collect();
    assert_eq!(used, named);
}

#[test]
fn every_message_of_the_log_is_a_fixed_sentence_and_comes_last() {
    for (file, text) in src("") {
        for (name, arguments) in logged(&text).filter(|(name, _)| !name.ends_with("_span")) {
            let (message, fields) = arguments.split_last().unwrap();
            let is_fixed = message.starts_with('"') && !message.contains('{');
            assert!(is_fixed && !fields.iter().any(|field| field.starts_with('"')), "{file}: {name}!({message})");
        }
    }
}

#[test]
fn every_span_is_named_by_docs_operate_and_every_call_of_the_store_is_one() {
    let page = page();
    for (file, text) in src("") {
        for (_, arguments) in logged(&text).filter(|(name, _)| name.ends_with("_span")) {
            assert!(
                page.contains(&arguments[0].replace('"', "`")),
                "{file}: docs/operate.md names no {}",
                arguments[0]
            );
        }
    }
    let mut calls = 0;
    for (file, text) in src("store") {
        let (mut owner, mut above) = ("", "");
        for line in text.lines() {
            if let Some(begun) = line.strip_prefix("impl ") {
                owner = begun.trim_end_matches(" {");
            }
            let call = line.strip_prefix("    pub async fn ").and_then(|rest| rest.split(['(', '<']).next());
            let room = match owner {
                "Store" => "store",
                "Consumers" => "store.progress",
                "StreamReader" => "store.stream",
                _ => "",
            };
            if let Some(call) = call.filter(|_| !room.is_empty()) {
                calls += 1;
                let span = format!("    #[tracing::instrument(name = \"{room}.{call}\", level = \"debug\", skip_all)]");
                assert_eq!(above, span, "{file}");
            }
            above = line;
        }
    }
    assert!(calls > 50, "{calls}");
}
