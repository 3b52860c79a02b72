//! What the two tables are made of (product.md's section on the table, as data).

use aws_sdk_dynamodb::{
    error::BuildError,
    types::{
        AttributeDefinition, CreateGlobalSecondaryIndexAction, GlobalSecondaryIndex, KeySchemaElement, KeyType,
        Projection, ProjectionType, ProvisionedThroughput, ScalarAttributeType, StreamSpecification, StreamViewType,
        TimeToLiveSpecification,
    },
};

/// A table as it should be: string keys, on-demand billing, and this.
#[derive(Debug)]
pub(super) struct Definition {
    pub keys: Keys,
    pub indexes: &'static [Index],
    /// Old and new image of every change, or no stream.
    pub stream: Option<StreamViewType>,
    /// The attribute with the second (epoch) after which an item may go.
    pub ttl: Option<&'static str>,
}

/// The two key attributes of a table or an index, both strings.
#[derive(Clone, Copy, Debug)]
pub(super) struct Keys {
    pub partition: &'static str,
    pub sort: &'static str,
}

#[derive(Debug)]
pub(super) struct Index {
    pub name: &'static str,
    pub keys: Keys,
    pub projection: ProjectionType,
}

/// Facts and settings.
pub(super) static MAIN: Definition = Definition {
    keys: Keys { partition: "PK", sort: "SK" },
    indexes: &[
        Index {
            name: "GSI1",
            keys: Keys { partition: "GSI1PK", sort: "GSI1SK" },
            // Listings show the items whole.
            projection: ProjectionType::All,
        },
        Index {
            name: "GSI2",
            keys: Keys { partition: "GSI2PK", sort: "GSI2SK" },
            // The keys say who and when; and the mark "sent" then costs the index nothing.
            projection: ProjectionType::KeysOnly,
        },
    ],
    stream: Some(StreamViewType::NewAndOldImages),
    ttl: Some("ttl"),
};

/// The consumer's progress.
pub(super) static CONSUMERS: Definition =
    Definition { keys: Keys { partition: "PK", sort: "SK" }, indexes: &[], stream: None, ttl: None };

impl Definition {
    /// Returns the attributes of all keys, as `CreateTable` wants them.
    pub fn attributes(&self) -> Result<Vec<AttributeDefinition>, BuildError> {
        let all = std::iter::once(self.keys).chain(self.indexes.iter().map(|index| index.keys));
        Ok(all.map(Keys::attributes).collect::<Result<Vec<_>, _>>()?.into_iter().flatten().collect())
    }
}

impl Keys {
    pub fn attributes(self) -> Result<[AttributeDefinition; 2], BuildError> {
        let string = |name: &str| {
            AttributeDefinition::builder().attribute_name(name).attribute_type(ScalarAttributeType::S).build()
        };
        Ok([string(self.partition)?, string(self.sort)?])
    }

    pub fn schema(self) -> Result<Vec<KeySchemaElement>, BuildError> {
        let element = |name: &str, kind| KeySchemaElement::builder().attribute_name(name).key_type(kind).build();
        Ok(vec![element(self.partition, KeyType::Hash)?, element(self.sort, KeyType::Range)?])
    }
}

impl Index {
    pub fn with_table(&self) -> Result<GlobalSecondaryIndex, BuildError> {
        GlobalSecondaryIndex::builder()
            .index_name(self.name)
            .set_key_schema(Some(self.keys.schema()?))
            .projection(self.projection())
            .build()
    }

    /// For `UpdateTable`. A table with provisioned capacity wants it for the index too: `capacity`.
    pub fn afterwards(
        &self,
        capacity: Option<ProvisionedThroughput>,
    ) -> Result<CreateGlobalSecondaryIndexAction, BuildError> {
        CreateGlobalSecondaryIndexAction::builder()
            .index_name(self.name)
            .set_key_schema(Some(self.keys.schema()?))
            .projection(self.projection())
            .set_provisioned_throughput(capacity)
            .build()
    }

    fn projection(&self) -> Projection {
        Projection::builder().projection_type(self.projection.clone()).build()
    }
}

pub(super) fn stream_of(view: &StreamViewType) -> Result<StreamSpecification, BuildError> {
    StreamSpecification::builder().stream_enabled(true).stream_view_type(view.clone()).build()
}

pub(super) fn ttl_on(attribute: &str) -> Result<TimeToLiveSpecification, BuildError> {
    TimeToLiveSpecification::builder().enabled(true).attribute_name(attribute).build()
}
