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

use super::lock::locked;

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
    /// The stamp that it reports; for a completed card the one that completed it.
    pub master: &'a StampMaster,
    /// The acquisition of that stamp.
    pub stamp: &'a UserStamp,
    /// When it happened, as the message says.
    pub at: Timestamp,
    /// Everything the participant has.
    pub facts: &'a Facts,
}

impl Templates {
    /// Returns the message of a notice, filled: of a stamp's, or (`None`) of the completed card's. The same notice always
    /// gives the same message while the settings stay: a repeated push carries the same text.
    pub fn fill(&self, content: &Content<'_>, of: Option<StampId>, template: &Value) -> Result<Value, Unusable> {
        let event = &content.rally.event;
        let parsed = self.parsed(content.rally, (event.event_id.clone(), of), template);
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
        template.render(&values).map_err(|faults| unusable(&faults))
    }

    fn parsed(&self, rally: &Arc<Rally>, which: Which, template: &Value) -> Parsed {
        let mut known = locked(&self.0);
        if let Some((_, parsed)) = known.get(&which).filter(|(of, _)| Arc::ptr_eq(of, rally)) {
            return Arc::clone(parsed);
        }
        let parsed = Arc::new(Template::parse(template.clone()).map_err(|faults| unusable(&faults)));
        known.insert(which, (Arc::clone(rally), Arc::clone(&parsed)));
        parsed
    }
}

fn unusable(faults: &[Fault]) -> Unusable {
    let first = faults.first().map(ToString::to_string).unwrap_or_default();
    format!("the message can't be sent: {first} ({} faults)", faults.len())
}
