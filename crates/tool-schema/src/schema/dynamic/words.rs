//! Helpers for keywords of a schema: formats, property keys, enum values and patterns.

use core::mem::discriminant;

use super::doc::Doc;

/// String formats that both `OpenAI` and Anthropic support.
pub(super) const FORMATS: [&str; 9] = [
    "date-time",
    "time",
    "date",
    "duration",
    "email",
    "hostname",
    "ipv4",
    "ipv6",
    "uuid",
];

/// Returns whether a provider accepts a property key: with `loose` by Anthropic's rule for the top level, otherwise by Gemini's
/// rule, which is stricter and applies everywhere.
pub(super) fn key_of(name: &str, loose: bool) -> bool {
    let fits = |c: char| c.is_ascii_alphanumeric() || c == '_' || (loose && matches!(c, '.' | '-'));
    (1..=64).contains(&name.len())
        && name.chars().all(fits)
        && (loose || !name.starts_with(|c: char| c.is_ascii_digit()))
}

/// Returns whether the values have several JSON types; null is ignored if `nullable` is set.
pub(super) fn mixed(values: &[Doc], nullable: bool) -> bool {
    let mut kinds = values
        .iter()
        .filter(|value| !(nullable && **value == Doc::Null))
        .map(discriminant);
    let Some(first) = kinds.next() else {
        return false;
    };
    kinds.any(|kind| kind != first)
}

/// Returns whether a pattern uses a feature that no strict mode supports: lookaround, backreferences, word boundaries.
pub(super) fn looks_around(pattern: &str) -> bool {
    let mut rest = pattern;
    while let Some(c) = rest.chars().next() {
        let after = &rest[c.len_utf8()..];
        match c {
            '\\' => {
                let Some(escaped) = after.chars().next() else {
                    return false;
                };
                if matches!(escaped, '1'..='9' | 'b' | 'B' | 'k') {
                    return true;
                }
                rest = &after[escaped.len_utf8()..];
                continue;
            }
            '(' if ["?=", "?!", "?<=", "?<!"]
                .iter()
                .any(|look| after.starts_with(look)) =>
            {
                return true;
            }
            _ => {}
        }
        rest = after;
    }
    false
}
