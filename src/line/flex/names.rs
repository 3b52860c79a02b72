//! The messages of an event with the names that they will be sent with.
//!
//! A name becomes part of texts, of addresses (percent-encoded, up to twelve characters for one) and possibly of the
//! sender's name. Texts are cut where they are too long; what can't be cut is refused when a message is stored, and
//! when a name changes. The notices are filled by the same code ([`Template::render`]).

use serde_json::Value;

use super::{
    fill::{ACQUIRED_AT, SHORTEST, Values},
    placeholder::mentions_any,
    template::Template,
    walk::Fault,
};
use crate::domain::{event::EventNames, setting::Name, stamp::StampMaster};

/// More stamps than a card has: as long as a count gets.
const MOST_STAMPS: usize = 999;

/// Returns what breaks a limit of a stamp's message once the names of its event and its own are filled in.
///
/// An event's name that can't be read counts as the shortest one. Empty too where the message is one that can't be sent
/// with any name: that is a fault of the message, see [`check`](super::check()).
#[must_use]
pub fn faults_of_stamp(event: EventNames<'_>, master: &StampMaster) -> Vec<Fault> {
    filled(&master.flex_message_content).map_or_else(Vec::new, |template| faults(&template, event, Some(master)))
}

/// Returns the same of an event's completion message, where `master` is the stamp that completes the card.
#[must_use]
pub fn faults_of_completion(event: EventNames<'_>, master: &StampMaster) -> Vec<Fault> {
    let template = event.completion_message.and_then(filled);
    template.map_or_else(Vec::new, |template| faults(&template, event, Some(master)))
}

/// Returns the same of an event's completion message, whichever of `masters` completes the card: of the first that breaks it.
///
/// Also checked with the shortest name a stamp can have: an event may be stored before its stamps.
#[must_use]
pub fn faults_of_any_completion(event: EventNames<'_>, masters: &[StampMaster]) -> Vec<Fault> {
    let Some(template) = event.completion_message.and_then(filled) else { return Vec::new() };
    let all = masters.iter().map(Some).chain([None]);
    all.map(|master| faults(&template, event, master)).find(|faults| !faults.is_empty()).unwrap_or_default()
}

/// Returns the template of a message that something is filled into.
fn filled(message: &Value) -> Option<Template> {
    if mentions_any(message) { Template::parse(message.clone()).ok() } else { None }
}

fn faults(template: &Template, event: EventNames<'_>, master: Option<&StampMaster>) -> Vec<Fault> {
    let values = Values {
        event_name: event.name.map_or(SHORTEST, Name::as_str),
        stamp_name: master.map_or(SHORTEST, |master| master.name.as_str()),
        stamp_order: master.map_or(1, |master| master.order.number()),
        acquired_at: ACQUIRED_AT,
        card_acquired: MOST_STAMPS,
        card_total: MOST_STAMPS,
    };
    template.render(&values).err().unwrap_or_default().into_iter().map(of_names).collect()
}

fn of_names(fault: Fault) -> Fault {
    let limit =
        format!("{} (with the names of the event and the stamp filled in; another name helps, too)", fault.limit);
    Fault { limit, ..fault }
}
