//! Makes the tables, or completes what is there.

use std::time::Duration;

use aws_sdk_dynamodb::{
    Client,
    config::http::HttpResponse,
    error::{BuildError, ProvideErrorMetadata, SdkError},
    types::{AttributeDefinition, BillingMode, GlobalSecondaryIndexUpdate, ProvisionedThroughput},
};

use super::{
    TableNames, TableReport,
    definition::{self, Definition, Index},
    difference::{self, Difference, Found, Remedy},
    look_at,
};
use crate::store::StoreError;

/// Between two looks at a table that is not ready. An index over many items is filled for hours.
const FIRST_PAUSE: Duration = Duration::from_millis(100);
const LONGEST_PAUSE: Duration = Duration::from_secs(5);

/// How often DynamoDB may refuse before it is believed: another process that does the same makes it refuse too.
const MOST_REFUSALS: u32 = 5;

/// Makes both tables, or completes them: stream, TTL and indexes that lack, one change at a time. Returns when all is
/// ACTIVE, with the differences that only a person can put right.
///
/// Each step follows from a fresh look at the table, so it may be interrupted, repeated, and run twice at once. What is
/// there is never changed or deleted. A table with other keys is left alone.
pub async fn create(client: &Client, names: &TableNames) -> Result<Vec<TableReport>, StoreError> {
    let mut reports = Vec::new();
    for (table, definition) in names.with_definitions() {
        let differences = Target { client, table, definition }.complete().await?;
        reports.push(TableReport { table: table.to_owned(), differences });
    }
    Ok(reports)
}

/// A table that is made, or completed.
struct Target<'a> {
    client: &'a Client,
    table: &'a str,
    definition: &'a Definition,
}

/// What to do about a table with these differences.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Step<'a> {
    Change(&'a Difference),
    Done,
    Wait(&'a Difference),
}

/// Returns what to do next. A table that is busy takes no change; one whose index is being filled takes a stream, but
/// no second index, so what can be done is done first.
pub(super) fn next_step(differences: &[Difference]) -> Step<'_> {
    let waits_for = |what: fn(&Difference) -> bool| differences.iter().find(|d| d.remedy() == Remedy::Wait && what(d));
    if let Some(busy) = waits_for(|d| matches!(d, Difference::NotReady(_))) {
        return Step::Wait(busy);
    }
    let lack = differences.iter().find(|d| d.remedy() == Remedy::Create);
    let filling = waits_for(|d| matches!(d, Difference::IndexNotReady(..)));
    match (lack, filling) {
        (Some(Difference::IndexMissing(_)) | None, Some(filling)) => Step::Wait(filling),
        (Some(lack), _) => Step::Change(lack),
        (None, None) => Step::Done,
    }
}

enum Refusal {
    Final(StoreError),
    /// Another process may just be doing the same: look again.
    MaybeDone(StoreError),
}

impl<E> From<SdkError<E, HttpResponse>> for Refusal
where
    E: ProvideErrorMetadata + std::error::Error + Send + Sync + 'static,
{
    fn from(failure: SdkError<E, HttpResponse>) -> Self {
        let code = failure.as_service_error().and_then(ProvideErrorMetadata::code);
        // "Table already exists", "another change is running", "has a stream already" (a ValidationException).
        if matches!(code, Some("LimitExceededException" | "ResourceInUseException" | "ValidationException")) {
            Self::MaybeDone(failure.into())
        } else {
            Self::Final(failure.into())
        }
    }
}

/// A definition of ours that the SDK can't even put together.
impl From<BuildError> for Refusal {
    fn from(fault: BuildError) -> Self {
        Self::Final(StoreError::broken(fault))
    }
}

impl Target<'_> {
    async fn complete(&self) -> Result<Vec<Difference>, StoreError> {
        let mut pause = FIRST_PAUSE;
        let mut refusals = 0;
        loop {
            let found = look_at(self.client, self.table).await?;
            let differences = difference::between(self.definition, found.as_ref());
            match next_step(&differences) {
                Step::Done => return Ok(differences),
                Step::Wait(what) => {
                    tracing::info!(store.table = self.table, table.difference = %what, "waiting for the table");
                }
                Step::Change(lack) => {
                    tracing::info!(store.table = self.table, table.difference = %lack, "completing the table");
                    match self.change(found.as_ref(), lack).await {
                        Ok(()) => {
                            (pause, refusals) = (FIRST_PAUSE, 0);
                            continue;
                        }
                        Err(Refusal::Final(error)) => return Err(error),
                        Err(Refusal::MaybeDone(error)) if refusals == MOST_REFUSALS => return Err(error),
                        Err(Refusal::MaybeDone(_)) => refusals += 1,
                    }
                }
            }
            tokio::time::sleep(pause).await;
            pause = LONGEST_PAUSE.min(pause * 2);
        }
    }

    async fn change(&self, found: Option<&Found>, lack: &Difference) -> Result<(), Refusal> {
        let Self { client, table, definition } = *self;
        match lack {
            Difference::TableMissing => self.create().await?,
            Difference::StreamOff => {
                let stream = definition.stream.as_ref().map(definition::stream_of).transpose()?;
                client.update_table().table_name(table).set_stream_specification(stream).send().await?;
            }
            Difference::TtlOff(wanted) => {
                let ttl = definition::ttl_on(wanted)?;
                client.update_time_to_live().table_name(table).time_to_live_specification(ttl).send().await?;
            }
            Difference::IndexMissing(index) => {
                if let Some(index) = definition.indexes.iter().find(|wanted| wanted.name == index) {
                    self.add(index, found).await?;
                }
            }
            // The others are never asked for: their remedy is another one.
            _ => {}
        }
        Ok(())
    }

    async fn create(&self) -> Result<(), Refusal> {
        let Self { client, table, definition } = *self;
        let indexes = definition.indexes.iter().map(Index::with_table).collect::<Result<Vec<_>, _>>()?;
        let create = client
            .create_table()
            .table_name(table)
            .billing_mode(BillingMode::PayPerRequest)
            .set_attribute_definitions(Some(definition.attributes()?))
            .set_key_schema(Some(definition.keys.schema()?))
            .set_global_secondary_indexes(Some(indexes).filter(|indexes| !indexes.is_empty()))
            .set_stream_specification(definition.stream.as_ref().map(definition::stream_of).transpose()?);
        Ok(create.send().await.map(drop)?)
    }

    async fn add(&self, index: &Index, found: Option<&Found>) -> Result<(), Refusal> {
        let create = index.afterwards(found.and_then(capacity_of))?;
        let update = GlobalSecondaryIndexUpdate::builder().create(create).build();
        let request = self.client.update_table().table_name(self.table).global_secondary_index_updates(update);
        let request = request.set_attribute_definitions(Some(attributes_with(index, found)?));
        Ok(request.send().await.map(drop)?)
    }
}

/// Returns the attributes of all keys. Those in use stay in the list: AWS asks only for the new index's, but an
/// emulator (moto) forgets all others.
fn attributes_with(index: &Index, found: Option<&Found>) -> Result<Vec<AttributeDefinition>, BuildError> {
    let mut attributes = found.map(|found| found.table.attribute_definitions().to_vec()).unwrap_or_default();
    for attribute in index.keys.attributes()? {
        if !attributes.iter().any(|there| there.attribute_name() == attribute.attribute_name()) {
            attributes.push(attribute);
        }
    }
    Ok(attributes)
}

/// Returns the capacity of a table that is billed by it: its indexes must say theirs, and an index with less than its
/// table would throttle it.
fn capacity_of(found: &Found) -> Option<ProvisionedThroughput> {
    let capacity = found.table.provisioned_throughput()?;
    let (read, write) = (capacity.read_capacity_units()?, capacity.write_capacity_units()?);
    let builder = ProvisionedThroughput::builder().read_capacity_units(read).write_capacity_units(write);
    (read > 0 && write > 0).then(|| builder.build().ok()).flatten()
}
