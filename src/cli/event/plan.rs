//! What applying an event file comes to: the file compared with what is stored, and the order of the writes.

use std::fmt;

use anyhow::anyhow;

use super::attributes::Attributes;
use crate::cli::event_file::{EventFile, StampEntry};
use crate::domain::{
    Malformed,
    event::{Event, EventChange},
    ids::StampId,
    stamp::{StampMaster, StampMasterChange},
    time::Timestamp,
};

/// What is stored of the event that a file is about.
#[derive(Debug, Default)]
pub(super) struct Stored {
    pub event: Option<Event>,
    pub masters: Vec<StampMaster>,
}

/// What would be written, and why.
#[derive(Debug)]
pub(super) struct Plan {
    pub event: Step<Event>,
    pub stamps: Vec<Step<StampMaster>>,
    /// In the table, not in the file.
    others: Vec<StampId>,
}

/// What becomes of one setting.
#[derive(Debug)]
pub(super) struct Step<T> {
    pub old: Option<T>,
    pub new: T,
    /// What is new about it; nothing = nothing is written.
    lines: Vec<String>,
}

/// One write.
#[derive(Debug, Clone, Copy)]
pub(super) enum Write<'p> {
    Event(&'p Step<Event>),
    Stamp(&'p Step<StampMaster>),
}

impl<T> Step<T> {
    fn is_needed(&self) -> bool {
        !self.lines.is_empty()
    }
}

impl Step<StampMaster> {
    /// Whether the card gets a place more: a new stamp, or one that is active again.
    fn grows(&self) -> bool {
        self.new.is_active && self.old.as_ref().is_none_or(|old| !old.is_active)
    }

    /// Whether the card loses a place.
    fn shrinks(&self) -> bool {
        !self.new.is_active && self.old.as_ref().is_some_and(|old| old.is_active)
    }
}

impl Plan {
    /// Compares a file with what is stored. What the file doesn't name keeps its value.
    pub fn new(file: &EventFile, stored: Stored, now: Timestamp) -> anyhow::Result<Self> {
        let refused = |error: Malformed| anyhow!("{}: {error}", file.event_id.place);
        let (change, event_id) = (event_change(file), &file.event_id.value);
        let new = match &stored.event {
            Some(old) => change.apply(old, now),
            None => change.create(event_id.clone(), now),
        };
        let event = event_step(stored.event, new.map_err(refused)?);
        let (mut masters, mut stamps) = (stored.masters, Vec::new());
        for entry in &file.stamps {
            let at = masters.iter().position(|master| master.stamp_id == entry.stamp_id);
            let (old, change) = (at.map(|at| masters.swap_remove(at)), stamp_change(entry));
            let new = match &old {
                Some(old) => change.apply(old, now),
                None => change.create(event_id.clone(), entry.stamp_id.clone(), now).map_err(refused)?,
            };
            stamps.push(stamp_step(old, new));
        }
        let mut others: Vec<_> = masters.into_iter().map(|master| master.stamp_id).collect();
        others.sort();
        Ok(Self { event, stamps, others })
    }

    /// The writes, in an order that does no harm wherever it stops.
    ///
    /// A completed card is a fact that can't be taken back. So nobody may meet a card that is smaller than both the
    /// old and the new one: places are added before anything else (a new event is written after its stamps, which
    /// nobody can reach without it), and taken away after everything else.
    pub fn writes(&self) -> Vec<Write<'_>> {
        let stamps = |of: fn(&Step<StampMaster>) -> bool| self.stamps.iter().filter(move |step| of(step));
        let growing = stamps(Step::grows).map(Write::Stamp);
        let neutral = stamps(|step| !step.grows() && !step.shrinks()).map(Write::Stamp);
        let shrinking = stamps(Step::shrinks).map(Write::Stamp);
        let all = growing.chain(neutral).chain([Write::Event(&self.event)]).chain(shrinking);
        all.filter(Write::is_needed).collect()
    }

    /// The stamps that the card gets.
    pub fn added(&self) -> Vec<&StampId> {
        self.stamps.iter().filter(|step| step.grows()).map(|step| &step.new.stamp_id).collect()
    }
}

impl Write<'_> {
    /// Whether new places of the card must be there before it, for everybody who reads.
    pub fn comes_after_new_places(&self) -> bool {
        match self {
            Self::Event(_) => true,
            Self::Stamp(step) => step.shrinks(),
        }
    }

    fn is_needed(&self) -> bool {
        match self {
            Self::Event(step) => step.is_needed(),
            Self::Stamp(step) => step.is_needed(),
        }
    }
}

impl fmt::Display for Write<'_> {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Event(_) => write!(out, "the event itself"),
            Self::Stamp(step) => write!(out, "stamp {}", step.new.stamp_id),
        }
    }
}

/// What changes, for people; old → new.
impl fmt::Display for Plan {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { event, stamps, others } = self;
        describe(out, "", &format!("event {}", event.new.event_id), event)?;
        for stamp in stamps {
            describe(out, "  ", &format!("stamp {}", stamp.new.stamp_id), stamp)?;
        }
        for other in others {
            let told =
                "in the table, not in the file: left as it is (to take it off the card: name it with isActive = false)";
            writeln!(out, "  stamp {other}: {told}")?;
        }
        Ok(())
    }
}

fn describe<T>(out: &mut fmt::Formatter<'_>, indent: &str, name: &str, step: &Step<T>) -> fmt::Result {
    let word = match step {
        Step { old: None, .. } => "new",
        step if step.is_needed() => "changed",
        _ => "unchanged",
    };
    writeln!(out, "{indent}{name}: {word}")?;
    step.lines.iter().try_for_each(|line| writeln!(out, "{indent}  {line}"))
}

fn event_step(old: Option<Event>, new: Event) -> Step<Event> {
    let attributes = Attributes::of_event(&new);
    let lines = match &old {
        Some(old) => attributes.changed_from(&Attributes::of_event(old)),
        None => attributes.all(),
    };
    Step { old, new, lines }
}

fn stamp_step(old: Option<StampMaster>, new: StampMaster) -> Step<StampMaster> {
    let attributes = Attributes::of_stamp(&new);
    let lines = match &old {
        Some(old) => attributes.changed_from(&Attributes::of_stamp(old)),
        None => attributes.all(),
    };
    Step { old, new, lines }
}

fn event_change(file: &EventFile) -> EventChange {
    EventChange {
        name: Some(file.name.clone()),
        starts_at: Some(file.window.starts_at()),
        ends_at: Some(file.window.ends_at()),
        time_zone: file.time_zone,
        channel: Some(file.channel.value.clone()),
        liff_id: file.liff_id.clone().map(Some),
        index_shards: file.index_shards.as_ref().map(|shards| shards.value),
        completion_message_content: file.completion_message.as_ref().map(|message| Some(message.message().clone())),
    }
}

fn stamp_change(entry: &StampEntry) -> StampMasterChange {
    StampMasterChange {
        name: Some(entry.name.clone()),
        order: Some(entry.order),
        is_active: entry.is_active,
        flex_message_content: Some(entry.message.message().clone()),
    }
}
