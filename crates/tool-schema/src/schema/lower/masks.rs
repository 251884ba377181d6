//! The lowering table: the fields of a definition in each dialect, and the dialects that support each keyword. Where a dialect does not support the
//! keyword of a bound, the bound is written in the description or omitted.
//!
//! Each constant is a set of dialects. A new dialect needs a bit here. Sets of the form `ALL & !X` contain the new bit already; add it to each
//! other set that applies to the dialect.

use tool_rules::{Dialect, Dialects};

use crate::schema::Format;

const fn bit(dialect: Dialect) -> u8 {
    Dialects::only(dialect).bits()
}

pub(super) const OPENAI: u8 = bit(Dialect::OpenAi);
pub(super) const ANTHROPIC: u8 = bit(Dialect::Anthropic);
pub(super) const GEMINI: u8 = bit(Dialect::Gemini);
pub(super) const MCP: u8 = bit(Dialect::Mcp);
pub(super) const JSON_SCHEMA: u8 = bit(Dialect::JsonSchema);
pub(super) const ALL: u8 = Dialects::ALL.bits();

/// Dialects whose definitions are inside `{"type":"function","function":{…}}`.
pub(super) const WRAPPED: u8 = OPENAI;
/// Dialects with a field for the display name.
pub(super) const TITLE: u8 = MCP;
/// Dialects that have the field `strict` before the schema.
pub(super) const STRICT_BEFORE: u8 = OPENAI;
/// Dialects that have the field `strict` after the schema.
pub(super) const STRICT_AFTER: u8 = ANTHROPIC;
/// Dialects that have a field for example inputs.
pub(super) const INPUT_EXAMPLES: u8 = ANTHROPIC;
/// Dialects with annotations about side effects.
pub(super) const ANNOTATIONS: u8 = MCP;
/// Dialects whose definitions are sent to a model in one request, which has size limits.
pub(super) const REQUEST: u8 = ALL & !MCP & !JSON_SCHEMA;

/// The keys of the schema in a definition: for each key, the dialects that use the key, and the text from the comma to the colon.
pub(super) const SCHEMA_KEYS: [(u8, &str); 4] = [
    (OPENAI | JSON_SCHEMA, r#","parameters":"#),
    (ANTHROPIC, r#","input_schema":"#),
    (GEMINI, r#","parametersJsonSchema":"#),
    (MCP, r#","inputSchema":"#),
];

// Each dialect has exactly one key for the schema.
const _: () = {
    let (mut keyed, mut at) = (0, 0);
    while at < SCHEMA_KEYS.len() {
        assert!(
            keyed & SCHEMA_KEYS[at].0 == 0,
            "a dialect has two keys for the schema"
        );
        keyed |= SCHEMA_KEYS[at].0;
        at += 1;
    }
    assert!(keyed == ALL, "a dialect has no key for the schema");
};

/// Dialects in which an optional field is required and may be null. In the other dialects, the field is not required.
pub(super) const OPTIONAL_AS_NULL: u8 = OPENAI;
/// Dialects with a list of keys in the order in which the model generates them.
pub(super) const PROPERTY_ORDERING: u8 = GEMINI;
/// Dialects that support `minimum` and `maximum`.
pub(super) const RANGE: u8 = ALL & !ANTHROPIC;
/// Dialects that support `exclusiveMinimum`, `exclusiveMaximum` and `multipleOf`.
pub(super) const FINE_RANGE: u8 = ALL & !ANTHROPIC & !GEMINI;
/// Dialects that support `minLength` and `maxLength`.
pub(super) const LENGTH: u8 = ALL & !GEMINI;
/// Dialects that get lengths in words, because the provider does not support the keyword or does not guarantee to enforce it.
pub(super) const LENGTH_PROSE: u8 = OPENAI | ANTHROPIC | GEMINI;
/// Dialects that support `pattern`.
pub(super) const PATTERN: u8 = ALL & !GEMINI;
/// Dialects that support `maxItems`, and `minItems` above one.
pub(super) const ITEMS: u8 = ALL & !ANTHROPIC;
/// Dialects that support `uniqueItems`, `default` and `not`.
pub(super) const ONLY_JSON_SCHEMA: u8 = JSON_SCHEMA;

/// Dialects that support `format` with this value.
pub(super) const fn format(format: Format) -> u8 {
    match format {
        Format::DateTime | Format::Date | Format::Time => ALL,
        Format::Duration
        | Format::Email
        | Format::Hostname
        | Format::Ipv4
        | Format::Ipv6
        | Format::Uuid => ALL & !GEMINI,
        // Written as `anyOf` of two formats.
        Format::Ip => JSON_SCHEMA,
        Format::Uri | Format::Unknown(_) => 0,
    }
}
