//! Which stream a consumer follows: one item (`CONSUMER#{name}`, `STREAM`) for all its workers, so that a change of the
//! stream is reported by one of them, and also when none ran meanwhile.

use aws_sdk_dynamodb::types::ReturnValuesOnConditionCheckFailure::AllOld;

use crate::domain::time::Timestamp;
use crate::store::{
    Store, StoreError,
    guard::{Guarded, guarded},
    items::{self, text},
    keys::ProgressKey,
};

/// What a consumer followed until now.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Followed {
    /// Another stream: what happened between the two is in neither.
    Other {
        /// Its ARN.
        arn: String,
    },
    /// None: this is the first that the consumer follows.
    Nothing,
    /// This one, or a worker beside this one has reported the change.
    This,
}

impl Store {
    /// Notes that the consumer `name` follows the stream `arn` from now on, and returns what it followed until now. One
    /// consistent `GetItem`, and one conditional `PutItem` where that was another stream. Of workers that do this at
    /// once, one gets [`Followed::Other`].
    #[tracing::instrument(name = "store.follow", level = "debug", skip_all)]
    pub async fn follow(&self, name: &str, arn: &str, now: Timestamp) -> Result<Followed, StoreError> {
        let before = self.followed(name).await?;
        if before.as_deref() == Some(arn) {
            return Ok(Followed::This);
        }
        let item = items::followed(name, arn, now);
        let put = self.client.put_item().table_name(&self.tables.consumers).set_item(Some(item.clone()));
        let put = match &before {
            // One that can't be read is replaced.
            None => put
                .condition_expression("attribute_not_exists(PK) OR NOT attribute_type(streamArn, :text)")
                .expression_attribute_values(":text", text("S")),
            Some(before) => {
                put.condition_expression("streamArn = :before").expression_attribute_values(":before", text(before))
            }
        };
        let is_ours = match guarded(put.return_values_on_condition_check_failure(AllOld).send().await)? {
            Guarded::Done => true,
            // The SDK repeats a write whose answer was lost.
            Guarded::Refused(found) => found.as_ref() == Some(&item),
        };
        Ok(match before {
            _ if !is_ours => Followed::This,
            Some(arn) => Followed::Other { arn },
            None => Followed::Nothing,
        })
    }

    /// Returns the ARN of the stream that the workers of the consumer `name` follow, or followed last; `None` also
    /// where that can't be read, which is reported. One consistent `GetItem`.
    #[tracing::instrument(name = "store.followed", level = "debug", skip_all)]
    pub async fn followed(&self, name: &str) -> Result<Option<String>, StoreError> {
        let found = self.progress_item(items::progress_key(ProgressKey::Followed { consumer: name })).await?;
        Ok(found.as_ref().and_then(|item| {
            items::followed_arn(item).inspect_err(|unreadable| self.report(unreadable)).ok().map(str::to_owned)
        }))
    }
}
