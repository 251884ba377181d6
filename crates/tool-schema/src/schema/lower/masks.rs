//! The lowering table: which dialects support which keyword. For the others, the bound goes into the description or is omitted.

use crate::schema::Format;

pub(super) const OPENAI: u8 = 1;
pub(super) const ANTHROPIC: u8 = 1 << 1;
pub(super) const GEMINI: u8 = 1 << 2;
pub(super) const MCP: u8 = 1 << 3;
pub(super) const JSON_SCHEMA: u8 = 1 << 4;
pub(super) const ALL: u8 = 0b1_1111;

/// Dialects that support `minimum` and `maximum`.
pub(super) const RANGE: u8 = ALL & !ANTHROPIC;
/// Dialects that support `exclusiveMinimum`, `exclusiveMaximum` and `multipleOf`.
pub(super) const FINE_RANGE: u8 = ALL & !ANTHROPIC & !GEMINI;
/// Dialects that support `minLength` and `maxLength`.
pub(super) const LENGTH: u8 = ALL & !GEMINI;
/// Dialects that also get lengths in words, because they do not guarantee that the keyword is enforced.
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
