//! Participants, as organisers see them.

use std::num::NonZeroUsize;

use actix_web::{
    HttpRequest, HttpResponse,
    http::header,
    web::{Data, Path},
};
use futures_util::try_join;
use serde::Serialize;

use crate::domain::{
    card::StampCard,
    delivery_state,
    ids::{EventId, LineUserId},
};
use crate::http::{app::App, auth::Viewer, csv as file, problem::ApiError, request_id::own_id, view::CardView};

use super::{
    list::{ListQuery, Parameters, Part, span_text},
    notice_view::NoticeLineView,
    view::{FactView, FriendshipView, UserView},
};

/// `GET …/{eventId}/users`: participants by registration time.
pub async fn list(
    _viewer: Viewer,
    req: HttpRequest,
    app: Data<App>,
    event_id: Path<EventId>,
) -> Result<HttpResponse, ApiError> {
    let parameters = Parameters::of(&req, &["from", "to", "order", "limit", "cursor"])?;
    let event = app.stored_event(&event_id).await?;
    let span = parameters.span(event.time_zone)?;
    let query = ListQuery::read(&parameters, &["users", event_id.as_str(), &span_text(span)])?;
    let page = app.store.users(&event, span, &query.wanted()?).await?;
    query.answer("users", Part::of(&page, UserView::of))
}

/// `GET …/{eventId}/users.csv`: the same as a file.
pub async fn csv(
    _viewer: Viewer,
    req: HttpRequest,
    app: Data<App>,
    event_id: Path<EventId>,
) -> Result<HttpResponse, ApiError> {
    let parameters = Parameters::of(&req, &["from", "to", "order"])?;
    let direction = parameters.direction()?;
    let event = app.stored_event(&event_id).await?;
    let span = parameters.span(event.time_zone)?;
    let body = file::body(app.store.all_users(&event, span, direction), own_id(&req)).await?;
    let filename = format!("attachment; filename=\"{event_id}-users.csv\"");
    Ok(HttpResponse::Ok()
        .content_type("text/csv; charset=utf-8")
        .insert_header((header::CONTENT_DISPOSITION, filename))
        .streaming(body))
}

/// Everything about one participant.
#[derive(Debug, Serialize)]
struct ParticipantView<'a> {
    facts: Vec<FactView<'a>>,
    card: CardView<'a>,
    notices: Vec<NoticeLineView<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    friendship: Option<FriendshipView>,
    /// Facts that can't be read, and are left out of the others.
    #[serde(skip_serializing_if = "Option::is_none")]
    unreadable: Option<NonZeroUsize>,
}

/// `GET …/{eventId}/users/{lineUserId}`: the participant's facts and card, what became of each notice, and whether they
/// follow the account, if known.
pub async fn show(
    _viewer: Viewer,
    app: Data<App>,
    path: Path<(EventId, LineUserId)>,
) -> Result<HttpResponse, ApiError> {
    let (event_id, who) = path.into_inner();
    let event = app.stored_event(&event_id).await?;
    let (facts, masters, friendships) = try_join!(
        app.store.facts(&event_id, &who),
        app.store.masters(&event_id),
        app.store.friendships(&event.channel, &who),
    )?;
    if facts.is_empty() {
        return Err(ApiError::ParticipantNotFound);
    }
    let (card, in_order) = (StampCard::fold(&masters, &facts), facts.in_order());
    let notices = delivery_state::fold(&facts, &friendships);
    let view = ParticipantView {
        facts: in_order.iter().map(FactView::of).collect(),
        card: CardView::seen_by_organiser(&event_id, &who, facts.user.as_ref(), &card),
        notices: notices.iter().map(NoticeLineView::of).collect(),
        friendship: friendships.last().map(FriendshipView::of),
        unreadable: NonZeroUsize::new(facts.unreadable.len()),
    };
    Ok(HttpResponse::Ok().json(view))
}
