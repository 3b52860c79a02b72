//! Keeps the arrows of the table in `lib.rs`: no compiler does inside one crate.

use std::{fs, path::Path};

const ALLOWED: [(&str, &[&str]); 7] = [
    ("domain", &[]),
    ("store", &["domain"]),
    ("line", &["domain"]),
    ("http", &["domain", "store", "line"]),
    ("delivery", &["domain", "store", "line"]),
    ("cli", &["domain", "store", "line", "http", "delivery", "dev"]),
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
