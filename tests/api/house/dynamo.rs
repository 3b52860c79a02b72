//! A DynamoDB of one's own.

use std::{borrow::Cow, time::Duration};

use stamp_rally::{
    dev::engine::{Engine, Storage},
    store::{
        Store,
        client::{Clients, Timeouts},
        table::create,
    },
};

use super::{defaults, free_port};
use crate::proxy::Proxy;

/// An engine, the wire to it, and clients at the other end of the wire.
pub struct Dynamo {
    pub wire: Proxy,
    pub clients: Clients,
    pub engine: Engine,
}

impl Dynamo {
    /// One without tables.
    pub fn empty(timeouts: &Timeouts) -> Self {
        let engine = Engine::start(free_port(), Storage::Memory).unwrap();
        let wire = Proxy::start(&engine.endpoint_url()).unwrap();
        let clients = Clients::at(&wire.endpoint_url(), timeouts);
        Self { wire, clients, engine }
    }

    /// One with the tables of `table create`.
    pub async fn with_tables(timeouts: &Timeouts) -> Self {
        let dynamo = Self::empty(timeouts);
        create(&dynamo.clients.table, &defaults().store).await.unwrap();
        dynamo.wire.forget_counts();
        dynamo
    }

    /// The table, over the wire.
    pub fn store(&self) -> Store {
        store_of(&self.clients)
    }
}

/// The table, by these clients.
pub fn store_of(clients: &Clients) -> Store {
    Store::new(clients.table.clone(), defaults().store)
}

/// As production waits for answers to requests, with short pauses. Every story has a name of its own: with it comes a
/// budget of repetitions of its own, or the stories would spend each other's.
pub fn hurried(story: &'static str) -> Timeouts {
    Timeouts { first_backoff: Duration::from_millis(1), budget: Cow::Borrowed(story), ..Timeouts::request() }
}

/// Waits as long as a busy machine needs: how long the program waits is no story of the house.
pub fn unhurried(story: &'static str) -> Timeouts {
    Timeouts {
        connect: Duration::from_secs(10),
        item_attempt: Duration::from_secs(20),
        stream_attempt: Duration::from_secs(20),
        operation: Duration::from_mins(1),
        ..hurried(story)
    }
}
