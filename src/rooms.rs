//! Keeps the arrows of the table in `lib.rs`, and that modules form no cycle inside a room: no compiler does inside one
//! crate.

use std::{
    collections::{BTreeMap, BTreeSet},
    fs,
    path::Path,
};

const ALLOWED: [(&str, &[&str]); 9] = [
    ("domain", &[]),
    ("store", &["domain"]),
    ("line", &["domain"]),
    ("http", &["domain", "store", "line"]),
    ("consumer", &["domain", "store"]),
    ("counts", &["domain", "store", "consumer"]),
    ("delivery", &["domain", "store", "line", "consumer"]),
    ("cli", &["domain", "store", "line", "http", "consumer", "counts", "delivery", "dev"]),
    ("dev", &[]),
];

fn sources(folder: &Path) -> Vec<(String, String)> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            found.extend(sources(&path));
        } else if path.extension().is_some_and(|ext| ext == "rs") {
            found.push((path.display().to_string(), fs::read_to_string(&path).unwrap()));
        }
    }
    found
}

/// Every `crate::<folder>` of a text, also those inside `use crate::{a, b}`.
fn used_rooms(text: &str) -> Vec<&str> {
    text.split("crate::")
        .skip(1)
        .filter_map(|rest| rest.split(|c: char| !c.is_ascii_lowercase() && c != '_').next())
        .collect()
}

#[test]
fn every_room_uses_only_the_rooms_it_may() {
    let src = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let mut read = 0;
    for (room, allowed) in ALLOWED {
        for (file, text) in sources(&src.join(room)) {
            read += 1;
            assert!(
                !text.contains("use crate::{"),
                "{file}: write one `use crate::room::…` a room, so that this test can read it"
            );
            for used in used_rooms(&text) {
                // The stub server of all unit tests, which isn't compiled without them.
                let is_open_to_all = used == "stub";
                assert!(
                    is_open_to_all || used == room || allowed.contains(&used),
                    "{file}: `{room}` must not use `crate::{used}`"
                );
            }
        }
    }
    assert!(read >= ALLOWED.len(), "every room has files");
}

/// The modules of a room that are compiled into the program, with their texts up to their tests.
fn modules(room: &str) -> BTreeMap<Vec<String>, String> {
    let src = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let prefix = src.display().to_string();
    let module = |(file, text): (String, String)| {
        let path = file[prefix.len() + 1..].trim_end_matches(".rs").trim_end_matches("/mod");
        let text = text.split("#[cfg(test)]\nmod tests {").next().unwrap();
        let code = text.lines().map(|line| line.split("//").next().unwrap()).collect::<Vec<_>>().join(" ");
        (path.split('/').map(str::to_owned).collect(), code)
    };
    let all = sources(&src.join(room)).into_iter().map(module);
    let tests =
        |path: &[String]| path.iter().any(|name| ["canned", "double", "simulation", "tests"].contains(&&**name));
    all.filter(|(path, _): &(Vec<String>, _)| !tests(path)).collect()
}

/// Takes `a::{b, c::{d}}` apart, up to the end of the path.
fn expand(prefix: &str, text: &str, found: &mut Vec<String>) -> usize {
    let end = text.find(|c: char| !c.is_alphanumeric() && c != '_' && c != ':').unwrap_or(text.len());
    let path = format!("{prefix}{}", &text[..end]);
    if !text[end..].starts_with('{') {
        found.push(path);
        return end;
    }
    let mut at = end + 1;
    while let Some(next) = text[at..].find(|c: char| !c.is_whitespace() && c != ',') {
        at += next;
        if text[at..].starts_with('}') {
            return at + 1;
        }
        let read = expand(&path, &text[at..], found);
        // What stands between two paths: `as name`.
        at += read + text[at + read..].find([',', '}']).unwrap_or(text.len() - at - read);
    }
    text.len()
}

/// The modules that a module's code names, relative to it or from the root of the crate.
fn named(module: &[String], code: &str) -> Vec<Vec<String>> {
    let mut paths = Vec::new();
    for start in ["crate::", "super::"] {
        for (at, _) in code.match_indices(start).filter(|(at, _)| !code[..*at].ends_with(':')) {
            expand("", &code[at..], &mut paths);
        }
    }
    let resolve = |path: String| {
        let mut from = module.to_vec();
        for part in path.split("::") {
            match part {
                "crate" => from.clear(),
                "super" => drop(from.pop()),
                name => from.push(name.to_owned()),
            }
        }
        from
    };
    paths.into_iter().map(resolve).collect()
}

/// Which siblings, with all that is below them, name which.
fn arrows(modules: &BTreeMap<Vec<String>, String>) -> BTreeMap<Vec<String>, BTreeSet<Vec<String>>> {
    let mut arrows = BTreeMap::<Vec<String>, BTreeSet<Vec<String>>>::new();
    for (module, code) in modules {
        for other in named(module, code) {
            let common = module.iter().zip(&other).take_while(|(one, other)| one == other).count();
            if common > 0 && common < module.len().min(other.len()) && modules.contains_key(&other[..=common]) {
                arrows.entry(module[..=common].to_vec()).or_default().insert(other[..=common].to_vec());
            }
        }
    }
    arrows
}

#[test]
fn modules_of_a_room_form_no_cycle() {
    let mut cycles = BTreeSet::new();
    for (room, _) in ALLOWED {
        let arrows = arrows(&modules(room));
        for module in arrows.keys() {
            let (mut reached, mut next) = (BTreeSet::new(), vec![module]);
            while let Some(from) = next.pop() {
                next.extend(arrows.get(from).into_iter().flatten().filter(|to| reached.insert((*to).clone())));
            }
            cycles.extend(reached.contains(module).then(|| module.join("::")));
        }
    }
    assert_eq!(cycles, BTreeSet::new(), "each of these leads back to itself");
}
