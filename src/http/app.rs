//! Everything that handlers need, put together once by the command line.

use std::{borrow::Cow, collections::BTreeMap, sync::Arc};

use metrics_exporter_prometheus::PrometheusHandle;

use crate::domain::{
    event::Event,
    ids::{ChannelName, EventId, StampId},
    stamp::StampMaster,
    time::Clock,
};
use crate::line::{ChannelSettings, id_token::TokenVerifier};
use crate::store::{
    Store, StoreError,
    rallies::{Rallies, Rally},
};

use super::{auth::AdminTokens, cross_origin::Origin, ops::Ops, participant::KnownParticipants, problem::ApiError};

/// What the command line puts in.
pub struct Parts {
    /// The table.
    pub store: Store,
    /// Events and masters as this process knows them; may be shared with delivery.
    pub rallies: Rallies,
    /// Checks participants' ID tokens.
    pub verifier: TokenVerifier,
    /// The configured channels.
    pub channels: Channels,
    /// Who may use the organisers' API.
    pub admin_tokens: AdminTokens,
    /// Pages of these origins may call us (CORS).
    pub allowed_origins: Vec<Origin>,
    /// The time.
    pub clock: Clock,
    /// Where `/metrics` reads.
    pub metrics: PrometheusHandle,
}

/// The configured LINE channels by name.
pub type Channels = BTreeMap<ChannelName, ChannelSettings>;

/// Everything that handlers need; clones share it.
#[derive(Clone)]
pub struct App {
    pub(super) store: Store,
    pub(super) rallies: Rallies,
    pub(super) verifier: TokenVerifier,
    pub(super) channels: Arc<Channels>,
    pub(super) admin_tokens: Arc<AdminTokens>,
    pub(super) allowed_origins: Arc<[Origin]>,
    pub(super) clock: Clock,
    pub(super) ops: Ops,
    pub(super) known: Arc<KnownParticipants>,
}

impl App {
    /// Puts the parts together.
    #[must_use]
    pub fn new(parts: Parts) -> Self {
        let (store, metrics, clock) = (parts.store.clone(), parts.metrics, parts.clock.clone());
        Self {
            ops: Ops { store, metrics, clock, consumes: None },
            store: parts.store,
            rallies: parts.rallies,
            verifier: parts.verifier,
            channels: Arc::new(parts.channels),
            admin_tokens: Arc::new(parts.admin_tokens),
            allowed_origins: parts.allowed_origins.into(),
            clock: parts.clock,
            known: Arc::new(KnownParticipants::new()),
        }
    }

    /// The same for one of the server's threads, whose requests to the store stay on that thread.
    pub(super) fn on_this_thread(&self) -> Self {
        Self { store: self.store.apart(), ..self.clone() }
    }

    /// The rally a participant asks for, as this process knows it.
    pub(super) async fn rally(&self, event_id: &EventId) -> Result<Arc<Rally>, ApiError> {
        self.rallies.rally(event_id).await?.ok_or(ApiError::EventNotFound)
    }

    /// One stamp of a rally, borrowed where it is known already. `None`: it is there, and can't be read.
    pub(super) async fn stamp<'a>(
        &self,
        rally: &'a Rally,
        id: &StampId,
    ) -> Result<Option<Cow<'a, StampMaster>>, ApiError> {
        if let Some(master) = rally.master(id) {
            return Ok(Some(Cow::Borrowed(master)));
        }
        match self.rallies.stamp(rally, id).await {
            Ok(Some(master)) => Ok(Some(Cow::Owned(master))),
            Ok(None) => Err(ApiError::StampNotFound),
            Err(StoreError::Unreadable(_)) => Ok(None),
            Err(error) => Err(error.into()),
        }
    }

    /// The event an organiser asks for, as the table has it now.
    pub(super) async fn stored_event(&self, event_id: &EventId) -> Result<Event, ApiError> {
        self.store.event(event_id).await?.ok_or(ApiError::EventNotFound)
    }
}
