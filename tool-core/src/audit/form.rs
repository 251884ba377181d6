//! The form in which arguments are stored in the audit log.
//!
//! The form is written in one pass over the text, because every audited call needs it, and building a tree of values first would take longer.

use std::borrow::Cow;

use serde_json::{Number, Value, json};

use crate::args::canonical;
use crate::args::{Cursor, Stop, is_same_number, unescape, write_number};
use crate::json::quote;
use crate::schema::{AuditForm, Kind, Schema};

mod object;

use object::{entries, keys, named, record, variant};

/// Maximum number of items of a list that are written, unless the form is [`AuditForm::Value`].
const ITEMS: usize = 20;
/// Maximum number of characters of a preview.
const PREVIEW: usize = 100;

/// Returns the audited form of valid arguments as JSON, with keys sorted by their bytes. For invalid arguments, returns [`blind`].
///
/// Numbers, booleans, `null` and names from the schema are written by value, and texts by their length. A list has at most [`ITEMS`] items and the
/// number of further items, and a map or an untagged union is written as the number of its keys. A field can have its own form.
pub(crate) fn form(schema: &Schema, arguments: &str) -> String {
    let mut cursor = Cursor::new(arguments);
    // While the keys of an object are sorted, its entries are in memory twice.
    let mut out = String::with_capacity(2 * arguments.len() + 64);
    cursor.space();
    let written = value(&mut cursor, Some(schema), AuditForm::ByType, &mut out);
    match written.and_then(|()| cursor.end()) {
        Ok(()) => out,
        Err(Stop) => blind(arguments),
    }
}

/// Returns the form of arguments that are invalid or to which no schema applies. It contains only their size.
pub(crate) fn blind(arguments: &str) -> String {
    json!({ "bytes": arguments.len() }).to_string()
}

/// Returns the schema inside optionals and constraints.
fn bare(schema: &Schema) -> &Schema {
    match &schema.kind {
        Kind::Optional(inner) | Kind::Constrained(inner, _) => bare(inner),
        _ => schema,
    }
}

/// Writes the value at the cursor and moves the cursor past it.
fn value(
    cursor: &mut Cursor<'_>,
    schema: Option<&Schema>,
    form: AuditForm,
    out: &mut String,
) -> Result<(), Stop> {
    let kind = schema.map(|schema| &bare(schema).kind);
    match (cursor.peek(), kind) {
        _ if form == AuditForm::Length => by_length(cursor, out),
        (b'"', _) => text(cursor, kind, form, out),
        (b'[', _) => list(cursor, kind, form, out),
        (b'{', Some(Kind::Object(fields))) => record(cursor, fields, None, form, out),
        (b'{', Some(Kind::Union(union))) => variant(cursor, union, form, out),
        (b'{', _) if form == AuditForm::Value => whole(cursor, out),
        // Keys that the schema does not name may be private data themselves.
        (b'{', _) => by_length(cursor, out),
        _ => plain(cursor, out),
    }
}

/// Writes a number, a boolean or `null` by value.
fn plain(cursor: &mut Cursor<'_>, out: &mut String) -> Result<(), Stop> {
    let start = cursor.at;
    if !matches!(cursor.peek(), b'-' | b'0'..=b'9') {
        cursor.skip()?;
        out.push_str(cursor.slice(start, cursor.at));
        return Ok(());
    }
    let number = cursor.number()?;
    let digits = cursor.slice(start, number.end);
    if number.small.is_some() && !number.negative {
        out.push_str(digits);
        return Ok(());
    }
    // A number that is too large for serde_json makes the arguments invalid.
    let number: Number = serde_json::from_str(digits).map_err(|_| Stop)?;
    let number = number.to_string();
    // Numbers are written as serde_json writes them, unless serde_json would round them.
    if is_same_number(&number, digits) {
        out.push_str(&number);
    } else {
        write_number(digits, out).ok_or(Stop)?;
    }
    Ok(())
}

/// Skips a value that is not written or is only counted. Fails if it contains a number that is too large for `serde_json`.
fn pass(cursor: &mut Cursor<'_>) -> Result<(), Stop> {
    /// A text that is shorter than this and has no exponent cannot contain a number that is too large for `serde_json`.
    const SHORT: usize = 300;
    let start = cursor.at;
    cursor.skip()?;
    let text = cursor.slice(start, cursor.at);
    if text.starts_with('"')
        || text.len() < SHORT && memchr::memchr2(b'e', b'E', text.as_bytes()).is_none()
    {
        return Ok(());
    }
    // A number that is too large for serde_json makes the arguments invalid.
    serde_json::from_str::<Value>(text)
        .map(drop)
        .map_err(|_| Stop)
}

/// Writes an object by value, with all its entries.
fn whole(cursor: &mut Cursor<'_>, out: &mut String) -> Result<(), Stop> {
    let start = cursor.at;
    cursor.skip()?;
    let text = cursor.slice(start, cursor.at);
    let value: Value = serde_json::from_str(text).map_err(|_| Stop)?;
    let value = value.to_string();
    let exact = canonical(text).ok_or(Stop)?;
    // The object is written as serde_json writes it, unless serde_json would round one of its numbers.
    let is_rounded = canonical(&value).is_none_or(|value| value != exact);
    out.push_str(if is_rounded { &exact } else { &value });
    Ok(())
}

fn by_length(cursor: &mut Cursor<'_>, out: &mut String) -> Result<(), Stop> {
    match cursor.peek() {
        b'"' => {
            let text = read(cursor)?;
            counted(out, "length", text.chars().count());
        }
        b'[' => {
            let mut items = 0;
            cursor.open()?;
            let mut more = cursor.space() != b']';
            while more {
                pass(cursor)?;
                items += 1;
                more = cursor.another(b']')?;
            }
            cursor.close();
            counted(out, "items", items);
        }
        b'{' => {
            let entries = entries(cursor)?;
            keys(cursor, &entries, out)?;
        }
        _ => {
            let start = out.len();
            plain(cursor, out)?;
            let length = out.len() - start;
            out.truncate(start);
            counted(out, "length", length);
        }
    }
    Ok(())
}

/// Writes an object with the key `what` and the value `count` in place of a value.
fn counted(out: &mut String, what: &str, count: usize) {
    out.push_str("{\"");
    out.push_str(what);
    out.push_str("\":");
    number(out, count);
    out.push('}');
}

fn number(out: &mut String, count: usize) {
    out.push_str(itoa::Buffer::new().format(count));
}

/// Reads the string at the cursor and decodes its escapes.
fn read<'t>(cursor: &mut Cursor<'t>) -> Result<Cow<'t, str>, Stop> {
    let string = cursor.string()?;
    let raw = cursor.slice(string.start, string.end);
    Ok(if string.escaped {
        unescape(raw)
    } else {
        Cow::Borrowed(raw)
    })
}

fn text(
    cursor: &mut Cursor<'_>,
    kind: Option<&Kind>,
    form: AuditForm,
    out: &mut String,
) -> Result<(), Stop> {
    let text = read(cursor)?;
    let own = match kind {
        Some(Kind::Enum(_)) => true,
        // The name of a unit variant comes from the schema, so it is not private.
        Some(Kind::Union(union)) => named(union, &text).is_some(),
        _ => false,
    };
    match form {
        AuditForm::Preview if !own => {
            out.push_str("{\"length\":");
            number(out, text.chars().count());
            out.push_str(",\"preview\":");
            quote(out, &preview(&text));
            out.push('}');
        }
        AuditForm::ByType | AuditForm::Length if !own => {
            counted(out, "length", text.chars().count());
        }
        _ => quote(out, &text),
    }
    Ok(())
}

/// Returns the first characters of a text, cut between characters.
fn preview(text: &str) -> Cow<'_, str> {
    match text.char_indices().nth(PREVIEW) {
        Some((end, _)) => format!("{}…", &text[..end]).into(),
        None => text.into(),
    }
}

fn list(
    cursor: &mut Cursor<'_>,
    kind: Option<&Kind>,
    form: AuditForm,
    out: &mut String,
) -> Result<(), Stop> {
    let inner = match kind {
        Some(Kind::Array { items, .. }) => Some(*items),
        _ => None,
    };
    let most = if form == AuditForm::Value {
        usize::MAX
    } else {
        ITEMS
    };
    let mut items = 0;
    cursor.open()?;
    let mut more = cursor.space() != b']';
    out.push('[');
    while more {
        if items < most {
            comma(out, '[');
            value(cursor, inner, form, out)?;
        } else {
            pass(cursor)?;
        }
        items += 1;
        more = cursor.another(b']')?;
    }
    cursor.close();
    if items > most {
        comma(out, '[');
        counted(out, "more", items - most);
    }
    out.push(']');
    Ok(())
}

/// Writes a comma, unless the list or object was just opened.
fn comma(out: &mut String, open: char) {
    if !out.ends_with(open) {
        out.push(',');
    }
}

#[cfg(test)]
mod tests;
