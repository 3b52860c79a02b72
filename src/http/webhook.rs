//! LINE's webhook: nothing of a body is read until its signature over the raw bytes is right.

use actix_web::{
    HttpRequest, HttpResponse,
    web::{Data, Path, Payload},
};
use futures_util::{TryStreamExt as _, stream};

use crate::domain::{fact::Friendship, ids::ChannelName};
use crate::line::{
    ChannelSettings,
    webhook::{self, WebhookEvent},
};

use super::{app::App, body, problem::ApiError};

const BODY_LIMIT: usize = 1024 * 1024;

/// How many facts of one webhook are written at a time.
const AT_A_TIME: usize = 8;

/// `POST /webhook/{channel}`: answers 200 once every follow and unfollow is stored. LINE sends a webhook again that
/// wasn't answered with 2xx (where redelivery is switched on); the same fact again changes nothing.
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
    let facts = events.into_iter().filter_map(|event| friendship(name, event)).map(Ok);
    let store = &app.store;
    stream::iter(facts)
        .try_for_each_concurrent(AT_A_TIME, |fact| async move { store.record_friendship(&fact).await })
        .await?;
    Ok(HttpResponse::Ok().json(serde_json::json!({})))
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
        WebhookEvent::Other => return None,
    };
    Some(Friendship { channel: channel.clone(), line_user_id, following, occurred_at, webhook_event_id })
}
