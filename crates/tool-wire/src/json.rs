//! Reader for a provider's JSON: the model's arguments stay raw text, and every error names the place in the body.

use std::borrow::Cow;
use std::collections::BTreeMap;

use serde_json::value::RawValue;
use tool_core::__private0::{Entries, repaired_object};

use super::{Provider, WireError};

/// A JSON value, and its place in a body.
#[derive(Clone, Debug)]
pub(super) struct Node<'a> {
    raw: &'a RawValue,
    place: Place,
}

/// The place of a value in a body, for errors.
#[derive(Clone, Debug)]
struct Place {
    provider: Provider,
    pointer: String,
}

/// A JSON object, and its place in a body.
#[derive(Debug)]
pub(super) struct Object<'a> {
    entries: Vec<(String, &'a RawValue)>,
    place: Place,
}

impl Place {
    fn inner(&self, step: &str) -> Self {
        let step = step.replace('~', "~0").replace('/', "~1");
        Self {
            provider: self.provider,
            pointer: format!("{}/{step}", self.pointer),
        }
    }

    fn wrong(&self, expected: &str, found: impl Into<String>) -> WireError {
        WireError::Shape {
            provider: self.provider,
            pointer: self.pointer.clone(),
            expected: expected.to_owned(),
            found: found.into(),
        }
    }
}

impl<'a> Node<'a> {
    /// Reads a whole body, or the data of one event.
    pub(super) fn read(provider: Provider, text: &'a str) -> Result<Self, WireError> {
        let raw = serde_json::from_str(text).map_err(|error| WireError::Json {
            provider,
            why: error.to_string(),
        })?;
        let place = Place {
            provider,
            pointer: String::new(),
        };
        Ok(Self { raw, place })
    }

    /// Returns the JSON text unchanged.
    pub(super) fn raw(&self) -> &'a RawValue {
        self.raw
    }

    pub(super) fn object(&self) -> Result<Object<'a>, WireError> {
        if !self.raw.get().starts_with('{') {
            return Err(self.wrong("an object"));
        }
        let Entries(entries) = serde_json::from_str(self.raw.get())
            .map_err(|error| self.place.wrong("an object", error.to_string()))?;
        let twice = |(at, (key, _)): (usize, &(String, _))| {
            entries[..at]
                .iter()
                .any(|(other, _): &(String, _)| other == key)
        };
        if let Some(at) = entries.iter().enumerate().position(twice) {
            let place = self.place.inner(&entries[at].0);
            return Err(place.wrong("a unique key", "a duplicate key"));
        }
        Ok(Object {
            entries,
            place: self.place.clone(),
        })
    }

    pub(super) fn array(&self) -> Result<Vec<Node<'a>>, WireError> {
        if !self.raw.get().starts_with('[') {
            return Err(self.wrong("an array"));
        }
        let items: Vec<&RawValue> = serde_json::from_str(self.raw.get())
            .map_err(|error| self.place.wrong("an array", error.to_string()))?;
        let item = |(at, raw): (usize, &'a RawValue)| Node {
            raw,
            place: self.place.inner(&at.to_string()),
        };
        Ok(items.into_iter().enumerate().map(item).collect())
    }

    pub(super) fn text(&self) -> Result<String, WireError> {
        serde_json::from_str(self.raw.get()).map_err(|_| self.wrong("text"))
    }

    pub(super) fn number(&self) -> Result<u64, WireError> {
        serde_json::from_str(self.raw.get()).map_err(|_| self.wrong("a whole number"))
    }

    pub(super) fn boolean(&self) -> Result<bool, WireError> {
        serde_json::from_str(self.raw.get()).map_err(|_| self.wrong("true or false"))
    }

    /// Creates the error for a value that is not the expected value.
    pub(super) fn wrong(&self, expected: &str) -> WireError {
        let found = match self.raw.get().as_bytes().first() {
            Some(b'{') => "an object".to_owned(),
            Some(b'[') => "an array".to_owned(),
            // The value is short enough to be shown in the error.
            _ if self.raw.get().len() <= 40 => format!("`{}`", self.raw.get()),
            _ => "a long text".to_owned(),
        };
        self.place.wrong(expected, found)
    }
}

impl<'a> Object<'a> {
    /// Returns a token count, or `None` if it is missing or not a whole number, because invalid usage data must not make the response fail.
    pub(super) fn count(&self, key: &str) -> Option<u64> {
        self.get(key).and_then(|node| node.number().ok())
    }

    /// Sets a counter to the token count of a key, unless the key is absent or its value is not a whole number.
    pub(super) fn counted(&self, key: &str, counter: &mut Option<u64>) {
        *counter = self.count(key).or(*counter);
    }

    /// Returns the object under a key, or `None` if the key is absent or its value is not an object.
    pub(super) fn inner(&self, key: &str) -> Option<Object<'a>> {
        self.get(key)?.object().ok()
    }

    /// Returns the value of a key, or `None` if it is absent or null.
    pub(super) fn get(&self, key: &str) -> Option<Node<'a>> {
        let (_, raw) = self.entries.iter().find(|(name, _)| name == key)?;
        (raw.get() != "null").then(|| Node {
            raw,
            place: self.place.inner(key),
        })
    }

    pub(super) fn required(&self, key: &str) -> Result<Node<'a>, WireError> {
        self.get(key).ok_or_else(|| {
            let place = self.place.inner(key);
            place.wrong("a value", "none")
        })
    }

    pub(super) fn text(&self, key: &str) -> Result<String, WireError> {
        self.required(key)?.text()
    }

    /// Returns the text of a key, or `None` if it is absent or null.
    pub(super) fn text_if_any(&self, key: &str) -> Result<Option<String>, WireError> {
        self.get(key).map(|node| node.text()).transpose()
    }

    pub(super) fn has(&self, key: &str) -> bool {
        self.get(key).is_some()
    }

    pub(super) fn entries(&self) -> impl Iterator<Item = (&str, &'a RawValue)> {
        self.entries.iter().map(|(key, raw)| (key.as_str(), *raw))
    }

    /// Creates an error at this object.
    pub(super) fn wrong(&self, expected: &str, found: impl Into<String>) -> WireError {
        self.place.wrong(expected, found)
    }
}

/// Writes a value as JSON, for values that always serialize.
pub(super) fn json<T: serde::Serialize + ?Sized>(value: &T) -> Box<RawValue> {
    // Serialization fails only for maps with keys other than strings and for a failing `Serialize`; this crate has neither.
    serde_json::value::to_raw_value(value).unwrap_or_else(|_| RawValue::NULL.to_owned())
}

/// Sets a key of an object. The other values remain raw texts, so that no number is rounded.
pub(super) fn with_key(object: &RawValue, key: &str, value: Box<RawValue>) -> Box<RawValue> {
    let mut object: BTreeMap<String, Box<RawValue>> =
        serde_json::from_str(object.get()).unwrap_or_default();
    object.insert(key.to_owned(), value);
    json(&object)
}

/// Creates a message from content blocks. Returns `None` without blocks, because no provider accepts an empty message.
pub(super) fn as_message<T: serde::Serialize>(
    role: &'static str,
    content: Vec<T>,
) -> Option<Box<RawValue>> {
    #[derive(serde::Serialize)]
    struct Message<T> {
        role: &'static str,
        content: Vec<T>,
    }
    (!content.is_empty()).then(|| json(&Message { role, content }))
}

/// The arguments of a call for which the model wrote nothing.
pub(super) const NO_ARGUMENTS: &str = "{}";

/// Returns the arguments as an object, for an API that does not accept arguments as text. Arguments that are not an object are repaired as for the
/// call, so that the model sees the arguments with which the tool ran. If they cannot be repaired, for example because they were cut off, they become
/// an empty object; a call with such arguments has not run.
pub(super) fn arguments_object(arguments: &str) -> Cow<'_, RawValue> {
    let raw = serde_json::from_str::<&RawValue>(arguments).ok();
    if let Some(object) = raw.filter(|raw| raw.get().starts_with('{')) {
        return Cow::Borrowed(object);
    }
    let repaired = repaired_object(arguments).and_then(|text| RawValue::from_string(text).ok());
    Cow::Owned(repaired.unwrap_or_else(|| json(&serde_json::Map::new())))
}
