//! Property tests with random schemas and random, often invalid, values.
//!
//! All choices come from a tape of random bytes, so that failures can shrink.

use proptest::collection::vec;
use proptest::prelude::*;
use serde_json::{Map, Value, json};

use super::build::*;
use super::oracle::lower;
use super::writer::{NAMES, Tape, Writer};
use super::{Repair, admit};
use crate::schema::{AuditForm, Field, Format, Kind, Schema, Tagging};

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
        // The guard ignores this.
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

/// A schema, its JSON Schema, arguments, and whether the arguments contain a repeated key.
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

/// Whether an independent validator accepts the text.
fn is_valid(document: &Value, text: &str) -> bool {
    let validator = jsonschema::options()
        .should_validate_formats(true)
        .build(document)
        .unwrap();
    validator.is_valid(&serde_json::from_str(text).unwrap())
}

/// Changes one byte of a text, so that it often is not JSON.
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

proptest! {
    #![proptest_config(ProptestConfig { cases: cases(), ..ProptestConfig::default() })]

    // S4-61, S0-07: the guard admits exactly what the JSON Schema admits.
    #[test]
    fn agrees_with_json_schema(bytes in vec(any::<u8>(), 0..400), wrong in prop_oneof![Just(0usize), Just(8), Just(40)]) {
        let (schema, document, text, twice) = scene(bytes, wrong);
        let wanted = !twice && is_valid(&document, &text);
        let admitted = admit(schema, &text, Repair::Off);
        prop_assert_eq!(admitted.is_ok(), wanted, "{} against {}: {:?}", text, document, admitted);
        match admitted {
            // The text for serde is JSON, too.
            Ok(admitted) => drop(serde_json::from_str::<Value>(&admitted.text).unwrap()),
            Err(issues) => {
                prop_assert!(!issues.is_empty() && issues.len() <= 33, "{:?}", issues);
                let bytes: usize = issues.iter().map(|issue| issue.pointer.len() + issue.expected.len() + issue.found.len()).sum();
                prop_assert!(bytes < 4096);
                // Every pointer leads to a value, unless the issue is about a missing one.
                let value: Value = serde_json::from_str(&text).unwrap();
                for issue in issues {
                    let missing = issue.found.starts_with("nothing");
                    prop_assert!(missing || twice || value.pointer(&issue.pointer).is_some(), "{:?} in {}", issue, text);
                }
            }
        }
    }

    // M10: a repair never changes valid arguments, and its result is valid.
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
                // Durations are respelled for serde, so such texts are skipped. All other results must be valid again.
                if !text.contains("PT") && !document.to_string().contains("duration") {
                    prop_assert!(admit(schema, &safe.text, Repair::Off).is_ok(), "{} became {}", text, safe.text);
                    prop_assert!(is_valid(&document, &safe.text), "{} became {}", text, safe.text);
                }
            }
            (Err(off), Err(safe)) => prop_assert_eq!(off, safe),
            (Ok(_), Err(issues)) => prop_assert!(false, "{:?}", issues),
        }
    }

    // S0-07: the guard accepts the same texts as JSON as serde_json does.
    #[test]
    fn agrees_with_serde_json(bytes in vec(any::<u8>(), 0..200), at in any::<usize>(), with in any::<u8>()) {
        let (_, _, text, _) = scene(bytes, 30);
        let text = damage(&text, at, with);
        let schema = Schema::new(Kind::Any);
        let serde = serde_json::from_str::<Value>(&text).is_ok();
        let guard = admit(&schema, &text, Repair::Off);
        // Two exceptions: serde_json accepts repeated keys, and the guard accepts empty text as no arguments.
        let twice = guard.as_ref().is_err_and(|issues| issues.iter().any(|issue| issue.found.starts_with("it again")));
        prop_assert!(guard.is_ok() == serde || twice || text.trim().is_empty(), "{}", text);
    }

    // M10: a call that was cut off never runs.
    #[test]
    fn truncated_arguments_are_refused(bytes in vec(any::<u8>(), 0..400), at in any::<usize>()) {
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

/// Number of test cases. Set `GUARD_CASES` for a long run.
fn cases() -> u32 {
    std::env::var("GUARD_CASES")
        .ok()
        .and_then(|cases| cases.parse().ok())
        .unwrap_or(400)
}
