//! Compile-time validation of examples, results and defaults: JSON values in Rust source are checked against a schema.

use crate::schema::example::fit::{
    characters, count_fits, duration_fits, integer_fits, number_fits, text_fits,
};
use crate::schema::rules::{Path, Report, Rule};
use crate::schema::text::same;
use crate::schema::{Constraints, Example, Field, Json, Kind, Number, Schema, Tagging, Union};

mod fit;
mod message;
#[cfg(test)]
mod tests;

/// Checks one argument of an example call: `key` is its name and `value` its value in the example.
#[track_caller]
pub const fn check_example_entry(input: &Schema, key: &str, value: &Json, tool: &str) {
    let Kind::Object(fields) = &input.kind else {
        return;
    };
    let mut report = Report::new();
    let owner = Path::owner(tool);
    let path = owner.at(input);
    let mut proof = Proof {
        report: &mut report,
        rule: &Rule::EXAMPLE,
        output: false,
        quiet: false,
        failed: false,
    };
    match proof.field(fields, key) {
        Some(field) if matches!((value, field.default), (Json::Null, Some(_))) => {}
        Some(field) => proof.value(&path.field(key), field.schema, None, value),
        None => proof.unknown(&path, fields, key),
    }
    report.tell();
}

/// Checks the result of an example against the schema of the tool's output.
#[track_caller]
pub const fn check_result(output: &Schema, result: &Example, tool: &str, _number: usize) {
    let mut report = Report::new();
    let path = Path::owner(tool);
    Proof {
        report: &mut report,
        rule: &Rule::RESULT,
        output: true,
        quiet: false,
        failed: false,
    }
    .value(&path, output, None, result.value);
    report.tell();
}

/// Checks an explicit default against the field's schema, bounds included.
#[track_caller]
pub const fn check_default(schema: &Schema, default: &Example, owner: &str, field: &str) {
    let mut report = Report::new();
    let owner = Path::owner(owner);
    let path = owner.field(field);
    Proof {
        report: &mut report,
        rule: &Rule::DEFAULT_VALUE,
        output: false,
        quiet: false,
        failed: false,
    }
    .value(&path, schema, None, default.value);
    report.tell();
}

/// The validation of one value.
struct Proof<'r> {
    report: &'r mut Report,
    rule: &'static Rule,
    /// Whether a tool returns the value; otherwise a model sends it.
    output: bool,
    /// Whether only `failed` is set, without a report: used to try the variants of an untagged union.
    quiet: bool,
    failed: bool,
}

type Entries<'a> = &'a [(&'static str, Json)];

impl Proof<'_> {
    /// Validates a value against a schema and the bounds around it.
    const fn value(
        &mut self,
        path: &Path<'_>,
        schema: &Schema,
        bounds: Option<&Constraints>,
        value: &Json,
    ) {
        let fits = match (&schema.kind, value) {
            (Kind::Constrained(inner, own), _) => {
                let merged = match bounds {
                    Some(outer) => own.under(outer),
                    None => **own,
                };
                let merged = if self.output { None } else { Some(&merged) };
                return self.value(&path.at(schema), inner, merged, value);
            }
            (Kind::Optional(_) | Kind::Null, Json::Null)
            | (Kind::Boolean, Json::Boolean(_))
            | (Kind::Any, _) => true,
            (Kind::Optional(inner), _) => {
                return self.value(&path.at(schema), inner, bounds, value);
            }
            (Kind::Refused { .. }, _) => self.output,
            (Kind::String, Json::String(text)) => text_fits(text, bounds),
            (Kind::Format(format), Json::String(text)) => {
                format.matches(text.as_bytes()) && text_fits(text, bounds)
            }
            (Kind::Char, Json::String(text)) => characters(text) == 1,
            (Kind::Duration, _) => duration_fits(value, self.output),
            (Kind::Integer(integer), Json::Number(number)) => {
                integer_fits(integer, *number, bounds)
            }
            (Kind::Number { single }, Json::Number(number)) => {
                number_fits(*single, *number, bounds)
            }
            (Kind::Enum(values), Json::String(text)) => {
                let (mut found, mut at) = (false, 0);
                let at_end = values.len();
                while at < at_end && !found {
                    found = same(values[at].value, text);
                    at += 1;
                }
                found
            }
            (Kind::IntegerEnum(values), Json::Number(Number::Integer { value, .. })) => {
                let (mut found, mut at) = (false, 0);
                let at_end = values.len();
                while at < at_end && !found {
                    found = values[at].value == *value;
                    at += 1;
                }
                found
            }
            (
                Kind::Array {
                    items,
                    unique,
                    exactly,
                },
                Json::Array(values),
            ) => {
                self.items(&path.at(schema), items, values);
                count_fits(values, *unique, *exactly, bounds)
            }
            (Kind::Tuple(schemas), Json::Array(values)) if schemas.len() == values.len() => {
                let mut at = 0;
                let at_end = values.len();
                while at < at_end {
                    self.value(&path.item(at), schemas[at], None, &values[at]);
                    at += 1;
                }
                true
            }
            (Kind::Map(schema), Json::Object(entries)) => {
                let mut at = 0;
                let at_end = entries.len();
                while at < at_end {
                    self.value(&path.field(entries[at].0), schema, None, &entries[at].1);
                    at += 1;
                }
                true
            }
            (Kind::Object(fields), Json::Object(entries)) => {
                return self.record(&path.at(schema), fields, &[], entries, false);
            }
            (Kind::Union(union), _) => self.union(&path.at(schema), union, value),
            (Kind::Ref(name), _) => match path.enclosing(name, schema.module) {
                Some(target) => return self.value(path, target, None, value),
                None => false,
            },
            _ => false,
        };
        if !fits {
            self.fault(path, schema, bounds, value);
        }
    }

    const fn items(&mut self, path: &Path<'_>, items: &Schema, values: &[Json]) {
        let mut at = 0;
        let at_end = values.len();
        while at < at_end {
            self.value(&path.item(at), items, None, &values[at]);
            at += 1;
        }
    }

    /// Validates an object against a closed record. `tags` are keys that the union around it has already checked.
    const fn record(
        &mut self,
        path: &Path<'_>,
        fields: &[Field],
        tags: &[&str],
        entries: Entries<'_>,
        partial: bool,
    ) {
        let (mut at, mut met, mut unknown) = (0, 0, 0);
        let at_end = entries.len();
        while at < at_end {
            let (key, value) = &entries[at];
            if Self::is_repeated(entries, at) {
                self.note(&path.field(key), "the key once", "it twice");
            }
            match self.field(fields, key) {
                Some(field) => {
                    met += field.is_required() as usize;
                    if !matches!((value, field.default), (Json::Null, Some(_))) || self.output {
                        self.value(&path.field(key), field.schema, None, value);
                    }
                }
                None if is_among(tags, key) => {}
                None => {
                    unknown += 1;
                    self.unknown(path, fields, key);
                }
            }
            at += 1;
        }
        if !partial {
            self.missing(path, fields, entries, met, unknown);
        }
    }

    const fn is_repeated(entries: Entries<'_>, at: usize) -> bool {
        let mut other = 0;
        while other < at {
            if same(entries[other].0, entries[at].0) {
                return true;
            }
            other += 1;
        }
        false
    }

    const fn field<'f>(&self, fields: &'f [Field], key: &str) -> Option<&'f Field> {
        let mut at = 0;
        let at_end = fields.len();
        while at < at_end {
            let field = &fields[at];
            let (present, name) = if self.output {
                (field.output, field.out_name)
            } else {
                (field.input, field.name)
            };
            if present && same(name, key) {
                return Some(field);
            }
            at += 1;
        }
        None
    }

    const fn missing(
        &mut self,
        path: &Path<'_>,
        fields: &[Field],
        entries: Entries<'_>,
        met: usize,
        unknown: usize,
    ) {
        let (mut at, mut needed) = (0, 0);
        let at_end = fields.len();
        while at < at_end {
            needed += (fields[at].input && fields[at].is_required()) as usize;
            at += 1;
        }
        if needed == met && !self.output {
            return;
        }
        // A misspelt key is reported as an unknown key only, not as a missing key as well.
        if self.count_missing(fields, entries) <= unknown {
            return;
        }
        at = 0;
        while at < at_end {
            let (needed, name) = self.needs(&fields[at]);
            if needed && !has_key(entries, name) {
                self.absent(&path.field(name), fields[at].schema);
            }
            at += 1;
        }
    }

    const fn count_missing(&self, fields: &[Field], entries: Entries<'_>) -> usize {
        let (mut count, mut at) = (0, 0);
        let at_end = fields.len();
        while at < at_end {
            let (needed, name) = self.needs(&fields[at]);
            count += (needed && !has_key(entries, name)) as usize;
            at += 1;
        }
        count
    }

    /// Returns whether a field is required in the direction of the value (arguments or output), and its key in this direction.
    const fn needs(&self, field: &Field) -> (bool, &'static str) {
        if self.output {
            (field.output && !field.may_skip, field.out_name)
        } else {
            (field.input && field.is_required(), field.name)
        }
    }

    /// Returns whether a variant matches, and validates the content of that variant.
    const fn union(&mut self, path: &Path<'_>, union: &Union, value: &Json) -> bool {
        match union.tagging {
            Tagging::External => self.external(path, union, value),
            Tagging::Internal { tag } => {
                let Json::Object(entries) = value else {
                    return false;
                };
                let Some(at) = tagged(union, tag, entries) else {
                    return false;
                };
                let variant = &union.variants[at];
                let fields: &[Field] = match variant.schema {
                    Some(Schema {
                        kind: Kind::Object(fields),
                        ..
                    }) => fields,
                    _ => &[],
                };
                self.record(path, fields, &[tag], entries, false);
                true
            }
            Tagging::Adjacent { tag, content } => {
                let Json::Object(entries) = value else {
                    return false;
                };
                let Some(at) = tagged(union, tag, entries) else {
                    return false;
                };
                match union.variants[at].schema {
                    Some(schema) => self.record(
                        path,
                        &[Field::new(content, crate::schema::Text::EMPTY, schema)],
                        &[tag],
                        entries,
                        false,
                    ),
                    None => self.record(path, &[], &[tag], entries, false),
                }
                true
            }
            Tagging::Untagged => {
                let mut at = 0;
                let at_end = union.variants.len();
                while at < at_end {
                    let fits = match union.variants[at].schema {
                        Some(schema) => self.would_fit(path, schema, value),
                        None => matches!(value, Json::Null),
                    };
                    if fits {
                        return true;
                    }
                    at += 1;
                }
                false
            }
        }
    }

    const fn would_fit(&mut self, path: &Path<'_>, schema: &Schema, value: &Json) -> bool {
        let mut trial = Proof {
            report: self.report,
            rule: self.rule,
            output: self.output,
            quiet: true,
            failed: false,
        };
        trial.value(path, schema, None, value);
        !trial.failed
    }

    const fn external(&mut self, path: &Path<'_>, union: &Union, value: &Json) -> bool {
        let (name, content) = match value {
            Json::String(name) => (*name, None),
            Json::Object(entries) if entries.len() == 1 => (entries[0].0, Some(&entries[0].1)),
            _ => return false,
        };
        let mut at = 0;
        let at_end = union.variants.len();
        while at < at_end {
            if same(union.variants[at].name, name) {
                return match (union.variants[at].schema, content) {
                    (None, None) => true,
                    (Some(schema), Some(content)) => {
                        self.value(&path.field(name), schema, None, content);
                        true
                    }
                    _ => false,
                };
            }
            at += 1;
        }
        false
    }
}

/// Returns the index of the variant that the tag names.
const fn tagged(union: &Union, tag: &str, entries: Entries<'_>) -> Option<usize> {
    let mut entry = 0;
    let entry_end = entries.len();
    while entry < entry_end {
        if same(entries[entry].0, tag) {
            let Json::String(name) = entries[entry].1 else {
                return None;
            };
            let mut at = 0;
            let at_end = union.variants.len();
            while at < at_end {
                if same(union.variants[at].name, name) {
                    return Some(at);
                }
                at += 1;
            }
            return None;
        }
        entry += 1;
    }
    None
}

const fn is_among(keys: &[&str], key: &str) -> bool {
    let mut at = 0;
    let at_end = keys.len();
    while at < at_end {
        if same(keys[at], key) {
            return true;
        }
        at += 1;
    }
    false
}

const fn has_key(entries: Entries<'_>, key: &str) -> bool {
    let mut at = 0;
    while at < entries.len() {
        if same(entries[at].0, key) {
            return true;
        }
        at += 1;
    }
    false
}
