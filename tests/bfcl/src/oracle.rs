//! The independent validator: the `jsonschema` crate.

use bfcl_gen::json::Json;
use jsonschema::Validator;
use serde_json::Value;

/// The verdict on a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// The arguments match the schema.
    Accepted,
    /// The arguments do not match the schema.
    Refused,
}

/// The result of validating a call with `jsonschema`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Answer {
    /// The verdict, which is compared with the dispatcher's verdict.
    Says(Verdict),
    /// The schema accepts the call, but an integer in it is beyond `i64`.
    BeyondWords,
}

/// Validates the calls of one function.
#[derive(Debug)]
pub struct Oracle {
    schema: Value,
    validator: Validator,
}

impl Oracle {
    /// Reads the schema of the sample, and closes every object in it.
    pub fn new(schema: &Json) -> Result<Self, String> {
        let mut schema: Value =
            serde_json::from_str(&schema.to_string()).map_err(|error| error.to_string())?;
        close(&mut schema);
        Self::as_it_is(schema)
    }

    /// Uses a schema unchanged, without closing its objects.
    pub fn as_it_is(schema: Value) -> Result<Self, String> {
        let validator = jsonschema::options()
            .should_validate_formats(true)
            .build(&schema)
            .map_err(|error| error.to_string())?;
        Ok(Self { schema, validator })
    }

    /// Validates the text of a call's arguments.
    pub fn judge(&self, text: &str) -> Answer {
        let refused = Answer::Says(Verdict::Refused);
        // Some providers send an empty text for a call without arguments. The dispatcher and this validator read it as `{}`.
        let text = if text.trim_ascii().is_empty() {
            "{}"
        } else {
            text
        };
        // `jsonschema` receives a parsed value without duplicate keys, so this function looks for duplicate keys in the text.
        match serde_json::from_str::<Json>(text) {
            Ok(json) if !json.tells_twice() => {}
            _ => return refused,
        }
        let Ok(mut value) = serde_json::from_str::<Value>(text) else {
            return refused;
        };
        self.without_nulls(&mut value);
        if !self.validator.is_valid(&value) {
            return refused;
        }
        if beyond_words(&value, &self.schema) {
            return Answer::BeyondWords;
        }
        Answer::Says(Verdict::Accepted)
    }

    /// Removes nulls at optional properties, where null and absence mean the same.
    pub fn without_nulls(&self, value: &mut Value) {
        remove_nulls(value, &self.schema);
    }
}

fn close(schema: &mut Value) {
    if let Some(properties) = schema.get_mut("properties").and_then(Value::as_object_mut) {
        properties.values_mut().for_each(close);
    }
    if let Some(items) = schema.get_mut("items") {
        close(items);
    }
    if schema.get("type").is_some_and(|kind| kind == "object")
        && let Some(schema) = schema.as_object_mut()
    {
        schema.insert("additionalProperties".into(), Value::Bool(false));
    }
}

fn remove_nulls(value: &mut Value, schema: &Value) {
    match value {
        Value::Object(entries) => {
            let required = |key: &str| {
                schema["required"]
                    .as_array()
                    .is_some_and(|keys| keys.iter().any(|one| one == key))
            };
            entries.retain(|key, value| {
                !(value.is_null() && schema["properties"].get(key).is_some() && !required(key))
            });
            for (key, value) in entries {
                remove_nulls(value, &schema["properties"][key.as_str()]);
            }
        }
        Value::Array(items) => {
            for item in items {
                remove_nulls(item, &schema["items"]);
            }
        }
        _ => {}
    }
}

/// Returns whether a value for which the schema requires an integer is a whole number that `i64` cannot represent.
fn beyond_words(value: &Value, schema: &Value) -> bool {
    match value {
        Value::Object(entries) => entries
            .iter()
            .any(|(key, value)| beyond_words(value, &schema["properties"][key.as_str()])),
        Value::Array(items) => items
            .iter()
            .any(|item| beyond_words(item, &schema["items"])),
        Value::Number(number) => {
            const BEYOND: f64 = 9_223_372_036_854_775_808.0; // 2^63, the first number that is too large
            schema["type"] == "integer"
                && number.as_i64().is_none()
                && number
                    .as_f64()
                    .is_some_and(|float| !(-BEYOND..BEYOND).contains(&float))
        }
        _ => false,
    }
}
