//! JSON as an attribute and back, exactly: whole numbers stay whole, empty texts and nulls stay what they are.
//!
//! One thing the table can't distinguish: DynamoDB keeps numbers without a form, so `1.0` comes back as `1`.

use serde_dynamo::AttributeValue;
use serde_json::{Number, Value};

use crate::domain::Malformed;

/// DynamoDB nests attributes 32 deep ("Quotas: attributes"); the item itself may count as one of them.
const MOST_LEVELS: usize = 31;

/// Returns a JSON value as an attribute.
pub(super) fn write(value: &Value) -> AttributeValue {
    match value {
        Value::Null => AttributeValue::Null(true),
        Value::Bool(flag) => AttributeValue::Bool(*flag),
        Value::Number(number) => AttributeValue::N(digits(number)),
        Value::String(text) => AttributeValue::S(text.clone()),
        Value::Array(values) => AttributeValue::L(values.iter().map(write).collect()),
        Value::Object(fields) => {
            AttributeValue::M(fields.iter().map(|(name, value)| (name.clone(), write(value))).collect())
        }
    }
}

/// Returns a number as the table keeps it: a whole one without a point, however it was written.
fn digits(number: &Number) -> String {
    if number.is_f64() { number.as_f64().unwrap_or_default().to_string() } else { number.to_string() }
}

/// Returns an attribute as JSON; refuses what JSON has no words for.
pub(super) fn read(value: AttributeValue) -> Result<Value, String> {
    match value {
        AttributeValue::Null(_) => Ok(Value::Null),
        AttributeValue::Bool(flag) => Ok(Value::Bool(flag)),
        AttributeValue::N(digits) => {
            number(&digits).map(Value::Number).ok_or_else(|| format!("holds the number {digits}, which JSON can't say"))
        }
        AttributeValue::S(text) => Ok(Value::String(text)),
        AttributeValue::L(values) => values.into_iter().map(read).collect::<Result<_, _>>().map(Value::Array),
        AttributeValue::M(fields) => {
            let fields = fields.into_iter().map(|(name, value)| Ok((name, read(value)?)));
            fields.collect::<Result<_, String>>().map(Value::Object)
        }
        AttributeValue::B(_) | AttributeValue::Bs(_) | AttributeValue::Ns(_) | AttributeValue::Ss(_) => {
            Err("holds a set or bytes, which JSON can't say".to_owned())
        }
    }
}

fn number(digits: &str) -> Option<Number> {
    let whole = digits.parse::<i64>().map(Number::from);
    let whole = whole.or_else(|_| digits.parse::<u64>().map(Number::from));
    whole.ok().or_else(|| digits.parse().ok().and_then(Number::from_f64))
}

/// Refuses JSON that DynamoDB would not keep: nested more than 31 deep, with a nameless field, or with a number outside
/// of ±1E-130 to ±9.9E+125 ("Supported data types: Number"). Ask before a message is stored; the table's
/// own refusal comes too late to be answered to a caller.
pub fn storable(what: &'static str, value: &Value) -> Result<(), Malformed> {
    fault(value, 0).map_or(Ok(()), |rule| Err(Malformed::new(what, rule)))
}

fn fault(value: &Value, level: usize) -> Option<&'static str> {
    match value {
        Value::Array(_) | Value::Object(_) if level >= MOST_LEVELS => Some("is nested too deep: 31 levels at most"),
        Value::Array(values) => values.iter().find_map(|value| fault(value, level + 1)),
        Value::Object(fields) if fields.contains_key("") => Some("must not have a field without a name"),
        Value::Object(fields) => fields.values().find_map(|value| fault(value, level + 1)),
        Value::Number(number) => {
            let size = number.as_f64().unwrap_or(f64::MAX).abs();
            let fits = size == 0.0 || (1e-130..=9.9e125).contains(&size);
            (!fits).then_some("has a number that is too large or too small")
        }
        Value::Null | Value::Bool(_) | Value::String(_) => None,
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;

    #[test]
    fn what_json_says_comes_back_as_it_was() {
        let message = json!({
            "//": "Flex", "empty": "", "nothing": null, "none": [], "empty map": {}, "yes": true,
            "whole": 3, "minus": -4, "big": u64::MAX, "small": i64::MIN, "part": 0.25, "tiny": 1e-7, "list": [1, "1", [2.5]],
        });
        assert_eq!(read(write(&message)), Ok(message));
    }

    #[test]
    fn a_whole_number_is_written_without_a_point() {
        assert_eq!(write(&json!(1.0)), AttributeValue::N("1".to_owned()));
        assert_eq!(write(&json!(1e20)), AttributeValue::N("100000000000000000000".to_owned()));
    }

    #[test]
    fn what_json_has_no_words_for_is_refused() {
        for value in [AttributeValue::B(vec![1]), AttributeValue::Ss(vec![]), AttributeValue::N("1E+400".to_owned())] {
            assert!(read(AttributeValue::L(vec![value])).is_err());
        }
    }

    #[test]
    fn what_dynamodb_would_not_keep_is_refused_before() {
        let nested = |levels| (0..levels).fold(json!(1), |inner, _| json!([inner]));
        assert_eq!(storable("m", &nested(31)), Ok(()));
        assert_eq!(storable("m", &nested(32)).unwrap_err().to_string(), "m: is nested too deep: 31 levels at most");
        assert!(storable("m", &json!({"a": {"": 1}})).is_err());
        assert!(storable("m", &json!([1e126])).is_err());
        assert!(storable("m", &json!([1e-131])).is_err());
        assert_eq!(storable("m", &json!({"a": [0, 0.0, -1.5, 9e125]})), Ok(()));
    }

    fn any_json() -> impl Strategy<Value = Value> {
        let leaf = prop_oneof![
            Just(Value::Null),
            any::<bool>().prop_map(Value::from),
            any::<i64>().prop_map(Value::from),
            any::<u64>().prop_map(Value::from),
            (-1e9..1e9)
                .prop_map(|number: f64| json!(number + 0.5_f64.copysign(number)))
                .prop_filter("a part", |n| n.as_f64().is_some_and(|n| n.fract() != 0.0)),
            ".*".prop_map(Value::from),
        ];
        leaf.prop_recursive(4, 32, 5, |inner| {
            prop_oneof![
                proptest::collection::vec(inner.clone(), 0..5).prop_map(Value::from),
                proptest::collection::hash_map(".+", inner, 0..5).prop_map(|fields| fields.into_iter().collect()),
            ]
        })
    }

    proptest! {
        #[test]
        fn any_json_comes_back_as_it_was(value in any_json()) {
            prop_assert_eq!(read(write(&value)), Ok(value));
        }
    }
}
