//! One item of the consumers' table.

use crate::domain::ids::EventId;
use crate::store::{
    StoreError,
    items::{self, Fields, Item, PendingCompletion, backfill::read_progress},
    keys::{self, Progress},
    unreadable::Unreadable,
};

use super::{
    Check,
    finding::{Fault, of_no_event},
    item::Settings,
};

/// Returns the kind of an item that this program knows.
fn kind_of(item: &Item) -> Option<Progress> {
    let fields = Fields::of(item);
    Progress::parse(fields.pk(), fields.sk())
}

fn read(kind: Progress, item: &Item) -> Result<(), Unreadable> {
    match kind {
        Progress::Backfill => read_progress(item).map(drop),
        Progress::Counts => items::read_counts(item).map(drop),
        Progress::Pending => PendingCompletion::read(item).map(drop),
        Progress::Batch
        | Progress::Followed
        | Progress::Function
        | Progress::Run
        | Progress::Shard
        | Progress::Worker => items::check(item),
    }
}

fn remedy(kind: Progress, item: &Item) -> String {
    let event = event_of(item).map_or_else(|| "EVENT".to_owned(), |event_id| event_id.to_string());
    match kind {
        Progress::Backfill => "run `table backfill` again: it begins at the beginning".to_owned(),
        Progress::Batch | Progress::Run => {
            "run `reconcile`: what this item may be about becomes `unknown`; then delete the item".to_owned()
        }
        Progress::Followed => "start a consumer, if none runs: it writes the item anew; or delete it".to_owned(),
        Progress::Function => "delete the item: a function writes it anew with its next batch".to_owned(),
        Progress::Counts => format!("run `stats rebuild {event}`: it removes the item and counts anew"),
        Progress::Pending => {
            "delete the item; if its participant is known, put it again with SK `{eventId}#{lineUserId}`, \
             entityType `PENDING_COMPLETION` and any text as `id`, so that the card is completed"
                .to_owned()
        }
        Progress::Shard => "start a consumer, if none runs: within two leases (`delivery.lease_ms`) the shard's owner \
                        writes it anew, or the shard is begun anew; then run `stats rebuild` for the events that ran"
            .to_owned(),
        Progress::Worker => "delete the item: a worker that lives puts it again".to_owned(),
    }
}
/// Returns the event that an item is of, if it is of one.
pub(super) fn event_of(item: &Item) -> Option<EventId> {
    let (fields, kind) = (Fields::of(item), kind_of(item)?);
    let named = || (kind == Progress::Run).then(|| fields.parsed("eventId").ok()).flatten();
    kind.event_of(fields.pk(), fields.sk()).or_else(named)
}

impl Check {
    pub(super) async fn fault_of_progress(&mut self, item: &Item) -> Result<Option<Fault>, StoreError> {
        let Some(kind) = kind_of(item) else { return Ok(foreign(item)) };
        if let Some(fault) = read(kind, item).err().or_else(|| contradiction(kind, item)) {
            return Ok(Some(Fault::new(&fault.attribute, fault.problem, remedy(kind, item))));
        }
        self.tally.counted(item);
        match event_of(item) {
            Some(event_id) if matches!(self.event(&event_id).await?, Settings::Absent) => {
                Ok(Some(of_no_event(&event_id)))
            }
            None if kind == Progress::Counts => Ok(Some(Fault::new("PK", "names no event", "delete the item"))),
            _ => Ok(None),
        }
    }
}

/// This table is this program's alone.
fn foreign(item: &Item) -> Option<Fault> {
    (!keys::is_progress_partition(Fields::of(item).pk())).then(|| {
        Fault::new(
            "PK",
            "is none of this program's, and the table holds nothing else",
            "delete the item, unless a newer version of this program put it: then use that version",
        )
    })
}

/// Returns what its key says and its attributes deny.
fn contradiction(kind: Progress, item: &Item) -> Option<Unreadable> {
    let fields = Fields::of(item);
    let named = fields.sk().split_once('#').map_or("", |(_, name)| name);
    let [found, shard, run] = ["entityType", "shardId", "runId"].map(|name| fields.some_text(name).ok().flatten());
    if found.is_some() && items::entity_type(kind).is_some_and(|promised| found != Some(promised)) {
        return Some(fields.unreadable("entityType", "is not the one that its key promises"));
    }
    match kind {
        Progress::Shard if shard.is_some_and(|shard| shard != named) => {
            Some(fields.unreadable("shardId", "is not the shard that its key names"))
        }
        Progress::Run if run.is_some_and(|run| run != named) => {
            Some(fields.unreadable("runId", "is not the run that its key names"))
        }
        _ => None,
    }
}
