//! Any two texts are a key of ours, or none; one that is ours is built again as it was.
#![no_main]

use libfuzzer_sys::fuzz_target;
use stamp_rally::store::keys::{Gsi1Key, Gsi2Key, ItemKey};

fuzz_target!(|text: &str| {
    let Some((pk, sk)) = text.split_once('\n') else { return };
    if let Some(key) = ItemKey::parse(pk, sk) {
        assert_eq!((key.pk().as_str(), key.sk().as_str()), (pk, sk));
    }
    if let Some(key) = Gsi1Key::parse(pk, sk) {
        assert_eq!((key.pk().as_str(), key.sk().as_str()), (pk, sk));
    }
    if let Some(key) = Gsi2Key::parse(pk, sk) {
        assert_eq!((key.pk().as_str(), key.sk().as_str()), (pk, sk));
    }
});
