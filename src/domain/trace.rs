//! Which trace a request belongs to: the header `traceparent` (W3C Trace Context, level 1).

use std::str::FromStr;

use derive_more::Display;

use super::Malformed;

/// The header's name.
pub const TRACEPARENT: &str = "traceparent";

/// Length of a `traceparent` of version 00, which those of later versions begin with.
const LENGTH: usize = 55;

/// A request's place in a trace. Its text is a `traceparent` of version 00.
#[derive(Debug, Display, Clone, Copy, PartialEq, Eq)]
#[display("00-{trace_id:032x}-{span_id:016x}-{flags:02x}")]
pub struct TraceContext {
    trace_id: u128,
    span_id: u64,
    flags: u8,
}

impl TraceContext {
    /// Makes a trace of its own, which is recorded nowhere yet.
    #[must_use]
    pub fn generate() -> Self {
        Self { trace_id: fastrand::u128(1..), span_id: fastrand::u64(1..), flags: 0 }
    }

    /// Returns the place of what is done for this request: the same trace, another span.
    #[must_use]
    pub fn child(self) -> Self {
        Self { span_id: fastrand::u64(1..), ..self }
    }

    /// Returns the trace's id.
    #[must_use]
    pub fn trace_id(self) -> TraceId {
        TraceId(self.trace_id)
    }

    /// Returns the span's id, never zero.
    #[must_use]
    pub fn span_id(self) -> u64 {
        self.span_id
    }

    /// Returns the trace flags; the lowest bit says that the caller may have recorded the trace.
    #[must_use]
    pub fn flags(self) -> u8 {
        self.flags
    }
}

/// A trace's id, never zero. Its text is 32 lower-case hexadecimal digits.
#[derive(Debug, Display, Clone, Copy, PartialEq, Eq)]
#[display("{_0:032x}")]
pub struct TraceId(u128);

impl From<TraceId> for u128 {
    fn from(id: TraceId) -> Self {
        id.0
    }
}

impl FromStr for TraceContext {
    type Err = Malformed;

    /// Reads version 00 exactly, and the part of later versions that level 1 defines; knows its one flag.
    fn from_str(text: &str) -> Result<Self, Malformed> {
        read(text).ok_or_else(|| Malformed::new(TRACEPARENT, "must be as W3C Trace Context, level 1, defines it"))
    }
}

fn read(text: &str) -> Option<TraceContext> {
    let known = text.get(..LENGTH)?;
    let mut fields = known.split('-');
    let version = hex(fields.next()?, 2)?;
    let whole =
        if version == 0 { text.len() == LENGTH } else { matches!(text.as_bytes().get(LENGTH), None | Some(b'-')) };
    let (trace_id, span_id, flags) = (hex(fields.next()?, 32)?, hex(fields.next()?, 16)?, hex(fields.next()?, 2)?);
    let usable = whole && version != 0xff && trace_id != 0 && span_id != 0;
    usable.then_some(TraceContext {
        trace_id,
        span_id: u64::try_from(span_id).ok()?,
        flags: u8::try_from(flags & 1).ok()?,
    })
}

fn hex(digits: &str, length: usize) -> Option<u128> {
    let is_digit = |byte: u8| matches!(byte, b'0'..=b'9' | b'a'..=b'f');
    let fits = digits.len() == length && digits.bytes().all(is_digit);
    fits.then(|| u128::from_str_radix(digits, 16).ok()).flatten()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The specification's own example.
    const EXAMPLE: &str = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";

    #[test]
    fn traceparent_of_version_00_is_read_and_written_back() {
        let context: TraceContext = EXAMPLE.parse().unwrap();
        assert_eq!(context.to_string(), EXAMPLE);
        assert_eq!(context.trace_id().to_string(), "0af7651916cd43dd8448eb211c80319c");
        let child = context.child();
        assert_eq!((child.trace_id(), child.flags()), (context.trace_id(), 1));
        assert_ne!(child.span_id(), context.span_id());
    }

    #[test]
    fn traceparent_of_a_later_version_is_read_as_far_as_it_is_known() {
        for later in [EXAMPLE.replacen("00", "01", 1), format!("{}-more", EXAMPLE.replacen("00", "cc", 1))] {
            assert_eq!(later.parse::<TraceContext>().unwrap().to_string(), EXAMPLE, "{later}");
        }
        let flags = EXAMPLE.replace("-01", "-ff");
        assert_eq!(flags.parse::<TraceContext>().unwrap().to_string(), EXAMPLE, "level 1 knows one flag");
    }

    #[test]
    fn traceparent_that_breaks_the_format_is_refused() {
        let long = format!("{EXAMPLE}-more");
        let glued = EXAMPLE.replacen("00", "01", 1) + "more";
        let cases = [
            "",
            "00",
            "あ",
            &EXAMPLE[..54],
            &EXAMPLE.to_uppercase(),
            &EXAMPLE.replacen("00", "ff", 1),
            &EXAMPLE.replacen("00", "0", 1),
            &EXAMPLE.replacen("0af", "+af", 1),
            &EXAMPLE.replace('-', "_"),
            &EXAMPLE.replace("0af7651916cd43dd8448eb211c80319c", &"0".repeat(32)),
            &EXAMPLE.replace("b7ad6b7169203331", &"0".repeat(16)),
            &EXAMPLE.replace("b7ad6b7169203331", "b7ad6b716920333あ"),
            &long,
            &glued,
        ];
        for bad in cases {
            assert!(bad.parse::<TraceContext>().is_err(), "{bad}");
        }
    }

    #[test]
    fn trace_that_is_made_is_a_good_one_and_unlike_the_others() {
        let (one, other) = (TraceContext::generate(), TraceContext::generate());
        assert_ne!(one.trace_id(), other.trace_id());
        assert_eq!(one.to_string().parse::<TraceContext>().unwrap(), one);
    }
}
