//! The store as commands use it: opened by the settings, and its failures in words.

use std::{borrow::Cow, time::Duration};

use anyhow::{anyhow, bail};

use super::config::Settings;
use crate::domain::{event::Event, ids::EventId};
use crate::store::{
    Store, StoreError,
    client::{Clients, Timeouts},
    table,
};

/// For an operator at a terminal, who would rather wait than begin again; no request waits behind them.
fn for_commands() -> Timeouts {
    Timeouts {
        item_attempt: Duration::from_secs(5),
        operation: Duration::from_secs(30),
        attempts: 5,
        budget: Cow::Borrowed("stamp-rally-commands"),
        ..Timeouts::request()
    }
}

/// The clients of this machine, and the store over them. Nothing is asked yet.
pub async fn open(settings: &Settings, timeouts: &Timeouts) -> anyhow::Result<(Clients, Store)> {
    let clients = Clients::from_environment(timeouts).await?;
    let store = Store::new(clients.table.clone(), settings.store.clone());
    Ok((clients, store))
}

/// The clients of a command, for what isn't an item.
pub async fn clients() -> anyhow::Result<Clients> {
    Ok(Clients::from_environment(&for_commands()).await?)
}

/// Does a command's work with the store. Where that fails because there is no table yet, the error names the command
/// that makes it.
pub async fn with<T>(settings: &Settings, work: impl AsyncFnOnce(&Store) -> anyhow::Result<T>) -> anyhow::Result<T> {
    let (clients, store) = open(settings, &for_commands()).await?;
    match work(&store).await {
        Err(error) if matches!(error.downcast_ref(), Some(StoreError::Broken(_))) => {
            Err(missing_table(&clients, settings).await.unwrap_or(error))
        }
        result => result,
    }
}

/// The event, or an error that names it.
pub async fn event(store: &Store, event_id: &EventId) -> anyhow::Result<Event> {
    match store.event(event_id).await? {
        Some(event) => Ok(event),
        None => bail!("event \"{event_id}\" does not exist"),
    }
}

async fn missing_table(clients: &Clients, settings: &Settings) -> Option<anyhow::Error> {
    let reports = table::status(&clients.table, &settings.store).await.ok()?;
    let missing = reports.iter().find(|report| !report.exists())?;
    Some(anyhow!("table {} does not exist: make it with `stamp-rally table create`", missing.table))
}
