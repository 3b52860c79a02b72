//! Follows the pages of a list to the last one: queries, scans, lists by index, shards of a stream.

use aws_sdk_dynamodb::operation::{query::QueryOutput, scan::ScanOutput};

use super::items::Item;

/// A part of a list.
pub trait Paged {
    /// What the request of the next page names.
    type Cursor: Clone;

    /// Returns where the list continues; `None` on the last page. A page may be empty also before the last one.
    fn cursor(&self) -> Option<Self::Cursor>;
}

/// A part of a list of items.
pub(super) trait Items: Paged<Cursor = Item> {
    /// Returns what the page holds.
    fn found(self) -> Vec<Item>;
}

/// How far the pages of a list were read.
///
/// A page is asked for when the one before was taken, so slow work on a list holds one page of it in memory.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Pages<C> {
    /// The next page begins here; `None` at the beginning of the list.
    From(Option<C>),
    /// The last page was taken.
    Over,
}

impl<C> Default for Pages<C> {
    fn default() -> Self {
        Self::From(None)
    }
}

impl<C: Clone> Pages<C> {
    /// Takes the next page; `None` after the last. A page that fails is asked for again by the next call.
    pub async fn next<P, E, F>(&mut self, fetch: impl FnOnce(Option<C>) -> F) -> Result<Option<P>, E>
    where
        P: Paged<Cursor = C>,
        F: Future<Output = Result<P, E>>,
    {
        let Self::From(cursor) = self else { return Ok(None) };
        // On the heap: a request of the SDK would make every future that follows pages a large one.
        let page = Box::pin(fetch(cursor.clone())).await?;
        *self = page.cursor().map_or(Self::Over, |cursor| Self::From(Some(cursor)));
        Ok(Some(page))
    }

    /// Returns whether the last page was taken.
    pub fn is_over(&self) -> bool {
        matches!(self, Self::Over)
    }

    /// Returns where the list continues; `None` at its beginning, and when the last page was taken.
    pub fn cursor(self) -> Option<C> {
        if let Self::From(cursor) = self { cursor } else { None }
    }
}

/// Returns the items of all pages: for a list that is known to be short.
pub(super) async fn all<P, E, F>(mut fetch: impl FnMut(Option<Item>) -> F) -> Result<Vec<Item>, E>
where
    P: Items,
    F: Future<Output = Result<P, E>>,
{
    let (mut pages, mut items) = (Pages::default(), Vec::new());
    while let Some(page) = pages.next(&mut fetch).await? {
        items.extend(page.found());
    }
    Ok(items)
}

macro_rules! of_items {
    ($($output:ty),*) => {$(
        impl Paged for $output {
            type Cursor = Item;

            fn cursor(&self) -> Option<Item> {
                self.last_evaluated_key.clone().filter(|key| !key.is_empty())
            }
        }

        impl Items for $output {
            fn found(self) -> Vec<Item> {
                self.items.unwrap_or_default()
            }
        }
    )*};
}

of_items!(QueryOutput, ScanOutput);

#[cfg(test)]
mod tests {
    use super::*;

    /// Two rows a page, of a list of numbers.
    struct Numbers {
        rows: Vec<usize>,
        next: Option<usize>,
    }

    impl Paged for Numbers {
        type Cursor = usize;

        fn cursor(&self) -> Option<usize> {
            self.next
        }
    }

    async fn rows<F>(fetch: impl Fn(Option<usize>) -> F) -> Vec<usize>
    where
        F: Future<Output = Result<Numbers, &'static str>>,
    {
        let (mut pages, mut rows) = (Pages::default(), Vec::new());
        while let Some(page) = pages.next(&fetch).await.unwrap() {
            rows.extend(page.rows);
        }
        rows
    }

    async fn five(after: Option<usize>) -> Result<Numbers, &'static str> {
        let from = after.unwrap_or_default();
        let to = (from + 2).min(5);
        Ok(Numbers { rows: (from..to).collect(), next: (to < 5).then_some(to) })
    }

    #[tokio::test]
    async fn every_page_is_followed_and_none_is_asked_for_after_the_last() {
        assert_eq!(rows(five).await, [0, 1, 2, 3, 4]);
        let mut over = Pages::Over;
        assert!(over.next(|_: Option<usize>| async { Err::<Numbers, _>("asked") }).await.unwrap().is_none());
    }

    #[tokio::test]
    async fn a_page_that_fails_is_asked_for_again() {
        let mut pages = Pages::From(Some(2));
        let failed = pages.next(|_| async { Err::<Numbers, _>("throttled") }).await;
        assert_eq!(failed.err(), Some("throttled"));
        assert_eq!(pages.next(five).await.unwrap().unwrap().rows, [2, 3]);
        assert_eq!(pages.next(five).await.unwrap().unwrap().rows, [4]);
        assert!(pages.is_over() && pages.cursor().is_none());
    }

    #[tokio::test]
    async fn an_empty_page_is_not_the_end() {
        let page = async |after: Option<usize>| {
            Ok(Numbers { rows: after.into_iter().collect(), next: after.is_none().then_some(7) })
        };
        assert_eq!(rows(page).await, [7]);
    }
}
