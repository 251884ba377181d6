//! The parts of a tool definition.

use std::collections::HashMap;

use serde_json::value::RawValue;
use tool_schema::__private0::{schema_key, wrapper};

use super::ToolDef;
use crate::schema::dialect::Dialect;

/// A tool definition for one provider, in parts, for clients with their own types of definitions: see [`ToolDef::parts`].
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct DefinitionParts {
    /// The name that the model sees.
    pub name: String,
    /// The description of the tool and its use, with the examples if the provider has no other place for them.
    pub description: String,
    /// The schema of the arguments.
    pub parameters: Box<RawValue>,
    /// Whether the provider enforces the schema; `None` if the provider has no such setting.
    pub strict: Option<bool>,
}

impl ToolDef {
    /// Returns the parts of [`definition`](ToolDef::definition); `None` if the tool is not offered to the provider.
    ///
    /// ```
    /// use tool_core::prelude::*;
    ///
    /// /// Returns the number of visible objects.
    /// #[tool(providers(anthropic))]
    /// fn look() -> u8 {
    ///     0
    /// }
    ///
    /// # fn main() {
    /// let parts = look::DEF.parts(Dialect::Anthropic).unwrap();
    /// assert_eq!((parts.name.as_str(), parts.strict), ("look", Some(true)));
    /// assert!(look::DEF.parts(Dialect::OpenAi).is_none());
    /// # }
    /// ```
    pub fn parts(&self, dialect: Dialect) -> Option<DefinitionParts> {
        // This crate wrote the text, so only an empty text cannot be parsed.
        let mut fields = fields(self.definition(dialect))?;
        if let Some(key) = wrapper(dialect) {
            fields = self::fields(fields.get(key)?.get())?;
        }
        let text = |key| serde_json::from_str(fields.get(key)?.get()).ok();
        Some(DefinitionParts {
            name: text("name")?,
            description: text("description")?,
            strict: fields.get("strict").map(|strict| strict.get() == "true"),
            parameters: fields.remove(schema_key(dialect))?,
        })
    }
}

/// Reads the fields of an object.
fn fields(text: &str) -> Option<HashMap<String, Box<RawValue>>> {
    serde_json::from_str(text).ok()
}
