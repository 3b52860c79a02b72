//! The two languages in which participants are answered.

/// A language of the texts for participants.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Language {
    /// English.
    English,
    /// Japanese.
    Japanese,
}
