//! How what is stored of a setting becomes its next version: the rules that the organisers' API and event files share.

use crate::domain::{
    Malformed,
    event::{Event, EventChange, EventRemains, FixedChange},
    ids::{EventId, StampId},
    stamp::{StampMaster, StampMasterChange, StampMasterRemains},
    time::Timestamp,
};

use super::{
    super::{Store, StoreError},
    stored::Stored,
};

impl Stored<Event, EventRemains> {
    /// Returns what the event becomes by a change: made new, changed one version on, or mended.
    pub fn changed(&self, change: EventChange, event_id: &EventId, now: Timestamp) -> Result<Event, Malformed> {
        match self {
            Self::Absent => change.create(event_id.clone(), now),
            Self::Readable(old) => change.apply(&old.setting, now),
            Self::Unreadable(old) => old.parts.clone().mend(change, event_id.clone(), now),
        }
    }

    fn fixed_change(&self, new: &Event) -> Option<FixedChange> {
        match self {
            Self::Absent => None,
            Self::Readable(old) => {
                FixedChange::between(Some(&old.setting.channel), Some(old.setting.index_shards), new)
            }
            Self::Unreadable(old) => {
                let old = &old.parts.readable;
                FixedChange::between(old.channel.as_ref(), old.index_shards, new)
            }
        }
    }
}

impl Stored<StampMaster, StampMasterRemains> {
    /// Returns what the stamp becomes by a change: made new, changed one version on, or mended.
    pub fn changed(
        &self,
        change: StampMasterChange,
        event_id: &EventId,
        stamp_id: &StampId,
        now: Timestamp,
    ) -> Result<StampMaster, Malformed> {
        let (event_id, stamp_id) = (event_id.clone(), stamp_id.clone());
        match self {
            Self::Absent => change.create(event_id, stamp_id, now),
            Self::Readable(old) => change.apply(&old.setting, now),
            Self::Unreadable(old) => old.parts.clone().mend(change, event_id, stamp_id, now),
        }
    }
}

impl Store {
    /// Returns what `new` would change of the stored event that is fixed, because a participant is registered. Where
    /// nothing that registrations depend on differs, no request is made.
    #[tracing::instrument(name = "store.refused_change", level = "debug", skip_all)]
    pub async fn refused_change(
        &self,
        old: &Stored<Event, EventRemains>,
        new: &Event,
    ) -> Result<Option<FixedChange>, StoreError> {
        match old.fixed_change(new) {
            Some(change) if self.has_participants(new).await? => Ok(Some(change)),
            _ => Ok(None),
        }
    }
}
