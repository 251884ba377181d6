//! Rendering of the generated tools as Rust source.

use std::fmt::Write as _;

use tool_import::{names, source};

use crate::plan::{Definition, Tool};
use crate::shape::{Need, Property, Shape};

/// Maximum number of tools in one module. The compiler divides the code of a crate by module, to generate machine code in parallel.
const IN_A_MODULE: usize = 50;

/// Maximum number of optional parameters without a warning of the macro.
const MANY_OPTIONAL: usize = 10;

/// Maximum length of a name without a warning of the macro.
const LONG_NAME: usize = 50;

/// Renders the source of every tool, in modules `part_01`, `part_02` and so on. The source expects a module `arrived` at the root of its crate.
pub fn render(definitions: &[Definition]) -> String {
    let mut tools: Vec<(&Definition, &Tool)> = definitions
        .iter()
        .filter_map(|definition| Some((definition, definition.tool.as_ref().ok()?)))
        .collect();
    tools.sort_by_key(|(_, tool)| &tool.name);
    let mut text = String::new();
    for (at, tools) in tools.chunks(IN_A_MODULE).enumerate() {
        write_part(&mut text, at + 1, tools);
    }
    text
}

fn write_part(out: &mut String, number: usize, tools: &[(&Definition, &Tool)]) {
    let first = tools.first().map_or("", |(_, tool)| &tool.name);
    let last = tools.last().map_or("", |(_, tool)| &tool.name);
    let mut body = String::new();
    for (definition, tool) in tools {
        write_tool(&mut body, definition, tool);
    }
    let repr = if body.contains("_repr") {
        "use serde_repr::{Deserialize_repr, Serialize_repr};\n"
    } else {
        ""
    };
    let _ = write!(
        out,
        "
/// The tools from `{first}` to `{last}`.
pub mod part_{number:02} {{
{repr}use tool_core::prelude::*;

use crate::arrived::{{Arrived, arrived}};
{body}}}
"
    );
}

fn write_tool(out: &mut String, definition: &Definition, tool: &Tool) {
    let about = if definition.function.description.trim().is_empty() {
        format!("Calls `{}`.", definition.function.name)
    } else {
        definition.function.description.clone()
    };
    let name = &tool.name;
    let fields = names::fields(tool.parameters.iter().map(|property| &*property.key));
    let fields = if fields.is_empty() {
        "{}".to_owned()
    } else {
        format!("{{ {} }}", fields.join(", "))
    };
    source::tool(
        out,
        &source::Tool {
            name,
            description: &about,
            words: &format!("category = \"{}\"{}", definition.category, allowances(tool)),
            parameters: &tool.parameters,
            output: "Arrived",
            body: &format!("    arrived(&{name} {fields})"),
        },
    );
}

/// Returns an `allow` option for the warnings that the definition itself causes and that cannot be fixed here.
fn allowances(tool: &Tool) -> String {
    let mut rules = Vec::new();
    if optional(&tool.parameters) > MANY_OPTIONAL {
        rules.push("limit-optional");
    }
    if tool.name.len() > LONG_NAME {
        rules.push("tool-name-client");
    }
    if rules.is_empty() {
        String::new()
    } else {
        format!(", allow({})", rules.join(", "))
    }
}

fn optional(properties: &[Property]) -> usize {
    properties
        .iter()
        .map(|property| {
            let inner = match &property.shape {
                Shape::Record(inner) => optional(inner),
                _ => 0,
            };
            inner + usize::from(property.need != Need::Required)
        })
        .sum()
}
