use tool_core::prelude::*;

fn asks(call: &delete_file, _: &ToolContext) -> bool {
    call.path.starts_with('/')
}

/// Deletes a file, for this test.
#[tool(
    name = "remove_file",
    alias = "delete_file",
    alias = "erase_file",
    title = "Remove a file",
    category = "files",
    tags = ["disk", "danger"],
    example("One", { "filePath": "a.txt" }),
    example({ "filePath": "b.txt" } => 1),
    approval = asks,
    timeout = "5s",
    sequential,
    harness,
    output_limit = 1000,
    destructive,
    idempotent,
    open_world,
    providers(openai, anthropic, gemini, mcp, json_schema),
    rename_all = "camelCase",
    to_model_output = view,
)]
pub fn delete_file(
    /// The path of the file.
    #[arg(rename = "filePath", length = 1..=200)]
    path: String,
    /// The number of attempts.
    #[arg(default = 1)]
    max_tries: u8,
) -> Result<u32, ToolError> {
    Ok(u32::from(max_tries) + u32::try_from(path.len())?)
}

fn view(many: &u32) -> ModelOutput {
    ModelOutput::text(format!("{many} deleted"))
}

fn main() {
    let tools = toolset![delete_file];
    let schema = tools.get("remove_file").unwrap().schema(Dialect::Mcp);
    assert!(tools.get("remove_file").unwrap().aliases().eq(["delete_file", "erase_file"]));
    assert!(schema.contains("filePath") && schema.contains("maxTries"));
}
