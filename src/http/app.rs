//! Everything that handlers need, put together once by the builder of the service.

use std::{borrow::Cow, collections::BTreeMap, sync::Arc};

use actix_web::HttpRequest;
use metrics_exporter_prometheus::PrometheusHandle;

use crate::domain::{
    event::Event,
    ids::{ChannelName, EventId, StampId},
    proof::ProofKeys,
    staff::Staff,
    stamp::StampMaster,
    time::Clock,
};
use crate::line::{ChannelSettings, id_token::TokenVerifier};
use crate::store::{
    Store, StoreError,
    rallies::{Rallies, Rally},
};

use super::{
    auth::{self, AdminTokens, Granter, Participant, Post, Screen},
    cross_origin::Origin,
    known::KnownParticipants,
    ops::Ops,
    problem::ApiError,
    refusals::Refusals,
};

/// What the application is made of.
pub struct Parts {
    /// The table.
    pub store: Store,
    /// Events and masters as this process knows them; may be shared with delivery.
    pub rallies: Rallies,
    /// Verifies participants' ID tokens.
    pub verifier: TokenVerifier,
    /// The configured channels.
    pub channels: Channels,
    /// The keys of codes and passcodes.
    pub proof_keys: ProofKeys,
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
    pub(super) proof_keys: Arc<ProofKeys>,
    pub(super) admin_tokens: Arc<AdminTokens>,
    pub(super) allowed_origins: Arc<[Origin]>,
    pub(super) clock: Clock,
    pub(super) ops: Ops,
    pub(super) known: Arc<KnownParticipants>,
    pub(super) refusals: Arc<Refusals>,
}

impl App {
    /// Makes the application of its parts.
    #[must_use]
    pub fn new(parts: Parts) -> Self {
        let (store, metrics, clock) = (parts.store.clone(), parts.metrics, parts.clock.clone());
        Self {
            ops: Ops { store, metrics, clock, consumes: None },
            store: parts.store,
            rallies: parts.rallies,
            verifier: parts.verifier,
            channels: Arc::new(parts.channels),
            proof_keys: Arc::new(parts.proof_keys),
            admin_tokens: Arc::new(parts.admin_tokens),
            allowed_origins: parts.allowed_origins.into(),
            clock: parts.clock,
            known: Arc::new(KnownParticipants::new()),
            refusals: Arc::new(Refusals::new()),
        }
    }

    /// Returns the same for one of the server's threads, whose requests to the store stay on that thread.
    pub(super) fn on_this_thread(&self) -> Self {
        Self { store: self.store.apart(), ..self.clone() }
    }

    /// Returns the participant whose ID token a request brings, verified against the login channels of the event's own
    /// channel.
    pub(super) async fn participant(&self, req: &HttpRequest, event: &Event) -> Result<Participant, ApiError> {
        let token = auth::id_token(req)?;
        let channel = self.channels.get(&event.channel).ok_or_else(|| unconfigured(event))?;
        Participant::verified(token, &self.verifier, &channel.login).await
    }

    /// Returns who may grant a stamp, as the token says that a request brings: of staff, or of an organiser.
    pub(super) async fn granter(&self, req: &HttpRequest, stamp: (&EventId, &StampId)) -> Result<Granter, ApiError> {
        let staff = self.rallies.staff(stamp.0).await?;
        Granter::verified(req, &self.post(stamp, &staff), &self.admin_tokens)
    }

    /// Returns the screen that may show a stamp's codes, as the token says that a request brings.
    pub(super) async fn screen(&self, req: &HttpRequest, stamp: (&EventId, &StampId)) -> Result<Screen, ApiError> {
        let staff = self.rallies.staff(stamp.0).await?;
        Screen::verified(req, &self.post(stamp, &staff))
    }

    fn post<'a>(&self, (event_id, stamp_id): (&'a EventId, &'a StampId), staff: &'a [Staff]) -> Post<'a> {
        Post { event_id, stamp_id, staff, now: self.clock.now() }
    }

    /// Returns the rally that a participant names, as this process knows it.
    pub(super) async fn rally(&self, event_id: &EventId) -> Result<Arc<Rally>, ApiError> {
        self.rallies.rally(event_id).await?.ok_or(ApiError::EventNotFound)
    }

    /// Returns one stamp of a rally, borrowed where it is known already. `None`: it exists, and can't be read.
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

    /// Returns the event that an organiser names, as the table has it now.
    pub(super) async fn stored_event(&self, event_id: &EventId) -> Result<Event, ApiError> {
        self.store.event(event_id).await?.ok_or(ApiError::EventNotFound)
    }
}

/// Our fault, not the participant's: the event names a channel that this server isn't configured for.
fn unconfigured(event: &Event) -> ApiError {
    let (event_id, channel) = (&event.event_id, &event.channel);
    ApiError::Internal(format!("event {event_id} is on channel {channel}, which is not configured").into())
}
