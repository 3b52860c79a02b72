//! Whether the tables answer, for readiness.

use super::{Store, StoreError, participants::text};

impl Store {
    /// Asks both tables for an item that is never there: the cheapest read there is (one `GetItem` each, not
    /// consistent), and it needs no more permission than serving does.
    pub async fn reach(&self) -> Result<(), StoreError> {
        futures_util::try_join!(self.reach_one(&self.tables.main), self.reach_one(&self.tables.consumers)).map(drop)
    }

    async fn reach_one(&self, table: &str) -> Result<(), StoreError> {
        let get = self.client.get_item().table_name(table).key("PK", text("REACH")).key("SK", text("REACH"));
        get.send().await?;
        Ok(())
    }
}
