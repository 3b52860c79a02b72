//! What a participant's requests carry out: registering, and claiming a stamp.

use crate::domain::{
    event::Event,
    fact::{Facts, User, UserStamp},
    ids::{LineUserId, RequestId},
    stamp::{Claim, Refusal, StampMaster},
};
use crate::http::{app::App, problem::ApiError};
use crate::store::participants::Recorded;

/// Registers if needed: 1 Query, and 1 Put the first time. Gives all facts as the Query found them, and the USER.
pub(super) async fn register(
    app: &App,
    event: &Event,
    who: &LineUserId,
    request_id: RequestId,
) -> Result<(Facts, Recorded<User>), ApiError> {
    let mut facts = app.store.facts(&event.event_id, who).await?;
    let recorded = match facts.user.take() {
        Some(user) if user.request_id.as_ref() == Some(&request_id) => Recorded::Now(user),
        Some(user) => Recorded::Before(user),
        None => {
            let now = app.clock.now();
            event.admits_registration(now)?;
            let user = User::registers(event.event_id.clone(), who.clone(), request_id, now);
            app.store.register(&user, event.index_shards).await?
        }
    };
    app.known.remember(&event.event_id, who, app.clock.uptime());
    Ok((facts, recorded))
}

/// Claims a stamp: 1 Put, 1 more where this process doesn't know that the USER exists, or 1 `GetItem` before a
/// refusal. Registering comes first, so there is no stamp without a USER; a refused claim registers nobody.
pub(super) async fn claim(
    app: &App,
    event: &Event,
    master: &StampMaster,
    claim: &Claim,
) -> Result<Recorded<UserStamp>, ApiError> {
    match master.decide(event, claim, app.clock.now()) {
        Ok(stamp) => {
            ensure_registered(app, event, claim, &stamp).await?;
            Ok(app.store.acquire(&stamp, event.index_shards).await?)
        }
        Err(refusal) => held(app, event, master, claim, refusal).await,
    }
}

async fn ensure_registered(app: &App, event: &Event, claim: &Claim, stamp: &UserStamp) -> Result<(), ApiError> {
    let (event_id, who) = (&event.event_id, &claim.line_user_id);
    let uptime = app.clock.uptime();
    if !app.known.contain(event_id, who, uptime) {
        let user = User::registers(event_id.clone(), who.clone(), claim.request_id.clone(), stamp.acquired_at);
        app.store.register(&user, event.index_shards).await?;
        app.known.remember(event_id, who, uptime);
    }
    Ok(())
}

/// Held wins: whoever holds the stamp is told so, whatever would refuse a new claim.
async fn held(
    app: &App,
    event: &Event,
    master: &StampMaster,
    claim: &Claim,
    refusal: Refusal,
) -> Result<Recorded<UserStamp>, ApiError> {
    match app.store.stamp(&event.event_id, &claim.line_user_id, &master.stamp_id).await? {
        Some(stamp) if stamp.request_id.as_ref() == Some(&claim.request_id) => Ok(Recorded::Now(stamp)),
        Some(stamp) => Ok(Recorded::Before(stamp)),
        None => Err(refusal.into()),
    }
}
