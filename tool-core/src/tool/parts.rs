//! A definition, taken apart.

use serde::Deserialize;
use serde_json::value::RawValue;

use super::ToolDef;
use crate::schema::dialect::Dialect;

/// What one provider is told of a tool, part by part, for clients that have types of their own for it: see [`ToolDef::parts`].
#[derive(Clone, Debug, Deserialize)]
#[non_exhaustive]
pub struct DefinitionParts {
    /// The name that the model sees.
    pub name: String,
    /// What it does and when to use it, with the examples where the provider has no other place for them.
    pub description: String,
    /// The schema of the arguments.
    #[serde(
        alias = "input_schema",
        alias = "inputSchema",
        alias = "parametersJsonSchema"
    )]
    pub parameters: Box<RawValue>,
    /// Whether calls are held to the schema; `None` where the provider has no such word.
    pub strict: Option<bool>,
}

impl ToolDef {
    /// The parts of [`definition`](ToolDef::definition); `None` where the provider is not offered the tool.
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
        // The texts are this crate's own, so only one that is not there cannot be read.
        match dialect {
            Dialect::OpenAi => serde_json::from_str(text)
                .ok()
                .map(|Within { function }| function),
            _ => serde_json::from_str(text).ok(),
        }
    }
}
