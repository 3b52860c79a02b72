//! Several partitions of one index, read as one list.

use std::{cmp::Ordering, collections::VecDeque};

use aws_sdk_dynamodb::{Client, operation::query::builders::QueryFluentBuilder};
use futures_util::future::try_join_all;

use super::{
    super::{
        StoreError,
        items::{Fields, Item, text},
        keys::SortKeys,
        paging::{Items, Pages},
    },
    page::Direction,
};

#[derive(Debug, Clone, Copy)]
pub(super) enum Index {
    Gsi1,
    Gsi2,
}

impl Index {
    fn name(self) -> &'static str {
        match self {
            Self::Gsi1 => "GSI1",
            Self::Gsi2 => "GSI2",
        }
    }

    pub(super) fn sort_key(self) -> &'static str {
        match self {
            Self::Gsi1 => "GSI1SK",
            Self::Gsi2 => "GSI2SK",
        }
    }
}

pub(super) struct Row {
    pub(super) sort_key: String,
    pub(super) item: Item,
}

/// The rows of all partitions in the order of their sort keys. Holds one chunk of each partition.
pub(super) struct Merge {
    source: Source,
    partitions: Vec<Partition>,
    /// A row that was given out already.
    skip: Option<String>,
}

/// What is asked of each partition.
pub(super) struct Source {
    pub(super) client: Client,
    pub(super) table: String,
    pub(super) index: Index,
    pub(super) range: SortKeys,
    pub(super) direction: Direction,
}

struct Partition {
    pk: String,
    waiting: VecDeque<Row>,
    pages: Pages<Item>,
}

impl Partition {
    fn is_due(&self) -> bool {
        self.waiting.is_empty() && !self.pages.is_over()
    }
}

impl Merge {
    pub(super) fn new(source: Source, partitions: impl IntoIterator<Item = String>) -> Self {
        let partition = |pk| Partition { pk, waiting: VecDeque::new(), pages: Pages::default() };
        Self { source, partitions: partitions.into_iter().map(partition).collect(), skip: None }
    }

    /// Continues after a row. Its own sort key opens the range and is then passed over: no two rows of a list
    /// have the same one.
    pub(super) fn after(mut self, position: Option<&str>) -> Self {
        let Some(position) = position else { return self };
        let (edge, is_further) = match self.source.direction {
            Direction::Asc => (&mut self.source.range.low, Ordering::Greater),
            Direction::Desc => (&mut self.source.range.high, Ordering::Less),
        };
        if position.cmp(edge.as_str()) == is_further {
            position.clone_into(edge);
        }
        self.skip = Some(position.to_owned());
        self
    }

    /// Returns the next row; `None` after the last. `expected` is how many rows will be taken in all, or at a time.
    pub(super) async fn next(&mut self, expected: usize) -> Result<Option<Row>, StoreError> {
        loop {
            self.fill(expected).await?;
            let row = self.first().and_then(|partition| partition.waiting.pop_front());
            if row.as_ref().is_none_or(|row| self.skip.as_ref() != Some(&row.sort_key)) {
                return Ok(row);
            }
        }
    }

    /// Returns the partition whose first row comes first.
    fn first(&mut self) -> Option<&mut Partition> {
        let direction = self.source.direction;
        let heads = self.partitions.iter_mut().filter(|partition| !partition.waiting.is_empty());
        heads.min_by(|a, b| {
            let [a, b] = [a, b].map(|partition| partition.waiting.front().map(|row| &row.sort_key));
            if direction == Direction::Asc { a.cmp(&b) } else { b.cmp(&a) }
        })
    }

    /// Fetches for every partition that has nothing waiting, at once: which row comes next is known only when
    /// each has shown one. A fetch that fails, or isn't waited for, has changed nothing.
    async fn fill(&mut self, expected: usize) -> Result<(), StoreError> {
        let expected = expected + usize::from(self.skip.is_some());
        let chunk = chunk(expected, self.partitions.len());
        let Self { source, partitions, .. } = self;
        if source.range.is_empty() || !partitions.iter().any(Partition::is_due) {
            return Ok(());
        }
        let due = partitions.iter_mut().filter(|partition| partition.is_due());
        try_join_all(due.map(|partition| source.fill(partition, chunk))).await.map(drop)
    }
}

impl Source {
    /// Follows a partition's pages until there is a row: an empty page with more behind it is legal.
    async fn fill(&self, partition: &mut Partition, chunk: i32) -> Result<(), StoreError> {
        while partition.is_due() {
            let query = self.query(&partition.pk).limit(chunk);
            let page = partition.pages.next(|after| query.set_exclusive_start_key(after).send()).await?;
            let rows = page.into_iter().flat_map(Items::found);
            let sort_key = |item: &Item| Fields::of(item).key(self.index.sort_key()).to_owned();
            partition.waiting.extend(rows.map(|item| Row { sort_key: sort_key(&item), item }));
        }
        Ok(())
    }

    fn query(&self, pk: &str) -> QueryFluentBuilder {
        let index = self.index.name();
        let query = self.client.query().table_name(&self.table).index_name(index);
        query
            .key_condition_expression(format!("{index}PK = :pk AND {index}SK BETWEEN :low AND :high"))
            .expression_attribute_values(":pk", text(pk))
            .expression_attribute_values(":low", text(&self.range.low))
            .expression_attribute_values(":high", text(&self.range.high))
            .scan_index_forward(self.direction == Direction::Asc)
    }
}

/// Returns how many rows to ask each of several partitions for, when together they should give `rows`: its share, four
/// standard deviations of a fair hash, and a little. Seldom is one asked twice; never are all asked for everything.
fn chunk(rows: usize, partitions: usize) -> i32 {
    let share = rows.div_ceil(partitions.max(1));
    let wanted = if partitions <= 1 { rows } else { rows.min(share + 4 * (share.isqrt() + 1) + 2) };
    i32::try_from(wanted).unwrap_or(i32::MAX).max(1)
}

#[cfg(test)]
mod tests;
