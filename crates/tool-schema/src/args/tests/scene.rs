//! Random schemas, and random, often invalid, arguments for them.
//!
//! All choices come from a sequence of random bytes, the tape, so that failures can shrink.

use serde_json::{Map, Value, json};

use super::build::*;
use super::oracle::lower;
use super::writer::{NAMES, Tape, Writer};
use crate::schema::{AuditForm, Field, Format, Kind, Tagging};

fn scalar(tape: &mut Tape) -> Node {
    match tape.pick(14) {
        0 => text(),
        1 => u32s(),
        2 => boolean(),
        3 => number(),
        4 => choice(&["rust", "Go", "c++", "5"]),
        5 => integer("i8", -128, 127),
        6 => node(Kind::Format(tape.one(&[
            Format::Date,
            Format::Uuid,
            Format::Ipv4,
            Format::Email,
            Format::DateTime,
        ]))),
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
        _ => bounded(bounded(text(), |b| b.max_length = Some(2)), |b| {
            b.max_length = Some(4);
        }),
    }
}

fn record(tape: &mut Tape, depth: usize, skip: &str) -> Node {
    let count = tape.pick(5);
    let mut fields: Vec<Field> = Vec::new();
    for name in NAMES.iter().filter(|name| **name != skip).take(count) {
        let mut field = match tape.pick(5) {
            0 => defaulted(name, u32s(), "7"),
            1 | 2 => field(name, optional(any_node(tape, depth))),
            _ => field(name, any_node(tape, depth)),
        };
        // The guard ignores the audit form.
        field.audit = tape.one(&[
            AuditForm::ByType,
            AuditForm::Value,
            AuditForm::Preview,
            AuditForm::Length,
        ]);
        fields.push(field);
    }
    if fields.len() < 5 && tape.pick(2) == 0 {
        return leak(object(fields).checked());
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
            let tagging = tape.one(&[
                Tagging::External,
                Tagging::Internal { tag: "a" },
                Tagging::Adjacent {
                    tag: "a",
                    content: "b",
                },
            ]);
            let internal = matches!(tagging, Tagging::Internal { .. });
            let payload = if internal {
                record(tape, depth, "a")
            } else {
                any_node(tape, depth)
            };
            union(
                tagging,
                vec![
                    ("one", Some(payload)),
                    ("Two", None),
                    ("three", Some(record(tape, depth, "a"))),
                ],
            )
        }
        8 => union(
            Tagging::Untagged,
            vec![
                ("s", Some(scalar(tape))),
                ("o", Some(record(tape, depth, ""))),
                ("l", Some(array(any_node(tape, depth)))),
                ("n", None),
            ],
        ),
        9 => node(Kind::Map(any_node(tape, depth))),
        10 => node(Kind::Tuple(list(vec![scalar(tape), any_node(tape, depth)]))),
        11 => {
            // The address makes each name unique.
            let name = leak(format!("R{:p}", leak(0u8)));
            let again = node(Kind::Ref(name));
            let fields = vec![
                field("a", scalar(tape)),
                field("b", optional(again)),
                field("c d", array(again)),
            ];
            named(name, object(fields))
        }
        12 => node(Kind::Array {
            items: any_node(tape, depth),
            unique: false,
            exactly: Some(tape.pick(3)),
        }),
        13 => node(Kind::Any),
        _ => scalar(tape),
    }
}

/// Creates a schema, its JSON Schema, arguments, and whether the arguments contain a repeated key.
pub(crate) fn scene(bytes: Vec<u8>, wrong: usize) -> (Node, Value, String, bool) {
    let mut tape = Tape::new(bytes);
    let schema = any_node(&mut tape, 3);
    let mut defs = Map::new();
    let root = lower(schema, None, &mut defs);
    let document = json!({ "$defs": defs, "allOf": [root] });
    let mut writer = Writer {
        tape: &mut tape,
        out: String::new(),
        wrong,
        scope: Vec::new(),
        depth: 0,
        twice: false,
    };
    writer.value(schema);
    let (out, twice) = (writer.out, writer.twice);
    (schema, document, out, twice)
}

/// Removes or inserts one byte, truncates the text, or appends ` 1`, so that the text often is not JSON.
pub(crate) fn damage(text: &str, at: usize, with: u8) -> String {
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
