//! TypeScript declarations of tools, for a model that writes code against them.

use std::fmt::Write as _;

use tool_core::schema::dialect::schema_text;
use tool_core::{Dialect, ToolDef};
use tool_import::json::Json;
use tool_import::typescript::{Types, comment, is_all_optional, key};

/// The declaration of a tool.
pub(crate) struct Declaration {
    /// The types that the method refers to; they are declared before `tools`.
    types: String,
    /// The declaration of the method in `tools`.
    method: String,
}

impl Declaration {
    pub(crate) fn of(tool: &ToolDef) -> Self {
        let name = tool.wire_name();
        let read = |text: &str| Json::read(text).unwrap_or(Json::Null);
        let input = read(&schema_text(tool.input(), Dialect::JsonSchema));
        let output = tool.output_schema().map(|schema| read(&schema));

        let mut arguments = Types::new(name, "Input", &input);
        let taken = arguments.of(&input, 1);
        let optional = if is_all_optional(&input) { "?" } else { "" };
        let mut results = Types::new(name, "Output", output.as_ref().unwrap_or(&Json::Null));
        let given = output
            .as_ref()
            .map_or_else(|| "unknown".to_owned(), |schema| results.of(schema, 1));

        let mut method = comment(tool.description(), 1);
        let key = key(name);
        let _ = writeln!(
            method,
            "  {key}(args{optional}: {taken}): Promise<{given}>;"
        );
        Self {
            types: arguments.declared("") + &results.declared(""),
            method,
        }
    }
}

/// Joins the declarations of several tools to one text.
pub(crate) fn declarations<'a>(tools: impl Iterator<Item = &'a ToolDef>) -> String {
    let (mut types, mut methods) = (String::new(), String::new());
    for tool in tools {
        let declaration = Declaration::of(tool);
        types.push_str(&declaration.types);
        methods.push_str(&declaration.method);
    }
    format!("{types}declare const tools: {{\n{methods}}};\n")
}
