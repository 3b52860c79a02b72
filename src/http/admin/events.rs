//! Events, as organisers read and change them.

use actix_web::{
    HttpRequest, HttpResponse,
    http::StatusCode,
    web::{Data, Path},
};
use serde::{Deserialize, de::IgnoredAny};

use crate::domain::{
    bounded::Whole,
    event::{Event, EventChange, EventNames, EventRemains, IndexShards, LiffId},
    ids::{ChannelName, EventId},
    json::Plain,
    setting::Name,
    time::{TimeZone, Timestamp},
};
use crate::http::{
    app::App,
    auth::{Admin, Viewer},
    body::{Body, Input, Instant, present},
    problem::ApiError,
};
use crate::line::flex::names;
use crate::store::{
    listing::{Page, Wanted},
    masters::{Expected, Replaced, Stored},
    paging::Pages,
};

use super::{
    BODY_LIMIT, checked_message,
    list::{ListQuery, Parameters, Part},
    precondition::Preconditions,
    refuse_names,
    replace::{Setting, replace},
    setting,
    view::EventView,
};

/// `PUT …/events/{eventId}`: what is absent keeps its value; `null` takes away what may be missing. What a GET
/// answers may be sent back whole.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[allow(clippy::option_option, reason = "absent, null and a value are three things to a PUT")]
pub struct EventInput {
    #[serde(default, deserialize_with = "present")]
    event_id: Option<EventId>,
    #[serde(default, deserialize_with = "present")]
    name: Option<Name>,
    #[serde(default, deserialize_with = "present")]
    starts_at: Option<Instant>,
    #[serde(default, deserialize_with = "present")]
    ends_at: Option<Instant>,
    #[serde(default, deserialize_with = "present")]
    time_zone: Option<TimeZone>,
    #[serde(default, deserialize_with = "present")]
    channel: Option<ChannelName>,
    #[serde(default, deserialize_with = "present")]
    liff_id: Option<Option<LiffId>>,
    #[serde(default, deserialize_with = "present")]
    index_shards: Option<IndexShards>,
    #[serde(default, deserialize_with = "present")]
    completion_message_content: Option<Option<Plain>>,
    #[serde(default, deserialize_with = "present")]
    min_interval_seconds: Option<Option<Whole<1, 86_400>>>,
    #[serde(default, deserialize_with = "present")]
    max_speed_kmh: Option<Option<Whole<1, 1_000>>>,
    #[serde(default, deserialize_with = "present")]
    late_minutes: Option<Option<Whole<1, 1_440>>>,
    #[serde(default, rename = "createdAt")]
    _created_at: IgnoredAny,
    #[serde(default, rename = "updatedAt")]
    _updated_at: IgnoredAny,
}

impl Input for EventInput {
    const LIMIT: usize = BODY_LIMIT;
}

impl EventInput {
    /// Returns the change it asks for, if this server could run the event then.
    fn change(self, event_id: &EventId, app: &App) -> Result<EventChange, ApiError> {
        if self.event_id.is_some_and(|id| id != *event_id) {
            return Err(ApiError::InvalidRequest("eventId: must be the one in the path".to_owned()));
        }
        if let Some(channel) = self.channel.as_ref().filter(|channel| !app.channels.contains_key(channel)) {
            return Err(ApiError::InvalidRequest(format!("channel: no channel {channel} is configured")));
        }
        let checked = |Plain(json)| checked_message("completionMessageContent", json);
        let message = self.completion_message_content.map(|message| message.map(checked).transpose());
        Ok(EventChange {
            name: self.name,
            starts_at: self.starts_at.map(|at| at.0),
            ends_at: self.ends_at.map(|at| at.0),
            time_zone: self.time_zone,
            channel: self.channel,
            liff_id: self.liff_id,
            index_shards: self.index_shards,
            completion_message_content: message.transpose()?,
            min_interval_seconds: self.min_interval_seconds,
            max_speed_kmh: self.max_speed_kmh,
            late_minutes: self.late_minutes,
        })
    }
}

/// `GET /admin/api/events`: those the token is for, by start.
pub async fn list(viewer: Viewer, req: HttpRequest, app: Data<App>) -> Result<HttpResponse, ApiError> {
    let parameters = Parameters::of(&req, &["order", "limit", "cursor"])?;
    let query = ListQuery::read(&parameters, &["events"])?;
    let page = visible(&app, &viewer, query.wanted()?).await?;
    query.answer("events", Part::of(&page, EventView::of))
}

/// Returns a page of the events that a token is for: further pages are read until it is full.
async fn visible(app: &App, viewer: &Viewer, wanted: Wanted) -> Result<Page<Event>, ApiError> {
    let (mut pages, mut rows, mut unreadable) = (Pages::From(wanted.after), Vec::new(), 0);
    while let Some(limit) = wanted.limit.checked_sub(rows.len()).filter(|limit| *limit > 0)
        && let Some(page) = pages
            .next(async |after| app.store.events(&Wanted { direction: wanted.direction, limit, after }).await)
            .await?
    {
        rows.extend(page.rows.into_iter().filter(|event| viewer.may_see(&event.event_id)));
        unreadable += page.unreadable;
    }
    Ok(Page { rows, next: pages.cursor(), unreadable })
}

/// `GET /admin/api/events/{eventId}`
pub async fn show(_viewer: Viewer, app: Data<App>, event_id: Path<EventId>) -> Result<HttpResponse, ApiError> {
    let event = app.stored_event(&event_id).await?;
    Ok(setting(StatusCode::OK, &EventView::of(&event), event.updated_at))
}

/// `PUT /admin/api/events/{eventId}`
pub async fn put(
    _admin: Admin,
    app: Data<App>,
    event_id: Path<EventId>,
    preconditions: Preconditions,
    input: Body<EventInput>,
) -> Result<HttpResponse, ApiError> {
    let change = input.0.change(&event_id, &app)?;
    let changed = ChangedEvent { app: &app, event_id: &event_id, change, now: app.clock.now() };
    let (status, event) = replace(&changed, &preconditions).await?;
    app.rallies.forget(&event_id);
    Ok(setting(status, &EventView::of(&event), event.updated_at))
}

struct ChangedEvent<'a> {
    app: &'a App,
    event_id: &'a EventId,
    change: EventChange,
    now: Timestamp,
}

impl Setting for ChangedEvent<'_> {
    type Value = Event;
    type Remains = EventRemains;

    fn version(event: &Event) -> Timestamp {
        event.updated_at
    }

    async fn read(&self) -> Result<Stored<Event, EventRemains>, ApiError> {
        Ok(self.app.store.stored_event(self.event_id).await?)
    }

    async fn next(&self, old: &Stored<Event, EventRemains>) -> Result<Event, ApiError> {
        let new = old.changed(self.change.clone(), self.event_id, self.now)?;
        self.refuse_broken_messages(old.names(), &new).await?;
        match self.app.store.refused_change(old, &new).await? {
            Some(fixed) => Err(ApiError::SettingFixed(fixed.attribute)),
            None => Ok(new),
        }
    }

    async fn write(&self, new: &Event, expected: Expected) -> Result<Replaced, ApiError> {
        Ok(self.app.store.put_event(new, expected).await?)
    }
}

impl ChangedEvent<'_> {
    /// An event's name is part of all its messages, and its own message has the name of any stamp that may complete a
    /// card. The stamps are read (a query of the index) only where one of the two changes; those that can't be read are
    /// left out.
    async fn refuse_broken_messages(&self, old: Option<EventNames<'_>>, new: &Event) -> Result<(), ApiError> {
        if old == Some(new.into()) {
            return Ok(());
        }
        let is_renamed = old.and_then(|old| old.name) != Some(&new.name);
        let masters = self.app.store.masters(self.event_id).await?.readable;
        refuse_names("", names::faults_of_any_completion(new.into(), &masters))?;
        for master in masters.iter().filter(|_| is_renamed) {
            let place = format!("/stamps/{}/flexMessageContent", master.stamp_id);
            refuse_names(&place, names::faults_of_stamp(new.into(), master))?;
        }
        Ok(())
    }
}
