//! Rust source of typed tools.

use std::fmt::Write as _;

use super::names::{self, Names};
use super::shape::{Need, Property, Shape, Variant};
use crate::json::Json;

/// The parts of a tool's source.
#[derive(Clone, Copy, Debug)]
pub struct Tool<'a> {
    /// The name of the generated fn.
    pub name: &'a str,
    /// The description: the purpose of the tool, and when to use it.
    pub description: &'a str,
    /// The arguments of `#[tool(…)]`; may be empty.
    pub words: &'a str,
    /// The parameters of the tool.
    pub parameters: &'a [Property],
    /// The Rust type of the output if the call succeeds.
    pub output: &'a str,
    /// The source lines of the body.
    pub body: &'a str,
}

/// Writes the source of a tool, preceded by the types that its parameters need.
pub fn tool(out: &mut String, tool: &Tool<'_>) {
    let mut types = Types {
        names: Names::default(),
        text: String::new(),
    };
    let stem = names::camel(tool.name);
    let parameters = types.properties(tool.parameters, &stem, Place::Parameter);
    out.push_str(&types.text);
    out.push('\n');
    doc(out, tool.description, "");
    let words = match tool.words {
        "" => String::new(),
        words => format!("({words})"),
    };
    let _ = writeln!(out, "#[tool{words}]");
    let brace = if parameters.is_empty() { "" } else { "\n" };
    let _ = writeln!(
        out,
        "pub async fn {}({brace}{parameters}) -> Result<{}, ToolError> {{\n{}\n}}",
        tool.name, tool.output, tool.body
    );
}

/// Returns a name for an unnamed variant, from the kind of its shape.
fn kind(shape: &Shape) -> &'static str {
    match shape {
        Shape::Text { .. } | Shape::Choice(_) => "text",
        Shape::Whole | Shape::WholeChoice(_) => "whole",
        Shape::Number => "number",
        Shape::Flag => "flag",
        Shape::List(_) => "list",
        Shape::Record(_) => "record",
        Shape::Union { .. } => "choice",
    }
}

/// Indentation of parameters and fields.
const INDENT: &str = "    ";

/// The position of a property in the Rust source.
#[derive(Clone, Copy)]
enum Place {
    /// A parameter of the tool.
    Parameter,
    /// A field of a struct.
    Field,
    /// A field of an enum's variant.
    Variant,
}

/// The types that a tool needs. A type is written after the types that it contains.
struct Types {
    names: Names,
    text: String,
}

impl Types {
    /// Formats properties as parameters or fields.
    fn properties(&mut self, properties: &[Property], stem: &str, place: Place) -> String {
        let fields = names::fields(properties.iter().map(|property| &*property.key));
        let mut out = String::new();
        for (property, field) in properties.iter().zip(fields) {
            self.property(&mut out, property, &field, stem, place);
        }
        out
    }

    /// Writes a parameter or field: documentation, attributes, name and type.
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
                Place::Parameter => facts.push(format!("rename = {key:?}")),
                Place::Field | Place::Variant => {
                    let _ = writeln!(out, "{INDENT}#[serde(rename = {key:?})]");
                }
            }
        }
        if let Shape::Text {
            format: Some(format),
        } = &property.shape
        {
            facts.push(format!("format = {format:?}"));
        }
        facts.extend(property.bounds.iter().cloned());
        if let Need::Default(value) = &property.need {
            facts.push(format!("default = {}", literal(value)));
        }
        let (attribute, visibility) = match place {
            Place::Parameter => ("arg", ""),
            Place::Field => ("schema", "pub "),
            Place::Variant => ("schema", ""),
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

    /// Returns the Rust type of a shape; writes the types that it needs first.
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
            Shape::Union { tag, variants } => self.union(tag.as_deref(), variants, name),
        }
    }

    fn union(&mut self, tag: Option<&str>, variants: &[Variant], name: &str) -> String {
        let name = self.names.unique(name, "");
        let mut names = Names::default();
        let mut body = String::new();
        for variant in variants {
            let said = if variant.name.is_empty() {
                kind(&variant.shape)
            } else {
                &variant.name
            };
            let own = names.unique(&names::camel(said), "N");
            doc(&mut body, &variant.description, INDENT);
            if tag.is_some() && own != variant.name {
                let _ = writeln!(body, "    #[serde(rename = {:?})]", variant.name);
            }
            match (&variant.shape, tag) {
                (Shape::Record(properties), Some(_)) => {
                    let fields =
                        self.properties(properties, &format!("{name}{own}"), Place::Variant);
                    let _ = writeln!(body, "    {own} {{\n{fields}    }},");
                }
                (shape, _) => {
                    let inner = self.rust(shape, &format!("{name}{own}"));
                    let _ = writeln!(body, "    {own}({inner}),");
                }
            }
        }
        let how = match tag {
            Some(tag) => format!("tag = {tag:?}"),
            None => "untagged".to_owned(),
        };
        let _ = write!(
            self.text,
            "\n#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, StrictSchema)]\n#[serde({how})]\npub enum {name} {{\n{body}}}\n"
        );
        name
    }

    fn choice(&mut self, values: &[String], name: &str) -> String {
        let name = self.names.unique(name, "");
        let mut variants = Names::default();
        let mut body = String::new();
        for value in values {
            let variant = variants.unique(&names::camel(value), "N");
            if variant != *value {
                let _ = writeln!(body, "    #[serde(rename = {value:?})]");
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

/// Formats a default for the attribute: JSON in which strings are Rust string literals.
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
        // Rust rejects a lone carriage return in a comment, and a terminal that prints the file would interpret other control characters.
        let line = line.replace(char::is_control, " ");
        let line = line.trim_end();
        let gap = if line.is_empty() { "" } else { " " };
        let _ = writeln!(out, "{indent}///{gap}{line}");
    }
}
