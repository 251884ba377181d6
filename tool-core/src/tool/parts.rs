//! The parts of a tool definition.

use serde::Deserialize;
use serde_json::value::RawValue;

use super::ToolDef;
use crate::schema::dialect::Dialect;

/// A tool definition for one provider, in parts, for clients that have types of their own for it: see [`ToolDef::parts`].
#[derive(Clone, Debug, Deserialize)]
#[non_exhaustive]
pub struct DefinitionParts {
    /// The name that the model sees.
    pub name: String,
    /// What the tool does and when to use it, with the examples if the provider has no other place for them.
    pub description: String,
    /// The schema of the arguments.
    #[serde(
        alias = "input_schema",
        alias = "inputSchema",
        alias = "parametersJsonSchema"
    )]
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
    /// /// Looks.
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
        #[derive(Deserialize)]
        struct Within {
            function: DefinitionParts,
        }
        let text = self.definition(dialect);
        // This crate wrote the text, so only an empty one cannot be parsed.
        match dialect {
            Dialect::OpenAi => serde_json::from_str(text)
                .ok()
                .map(|Within { function }| function),
            _ => serde_json::from_str(text).ok(),
        }
    }
}
