#![deny(warnings)]

use tool_core::prelude::*;

#[doc = "Words of an attribute."]
#[derive(Debug, Deserialize, StrictSchema)]
pub struct Words {
    /** A block comment. */
    pub block: String,
    #[doc = "An attribute."]
    pub attribute: String,
    /// "Quotes" and \backslashes\.
    ///
    /// # Errors
    /// Never shown.
    pub lines: String,
}

/// # Takes words
///
/// - as a list
#[tool]
pub fn take(
    /** In a block. */ words: Words,
    #[doc = "In an attribute."] more: Option<Words>,
) -> Result<String, ToolError> {
    Ok(format!("{words:?} {more:?}"))
}

fn main() {
    let tools = toolset![take];
    let schema = tools.get("take").unwrap().schema(Dialect::Mcp);
    assert!(schema.contains(r#"\"Quotes\" and \\backslashes\\."#), "{schema}");
    assert!(!schema.contains("Never shown"));
}
