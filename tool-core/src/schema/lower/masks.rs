//! The lowering table: which dialects say what by keyword. The others say it in words, or not at all.

use crate::schema::Format;

pub(super) const OPENAI: u8 = 1;
pub(super) const ANTHROPIC: u8 = 1 << 1;
pub(super) const GEMINI: u8 = 1 << 2;
pub(super) const MCP: u8 = 1 << 3;
pub(super) const JSON_SCHEMA: u8 = 1 << 4;
pub(super) const ALL: u8 = 0b1_1111;

/// `minimum` and `maximum`.
pub(super) const RANGE: u8 = ALL & !ANTHROPIC;
/// `exclusiveMinimum`, `exclusiveMaximum` and `multipleOf`.
pub(super) const FINE_RANGE: u8 = ALL & !ANTHROPIC & !GEMINI;
/// `minLength` and `maxLength`.
pub(super) const LENGTH: u8 = ALL & !GEMINI;
/// Lengths in words too: no guarantee that the keyword is enforced.
pub(super) const LENGTH_PROSE: u8 = OPENAI | ANTHROPIC | GEMINI;
/// `pattern`.
pub(super) const PATTERN: u8 = ALL & !GEMINI;
/// `maxItems`, and `minItems` above one.
pub(super) const ITEMS: u8 = ALL & !ANTHROPIC;
/// `uniqueItems`, `default`, `not`.
pub(super) const ONLY_JSON_SCHEMA: u8 = JSON_SCHEMA;

/// `format` with this value.
pub(super) const fn format(format: Format) -> u8 {
    match format {
        Format::DateTime | Format::Date | Format::Time => ALL,
        Format::Duration
        | Format::Email
        | Format::Hostname
        | Format::Ipv4
        | Format::Ipv6
        | Format::Uuid => ALL & !GEMINI,
        // Spelled as two formats.
        Format::Ip => JSON_SCHEMA,
        Format::Uri | Format::Unknown(_) => 0,
    }
}
