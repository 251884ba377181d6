//! Citations: the sources of an output.

use std::time::SystemTime;

use serde::{Deserialize, Serialize};

use crate::error::ToolError;
use crate::redact::Redact;
use crate::redact::Redactor;
use crate::store::Timestamp;

/// The source of an output, or of a part of it.
///
/// A tool adds it with [`ToolContext::cite`](crate::ToolContext::cite). The client gets it next to the output, regardless of the output that the model reads.
///
/// ```
/// use tool_core::Citation;
///
/// let citation = Citation::new("handbook", "onboarding.md")
///     .version("42")
///     .retrieved_at("2026-03-01T09:30:00Z")?;
/// assert!(Citation::new("handbook", "onboarding.md").retrieved_at("yesterday").is_err());
/// # Ok::<(), tool_core::ToolError>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Citation {
    source: String,
    source_id: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    version: Option<String>,
    #[serde(deserialize_with = "timestamp")]
    retrieved_at: String,
}

impl Citation {
    /// Creates a citation of an item in a source, retrieved now.
    pub fn new(source: impl Into<String>, source_id: impl Into<String>) -> Self {
        Self {
            source: source.into(),
            source_id: source_id.into(),
            version: None,
            retrieved_at: Timestamp::now().rfc3339(),
        }
    }

    /// Sets the version of the item.
    #[must_use]
    pub fn version(mut self, version: impl Into<String>) -> Self {
        self.version = Some(version.into());
        self
    }

    /// Sets when the item was retrieved, as ISO 8601 text with an offset. Fails for any other text.
    pub fn retrieved_at(mut self, time: impl Into<String>) -> Result<Self, ToolError> {
        let time = time.into();
        if !is_timestamp(&time) {
            return Err(ToolError::new("the tool's citation is malformed").operator(format!(
                "`retrieved_at` of a citation is `{time}`, write ISO 8601 such as `2026-03-01T09:30:00Z`"
            )));
        }
        self.retrieved_at = time;
        Ok(self)
    }

    /// Sets when the item was retrieved.
    #[must_use]
    pub fn retrieved(mut self, time: SystemTime) -> Self {
        self.retrieved_at = Timestamp::from(time).rfc3339();
        self
    }

    /// Returns the name of the source.
    pub fn source(&self) -> &str {
        &self.source
    }

    /// Returns the id of the item in the source.
    pub fn source_id(&self) -> &str {
        &self.source_id
    }

    /// Returns the version of the item.
    pub fn version_text(&self) -> Option<&str> {
        self.version.as_deref()
    }

    /// Returns when the item was retrieved, as ISO 8601 text.
    pub fn retrieved_at_text(&self) -> &str {
        &self.retrieved_at
    }
}

fn is_timestamp(text: &str) -> bool {
    crate::schema::Format::DateTime.matches(text.as_bytes())
}

fn timestamp<'de, D: serde::Deserializer<'de>>(deserializer: D) -> Result<String, D::Error> {
    let text = String::deserialize(deserializer)?;
    if is_timestamp(&text) {
        return Ok(text);
    }
    Err(serde::de::Error::custom(
        "`retrievedAt` is not an ISO 8601 time with an offset",
    ))
}

impl Redact for Citation {
    /// Redacts secrets. The time is not changed, because it was validated.
    fn masked(self, redactor: &Redactor) -> Self {
        let Self {
            source,
            source_id,
            version,
            retrieved_at,
        } = self;
        Self {
            source: source.masked(redactor),
            source_id: source_id.masked(redactor),
            version: version.masked(redactor),
            retrieved_at,
        }
    }
}
