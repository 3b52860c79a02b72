//! What the API of the streams refuses.

/// What is refused, as the API of the streams names it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Refused {
    Expired,
    Gone,
    Invalid,
    Trimmed,
}

impl Refused {
    /// Code and message.
    pub fn words(self) -> (&'static str, &'static str) {
        match self {
            Self::Expired => ("ExpiredIteratorException", "Iterator has expired."),
            Self::Gone => ("ResourceNotFoundException", "Requested resource not found: Shard does not exist"),
            Self::Invalid => ("ValidationException", "Invalid ShardIterator"),
            Self::Trimmed => (
                "TrimmedDataAccessException",
                "The operation attempted to read past the oldest stream record in a shard.",
            ),
        }
    }
}
