//! The `description` of a node: its documentation, the constraints and the default for which a dialect has no keyword, and the documentation of enum
//! values.

use crate::schema::lower::masks::{self, ALL};
use crate::schema::lower::{Peeled, bounds};
use crate::schema::text::{Out, put};
use crate::schema::{EnumValue, Example, Format, IntegerValue, Kind, Text, duration};

/// Writer for a `description`. The key is written with the first text, separately for each dialect.
pub(super) struct Description {
    opened: u8,
    /// Dialects whose last text has no final punctuation, so that the next sentence needs a full stop before it.
    bare: u8,
}

impl Description {
    pub(super) const fn new() -> Self {
        Self { opened: 0, bare: 0 }
    }

    /// Returns the dialects in which the description has any text.
    pub(super) const fn opened(&self) -> u8 {
        self.opened
    }

    /// Begins a sentence, after the separator that each dialect needs.
    pub(super) const fn begin(&mut self, out: &mut Out<'_>, mask: u8) {
        put!(out, mask & !self.opened, r#""description":""#);
        put!(out, mask & self.bare, ".");
        put!(out, mask & self.opened, " ");
        self.opened |= mask;
        self.bare &= !mask;
    }

    /// Begins a list item.
    const fn begin_line(&mut self, out: &mut Out<'_>, mask: u8) {
        put!(out, mask & !self.opened, r#""description":"- `"#);
        put!(out, mask & self.opened, r"\n- `");
        self.opened |= mask;
        self.bare &= !mask;
    }

    /// Adds a list item about one value.
    pub(super) const fn list(&mut self, out: &mut Out<'_>, mask: u8, value: &str, doc: Text) {
        self.begin_line(out, mask);
        out.put_escaped(mask, value);
        put!(out, mask, "`: ");
        put!(out, mask, doc.as_json());
    }

    /// Adds documentation, which may end without a full stop.
    pub(super) const fn tell(&mut self, out: &mut Out<'_>, mask: u8, text: Text) {
        // `is_empty` and `last` would be calls, which are slow in const evaluation.
        let [.., last] = text.0.as_bytes() else {
            return;
        };
        self.begin(out, mask);
        put!(out, mask, text.0);
        if !matches!(last, b'.' | b'!' | b'?' | b':' | b';' | b'`') {
            self.bare |= mask;
        }
    }

    /// Adds one complete sentence, unless `text` is empty.
    pub(super) const fn say(&mut self, out: &mut Out<'_>, mask: u8, text: &str) {
        if mask & out.mask != 0 && !text.is_empty() {
            self.begin(out, mask);
            put!(out, mask, text);
        }
    }

    /// Closes the JSON string in the dialects that have one.
    pub(super) const fn close(&self, out: &mut Out<'_>) {
        put!(out, self.opened, "\"");
    }
}

/// Adds everything that a dialect states in words.
pub(super) const fn prose(
    out: &mut Out<'_>,
    text: &mut Description,
    peeled: &Peeled<'_>,
    default: Option<&Example>,
    mask: u8,
) {
    match &peeled.base.kind {
        Kind::Format(kind) if !out.output => format(out, text, *kind, mask),
        Kind::Duration if !out.output => text.say(
            out,
            mask & !masks::format(Format::Duration),
            duration::WORDS,
        ),
        Kind::Char if !out.output => text.say(out, mask & masks::LENGTH_PROSE, "One character."),
        Kind::Integer(integer) if !out.output => {
            bounds::whole(out, text, integer, peeled.bounds.as_ref(), mask);
        }
        Kind::Array {
            unique, exactly, ..
        } => {
            if *unique {
                text.say(out, mask & !masks::ONLY_JSON_SCHEMA, "Each item once.");
            }
            if let Some(count) = exactly {
                bounds::exactly(out, text, *count, mask & !masks::ITEMS);
            }
        }
        _ => {}
    }
    if let Some(constraints) = &peeled.bounds {
        bounds::prose(out, text, constraints, peeled.base, mask);
    }
    if let Some(default) = default
        && !out.output
    {
        let worded = mask & !masks::ONLY_JSON_SCHEMA;
        text.begin(out, worded);
        put!(out, worded, "Default: ");
        out.put_escaped(worded, default.text);
        put!(out, worded, ".");
    }
    match &peeled.base.kind {
        Kind::Enum(values) => enum_values(out, text, values, mask),
        Kind::IntegerEnum(values) => integer_values(out, text, values, mask),
        _ => {}
    }
}

/// Adds a format in words.
pub(super) const fn format(out: &mut Out<'_>, text: &mut Description, format: Format, mask: u8) {
    let worded = mask & ALL & !masks::format(format);
    match format {
        Format::Ip => text.say(out, worded, "Format: ipv4 or ipv6."),
        Format::Duration => text.say(out, worded, "Format: ISO 8601 duration, such as PT1M30S."),
        Format::Uri | Format::Unknown(_) => {}
        _ if worded & out.mask != 0 => {
            text.begin(out, worded);
            put!(out, worded, "Format: ");
            put!(out, worded, format.name());
            put!(out, worded, ".");
        }
        _ => {}
    }
}

const fn enum_values(out: &mut Out<'_>, text: &mut Description, values: &[EnumValue], mask: u8) {
    let mut at = 0;
    let at_end = values.len();
    while at < at_end {
        if !values[at].description.is_empty() {
            text.list(out, mask, values[at].value, values[at].description);
        }
        at += 1;
    }
}

const fn integer_values(
    out: &mut Out<'_>,
    text: &mut Description,
    values: &[IntegerValue],
    mask: u8,
) {
    let mut at = 0;
    let at_end = values.len();
    while at < at_end {
        // A value of an enum that was read at run time has a name only if the schema describes the value.
        if values[at].name.is_empty() {
            at += 1;
            continue;
        }
        text.begin_line(out, mask);
        out.put_integer(mask, values[at].value);
        put!(out, mask, "`: ");
        out.put_escaped(mask, values[at].name);
        put!(out, mask, ".");
        if !values[at].description.is_empty() {
            put!(out, mask, " ");
            put!(out, mask, values[at].description.as_json());
        }
        at += 1;
    }
}
