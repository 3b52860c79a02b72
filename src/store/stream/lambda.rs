//! Records as AWS Lambda hands them over (AWS Lambda developer guide: "Using AWS Lambda with Amazon DynamoDB").
//!
//! Each record is read by itself: one that isn't in the form must not spoil the others of its batch.

use aws_lambda_events::dynamodb::EventRecord;
use serde_json::Value;

use crate::domain::time::Timestamp;
use crate::store::unreadable::Unreadable;

use super::{Change, Record, SequenceNumber};

/// The `eventSource` of every record of a DynamoDB stream.
const SOURCE: &str = "aws:dynamodb";

/// A record that has no place in a shard (no `SequenceNumber`): it can be neither finished nor reported.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("the record has no sequence number")]
pub struct NoPlace;

/// Returns the ARN of the stream that the entries of a Lambda event's `Records` come from; `None` if none of them is a
/// record of a DynamoDB stream. All of one event come from one shard.
#[must_use]
pub fn stream_of(entries: &[Value]) -> Option<&str> {
    let mut ours = entries.iter().filter(|entry| entry["eventSource"] == SOURCE);
    ours.find_map(|entry| entry["eventSourceARN"].as_str())
}

impl Record {
    /// Reads one entry of a Lambda event's `Records`. What can't be read becomes [`Change::Unreadable`].
    pub fn of_lambda(entry: Value) -> Result<Self, NoPlace> {
        let sequence = entry["dynamodb"]["SequenceNumber"].as_str().and_then(|text| text.parse().ok());
        let sequence: SequenceNumber = sequence.ok_or(NoPlace)?;
        let key = |name: &str| entry["dynamodb"]["Keys"][name]["S"].as_str().unwrap_or_default().to_owned();
        let unreadable = Unreadable {
            pk: key("PK"),
            sk: key("SK"),
            attribute: "dynamodb".to_owned(),
            // serde's own words would repeat values.
            problem: "is not a record in the form of DynamoDB Streams".to_owned(),
        };
        Ok(match serde_json::from_value::<EventRecord>(entry) {
            Ok(record) => Self::of_event(sequence, record),
            Err(_) => Self { sequence, at: Timestamp::EPOCH, change: Change::Unreadable(Box::new(unreadable)) },
        })
    }

    fn of_event(sequence: SequenceNumber, record: EventRecord) -> Self {
        // The epoch means "not known" there too.
        let millis = record.change.approximate_creation_date_time.timestamp_millis();
        let at = Timestamp::from_millis(millis).unwrap_or(Timestamp::EPOCH);
        let change = match record.event_name.as_str() {
            "INSERT" => Change::by_inserting(record.change.new_image),
            "MODIFY" => Change::by_modifying(record.change.old_image, record.change.new_image),
            _ => Change::Passed,
        };
        Self { sequence, at, change }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use crate::domain::fact::Fact;

    use super::*;

    const SEQUENCE: &str = "4421584500000000017450439091";

    /// As AWS documents the event, with an item of ours.
    fn entry(name: &str) -> Value {
        let stamp = json!({
            "PK": {"S": "EVENT#e#USER#U0123456789abcdef0123456789abcdef"},
            "SK": {"S": "STAMP#001"},
            "entityType": {"S": "USER_STAMP"},
            "eventId": {"S": "e"},
            "lineUserId": {"S": "U0123456789abcdef0123456789abcdef"},
            "stampId": {"S": "001"},
            "acquiredAt": {"S": "2026-05-23T10:00:00.123Z"},
            "requestId": {"S": "r"},
            "flexMessageSent": {"BOOL": false}
        });
        json!({
            "eventID": "c4ca4238a0b923820dcc509a6f75849b",
            "eventName": name,
            "eventVersion": "1.1",
            "eventSource": "aws:dynamodb",
            "awsRegion": "ap-northeast-1",
            "dynamodb": {
                "ApproximateCreationDateTime": 1_779_530_400.0,
                "Keys": {"PK": stamp["PK"], "SK": stamp["SK"]},
                "NewImage": stamp,
                "SequenceNumber": SEQUENCE,
                "SizeBytes": 262,
                "StreamViewType": "NEW_AND_OLD_IMAGES"
            },
            "eventSourceARN": "arn:aws:dynamodb:ap-northeast-1:123456789012:table/line-event/stream/2026-05-01T00:00:00.000"
        })
    }

    #[test]
    fn an_inserted_stamp_of_a_lambda_event_is_the_fact_that_the_stream_would_bring() {
        let record = Record::of_lambda(entry("INSERT")).unwrap();
        assert_eq!(record.sequence.as_str(), SEQUENCE, "as the event has it: Lambda compares texts");
        assert_eq!(record.at.to_string(), "2026-05-23T10:00:00.000Z");
        let Change::Inserted(fact) = record.change else { panic!("{record:?}") };
        let Fact::UserStamp(stamp) = *fact else { panic!("{fact:?}") };
        assert_eq!(stamp.stamp_id.to_string(), "001");
        assert_eq!(stamp.acquired_at.to_string(), "2026-05-23T10:00:00.123Z");
    }

    #[test]
    fn times_may_be_whole_numbers_floats_or_absent() {
        for (time, expected) in [
            (json!(1_779_530_400), "2026-05-23T10:00:00.000Z"),
            (json!(1_779_530_400.5), "2026-05-23T10:00:00.000Z"),
            (json!(1.779_530_4e9), "2026-05-23T10:00:00.000Z"),
        ] {
            let mut entry = entry("INSERT");
            entry["dynamodb"]["ApproximateCreationDateTime"] = time;
            assert_eq!(Record::of_lambda(entry).unwrap().at.to_string(), expected);
        }
        let mut entry = entry("INSERT");
        entry["dynamodb"].as_object_mut().unwrap().remove("ApproximateCreationDateTime");
        assert_eq!(Record::of_lambda(entry).unwrap().at, Timestamp::EPOCH);
    }

    #[test]
    fn our_own_marks_and_deletions_are_passed_over() {
        let mut mark = entry("MODIFY");
        mark["dynamodb"]["OldImage"] = mark["dynamodb"]["NewImage"].clone();
        mark["dynamodb"]["NewImage"]["flexMessageSent"] = json!({"BOOL": true});
        assert!(matches!(Record::of_lambda(mark).unwrap().change, Change::Passed));

        // Deleted by the table's time to live.
        let mut deletion = entry("REMOVE");
        deletion["userIdentity"] = json!({"type": "Service", "principalId": "dynamodb.amazonaws.com"});
        deletion["dynamodb"]["OldImage"] = deletion["dynamodb"]["NewImage"].take();
        assert!(matches!(Record::of_lambda(deletion).unwrap().change, Change::Passed));
    }

    #[test]
    fn what_is_optional_may_be_absent_or_null() {
        let mut entry = entry("INSERT");
        entry["userIdentity"] = Value::Null;
        entry["recordFormat"] = json!("application/json");
        entry["tableName"] = json!("line-event");
        entry["dynamodb"]["OldImage"] = Value::Null;
        for name in ["StreamViewType", "Keys"] {
            entry["dynamodb"].as_object_mut().unwrap().remove(name);
        }
        assert!(matches!(Record::of_lambda(entry).unwrap().change, Change::Inserted(_)));
    }

    #[test]
    fn items_of_others_in_the_same_table_are_passed_over() {
        let mut entry = entry("INSERT");
        let all = json!({
            "PK": {"S": "TICKET#1"}, "SK": {"S": "X"}, "entityType": {"S": "TICKET"}, "n": {"N": "1.5"},
            "b": {"B": "aGVsbG8="}, "bs": {"BS": ["aGVsbG8="]}, "ns": {"NS": ["1", "2"]}, "ss": {"SS": ["a"]},
            "l": {"L": [{"NULL": true}]}, "m": {"M": {"x": {"BOOL": true}}}
        });
        entry["dynamodb"]["NewImage"] = all;
        assert!(matches!(Record::of_lambda(entry).unwrap().change, Change::Passed));
    }

    #[test]
    fn a_record_that_cannot_be_read_keeps_its_place_and_names_its_item_without_its_values() {
        let mut fact = entry("INSERT");
        fact["dynamodb"]["NewImage"]["acquiredAt"] = json!({"S": "yesterday"});
        let mut form = entry("INSERT");
        form["dynamodb"]["NewImage"]["acquiredAt"] = json!("yesterday");
        for (entry, attribute) in [(fact, "acquiredAt"), (form, "dynamodb")] {
            let record = Record::of_lambda(entry).unwrap();
            assert_eq!(record.sequence.as_str(), SEQUENCE);
            let Change::Unreadable(why) = record.change else { panic!("{record:?}") };
            assert_eq!((why.sk.as_str(), why.attribute.as_str()), ("STAMP#001", attribute));
            assert!(!why.to_string().contains("yesterday"), "{why}");
        }
    }

    #[test]
    fn a_record_without_a_sequence_number_has_no_place() {
        for sequence in [Value::Null, json!(""), json!("shard end")] {
            let mut entry = entry("INSERT");
            entry["dynamodb"]["SequenceNumber"] = sequence;
            assert_eq!(Record::of_lambda(entry).unwrap_err(), NoPlace);
        }
        assert_eq!(Record::of_lambda(json!("nonsense")).unwrap_err(), NoPlace);
    }
}
