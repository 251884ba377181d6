use tool_core::prelude::*;

/// Greets a person by name.
#[tool]
pub fn greet(
    /// The name of the person.
    name: String,
    /// An argument that exists in no build.
    #[cfg(any())]
    never: Missing,
    /// An argument that exists in every build.
    #[cfg(not(any()))]
    always: u8,
) -> Result<String, ToolError> {
    Ok(name.repeat(always.into()))
}

fn main() {
    let call = greet { name: "a".to_owned(), always: 2 };
    assert_eq!(call.always, 2);
    let tools = toolset![greet];
    let schema = tools.get("greet").unwrap().schema(Dialect::Mcp);
    assert!(schema.contains("always") && !schema.contains("never"));
}
