use tool_core::prelude::*;

/// The record `Expression` of this test.
#[derive(Debug, Deserialize, StrictSchema)]
pub struct Expression {
    /// The field `operator` of `Expression`.
    pub operator: String,
    /// The left operand.
    pub left: Option<Box<Self>>,
    /// The right operand.
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
