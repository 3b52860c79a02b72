//! Stamp masters, as organisers read and change them.

use actix_web::{
    HttpRequest, HttpResponse,
    http::StatusCode,
    web::{Data, Path},
};
use serde::{Deserialize, de::IgnoredAny};

use crate::domain::{
    event::EventNames,
    ids::{EventId, StampId},
    json::Plain,
    proof::{Passcode, ProofKeys, ProofSettings, Proofs},
    schedule::AllHours,
    setting::Name,
    stamp::{
        After, ClaimRulesChange, Notify, StampMaster, StampMasterChange, StampMasterRemains, StampOrder, check_after,
        rules,
    },
    time::Timestamp,
};
use crate::http::{
    app::App,
    auth::{Admin, Viewer},
    body::{Body, Input, Instant, present},
    problem::ApiError,
};
use crate::line::flex::names;
use crate::store::{
    listing::Direction,
    masters::{Expected, Replaced, Stored},
};

use super::{
    BODY_LIMIT, checked_message,
    list::{ListQuery, Parameters, Part},
    precondition::Preconditions,
    refuse_names,
    replace::{Setting, replace},
    setting,
    view::StampMasterView,
};

/// `PUT …/stamps/{stampId}`: what is absent keeps its value. What a GET answers may be sent back whole.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[allow(clippy::option_option, reason = "absent, null and a value are three things to a PUT")]
pub struct StampMasterInput {
    #[serde(default, deserialize_with = "present")]
    event_id: Option<EventId>,
    #[serde(default, deserialize_with = "present")]
    stamp_id: Option<StampId>,
    #[serde(default, deserialize_with = "present")]
    name: Option<Name>,
    #[serde(default, deserialize_with = "present")]
    order: Option<StampOrder>,
    #[serde(default, deserialize_with = "present")]
    is_active: Option<bool>,
    #[serde(default, deserialize_with = "present")]
    flex_message_content: Option<Plain>,
    #[serde(default, deserialize_with = "present")]
    proofs: Option<Proofs>,
    #[serde(default, deserialize_with = "present")]
    proof_settings: Option<Option<ProofSettings>>,
    #[serde(default, deserialize_with = "present")]
    passcode: Option<Option<Passcode>>,
    #[serde(default, deserialize_with = "present")]
    available_from: Option<Option<Instant>>,
    #[serde(default, deserialize_with = "present")]
    available_until: Option<Option<Instant>>,
    #[serde(default, deserialize_with = "present")]
    hours: Option<Option<AllHours>>,
    #[serde(default, deserialize_with = "present")]
    after: Option<Option<After>>,
    #[serde(default, deserialize_with = "present")]
    notify: Option<Option<Notify>>,
    #[serde(default, rename = "codes")]
    _codes: IgnoredAny,
    #[serde(default, rename = "updatedAt")]
    _updated_at: IgnoredAny,
}

impl Input for StampMasterInput {
    const LIMIT: usize = BODY_LIMIT;
}

impl StampMasterInput {
    /// Returns the change it asks for, if LINE would take its message and this server can judge its proofs.
    fn change(
        self,
        (event_id, stamp_id): (&EventId, &StampId),
        keys: &ProofKeys,
    ) -> Result<StampMasterChange, ApiError> {
        if self.event_id.is_some_and(|id| id != *event_id) {
            return Err(ApiError::InvalidRequest("eventId: must be the one in the path".to_owned()));
        }
        if self.stamp_id.is_some_and(|id| id != *stamp_id) {
            return Err(ApiError::InvalidRequest("stampId: must be the one in the path".to_owned()));
        }
        let message = self.flex_message_content.map(|Plain(json)| checked_message("flexMessageContent", json));
        let hash = |passcode: Passcode| rules::passcode_hash(&passcode, keys, (event_id, stamp_id));
        if let Some(proofs) = &self.proofs {
            rules::must_have_keys(proofs, keys)?;
        }
        Ok(StampMasterChange {
            name: self.name,
            order: self.order,
            is_active: self.is_active,
            flex_message_content: message.transpose()?,
            rules: ClaimRulesChange {
                proofs: self.proofs,
                settings: self.proof_settings,
                passcode_hash: self.passcode.map(|passcode| passcode.map(hash).transpose()).transpose()?,
                available_from: self.available_from.map(|at| at.map(|Instant(at)| at)),
                available_until: self.available_until.map(|at| at.map(|Instant(at)| at)),
                hours: self.hours,
                after: self.after,
            },
            notify: self.notify.map(Option::unwrap_or_default),
        })
    }
}

/// `GET …/{eventId}/stamps`: all masters in order, the inactive ones too.
pub async fn list(
    _viewer: Viewer,
    req: HttpRequest,
    app: Data<App>,
    event_id: Path<EventId>,
) -> Result<HttpResponse, ApiError> {
    let parameters = Parameters::of(&req, &["order", "limit", "cursor"])?;
    let query = ListQuery::read(&parameters, &["stamps", event_id.as_str()])?;
    let after = query.after::<(StampOrder, StampId)>()?;
    app.stored_event(&event_id).await?;
    let mut masters = app.store.masters(&event_id).await?;
    if query.direction == Direction::Desc {
        masters.readable.reverse();
    }
    let (rows, next) = page(&masters.readable, query.direction, query.limit, after.as_ref());
    let unreadable = masters.unreadable.len() + masters.foreign;
    let rows = rows.iter().map(StampMasterView::of).collect();
    query.answer("stamps", Part { rows, next, unreadable })
}

/// Returns the part of a list after a place, and where the next one begins. Masters are few and read whole; it is only the answer that has pages.
fn page<'a>(
    masters: &'a [StampMaster],
    direction: Direction,
    limit: usize,
    after: Option<&(StampOrder, StampId)>,
) -> (&'a [StampMaster], Option<(StampOrder, StampId)>) {
    let came_before = |master: &StampMaster| {
        after.is_some_and(|(order, id)| match direction {
            Direction::Asc => master.place() <= (*order, id),
            Direction::Desc => master.place() >= (*order, id),
        })
    };
    let rest = &masters[masters.partition_point(came_before)..];
    let rows = &rest[..rest.len().min(limit)];
    let next = if rest.len() > limit { rows.last() } else { None };
    (rows, next.map(|master| (master.order, master.stamp_id.clone())))
}

/// `GET …/{eventId}/stamps/{stampId}`
pub async fn show(_viewer: Viewer, app: Data<App>, path: Path<(EventId, StampId)>) -> Result<HttpResponse, ApiError> {
    let (event_id, stamp_id) = path.into_inner();
    let master = stored(&app, &event_id, &stamp_id).await?;
    Ok(setting(StatusCode::OK, &StampMasterView::of(&master), master.updated_at))
}

/// Returns the master, or refuses with which of event and stamp isn't there.
async fn stored(app: &App, event_id: &EventId, stamp_id: &StampId) -> Result<StampMaster, ApiError> {
    app.stored_event(event_id).await?;
    app.store.master(event_id, stamp_id).await?.ok_or(ApiError::StampNotFound)
}

/// `PUT …/{eventId}/stamps/{stampId}`
pub async fn put(
    _admin: Admin,
    app: Data<App>,
    path: Path<(EventId, StampId)>,
    preconditions: Preconditions,
    input: Body<StampMasterInput>,
) -> Result<HttpResponse, ApiError> {
    let (event_id, stamp_id) = path.into_inner();
    let change = input.0.change((&event_id, &stamp_id), &app.proof_keys)?;
    let (event, now) = (app.store.stored_event(&event_id).await?, app.clock.now());
    // An event that can't be read prevents no change of its stamps.
    let event = event.names().ok_or(ApiError::EventNotFound)?;
    let changed = ChangedMaster { app: &app, event, event_id: &event_id, stamp_id: &stamp_id, change, now };
    let (status, master) = replace(&changed, &preconditions).await?;
    app.rallies.forget(&event_id);
    Ok(setting(status, &StampMasterView::of(&master), master.updated_at))
}

/// Refuses a message that LINE would: a stamp's name and order are part of its own message, and of the event's for a completed card.
fn refuse_broken_messages(event: EventNames<'_>, old: Option<&StampMaster>, new: &StampMaster) -> Result<(), ApiError> {
    let is_renamed = old.is_none_or(|old| old.name != new.name || old.order != new.order);
    if is_renamed || old.is_some_and(|old| old.flex_message_content != new.flex_message_content) {
        refuse_names("", names::faults_of_stamp(event, new))?;
    }
    if is_renamed {
        refuse_names("/completionMessageContent", names::faults_of_completion(event, new))?;
    }
    Ok(())
}

struct ChangedMaster<'a> {
    app: &'a App,
    event: EventNames<'a>,
    event_id: &'a EventId,
    stamp_id: &'a StampId,
    change: StampMasterChange,
    now: Timestamp,
}

impl Setting for ChangedMaster<'_> {
    type Value = StampMaster;
    type Remains = StampMasterRemains;

    fn version(master: &StampMaster) -> Timestamp {
        master.updated_at
    }

    async fn read(&self) -> Result<Stored<StampMaster, StampMasterRemains>, ApiError> {
        Ok(self.app.store.stored_master(self.event_id, self.stamp_id).await?)
    }

    async fn next(&self, old: &Stored<StampMaster, StampMasterRemains>) -> Result<StampMaster, ApiError> {
        let new = old.changed(self.change.clone(), self.event_id, self.stamp_id, self.now)?;
        refuse_broken_messages(self.event, old.readable(), &new)?;
        // The event's other stamps are read (a query of the index) only where this one names some.
        if old.readable().is_none_or(|old| old.rules.after != new.rules.after) && !new.rules.after.ids().is_empty() {
            check_after(&new, &self.app.store.masters(self.event_id).await?)?;
        }
        Ok(new)
    }

    async fn write(&self, new: &StampMaster, expected: Expected) -> Result<Replaced, ApiError> {
        Ok(self.app.store.put_master(new, expected).await?)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn masters() -> Vec<StampMaster> {
        let master = |id: &str, order| {
            let change = StampMasterChange {
                name: Some(Name::try_from(id.to_owned()).unwrap()),
                order: Some(StampOrder::try_from(order).unwrap()),
                flex_message_content: Some(serde_json::Value::Null),
                ..StampMasterChange::default()
            };
            change.create("spring".parse().unwrap(), id.parse().unwrap(), Timestamp::EPOCH).unwrap()
        };
        vec![master("b", 1), master("a", 2), master("c", 2), master("d", 9)]
    }

    #[test]
    fn pages_of_masters_follow_one_another_in_both_directions() {
        for direction in [Direction::Asc, Direction::Desc] {
            let mut all = masters();
            if direction == Direction::Desc {
                all.reverse();
            }
            let (mut seen, mut after) = (Vec::new(), None);
            loop {
                let (rows, next) = page(&all, direction, 3, after.as_ref());
                seen.extend_from_slice(rows);
                after = next;
                if after.is_none() {
                    break;
                }
            }
            assert_eq!(seen, all, "{direction:?}");
        }
    }

    #[test]
    fn a_full_last_page_has_no_next() {
        assert_eq!(page(&masters(), Direction::Asc, 4, None).1, None);
    }
}
