//! Which part of a list is wanted, and the part.

use serde::{Deserialize, Serialize};

use crate::domain::Malformed;

use super::super::paging::Paged;

/// Rows of a page of a list that is read to its end.
const AT_A_TIME: usize = 1000;

/// Which end a list begins at.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Direction {
    /// Oldest first.
    Asc,
    /// Newest first.
    Desc,
}

/// Where a list continues: the index sort key of the last row that was given out.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Position(pub(super) String);

impl TryFrom<String> for Position {
    type Error = Malformed;

    /// Takes what DynamoDB takes as a sort key.
    fn try_from(text: String) -> Result<Self, Malformed> {
        let fits = (1..=1024).contains(&text.len());
        if fits { Ok(Self(text)) } else { Err(Malformed::new("cursor", "a position is 1 to 1024 bytes")) }
    }
}

impl From<Position> for String {
    fn from(position: Position) -> Self {
        position.0
    }
}

/// Which part of a list is wanted.
#[derive(Debug, Clone)]
pub struct Wanted {
    /// From which end.
    pub direction: Direction,
    /// At most so many rows (1 to 1000).
    pub limit: usize,
    /// After this one.
    pub after: Option<Position>,
}

impl Wanted {
    /// Returns the next page of a list that is read to its end, oldest first.
    #[must_use]
    pub fn oldest_first(after: Option<Position>) -> Self {
        Self { direction: Direction::Asc, limit: AT_A_TIME, after }
    }
}

/// A part of a list.
#[derive(Debug, Clone)]
pub struct Page<T, C = Position> {
    /// The rows.
    pub rows: Vec<T>,
    /// Where it continues; `None` when there is nothing more.
    pub next: Option<C>,
    /// How many items of this part were passed over, because they can't be read or don't belong to the list.
    pub unreadable: usize,
}

impl<T, C: Clone> Paged for Page<T, C> {
    type Cursor = C;

    fn cursor(&self) -> Option<C> {
        self.next.clone()
    }
}
