//! The store, and the requests that its access patterns are made of.

use std::sync::Arc;

use aws_sdk_dynamodb::{Client, operation::query::builders::QueryFluentBuilder};

use super::{
    StoreError, TableNames, client,
    items::{self, Entity, Item, text},
    keys::ItemKey,
    unreadable::{Reported, Unreadable},
};

/// The one table as the domain sees it. Clones share one client.
#[derive(Debug, Clone)]
pub struct Store {
    pub(super) client: Client,
    pub(super) tables: Arc<TableNames>,
    reported: Reported,
}

impl Store {
    /// Makes the store behind a client.
    #[must_use]
    pub fn new(client: Client, tables: TableNames) -> Self {
        Self { client, tables: Arc::new(tables), reported: Reported::default() }
    }

    /// Remembers together with others which items were logged as unreadable: one memory for a process.
    #[must_use]
    pub fn reporting_with(self, reported: Reported) -> Self {
        Self { reported, ..self }
    }

    /// Returns the same store over connections of its own.
    #[must_use]
    pub fn apart(&self) -> Self {
        Self { client: client::apart(&self.client), ..self.clone() }
    }

    /// Checks that both tables answer, for readiness: asks each for an item that is never there. The cheapest read there
    /// is (one `GetItem` each, not consistent), and it needs no more permission than serving does.
    #[tracing::instrument(name = "store.reach", level = "debug", skip_all)]
    pub async fn reach(&self) -> Result<(), StoreError> {
        let reach = async |table: &str| {
            let get = self.client.get_item().table_name(table).key("PK", text("REACH")).key("SK", text("REACH"));
            get.send().await.map(drop)
        };
        futures_util::try_join!(reach(&self.tables.main), reach(&self.tables.consumers))?;
        Ok(())
    }

    /// Reports an item that can't be read: counts it, and logs its key the first time.
    pub fn report(&self, unreadable: &Unreadable) {
        self.reported.report(unreadable);
    }

    /// Decodes an item that was asked for. One that can't be read is reported.
    pub(super) fn read<T: Entity>(&self, item: impl Into<serde_dynamo::Item>) -> Result<T, StoreError> {
        items::decode_as(item).inspect_err(|unreadable| self.report(unreadable)).map_err(StoreError::from)
    }

    /// Reads one item, consistent.
    pub(super) async fn item<T: Entity>(&self, key: &ItemKey) -> Result<Option<T>, StoreError> {
        self.raw_item(key).await?.map(|item| self.read(item)).transpose()
    }

    /// Reads one item as it is stored, consistent.
    pub(super) async fn raw_item(&self, key: &ItemKey) -> Result<Option<Item>, StoreError> {
        self.get(&self.tables.main, items::primary_key(key)).await
    }

    /// Reads one item of the consumers' table, consistent.
    pub(super) async fn progress_item(&self, key: Item) -> Result<Option<Item>, StoreError> {
        self.get(&self.tables.consumers, key).await
    }

    async fn get(&self, table: &str, key: Item) -> Result<Option<Item>, StoreError> {
        let get = self.client.get_item().table_name(table).consistent_read(true);
        // On the heap: a request of the SDK would make every future that reads an item, and its span, a large one.
        Ok(Box::pin(get.set_key(Some(key)).send()).await?.item)
    }

    /// Puts an item into the consumers' table, whatever is there.
    pub(super) async fn put_progress(&self, item: Item) -> Result<(), StoreError> {
        let put = self.client.put_item().table_name(&self.tables.consumers).set_item(Some(item));
        Ok(put.send().await.map(drop)?)
    }

    /// Deletes an item of the consumers' table, if it is there.
    pub(super) async fn delete_progress(&self, key: Item) -> Result<(), StoreError> {
        let delete = self.client.delete_item().table_name(&self.tables.consumers).set_key(Some(key));
        Ok(delete.send().await.map(drop)?)
    }

    /// Asks `GSI1` for a partition.
    pub(super) fn listed(&self, pk: String) -> QueryFluentBuilder {
        let query = self.client.query().table_name(&self.tables.main).index_name("GSI1");
        query.key_condition_expression("GSI1PK = :pk").expression_attribute_values(":pk", text(pk))
    }

    /// Asks a table for a partition, consistent.
    pub(super) fn partition(&self, table: &str, pk: impl Into<String>) -> QueryFluentBuilder {
        let query = self.client.query().table_name(table).consistent_read(true);
        query.key_condition_expression("PK = :pk").expression_attribute_values(":pk", text(pk))
    }
}
