//! Conversion of JSON Schemas to TypeScript types.

use std::fmt::Write as _;

use super::{
    comment, definition, entries, indent, items, key, literal, name_of, named, type_space,
};
use crate::json::Json;

/// Maximum nesting depth, more than any provider accepts.
const DEEPEST: usize = 40;

/// The TypeScript types of one schema, and of the definitions that it refers to.
///
/// ```
/// use tool_import::json::Json;
/// use tool_import::typescript::Types;
///
/// let schema = Json::read(r#"{"type":"object","properties":{"days":{"type":"integer"}},"required":["days"]}"#)?;
/// let mut types = Types::new("get_weather", "Input", &schema);
/// assert_eq!(types.of(&schema, 0), "{\n  /** @type integer */\n  days: number;\n}");
/// assert_eq!(types.declared(""), "");
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct Types<'a> {
    /// Prefix of the type names, because two tools may have definitions of the same name.
    space: String,
    root: &'a Json,
    /// Names of the referenced definitions, in the order of the first reference.
    named: Vec<String>,
    /// The text after the type of an optional field.
    optional: &'static str,
}

impl<'a> Types<'a> {
    /// Creates an empty set of types for a schema. The names of its definitions begin with the name of the tool and of the part, such
    /// as `Input`.
    pub fn new(tool: &str, part: &str, root: &'a Json) -> Self {
        Self {
            space: type_space(tool) + part,
            root,
            named: Vec::new(),
            optional: "",
        }
    }

    /// Creates a set of types for a schema whose own type is declared too, with the name of the tool and of the part. The type of an optional field
    /// ends with `optional`.
    pub(super) fn named(tool: &str, part: &str, root: &'a Json, optional: &'static str) -> Self {
        Self {
            named: vec![String::new()],
            optional,
            ..Self::new(tool, part, root)
        }
    }

    /// Returns the type of a schema; `depth` is the indentation of its lines, in steps of two spaces.
    pub fn of(&mut self, schema: &Json, depth: usize) -> String {
        if depth > DEEPEST {
            return "unknown".to_owned();
        }
        if let Some(path) = schema.get("$ref").and_then(Json::as_text) {
            return self.reference(path);
        }
        if let Some(value) = schema.get("const") {
            return literal(value);
        }
        if let Some(values) = schema.get("enum") {
            return union(items(values).iter().map(literal));
        }
        for word in ["anyOf", "oneOf"] {
            if let Some(shapes) = schema.get(word) {
                return union(items(shapes).iter().map(|shape| self.of(shape, depth)));
            }
        }
        if let Some(parts) = schema.get("allOf") {
            let parts: Vec<String> = items(parts)
                .iter()
                .map(|part| self.of(part, depth))
                .collect();
            return parts.join(" & ");
        }
        match schema.get("type") {
            Some(Json::Text(kind)) => self.plain(kind, schema, depth),
            Some(Json::List(kinds)) => union(
                kinds
                    .iter()
                    .map(|kind| self.plain(kind.as_text().unwrap_or(""), schema, depth)),
            ),
            _ if schema.get("properties").is_some() => self.object(schema, depth),
            _ => "unknown".to_owned(),
        }
    }

    fn plain(&mut self, kind: &str, schema: &Json, depth: usize) -> String {
        match kind {
            "string" => "string".to_owned(),
            "integer" | "number" => "number".to_owned(),
            "boolean" => "boolean".to_owned(),
            "null" => "null".to_owned(),
            "array" => self.array(schema, depth),
            "object" => self.object(schema, depth),
            _ => "unknown".to_owned(),
        }
    }

    fn array(&mut self, schema: &Json, depth: usize) -> String {
        if let Some(parts) = schema.get("prefixItems") {
            let parts: Vec<String> = items(parts)
                .iter()
                .map(|item| self.of(item, depth))
                .collect();
            return format!("[{}]", parts.join(", "));
        }
        let item = schema
            .get("items")
            .map_or_else(|| "unknown".to_owned(), |items| self.of(items, depth));
        if item.contains([' ', '\n']) {
            format!("Array<{item}>")
        } else {
            format!("{item}[]")
        }
    }

    fn object(&mut self, schema: &Json, depth: usize) -> String {
        let fields = schema.get("properties").map_or(&[][..], entries);
        let rest = schema
            .get("additionalProperties")
            .filter(|rest| **rest != Json::Flag(false))
            .map(|rest| self.of(rest, depth + 1));
        if fields.is_empty() {
            return rest.map_or_else(|| "{}".to_owned(), |rest| format!("Record<string, {rest}>"));
        }
        let required = schema.get("required").map_or(&[][..], items);
        let mut text = String::from("{\n");
        for (name, field) in fields {
            let must = required.iter().any(|known| known.as_text() == Some(name));
            text.push_str(&comment(&about(field), depth + 1));
            text.push_str(&indent(depth + 1));
            text.push_str(&key(name));
            text.push_str(if must { ": " } else { "?: " });
            text.push_str(&self.of(field, depth + 1));
            text.push_str(if must { "" } else { self.optional });
            text.push_str(";\n");
        }
        if let Some(rest) = rest {
            let _ = writeln!(text, "{}[key: string]: {rest};", indent(depth + 1));
        }
        text.push_str(&indent(depth));
        text.push('}');
        text
    }

    /// Returns the type name for a reference, and records that its definition is needed.
    fn reference(&mut self, path: &str) -> String {
        let Some((name, _)) = definition(self.root, path) else {
            return "unknown".to_owned();
        };
        if !self.named.iter().any(|known| known == name) {
            self.named.push(name.to_owned());
        }
        name_of(&self.space, name)
    }

    /// Declares the referenced types. `lead` is the text before each `type`, such as `export `.
    pub fn declared(mut self, lead: &str) -> String {
        let mut text = String::new();
        let mut done = 0;
        while let Some(name) = self.named.get(done).cloned() {
            done += 1;
            let Some(schema) = named(self.root, &name) else {
                continue;
            };
            let body = self.of(schema, 0);
            text.push_str(&comment(&about(schema), 0));
            let _ = writeln!(text, "{lead}type {} = {body};", name_of(&self.space, &name));
        }
        text
    }
}

/// Joins types to a union without duplicates.
fn union(shapes: impl Iterator<Item = String>) -> String {
    let mut known: Vec<String> = Vec::new();
    for shape in shapes {
        if !known.contains(&shape) {
            known.push(shape);
        }
    }
    if known.is_empty() {
        "never".to_owned()
    } else {
        known.join(" | ")
    }
}

/// Keywords whose values a TypeScript type cannot express: constraints, and the default.
const BOUNDS: [&str; 13] = [
    "format",
    "pattern",
    "minimum",
    "maximum",
    "exclusiveMinimum",
    "exclusiveMaximum",
    "multipleOf",
    "minLength",
    "maxLength",
    "minItems",
    "maxItems",
    "uniqueItems",
    "default",
];

/// Returns the documentation of a value: its description, `@type integer` for an integer, and its keywords of [`BOUNDS`].
pub(super) fn about(schema: &Json) -> String {
    let mut text = schema
        .get("description")
        .and_then(Json::as_text)
        .unwrap_or("")
        .to_owned();
    let said: Vec<String> = BOUNDS
        .iter()
        .filter_map(|word| Some(format!("@{word} {}", literal(schema.get(word)?))))
        .collect();
    let whole = schema.get("type").and_then(Json::as_text) == Some("integer");
    let whole = whole.then(|| "@type integer".to_owned());
    for line in whole.into_iter().chain(said) {
        if !text.is_empty() {
            text.push('\n');
        }
        text.push_str(&line);
    }
    text
}
