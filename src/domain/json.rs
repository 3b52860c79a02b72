//! JSON of others, whatever it holds.

use std::fmt;

use serde::{
    Deserialize, Deserializer,
    de::{MapAccess, SeqAccess, Visitor},
};
use serde_json::{Map, Value};

/// Any JSON, no deeper than `serde_json` reads it (128).
///
/// A `Value` of its own isn't enough for what comes from outside: where any crate of the build turns on the feature
/// `raw_value`, a text below a private name is read as JSON once more, with a new limit, and a few kB of such texts in
/// each other end the stack, and the process.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Plain(pub Value);

impl<'de> Deserialize<'de> for Plain {
    fn deserialize<D: Deserializer<'de>>(json: D) -> Result<Self, D::Error> {
        json.deserialize_any(Any).map(Self)
    }
}

struct Any;

/// Takes what is a value already.
macro_rules! visits {
    ($($visit:ident: $of:ty),+) => {
        $(fn $visit<E>(self, value: $of) -> Result<Value, E> {
            Ok(value.into())
        })+
    };
}

impl<'de> Visitor<'de> for Any {
    type Value = Value;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("any JSON")
    }

    visits! { visit_bool: bool, visit_i64: i64, visit_u64: u64, visit_f64: f64, visit_str: &str, visit_string: String }

    fn visit_unit<E>(self) -> Result<Value, E> {
        Ok(Value::Null)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<Value, A::Error> {
        let mut values = Vec::new();
        while let Some(Plain(value)) = seq.next_element()? {
            values.push(value);
        }
        Ok(values.into())
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Value, A::Error> {
        let mut values = Map::new();
        while let Some((name, Plain(value))) = map.next_entry()? {
            values.insert(name, value);
        }
        Ok(values.into())
    }
}

/// Arrays in arrays, and in the innermost a text that a `Value` would read as JSON: the same again, in `size` bytes.
#[cfg(test)]
pub(crate) fn bomb(size: usize) -> String {
    let escaped = |text: &str| text.replace('\\', "\\u005c").replace('"', "\\u0022");
    let around = |text: &str| format!("{}{{\"{PRIVATE}\":\"{}\"", "[".repeat(120), escaped(text));
    let mut bomb = "[".repeat(120);
    while around(&bomb).len() < size {
        bomb = around(&bomb);
    }
    bomb
}

#[cfg(test)]
const PRIVATE: &str = "$serde_json::private::RawValue";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_that_json_can_say_is_read_as_it_is() {
        for text in [r#"[{"a":1,"b":[null,true,"c",-1,1.5,18446744073709551615]},{}]"#, "\"\\n\"", "null", "0"] {
            assert_eq!(serde_json::from_str::<Plain>(text).unwrap().0, serde_json::from_str::<Value>(text).unwrap());
        }
    }

    #[test]
    fn nothing_is_read_twice_and_nothing_too_deep() {
        let private = format!(r#"{{"{PRIVATE}":"[1]"}}"#);
        assert_eq!(serde_json::from_str::<Plain>(&private).unwrap().0.to_string(), private);
        assert!(serde_json::from_str::<Plain>(&bomb(250_000)).is_err());
        let deep = |depth: usize| format!("{}{}", "[".repeat(depth), "]".repeat(depth));
        assert!(serde_json::from_str::<Plain>(&deep(127)).is_ok());
        assert!(serde_json::from_str::<Plain>(&deep(128)).is_err());
    }
}
