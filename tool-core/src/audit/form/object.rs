//! The audited form of records and unions, with sorted keys.

use std::borrow::Cow;
use std::ops::Range;

use super::{comma, counted, number, pass, read, value};
use crate::args::{Cursor, Stop};
use crate::json::quote;
use crate::schema::{AuditForm, Field, Kind, Tagging, Union, Variant};

/// Key under which the number of unknown keys is written.
const UNKNOWN: &str = "unknown_keys";

/// Maximum number of fields for which memory is reserved in advance.
const MANY: usize = 16;

/// A key and the position of its value.
pub(super) struct Entry<'t> {
    key: Cow<'t, str>,
    at: usize,
}

/// Reads the object at the cursor, and returns its entries sorted by key. Of equal keys, only the last one is returned. The cursor moves past the
/// object.
pub(super) fn entries<'t>(cursor: &mut Cursor<'t>) -> Result<Vec<Entry<'t>>, Stop> {
    let mut entries = Vec::new();
    cursor.open()?;
    let mut more = cursor.space() != b'}';
    while more {
        let key = read_key(cursor)?;
        cursor.colon()?;
        let at = cursor.at;
        entries.push(Entry { key, at });
        cursor.skip()?;
        more = cursor.another(b'}')?;
    }
    cursor.close();
    // The sort is stable: the last of equal keys stays the last.
    entries.sort_by(|one, other| one.key.cmp(&other.key));
    if entries.windows(2).any(|pair| pair[0].key == pair[1].key) {
        passed(cursor, &entries)?;
        entries.dedup_by(|later, kept| {
            let same = later.key == kept.key;
            if same {
                kept.at = later.at;
            }
            same
        });
    }
    Ok(entries)
}

fn read_key<'t>(cursor: &mut Cursor<'t>) -> Result<Cow<'t, str>, Stop> {
    if cursor.peek() != b'"' {
        return cursor.broken("a key in double quotes");
    }
    read(cursor)
}

/// Returns a cursor at the value of an entry.
fn inside<'t>(cursor: &Cursor<'t>, entry: &Entry<'_>) -> Result<Cursor<'t>, Stop> {
    let mut inner = cursor.clone();
    // The cursor is after the object, and the value is one level deeper.
    inner.open()?;
    inner.at = entry.at;
    Ok(inner)
}

/// Checks entries that are not written: a number that is too large is an error.
fn passed(cursor: &Cursor<'_>, entries: &[Entry<'_>]) -> Result<(), Stop> {
    entries
        .iter()
        .try_for_each(|entry| pass(&mut inside(cursor, entry)?))
}

/// Writes an object as the number of its keys.
pub(super) fn keys(
    cursor: &Cursor<'_>,
    entries: &[Entry<'_>],
    out: &mut String,
) -> Result<(), Stop> {
    passed(cursor, entries)?;
    counted(out, "keys", entries.len());
    Ok(())
}

/// Writes a key and a colon: `"key":`.
fn write_key(key: &str, out: &mut String) {
    quote(out, key);
    out.push(':');
}

/// An entry in the output, without a comma.
struct Piece<'t> {
    key: Cow<'t, str>,
    place: Range<usize>,
}

/// Writes a record by its fields. Unknown keys are only counted.
pub(super) fn record(
    cursor: &mut Cursor<'_>,
    fields: &'static [Field],
    tag: Option<(&str, &Variant)>,
    form: AuditForm,
    out: &mut String,
) -> Result<(), Stop> {
    let mut pieces = Vec::with_capacity(fields.len().min(MANY));
    let mut unknown = Vec::new();
    out.push('{');
    let start = out.len();
    cursor.open()?;
    let mut more = cursor.space() != b'}';
    while more {
        let written = cursor.at;
        let key = read_key(cursor)?;
        let spelled = cursor.slice(written, cursor.at);
        cursor.colon()?;
        let from = out.len();
        if let Some((tag, variant)) = tag
            && tag == key
        {
            cursor.skip()?;
            write_key(tag, out);
            quote(out, variant.name);
            pieces.push(Piece::since(from, key, out));
        } else if let Some(field) = fields.iter().find(|field| field.name == key) {
            match key {
                // A key that was read without escapes is written without escapes.
                Cow::Borrowed(_) => {
                    out.push_str(spelled);
                    out.push(':');
                }
                Cow::Owned(_) => write_key(&key, out),
            }
            let form = match field.audit {
                AuditForm::ByType => form,
                own => own,
            };
            value(cursor, Some(field.schema), form, out)?;
            pieces.push(Piece::since(from, key, out));
        } else {
            pass(cursor)?;
            unknown.push(key);
        }
        more = cursor.another(b'}')?;
    }
    cursor.close();
    if !unknown.is_empty() {
        unknown.sort();
        unknown.dedup();
        let from = out.len();
        write_key(UNKNOWN, out);
        number(out, unknown.len());
        pieces.push(Piece::since(from, UNKNOWN.into(), out));
    }
    sort(&mut pieces, start, out);
    out.push('}');
    Ok(())
}

impl<'t> Piece<'t> {
    fn since(from: usize, key: Cow<'t, str>, out: &str) -> Self {
        let place = from..out.len();
        Self { key, place }
    }
}

/// Sorts the pieces by key; they are the complete content of `out` after `start`. Of equal keys, only the last one is kept.
fn sort(pieces: &mut [Piece<'_>], start: usize, out: &mut String) {
    let end = out.len();
    // The sort is stable: the last of equal keys stays the last.
    pieces.sort_by(|one, other| one.key.cmp(&other.key));
    for (at, piece) in pieces.iter().enumerate() {
        if pieces.get(at + 1).is_some_and(|next| next.key == piece.key) {
            continue;
        }
        if out.len() > end {
            out.push(',');
        }
        out.extend_from_within(piece.place.clone());
    }
    out.drain(start..end);
}

/// Returns the variant with this name.
pub(super) fn named(union: &Union, name: &str) -> Option<&'static Variant> {
    union.variants.iter().find(|variant| variant.name == name)
}

/// Writes a value of a union. If its variant is not known, writes only the number of its keys.
pub(super) fn variant(
    cursor: &mut Cursor<'_>,
    union: &Union,
    form: AuditForm,
    out: &mut String,
) -> Result<(), Stop> {
    let mut whole = cursor.clone();
    let entries = entries(cursor)?;
    let cursor = &*cursor;
    let of = |key: &str| entries.iter().find(|entry| entry.key == key);
    let tagged = |tag: &str| {
        let mut inner = inside(cursor, of(tag)?).ok()?;
        let name = (inner.peek() == b'"').then(|| read(&mut inner).ok())??;
        named(union, &name)
    };
    match union.tagging {
        Tagging::Internal { tag } => match tagged(tag) {
            Some(variant) => match variant.schema.map(|schema| &super::bare(schema).kind) {
                Some(Kind::Object(fields)) => {
                    record(&mut whole, fields, Some((tag, variant)), form, out)
                }
                _ => beside(cursor, &entries, (tag, variant), None, form, out),
            },
            None => keys(cursor, &entries, out),
        },
        Tagging::Adjacent { tag, content } => match tagged(tag) {
            Some(variant) => beside(cursor, &entries, (tag, variant), Some(content), form, out),
            None => keys(cursor, &entries, out),
        },
        Tagging::External => match entries.split_first() {
            Some((entry, others)) => match named(union, &entry.key) {
                Some(variant) => {
                    passed(cursor, others)?;
                    out.push('{');
                    write_key(variant.name, out);
                    value(&mut inside(cursor, entry)?, variant.schema, form, out)?;
                    out.push('}');
                    Ok(())
                }
                None => keys(cursor, &entries, out),
            },
            None => keys(cursor, &entries, out),
        },
        // Deserialization chose the variant, and the choice is not known here.
        Tagging::Untagged => keys(cursor, &entries, out),
    }
}

/// Writes a tag and the content next to it. Other entries are checked, but not written.
fn beside(
    cursor: &Cursor<'_>,
    entries: &[Entry<'_>],
    (tag, variant): (&str, &Variant),
    content: Option<&str>,
    form: AuditForm,
    out: &mut String,
) -> Result<(), Stop> {
    out.push('{');
    for entry in entries {
        let mut inner = inside(cursor, entry)?;
        if entry.key == tag {
            comma(out, '{');
            write_key(tag, out);
            quote(out, variant.name);
        } else if content.is_some_and(|content| content == entry.key) {
            comma(out, '{');
            write_key(&entry.key, out);
            value(&mut inner, variant.schema, form, out)?;
        } else {
            pass(&mut inner)?;
        }
    }
    out.push('}');
    Ok(())
}
