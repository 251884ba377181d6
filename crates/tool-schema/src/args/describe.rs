//! Short descriptions of schemas and values, for issues.

use std::fmt::Write as _;

use super::bytes::decode;
use super::issue::cut;
use super::scan::Cursor;
use super::sink::Place;
use crate::schema::{Constraints, Field, Integer, Kind, Tagging, Union, Variant};

/// Maximum length of an excerpt, in characters.
const EXCERPT: usize = 40;
/// Maximum number of names in one list.
const NAMES: usize = 12;

/// Describes the values that a place accepts, for example "a whole number from 1 to 50".
pub(super) fn wanted(place: Place<'_>, found: &str) -> String {
    let bounds = place.bounds.unwrap_or(&Constraints::NONE);
    match &place.schema.kind {
        Kind::String | Kind::Char | Kind::Format(_) | Kind::Duration => {
            text(&place.schema.kind, bounds)
        }
        Kind::Integer(kind) => integer(kind, bounds, found),
        Kind::Number { single } => {
            let mut out = "a number".to_owned();
            range(&mut out, bounds, None);
            if found.starts_with(['-', '0', '1', '2', '3', '4', '5', '6', '7', '8', '9'])
                && out == "a number"
            {
                let bits = if *single { 32 } else { 64 };
                let _ = write!(out, " that fits {bits} bits");
            }
            out
        }
        Kind::Boolean => "`true` or `false`".to_owned(),
        Kind::Enum(values) => one_of(values.iter().map(|value| value.value)),
        Kind::IntegerEnum(values) => {
            let values: Vec<String> = values.iter().map(|value| value.value.to_string()).collect();
            format!(
                "the number {}",
                join(values.iter().map(String::as_str), "", "or")
            )
        }
        Kind::Array {
            items: _,
            unique,
            exactly,
        } => list(bounds, *unique, *exactly),
        Kind::Tuple(items) => format!("a list of exactly {}", counted(items.len(), "item")),
        Kind::Object(fields) => object(fields),
        Kind::Map(_) => "an object".to_owned(),
        Kind::Union(shape) => union(shape, place),
        Kind::Optional(inner) | Kind::Constrained(inner, _) => {
            let bounds = match &place.schema.kind {
                Kind::Constrained(_, own) => own.under(bounds),
                _ => *bounds,
            };
            wanted(
                Place {
                    schema: inner,
                    bounds: Some(&bounds),
                    ..place
                },
                found,
            )
        }
        Kind::Ref(name) => format!("a nested `{name}`"),
        Kind::Any => "JSON".to_owned(),
        Kind::Null => "null".to_owned(),
        Kind::Never | Kind::Refused { .. } => "no value, because the schema is `false`".to_owned(),
    }
}

fn text(kind: &Kind, bounds: &Constraints) -> String {
    let mut out = match (kind, bounds.format) {
        (Kind::Char, _) => "text of exactly one character".to_owned(),
        (Kind::Duration, _) => {
            "a duration such as `PT1M30S`, without years, months and fractions of a second"
                .to_owned()
        }
        (Kind::Format(format), _) => format.article_noun().to_owned(),
        (_, Some(format)) => format.article_noun().to_owned(),
        _ => "text".to_owned(),
    };
    match (bounds.min_length, bounds.max_length) {
        (Some(min), Some(max)) if min == max => {
            let _ = write!(out, " of exactly {}", counted(min, "character"));
        }
        (Some(min), Some(max)) => {
            let _ = write!(out, " of {min} to {}", counted(max, "character"));
        }
        (Some(min), None) => {
            let _ = write!(out, " of at least {}", counted(min, "character"));
        }
        (None, Some(max)) => {
            let _ = write!(out, " of at most {}", counted(max, "character"));
        }
        (None, None) => {}
    }
    if let Some(pattern) = bounds.pattern {
        let _ = write!(out, " that matches `{}`", cut(pattern.source(), 120));
    }
    out
}

fn integer(kind: &Integer, bounds: &Constraints, found: &str) -> String {
    let mut out = "a whole number".to_owned();
    // The bounds of a wide type are mentioned only if a whole number was found. Otherwise, only a lower bound that is not negative is mentioned.
    let wide = kind.max > u128::from(u32::MAX);
    let broken = found.starts_with(['-', '0', '1', '2', '3', '4', '5', '6', '7', '8', '9'])
        && !found.contains('.');
    let width = (!wide || broken).then_some(kind);
    range(&mut out, bounds, width);
    if wide && !broken && kind.min >= 0 && bounds.min.is_none() {
        let _ = write!(out, ", at least {}", kind.min);
    }
    if kind.not_zero && kind.min < 0 {
        out.push_str(", but not 0");
    }
    out
}

fn range(out: &mut String, bounds: &Constraints, width: Option<&Integer>) {
    let min = bounds
        .min
        .map(|min| min.text().to_owned())
        .or_else(|| Some(width?.min.to_string()));
    let max = bounds
        .max
        .map(|max| max.text().to_owned())
        .or_else(|| Some(width?.max.to_string()));
    let above = bounds.min.is_some() && bounds.exclusive_min;
    let below = bounds.max.is_some() && bounds.exclusive_max;
    let _ = match (min, max) {
        (Some(min), Some(max)) if !above && !below => write!(out, " from {min} to {max}"),
        (Some(min), Some(max)) => {
            let above = if above { "above" } else { "of at least" };
            let below = if below { "below" } else { "at most" };
            write!(out, " {above} {min} and {below} {max}")
        }
        (Some(min), None) if above => write!(out, " above {min}"),
        (Some(min), None) => write!(out, " of at least {min}"),
        (None, Some(max)) if below => write!(out, " below {max}"),
        (None, Some(max)) => write!(out, " of at most {max}"),
        (None, None) => Ok(()),
    };
    if let Some(unit) = bounds.multiple_of {
        let _ = write!(out, ", a multiple of {}", unit.text());
    }
}

fn list(bounds: &Constraints, unique: bool, exactly: Option<usize>) -> String {
    let mut out = "a list".to_owned();
    let _ = match (exactly, bounds.min_items, bounds.max_items) {
        (Some(count), _, _) => write!(out, " of exactly {}", counted(count, "item")),
        (None, Some(min), Some(max)) if min == max => {
            write!(out, " of exactly {}", counted(min, "item"))
        }
        (None, Some(min), Some(max)) => write!(out, " of {min} to {}", counted(max, "item")),
        (None, Some(min), None) => write!(out, " of at least {}", counted(min, "item")),
        (None, None, Some(max)) => write!(out, " of at most {}", counted(max, "item")),
        (None, None, None) => Ok(()),
    };
    if unique || bounds.unique {
        out.push_str(" without repeats");
    }
    out
}

fn object(fields: &[Field]) -> String {
    let names = || {
        fields
            .iter()
            .filter(|field| field.input)
            .map(|field| field.name)
    };
    if names().next().is_none() {
        return "an empty object".to_owned();
    }
    format!("an object with {}", join(names(), "`", "and"))
}

fn union(union: &Union, place: Place<'_>) -> String {
    match union.tagging {
        Tagging::External => {
            let units = union
                .variants
                .iter()
                .filter(|variant| variant.schema.is_none());
            let rest = union
                .variants
                .iter()
                .filter(|variant| variant.schema.is_some());
            let units = join(units.map(|variant| variant.name), "`", "or");
            let rest = join(rest.map(|variant| variant.name), "`", "or");
            match (units.is_empty(), rest.is_empty()) {
                (false, false) => format!("one of {units}, or an object with the one key {rest}"),
                (false, true) => format!("one of {units}"),
                _ => format!("an object with the one key {rest}"),
            }
        }
        Tagging::Internal { tag } | Tagging::Adjacent { tag, .. } => {
            format!("an object whose `{tag}` is {}", names(union.variants))
        }
        Tagging::Untagged => {
            let mut shapes: Vec<String> = union
                .variants
                .iter()
                .map(|variant| match variant.schema {
                    Some(schema) => wanted(Place { schema, ..place }, ""),
                    None => "null".to_owned(),
                })
                .collect();
            shapes.dedup();
            cut(&join(shapes.iter().map(String::as_str), "", "or"), 200)
        }
    }
}

/// Joins names, for example "one of `rust` or `python`". A single name stays alone.
pub(super) fn one_of<'a>(names: impl Iterator<Item = &'a str> + Clone) -> String {
    if names.clone().nth(1).is_none() {
        return join(names, "`", "or");
    }
    format!("one of {}", join(names, "`", "or"))
}

/// Joins the names of variants, as the possible values of a tag.
pub(super) fn names(variants: &[Variant]) -> String {
    one_of(variants.iter().map(|variant| variant.name))
}

/// Joins parts, for example "`a`, `b` or `c`". A long list is shortened.
pub(super) fn join<'a>(
    parts: impl Iterator<Item = &'a str> + Clone,
    quote: &str,
    last: &str,
) -> String {
    let count = parts.clone().count();
    let mut out = String::new();
    for (index, part) in parts.take(NAMES).enumerate() {
        if index > 0 {
            if index + 1 == count {
                let _ = write!(out, " {last} ");
            } else {
                out.push_str(", ");
            }
        }
        let _ = write!(out, "{quote}{}{quote}", cut(part, 80));
    }
    if count > NAMES {
        let _ = write!(out, " {last} {} more", count - NAMES);
    }
    out
}

/// Returns a count with its noun: "1 item", "2 items".
pub(super) fn counted(count: usize, noun: &str) -> String {
    let plural = if count == 1 { "" } else { "s" };
    format!("{count} {noun}{plural}")
}

/// Describes a value in about sixty characters at most.
pub(super) fn found(value: &str) -> String {
    match value.as_bytes().first() {
        Some(b'"') => {
            let inside = decode(
                value
                    .get(1..value.len().saturating_sub(1))
                    .unwrap_or_default(),
            );
            if inside.is_empty() {
                return "empty text".to_owned();
            }
            format!("the text {:?}", cut(&inside, EXCERPT))
        }
        Some(b'[') => match members(value) {
            0 => "an empty list".to_owned(),
            count => format!("a list of {}", counted(count, "item")),
        },
        Some(b'{') => match members(value) {
            0 => "an empty object".to_owned(),
            count => format!("an object with {}", counted(count, "key")),
        },
        Some(b't' | b'f' | b'n') => format!("`{}`", cut(value, EXCERPT)),
        Some(_) => format!("the number {}", cut(value, EXCERPT)),
        None => "nothing".to_owned(),
    }
}

/// Returns the number of items or keys of a value.
fn members(value: &str) -> usize {
    let mut cursor = Cursor::new(value);
    let is_object = cursor.peek() == b'{';
    let close = if is_object { b'}' } else { b']' };
    cursor.at += 1;
    let mut count = 0;
    let mut more = cursor.space() != close;
    while more {
        let passed = if is_object {
            cursor.key().and_then(|_| cursor.colon()).map(drop)
        } else {
            Ok(())
        };
        if passed.and_then(|()| cursor.skip()).is_err() {
            break;
        }
        count += 1;
        more = cursor.another(close).unwrap_or(false);
    }
    count
}
