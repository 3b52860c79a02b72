//! What applying an event file comes to: the file compared with what is stored, and the order of the writes.

use std::{collections::HashMap, fmt};

use anyhow::anyhow;
use derive_more::Display;

use super::attributes::Attributes;
use crate::cli::event_file::{EventFile, Placed, StampEntry};
use crate::domain::{
    Malformed,
    event::{Event, EventChange, EventRemains},
    ids::{EventId, StampId},
    proof::{Passcode, ProofKeys},
    stamp::{ClaimRulesChange, StampMaster, StampMasterChange, StampMasterRemains, StampMasters, check_after, rules},
    time::Timestamp,
};
use crate::store::{masters, unreadable::Unreadable};

/// What is stored of the event that a file is about.
#[derive(Debug, Default)]
pub(super) struct Stored {
    pub event: masters::Stored<Event, EventRemains>,
    /// Of the stamps that the file names, those that are in the table.
    pub stamps: HashMap<StampId, masters::Stored<StampMaster, StampMasterRemains>>,
    /// The other stamps of the event.
    pub others: StampMasters,
}

/// What would be written, and why.
#[derive(Debug)]
pub(super) struct Plan {
    pub event: Step<Event, EventRemains>,
    pub stamps: Vec<StampStep>,
    /// In the table, not in the file.
    pub others: StampMasters,
}

/// What becomes of one setting.
#[derive(Debug)]
pub(super) struct Step<T, R> {
    pub old: masters::Stored<T, R>,
    pub new: T,
    /// What is new about it; nothing = nothing is written.
    lines: Vec<String>,
}

/// What becomes of a stamp.
pub(super) type StampStep = Step<StampMaster, StampMasterRemains>;

/// One write.
#[derive(Debug, Display, Clone, Copy)]
pub(super) enum Write<'p> {
    #[display("the event itself")]
    Event(&'p Step<Event, EventRemains>),
    #[display("stamp {}", _0.new.stamp_id)]
    Stamp(&'p StampStep),
}

impl<T, R> Step<T, R> {
    /// Compares a setting with what is stored. One whose index keys are wrong is written, and so listed again, also where
    /// nothing else is new.
    fn new(old: masters::Stored<T, R>, new: T, of: fn(&T) -> Attributes<'_>) -> Self {
        let mut lines = match old.readable() {
            None => of(&new).all(),
            Some(setting) => of(&new).changed_from(&of(setting)),
        };
        if old.readable().is_some() && !old.is_listed() {
            lines.push("GSI1PK, GSI1SK: missing or not those of its attributes, is listed again".to_owned());
        }
        Self { old, new, lines }
    }

    fn is_needed(&self) -> bool {
        !self.lines.is_empty()
    }
}

impl StampStep {
    /// Returns whether the card gets a place more: a new stamp, or one that is active again or listed again.
    fn grows(&self) -> bool {
        self.new.is_active && !(self.counted() && self.old.is_listed())
    }

    /// Returns whether the card loses a place.
    fn shrinks(&self) -> bool {
        !self.new.is_active && self.counted()
    }

    /// Returns whether the stored stamp counts for the card, if it is listed; one that can't be read does.
    fn counted(&self) -> bool {
        match &self.old {
            masters::Stored::Absent => false,
            masters::Stored::Readable(old) => old.setting.is_active,
            masters::Stored::Unreadable(_) => true,
        }
    }
}

impl Plan {
    /// Compares a file with what is stored. What the file doesn't name keeps its value.
    pub fn new(file: &EventFile, stored: Stored, now: Timestamp, keys: &ProofKeys) -> anyhow::Result<Self> {
        let refused = |error: Malformed| anyhow!("{}: {error}", file.event_id.place);
        let event_id = &file.event_id.value;
        let new = stored.event.changed(event_change(file), event_id, now).map_err(refused)?;
        let event = Step::new(stored.event, new, Attributes::of_event);
        let (mut named, mut stamps) = (stored.stamps, Vec::new());
        for entry in &file.stamps {
            let old = named.remove(&entry.stamp_id).unwrap_or_default();
            let change = stamp_change(entry, event_id, keys)?;
            let new = old.changed(change, event_id, &entry.stamp_id, now);
            let new = new.map_err(|error| anyhow!("{}: {error}", entry.place))?;
            stamps.push(Step::new(old, new, Attributes::of_stamp));
        }
        let plan = Self { event, stamps, others: stored.others };
        plan.check_after(file)?;
        Ok(plan)
    }

    /// Refuses stamps that wait for themselves, for each other, or for one that the event won't have.
    fn check_after(&self, file: &EventFile) -> anyhow::Result<()> {
        let named = self.stamps.iter().map(|step| &step.new);
        let masters: Vec<_> = named.chain(&self.others.readable).cloned().collect();
        let all = StampMasters { unreadable: self.others.unreadable.clone(), ..masters.into() };
        for (entry, step) in file.stamps.iter().zip(&self.stamps) {
            check_after(&step.new, &all).map_err(|error| anyhow!("{}: {error}", entry.place))?;
        }
        Ok(())
    }

    /// Returns the writes, in an order that does no harm wherever it stops.
    ///
    /// A completed card is a fact that can't be taken back. So no participant may get a card that is smaller than
    /// both the old and the new one: places are added before anything else (a new event is written after its stamps,
    /// which can't be reached without it), and taken away after everything else.
    pub fn writes(&self) -> Vec<Write<'_>> {
        let stamps = |of: fn(&StampStep) -> bool| self.stamps.iter().filter(move |step| of(step));
        let growing = stamps(Step::grows).map(Write::Stamp);
        let neutral = stamps(|step| !step.grows() && !step.shrinks()).map(Write::Stamp);
        let shrinking = stamps(Step::shrinks).map(Write::Stamp);
        let all = growing.chain(neutral).chain([Write::Event(&self.event)]).chain(shrinking);
        all.filter(Write::is_needed).collect()
    }

    /// Returns the stamps that the card gets.
    pub fn added(&self) -> Vec<&StampId> {
        self.stamps.iter().filter(|step| step.grows()).map(|step| &step.new.stamp_id).collect()
    }
}

impl Write<'_> {
    /// Returns whether new places of the card must be there before it, for every reader.
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

/// What changes, for operators; old → new.
impl fmt::Display for Plan {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { event, stamps, others } = self;
        describe(out, "", &format!("event {}", event.new.event_id), event)?;
        for stamp in stamps {
            describe(out, "  ", &format!("stamp {}", stamp.new.stamp_id), stamp)?;
        }
        let mut others: Vec<_> = others.ids().collect();
        others.sort();
        for other in others {
            let left =
                "in the table, not in the file: left as it is (to take it off the card: name it with isActive = false)";
            writeln!(out, "  stamp {other}: {left}")?;
        }
        Ok(())
    }
}

fn describe<T, R>(out: &mut fmt::Formatter<'_>, indent: &str, name: &str, step: &Step<T, R>) -> fmt::Result {
    match &step.old {
        masters::Stored::Absent => writeln!(out, "{indent}{name}: new")?,
        masters::Stored::Unreadable(old) => {
            let Unreadable { attribute, problem, .. } = &old.unreadable;
            writeln!(out, "{indent}{name}: can't be read ({attribute} {problem}), is mended")?;
        }
        masters::Stored::Readable(_) if step.is_needed() => writeln!(out, "{indent}{name}: changed")?,
        masters::Stored::Readable(_) => writeln!(out, "{indent}{name}: unchanged")?,
    }
    step.lines.iter().try_for_each(|line| writeln!(out, "{indent}  {line}"))
}

fn event_change(file: &EventFile) -> EventChange {
    EventChange {
        name: Some(file.name.value.clone()),
        starts_at: Some(file.window.starts_at()),
        ends_at: Some(file.window.ends_at()),
        time_zone: file.time_zone,
        channel: Some(file.channel.value.clone()),
        liff_id: file.liff_id.clone().map(Some),
        index_shards: file.index_shards.as_ref().map(|shards| shards.value),
        completion_message_content: file
            .completion_message
            .as_ref()
            .map(|message| Some(message.value.message().clone())),
        min_interval_seconds: file.min_interval_seconds.map(Some),
        max_speed_kmh: file.max_speed_kmh.map(Some),
        late_minutes: file.late_minutes.map(Some),
    }
}

/// Returns the change that an entry asks for, if its proofs can be judged with these keys.
fn stamp_change(entry: &StampEntry, event_id: &EventId, keys: &ProofKeys) -> anyhow::Result<StampMasterChange> {
    if let Some(proofs) = &entry.rules.proofs {
        rules::must_have_keys(proofs, keys).map_err(|error| anyhow!("{}: {error}", entry.place))?;
    }
    let hash = |passcode: &Placed<Passcode>| {
        let hash = rules::passcode_hash(&passcode.value, keys, (event_id, &entry.stamp_id));
        hash.map(Some).map_err(|error| anyhow!("{}: {}", passcode.place, error.rule))
    };
    Ok(StampMasterChange {
        rules: ClaimRulesChange {
            passcode_hash: entry.passcode.as_ref().map(hash).transpose()?,
            ..entry.rules.clone()
        },
        notify: entry.notify,
        name: Some(entry.name.clone()),
        order: Some(entry.order),
        is_active: entry.is_active,
        flex_message_content: Some(entry.message.value.message().clone()),
    })
}
