use tool_core::prelude::*;

#[derive(Debug, Serialize)]
pub struct Result<T>(pub T);

/// Greets.
#[tool]
pub async fn greet(
    /// Name.
    whom: String,
) -> Result<String> {
    Result(whom)
}

fn main() {}
