//! How long a text is, and how it is cut.

use unicode_segmentation::UnicodeSegmentation;

/// How LINE counts a text's length.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum Unit {
    /// Characters as a reader sees them: labels and texts of actions.
    Graphemes,
    /// UTF-16 code units: nearly everything else.
    Utf16,
}

/// The longest a text may be.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) struct Length {
    pub(super) most: usize,
    pub(super) unit: Unit,
}

impl Length {
    /// Returns the length of `text` in this unit.
    pub(super) fn of(self, text: &str) -> usize {
        match self.unit {
            Unit::Graphemes => text.graphemes(true).count(),
            Unit::Utf16 => text.encode_utf16().count(),
        }
    }

    /// Returns `text`, cut between two characters and ended with `…` if it is too long.
    pub(super) fn cut(self, text: &str) -> String {
        if self.of(text) <= self.most {
            return text.to_owned();
        }
        let mut room = self.most.saturating_sub(1);
        let mut cut = String::new();
        for grapheme in text.graphemes(true) {
            let Some(left) = room.checked_sub(self.of(grapheme)) else { break };
            room = left;
            cut.push_str(grapheme);
        }
        cut.push('…');
        cut
    }
}
