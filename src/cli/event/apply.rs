//! `stamp-rally event apply`: event files into the table, without overwriting what was changed meanwhile.

use std::{collections::BTreeSet, io, time::Duration};

use anyhow::{Context, bail};
use futures_util::{StreamExt, TryStreamExt, stream};

use super::{
    names,
    plan::{Plan, Stored, Write},
};
use crate::cli::event_file::EventFile;
use crate::domain::{
    event::FixedChange,
    ids::{EventId, StampId},
    mode::Mode,
    proof::ProofKeys,
    time::Timestamp,
};
use crate::store::{Store, StoreError, masters::Replaced};

/// Event files to be applied.
pub struct Application<'a> {
    /// The names of the configured channels.
    pub channels: &'a [&'a str],
    /// The files.
    pub files: &'a [EventFile],
    /// The keys of codes and passcodes.
    pub keys: &'a ProofKeys,
    /// When they are applied.
    pub now: Timestamp,
    /// Whether anything is written.
    pub mode: Mode,
}

/// Reads at the same time.
const AT_ONCE: usize = 16;

/// How long the index may lag behind the table: pauses between looks, about ten seconds in all.
const INDEX_LAG: [Duration; 7] = [
    Duration::from_millis(100),
    Duration::from_millis(200),
    Duration::from_millis(500),
    Duration::from_secs(1),
    Duration::from_secs(2),
    Duration::from_secs(3),
    Duration::from_secs(3),
];

/// Writes events and their stamps as their files say, and prints what changes (old → new).
///
/// All files are compared with the table and checked before anything is written; what a file doesn't name keeps its
/// value, and no stamp is ever deleted. Each write is conditional on the version that was compared: where another writer
/// changed that one meanwhile, nothing is overwritten and the rest isn't written. Safe to repeat, wherever it stopped.
pub async fn apply(store: &Store, application: &Application<'_>, out: &mut impl io::Write) -> anyhow::Result<()> {
    let mut seen = BTreeSet::new();
    let mut plans = Vec::new();
    for file in application.files {
        if !seen.insert(&file.event_id.value) {
            bail!("{}: another file is about the same event", file.event_id.place);
        }
        plans.push(planned(store, application, file).await?);
    }
    for plan in &plans {
        write!(out, "{plan}")?;
    }
    for plan in &plans {
        let event_id = &plan.event.new.event_id;
        if application.mode == Mode::ForReal {
            carry_out(store, plan).await?;
        }
        match (plan.writes().len(), application.mode) {
            (0, _) => writeln!(out, "event {event_id}: nothing to write")?,
            (writes, Mode::DryRun) => writeln!(out, "event {event_id}: {writes} would be written")?,
            (writes, Mode::ForReal) => writeln!(out, "event {event_id}: {writes} written")?,
        }
    }
    Ok(())
}

/// Returns what a file comes to, if it may be applied.
async fn planned(store: &Store, application: &Application<'_>, file: &EventFile) -> anyhow::Result<Plan> {
    let (channel, channels) = (&file.channel, application.channels);
    if !channels.contains(&channel.value.as_str()) {
        let known = if channels.is_empty() { "none".to_owned() } else { channels.join(", ") };
        bail!("{}: no channel {} is configured (line.channels has: {known})", channel.place, channel.value);
    }
    let plan = Plan::new(file, stored(store, file).await?, application.now, application.keys)?;
    names::refuse_broken_messages(file, &plan)?;
    if let Some(FixedChange { attribute, from, to }) = store.refused_change(&plan.event.old, &plan.event.new).await? {
        let shards = file.index_shards.as_ref().filter(|_| attribute == "indexShards");
        let place = shards.map_or(&channel.place, |shards| &shards.place);
        bail!("{place}: can't change any more (from {from} to {to}): a participant is registered");
    }
    Ok(plan)
}

/// Reads what is stored; the stamps of the file one by one, for the index that lists them may lag behind the table.
async fn stored(store: &Store, file: &EventFile) -> anyhow::Result<Stored> {
    let event_id = &file.event_id.value;
    let event = store.stored_event(event_id).await?;
    let named = file.stamps.iter().map(async |entry| {
        let stored = store.stored_master(event_id, &entry.stamp_id).await?;
        Ok::<_, StoreError>((entry.stamp_id.clone(), stored))
    });
    let stamps = stream::iter(named).buffered(AT_ONCE).try_collect().await?;
    let is_other = |id: &StampId| !file.stamps.iter().any(|entry| entry.stamp_id == *id);
    let mut others = store.masters(event_id).await?;
    others.readable.retain(|master| is_other(&master.stamp_id));
    others.unreadable.retain(is_other);
    Ok(Stored { event, stamps, others })
}

async fn carry_out(store: &Store, plan: &Plan) -> anyhow::Result<()> {
    let event_id = &plan.event.new.event_id;
    let mut added = plan.added();
    for write in plan.writes() {
        let stopped = || format!("event {event_id}: stopped at {write}; run it again, it continues from there");
        if write.comes_after_new_places() {
            // Readers get the masters from the index, which may lag behind the table.
            until_listed(store, event_id, &std::mem::take(&mut added)).await.with_context(stopped)?;
        }
        let replaced = match write {
            Write::Event(step) => store.put_event(&step.new, step.old.replaced_by(|old| old.updated_at)).await,
            Write::Stamp(step) => store.put_master(&step.new, step.old.replaced_by(|old| old.updated_at)).await,
        };
        if replaced.with_context(stopped)? == Replaced::LostRace {
            bail!(
                "event {event_id}: {write} was changed by another writer meanwhile and is left as that one wrote it; look \
                 at it (`stamp-rally event show {event_id}`) and run this again"
            );
        }
    }
    Ok(())
}

async fn until_listed(store: &Store, event_id: &EventId, stamps: &[&StampId]) -> anyhow::Result<()> {
    if stamps.is_empty() {
        return Ok(());
    }
    let mut pauses = INDEX_LAG.iter();
    loop {
        let listed = store.masters(event_id).await?;
        let is_listed = |id: &&StampId| listed.find(id).is_some_and(|master| master.is_active);
        if stamps.iter().all(is_listed) {
            return Ok(());
        }
        let Some(pause) = pauses.next() else {
            bail!("index GSI1 doesn't show the new stamps yet");
        };
        tokio::time::sleep(*pause).await;
    }
}
