//! Any body is webhook events, or is refused; nothing is signed by chance.
#![no_main]

use libfuzzer_sys::fuzz_target;
use stamp_rally::line::webhook;

fuzz_target!(|body: &[u8]| {
    let _events = webhook::read(body);
    let signature = String::from_utf8_lossy(body);
    let secrets = ["8c570fa6dd201bb328f1c1eac23a96d8".to_owned().into()];
    assert!(!webhook::is_signed(body, &signature, secrets.iter()));
});
