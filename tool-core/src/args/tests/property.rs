//! Properties over random schemas and random, often broken, values.
//!
//! A tape of random bytes decides everything, so that a failure shrinks. The lowering to JSON Schema is written here a second time, by
//! way of `serde_json::Value`: it shares nothing with the one that providers get.

use std::fmt::Write as _;

use proptest::collection::vec;
use proptest::prelude::*;
use serde_json::{Map, Value, json};

use super::build::*;
use super::{Repair, admit};
use crate::schema::{Constraints, Field, Format, Kind, Schema, Tagging, Union};

/// Random choices.
struct Tape {
    bytes: Vec<u8>,
    at: usize,
}

impl Tape {
    fn new(bytes: Vec<u8>) -> Self {
        Self { bytes, at: 0 }
    }

    fn pick(&mut self, count: usize) -> usize {
        let byte = self.bytes.get(self.at).copied().unwrap_or(0);
        self.at += 1;
        usize::from(byte) % count
    }

    fn one<T: Copy>(&mut self, values: &[T]) -> T {
        let at = self.pick(values.len());
        *values.get(at).unwrap()
    }
}

const NAMES: [&str; 6] = ["a", "b", "min_stars", "c d", "é", "q\"\\"];

fn scalar(tape: &mut Tape) -> Node {
    match tape.pick(14) {
        0 => text(),
        1 => u32s(),
        2 => boolean(),
        3 => number(),
        4 => choice(&["rust", "Go", "c++", "5"]),
        5 => integer("i8", -128, 127),
        6 => node(Kind::Format(tape.one(&[Format::Date, Format::Uuid, Format::Ipv4, Format::Email, Format::DateTime]))),
        7 => node(Kind::Char),
        8 => node(Kind::Duration),
        9 => numbers(&[1, -2, 30]),
        10 => bounded(number(), |b| {
            b.min = number_bound(tape.one(&["-1.5", "0", "2"]));
            b.exclusive_min = tape.pick(2) == 1;
            b.max = number_bound(tape.one(&["3", "2.5"]));
            b.exclusive_max = tape.pick(2) == 1;
        }),
        11 => bounded(i64s(), |b| {
            b.max = number_bound("60");
            b.multiple_of = number_bound(tape.one(&["5", "2", "0.5"]));
        }),
        12 => bounded(text(), |b| {
            b.min_length = Some(tape.pick(3));
            b.max_length = Some(2 + tape.pick(3));
        }),
        _ => bounded(bounded(text(), |b| b.max_length = Some(2)), |b| b.max_length = Some(4)),
    }
}

fn record(tape: &mut Tape, depth: usize, skip: &str) -> Node {
    let count = tape.pick(5);
    let mut fields: Vec<Field> = Vec::new();
    for name in NAMES.iter().filter(|name| **name != skip).take(count) {
        fields.push(match tape.pick(5) {
            0 => defaulted(name, u32s(), "7"),
            1 | 2 => field(name, optional(any_node(tape, depth))),
            _ => field(name, any_node(tape, depth)),
        });
    }
    object(fields)
}

fn any_node(tape: &mut Tape, depth: usize) -> Node {
    if depth == 0 {
        return scalar(tape);
    }
    let depth = depth - 1;
    match tape.pick(16) {
        0..=3 => record(tape, depth, ""),
        4 => array(any_node(tape, depth)),
        5 => set(scalar(tape)),
        6 => bounded(array(any_node(tape, depth)), |b| {
            b.min_items = Some(tape.pick(2));
            b.max_items = Some(1 + tape.pick(3));
        }),
        7 => {
            let tagging = tape.one(&[Tagging::External, Tagging::Internal { tag: "a" }, Tagging::Adjacent { tag: "a", content: "b" }]);
            let internal = matches!(tagging, Tagging::Internal { .. });
            let payload = if internal { record(tape, depth, "a") } else { any_node(tape, depth) };
            union(tagging, vec![("one", Some(payload)), ("Two", None), ("three", Some(record(tape, depth, "a")))])
        }
        8 => union(Tagging::Untagged, vec![("s", Some(scalar(tape))), ("o", Some(record(tape, depth, ""))), ("l", Some(array(any_node(tape, depth)))), ("n", None)]),
        9 => node(Kind::Map(any_node(tape, depth))),
        10 => node(Kind::Tuple(list(vec![scalar(tape), any_node(tape, depth)]))),
        11 => {
            // Names are told apart by their address: nothing is called the same by accident.
            let name = leak(format!("R{:p}", leak(0u8)));
            let again = node(Kind::Ref(name));
            let fields = vec![field("a", scalar(tape)), field("b", optional(again)), field("c d", array(again))];
            named(name, object(fields))
        }
        12 => node(Kind::Array { items: any_node(tape, depth), unique: false, exactly: Some(tape.pick(3)) }),
        13 => node(Kind::Any),
        _ => scalar(tape),
    }
}

fn lower(schema: &Schema, bounds: Option<Constraints>, defs: &mut Map<String, Value>) -> Value {
    if !schema.name.is_empty() && bounds.is_none() {
        if !defs.contains_key(schema.name) {
            defs.insert(schema.name.to_owned(), Value::Bool(true));
            let body = lower_kind(schema, None, defs);
            defs.insert(schema.name.to_owned(), body);
        }
        return json!({ "$ref": format!("#/$defs/{}", schema.name) });
    }
    lower_kind(schema, bounds, defs)
}

fn lower_kind(schema: &Schema, bounds: Option<Constraints>, defs: &mut Map<String, Value>) -> Value {
    let mut out = match &schema.kind {
        Kind::String => json!({ "type": "string" }),
        Kind::Format(format) => json!({ "type": "string", "format": format.name() }),
        Kind::Char => json!({ "type": "string", "minLength": 1, "maxLength": 1 }),
        Kind::Duration => json!({ "type": "string", "format": "duration", "not": { "pattern": "^P[^T]*[YM]" } }),
        Kind::Integer(integer) => {
            let (min, max): (Value, Value) = (i64::try_from(integer.min).unwrap().into(), u64::try_from(integer.max).unwrap().into());
            json!({ "type": "integer", "minimum": min, "maximum": max })
        }
        Kind::Number { .. } => json!({ "type": "number" }),
        Kind::Boolean => json!({ "type": "boolean" }),
        Kind::Null => json!({ "type": "null" }),
        Kind::Enum(values) => json!({ "enum": values.iter().map(|value| value.value).collect::<Vec<_>>() }),
        Kind::IntegerEnum(values) => {
            let values: Vec<i64> = values.iter().map(|value| value.value.try_into().unwrap()).collect();
            json!({ "enum": values })
        }
        Kind::Array { items, unique, exactly } => {
            let mut out = json!({ "type": "array", "items": lower(items, None, defs), "uniqueItems": unique });
            if let Some(exactly) = exactly {
                out["minItems"] = (*exactly).into();
                out["maxItems"] = (*exactly).into();
            }
            out
        }
        Kind::Object(fields) => record_schema(fields, None, defs),
        Kind::Map(values) => json!({ "type": "object", "additionalProperties": lower(values, None, defs) }),
        Kind::Tuple(items) => {
            let prefix: Vec<Value> = items.iter().map(|item| lower(item, None, defs)).collect();
            json!({ "type": "array", "minItems": prefix.len(), "maxItems": prefix.len(), "prefixItems": prefix })
        }
        Kind::Ref(name) => json!({ "$ref": format!("#/$defs/{name}") }),
        Kind::Any => json!({}),
        Kind::Never | Kind::Refused { .. } => json!(false),
        Kind::Optional(inner) => return json!({ "anyOf": [lower(inner, bounds, defs), { "type": "null" }] }),
        Kind::Constrained(inner, own) => {
            let merged = bounds.map_or(**own, |outer| own.under(&outer));
            return lower(inner, Some(merged), defs);
        }
        Kind::Union(union) => union_schema(union, defs),
    };
    if let Some(bounds) = bounds {
        bound(&mut out, &bounds);
    }
    out
}

fn bound(out: &mut Value, bounds: &Constraints) {
    let mut set = |key: &str, value: Option<Value>| {
        if let Some(value) = value {
            // The narrower of the two: the type's own bounds stand there already.
            let old = out[key].as_f64();
            let narrower = match (old, value.as_f64()) {
                (Some(old), Some(new)) => if key == "minimum" { new > old } else { new < old },
                _ => true,
            };
            if narrower {
                out[key] = value;
            }
        }
    };
    let number = |number: Option<crate::schema::Number>| number.map(|number| serde_json::from_str(number.text()).unwrap());
    set(if bounds.exclusive_min { "exclusiveMinimum" } else { "minimum" }, number(bounds.min));
    set(if bounds.exclusive_max { "exclusiveMaximum" } else { "maximum" }, number(bounds.max));
    set("multipleOf", number(bounds.multiple_of));
    set("minLength", bounds.min_length.map(Into::into));
    set("maxLength", bounds.max_length.map(Into::into));
    set("minItems", bounds.min_items.map(Into::into));
    set("maxItems", bounds.max_items.map(Into::into));
}

fn record_schema(fields: &[Field], tag: Option<(&str, &str)>, defs: &mut Map<String, Value>) -> Value {
    let mut properties = Map::new();
    let mut required = Vec::new();
    if let Some((tag, name)) = tag {
        properties.insert(tag.to_owned(), json!({ "const": name }));
        required.push(tag);
    }
    for field in fields {
        let mut schema = lower(field.schema, None, defs);
        if field.default.is_some() {
            schema = json!({ "anyOf": [schema, { "type": "null" }] });
        } else if !field.schema.is_optional() {
            required.push(field.name);
        }
        properties.insert(field.name.to_owned(), schema);
    }
    json!({ "type": "object", "properties": properties, "required": required, "additionalProperties": false })
}

fn union_schema(union: &Union, defs: &mut Map<String, Value>) -> Value {
    let variants: Vec<Value> = union
        .variants
        .iter()
        .map(|variant| match (union.tagging, variant.schema) {
            (Tagging::External, None) => json!({ "const": variant.name }),
            (Tagging::External, Some(schema)) => record_schema(&[Field::new(variant.name, crate::schema::Text::EMPTY, schema)], None, defs),
            (Tagging::Internal { tag }, schema) => {
                let fields = match schema.map(|schema| &schema.kind) {
                    Some(Kind::Object(fields)) => fields,
                    _ => &[][..],
                };
                record_schema(fields, Some((tag, variant.name)), defs)
            }
            (Tagging::Adjacent { tag, .. }, None) => record_schema(&[], Some((tag, variant.name)), defs),
            (Tagging::Adjacent { tag, content }, Some(schema)) => {
                let fields = [Field::new(content, crate::schema::Text::EMPTY, schema)];
                record_schema(&fields, Some((tag, variant.name)), defs)
            }
            (Tagging::Untagged, None) => json!({ "type": "null" }),
            (Tagging::Untagged, Some(schema)) => lower(schema, None, defs),
        })
        .collect();
    json!({ "anyOf": variants })
}

/// Writes values, mostly by the schema.
struct Writer<'t> {
    tape: &'t mut Tape,
    out: String,
    /// How likely a value is one of another kind, in 256 parts.
    wrong: usize,
    scope: Vec<(&'static str, Node)>,
    depth: usize,
    /// A key was written twice.
    twice: bool,
}

const NUMBERS: [&str; 19] = [
    "0", "1", "5", "1.0", "-0", "2e0", "25e-1", "-2", "30", "0.5", "127", "128", "-128.0", "55", "4294967295", "4294967296", "1e1", "2.5", "-1.5",
];
const TEXTS: [&str; 20] = [
    "", "a", "rust", "Go", "RUST", "5", "true", "äö", "😀", "2024-02-29", "2023-02-29", "1.2.3.4", "a@b.de", "PT1M30S", "P1Y", "P2W", "one",
    "2024-01-31T08:00:00Z", "550e8400-e29b-41d4-a716-446655440000", "[\"a\"]",
];

impl Writer<'_> {
    fn string(&mut self, text: &str) {
        if self.tape.pick(8) == 0 && text.starts_with(|c: char| c.is_ascii_alphanumeric()) {
            let (first, rest) = text.split_at(1);
            let code = u32::from(first.chars().next().unwrap());
            let rest = serde_json::to_string(rest).unwrap();
            let _ = write!(self.out, "\"\\u{code:04x}{}", rest.get(1..).unwrap());
        } else {
            self.out.push_str(&serde_json::to_string(text).unwrap());
        }
    }

    fn space(&mut self) {
        if self.tape.pick(6) == 0 {
            self.out.push_str(self.tape.one(&[" ", "\n", "\t \r"]));
        }
    }

    fn wild(&mut self) {
        match self.tape.pick(8) {
            0 => self.out.push_str("null"),
            1 => self.out.push_str(self.tape.one(&["true", "false"])),
            2 | 3 => {
                let number = self.tape.one(&NUMBERS);
                self.out.push_str(number);
            }
            4 => self.out.push_str(self.tape.one(&["[]", "[1]", "{}", "{\"a\":1}", "[\"a\",\"a\"]", "{\"a\":null,\"b\":2}"])),
            _ => {
                let text = self.tape.one(&TEXTS);
                self.string(text);
            }
        }
    }

    fn value(&mut self, schema: Node) {
        if self.tape.pick(256) < self.wrong || self.depth > 12 {
            self.wild();
            return;
        }
        if self.tape.pick(256) < self.wrong {
            // Right, but inside a text: for repairs.
            let out = std::mem::take(&mut self.out);
            self.shape(schema);
            let inner = std::mem::replace(&mut self.out, out);
            self.out.push_str(&serde_json::to_string(&inner).unwrap());
            return;
        }
        self.shape(schema);
    }

    fn shape(&mut self, schema: Node) {
        self.depth += 1;
        if !schema.name.is_empty() {
            self.scope.push((schema.name, schema));
        }
        match &schema.kind {
            Kind::String | Kind::Char => {
                let text = self.tape.one(&TEXTS);
                self.string(text);
            }
            Kind::Format(format) => {
                let text = match format {
                    Format::Date => "2024-02-29",
                    Format::Uuid => "550e8400-e29b-41d4-a716-446655440000",
                    Format::Ipv4 => "1.2.3.4",
                    Format::Email => "a@b.de",
                    _ => "2024-01-31T08:00:00Z",
                };
                self.string(text);
            }
            Kind::Duration => self.string("PT1M30S"),
            Kind::Integer(_) | Kind::Number { .. } | Kind::IntegerEnum(_) => {
                let number = self.tape.one(&NUMBERS);
                self.out.push_str(number);
            }
            Kind::Boolean => self.out.push_str("true"),
            Kind::Enum(values) => {
                let value = self.tape.one(values).value;
                self.string(value);
            }
            Kind::Null => self.out.push_str("null"),
            Kind::Any | Kind::Never | Kind::Refused { .. } => self.wild(),
            Kind::Optional(inner) => {
                if self.tape.pick(4) == 0 {
                    self.out.push_str("null");
                } else {
                    self.value(inner);
                }
            }
            Kind::Constrained(inner, _) => self.shape(inner),
            Kind::Ref(name) => {
                let node = self.scope.iter().rev().find(|(known, _)| known == name).unwrap().1;
                self.shape(node);
            }
            Kind::Array { items, exactly, .. } => {
                let count = exactly.unwrap_or_else(|| self.tape.pick(4));
                self.items(&vec![*items; count]);
            }
            Kind::Tuple(items) => self.items(items),
            Kind::Map(values) => {
                let count = self.tape.pick(3);
                self.members(NAMES.iter().take(count).map(|name| (*name, *values)).collect(), None);
            }
            Kind::Object(fields) => self.record(fields, None),
            Kind::Union(union) => {
                let variant = self.tape.one(union.variants);
                match (union.tagging, variant.schema) {
                    (Tagging::External, None) => self.string(variant.name),
                    (Tagging::External, Some(schema)) => self.members(vec![(variant.name, schema)], None),
                    (Tagging::Internal { tag }, schema) => match schema.map(|schema| &schema.kind) {
                        Some(Kind::Object(fields)) => self.record(fields, Some((tag, variant.name))),
                        _ => self.members(vec![], Some((tag, variant.name))),
                    },
                    (Tagging::Adjacent { tag, content }, schema) => {
                        self.members(schema.map(|schema| (content, schema)).into_iter().collect(), Some((tag, variant.name)));
                    }
                    (Tagging::Untagged, None) => self.out.push_str("null"),
                    (Tagging::Untagged, Some(schema)) => self.value(schema),
                }
            }
        }
        if !schema.name.is_empty() {
            self.scope.pop();
        }
        self.depth -= 1;
    }

    fn record(&mut self, fields: &'static [Field], tag: Option<(&str, &str)>) {
        let mut members = Vec::new();
        for field in fields {
            let may_lack = !field.is_required();
            if may_lack && self.tape.pick(3) == 0 || self.tape.pick(256) < self.wrong / 2 {
                continue;
            }
            members.push((field.name, field.schema));
        }
        if self.tape.pick(4) == 0 {
            members.reverse();
        }
        self.members(members, tag);
    }

    fn members(&mut self, mut members: Vec<(&str, Node)>, tag: Option<(&str, &str)>) {
        if self.tape.pick(256) < self.wrong / 4 {
            members.push((self.tape.one(&NAMES), leak(Schema::new(Kind::Any))));
        }
        self.out.push('{');
        let at = self.tape.pick(members.len() + 1);
        let mut keys = Vec::new();
        let mut comma = false;
        for index in 0..=members.len() {
            if index == at
                && let Some((tag, name)) = tag
            {
                self.comma(&mut comma);
                keys.push(tag);
                self.string(tag);
                self.out.push(':');
                if self.tape.pick(256) < self.wrong / 2 {
                    self.wild();
                } else {
                    self.string(name);
                }
            }
            if let Some((key, schema)) = members.get(index) {
                self.comma(&mut comma);
                keys.push(key);
                self.string(key);
                self.space();
                self.out.push(':');
                self.space();
                self.value(schema);
            }
        }
        self.space();
        self.out.push('}');
        let count = keys.len();
        keys.sort_unstable();
        keys.dedup();
        self.twice |= keys.len() < count;
    }

    fn comma(&mut self, comma: &mut bool) {
        if std::mem::replace(comma, true) {
            self.out.push(',');
        }
        self.space();
    }

    fn items(&mut self, items: &[Node]) {
        self.out.push('[');
        let mut comma = false;
        for item in items {
            self.comma(&mut comma);
            self.value(item);
        }
        self.space();
        self.out.push(']');
    }
}

/// A schema, its text, and arguments, which may hold a key twice.
fn scene(bytes: Vec<u8>, wrong: usize) -> (Node, Value, String, bool) {
    let mut tape = Tape::new(bytes);
    let schema = any_node(&mut tape, 3);
    let mut defs = Map::new();
    let root = lower(schema, None, &mut defs);
    let document = json!({ "$defs": defs, "allOf": [root] });
    let mut writer = Writer { tape: &mut tape, out: String::new(), wrong, scope: Vec::new(), depth: 0, twice: false };
    writer.value(schema);
    let (out, twice) = (writer.out, writer.twice);
    (schema, document, out, twice)
}

/// Whether an independent validator takes the text.
fn is_valid(document: &Value, text: &str) -> bool {
    let validator = jsonschema::options().should_validate_formats(true).build(document).unwrap();
    validator.is_valid(&serde_json::from_str(text).unwrap())
}

/// Text with one byte changed, so that it often is no JSON.
fn damage(text: &str, at: usize, with: u8) -> String {
    let mut bytes = text.as_bytes().to_vec();
    let at = at % (bytes.len() + 1);
    match with % 4 {
        0 if at < bytes.len() => {
            bytes.remove(at);
        }
        1 => bytes.insert(at, b"{}[]\",:0\\e-n t"[usize::from(with / 4) % 14]),
        2 => bytes.truncate(at),
        _ => bytes.extend_from_slice(b" 1"),
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: cases(), ..ProptestConfig::default() })]

    // S4-61, S0-07: the guard admits exactly what the JSON Schema admits
    #[test]
    fn agrees_with_json_schema(bytes in vec(any::<u8>(), 0..400), wrong in prop_oneof![Just(0usize), Just(8), Just(40)]) {
        let (schema, document, text, twice) = scene(bytes, wrong);
        let wanted = !twice && is_valid(&document, &text);
        let admitted = admit(schema, &text, Repair::Off);
        prop_assert_eq!(admitted.is_ok(), wanted, "{} against {}: {:?}", text, document, admitted);
        match admitted {
            // What serde reads is JSON too.
            Ok(admitted) => drop(serde_json::from_str::<Value>(&admitted.text).unwrap()),
            Err(issues) => {
                prop_assert!(!issues.is_empty() && issues.len() <= 33, "{:?}", issues);
                let bytes: usize = issues.iter().map(|issue| issue.pointer.len() + issue.expected.len() + issue.found.len()).sum();
                prop_assert!(bytes < 4096);
                // Every pointer to something that is there leads to it.
                let value: Value = serde_json::from_str(&text).unwrap();
                for issue in issues {
                    let missing = issue.found.starts_with("nothing");
                    prop_assert!(missing || twice || value.pointer(&issue.pointer).is_some(), "{:?} in {}", issue, text);
                }
            }
        }
    }

    // M10: a repair never changes what is valid, and what it makes is valid
    #[test]
    fn repairs_are_total(bytes in vec(any::<u8>(), 0..400), wrong in prop_oneof![Just(0usize), Just(20), Just(60)]) {
        let (schema, document, text, _) = scene(bytes, wrong);
        let off = admit(schema, &text, Repair::Off);
        let safe = admit(schema, &text, Repair::Safe);
        match (off, safe) {
            (Ok(off), Ok(safe)) => {
                prop_assert_eq!(off.text, safe.text);
                prop_assert!(safe.repairs.is_empty());
            }
            (Err(_), Ok(safe)) => {
                prop_assert!(!safe.repairs.is_empty());
                // The text is spelled for serde, so durations are gone from it; nothing else is lost by judging it again.
                if !text.contains("PT") && !document.to_string().contains("duration") {
                    prop_assert!(admit(schema, &safe.text, Repair::Off).is_ok(), "{} became {}", text, safe.text);
                    prop_assert!(is_valid(&document, &safe.text), "{} became {}", text, safe.text);
                }
            }
            (Err(off), Err(safe)) => prop_assert_eq!(off, safe),
            (Ok(_), Err(issues)) => prop_assert!(false, "{:?}", issues),
        }
    }

    // S0-07: JSON is JSON exactly where serde_json says so
    #[test]
    fn agrees_with_serde_json(bytes in vec(any::<u8>(), 0..200), at in any::<usize>(), with in any::<u8>()) {
        let (_, _, text, _) = scene(bytes, 30);
        let text = damage(&text, at, with);
        let schema = Schema::new(Kind::Any);
        let serde = serde_json::from_str::<Value>(&text).is_ok();
        let guard = admit(&schema, &text, Repair::Off);
        // Keys twice are the one thing serde_json lets pass; empty text is no arguments.
        let twice = guard.as_ref().is_err_and(|issues| issues.iter().any(|issue| issue.found.starts_with("it again")));
        prop_assert!(guard.is_ok() == serde || twice || text.trim().is_empty(), "{}", text);
    }

    // M10: a call that was cut off never runs
    #[test]
    fn cut_off_stays_refused(bytes in vec(any::<u8>(), 0..400), at in any::<usize>()) {
        let (schema, _, text, _) = scene(bytes, 0);
        let at = at % text.len();
        if let Some(cut) = text.get(..at)
            && text.starts_with(['{', '[', '"'])
            && !cut.trim().is_empty()
        {
            prop_assert!(admit(schema, cut, Repair::Safe).is_err(), "{}", cut);
        }
    }
}

/// Set `GUARD_CASES` for a long run.
fn cases() -> u32 {
    std::env::var("GUARD_CASES").ok().and_then(|cases| cases.parse().ok()).unwrap_or(400)
}
