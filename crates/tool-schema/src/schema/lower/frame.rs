//! The text of a definition around a schema text, written at run time. The parent module writes the definition of a schema tree.

use std::fmt::Write as _;

use tool_rules::{Dialect, Dialects};

use crate::schema::dialect::Hints;
use crate::schema::lower::masks;

const fn is_in(set: u8, dialect: Dialect) -> bool {
    set & Dialects::only(dialect).bits() != 0
}

/// Returns the key of the schema in a definition, such as `parameters`.
pub const fn schema_key(dialect: Dialect) -> &'static str {
    let mut at = 0;
    while at < masks::SCHEMA_KEYS.len() {
        let (dialects, text) = masks::SCHEMA_KEYS[at];
        if is_in(dialects, dialect) {
            // The text is `,"KEY":`.
            return text.split_at(text.len() - 2).0.split_at(2).1;
        }
        at += 1;
    }
    ""
}

/// Returns the key under which a definition is wrapped, if the dialect wraps it.
pub const fn wrapper(dialect: Dialect) -> Option<&'static str> {
    if is_in(masks::WRAPPED, dialect) {
        Some("function")
    } else {
        None
    }
}

/// Returns whether the definitions are sent to a model in one request, so that their number and size are limited. In MCP and
/// plain JSON Schema, the list of tools is not a request to a model.
pub const fn is_request(dialect: Dialect) -> bool {
    is_in(masks::REQUEST, dialect)
}

/// The parts of a definition other than the schema.
#[derive(Clone, Copy, Debug)]
pub struct Heading<'a> {
    /// Name of the tool, as sent to the provider.
    pub name: &'a str,
    /// Display name; only MCP has a field for it.
    pub title: Option<&'a str>,
    /// Description for the model: what the tool does, and when to use it.
    pub description: &'a str,
    /// Annotations about side effects; only MCP has fields for them.
    pub hints: Hints,
    /// Whether the provider enforces the schema; dialects without such a setting omit it.
    pub strict: bool,
}

/// Writes the definition of a tool whose schema is a text, with the fields that the constants of `#[tool]` have, except the examples. In MCP, the
/// title comes after the description, not before it.
pub fn definition_around(dialect: Dialect, heading: &Heading<'_>, schema: &str) -> String {
    let Heading {
        name,
        title,
        description,
        hints,
        strict,
    } = heading;
    let mut out = String::with_capacity(name.len() + description.len() + schema.len() + 256);
    if let Some(key) = wrapper(dialect) {
        out.push_str(r#"{"type":"#);
        push_quoted(&mut out, key);
        out.push(',');
        push_quoted(&mut out, key);
        out.push(':');
    }
    out.push_str(r#"{"name":"#);
    push_quoted(&mut out, name);
    out.push_str(r#","description":"#);
    push_quoted(&mut out, description);
    if let Some(title) = title
        && is_in(masks::TITLE, dialect)
    {
        out.push_str(r#","title":"#);
        push_quoted(&mut out, title);
    }
    if is_in(masks::STRICT_BEFORE, dialect) {
        let _ = write!(out, r#","strict":{strict}"#);
    }
    out.push(',');
    push_quoted(&mut out, schema_key(dialect));
    out.push(':');
    out.push_str(schema);
    if is_in(masks::STRICT_AFTER, dialect) {
        let _ = write!(out, r#","strict":{strict}"#);
    }
    if is_in(masks::ANNOTATIONS, dialect) {
        let Hints {
            read_only,
            destructive,
            idempotent,
            open_world,
        } = hints;
        let _ = write!(
            out,
            r#","annotations":{{"readOnlyHint":{read_only},"destructiveHint":{destructive},"idempotentHint":{idempotent},"openWorldHint":{open_world}}}"#
        );
    }
    out.push('}');
    if wrapper(dialect).is_some() {
        out.push('}');
    }
    out
}

/// Appends a JSON string.
fn push_quoted(out: &mut String, text: &str) {
    out.push_str(&serde_json::Value::from(text).to_string());
}
