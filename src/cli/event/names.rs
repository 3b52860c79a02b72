//! The names of a plan in the messages of its event: what LINE would refuse then isn't written.

use anyhow::bail;

use super::plan::{Plan, StampStep, Step};
use crate::cli::event_file::EventFile;
use crate::domain::{
    event::{Event, EventRemains},
    stamp::StampMaster,
};
use crate::line::flex::{Fault, names};

/// Refuses a plan with a message that breaks one of LINE's limits once the names are filled in; the error names where
/// the message comes from.
///
/// A stamp that the file doesn't name has its message in the table, where the event's new name would break it. One that
/// can't be read is left out.
pub(super) fn refuse_broken_messages(file: &EventFile, plan: &Plan) -> anyhow::Result<()> {
    let event = &plan.event.new;
    for (entry, step) in file.stamps.iter().zip(&plan.stamps) {
        refuse(&entry.message.place, &names::faults_of_stamp(event.into(), &step.new))?;
    }
    for other in plan.others.readable.iter().filter(|_| is_renamed(&plan.event)) {
        let place = format!("{}: message of stamp {}, in the table", file.name.place, other.stamp_id);
        refuse(&place, &names::faults_of_stamp(event.into(), other))?;
    }
    refuse_broken_completion(file, plan)
}

/// The completion message has the name of any stamp that may complete the card. If neither it nor the event's name
/// is new, only the stamps with new names are looked at.
fn refuse_broken_completion(file: &EventFile, plan: &Plan) -> anyhow::Result<()> {
    let event = (&plan.event.new).into();
    let stored = || format!("{}: completion message, in the table", file.name.place);
    let place = file.completion_message.as_ref().map_or_else(stored, |message| message.place.clone());
    if file.completion_message.is_some() || is_renamed(&plan.event) {
        let named = plan.stamps.iter().map(|step| &step.new);
        let masters: Vec<StampMaster> = named.chain(&plan.others.readable).cloned().collect();
        return refuse(&place, &names::faults_of_any_completion(event, &masters));
    }
    let is_new_name = |step: &&StampStep| {
        step.old.readable().is_none_or(|old| (&old.name, old.order) != (&step.new.name, step.new.order))
    };
    let mut renamed = plan.stamps.iter().filter(is_new_name);
    renamed.try_for_each(|step| refuse(&place, &names::faults_of_completion(event, &step.new)))
}

fn is_renamed(event: &Step<Event, EventRemains>) -> bool {
    event.old.names().and_then(|old| old.name) != Some(&event.new.name)
}

fn refuse(place: &str, faults: &[Fault]) -> anyhow::Result<()> {
    match faults {
        [] => Ok(()),
        [only] => bail!("{place}: {only}"),
        [first, others @ ..] => bail!("{place}: {first} (and {} more)", others.len()),
    }
}
