//! Any text is a cursor of this query, or is refused; any position comes back from the cursor that is written of it, and
//! from no other query's.
#![no_main]

use libfuzzer_sys::fuzz_target;
use stamp_rally::http::cursor::{QueryDigest, read, write};

fuzz_target!(|text: &str| {
    let (ours, other) = (QueryDigest::of(&["users", "rally"]), QueryDigest::of(&["users", "other"]));
    assert!(read::<Vec<String>>(&ours, text).is_err(), "nobody makes a checksum by chance");
    let Ok(position) = serde_json::from_str::<Vec<String>>(text) else { return };
    let Ok(cursor) = write(&ours, &position) else { return };
    assert_eq!(read::<Vec<String>>(&ours, &cursor).ok(), Some(position));
    assert!(read::<Vec<String>>(&other, &cursor).is_err());
});
