use tool_core::prelude::*;

#[derive(Debug, Serialize)]
pub struct Result<T>(pub T);

/// Greets a person by name.
#[tool]
pub async fn greet(
    /// The argument `whom` of the tool.
    whom: String,
) -> Result<String> {
    Result(whom)
}

fn main() {}
