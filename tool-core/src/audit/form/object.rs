//! Records and the shapes of unions, whose keys are sorted.

use std::borrow::Cow;
use std::ops::Range;

use super::{comma, counted, number, pass, read, value};
use crate::args::{Cursor, Stop};
use crate::output::quote;
use crate::schema::{AuditForm, Field, Kind, Tagging, Union, Variant};

/// The key under which those of a record are counted that are no field's.
const UNKNOWN: &str = "unknown_keys";

/// Fields for which there is room at once.
const MANY: usize = 16;

/// A key, and where its value stands.
pub(super) struct Entry<'t> {
    key: Cow<'t, str>,
    at: usize,
}

/// The entries of the object under the cursor, by their keys, of equal ones the last; the cursor stands behind the object.
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
    // Stable: the last of equal keys stays the last.
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

/// A cursor at an entry's value.
fn inside<'t>(cursor: &Cursor<'t>, entry: &Entry<'_>) -> Result<Cursor<'t>, Stop> {
    let mut inner = cursor.clone();
    // As deep as within the object, behind which the cursor stands.
    inner.open()?;
    inner.at = entry.at;
    Ok(inner)
}

/// Passes entries that are not written.
fn passed(cursor: &Cursor<'_>, entries: &[Entry<'_>]) -> Result<(), Stop> {
    entries
        .iter()
        .try_for_each(|entry| pass(&mut inside(cursor, entry)?))
}

/// An object by the number of its keys.
pub(super) fn keys(
    cursor: &Cursor<'_>,
    entries: &[Entry<'_>],
    out: &mut String,
) -> Result<(), Stop> {
    passed(cursor, entries)?;
    counted(out, "keys", entries.len());
    Ok(())
}

/// `"key":`
fn write_key(key: &str, out: &mut String) {
    quote(out, key);
    out.push(':');
}

/// An entry as it is written, without a comma.
struct Piece<'t> {
    key: Cow<'t, str>,
    place: Range<usize>,
}

/// A record by its fields; keys that are none of them are counted.
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
                // What has no escapes needs none.
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

/// Puts pieces, which are all there is from `start`, in the order of their keys; of equal ones the last stays.
fn sort(pieces: &mut [Piece<'_>], start: usize, out: &mut String) {
    let end = out.len();
    // Stable: the last of equal keys stays the last.
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

/// The variant of a name.
pub(super) fn named(union: &Union, name: &str) -> Option<&'static Variant> {
    union.variants.iter().find(|variant| variant.name == name)
}

/// One of several shapes.
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
        // Which variant it is was decided by reading, and is not known here.
        Tagging::Untagged => keys(cursor, &entries, out),
    }
}

/// A tag, and the content beside it.
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
