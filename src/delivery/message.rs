//! The message of a notice: its template, parsed once for each version, and filled.

use std::{
    collections::HashMap,
    sync::{Arc, Mutex},
};

use serde_json::Value;

use crate::domain::{
    card::Progress,
    fact::{Facts, UserStamp},
    ids::{EventId, StampId},
    stamp::StampMaster,
    time::Timestamp,
};
use crate::line::flex::{Fault, Template, Values};
use crate::store::rallies::Rally;

use super::channel::locked;

/// Why there is nothing to send, in words for an operator.
pub type Unusable = String;

type Parsed = Arc<Result<Template, Unusable>>;

/// Which template of an event: a stamp's, or that of the completed card.
type Which = (EventId, Option<StampId>);

/// Parsed templates. One is good as long as its rally is the same read of the table.
#[derive(Default)]
pub struct Templates(Mutex<HashMap<Which, (Arc<Rally>, Parsed)>>);

/// What a message is made from.
pub struct Content<'a> {
    /// The event and its stamps.
    pub rally: &'a Arc<Rally>,
    /// The stamp it tells of; for a completed card the one that completed it.
    pub master: &'a StampMaster,
    /// The acquisition of that stamp.
    pub stamp: &'a UserStamp,
    /// When it happened, as the message says.
    pub at: Timestamp,
    /// Everything the participant has.
    pub facts: &'a Facts,
}

impl Templates {
    /// The message of a stamp's notice.
    pub fn of_stamp(&self, content: &Content<'_>) -> Result<Value, Unusable> {
        let which = Some(content.master.stamp_id.clone());
        self.fill(content, which, &content.master.flex_message_content)
    }

    /// The message for a completed card, from the event's own template.
    pub fn of_completion(&self, content: &Content<'_>, template: &Value) -> Result<Value, Unusable> {
        self.fill(content, None, template)
    }

    /// The same notice always gives the same message while the settings stay: a repeated push carries the same text.
    fn fill(&self, content: &Content<'_>, which: Option<StampId>, template: &Value) -> Result<Value, Unusable> {
        let event = &content.rally.event;
        let parsed = self.parsed(content.rally, (event.event_id.clone(), which), template);
        let template = parsed.as_ref().as_ref().map_err(Clone::clone)?;
        let progress = Progress::when_acquired(content.stamp, &content.rally.masters, content.facts);
        let values = Values {
            event_name: event.name.as_str(),
            stamp_name: content.master.name.as_str(),
            stamp_order: content.master.order.number(),
            acquired_at: &content.at.in_zone(event.time_zone),
            card_acquired: progress.acquired,
            card_total: progress.total,
        };
        template.render(&values).map_err(|faults| told(&faults))
    }

    fn parsed(&self, rally: &Arc<Rally>, which: Which, template: &Value) -> Parsed {
        let mut known = locked(&self.0);
        if let Some((_, parsed)) = known.get(&which).filter(|(of, _)| Arc::ptr_eq(of, rally)) {
            return Arc::clone(parsed);
        }
        let parsed = Arc::new(Template::parse(template.clone()).map_err(|faults| told(&faults)));
        known.insert(which, (Arc::clone(rally), Arc::clone(&parsed)));
        parsed
    }
}

fn told(faults: &[Fault]) -> Unusable {
    let first = faults.first().map(ToString::to_string).unwrap_or_default();
    format!("the message can't be sent: {first} ({} faults)", faults.len())
}
