//! Rendering of the generated tools as Rust source.

use std::fmt::Write as _;

use tool_import::{names, source};

use crate::plan::{Definition, Tool};
use crate::shape::{Need, Property, Shape};

/// Maximum number of tools in one file.
const IN_A_FILE: usize = 50;

/// Maximum number of optional parameters without a warning of the macro.
const MANY_OPTIONAL: usize = 10;

/// Maximum length of a name without a warning of the macro.
const LONG_NAME: usize = 50;

/// A file to write below `src/generated`.
#[derive(Debug)]
pub struct File {
    /// The file name, such as `part_01.rs`.
    pub name: String,
    /// The content of the file.
    pub text: String,
}

/// Renders all files, `mod.rs` first.
pub fn render(definitions: &[Definition]) -> Vec<File> {
    let mut tools: Vec<(&Definition, &Tool)> = definitions
        .iter()
        .filter_map(|definition| Some((definition, definition.tool.as_ref().ok()?)))
        .collect();
    tools.sort_by_key(|(_, tool)| &tool.name);
    let parts: Vec<File> = tools
        .chunks(IN_A_FILE)
        .enumerate()
        .map(|(at, tools)| File {
            name: format!("part_{:02}.rs", at + 1),
            text: part(tools),
        })
        .collect();
    let mut files = vec![root(&parts)];
    files.extend(parts);
    files
}

const MADE: &str = "// Written by `cargo run -p bfcl-gen`, do not edit.\n";

fn root(parts: &[File]) -> File {
    let mut text = format!(
        "{MADE}
//! The function definitions of the sample as typed tools.

#![allow(
    missing_docs,
    reason = \"the definitions document parameters and fields, never the types and values\"
)]
#![allow(
    clippy::doc_markdown,
    clippy::doc_lazy_continuation,
    clippy::doc_link_with_quotes,
    clippy::too_long_first_doc_paragraph,
    rustdoc::bare_urls,
    rustdoc::broken_intra_doc_links,
    rustdoc::invalid_html_tags,
    reason = \"the texts are the leaderboard's, word for word\"
)]
#![allow(
    clippy::struct_field_names,
    clippy::enum_variant_names,
    clippy::struct_excessive_bools,
    clippy::fn_params_excessive_bools,
    clippy::similar_names,
    clippy::many_single_char_names,
    clippy::unreadable_literal,
    reason = \"the shapes are the leaderboard's\"
)]

"
    );
    for part in parts {
        let _ = writeln!(text, "pub mod {};", part.name.trim_end_matches(".rs"));
    }
    File {
        name: "mod.rs".into(),
        text,
    }
}

fn part(tools: &[(&Definition, &Tool)]) -> String {
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
    format!(
        "{MADE}
//! From `{first}` to `{last}`.

{repr}use tool_core::prelude::*;

use crate::arrived::{{Arrived, arrived}};
{body}"
    )
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

/// An `allow` for the warnings that the definition itself causes and that cannot be fixed here.
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
