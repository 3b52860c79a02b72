//! Text that arrives as bytes: UTF-8, and the names of other encodings that it may be in.

/// Bytes that are text in another encoding than UTF-8, or no text; as a sentence without its subject: which encoding it
/// seems to be, and where.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{place}")]
pub struct OtherEncoding {
    place: String,
    /// Which one it is or seems to be, as IANA names it.
    pub name: Option<&'static str>,
}

/// Marks, longest first: that of UTF-32 begins as that of UTF-16 does.
const MARKS: [(&[u8], &str); 4] = [
    (&[0xFF, 0xFE, 0, 0], "UTF-32"),
    (&[0, 0, 0xFE, 0xFF], "UTF-32"),
    (&[0xFF, 0xFE], "UTF-16"),
    (&[0xFE, 0xFF], "UTF-16"),
];

/// Returns the text of bytes that are UTF-8, without the byte order mark that some editors begin a file with and that
/// a JSON parser may pass over (RFC 8259, 8.1).
///
/// # Errors
///
/// Another encoding, by name: JSON and TOML begin with ASCII, so UTF-16 and UTF-32 show without a mark, too; Japanese
/// ones are distinguished by the bytes that they have.
pub fn utf_8(bytes: &[u8]) -> Result<&str, OtherEncoding> {
    if let Some(other) = marked(bytes).or_else(|| unmarked(bytes)).or_else(|| iso_2022_jp(bytes)) {
        return Err(other);
    }
    match std::str::from_utf8(bytes) {
        Ok(text) => Ok(text.strip_prefix('\u{feff}').unwrap_or(text)),
        Err(error) => Err(japanese(bytes, error.valid_up_to())),
    }
}

fn marked(bytes: &[u8]) -> Option<OtherEncoding> {
    let (mark, name) = MARKS.iter().find(|(mark, _)| bytes.starts_with(mark))?;
    let mark: Vec<String> = mark.iter().map(|byte| format!("{byte:02X}")).collect();
    let place = format!("is {name}, not UTF-8 (its byte order mark {} is at offset 0)", mark.join(" "));
    Some(OtherEncoding { place, name: Some(name) })
}

/// UTF-16 and UTF-32 without a mark: an ASCII character at the beginning has zeros around it.
fn unmarked(bytes: &[u8]) -> Option<OtherEncoding> {
    let (name, at) = match bytes {
        [0, 0, 0, _, ..] => ("UTF-32", 0),
        [_, 0, 0, 0, ..] => ("UTF-32", 1),
        [0, ..] => ("UTF-16", 0),
        [_, 0, ..] => ("UTF-16", 1),
        _ => return None,
    };
    let place = format!("is {name} without a byte order mark, not UTF-8 (byte 00 at offset {at})");
    Some(OtherEncoding { place, name: Some(name) })
}

/// All of it is ASCII: it shows by its escape sequences, which are no JSON and no TOML.
fn iso_2022_jp(bytes: &[u8]) -> Option<OtherEncoding> {
    let at = bytes.windows(3).position(|three| matches!(three, [0x1B, b'$', b'@' | b'B']))?;
    let place = format!("is ISO-2022-JP, not UTF-8 (byte 1B at offset {at})");
    Some(OtherEncoding { place, name: Some("ISO-2022-JP") })
}

/// The encoding that all of the bytes keep to. Little of `Shift_JIS` is EUC-JP too; not the other way round.
fn japanese(bytes: &[u8], at: usize) -> OtherEncoding {
    let line = bytes[..at].split(|byte| *byte == b'\n').count();
    let place = format!("is not UTF-8 (byte {:02X} at offset {at}, line {line})", bytes[at]);
    let found = [("EUC-JP", euc_jp as fn(&[u8]) -> Option<usize>), ("Shift_JIS", shift_jis)];
    match found.into_iter().find(|(_, character)| follows(bytes, *character)) {
        Some((name, _)) => OtherEncoding { place: format!("{place}, it looks like {name}"), name: Some(name) },
        None => OtherEncoding { place, name: None },
    }
}

/// Whether `character` takes one character after the other off the bytes, to the end.
fn follows(mut bytes: &[u8], character: fn(&[u8]) -> Option<usize>) -> bool {
    while !bytes.is_empty() {
        let Some(length) = character(bytes) else { return false };
        bytes = &bytes[length..];
    }
    true
}

/// The length of the first character (JIS X 0208, appendix 1).
fn shift_jis(bytes: &[u8]) -> Option<usize> {
    match bytes {
        [0..=0x7F | 0xA1..=0xDF, ..] => Some(1),
        [0x81..=0x9F | 0xE0..=0xFC, 0x40..=0x7E | 0x80..=0xFC, ..] => Some(2),
        _ => None,
    }
}

/// The length of the first character (JIS X 0208 and 0212 as Unix has them).
fn euc_jp(bytes: &[u8]) -> Option<usize> {
    match bytes {
        [0..=0x7F, ..] => Some(1),
        [0x8E, 0xA1..=0xDF, ..] | [0xA1..=0xFE, 0xA1..=0xFE, ..] => Some(2),
        [0x8F, 0xA1..=0xFE, 0xA1..=0xFE, ..] => Some(3),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn is_other(bytes: &[u8], name: Option<&str>, sentence: &str) {
        let other = utf_8(bytes).unwrap_err();
        assert_eq!((other.to_string().as_str(), other.name), (sentence, name));
    }

    #[test]
    fn utf_8_is_read_with_and_without_a_byte_order_mark() {
        assert_eq!(utf_8("{\"灯台\": 1}".as_bytes()), Ok("{\"灯台\": 1}"));
        assert_eq!(utf_8("\u{feff}{}".as_bytes()), Ok("{}"));
        assert_eq!(utf_8(b""), Ok(""));
    }

    #[test]
    fn utf_16_and_utf_32_are_named_by_their_byte_order_mark() {
        let place = "is UTF-16, not UTF-8 (its byte order mark FF FE is at offset 0)";
        is_other(b"\xFF\xFE{\0}\0", Some("UTF-16"), place);
        is_other(b"\xFE\xFF\0{", Some("UTF-16"), "is UTF-16, not UTF-8 (its byte order mark FE FF is at offset 0)");
        let place = "is UTF-32, not UTF-8 (its byte order mark FF FE 00 00 is at offset 0)";
        is_other(b"\xFF\xFE\0\0{\0\0\0", Some("UTF-32"), place);
    }

    #[test]
    fn utf_16_and_utf_32_without_a_mark_are_named_by_the_zeros_of_ascii() {
        let place = |name, at| format!("is {name} without a byte order mark, not UTF-8 (byte 00 at offset {at})");
        is_other(b"{\0}\0", Some("UTF-16"), &place("UTF-16", 1));
        is_other(b"\0{\0}", Some("UTF-16"), &place("UTF-16", 0));
        is_other(b"{\0\0\0}\0\0\0", Some("UTF-32"), &place("UTF-32", 1));
        is_other(b"\0\0\0{\0\0\0}", Some("UTF-32"), &place("UTF-32", 0));
    }

    #[test]
    fn japanese_encodings_are_named_with_the_offset_of_the_first_byte_that_is_not_utf_8() {
        // "{\n灯台" in each.
        let place = "is not UTF-8 (byte 93 at offset 2, line 2), it looks like Shift_JIS";
        is_other(b"{\n\x93\x94\x91\xE4", Some("Shift_JIS"), place);
        let place = "is not UTF-8 (byte C5 at offset 2, line 2), it looks like EUC-JP";
        is_other(b"{\n\xC5\xF4\xC2\xE6", Some("EUC-JP"), place);
        let place = "is ISO-2022-JP, not UTF-8 (byte 1B at offset 2)";
        is_other(b"{\n\x1B$BEtBf\x1B(B}", Some("ISO-2022-JP"), place);
        is_other(b"\xFF", None, "is not UTF-8 (byte FF at offset 0, line 1)");
    }
}
