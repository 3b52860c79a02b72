//! `stamp-rally event list|show`: what is stored, for operators.

use std::io::Write;

use super::attributes::Attributes;
use crate::cli::{printed::counted, store::event};
use crate::domain::{
    event::{Event, Phase},
    ids::EventId,
    stamp::StampMaster,
    time::Timestamp,
};
use crate::store::{Store, listing::Wanted, paging::Pages};

/// Lists all events by start, a line each; what may be wide (names) comes last.
pub(super) async fn list(store: &Store, now: Timestamp, out: &mut impl Write) -> anyhow::Result<()> {
    let events = async |after| store.events(&Wanted::oldest_first(after)).await;
    let (mut pages, mut unreadable) = (Pages::default(), 0);
    while let Some(page) = pages.next(events).await? {
        for event in &page.rows {
            writeln!(out, "{}", line(event, now))?;
        }
        unreadable += page.unreadable;
    }
    if unreadable > 0 {
        writeln!(out, "{unreadable} more can't be read: `stamp-rally table check` names them")?;
    }
    Ok(())
}

fn line(event: &Event, now: Timestamp) -> String {
    let Event { event_id, window, time_zone: zone, channel, name, .. } = event;
    let state = match window.phase(now) {
        Phase::ToCome => "to come",
        Phase::Open => "open",
        Phase::Over => "over",
    };
    let (from, to) = (window.starts_at().in_zone(*zone), window.ends_at().in_zone(*zone));
    format!("{:<24}  {state:<7}  {from} to {to} {zone}  {:<8}  {}", event_id.as_str(), channel.as_str(), name.as_str())
}

/// Shows one event with its stamps.
pub(super) async fn show(store: &Store, event_id: &EventId, out: &mut impl Write) -> anyhow::Result<()> {
    let event = event(store, event_id).await?;
    let masters = store.masters(event_id).await?;
    writeln!(out, "event {event_id}")?;
    for line in Attributes::of_event(&event).all() {
        writeln!(out, "  {line}")?;
    }
    writeln!(out, "  createdAt: {}", event.created_at)?;
    writeln!(out, "  updatedAt: {}", event.updated_at)?;
    masters.readable.iter().try_for_each(|master| stamp(master, out))?;
    for stamp_id in &masters.unreadable {
        writeln!(out, "  stamp {stamp_id}: can't be read (`stamp-rally table check --event {event_id}` says why)")?;
    }
    if masters.foreign > 0 {
        let others = counted(masters.foreign, "other item is", "other items are");
        writeln!(out, "  {others} listed among the stamps (`stamp-rally table check --event {event_id}` says why)")?;
    }
    let stamps = counted(masters.readable.len(), "stamp", "stamps");
    Ok(writeln!(out, "{stamps}, {} of them active", masters.active().count())?)
}

fn stamp(master: &StampMaster, out: &mut impl Write) -> std::io::Result<()> {
    writeln!(out, "  stamp {}", master.stamp_id)?;
    for line in Attributes::of_stamp(master).all() {
        writeln!(out, "    {line}")?;
    }
    writeln!(out, "    updatedAt: {}", master.updated_at)
}
