//! Any JSON is a template, or is refused with its faults; one that is accepted is filled within every limit, or what is
//! wrong then is named.
#![no_main]

use libfuzzer_sys::fuzz_target;
use serde_json::Value;
use stamp_rally::line::flex::{Template, Values, check_finished};

fuzz_target!(|json: &[u8]| {
    let Ok(message) = serde_json::from_slice::<Value>(json) else { return };
    let template = match Template::parse(message) {
        Ok(template) => template,
        Err(faults) => return assert!(!faults.is_empty()),
    };
    let name = "初夏の\u{1f38f}ラリー\"\\\u{7}".repeat(20);
    let short: String = name.chars().take(9).collect();
    let values = Values {
        event_name: &name,
        stamp_name: &short,
        stamp_order: 999,
        acquired_at: "2026/05/23 20:30",
        card_acquired: 999,
        card_total: 999,
    };
    match template.render(&values) {
        Ok(message) => assert!(check_finished(&message).is_empty(), "{message}"),
        Err(faults) => assert!(!faults.is_empty()),
    }
});
