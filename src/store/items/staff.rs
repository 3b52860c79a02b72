//! Staff and screens of an event.

use crate::domain::staff::Staff;

use super::{
    super::{keys::ItemKey, unreadable::Unreadable},
    Entity, Item,
    attributes::{Attributes, Writer},
};

impl Entity for Staff {
    const TYPE: &'static str = "STAFF";

    fn key(&self) -> ItemKey {
        ItemKey::Staff { event_id: self.event_id.clone(), staff_id: self.staff_id.clone() }
    }

    fn read(item: &mut Attributes) -> Result<Self, Unreadable> {
        Ok(Self {
            event_id: item.required("eventId")?,
            staff_id: item.required("staffId")?,
            name: item.required("name")?,
            role: item.value("role")?.ok_or_else(|| item.missing("role"))?,
            stamps: item.value("stamps")?.ok_or_else(|| item.missing("stamps"))?,
            sha256: item.required("sha256")?,
            created_at: item.required("createdAt")?,
            expires_at: item.optional("expiresAt")?,
            revoked_at: item.optional("revokedAt")?,
        })
    }
}

pub(in super::super) fn staff(staff: &Staff) -> Item {
    let stamps: Vec<String> = staff.stamps.clone().into();
    Writer::of(&staff.key(), Staff::TYPE)
        .text("eventId", &staff.event_id)
        .text("staffId", &staff.staff_id)
        .text("name", &staff.name)
        .text("role", staff.role)
        .json("stamps", &stamps.into())
        .text("sha256", staff.sha256)
        .text("createdAt", staff.created_at)
        .some("expiresAt", staff.expires_at, Writer::text)
        .some("revokedAt", staff.revoked_at, Writer::text)
        .done()
}
