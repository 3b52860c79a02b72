//! What requests of participants and of staff carry out: registering, and claiming a stamp.

use std::time::Duration;

use actix_web::{HttpResponse, http::StatusCode};

use crate::domain::{
    claim::{self, Case, Claim, Decision, Known, PaceGuard, Question, Refusal, Registration, Wanted},
    event::Event,
    fact::{Acquisition, FactKey, Facts, User, UserStamp},
    ids::{EventId, LineUserId, RequestId, StampId},
    stamp::StampMaster,
};
use crate::http::{app::App, problem::ApiError};
use crate::store::{StoreError, claims::Paced, participants::Recorded, rallies::Rally};

use super::view::StampView;

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

/// Claims a stamp and answers with it. A stamp that exists and can't be read is acquired by nobody any more; who has it
/// has it.
pub(super) async fn answer(
    app: &App,
    rally: &Rally,
    stamp_id: &StampId,
    claim: &Claim,
) -> Result<HttpResponse, ApiError> {
    let Some(master) = app.stamp(rally, stamp_id).await? else {
        let found = acquired_before(app, &rally.event, stamp_id, claim).await?.ok_or_else(unreadable_stamp)?;
        return Ok(HttpResponse::build(found.status()).json(StampView::without_master(stamp_id, found.acquisition())));
    };
    let found = self::claim(app, rally, &master, claim).await?;
    Ok(HttpResponse::build(found.status()).json(StampView::of(&master, found.acquisition())))
}

/// How often a claim is decided anew because another one of the same participant was recorded meanwhile.
const ATTEMPTS: u32 = 50;

/// The longest random pause before it is decided anew, in milliseconds.
const MOST_PAUSE: u64 = 20;

/// Claims of the same participant were recorded just before each of ours.
#[derive(Debug, thiserror::Error)]
#[error("claims of the same participant were recorded just before each of {ATTEMPTS} attempts of this one")]
struct LostRaces;

/// What a decision asked for.
#[derive(Default)]
struct Answers {
    facts: Option<Facts>,
    tries: Option<u32>,
    master: Option<StampMaster>,
}

impl Answers {
    fn known(&self) -> Known<'_> {
        Known { facts: self.facts.as_ref(), tries: self.tries, has_newest_master: self.master.is_some() }
    }

    async fn find(&mut self, question: Question, app: &App, case: &Case<'_>, claim: &Claim) -> Result<(), ApiError> {
        let (event_id, who) = (&case.event.event_id, &claim.line_user_id);
        match question {
            Question::Facts => self.facts = Some(app.store.facts(event_id, who).await?),
            Question::NewestMaster => {
                // One that is gone meanwhile is judged as it was cached.
                let newest = app.store.master(event_id, &case.master.stamp_id).await?;
                self.master = Some(newest.unwrap_or_else(|| case.master.clone()));
            }
            Question::Try => {
                self.tries = Some(app.store.count_try((event_id, who), &case.master.stamp_id, case.now).await?);
            }
        }
        Ok(())
    }
}

/// Claims a stamp: 1 Put, 1 more where this process doesn't know that the USER exists, or 1 `GetItem` before a
/// refusal; what the stamp's rules ask for besides is [`Question`]'s. Registering comes first, so there is no stamp without
/// a USER; a refused claim doesn't register.
pub(super) async fn claim(app: &App, rally: &Rally, master: &StampMaster, claim: &Claim) -> Result<Found, ApiError> {
    let (now, mut answers) = (app.clock.now(), Answers::default());
    let mut attempts = 0..ATTEMPTS;
    loop {
        let newest = answers.master.clone();
        let master = newest.as_ref().unwrap_or(master);
        let case = Case { event: &rally.event, masters: &rally.masters, master, keys: &app.proof_keys, now };
        match claim.decide(&case, &answers.known()) {
            Decision::Acquire(wanted) => {
                if let Some(found) = record(app, &rally.event, claim, &wanted).await? {
                    return Ok(found);
                }
                answers.facts = None;
                attempts.next().ok_or_else(|| ApiError::StoreUnavailable(LostRaces.into()))?;
                tokio::time::sleep(Duration::from_millis(fastrand::u64(0..=MOST_PAUSE))).await;
            }
            Decision::Ask(question) => answers.find(question, app, &case, claim).await?,
            Decision::Held => return Ok(held(answers.facts.unwrap_or_default(), master, claim)),
            Decision::NoKeys(no_keys) => return Err(ApiError::Internal(no_keys.into())),
            Decision::Refuse(refusal) => {
                return refuse(app, &rally.event, claim, (&master.stamp_id, refusal, answers)).await;
            }
        }
    }
}

/// Records what was decided. `None`: another claim of the participant was recorded meanwhile.
async fn record(app: &App, event: &Event, claim: &Claim, wanted: &Wanted) -> Result<Option<Found>, ApiError> {
    match wanted.registration {
        Registration::IfNeeded => ensure_registered(app, event, claim, &wanted.stamp).await?,
        Registration::Required => require_registered(app, event, claim).await?,
    }
    let shards = event.index_shards;
    let recorded = match &wanted.pace {
        PaceGuard::AsRead(seen) => app.store.acquire_paced(&wanted.stamp, shards, seen.as_ref()).await,
        PaceGuard::Free => app.store.acquire(&wanted.stamp, shards).await.map(|stamp| Paced::Recorded(Box::new(stamp))),
    };
    match recorded {
        Ok(Paced::Changed) => Ok(None),
        Ok(Paced::Recorded(stamp)) => Ok(Some(Found::Stamp(stamp))),
        Err(StoreError::Unreadable(_)) => Ok(Some(Found::Unreadable)),
        Err(error) => Err(error.into()),
    }
}

/// Returns the stamp that the participant has, as their facts say.
fn held(facts: Facts, master: &StampMaster, claim: &Claim) -> Found {
    match facts.stamps.into_iter().find(|stamp| stamp.stamp_id == master.stamp_id) {
        Some(stamp) if stamp.request_id.as_ref() == Some(&claim.request_id) => Found::of(Recorded::Written(stamp)),
        Some(stamp) => Found::of(Recorded::Already(stamp)),
        None => Found::Unreadable,
    }
}

/// Refuses a claim, unless the participant has the stamp; facts that were read say that they don't.
async fn refuse(
    app: &App,
    event: &Event,
    claim: &Claim,
    (stamp_id, refusal, answers): (&StampId, Refusal, Answers),
) -> Result<Found, ApiError> {
    let found = match answers.facts {
        Some(_) => None,
        None => acquired_before(app, event, stamp_id, claim).await?,
    };
    found.ok_or_else(|| {
        app.refusals.count(event, stamp_id, &refusal, &app.clock);
        refusal.into()
    })
}

/// Refuses who isn't registered: nothing where this process knows it, else 1 `GetItem`.
pub(super) async fn require_registered(app: &App, event: &Event, claim: &Claim) -> Result<(), ApiError> {
    if is_registered(app, &event.event_id, &claim.line_user_id).await? { Ok(()) } else { Err(ApiError::NotRegistered) }
}

/// Returns whether a participant is registered: 1 `GetItem` where this process doesn't know.
pub(super) async fn is_registered(app: &App, event_id: &EventId, who: &LineUserId) -> Result<bool, ApiError> {
    let uptime = app.clock.uptime();
    if app.known.contains(event_id, who, uptime) {
        return Ok(true);
    }
    let is_registered = app.store.is_registered(event_id, who).await?;
    if is_registered {
        app.known.remember(event_id, who, uptime);
    }
    Ok(is_registered)
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
