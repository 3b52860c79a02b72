//! One item of the consumers' table.

use crate::domain::ids::EventId;
use crate::store::{
    StoreError, backfill, completions,
    completions::PendingCompletion,
    counts,
    fields::Fields,
    items::{Item, Unreadable},
    progress,
};

use super::{Check, Fault, item::of_no_event};

/// The items of this table that the program knows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    Backfill,
    Batch,
    Counts,
    Followed,
    Function,
    Pending,
    Run,
    Shard,
    Worker,
}

impl Kind {
    fn of(item: &Item) -> Option<Self> {
        let fields = Fields::of(item);
        let is_progress = fields.pk().starts_with("CONSUMER#");
        match (fields.pk(), fields.sk().split('#').next().unwrap_or_default()) {
            (_, "SHARD") if is_progress => Some(Self::Shard),
            (_, "WORKER") if is_progress => Some(Self::Worker),
            (_, "BATCH") if is_progress => Some(Self::Batch),
            (_, "RUN") if is_progress => Some(Self::Run),
            (_, "FUNCTION") if is_progress => Some(Self::Function),
            (_, "STREAM") if is_progress => Some(Self::Followed),
            (pk, "HOUR") if pk.starts_with("COUNTS#") => Some(Self::Counts),
            (pk, _) if pk == completions::PARTITION => Some(Self::Pending),
            ("BACKFILL#gsi2", "PROGRESS") => Some(Self::Backfill),
            _ => None,
        }
    }

    /// The `entityType` that its key promises; a worker's sign of life has none.
    fn entity_type(self) -> Option<&'static str> {
        match self {
            Self::Backfill => Some("BACKFILL"),
            Self::Batch => Some("BATCH_PROGRESS"),
            Self::Counts => Some("COUNTS"),
            Self::Followed => Some("CONSUMER_STREAM"),
            Self::Function => Some("FUNCTION_PROGRESS"),
            Self::Pending => Some("PENDING_COMPLETION"),
            Self::Run => Some("RECONCILE_RUN"),
            Self::Shard => Some("SHARD_PROGRESS"),
            Self::Worker => None,
        }
    }

    fn read(self, item: &Item) -> Result<(), Unreadable> {
        match self {
            Self::Backfill => backfill::read_progress(item).map(drop),
            Self::Batch | Self::Followed | Self::Function | Self::Run | Self::Shard | Self::Worker => {
                progress::check(item)
            }
            Self::Counts => counts::read(item).map(drop),
            Self::Pending => PendingCompletion::read(item).map(drop),
        }
    }

    fn remedy(self, item: &Item) -> String {
        let event = event_of(item).map_or_else(|| "EVENT".to_owned(), |event_id| event_id.to_string());
        match self {
            Self::Backfill => "run `table backfill` again: it begins at the beginning".to_owned(),
            Self::Batch | Self::Run => {
                "run `reconcile`: what this item may be about becomes `unknown`; then delete the item".to_owned()
            }
            Self::Followed => "start a consumer, if none runs: it writes the item anew; or delete it".to_owned(),
            Self::Function => "delete the item: a function writes it anew with its next batch".to_owned(),
            Self::Counts => format!("run `stats rebuild {event}`: it removes the item and counts anew"),
            Self::Pending => {
                "delete the item; if its participant is known, put it again with SK `{eventId}#{lineUserId}`, \
                 entityType `PENDING_COMPLETION` and any text as `id`, so that the card is completed"
                    .to_owned()
            }
            Self::Shard => "start a consumer, if none runs: within two leases (`delivery.lease_ms`) the shard's owner \
                            writes it anew, or the shard is begun anew; then run `stats rebuild` for the events that ran"
                .to_owned(),
            Self::Worker => "delete the item: a worker that lives puts it again".to_owned(),
        }
    }
}

/// The event that an item is of, if it is of one.
pub(super) fn event_of(item: &Item) -> Option<EventId> {
    let fields = Fields::of(item);
    match Kind::of(item)? {
        Kind::Counts => fields.pk().strip_prefix("COUNTS#")?.parse().ok(),
        Kind::Pending => fields.sk().split('#').next()?.parse().ok(),
        Kind::Run => fields.parsed("eventId").ok(),
        Kind::Backfill | Kind::Batch | Kind::Followed | Kind::Function | Kind::Shard | Kind::Worker => None,
    }
}

impl Check {
    pub(super) async fn fault_of_progress(&mut self, item: &Item) -> Result<Option<Fault>, StoreError> {
        let Some(kind) = Kind::of(item) else { return Ok(foreign(item)) };
        if let Some(fault) = kind.read(item).err().or_else(|| contradiction(kind, item)) {
            return Ok(Some(Fault::new(&fault.attribute, fault.problem, kind.remedy(item))));
        }
        self.tally.counted(item);
        match event_of(item) {
            Some(event_id) if self.event(&event_id).await?.is_absent() => Ok(Some(of_no_event(&event_id))),
            None if kind == Kind::Counts => Ok(Some(Fault::new("PK", "names no event", "delete the item"))),
            _ => Ok(None),
        }
    }
}

/// Whether a partition is one of this program's. A newer version may keep items of other kinds there.
fn is_ours(pk: &str) -> bool {
    pk == completions::PARTITION || ["BACKFILL#", "CONSUMER#", "COUNTS#"].iter().any(|ours| pk.starts_with(ours))
}

/// This table is this program's alone.
fn foreign(item: &Item) -> Option<Fault> {
    (!is_ours(Fields::of(item).pk())).then(|| {
        Fault::new(
            "PK",
            "is none of this program's, and the table holds nothing else",
            "delete the item, unless a newer version of this program put it: then use that version",
        )
    })
}

/// What its key says and its attributes deny.
fn contradiction(kind: Kind, item: &Item) -> Option<Unreadable> {
    let fields = Fields::of(item);
    let named = fields.sk().split_once('#').map_or("", |(_, name)| name);
    let [found, shard, run] = ["entityType", "shardId", "runId"].map(|name| fields.some_text(name).ok().flatten());
    if found.is_some() && kind.entity_type().is_some_and(|promised| found != Some(promised)) {
        return Some(fields.unreadable("entityType", "is not the one that its key promises"));
    }
    match kind {
        Kind::Shard if shard.is_some_and(|shard| shard != named) => {
            Some(fields.unreadable("shardId", "is not the shard that its key names"))
        }
        Kind::Run if run.is_some_and(|run| run != named) => {
            Some(fields.unreadable("runId", "is not the run that its key names"))
        }
        _ => None,
    }
}
