use tool_core::prelude::*;

/// Returns the sum of the arguments.
#[tool]
pub fn add(
    /// The argument `a` of the tool.
    a: i64,
    /// The argument `b` of the tool.
    b: i64,
) -> Result<i64, ToolError> {
    Ok(a + b)
}

fn main() {
    let call = add { a: 1, b: 2 };
    assert_eq!(call.clone(), call);
    assert_eq!(format!("{call:?}"), "add { a: 1, b: 2 }");
    assert_eq!(serde_json::to_string(&call).unwrap(), r#"{"a":1,"b":2}"#);
    assert_eq!(add(1, 2).unwrap(), 3);
    let _ = toolset![add];
}
