//! LINE's webhook: nothing of a body is read until its signature over the raw bytes is right.

use std::collections::BTreeMap;

use actix_web::{
    HttpRequest, HttpResponse,
    web::{Data, Path, Payload},
};
use futures_util::{StreamExt as _, stream};

use crate::domain::{
    claim::{Claim, Evidence, Report},
    event::Phase,
    fact::Friendship,
    ids::{ChannelName, LineUserId},
    proof::{HardwareId, ProofKind},
    stamp::StampMaster,
    time::Timestamp,
};
use crate::line::{
    ChannelSettings,
    webhook::{self, WebhookEvent},
};
use crate::store::rallies::Rally;

use super::{app::App, body, claim, problem::ApiError};

const BODY_LIMIT: usize = 1024 * 1024;

/// For how many persons of one webhook something is done at a time.
const AT_A_TIME: usize = 8;

/// `POST /webhook/{channel}`: answers 200 once everything is stored that follows from its events. Each is tried, a
/// person's in their order; if the store failed for one it is 503. LINE sends a webhook again that wasn't answered with
/// 2xx (where redelivery is switched on); the same again changes nothing.
pub(super) async fn receive(
    req: HttpRequest,
    app: Data<App>,
    name: Path<String>,
    payload: Payload,
) -> Result<HttpResponse, ApiError> {
    let (name, channel) = find(&app, &name)?;
    let body = body::read(payload, body::declared_length(req.headers()), BODY_LIMIT).await?;
    if !is_signed(&req, &body, channel) {
        return Err(ApiError::SignatureInvalid);
    }
    let events = webhook::read(&body).map_err(|error| ApiError::InvalidRequest(error.to_string()))?;
    let persons = stream::iter(by_person(events)).map(|events| take_all(&app, name, events));
    let failed: Vec<ApiError> = persons.buffer_unordered(AT_A_TIME).filter_map(async |done| done.err()).collect().await;
    failed.into_iter().next().map_or_else(|| Ok(HttpResponse::Ok().json(serde_json::json!({}))), Err)
}

/// Sorts the events that we act on by person; each one's stay in their order.
fn by_person(events: Vec<WebhookEvent>) -> Vec<Vec<WebhookEvent>> {
    let mut persons: BTreeMap<LineUserId, Vec<WebhookEvent>> = BTreeMap::new();
    for event in events {
        if let Some(line_user_id) = event.line_user_id().cloned() {
            persons.entry(line_user_id).or_default().push(event);
        }
    }
    persons.into_values().collect()
}

/// Takes all events of a person, one after the other; returns the first failure when all were tried.
async fn take_all(app: &App, channel: &ChannelName, events: Vec<WebhookEvent>) -> Result<(), ApiError> {
    let mut taken = Ok(());
    for event in events {
        let done = match event {
            WebhookEvent::Beacon { line_user_id, at, id, hwid } => {
                let evidence =
                    Evidence { report: Some(Report::Beacon { hwid: hwid.clone(), at }), ..Evidence::default() };
                match id.as_str().parse() {
                    Ok(request_id) => {
                        claim_all(app, channel, &Claim { line_user_id, request_id, evidence }, (&hwid, at)).await
                    }
                    // No id of LINE's: there is no way to know it again.
                    Err(_) => Ok(()),
                }
            }
            other => match friendship(channel, other) {
                Some(fact) => app.store.record_friendship(&fact).await.map_err(ApiError::from),
                None => Ok(()),
            },
        };
        taken = taken.and(done);
    }
    taken
}

/// Claims each stamp at which a beacon stands, in the events of the channel that were open at that time, for a participant
/// who is registered there. What a stamp's rules refuse is no failure; LINE is told of none.
async fn claim_all(
    app: &App,
    channel: &ChannelName,
    claim: &Claim,
    (hwid, at): (&HardwareId, Timestamp),
) -> Result<(), ApiError> {
    let now = app.clock.now();
    if at.plus_millis(MOST_AGE) < now {
        return Ok(());
    }
    let mut done = Ok(());
    for event_id in app.rallies.events_of(channel).await?.iter() {
        let Some(rally) = app.rallies.rally(event_id).await? else { continue };
        if rally.event.channel == *channel && rally.event.window.phase(at.min(now)) == Phase::Open {
            done = done.and(claim_in(app, &rally, claim, hwid).await);
        }
    }
    done
}

/// How old a beacon's event may be, in milliseconds.
const MOST_AGE: i64 = 24 * 3_600_000;

async fn claim_in(app: &App, rally: &Rally, claim: &Claim, hwid: &HardwareId) -> Result<(), ApiError> {
    let stands_at = |master: &&StampMaster| {
        let beacon = master.rules.settings.beacon.as_ref().is_some_and(|beacon| beacon.hwids.contains(hwid));
        beacon && master.rules.proofs.take(ProofKind::Beacon)
    };
    let mut stamps = rally.masters.active().filter(stands_at).peekable();
    if stamps.peek().is_none() {
        return Ok(());
    }
    match claim::require_registered(app, &rally.event, claim).await {
        Err(ApiError::NotRegistered) => return Ok(()),
        known => known?,
    }
    let mut done = Ok(());
    for master in stamps {
        let claimed = match claim::claim(app, rally, master, claim).await {
            Ok(_) | Err(ApiError::Refused(_)) => Ok(()),
            Err(error) => Err(error),
        };
        done = done.and(claimed);
    }
    done
}

fn find<'a>(app: &'a App, name: &str) -> Result<(&'a ChannelName, &'a ChannelSettings), ApiError> {
    let name = name.parse::<ChannelName>().ok();
    name.and_then(|name| app.channels.get_key_value(&name)).ok_or(ApiError::ChannelNotFound)
}

fn is_signed(req: &HttpRequest, body: &[u8], channel: &ChannelSettings) -> bool {
    let mut signatures = req.headers().get_all("x-line-signature");
    match (signatures.next().and_then(|value| value.to_str().ok()), signatures.next()) {
        (Some(signature), None) => webhook::is_signed(body, signature, channel.webhook_secrets.iter()),
        _ => false,
    }
}

fn friendship(channel: &ChannelName, event: WebhookEvent) -> Option<Friendship> {
    let (line_user_id, following, occurred_at, webhook_event_id) = match event {
        WebhookEvent::Follow { line_user_id, at, id } => (line_user_id, true, at, id),
        WebhookEvent::Unfollow { line_user_id, at, id } => (line_user_id, false, at, id),
        WebhookEvent::Beacon { .. } | WebhookEvent::Other => return None,
    };
    Some(Friendship { channel: channel.clone(), line_user_id, following, occurred_at, webhook_event_id })
}
