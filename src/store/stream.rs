//! The table's stream: shards, iterators, records as facts (AWS: "Change data capture for DynamoDB Streams").
