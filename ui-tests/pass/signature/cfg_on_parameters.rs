use tool_core::prelude::*;

/// Greets a person by name.
#[tool]
pub fn greet(
    /// The name of the person.
    name: String,
    /// The argument `never` of the tool: absent here.
    #[cfg(any())]
    never: Missing,
    /// The argument `always` of the tool: present here.
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
