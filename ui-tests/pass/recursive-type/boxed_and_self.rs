use tool_core::prelude::*;

/// An expression.
#[derive(Debug, Deserialize, StrictSchema)]
pub struct Expression {
    /// The operator.
    pub operator: String,
    /// On the left.
    pub left: Option<Box<Self>>,
    /// On the right.
    pub right: Option<Box<Expression>>,
}

/// Evaluates.
#[tool(providers(openai))]
pub fn evaluate(
    /// What.
    expression: Expression,
) -> Result<String, ToolError> {
    Ok(expression.operator)
}

fn main() {}
