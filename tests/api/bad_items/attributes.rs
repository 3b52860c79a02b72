//! The attributes of each entity, as the contract lists them (`README.md`: "Data"); independent of the program's own codec.

/// What an item is an item of.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Entity {
    Completed,
    Event,
    Friendship,
    /// Of another program, or of a version that isn't there yet.
    Foreign,
    Master,
    Resend,
    User,
    UserStamp,
}

/// What a value of an attribute looks like.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    /// `true` or `false`.
    Flag,
    /// An id that keys are made of.
    Id,
    /// A whole Flex message: a map.
    Message,
    /// A whole number within limits.
    Number,
    /// A list of whole numbers.
    Numbers,
    /// A text with a rule of its own: a name, a zone, a LIFF app.
    Ruled,
    /// Any text.
    Text,
    /// `2026-05-23T10:00:00.000Z`.
    Time,
    /// The id of a person.
    UserId,
}

/// One attribute of an entity.
#[derive(Clone, Copy, Debug)]
pub struct Attribute {
    pub name: &'static str,
    pub form: Form,
    pub required: bool,
}

const fn required(name: &'static str, form: Form) -> Attribute {
    Attribute { name, form, required: true }
}

const fn optional(name: &'static str, form: Form) -> Attribute {
    Attribute { name, form, required: false }
}

const EVENT: &[Attribute] = &[
    required("channel", Form::Id),
    optional("completionMessageContent", Form::Message),
    required("createdAt", Form::Time),
    required("endsAt", Form::Time),
    required("eventId", Form::Id),
    optional("formerIndexShards", Form::Numbers),
    optional("indexShards", Form::Number),
    optional("liffId", Form::Ruled),
    required("name", Form::Ruled),
    required("startsAt", Form::Time),
    optional("timeZone", Form::Ruled),
    required("updatedAt", Form::Time),
];

const MASTER: &[Attribute] = &[
    required("eventId", Form::Id),
    required("flexMessageContent", Form::Message),
    required("isActive", Form::Flag),
    required("name", Form::Ruled),
    required("order", Form::Number),
    required("stampId", Form::Id),
    optional("updatedAt", Form::Time),
];

const USER: &[Attribute] = &[
    required("createdAt", Form::Time),
    required("eventId", Form::Id),
    required("lineUserId", Form::UserId),
    optional("requestId", Form::Ruled),
    required("updatedAt", Form::Time),
];

const USER_STAMP: &[Attribute] = &[
    required("acquiredAt", Form::Time),
    required("eventId", Form::Id),
    optional("flexMessageSent", Form::Flag),
    required("lineUserId", Form::UserId),
    optional("requestId", Form::Ruled),
    required("stampId", Form::Id),
];

const RESEND: &[Attribute] = &[
    required("eventId", Form::Id),
    optional("flexMessageSent", Form::Flag),
    required("lineUserId", Form::UserId),
    required("number", Form::Number),
    required("requestedAt", Form::Time),
    required("requestedBy", Form::Text),
    required("stampId", Form::Id),
];

const COMPLETED: &[Attribute] = &[
    required("byStampId", Form::Id),
    required("completedAt", Form::Time),
    required("eventId", Form::Id),
    optional("flexMessageSent", Form::Flag),
    required("lineUserId", Form::UserId),
];

const FRIENDSHIP: &[Attribute] = &[
    required("channel", Form::Id),
    required("following", Form::Flag),
    required("lineUserId", Form::UserId),
    required("occurredAt", Form::Time),
    required("webhookEventId", Form::Id),
];

impl Entity {
    /// Its attributes but key, type and index keys; none of a foreign item's are known.
    pub fn attributes(self) -> &'static [Attribute] {
        match self {
            Self::Completed => COMPLETED,
            Self::Event => EVENT,
            Self::Foreign => &[],
            Self::Friendship => FRIENDSHIP,
            Self::Master => MASTER,
            Self::Resend => RESEND,
            Self::User => USER,
            Self::UserStamp => USER_STAMP,
        }
    }

    /// Whether it is a fact of a participant of a rally.
    pub fn is_fact(self) -> bool {
        matches!(self, Self::Completed | Self::Resend | Self::User | Self::UserStamp)
    }
}

impl Attribute {
    /// Whether an item without it is whole all the same and means something else: no notice is called for, the rally has
    /// no message for a full card.
    pub fn means_something_by_its_absence(self) -> bool {
        matches!(self.name, "completionMessageContent" | "flexMessageSent")
    }
}
