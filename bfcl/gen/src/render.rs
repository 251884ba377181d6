//! The source of the tools.

use std::fmt::Write as _;

use crate::json::{Json, quoted};
use crate::names::{self, Names};
use crate::plan::{Definition, Tool};
use crate::shape::{Need, Property, Shape};

/// Tools in one file.
const IN_A_FILE: usize = 50;

/// More optional parameters than this bring a warning.
const MANY_OPTIONAL: usize = 10;

/// A longer name brings a warning.
const LONG_NAME: usize = 50;

/// A file to write below `src/generated`.
#[derive(Debug)]
pub struct File {
    /// Its name.
    pub name: String,
    /// Its text.
    pub text: String,
}

/// All files, `mod.rs` first.
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
    let mut types = Types {
        names: Names::default(),
        text: String::new(),
    };
    let stem = names::camel(&tool.name);
    let fields = names::fields(tool.parameters.iter().map(|property| &*property.key));
    let parameters = types.properties(&tool.parameters, &stem, Place::Parameter);
    out.push_str(&types.text);
    out.push('\n');
    let about = if definition.function.description.trim().is_empty() {
        format!("Calls `{}`.", definition.function.name)
    } else {
        definition.function.description.clone()
    };
    doc(out, &about, "");
    let _ = writeln!(
        out,
        "#[tool(category = \"{}\"{})]",
        definition.category,
        allowances(tool)
    );
    let name = &tool.name;
    let brace = if parameters.is_empty() { "" } else { "\n" };
    let _ = writeln!(
        out,
        "pub async fn {name}({brace}{parameters}) -> Result<Arrived, ToolError> {{"
    );
    let fields = if fields.is_empty() {
        "{}".to_owned()
    } else {
        format!("{{ {} }}", fields.join(", "))
    };
    let _ = writeln!(out, "    arrived(&{name} {fields})\n}}");
}

/// Warnings that the definition calls for and that nobody here can act on.
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

/// Indent of parameters and fields.
const INDENT: &str = "    ";

/// Where a property stands in Rust.
#[derive(Clone, Copy)]
enum Place {
    /// A parameter of the tool.
    Parameter,
    /// A field of a struct.
    Field,
}

/// The types that a tool needs, written as they are met.
struct Types {
    names: Names,
    text: String,
}

impl Types {
    /// Parameters or fields, one after the other.
    fn properties(&mut self, properties: &[Property], stem: &str, place: Place) -> String {
        let fields = names::fields(properties.iter().map(|property| &*property.key));
        let mut out = String::new();
        for (property, field) in properties.iter().zip(fields) {
            self.property(&mut out, property, &field, stem, place);
        }
        out
    }

    /// A parameter or a field: documentation, attributes, name and type.
    fn property(
        &mut self,
        out: &mut String,
        property: &Property,
        field: &str,
        stem: &str,
        place: Place,
    ) {
        let key = &property.key;
        if property.description.is_empty() {
            doc(out, &format!("The `{key}`."), INDENT);
        } else {
            doc(out, &property.description, INDENT);
        }
        let mut facts = Vec::new();
        if field.trim_start_matches("r#") != key {
            match place {
                Place::Parameter => facts.push(format!("rename = {}", quoted(key))),
                Place::Field => {
                    let _ = writeln!(out, "{INDENT}#[serde(rename = {})]", quoted(key));
                }
            }
        }
        if let Shape::Text {
            format: Some(format),
        } = &property.shape
        {
            facts.push(format!("format = {}", quoted(format)));
        }
        if let Need::Default(value) = &property.need {
            facts.push(format!("default = {}", literal(value)));
        }
        let (attribute, visibility) = match place {
            Place::Parameter => ("arg", ""),
            Place::Field => ("schema", "pub "),
        };
        if !facts.is_empty() {
            let _ = writeln!(out, "{INDENT}#[{attribute}({})]", facts.join(", "));
        }
        let mut rust = self.rust(&property.shape, &format!("{stem}{}", names::camel(key)));
        if property.need == Need::Optional {
            rust = format!("Option<{rust}>");
        }
        let _ = writeln!(out, "{INDENT}{visibility}{field}: {rust},");
    }

    /// The Rust type of a shape; types of its own are written before.
    fn rust(&mut self, shape: &Shape, name: &str) -> String {
        match shape {
            Shape::Text { .. } => "String".into(),
            Shape::Whole => "i64".into(),
            Shape::Number => "f64".into(),
            Shape::Flag => "bool".into(),
            Shape::List(items) => format!("Vec<{}>", self.rust(items, name)),
            Shape::Choice(values) => self.choice(values, name),
            Shape::WholeChoice(values) => self.whole_choice(values, name),
            Shape::Record(properties) => self.record(properties, name),
        }
    }

    fn choice(&mut self, values: &[String], name: &str) -> String {
        let name = self.names.unique(name, "");
        let mut variants = Names::default();
        let mut body = String::new();
        for value in values {
            let variant = variants.unique(&names::camel(value), "N");
            if variant != *value {
                let _ = writeln!(body, "    #[serde(rename = {})]", quoted(value));
            }
            let _ = writeln!(body, "    {variant},");
        }
        let _ = write!(
            self.text,
            "\n#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, StrictSchema)]\npub enum {name} {{\n{body}}}\n"
        );
        name
    }

    fn whole_choice(&mut self, values: &[i64], name: &str) -> String {
        let name = self.names.unique(name, "");
        let mut body = String::new();
        for value in values {
            let sign = if *value < 0 { "Minus" } else { "N" };
            let _ = writeln!(body, "    {sign}{} = {value},", value.unsigned_abs());
        }
        let _ = write!(
            self.text,
            "\n#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize_repr, Deserialize_repr, StrictSchema)]\n#[schema(integer)]\n#[repr(i64)]\npub enum {name} {{\n{body}}}\n"
        );
        name
    }

    fn record(&mut self, properties: &[Property], name: &str) -> String {
        let name = self.names.unique(name, "");
        let body = self.properties(properties, &name, Place::Field);
        let body = if body.is_empty() {
            "{}".to_owned()
        } else {
            format!("{{\n{body}}}")
        };
        let _ = write!(
            self.text,
            "\n#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, StrictSchema)]\npub struct {name} {body}\n"
        );
        name
    }
}

/// A default as the attribute takes it: JSON, with text in a spelling that Rust reads alike.
fn literal(value: &Json) -> String {
    match value {
        Json::Text(text) => format!("{text:?}"),
        Json::List(items) => {
            let items: Vec<String> = items.iter().map(literal).collect();
            format!("[{}]", items.join(", "))
        }
        Json::Record(entries) => {
            let entries: Vec<String> = entries
                .iter()
                .map(|(key, value)| format!("{key:?}: {}", literal(value)))
                .collect();
            format!("{{{}}}", entries.join(", "))
        }
        other => other.to_string(),
    }
}

fn doc(out: &mut String, text: &str, indent: &str) {
    for line in text.trim().lines() {
        let line = line.trim_end();
        let gap = if line.is_empty() { "" } else { " " };
        let _ = writeln!(out, "{indent}///{gap}{line}");
    }
}
