//! A message with placeholders, checked once, filled for each notice.

use serde_json::Value;

use super::{
    check::{check, check_finished},
    fill::{Fit, Values, Words, fill},
    rule::whole,
    walk::Fault,
};

/// A Flex message with placeholders that LINE takes.
#[derive(Clone, Debug, PartialEq)]
pub struct Template {
    message: Value,
}

impl Template {
    /// Returns a message that keeps every limit and has only known placeholders. Its numbers become whole ones without a
    /// point (`1.0` is `1`), as the table keeps them.
    ///
    /// Also for messages read from the table: one that was stored before there were checks, or by another
    /// program, is an error here and never a 400 from LINE.
    pub fn parse(mut message: Value) -> Result<Self, Vec<Fault>> {
        let faults = check(&message);
        if !faults.is_empty() {
            return Err(faults);
        }
        without_points(&mut message);
        Ok(Self { message })
    }

    /// Returns the message as it was given.
    #[must_use]
    pub fn message(&self) -> &Value {
        &self.message
    }

    /// Returns the message as it was given.
    #[must_use]
    pub fn into_message(self) -> Value {
        self.message
    }

    /// Returns the message for one notice, within every limit.
    ///
    /// Texts that become too long for their place are cut and end in `…`; if the message as a whole is too large,
    /// long values are cut to 100 UTF-16 units. Addresses are never cut: one with half a name in it would lead
    /// elsewhere. What then still breaks a limit (an address that became too long, say) is the error.
    pub fn render(&self, values: &Values<'_>) -> Result<Value, Vec<Fault>> {
        let words = Words::of(values);
        self.fill(&words, Fit::Whole).or_else(|_| self.fill(&words, Fit::Clipped))
    }

    fn fill(&self, words: &Words<'_>, fit: Fit) -> Result<Value, Vec<Fault>> {
        let mut message = self.message.clone();
        fill(&mut message, "", words, fit);
        loop {
            let faults = check_finished(&message);
            if faults.is_empty() {
                return Ok(message);
            }
            // Only so many faults are found at once, so there may be more to cut.
            if !cut(&mut message, &faults) {
                return Err(faults);
            }
        }
    }
}

/// Cuts what is too long and may be cut; returns whether there was any.
fn cut(message: &mut Value, faults: &[Fault]) -> bool {
    let mut any = false;
    for fault in faults {
        if let (Some(length), Some(Value::String(text))) = (fault.cut, message.pointer_mut(&fault.path)) {
            *text = length.cut(text);
            any = true;
        }
    }
    any
}

/// Writes every whole number as one.
fn without_points(value: &mut Value) {
    match value {
        Value::Array(values) => values.iter_mut().for_each(without_points),
        Value::Object(object) => object.values_mut().for_each(without_points),
        Value::Number(number) => {
            if let Some(whole) = whole(&Value::Number(number.clone())) {
                *number = whole.into();
            }
        }
        Value::Bool(_) | Value::Null | Value::String(_) => {}
    }
}
