//! Conversion of JSON Schemas to schemas of zod 4.

use std::fmt::Write as _;

use super::{definition, entries, indent, items, key, literal, name_of, named, type_space};
use crate::json::{Json, quoted};

/// Maximum nesting depth, more than any provider accepts.
const DEEPEST: usize = 40;

/// The largest safe integer of JavaScript, 2^53 - 1: its numbers represent each smaller positive integer exactly.
const SAFE: i64 = 9_007_199_254_740_991;

/// The zod schemas of one schema, and of the definitions that it refers to.
pub(super) struct Zod<'a> {
    space: String,
    root: &'a Json,
    /// Names of the referenced definitions, in the order of the first reference; the first is the whole schema.
    named: Vec<String>,
    /// The method for the schema of an optional field.
    optional: &'static str,
}

impl<'a> Zod<'a> {
    pub(super) fn new(tool: &str, part: &str, root: &'a Json, optional: &'static str) -> Self {
        Self {
            space: type_space(tool) + part,
            root,
            named: vec![String::new()],
            optional,
        }
    }

    /// Declares the schema and the schemas that it refers to. Each constant has the type that [`Types`](super::Types) declares, so the compiler
    /// compares them.
    pub(super) fn declared(mut self) -> String {
        let mut text = String::new();
        let mut done = 0;
        while let Some(name) = self.named.get(done).cloned() {
            done += 1;
            let Some(schema) = named(self.root, &name) else {
                continue;
            };
            let body = self.of(schema, 0);
            let own = name_of(&self.space, &name);
            let _ = writeln!(text, "export const {own}Schema: z.ZodType<{own}> = {body};");
        }
        text
    }

    fn of(&mut self, schema: &Json, depth: usize) -> String {
        if depth > DEEPEST {
            return "z.unknown()".to_owned();
        }
        if let Some(path) = schema.get("$ref").and_then(Json::as_text) {
            return self.reference(path);
        }
        if let Some(value) = schema.get("const") {
            return constant(value);
        }
        if let Some(values) = schema.get("enum") {
            return choice(items(values));
        }
        for word in ["anyOf", "oneOf"] {
            if let Some(shapes) = schema.get(word) {
                return union(items(shapes).iter().map(|shape| self.of(shape, depth)));
            }
        }
        if let Some(parts) = schema.get("allOf") {
            let parts = items(parts).iter().map(|part| self.of(part, depth));
            let both = parts.reduce(|one, other| format!("z.intersection({one}, {other})"));
            return both.unwrap_or_else(|| "z.unknown()".to_owned());
        }
        match schema.get("type") {
            Some(Json::Text(kind)) => self.plain(kind, schema, depth),
            Some(Json::List(kinds)) => {
                let kinds = kinds.iter().filter_map(Json::as_text);
                union(kinds.map(|kind| self.plain(kind, schema, depth)))
            }
            _ if schema.get("properties").is_some() => self.object(schema, depth),
            _ => "z.unknown()".to_owned(),
        }
    }

    fn plain(&mut self, kind: &str, schema: &Json, depth: usize) -> String {
        match kind {
            "string" => string(schema),
            "integer" => "z.int()".to_owned() + &bounds(schema, true),
            "number" => "z.number()".to_owned() + &bounds(schema, false),
            "boolean" => "z.boolean()".to_owned(),
            "null" => "z.null()".to_owned(),
            "array" => self.array(schema, depth),
            "object" => self.object(schema, depth),
            _ => "z.unknown()".to_owned(),
        }
    }

    fn array(&mut self, schema: &Json, depth: usize) -> String {
        if let Some(parts) = schema.get("prefixItems") {
            let parts: Vec<String> = items(parts)
                .iter()
                .map(|part| self.of(part, depth))
                .collect();
            return format!("z.tuple([{}])", parts.join(", "));
        }
        let item = schema.get("items").map(|item| self.of(item, depth));
        let item = item.unwrap_or_else(|| "z.unknown()".to_owned());
        let mut text = format!("z.array({item})");
        for (word, method) in [("minItems", "min"), ("maxItems", "max")] {
            if let Some(count) = schema.get(word) {
                let _ = write!(text, ".{method}({})", literal(count));
            }
        }
        text
    }

    fn object(&mut self, schema: &Json, depth: usize) -> String {
        let fields = schema.get("properties").map_or(&[][..], entries);
        let rest = schema.get("additionalProperties");
        let closed = rest == Some(&Json::Flag(false));
        if fields.is_empty() && !closed {
            let rest =
                rest.map_or_else(|| "z.unknown()".to_owned(), |rest| self.of(rest, depth + 1));
            return format!("z.record(z.string(), {rest})");
        }
        let required = schema.get("required").map_or(&[][..], items);
        let mut text = String::from(if closed {
            "z.strictObject({"
        } else {
            "z.object({"
        });
        for (name, field) in fields {
            let must = required.iter().any(|known| known.as_text() == Some(name));
            let _ = write!(
                text,
                "\n{}{}: {}{}{},",
                indent(depth + 1),
                key(name),
                self.of(field, depth + 1),
                if must { "" } else { self.optional },
                described(field)
            );
        }
        if !fields.is_empty() {
            text.push('\n');
            text.push_str(&indent(depth));
        }
        text.push_str("})");
        if let Some(rest) = rest.filter(|_| !closed) {
            let _ = write!(text, ".catchall({})", self.of(rest, depth + 1));
        }
        text
    }

    /// Returns a reference to the schema of a definition, which may be declared later, and records that the definition is needed.
    fn reference(&mut self, path: &str) -> String {
        let Some((name, _)) = definition(self.root, path) else {
            return "z.unknown()".to_owned();
        };
        if !self.named.iter().any(|known| known == name) {
            self.named.push(name.to_owned());
        }
        format!("z.lazy(() => {}Schema)", name_of(&self.space, name))
    }
}

/// Returns `.describe("…")` with the description of a field.
fn described(schema: &Json) -> String {
    let text = schema.get("description").and_then(Json::as_text);
    text.map_or_else(String::new, |text| format!(".describe({})", quoted(text)))
}

fn constant(value: &Json) -> String {
    match value {
        Json::Null => "z.null()".to_owned(),
        Json::List(_) | Json::Record(_) => format!(
            "z.custom<{}>((value) => JSON.stringify(value) === {})",
            literal(value),
            quoted(&value.to_string())
        ),
        plain => format!("z.literal({})", literal(plain)),
    }
}

fn choice(values: &[Json]) -> String {
    let texts: Vec<_> = values.iter().filter_map(Json::as_text).collect();
    if !values.is_empty() && texts.len() == values.len() {
        let texts: Vec<String> = texts.into_iter().map(quoted).collect();
        return format!("z.enum([{}])", texts.join(", "));
    }
    union(values.iter().map(constant))
}

fn union(shapes: impl Iterator<Item = String>) -> String {
    let mut shapes: Vec<String> = shapes.collect();
    match shapes.len() {
        0 => "z.never()".to_owned(),
        1 => shapes.remove(0),
        _ => format!("z.union([{}])", shapes.join(", ")),
    }
}

fn string(schema: &Json) -> String {
    let mut text = match schema.get("format").and_then(Json::as_text) {
        Some("date") => "z.iso.date()",
        Some("uuid") => "z.guid()",
        _ => "z.string()",
    }
    .to_owned();
    let number = |word| schema.get(word).map(literal);
    match (number("minLength"), number("maxLength")) {
        (None, None) => {}
        (least, most) => {
            let least = least.unwrap_or_else(|| "0".to_owned());
            let most = most.unwrap_or_else(|| "Infinity".to_owned());
            let says = match &*most {
                "Infinity" => format!("must have at least {least} characters"),
                _ => format!("must have {least} to {most} characters"),
            };
            let _ = write!(text, ".refine(length({least}, {most}), {})", quoted(&says));
        }
    }
    if let Some(pattern) = schema.get("pattern").and_then(Json::as_text) {
        let _ = write!(text, ".regex(new RegExp({}, \"u\"))", quoted(pattern));
    }
    text
}

/// Returns the bounds of a number. Omits bounds of integers that are not safe integers of JavaScript.
fn bounds(schema: &Json, integer: bool) -> String {
    let mut text = String::new();
    for (word, method) in [
        ("minimum", "gte"),
        ("maximum", "lte"),
        ("exclusiveMinimum", "gt"),
        ("exclusiveMaximum", "lt"),
        ("multipleOf", "multipleOf"),
    ] {
        let Some(Json::Number(bound)) = schema.get(word) else {
            continue;
        };
        let safe = |bound: i64| (-SAFE..=SAFE).contains(&bound);
        if !integer || bound.parse().is_ok_and(safe) {
            let _ = write!(text, ".{method}({bound})");
        }
    }
    text
}
