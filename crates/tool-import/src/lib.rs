//! Generator of typed Rust tools and TypeScript types from JSON definitions.
//!
//! [`definitions`] finds the definitions in requests to providers, responses of MCP servers and schema files,
//! [`typed`] converts a schema to shapes that have Rust types, and [`source`](mod@source) writes them.
//!
//! ```
//! use tool_import::{definitions, source, typed};
//!
//! let text = r#"{"title":"add","type":"object","properties":{"a":{"type":"integer"}},"required":["a"]}"#;
//! let found = &definitions(text, "file")?[0];
//! let Ok(typed) = typed(&found.parameters) else {
//!     return Err("the schema has no Rust type".to_owned());
//! };
//!
//! let mut rust = String::new();
//! source::tool(
//!     &mut rust,
//!     &source::Tool {
//!         name: &found.name,
//!         description: "Adds one.",
//!         words: "",
//!         parameters: &typed.parameters,
//!         output: "i64",
//!         body: "    Ok(a + 1)",
//!     },
//! );
//! assert!(rust.contains("pub async fn add(\n    /// The `a`.\n    a: i64,\n) -> Result<i64, ToolError> {"));
//! # Ok::<(), String>(())
//! ```
//!
//! `cargo tool import` of the crate `tool-cli` runs this generator on the command line.

#![cfg_attr(docsrs, feature(doc_cfg))]

pub mod json;
pub mod names;
pub mod shape;
pub mod source;
mod tree;
pub mod typescript;

pub use tree::{Typed, typed};

use crate::json::Json;

/// A tool definition from an external source.
#[derive(Clone, Debug, PartialEq)]
pub struct Definition {
    /// The name in its original spelling.
    pub name: String,
    /// The description; empty if the definition has none.
    pub description: String,
    /// JSON Schema of the arguments.
    pub parameters: Json,
}

/// Finds the tool definitions in a text.
///
/// Accepts the tools of a request to `OpenAI` (Chat Completions or Responses), Anthropic or Gemini, the response of an MCP
/// server to `tools/list`, a single definition, and a JSON Schema. The tool of a JSON Schema gets the name in `title`, or `name` without a `title`.
///
/// # Errors
///
/// Fails if the text is not JSON, or if it contains no definition; the second error lists the accepted formats.
///
/// ```
/// use tool_import::definitions;
///
/// let text = r#"[{"type":"function","function":{"name":"add","parameters":{"type":"object","properties":{}}}}]"#;
/// assert_eq!(definitions(text, "file")?[0].name, "add");
/// # Ok::<(), String>(())
/// ```
pub fn definitions(text: &str, name: &str) -> Result<Vec<Definition>, String> {
    let json = Json::read(text).map_err(|error| format!("this is not JSON: {error}"))?;
    let found = gather(&json);
    if !found.is_empty() {
        return Ok(found);
    }
    let is_schema = ["type", "properties", "$ref", "anyOf"]
        .iter()
        .any(|key| json.get(key).is_some());
    if is_schema {
        let said = |key| json.get(key).and_then(Json::as_text);
        return Ok(vec![Definition {
            name: said("title").unwrap_or(name).to_owned(),
            description: said("description").unwrap_or_default().to_owned(),
            parameters: json.clone(),
        }]);
    }
    Err("the text contains no tool: it is neither a list of tools (OpenAI, Anthropic, Gemini, a response to `tools/list` of MCP) nor a JSON Schema".to_owned())
}

/// Keys that may contain a list of definitions.
const LISTS: [&str; 5] = [
    "tools",
    "result",
    "functionDeclarations",
    "function_declarations",
    "functions",
];

/// Keys that may contain the schema of the arguments.
const SCHEMAS: [&str; 5] = [
    "parameters",
    "input_schema",
    "inputSchema",
    "parametersJsonSchema",
    "parameters_json_schema",
];

fn gather(json: &Json) -> Vec<Definition> {
    if let Json::List(items) = json {
        return items.iter().flat_map(gather).collect();
    }
    // A JSON Schema contains the keys in `LISTS` only below `properties` and has no top-level `name`, so this fn finds no definition in it.
    if let Some(list) = LISTS.iter().find_map(|key| json.get(key)) {
        return gather(list);
    }
    if let Some(function) = json.get("function") {
        return gather(function);
    }
    let Some(name) = json.get("name").and_then(Json::as_text) else {
        return Vec::new();
    };
    let schema = SCHEMAS.iter().find_map(|key| json.get(key)).cloned();
    let description = json.get("description").and_then(Json::as_text);
    vec![Definition {
        name: name.to_owned(),
        description: description.unwrap_or_default().to_owned(),
        // A tool without arguments may omit the schema.
        parameters: schema.unwrap_or_else(|| {
            let text = |text: &str| Json::Text(text.to_owned());
            Json::Record(vec![
                ("type".to_owned(), text("object")),
                ("properties".to_owned(), Json::Record(Vec::new())),
            ])
        }),
    }]
}
