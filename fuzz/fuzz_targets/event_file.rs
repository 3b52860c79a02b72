//! Any text is an event file, or is refused with one line that names the file.
#![no_main]

use std::path::Path;

use libfuzzer_sys::fuzz_target;
use stamp_rally::cli::event_file;

fuzz_target!(|text: &str| {
    let templates = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../flex_templates"));
    if let Err(error) = event_file::parse(Path::new("rally.toml"), text, templates) {
        let line = format!("{error:#}");
        assert!(line.contains("rally.toml") && !line.contains('\n'), "{line}");
    }
});
