//! Crockford's base32: numbers as letters and digits that people can read out and type.

use unicode_normalization::UnicodeNormalization as _;

const DIGITS: &[u8; 32] = b"0123456789ABCDEFGHJKMNPQRSTVWXYZ";

/// How many bits a character holds.
const BITS: usize = 5;

/// Writes a number in so many characters, big-endian; the bits that don't fit are left out.
pub(super) fn write(number: u128, width: usize) -> String {
    let digit = |place: usize| (number.checked_shr(u32::try_from(place * BITS).unwrap_or(u32::MAX)).unwrap_or(0)) & 31;
    (0..width).rev().map(|place| char::from(DIGITS[usize::try_from(digit(place)).unwrap_or(0)])).collect()
}

/// Reads a number; `None` where a character is no digit, or where it doesn't fit 128 bits.
pub(super) fn read(text: &str) -> Option<u128> {
    text.bytes().try_fold(0_u128, |number, character| {
        let digit = DIGITS.iter().position(|digit| *digit == character)?;
        number.checked_mul(32)?.checked_add(digit.try_into().ok()?)
    })
}

/// Returns a text as its writer meant it: NFKC, upper case, without hyphens and white space, `O` as 0, `I` and `L` as 1.
pub(super) fn normalised(text: &str) -> String {
    let kept = text.nfkc().filter(|character| *character != '-' && !character.is_whitespace());
    let upper = kept.map(|character| character.to_ascii_uppercase());
    upper
        .map(|character| match character {
            'O' => '0',
            'I' | 'L' => '1',
            other => other,
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn a_code_is_read_as_its_writer_meant_it() {
        assert_eq!(normalised("sbjv-9rz4 ｏ１ il"), "SBJV9RZ40111");
        assert_eq!(read(&normalised("Ｏ１")), Some(1));
        assert_eq!(read("U"), None);
        assert_eq!(read("é"), None);
    }

    proptest! {
        #[test]
        fn what_is_written_is_read(number: u128) {
            prop_assert_eq!(read(&write(number, 26)), Some(number));
        }

        #[test]
        fn a_number_beyond_128_bits_is_none(rest in "[0-9A-HJKMNP-TV-Z]{25}", first in "[8-9A-HJKMNP-TV-Z]") {
            prop_assert_eq!(read(&format!("{first}{rest}")), None);
        }
    }
}
