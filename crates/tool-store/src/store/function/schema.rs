//! The JSON Schemas of stored tools.

use serde::{Deserialize, Deserializer, Serialize};
use serde_json::value::RawValue;

use crate::digest::sha256;
use crate::store::StoreError;

/// A JSON Schema of a stored tool. Its id is the hash of its text, so that two schemas with one id are equal, and no row refers to a schema that
/// has changed.
///
/// ```
/// use tool_store::ToolSchema;
///
/// let schema = ToolSchema::new(r#"{"type":"object","properties":{}}"#)?;
/// assert_eq!(schema.id().len(), 64);
/// assert_eq!(ToolSchema::new(schema.text())?, schema);
/// assert!(ToolSchema::new("{").is_err());
/// # Ok::<(), tool_store::StoreError>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ToolSchema {
    id: String,
    text: String,
}

#[derive(Serialize)]
struct Shown<'a> {
    id: &'a str,
    schema: &'a RawValue,
}

#[derive(Deserialize)]
struct Read {
    schema: Box<RawValue>,
}

impl ToolSchema {
    /// Creates a schema from its JSON text, whose order of keys is kept. Fails with `Conflict` if the text is not JSON. `tool_core` checks the rules
    /// of providers.
    pub fn new(text: impl Into<String>) -> Result<Self, StoreError> {
        let text = RawValue::from_string(text.into()).map_err(|error| {
            StoreError::Conflict(format!("the schema of a tool is not JSON: {error}"))
        })?;
        Ok(Self::of(&text))
    }

    fn of(text: &RawValue) -> Self {
        let text = text.get().trim().to_owned();
        let id = sha256(&["tool schema", &text]);
        Self { id, text }
    }

    /// Returns the id: a hash of the text, as 64 lower-case hexadecimal digits.
    pub fn id(&self) -> &str {
        &self.id
    }

    /// Returns the JSON text of the schema.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// Deserializes a schema without an id, as requests contain it.
    pub(in crate::store) fn plain<'de, D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        Box::<RawValue>::deserialize(from).map(|text| Self::of(&text))
    }

    /// Deserializes an optional schema of a request; returns `None` for null.
    pub(in crate::store) fn optional<'de, D: Deserializer<'de>>(
        from: D,
    ) -> Result<Option<Self>, D::Error> {
        let text = Option::<Box<RawValue>>::deserialize(from)?;
        Ok(text.map(|text| Self::of(&text)))
    }

    /// Deserializes the schema of an update; null removes the stored schema.
    #[expect(
        clippy::option_option,
        reason = "an absent key, null and a value are three cases"
    )]
    pub(in crate::store) fn change<'de, D: Deserializer<'de>>(
        from: D,
    ) -> Result<Option<Option<Self>>, D::Error> {
        Self::optional(from).map(Some)
    }
}

impl Serialize for ToolSchema {
    fn serialize<S: serde::Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        let schema = serde_json::from_str(&self.text).map_err(serde::ser::Error::custom)?;
        let id = &self.id;
        Shown { id, schema }.serialize(to)
    }
}

impl<'de> Deserialize<'de> for ToolSchema {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        Read::deserialize(from).map(|read| Self::of(&read.schema))
    }
}
