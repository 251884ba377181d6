use tool_core::prelude::*;

#[derive(Debug, Deserialize, StrictSchema)]
pub struct Inner {
    /// The field `callback` of `Inner`: where to call.
    pub callback: url::Url,
}

#[derive(Debug, Deserialize, StrictSchema)]
pub struct Outer {
    /// The field `inner` of `Outer`: the inner ones.
    pub inner: Vec<Inner>,
}

/// Takes a type whose fault is reported at its own field already.
#[tool]
pub fn take(
    /// The argument `outer` of the tool: all of it.
    outer: Option<Outer>,
) -> Result<bool, ToolError> {
    Ok(outer.is_some())
}

fn main() {}
