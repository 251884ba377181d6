//! Repair of invalid arguments that can be read in only one way.
//!
//! A repair only proposes candidates, and the guard has to admit them. If two candidates for one value pass and differ, neither is used. The
//! repaired arguments pass the whole guard once more before anything runs. A repair never closes brackets or quotes that a model left open, because
//! a call that was cut off must not run.

use super::bytes::{decode, encode};
use super::cleanup::{is_json, tidy};
use super::equal;
use super::issue::{Path, RepairNote};
use super::scan::{Cursor, Stop};
use super::sink::{Edit, Fault, Place, Sink, splice};
use super::walk::Walk;
use crate::schema::{Kind, Schema, Tagging, Variant};

/// Maximum length of text that is repaired, in bytes.
const LONGEST: usize = 256 * 1024;
/// Maximum number of passes over one text. Each pass repairs every fault that it reaches, but only the next pass reaches the content behind a
/// repaired tag.
const ROUNDS: usize = 8;
/// Maximum nesting of repairs: for example, a list that is a string (1) with items that are numbers in strings (2).
const LEVELS: u8 = 2;

/// Repairs arguments that the guard refused. The guard admits the result.
pub(super) fn arguments(place: Place<'_>, text: &str) -> Option<(String, Vec<RepairNote>)> {
    if text.len() > LONGEST {
        return None;
    }
    let mut fuel = 64 * text.len() + 0x1_0000;
    let mut notes = Vec::new();
    let text = match tidy(text) {
        Some((tidied, what)) => {
            notes.extend(what.into_iter().map(|what| RepairNote {
                pointer: String::new(),
                what,
            }));
            tidied
        }
        None if is_json(text) => text.to_owned(),
        None => return None,
    };
    let (text, more) = mend(place, &text, &Path::default(), LEVELS, &mut fuel)?;
    notes.extend(more);
    Some((text, notes))
}

/// Repairs text in several passes until it matches the place, or returns `None` if it cannot be repaired.
fn mend(
    place: Place<'_>,
    text: &str,
    path: &Path,
    levels: u8,
    fuel: &mut usize,
) -> Option<(String, Vec<RepairNote>)> {
    let mut text = text.to_owned();
    let mut notes = Vec::new();
    for _ in 0..ROUNDS {
        // The constant is charged on top of the length, so that many tiny candidates use up the fuel, too.
        *fuel = fuel.checked_sub(text.len() + 64)?;
        if super::pass(place, &text).is_some() {
            return Some((text, notes));
        }
        let sink = RepairSink {
            path: path.clone(),
            inner: (levels < LEVELS).then_some(path.len()),
            nullable: false,
            edits: Vec::new(),
            notes: Vec::new(),
            levels,
            fuel: *fuel,
        };
        let mut walk = Walk::new(&text, sink);
        let walked = walk.run(place);
        let RepairSink {
            mut edits,
            notes: more,
            fuel: left,
            ..
        } = walk.sink;
        *fuel = left;
        if walked.is_err() || edits.is_empty() {
            return None;
        }
        // The walk reports repeated items at the end of their list, after faults inside of the items.
        edits.sort_by_key(|edit| edit.start);
        notes.extend(more);
        text = splice(&text, &edits);
    }
    None
}

/// A sink that repairs faults, and stops at the first fault that it cannot repair.
#[derive(Debug)]
struct RepairSink {
    path: Path,
    /// In a nested repair: the path length of the outer repair.
    inner: Option<usize>,
    nullable: bool,
    edits: Vec<Edit>,
    notes: Vec<RepairNote>,
    levels: u8,
    fuel: usize,
}

/// A candidate for the value that the model meant.
#[derive(Debug)]
struct Reading {
    text: String,
    what: &'static str,
    /// Whether the reading is too uncertain to be used. It only rules out other readings.
    doubt: bool,
}

impl Reading {
    const fn new(text: String, what: &'static str) -> Self {
        Self {
            text,
            what,
            doubt: false,
        }
    }
}

impl RepairSink {
    /// Returns the only valid reading of a value, with the repairs inside of it. Returns `None` if no reading is valid, if two valid readings differ,
    /// or if a reading in doubt is valid.
    fn settle(&mut self, value: &str, place: Place<'_>) -> Option<(Reading, Vec<RepairNote>)> {
        let mut readings = Vec::new();
        self.plain(value, place, &mut readings);
        readings_of_text(value, place, &mut readings);
        let mut settled: Option<(Reading, Vec<RepairNote>)> = None;
        for reading in readings {
            let Some((text, inner)) = self.fit(&reading.text, place) else {
                continue;
            };
            let doubt = reading.doubt;
            match &settled {
                Some((known, _)) if equal::same(&known.text, &text) && !doubt => {}
                Some(_) => return None,
                None if doubt => return None,
                None => settled = Some((Reading { text, ..reading }, inner)),
            }
        }
        if settled.is_none() && self.levels > 0 {
            settled = self.shapes(value, place);
        }
        settled
    }

    /// Checks a candidate against the place, and repairs the candidate if necessary.
    fn fit(&mut self, text: &str, place: Place<'_>) -> Option<(String, Vec<RepairNote>)> {
        if text == "null" && self.nullable {
            return Some((text.to_owned(), Vec::new()));
        }
        if self.levels == 0 {
            self.fuel = self.fuel.checked_sub(text.len() + 64)?;
            return super::pass(place, text).map(|_| (text.to_owned(), Vec::new()));
        }
        mend(place, text, &self.path, self.levels - 1, &mut self.fuel)
    }

    /// Tries each variant of an untagged union as the intended variant of the value.
    fn shapes(&mut self, value: &str, place: Place<'_>) -> Option<(Reading, Vec<RepairNote>)> {
        let variants = match &place.schema.kind {
            Kind::Union(union) if union.tagging == Tagging::Untagged => union.variants,
            _ => return None,
        };
        let mut settled: Option<(String, Vec<RepairNote>)> = None;
        for schema in variants.iter().filter_map(|variant| variant.schema) {
            let place = Place { schema, ..place };
            let Some((text, notes)) =
                mend(place, value, &self.path, self.levels - 1, &mut self.fuel)
            else {
                continue;
            };
            match &settled {
                Some((known, _)) if equal::same(known, &text) => {}
                Some(_) => return None,
                None => settled = Some((text, notes)),
            }
        }
        settled.map(|(text, notes)| (Reading::new(text, ""), notes))
    }

    /// Adds readings that do not parse the value: the only item of a list, a list of one item, a number as a string, or `{}` for null as the
    /// arguments.
    fn plain(&self, value: &str, place: Place<'_>, readings: &mut Vec<Reading>) {
        let is_list = value.starts_with('[');
        let takes = |byte| super::union::starts(place.schema, byte);
        if value == "null" {
            if self.path.is_root() {
                readings.push(Reading::new("{}".to_owned(), "read null as no arguments"));
            }
            return;
        }
        // In a list of lists it is not clear which list an item belongs to.
        if !self.path.is_item() {
            if is_list && !takes(b'[') {
                // Do not unwrap a value that was already repaired, because two combined guesses are too uncertain.
                if self.inner != Some(self.path.len())
                    && let Some(item) = only_item(value)
                {
                    readings.push(Reading::new(
                        item.to_owned(),
                        "took the only item of a list",
                    ));
                }
            } else if !is_list && takes(b'[') && !holds_json(value) {
                readings.push(Reading::new(
                    format!("[{value}]"),
                    "wrapped the value in a list",
                ));
            }
        }
        if takes(b'"') && is_canonical(value) {
            readings.push(Reading::new(
                format!("\"{value}\""),
                "wrote the number as text",
            ));
        }
    }

    fn take(&mut self, span: (usize, usize), text: String, what: &'static str) {
        if !what.is_empty() {
            self.notes.push(RepairNote {
                pointer: self.path.pointer(),
                what,
            });
        }
        self.edits.push(Edit {
            for_serde: false,
            start: span.0,
            end: span.1,
            text,
        });
    }
}

impl Sink for RepairSink {
    const FAST: bool = false;

    fn refuse(
        &mut self,
        text: &str,
        span: (usize, usize),
        place: Place<'_>,
        fault: Fault<'_>,
    ) -> Result<(), Stop> {
        let value = text.get(span.0..span.1).unwrap_or_default();
        match fault {
            Fault::Value => {
                // Repaired items are walked again in the next round, together with their list.
                if self.edits.iter().any(|edit| edit.start >= span.0) {
                    return Ok(());
                }
                let (reading, inner) = self.settle(value, place).ok_or(Stop)?;
                self.take(span, reading.text, reading.what);
                self.notes.extend(inner);
                Ok(())
            }
            Fault::Choice(variants) => {
                let name = spelled(value, variants).ok_or(Stop)?;
                self.take(
                    span,
                    encode(name),
                    "replaced the name with the spelling of the schema",
                );
                Ok(())
            }
            Fault::Repeat { cut, .. } => {
                if !self
                    .edits
                    .iter()
                    .any(|edit| edit.start >= cut.0 && edit.start < cut.1)
                {
                    self.take(cut, String::new(), "removed a repeated item");
                }
                Ok(())
            }
            _ => Err(Stop),
        }
    }

    fn enter_key(&mut self, key: &str, nullable: bool) {
        self.path.key(key);
        self.nullable = nullable;
    }

    fn enter_item(&mut self, index: usize, nullable: bool) {
        self.path.item(index);
        self.nullable = nullable;
    }

    fn leave(&mut self) {
        self.path.leave();
        self.nullable = false;
    }
}

/// Adds the readings of a string: the JSON inside of it, a name or a bool in the schema's spelling, a format without white space, or the parts
/// between separators as a list. The list is too uncertain to be used.
fn readings_of_text(value: &str, place: Place<'_>, readings: &mut Vec<Reading>) {
    let Some(inside) = inside(value) else {
        return;
    };
    let trimmed = inside.trim();
    match tidy(trimmed) {
        Some((json, _)) => readings.push(Reading::new(json, "read a text as JSON")),
        None if is_json(trimmed) => {
            readings.push(Reading::new(trimmed.to_owned(), "read a text as JSON"));
        }
        None => {}
    }
    for word in ["true", "false"] {
        if trimmed != word && trimmed.eq_ignore_ascii_case(word) {
            readings.push(Reading::new(
                word.to_owned(),
                "read a text as `true` or `false`",
            ));
        }
    }
    for name in names(place.schema) {
        if alike(name, trimmed) {
            readings.push(Reading::new(
                encode(name),
                "replaced the name with the spelling of the schema",
            ));
        }
    }
    let format = matches!(place.schema.kind, Kind::Format(_) | Kind::Duration)
        || place.bounds.is_some_and(|bounds| bounds.format.is_some());
    if format && trimmed.len() < inside.len() {
        readings.push(Reading::new(encode(trimmed), "removed white space"));
    }
    if super::union::starts(place.schema, b'[') && !holds_json(value) {
        for separator in [',', ';', '\n', '|'] {
            if inside.contains(separator) {
                let parts: Vec<String> = inside
                    .split(separator)
                    .map(|part| encode(part.trim()))
                    .collect();
                readings.push(Reading {
                    doubt: true,
                    ..Reading::new(format!("[{}]", parts.join(",")), "")
                });
            }
        }
    }
}

/// Returns the name of the only variant whose name equals the text, ignoring case and surrounding white space.
fn spelled(value: &str, variants: &[Variant]) -> Option<&'static str> {
    let inside = inside(value)?;
    let mut alike = variants
        .iter()
        .filter(|variant| alike(variant.name, inside.trim()));
    let name = alike.next()?.name;
    alike.next().is_none().then_some(name)
}

fn alike(name: &str, text: &str) -> bool {
    name == text || name.to_lowercase() == text.to_lowercase()
}

/// Returns the possible meanings of a string: the names of enum values and variants, in the spelling of the schema.
fn names(schema: &Schema) -> Vec<&'static str> {
    match &schema.kind {
        Kind::Enum(values) => values.iter().map(|value| value.value).collect(),
        Kind::Optional(inner) | Kind::Constrained(inner, _) => names(inner),
        Kind::Union(union) => match union.tagging {
            Tagging::External => {
                let units = union
                    .variants
                    .iter()
                    .filter(|variant| variant.schema.is_none());
                units.map(|variant| variant.name).collect()
            }
            Tagging::Untagged => {
                let shapes = union.variants.iter().filter_map(|variant| variant.schema);
                shapes.flat_map(names).collect()
            }
            _ => Vec::new(),
        },
        _ => Vec::new(),
    }
}

/// Returns the unescaped contents of a JSON string.
fn inside(value: &str) -> Option<String> {
    let inside = value.strip_prefix('"')?.strip_suffix('"')?;
    Some(decode(inside).into_owned())
}

/// Returns whether a value is a string that looks like a list, an object or a code fence. The model then meant the JSON inside the string.
fn holds_json(value: &str) -> bool {
    inside(value).is_some_and(|inside| inside.trim_start().starts_with(['[', '{', '`']))
}

/// Returns the item of a list with exactly one item.
fn only_item(value: &str) -> Option<&str> {
    let mut cursor = Cursor::new(value);
    cursor.open().ok()?;
    cursor.space();
    let start = cursor.at;
    cursor.skip().ok()?;
    let item = value.get(start..cursor.at)?;
    (cursor.space() == b']').then_some(item)
}

/// Returns whether a value is a number in its usual notation, so that its text is unambiguous.
fn is_canonical(value: &str) -> bool {
    let digits = value.strip_prefix('-').unwrap_or(value);
    digits
        .bytes()
        .all(|byte| byte.is_ascii_digit() || byte == b'.')
        && digits.starts_with(|c: char| c.is_ascii_digit())
        && !(digits.contains('.') && digits.ends_with('0'))
        && value != "-0"
}
