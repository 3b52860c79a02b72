//! How many pushes of a channel's month are reserved (table `line-event-consumers`): what keeps
//! `line.channels.{name}.monthly_pushes`, however many processes push.
//!
//! A process reserves pushes before it makes them, and gives back what it doesn't need. What a process that dies has
//! reserved stays reserved: then fewer pushes are made than might be, never more.

use aws_sdk_dynamodb::{
    config::{self, http::HttpResponse, retry::RetryConfig},
    error::SdkError,
    operation::update_item::{UpdateItemError, builders::UpdateItemFluentBuilder},
    types::ReturnValuesOnConditionCheckFailure::AllOld,
};

use crate::domain::{ids::ChannelName, time::Month};

use super::{
    Store, StoreError,
    guard::{Guarded, guarded},
    items::{self, Item, number, text},
    keys::{Progress, ProgressKey},
};

/// A month of a channel.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PushMonth {
    /// Which channel.
    pub channel: ChannelName,
    /// Tokyo's.
    pub month: Month,
}

impl PushMonth {
    fn key(&self) -> Item {
        items::progress_key(ProgressKey::Pushes { channel: &self.channel, month: self.month })
    }
}

/// Pushes to be reserved.
#[derive(Debug, Clone, Copy)]
pub struct Reservation<'a> {
    /// Of which month.
    pub of: &'a PushMonth,
    /// How many.
    pub pushes: u32,
    /// How many may be reserved in all.
    pub limit: u32,
    /// Names this reservation: the same one again, because its answer got lost, is made once.
    pub id: &'a str,
}

/// What became of a reservation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Reserved {
    /// They are reserved.
    Done,
    /// None is: no more than this many are left.
    Only(u32),
}

/// What became of pushes that are given back.
#[derive(Debug)]
pub enum GivenBack {
    /// They can be reserved again.
    Done,
    /// It isn't known whether they can be, and must not be repeated: a repetition might give back twice.
    Lost(StoreError),
    /// They are still reserved.
    NotYet(StoreError),
}

impl Store {
    /// Reserves pushes of a month, on condition that no more than the limit are reserved with them: 1 Update.
    #[tracing::instrument(name = "store.reserve_pushes", level = "debug", skip_all)]
    pub async fn reserve_pushes(&self, wanted: &Reservation<'_>) -> Result<Reserved, StoreError> {
        let Some(most) = wanted.limit.checked_sub(wanted.pushes) else { return Ok(Reserved::Only(wanted.limit)) };
        let update = self
            .month(wanted.of)
            .update_expression("ADD #reserved :pushes SET entityType = :type, #reservation = :id")
            .condition_expression(
                "(attribute_not_exists(#reserved) OR #reserved <= :most) \
                 AND (attribute_not_exists(#reservation) OR #reservation <> :id)",
            )
            .expression_attribute_names("#reservation", items::pushes::RESERVATION)
            .expression_attribute_values(":pushes", number(wanted.pushes))
            .expression_attribute_values(":most", number(most))
            .expression_attribute_values(":id", text(wanted.id))
            .expression_attribute_values(":type", text(items::entity_type(Progress::Pushes).unwrap_or_default()))
            .return_values_on_condition_check_failure(AllOld);
        match guarded(Box::pin(update.send()).await)? {
            Guarded::Done => Ok(Reserved::Done),
            Guarded::Refused(Some(item)) if items::pushes::is_reserved_by(&item, wanted.id) => Ok(Reserved::Done),
            Guarded::Refused(Some(item)) => Ok(Reserved::Only(wanted.limit.saturating_sub(self.reserved(&item)?))),
            Guarded::Refused(None) => Err(StoreError::broken("a failed condition gave no item back")),
        }
    }

    /// Gives pushes of a month back that were reserved and not made: 1 Update, which is sent once.
    #[tracing::instrument(name = "store.give_pushes_back", level = "debug", skip_all)]
    pub async fn give_pushes_back(&self, of: &PushMonth, pushes: u32) -> GivenBack {
        let update = self
            .month(of)
            .update_expression("ADD #reserved :back")
            .condition_expression("#reserved >= :pushes")
            .expression_attribute_values(":back", number(-i64::from(pushes)))
            .expression_attribute_values(":pushes", number(pushes));
        let once = config::Builder::new().retry_config(RetryConfig::disabled());
        match Box::pin(update.customize().config_override(once).send()).await {
            Ok(_) => GivenBack::Done,
            Err(failure) if was_not_done(&failure) => GivenBack::NotYet(failure.into()),
            Err(failure) => GivenBack::Lost(failure.into()),
        }
    }

    /// Returns how many pushes of a month are reserved: 1 `GetItem`.
    #[tracing::instrument(name = "store.reserved_pushes", level = "debug", skip_all)]
    pub async fn reserved_pushes(&self, of: &PushMonth) -> Result<u32, StoreError> {
        let found = self.progress_item(of.key()).await?;
        found.map_or(Ok(0), |item| self.reserved(&item))
    }

    fn month(&self, of: &PushMonth) -> UpdateItemFluentBuilder {
        let update = self.client.update_item().table_name(&self.tables.consumers).set_key(Some(of.key()));
        update.expression_attribute_names("#reserved", items::pushes::RESERVED)
    }

    fn reserved(&self, item: &Item) -> Result<u32, StoreError> {
        Ok(items::pushes::reserved(item).inspect_err(|unreadable| self.report(unreadable))?)
    }
}

/// Returns whether a write was certainly not done, and may be done later: DynamoDB has said so itself. A failed condition
/// will not hold later either.
fn was_not_done(failure: &SdkError<UpdateItemError, HttpResponse>) -> bool {
    match failure {
        SdkError::ConstructionFailure(_) => true,
        SdkError::ServiceError(answer) => {
            answer.raw().status().as_u16() < 500 && !answer.err().is_conditional_check_failed_exception()
        }
        _ => false,
    }
}
