//! What one value may be, and the members that an object may and must have.

use std::ops::RangeInclusive;

use serde_json::{Map, Value};

use super::{
    address::{check_https, check_tap_uri},
    length::{Length, Unit},
    walk::Walk,
};

/// What one value may be.
pub(super) enum Rule {
    /// Anything: it is checked with the whole object.
    Any,
    /// `0deg` to below `360deg`.
    Angle,
    /// true or false.
    Bool,
    /// `#RRGGBB`, or `#RRGGBBAA`. The reference names alpha for backgrounds alone; LINE's own samples use it for texts too.
    Colour,
    /// A text that programs read, of so many UTF-16 code units: never cut.
    Data(RangeInclusive<usize>),
    /// An https address of a file.
    Https,
    /// One of these words.
    Keyword(&'static [&'static str]),
    /// One of these words, pixels, and where so marked percent.
    Measure(&'static Measure),
    /// What this function checks.
    Nested(fn(&mut Walk, &Value)),
    /// An object, by what it is called, with these members.
    Object(&'static str, &'static [Member]),
    /// `0%` to `100%`.
    Percent,
    /// `width:height`, each 1 to 100000, the height at most three times the width.
    Ratio,
    /// An address that a tap opens.
    TapUri,
    /// A text for a reader, not empty; one that is too long may be cut.
    Text(Length),
    /// A whole number, not negative; `1.0` is one (JSON has no other kind of number, RFC 8259).
    Whole,
}

/// One member an object may have.
pub(super) struct Member {
    name: &'static str,
    required: Option<&'static str>,
    rule: Rule,
}

/// Returns a member that may be left out.
pub(super) const fn may(name: &'static str, rule: Rule) -> Member {
    Member { name, required: None, rule }
}

/// Returns a member that must be there, and what to say if it isn't.
pub(super) const fn must(name: &'static str, rule: Rule, missing: &'static str) -> Member {
    Member { name, required: Some(missing), rule }
}

/// A size: words, and numbers with a unit.
pub(super) struct Measure {
    words: &'static [&'static str],
    percent: Percent,
    sign: Sign,
}

#[derive(PartialEq)]
enum Percent {
    No,
    Yes,
}

#[derive(PartialEq)]
enum Sign {
    Any,
    /// Also 0.
    Plus,
    /// More than 0.
    Positive,
}

const SPACES: &[&str] = &["none", "xs", "sm", "md", "lg", "xl", "xxl"];
const FONTS: &[&str] = &["xxs", "xs", "sm", "md", "lg", "xl", "xxl", "3xl", "4xl", "5xl"];
const IMAGES: &[&str] = &["xxs", "xs", "sm", "md", "lg", "xl", "xxl", "3xl", "4xl", "5xl", "full"];
const BORDERS: &[&str] = &["none", "light", "normal", "medium", "semi-bold", "bold"];

/// `margin`, `spacing`, `cornerRadius`.
pub(super) static SPACE: Measure = Measure { words: SPACES, percent: Percent::No, sign: Sign::Plus };
/// `padding…`.
pub(super) static PADDING: Measure = Measure { words: SPACES, percent: Percent::Yes, sign: Sign::Plus };
/// `offset…`; LINE's own samples use negative ones.
pub(super) static OFFSET: Measure = Measure { words: SPACES, percent: Percent::Yes, sign: Sign::Any };
/// `borderWidth`.
pub(super) static BORDER: Measure = Measure { words: BORDERS, percent: Percent::No, sign: Sign::Plus };
/// `size` of text, span and icon.
pub(super) static FONT: Measure = Measure { words: FONTS, percent: Percent::No, sign: Sign::Plus };
/// `size` of images.
pub(super) static IMAGE: Measure = Measure { words: IMAGES, percent: Percent::Yes, sign: Sign::Plus };
/// `width`, `height` and their maxima.
pub(super) static EXTENT: Measure = Measure { words: &[], percent: Percent::Yes, sign: Sign::Plus };
/// `lineSpacing`: "a positive integer or decimal number that ends in px".
pub(super) static PIXELS: Measure = Measure { words: &[], percent: Percent::No, sign: Sign::Positive };

impl Walk {
    /// Checks an object's members: those required are there, those there are known and keep their rule.
    pub(super) fn members(&mut self, object: &Map<String, Value>, known: &[&[Member]]) {
        let all = || known.iter().copied().flatten();
        for member in all() {
            if let (Some(missing), false) = (member.required, object.contains_key(member.name)) {
                self.fault_at(member.name, format!("is required here: {missing}"));
            }
        }
        for (name, value) in object {
            self.at(name, |walk| match all().find(|member| member.name == name) {
                None => walk.fault("is no member that LINE knows here: remove it"),
                Some(_) if value.is_null() => walk.fault("is null: leave the member out instead"),
                Some(member) => member.rule.check(walk, value),
            });
        }
    }
}

impl Rule {
    /// Adds what is wrong with `value` to the faults of `walk`.
    pub(super) fn check(&self, walk: &mut Walk, value: &Value) {
        match self {
            Self::Any => {}
            Self::Bool if value.is_boolean() => {}
            Self::Bool => walk.fault("must be true or false, without quotation marks"),
            Self::Whole if whole(value).is_some_and(|number| i32::try_from(number).is_ok()) => {}
            Self::Whole => walk.fault("must be a whole number, 0 or more, without quotation marks"),
            Self::Nested(check) => check(walk, value),
            Self::Object(what, members) => {
                if let Some(object) = walk.object(value, what) {
                    walk.members(object, &[members]);
                }
            }
            _ => match value.as_str() {
                Some(text) => self.check_text(walk, text),
                None => walk.fault("must be text, in quotation marks"),
            },
        }
    }

    fn check_text(&self, walk: &mut Walk, text: &str) {
        match self {
            Self::Angle if number(text, "deg").is_some_and(|angle| (0.0..360.0).contains(&angle)) => {}
            Self::Angle => walk.fault("must be an angle from 0deg to below 360deg, for example \"90deg\""),
            Self::Colour if is_colour(text) => {}
            Self::Colour => walk.fault("must be a colour written #RRGGBB (or #RRGGBBAA)"),
            Self::Data(lengths) => check_data(walk, text, lengths),
            Self::Https => check_https(walk, text),
            Self::Keyword(words) if words.contains(&text) => {}
            Self::Keyword(words) => walk.fault(format!("must be one of {}", words.join(", "))),
            Self::Measure(measure) if measure.allows(text) => {}
            Self::Measure(measure) => walk.fault(measure.wanted()),
            Self::Percent if number(text, "%").is_some_and(|part| (0.0..=100.0).contains(&part)) => {}
            Self::Percent => walk.fault("must be a place from 0% to 100%, for example \"50%\""),
            Self::Ratio if is_ratio(text) => {}
            Self::Ratio => walk.fault(
                "must be width:height, each from 1 to 100000, the height at most three times the width: for example \"20:13\"",
            ),
            Self::TapUri => check_tap_uri(walk, text),
            Self::Text(length) => check_words(walk, text, *length),
            Self::Any | Self::Bool | Self::Nested(_) | Self::Object(..) | Self::Whole => {}
        }
    }
}

impl Measure {
    fn allows(&self, text: &str) -> bool {
        let unsigned = if self.sign == Sign::Any { text.strip_prefix('-').unwrap_or(text) } else { text };
        let is_amount = |unit| number(unsigned, unit).is_some_and(|size| size > 0.0 || self.sign != Sign::Positive);
        self.words.contains(&text) || is_amount("px") || (self.percent == Percent::Yes && is_amount("%"))
    }

    fn wanted(&self) -> String {
        let percent = if self.percent == Percent::Yes { " or percent (\"50%\")" } else { "" };
        let words =
            if self.words.is_empty() { String::new() } else { format!(", or one of {}", self.words.join(", ")) };
        let positive = if self.sign == Sign::Positive { ", more than 0" } else { "" };
        format!("must be pixels (\"10px\"){percent}{words}{positive}")
    }
}

/// Text for a reader: there must be some, and not too much.
fn check_words(walk: &mut Walk, text: &str, length: Length) {
    if text.is_empty() {
        return walk.fault("must not be empty: give it text");
    }
    let found = length.of(text);
    if found > length.most {
        let unit = match length.unit {
            Unit::Graphemes => "characters",
            Unit::Utf16 => "UTF-16 units",
        };
        walk.too_long(format!("is {found} {unit} long, {} at most: shorten it", length.most), length);
    }
}

fn check_data(walk: &mut Walk, text: &str, lengths: &RangeInclusive<usize>) {
    let (found, most) = (text.encode_utf16().count(), lengths.end());
    if found < *lengths.start() {
        walk.fault("must not be empty: give it a value");
    } else if found > *most {
        walk.fault(format!("is {found} UTF-16 units long, {most} at most: shorten it"));
    }
}

/// Returns a whole number, not negative, however it is written: `1`, `1.0`, `1e0`.
pub(super) fn whole(value: &Value) -> Option<u64> {
    let floating = || value.as_f64().filter(|number| number.fract() == 0.0 && number.is_sign_positive());
    // No more digits than a float has exactly.
    let exact = || floating().filter(|number| *number < 9.0e15).and_then(|number| format!("{number}").parse().ok());
    value.as_u64().or_else(exact)
}

/// Returns the number in front of `unit`: digits, possibly a point and more digits.
fn number(text: &str, unit: &str) -> Option<f64> {
    decimal(text.strip_suffix(unit)?)
}

fn decimal(text: &str) -> Option<f64> {
    let (whole, part) = text.split_once('.').unwrap_or((text, "0"));
    let digits = |text: &str| !text.is_empty() && text.len() <= 9 && text.bytes().all(|byte| byte.is_ascii_digit());
    if digits(whole) && digits(part) { text.parse().ok() } else { None }
}

fn is_colour(text: &str) -> bool {
    let digits = text.strip_prefix('#').unwrap_or_default();
    matches!(digits.len(), 6 | 8) && digits.bytes().all(|byte| byte.is_ascii_hexdigit())
}

fn is_ratio(text: &str) -> bool {
    let side = |text: &str| decimal(text).filter(|side| (1.0..=100_000.0).contains(side));
    let Some((width, height)) = text.split_once(':') else { return false };
    matches!((side(width), side(height)), (Some(width), Some(height)) if height <= width * 3.0)
}
