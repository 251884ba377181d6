use tool_core::prelude::*;

fn view(output: &String) -> String {
    output.clone()
}

/// Greets a person by name.
#[tool(to_model_output = view)]
pub fn greet() -> Result<String, ToolError> {
    Ok("hello".to_owned())
}

fn main() {}
