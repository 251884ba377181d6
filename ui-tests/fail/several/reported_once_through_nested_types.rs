use tool_core::prelude::*;

#[derive(Debug, Deserialize, StrictSchema)]
pub struct Inner {
    /// The field `callback` of `Inner`.
    pub callback: url::Url,
}

#[derive(Debug, Deserialize, StrictSchema)]
pub struct Outer {
    /// The field `inner` of `Outer`.
    pub inner: Vec<Inner>,
}

/// Takes a type whose fault is already reported at its field.
#[tool]
pub fn take(
    /// The argument `outer` of the tool.
    outer: Option<Outer>,
) -> Result<bool, ToolError> {
    Ok(outer.is_some())
}

fn main() {}
