//! What a participant's requests carry out: registering, and claiming a stamp.

use actix_web::http::StatusCode;

use crate::domain::{
    claim::{self, Claim},
    event::Event,
    fact::{Acquisition, FactKey, Facts, User, UserStamp},
    ids::{LineUserId, RequestId, StampId},
    stamp::StampMaster,
};
use crate::http::{app::App, problem::ApiError};
use crate::store::{StoreError, participants::Recorded};

/// A participant's acquisition of a stamp, as the store found or wrote it.
#[derive(Debug)]
pub(super) enum Found {
    /// They don't have the stamp.
    Nothing,
    /// They have it.
    Stamp(Box<Recorded<UserStamp>>),
    /// They have it, as the item's key says; nothing else of it can be read.
    Unreadable,
}

impl Found {
    fn of(stamp: Recorded<UserStamp>) -> Self {
        Self::Stamp(Box::new(stamp))
    }

    /// Returns what a card shows of it.
    pub(super) fn acquisition(&self) -> Acquisition<'_> {
        match self {
            Self::Nothing => Acquisition::None,
            Self::Stamp(recorded) => match &**recorded {
                Recorded::Already(stamp) | Recorded::Written(stamp) => Acquisition::Read(stamp),
            },
            Self::Unreadable => Acquisition::Unreadable,
        }
    }

    /// Returns 201 if this request acquired it, else 200.
    pub(super) fn status(&self) -> StatusCode {
        match self {
            Self::Stamp(stamp) => status(stamp),
            Self::Nothing | Self::Unreadable => StatusCode::OK,
        }
    }
}

/// Returns 201 for what this request wrote, 200 for what was written before.
pub(super) fn status<T>(recorded: &Recorded<T>) -> StatusCode {
    match recorded {
        Recorded::Already(_) => StatusCode::OK,
        Recorded::Written(_) => StatusCode::CREATED,
    }
}

/// Returns what was found of a stamp. An item that can't be read is in the way of a second acquisition all the same.
pub(super) fn found(looked_up: Result<Option<UserStamp>, StoreError>) -> Result<Found, ApiError> {
    match looked_up {
        Ok(stamp) => Ok(stamp.map_or(Found::Nothing, |stamp| Found::of(Recorded::Already(stamp)))),
        Err(StoreError::Unreadable(_)) => Ok(Found::Unreadable),
        Err(error) => Err(error.into()),
    }
}

/// Returns the registration among a participant's facts. One that can't be read is our fault, and not "not registered".
pub(super) fn registered(facts: &Facts) -> Result<&User, ApiError> {
    match &facts.user {
        Some(user) => Ok(user),
        None if facts.unreadable.contains(&FactKey::User) => {
            Err(ApiError::Internal("the participant's registration can't be read".into()))
        }
        None => Err(ApiError::NotRegistered),
    }
}

/// Returns our own failure: the stamp can't be read. What is wrong with it was reported when it was read.
pub(super) fn unreadable_stamp() -> ApiError {
    ApiError::Internal("the stamp can't be read".into())
}

/// Registers if needed: 1 Query, and 1 Put the first time. Returns all facts as the Query found them, and the USER.
pub(super) async fn register(
    app: &App,
    event: &Event,
    who: &LineUserId,
    request_id: RequestId,
) -> Result<(Facts, Recorded<User>), ApiError> {
    let mut facts = app.store.facts(&event.event_id, who).await?;
    let recorded = match facts.user.take() {
        Some(user) if user.request_id.as_ref() == Some(&request_id) => Recorded::Written(user),
        Some(user) => Recorded::Already(user),
        None => {
            let user = claim::register(event, who.clone(), request_id, app.clock.now())?;
            app.store.register(&user, event.index_shards).await?
        }
    };
    app.known.remember(&event.event_id, who, app.clock.uptime());
    Ok((facts, recorded))
}

/// Claims a stamp: 1 Put, 1 more where this process doesn't know that the USER exists, or 1 `GetItem` before a
/// refusal. Registering comes first, so there is no stamp without a USER; a refused claim doesn't register.
pub(super) async fn claim(app: &App, event: &Event, master: &StampMaster, claim: &Claim) -> Result<Found, ApiError> {
    match claim.decide(event, master, app.clock.now()) {
        Ok(stamp) => {
            ensure_registered(app, event, claim, &stamp).await?;
            match app.store.acquire(&stamp, event.index_shards).await {
                Ok(stamp) => Ok(Found::of(stamp)),
                Err(StoreError::Unreadable(_)) => Ok(Found::Unreadable),
                Err(error) => Err(error.into()),
            }
        }
        Err(refusal) => acquired_before(app, event, &master.stamp_id, claim).await?.ok_or_else(|| refusal.into()),
    }
}

async fn ensure_registered(app: &App, event: &Event, claim: &Claim, stamp: &UserStamp) -> Result<(), ApiError> {
    let (event_id, who) = (&event.event_id, &claim.line_user_id);
    let uptime = app.clock.uptime();
    if !app.known.contains(event_id, who, uptime) {
        let user = User::registers(event_id.clone(), who.clone(), claim.request_id.clone(), stamp.acquired_at);
        match app.store.register(&user, event.index_shards).await {
            // A USER exists: that is all a stamp needs.
            Ok(_) | Err(StoreError::Unreadable(_)) => {}
            Err(error) => return Err(error.into()),
        }
        app.known.remember(event_id, who, uptime);
    }
    Ok(())
}

/// Returns the stamp if the participant has it: an acquired stamp is answered as such, whatever would refuse a new claim.
pub(super) async fn acquired_before(
    app: &App,
    event: &Event,
    stamp_id: &StampId,
    claim: &Claim,
) -> Result<Option<Found>, ApiError> {
    let found = match app.store.stamp(&event.event_id, &claim.line_user_id, stamp_id).await {
        Ok(Some(stamp)) if stamp.request_id.as_ref() == Some(&claim.request_id) => Found::of(Recorded::Written(stamp)),
        looked_up => found(looked_up)?,
    };
    Ok(Some(found).filter(|found| !matches!(found, Found::Nothing)))
}
