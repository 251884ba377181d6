use tool_core::prelude::*;

/// The record `Expression` of this test.
#[derive(Debug, Deserialize, StrictSchema)]
pub struct Expression {
    /// The field `operator` of `Expression`.
    pub operator: String,
    /// The field `left` of `Expression`: on the left.
    pub left: Option<Box<Self>>,
    /// The field `right` of `Expression`: on the right.
    pub right: Option<Box<Expression>>,
}

/// The tool `evaluate` of this test.
#[tool(providers(openai))]
pub fn evaluate(
    /// The argument `expression` of the tool.
    expression: Expression,
) -> Result<String, ToolError> {
    Ok(expression.operator)
}

fn main() {}
