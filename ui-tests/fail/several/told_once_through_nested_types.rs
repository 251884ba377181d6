use tool_core::prelude::*;

#[derive(Debug, Deserialize, StrictSchema)]
pub struct Inner {
    /// Where to call.
    pub callback: url::Url,
}

#[derive(Debug, Deserialize, StrictSchema)]
pub struct Outer {
    /// The inner ones.
    pub inner: Vec<Inner>,
}

/// Takes a type whose fault is reported at its own field already.
#[tool]
pub fn take(
    /// All of it.
    outer: Option<Outer>,
) -> Result<bool, ToolError> {
    Ok(outer.is_some())
}

fn main() {}
