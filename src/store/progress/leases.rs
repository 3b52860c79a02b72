//! Leases: taking one, and what only its owner writes. Every write is conditional on the fencing token.

use std::collections::HashMap;

use aws_sdk_dynamodb::{
    operation::transact_write_items::TransactWriteItemsError,
    types::{ReturnValuesOnConditionCheckFailure::AllOld, TransactWriteItem, Update},
};

use crate::domain::time::Timestamp;
use crate::store::{
    StoreError,
    guard::{Guarded, guarded},
    ids::WorkerId,
    items::{self, Item, number, text},
    keys::Progress,
    state::{AfterWrite, Lease, Saved, ShardProgress, ShardState},
};

use super::Consumers;

/// The condition of every write of a lease's owner.
const OWNS: &str = "#owner = :me AND fence = :fence";

/// What every write of a lease's owner does to the heartbeat.
const HEARTBEAT: &str = "beat = beat + :one";

/// What the owner of a shard writes about it.
#[derive(Debug, Clone, Copy)]
pub struct Save<'a> {
    /// Its lease.
    pub lease: &'a Lease,
    /// How far it has read.
    pub reached: &'a ShardState,
    /// Whether it keeps the lease.
    pub after: AfterWrite,
    /// The time.
    pub now: Timestamp,
}

impl Consumers {
    /// Takes the lease of a shard, on condition that nothing happened to it since `seen` was read: `None` if
    /// another worker was faster. An attempt of ours whose answer got lost is recognised.
    #[tracing::instrument(name = "store.progress.take", level = "debug", skip_all)]
    pub async fn take(
        &self,
        seen: &ShardProgress,
        worker: &WorkerId,
        now: Timestamp,
    ) -> Result<Option<ShardProgress>, StoreError> {
        let (fencing_token, heartbeat) = (seen.fencing_token + 1, seen.heartbeat.wrapping_add(1));
        let update = self
            .update(self.shard_key(&seen.shard))
            .update_expression("SET #owner = :me, fence = :next, beat = :beat, updatedAt = :now")
            .condition_expression("fence = :fence AND beat = :seen")
            .expression_attribute_names("#owner", "owner")
            .expression_attribute_values(":me", text(worker.as_str()))
            .expression_attribute_values(":next", number(fencing_token))
            .expression_attribute_values(":beat", number(heartbeat))
            .expression_attribute_values(":fence", number(seen.fencing_token))
            .expression_attribute_values(":seen", number(seen.heartbeat))
            .expression_attribute_values(":now", text(now.to_string()))
            .return_values_on_condition_check_failure(AllOld);
        Ok(match guarded(update.send().await)? {
            // Every write changes the heartbeat, so the rest of the item is as it was seen.
            Guarded::Done => Some(ShardProgress {
                owner: Some(worker.clone()),
                fencing_token,
                heartbeat,
                updated_at: now,
                ..seen.clone()
            }),
            Guarded::Refused(found) => {
                // One that can't be read any more isn't ours: the next look at the board finds it damaged.
                let found = found.as_ref().and_then(|found| items::shard(found).ok());
                found.filter(|item| item.owner.as_ref() == Some(worker) && item.fencing_token == fencing_token)
            }
        })
    }

    /// Writes how far a shard was read, and in the same transaction what is `added` to it: at most 99 writes, each of
    /// which may be repeated. This renews the lease too. One `UpdateItem`, or one `TransactWriteItems`.
    #[tracing::instrument(name = "store.progress.save", level = "debug", skip_all)]
    pub async fn save(&self, save: &Save<'_>, added: &[TransactWriteItem]) -> Result<Saved, StoreError> {
        let written = OwnerWrite::of(save);
        match self.write(&written, added).await {
            Err(StoreError::Broken(_)) => self.write(&written.restarting_the_heartbeat(), added).await,
            saved => saved,
        }
    }

    async fn write(&self, written: &OwnerWrite<'_>, added: &[TransactWriteItem]) -> Result<Saved, StoreError> {
        if added.is_empty() { self.write_alone(written).await } else { self.write_with(written, added).await }
    }

    async fn write_alone(&self, written: &OwnerWrite<'_>) -> Result<Saved, StoreError> {
        let update = self.update(self.shard_key(&written.save.lease.shard)).update_expression(&written.expression);
        let update = update.condition_expression(OWNS).set_expression_attribute_names(Some(owner_name()));
        let update = update.set_expression_attribute_values(Some(written.values.clone()));
        Ok(match guarded(update.return_values_on_condition_check_failure(AllOld).send().await)? {
            Guarded::Done => Saved::Done,
            Guarded::Refused(found) => written.refused(found.as_ref()),
        })
    }

    async fn write_with(&self, written: &OwnerWrite<'_>, added: &[TransactWriteItem]) -> Result<Saved, StoreError> {
        let update = TransactWriteItem::builder().update(self.transacted(written)?).build();
        let actions = std::iter::once(update).chain(added.iter().cloned()).collect();
        let answer = self.store.client.transact_write_items().set_transact_items(Some(actions)).send().await;
        let Err(failure) = answer else { return Ok(Saved::Done) };
        let Some(TransactWriteItemsError::TransactionCanceledException(cancelled)) = failure.as_service_error() else {
            return Err(failure.into());
        };
        match cancelled.cancellation_reasons().first() {
            Some(reason) if reason.code() == Some("ConditionalCheckFailed") => Ok(written.refused(reason.item())),
            // Nothing can be added to the heartbeat: it isn't a number.
            Some(reason) if reason.code() == Some("ValidationError") => Err(StoreError::Broken(failure.into())),
            // A conflict, a throttle: nothing was written, and it may be repeated.
            _ => Err(StoreError::Unavailable(failure.into())),
        }
    }

    fn transacted(&self, written: &OwnerWrite<'_>) -> Result<Update, StoreError> {
        let update = Update::builder()
            .table_name(&self.store.tables.consumers)
            .set_key(Some(self.shard_key(&written.save.lease.shard)))
            .update_expression(&written.expression)
            .condition_expression(OWNS)
            .set_expression_attribute_names(Some(owner_name()))
            .set_expression_attribute_values(Some(written.values.clone()))
            .return_values_on_condition_check_failure(AllOld);
        update.build().map_err(StoreError::broken)
    }
}

/// A write of a lease's owner, as an Update says it.
struct OwnerWrite<'a> {
    save: Save<'a>,
    expression: String,
    values: Item,
}

impl<'a> OwnerWrite<'a> {
    /// Writes the whole item, so that the owner mends what others damaged in it.
    fn of(save: &Save<'a>) -> Self {
        let Save { lease, reached, after, now } = *save;
        let (mut set, mut removed, mut values) = items::checkpoint(reached);
        match &lease.parent {
            Some(parent) => {
                set.push_str(", parent = :parent");
                values.insert(":parent".to_owned(), text(parent.as_str()));
            }
            None => removed.push("parent"),
        }
        removed.extend((after == AfterWrite::Release).then_some("#owner"));
        let remove = if removed.is_empty() { String::new() } else { format!(" REMOVE {}", removed.join(", ")) };
        values.extend([
            (":one".to_owned(), number(1)),
            (":me".to_owned(), text(lease.owner.as_str())),
            (":fence".to_owned(), number(lease.fencing_token)),
            (":now".to_owned(), text(now.to_string())),
            (":shard".to_owned(), text(lease.shard.as_str())),
        ]);
        values.extend(items::entity_type(Progress::Shard).map(|name| (":type".to_owned(), text(name))));
        let expression =
            format!("SET {HEARTBEAT}, updatedAt = :now, shardId = :shard, entityType = :type{set}{remove}");
        Self { save: *save, expression, values }
    }

    /// Does the same where nothing can be added to the heartbeat, because it is missing or isn't a number: it begins
    /// anew at the time, which is above every count of writes.
    fn restarting_the_heartbeat(mut self) -> Self {
        self.expression = self.expression.replace(HEARTBEAT, "beat = :one");
        self.values.insert(":one".to_owned(), number(u64::try_from(self.save.now.as_millis()).unwrap_or_default()));
        self
    }

    /// Returns what it means that the write was refused.
    fn refused(&self, found: Option<&Item>) -> Saved {
        // An item that can't be read is not ours any more.
        let found = found.and_then(|found| items::shard(found).ok());
        // Our own release, whose answer got lost, has taken the owner away already.
        let is_ours =
            found.is_some_and(|item| item.owner.is_none() && item.fencing_token == self.save.lease.fencing_token);
        if is_ours && self.save.after == AfterWrite::Release { Saved::Done } else { Saved::LeaseLost }
    }
}

/// Returns the placeholder of `owner`, which is one of DynamoDB's reserved words.
fn owner_name() -> HashMap<String, String> {
    HashMap::from([("#owner".to_owned(), "owner".to_owned())])
}
