//! Collector of the issues of invalid arguments, up to a limit.

use super::bytes::decode;
use super::describe::{found, join, names, wanted};
use super::issue::{Issue, Path, cut};
use super::scan::{Broken, Cursor, Stop};
use super::sink::{Fault, Known, Place, Sink};
use super::suggest::nearest;
use super::union::starts;
use super::walk::Walk;
use crate::schema::{Field, Kind, Schema, Tagging, Variant};

/// Maximum number of issues per call, without the issue that counts the omitted ones.
const MOST: usize = 32;
/// Maximum total length of the issues of one call, in bytes.
const BYTES: usize = 3800;
/// Maximum nesting of unions that are searched for the closest variant.
const LEVELS: u8 = 3;

/// Returns the issues of text that the guard refused.
pub(super) fn issues(place: Place<'_>, text: &str) -> Vec<Issue> {
    let mut cursor = Cursor::new(text);
    cursor.space();
    if cursor.skip().and_then(|()| cursor.end()).is_err() {
        return vec![malformed(text, cursor.broken)];
    }
    let mut walk = Walk::new(text, Collect::new(Path::default(), LEVELS));
    // The text is well-formed and this sink accepts every fault, so the walk does not stop early.
    let _ = walk.run(place);
    let sink = walk.sink;
    let mut issues = sink.issues;
    if sink.left_out > 0 {
        issues.push(Issue {
            pointer: String::new(),
            expected: "arguments that match the schema".to_owned(),
            found: format!("{} more problems", sink.left_out),
        });
    }
    issues
}

/// Returns the issue of text that is not JSON.
fn malformed(text: &str, broken: Option<Broken>) -> Issue {
    let Broken { at, expected } = broken.unwrap_or(Broken {
        at: 0,
        expected: "JSON",
    });
    let bytes = text.as_bytes();
    let before = bytes.get(..at).unwrap_or(bytes);
    let line = before.split(|byte| *byte == b'\n').count();
    let start = before
        .iter()
        .rposition(|byte| *byte == b'\n')
        .map_or(0, |at| at + 1);
    let column = text
        .get(start..at)
        .map_or(at - start, |line| line.chars().count())
        + 1;
    let next = text.get(at..).and_then(|rest| rest.chars().next());
    let what = match next {
        Some(c) => format!("{c:?}"),
        None => "the end of the text".to_owned(),
    };
    Issue {
        pointer: String::new(),
        expected: format!("valid JSON: {expected}"),
        found: format!("{what} at line {line} column {column} (byte {at})"),
    }
}

/// A sink that records faults as issues up to the limits, and counts the others.
#[derive(Debug)]
pub(super) struct Collect {
    path: Path,
    issues: Vec<Issue>,
    bytes: usize,
    left_out: usize,
    levels: u8,
}

impl Collect {
    const fn new(path: Path, levels: u8) -> Self {
        Self {
            path,
            issues: Vec::new(),
            bytes: 0,
            left_out: 0,
            levels,
        }
    }

    fn push(&mut self, issue: Issue) {
        let bytes = issue.pointer.len() + issue.expected.len() + issue.found.len();
        if self.issues.len() < MOST && self.bytes + bytes <= BYTES {
            self.bytes += bytes;
            self.issues.push(issue);
        } else {
            self.left_out += 1;
        }
    }

    const fn count(&self) -> usize {
        self.issues.len() + self.left_out
    }

    /// Returns the issues of the variant that is closest to the value, or `None` if no variant can begin with the first byte of the value, or if
    /// unions are nested too deeply.
    fn closest(&self, value: &str, place: Place<'_>, variants: &'static [Variant]) -> Option<Self> {
        if self.levels == 0 {
            return None;
        }
        let byte = *value.as_bytes().first()?;
        let mut best: Option<(usize, Self)> = None;
        for schema in variants.iter().filter_map(|variant| variant.schema) {
            if !starts(schema, byte) {
                continue;
            }
            let mut walk = Walk::new(value, Self::new(self.path.clone(), self.levels - 1));
            let _ = walk.run(Place { schema, ..place });
            let sink = walk.sink;
            // One unknown or missing key counts as much as 100 issues of values.
            let distance = sink.count() + 100 * strangers(value, schema);
            if best.as_ref().is_none_or(|(least, _)| distance < *least) {
                best = Some((distance, sink));
            }
        }
        best.map(|(_, sink)| sink)
    }
}

/// Returns the number of unknown keys of an object plus the number of its missing required keys.
fn strangers(value: &str, schema: &Schema) -> usize {
    let Kind::Object(fields) = &schema.kind else {
        return 0;
    };
    let mut cursor = Cursor::new(value);
    let mut count = fields
        .iter()
        .filter(|field| field.input && field.is_required())
        .count();
    cursor.at += 1;
    let mut more = cursor.space() == b'"';
    while more {
        let Ok(key) = cursor.key() else { break };
        let name = decode(cursor.slice(key.start, key.end));
        match fields
            .iter()
            .find(|field| field.input && field.name == name)
        {
            Some(field) if field.is_required() => count = count.saturating_sub(1),
            Some(_) => {}
            None => count += 1,
        }
        if cursor.colon().is_err() || cursor.skip().is_err() {
            break;
        }
        more = cursor.another(b'}').unwrap_or(false);
    }
    count
}

impl Sink for Collect {
    const FAST: bool = false;

    fn refuse(
        &mut self,
        text: &str,
        span: (usize, usize),
        place: Place<'_>,
        fault: Fault<'_>,
    ) -> Result<(), Stop> {
        let value = text.get(span.0..span.1).unwrap_or_default();
        if let (Fault::Value, Kind::Union(union)) = (fault, &place.schema.kind)
            && union.tagging == Tagging::Untagged
            && let Some(closest) = self.closest(value, place, union.variants)
        {
            self.left_out += closest.left_out;
            for issue in closest.issues {
                self.push(issue);
            }
            return Ok(());
        }
        let (expected, found) = tell(value, place, fault);
        self.push(Issue {
            pointer: self.path.pointer(),
            expected,
            found,
        });
        Ok(())
    }

    fn enter_key(&mut self, key: &str, _: bool) {
        self.path.key(key);
    }

    fn enter_item(&mut self, index: usize, _: bool) {
        self.path.item(index);
    }

    fn leave(&mut self) {
        self.path.leave();
    }
}

/// Returns the `expected` and `found` texts of a fault.
fn tell(value: &str, place: Place<'_>, fault: Fault<'_>) -> (String, String) {
    match fault {
        Fault::Value => (with_hint(wanted(place, value), place, value), found(value)),
        Fault::Choice(variants) => {
            let near = meant(value, variants.iter().map(|variant| variant.name));
            (names(variants) + &near, found(value))
        }
        Fault::Missing => (wanted(place, ""), "nothing: the key is missing".to_owned()),
        Fault::Untagged(tag, variants) => (
            format!("an object whose `{tag}` is {}", names(variants)),
            format!("an object without `{tag}`"),
        ),
        Fault::Unknown(name, known) => (unknown(name, known), found(value)),
        Fault::Twice(name) => (
            format!("the key `{}` once", cut(name, 80)),
            format!("the key a second time, with {}", found(value)),
        ),
        Fault::Repeat { first, .. } => (
            format!("an item that differs from item {first}"),
            found(value),
        ),
        Fault::Ambiguous => (
            "a value with fewer nested alternatives".to_owned(),
            found(value),
        ),
    }
}

/// Describes an unknown key, with a suggestion or the known keys.
fn unknown(name: &str, known: Known<'_>) -> String {
    let keys: Vec<&str> = match known {
        Known::Fields(tag, fields) => {
            let fields: &[Field] = fields;
            let names = fields
                .iter()
                .filter(|field| field.input)
                .map(|field| field.name);
            tag.into_iter().chain(names).collect()
        }
        Known::Variants(variants) => variants
            .iter()
            .filter(|variant| variant.schema.is_some())
            .map(|variant| variant.name)
            .collect(),
    };
    let name_shown = cut(name, 60);
    match nearest(name, keys.iter().copied(), 1).first() {
        Some(near) => format!("no key `{name_shown}`, did you mean `{near}`?"),
        None if keys.is_empty() => format!("no key `{name_shown}`, the schema allows no keys here"),
        None => format!(
            "no key `{name_shown}`, the known keys are {}",
            join(keys.iter().copied(), "`", "and")
        ),
    }
}

/// Returns a suggestion such as ", did you mean `rust`?", or an empty text.
fn meant<'a>(value: &str, names: impl Iterator<Item = &'a str>) -> String {
    let inside = value
        .strip_prefix('"')
        .and_then(|value| value.strip_suffix('"'))
        .map(decode);
    inside
        .and_then(|inside| nearest(&inside, names, 1).first().copied())
        .map_or_else(String::new, |near| format!(", did you mean `{near}`?"))
}

/// Adds a suggestion to the expected text.
fn with_hint(expected: String, place: Place<'_>, value: &str) -> String {
    match &place.schema.kind {
        Kind::Enum(values) => {
            let near = meant(value, values.iter().map(|value| value.value));
            expected + &near
        }
        Kind::Union(union) if union.tagging == Tagging::External => {
            let units = union
                .variants
                .iter()
                .filter(|variant| variant.schema.is_none());
            let near = meant(value, units.map(|variant| variant.name));
            expected + &near
        }
        Kind::Array { .. } | Kind::Tuple(_) | Kind::Object(_) | Kind::Map(_)
            if value.starts_with("\"[") || value.starts_with("\"{") =>
        {
            expected + ", not JSON inside a text"
        }
        _ => expected,
    }
}
