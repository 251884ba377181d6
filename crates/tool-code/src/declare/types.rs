//! Conversion of JSON Schemas to TypeScript types.

use std::fmt::Write as _;

use super::json::Json;

/// Maximum nesting depth, more than any provider accepts.
const DEEPEST: usize = 40;

/// The types of one schema, and the definitions that it refers to.
pub(super) struct Types<'a> {
    /// Prefix of the type names, because two tools may have definitions of the same name.
    space: String,
    root: &'a Json,
    /// Names of the referenced definitions, in the order of the first reference.
    named: Vec<String>,
}

impl<'a> Types<'a> {
    pub(super) fn new(tool: &str, part: &str, root: &'a Json) -> Self {
        let mut space = String::new();
        for word in tool.split(|letter: char| !letter.is_ascii_alphanumeric()) {
            let mut letters = word.chars();
            space.extend(letters.next().map(|first| first.to_ascii_uppercase()));
            space.push_str(letters.as_str());
        }
        space.push_str(part);
        Self {
            space,
            root,
            named: Vec::new(),
        }
    }

    /// Returns the type of a schema; `depth` is the indentation of its lines.
    pub(super) fn of(&mut self, schema: &Json, depth: usize) -> String {
        if depth > DEEPEST {
            return "unknown".to_owned();
        }
        if let Some(path) = schema.get("$ref").and_then(Json::text) {
            return self.reference(path);
        }
        if let Some(value) = schema.get("const") {
            return value.literal();
        }
        if let Some(values) = schema.get("enum") {
            return union(values.items().iter().map(Json::literal));
        }
        for word in ["anyOf", "oneOf"] {
            if let Some(shapes) = schema.get(word) {
                return union(shapes.items().iter().map(|shape| self.of(shape, depth)));
            }
        }
        if let Some(parts) = schema.get("allOf") {
            let parts: Vec<String> = parts
                .items()
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
                    .map(|kind| self.plain(kind.text().unwrap_or(""), schema, depth)),
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
        if let Some(items) = schema.get("prefixItems") {
            let items: Vec<String> = items
                .items()
                .iter()
                .map(|item| self.of(item, depth))
                .collect();
            return format!("[{}]", items.join(", "));
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
        let fields = schema.get("properties").map_or(&[][..], Json::entries);
        let rest = schema
            .get("additionalProperties")
            .filter(|rest| **rest != Json::Bool(false))
            .map(|rest| self.of(rest, depth + 1));
        if fields.is_empty() {
            return rest.map_or_else(|| "{}".to_owned(), |rest| format!("Record<string, {rest}>"));
        }
        let required = schema.get("required").map_or(&[][..], Json::items);
        let mut text = String::from("{\n");
        for (name, field) in fields {
            let must = required.iter().any(|known| known.text() == Some(name));
            text.push_str(&comment(&about(field), depth + 1));
            text.push_str(&indent(depth + 1));
            text.push_str(&key(name));
            text.push_str(if must { ": " } else { "?: " });
            text.push_str(&self.of(field, depth + 1));
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
        let name = match path.rsplit_once('/') {
            Some((_, name)) if !name.is_empty() => name.to_owned(),
            // The reference points to the whole schema.
            _ => String::new(),
        };
        if self.definition(&name).is_none() {
            return "unknown".to_owned();
        }
        if !self.named.contains(&name) {
            self.named.push(name.clone());
        }
        self.name_of(&name)
    }

    /// Returns the definition of a name; the empty name is the whole schema.
    fn definition(&self, name: &str) -> Option<&'a Json> {
        let root = self.root;
        if name.is_empty() {
            return Some(root);
        }
        let mut places = ["$defs", "definitions"].iter();
        places.find_map(|place| root.get(place)?.get(name))
    }

    fn name_of(&self, name: &str) -> String {
        let word = |letter: &char| letter.is_ascii_alphanumeric() || *letter == '_';
        format!(
            "{}{}",
            self.space,
            name.chars().filter(word).collect::<String>()
        )
    }

    /// Declares the referenced types, each on separate lines.
    pub(super) fn declared(mut self) -> String {
        let mut text = String::new();
        let mut done = 0;
        while let Some(name) = self.named.get(done).cloned() {
            done += 1;
            let schema = self.definition(&name);
            let Some(schema) = schema else { continue };
            let body = self.of(schema, 0);
            text.push_str(&comment(&about(schema), 0));
            let _ = writeln!(text, "type {} = {body};", self.name_of(&name));
        }
        text
    }
}

/// Returns whether the whole argument may be omitted, because all properties are optional.
pub(super) fn is_all_optional(schema: &Json) -> bool {
    schema
        .get("required")
        .is_none_or(|required| required.items().is_empty())
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

/// Constraints that a TypeScript type cannot express.
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

/// Returns the documentation of a value: its description, and the constraints that a type cannot express.
fn about(schema: &Json) -> String {
    let mut text = schema
        .get("description")
        .and_then(Json::text)
        .unwrap_or("")
        .to_owned();
    let said: Vec<String> = BOUNDS
        .iter()
        .filter_map(|word| Some(format!("@{word} {}", schema.get(word)?.literal())))
        .collect();
    let whole = schema.get("type").and_then(Json::text) == Some("integer");
    let whole = whole.then(|| "@type integer".to_owned());
    for line in whole.into_iter().chain(said) {
        if !text.is_empty() {
            text.push('\n');
        }
        text.push_str(&line);
    }
    text
}

/// Formats a doc comment before a line; empty if there is no text.
pub(super) fn comment(text: &str, depth: usize) -> String {
    let text = text.trim().replace("*/", "*\\/");
    let lead = indent(depth);
    match text.lines().count() {
        0 => String::new(),
        1 => format!("{lead}/** {text} */\n"),
        _ => {
            let mut lines = String::new();
            for line in text.lines() {
                let gap = if line.is_empty() { "" } else { " " };
                let _ = writeln!(lines, "{lead} *{gap}{}", line.trim_end());
            }
            format!("{lead}/**\n{lines}{lead} */\n")
        }
    }
}

fn indent(depth: usize) -> String {
    "  ".repeat(depth)
}

/// Formats a key for an object type.
pub(super) fn key(name: &str) -> String {
    let mut bytes = name.bytes();
    let plain = bytes
        .next()
        .is_some_and(|byte| byte.is_ascii_alphabetic() || byte == b'_' || byte == b'$')
        && bytes.all(|byte| byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'$');
    if plain {
        name.to_owned()
    } else {
        serde_json::Value::from(name).to_string()
    }
}
