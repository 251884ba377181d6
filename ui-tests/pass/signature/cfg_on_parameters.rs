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
    /// An argument that exists in every build: the attribute removes only the attributes that it lists, and it lists none.
    #[cfg_attr(any(),)]
    without_attributes: u8,
) -> Result<String, ToolError> {
    Ok(name.repeat((always + without_attributes).into()))
}

fn main() {
    let call = greet { name: "a".to_owned(), always: 2, without_attributes: 1 };
    assert_eq!(call.always, 2);
    let tools = toolset![greet];
    let schema = tools.get("greet").unwrap().schema(Dialect::Mcp);
    assert!(schema.contains("always") && schema.contains("without_attributes") && !schema.contains("never"));
}
