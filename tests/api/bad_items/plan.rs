//! What a case decides: which item, what is wrong with it, when it is planted, and how it is mended.

use proptest::{prelude::*, sample::select};

use super::attributes::{Attribute, Entity, Form};

/// One case.
#[derive(Clone, Debug)]
pub struct Plan {
    pub target: Target,
    pub damage: Damage,
    pub moment: Moment,
    pub mend: Mend,
    /// Whether worker and server's caches begin anew when the item is there.
    pub restart: bool,
}

/// Which item, by number.
#[derive(Clone, Copy, Debug)]
pub struct Target {
    pub entity: Entity,
    pub rally: usize,
    pub person: usize,
    /// 0 or 1: the stamps that each participant has when the item is planted.
    pub stamp: usize,
    pub place: Place,
}

/// Where it is put.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Place {
    /// Over an item of the rally.
    Instead,
    /// Where there was none.
    New,
}

/// The kinds of damage.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    Elsewhere,
    Indexed,
    Malformed,
    Missing,
    Mistyped,
    Newer,
    NewerState,
    Type,
}

/// What is wrong with an item.
#[derive(Clone, Copy, Debug)]
pub enum Damage {
    /// An attribute names another item than the key.
    Elsewhere(Attribute),
    /// A foreign item, at a key of its own or of ours.
    Foreign(Spot),
    /// Its index keys.
    Indexed(Astray),
    /// A value that breaks the rule of its attribute, one of several.
    Malformed(Attribute, usize),
    Missing(Attribute),
    Mistyped(Attribute, Type),
    /// Attributes that a later version might add.
    Newer,
    /// A state of the notice that a later version might add.
    NewerState,
    /// Its `entityType`.
    Type(Named),
}

/// The types of DynamoDB.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Type {
    Binary,
    Bool,
    List,
    Map,
    Null,
    Number,
    Set,
    String,
}

/// What an `entityType` says that is wrong.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Named {
    Another,
    Missing,
    Mistyped,
    Unknown,
}

/// Index keys that are wrong.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Astray {
    /// Among the events.
    Events,
    /// Among the holders of another rally's stamp.
    Holders,
    /// Among another rally's stamps.
    Masters,
    /// In its own list, at a place that no list is read to.
    OutOfOrder,
    /// Among another rally's held notices.
    Parked,
    /// In no list.
    Unlisted,
    /// Among another rally's participants.
    Users,
}

/// Where a foreign item is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Spot {
    /// Among a participant's facts, with a sort key of its own.
    BesideFacts,
    /// At a key of its own, in one of the program's lists.
    In(Astray),
    /// At the key of an event that there isn't.
    OfAnEvent,
    /// At the key of a stamp that a participant doesn't have.
    OfAStamp,
}

/// When it is planted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Moment {
    /// Notices are held because their channel can't send.
    NoticesAreHeld,
    /// Notices are on their way.
    OnTheWay,
    /// All is sent.
    Quiet,
}

/// How it is mended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mend {
    /// Only what is wrong is written, as a console does it.
    Attributes,
    /// The organiser's `PUT`.
    Put,
    Remove,
    /// The item is written whole as it was, as a script does it.
    Whole,
}

/// Whether the item that comes of it can be read, and where it may be met.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Harm {
    /// It can be read, and a list that it doesn't belong to has it.
    Astray,
    /// The same until its notice is sent: the mark takes the entry away.
    AstrayUntilSent,
    /// It is refused or passed over wherever it is met.
    Unreadable,
    /// It can be read and is met nowhere that it doesn't belong to.
    Whole,
}

/// What can't be as it would be without the item.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Concern {
    Nothing,
    /// One participant, in one rally.
    Person(usize, usize),
    Rally(usize),
    /// One stamp of a rally.
    Stamp(usize, usize),
}

impl Kind {
    pub const ALL: [Self; 8] = [
        Self::Elsewhere,
        Self::Indexed,
        Self::Malformed,
        Self::Missing,
        Self::Mistyped,
        Self::Newer,
        Self::NewerState,
        Self::Type,
    ];
}

/// Plans with such an item and such a damage; `None` where there is no such thing.
pub fn plans(entity: Entity, kind: Kind) -> Option<BoxedStrategy<Plan>> {
    let damages = damages(entity, kind);
    if damages.is_empty() {
        return None;
    }
    let target = (0..3usize, 0..3usize, 0..2usize, select(vec![Place::Instead, Place::New]));
    let moment = select(vec![Moment::NoticesAreHeld, Moment::OnTheWay, Moment::Quiet]);
    let mend = select(vec![Mend::Attributes, Mend::Put, Mend::Remove, Mend::Whole]);
    let all = (target, select(damages), moment, mend, any::<bool>());
    let plan = all.prop_map(move |((rally, person, stamp, place), damage, moment, mend, restart)| {
        let place = if entity == Entity::Foreign { Place::New } else { place };
        let target = Target { entity, rally, person, stamp, place };
        Plan { target, damage, moment, mend, restart }.with_a_mend_that_fits()
    });
    Some(plan.boxed())
}

fn damages(entity: Entity, kind: Kind) -> Vec<Damage> {
    let attributes = entity.attributes().iter().copied();
    match kind {
        _ if entity == Entity::Foreign => match kind {
            Kind::Elsewhere => [Spot::OfAnEvent, Spot::OfAStamp, Spot::BesideFacts].map(Damage::Foreign).into(),
            Kind::Indexed => Astray::LISTS.map(|list| Damage::Foreign(Spot::In(list))).into(),
            _ => Vec::new(),
        },
        Kind::Elsewhere => attributes.filter(|one| is_of_the_key(entity, one.name)).map(Damage::Elsewhere).collect(),
        Kind::Indexed => indexed(entity).into_iter().map(Damage::Indexed).collect(),
        Kind::Malformed => {
            let ruled = attributes.filter(|one| !matches!(one.form, Form::Flag | Form::Message | Form::Text));
            ruled.flat_map(|one| [0, 1, 2].map(|which| Damage::Malformed(one, which))).collect()
        }
        Kind::Missing => attributes.filter(|one| !one.means_something_by_its_absence()).map(Damage::Missing).collect(),
        Kind::Mistyped => attributes.flat_map(mistyped).collect(),
        Kind::Newer => vec![Damage::Newer],
        Kind::NewerState if entity.is_fact() && entity != Entity::User => vec![Damage::NewerState],
        Kind::NewerState => Vec::new(),
        Kind::Type => [Named::Another, Named::Missing, Named::Mistyped, Named::Unknown].map(Damage::Type).into(),
    }
}

/// Whether the key repeats the attribute.
fn is_of_the_key(entity: Entity, name: &str) -> bool {
    match entity {
        Entity::Friendship => name != "following",
        Entity::Foreign => false,
        _ => matches!(name, "eventId" | "lineUserId" | "number" | "stampId"),
    }
}

fn indexed(entity: Entity) -> Vec<Astray> {
    let own = match entity {
        Entity::Event | Entity::Master | Entity::User => vec![Astray::OutOfOrder, Astray::Unlisted],
        Entity::UserStamp => vec![Astray::Unlisted],
        _ => vec![],
    };
    let strange = Astray::LISTS.into_iter().filter(|list| entity != Entity::Event || *list != Astray::Events);
    own.into_iter().chain(strange).collect()
}

fn mistyped(one: Attribute) -> Vec<Damage> {
    let right = match one.form {
        Form::Flag => Type::Bool,
        Form::Message => Type::Map,
        Form::Number => Type::Number,
        Form::Numbers => Type::List,
        Form::Id | Form::Ruled | Form::Text | Form::Time | Form::UserId => Type::String,
    };
    // `NULL` is how some write that there is none.
    let wrong = Type::ALL.into_iter().filter(|wrong| *wrong != right && (one.required || *wrong != Type::Null));
    wrong.map(|wrong| Damage::Mistyped(one, wrong)).collect()
}

impl Type {
    pub const ALL: [Self; 8] =
        [Self::Binary, Self::Bool, Self::List, Self::Map, Self::Null, Self::Number, Self::Set, Self::String];
}

impl Astray {
    const LISTS: [Self; 5] = [Self::Events, Self::Holders, Self::Masters, Self::Parked, Self::Users];
}

impl Plan {
    /// What can't be mended in a way is mended attribute by attribute.
    fn with_a_mend_that_fits(self) -> Self {
        let Self { target: Target { entity, place, .. }, damage, mend, .. } = self;
        let is_unreadable = damage.may_make_unreadable();
        let fits = match mend {
            Mend::Attributes => true,
            Mend::Put => matches!(entity, Entity::Event | Entity::Master),
            // A rally or a fact that can be read isn't removed.
            Mend::Remove if entity == Entity::Foreign => true,
            Mend::Remove => {
                let may_be_whole = matches!(damage, Damage::NewerState);
                is_unreadable && !may_be_whole && (entity, place) != (Entity::Event, Place::Instead)
            }
            // What could be read was worked on: an older copy of it would undo that.
            Mend::Whole => is_unreadable && entity != Entity::Foreign,
        };
        let instead = if entity == Entity::Foreign { Mend::Remove } else { Mend::Attributes };
        Self { mend: if fits { mend } else { instead }, ..self }
    }

    /// What the item can change at most.
    pub fn concern(&self) -> Concern {
        let Target { entity, rally, person, stamp, place } = self.target;
        let is_as_before = place == Place::Instead && matches!(self.damage, Damage::Newer);
        match (entity, place) {
            // Only one participant of all has such a fact before the item is planted.
            (Entity::Completed | Entity::Resend, _) => Concern::Person(rally, person),
            _ if is_as_before => Concern::Nothing,
            (Entity::Event | Entity::User, Place::New) | (Entity::Friendship, _) => Concern::Nothing,
            (Entity::Foreign, _) => match self.damage {
                Damage::Foreign(Spot::OfAStamp) => Concern::Person(rally, person),
                _ => Concern::Nothing,
            },
            (Entity::Event, _) => Concern::Rally(rally),
            (Entity::Master, Place::Instead) => Concern::Stamp(rally, stamp),
            (Entity::Master, Place::New) => Concern::Stamp(rally, NEW_STAMP),
            (Entity::User | Entity::UserStamp, _) => Concern::Person(rally, person),
        }
    }
}

/// Stands for the stamp that only the planted item names.
pub const NEW_STAMP: usize = 9;

impl Damage {
    fn may_make_unreadable(self) -> bool {
        match self {
            Self::Elsewhere(_)
            | Self::Foreign(_)
            | Self::Malformed(..)
            | Self::Mistyped(..)
            | Self::NewerState
            | Self::Type(_) => true,
            Self::Missing(attribute) => attribute.required,
            Self::Indexed(_) | Self::Newer => false,
        }
    }

    /// What it makes of an item whose `flexMessageSent` is this.
    pub fn harm(self, sent: Option<bool>) -> Harm {
        match self {
            Self::Foreign(Spot::BesideFacts) | Self::Indexed(Astray::OutOfOrder | Astray::Unlisted) => Harm::Whole,
            Self::Indexed(astray) if sent == Some(false) && astray != Astray::Holders => Harm::AstrayUntilSent,
            Self::Indexed(_) => Harm::Astray,
            // What the state was doesn't matter any more.
            Self::NewerState if sent == Some(true) => Harm::Whole,
            _ if self.may_make_unreadable() => Harm::Unreadable,
            _ => Harm::Whole,
        }
    }
}
