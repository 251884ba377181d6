//! Tests of the audited form: the one-pass form equals the form over a tree of values, and contains no private text.
#![allow(clippy::unwrap_used, reason = "tests")]

mod by_values;
mod random;

use proptest::collection::vec;
use proptest::prelude::*;
use serde_json::{Value, json};

use super::form;
use crate::args::{Repair, admit};
use crate::schema::{
    AuditForm, Constraints, EnumValue, Field, Kind, Schema, Tagging, Text, Union, Variant,
};
use random::{damage, scene};

fn leak<T>(value: T) -> &'static T {
    Box::leak(Box::new(value))
}

fn field(name: &'static str, kind: Kind, audit: AuditForm) -> Field {
    let mut field = Field::new(name, Text::EMPTY, leak(Schema::new(kind)));
    field.audit = audit;
    field
}

fn list_of(kind: Kind) -> Kind {
    Kind::Array {
        items: leak(Schema::new(kind)),
        unique: false,
        exactly: None,
    }
}

fn union(tagging: Tagging, inner: Kind) -> Kind {
    let variant = |name, schema| Variant {
        name,
        description: Text::EMPTY,
        schema,
    };
    let variants = vec![
        variant("one", Some(leak(Schema::new(inner)) as &_)),
        variant("Two", None),
    ];
    let variants = variants.leak();
    Kind::Union(Union { tagging, variants })
}

/// Returns a record with a field of each kind in each audit form.
fn everything() -> &'static Schema {
    let choice = Kind::Enum(leak([EnumValue {
        value: "one",
        description: Text::EMPTY,
    }]));
    let inner = Kind::Object(leak([
        field("s", Kind::String, AuditForm::ByType),
        field("v", Kind::String, AuditForm::Value),
        field("q\"\\\n", Kind::String, AuditForm::Preview),
        field("unknown_keys", Kind::Any, AuditForm::ByType),
    ]));
    let optional = Kind::Optional(leak(Schema::new(Kind::Constrained(
        leak(Schema::new(inner)),
        &Constraints::NONE,
    ))));
    let adjacent = Tagging::Adjacent {
        tag: "t",
        content: "c",
    };
    let kinds = [
        Kind::String,
        choice,
        inner,
        optional,
        list_of(Kind::String),
        list_of(inner),
        union(Tagging::External, inner),
        union(Tagging::Internal { tag: "t" }, inner),
        union(Tagging::Internal { tag: "t" }, Kind::String),
        union(adjacent, Kind::String),
        union(Tagging::Untagged, inner),
        Kind::Map(leak(Schema::new(Kind::String))),
        Kind::Any,
        Kind::Ref("R"),
    ];
    let forms = [
        AuditForm::ByType,
        AuditForm::Value,
        AuditForm::Preview,
        AuditForm::Length,
    ];
    let mut fields = Vec::new();
    for (at, kind) in kinds.into_iter().enumerate() {
        for (of, form) in forms.into_iter().enumerate() {
            let name = String::leak(format!(
                "{}{of}",
                char::from(b'n' - u8::try_from(at).unwrap())
            ));
            fields.push(field(name, kind, form));
        }
    }
    leak(Schema::new(Kind::Object(fields.leak())))
}

/// JSON texts with special cases of the audit forms.
const VALUES: [&str; 40] = [
    "null",
    "true",
    "0",
    "-0",
    "-7",
    "1.0",
    "-1e2",
    "0.1e-7",
    "18446744073709551615",
    "1e22",
    "-9223372036854775808",
    "1e999",
    "\"\"",
    "\"one\"",
    "\"Two\"",
    "\"private\"",
    r#""\u006fne""#,
    r#""a\"b\\c\n\u0001 \ud83d\ude00 äé""#,
    "[]",
    "[ \"private\" , 1 ]",
    "[[\"private\"],{\"a\":\"private\"}]",
    "{}",
    r#"{"s":"private","v":"shown","z":1,"unknown_keys":5}"#,
    r#"{"v":"b","s":1,"v":"a"}"#,
    r#"{"s":1e999,"s":1}"#,
    r#"{"z":[1e999]}"#,
    r#"{"q\"\\\n":"private","q\u0022\\\n":"é"}"#,
    r#"{"one":{"s":"private","z":2},"Two":1}"#,
    r#"{"Two":{"s":"private"},"one":1}"#,
    r#"{"a":{"s":"private"},"one":1}"#,
    r#"{"t":"one","s":"private","z":"private"}"#,
    r#"{"t":"one","c":"private","b":1}"#,
    r#"{"c":"private","t":"one"}"#,
    r#"{"s":"private","t":"\u0054wo"}"#,
    r#"{"t":"private"}"#,
    r#"{"t":1,"c":2}"#,
    r#"{"t":"Two","z":[1e999]}"#,
    r#"{"t":"one","z":1e999}"#,
    "[1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17,18,19,20,21,\"private\"]",
    "[1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17,18,19,20,[1e999]]",
];

// The audit shows every digit of a number, as the approval and the hash do.
#[test]
fn digits_of_a_number_are_shown_exactly() {
    for digits in [
        "18446744073709551616",
        "-9223372036854775809",
        "12345678901234567890123",
        "100000000000000000.9",
    ] {
        let schema = leak(Schema::new(Kind::Object(leak([
            field("n", Kind::Any, AuditForm::ByType),
            field("o", Kind::Any, AuditForm::Value),
        ]))));
        let text = format!(r#"{{"n":{digits},"o":{{"z":[{digits}],"a":1.0}}}}"#);
        let expected = format!(r#"{{"n":{digits},"o":{{"a":1,"z":[{digits}]}}}}"#);
        assert_eq!(form(schema, &text), expected);
    }
}

/// Returns whether a tree of values keeps every digit of a text, as the one-pass form does.
fn is_exact(text: &str) -> bool {
    let canonical = crate::args::canonical;
    serde_json::from_str::<Value>(text).map_or(true, |value| {
        canonical(text) == canonical(&value.to_string())
    })
}

fn agrees(schema: &'static Schema, text: &str) {
    assert_eq!(form(schema, text), by_values::form(schema, text), "{text}");
}

// S1-21, S1-22: each value is stored in the form of its kind, and the one-pass form equals the form over a tree of values
#[test]
fn each_value_has_the_form_of_its_kind() {
    let schema = everything();
    let Kind::Object(fields) = schema.kind else {
        unreachable!()
    };
    for field in fields {
        let name = json!(field.name);
        for value in VALUES {
            agrees(schema, &format!(" {{ {name} : {value}\n}} "));
            agrees(
                schema,
                &format!("{{\"?\":{value},{name}:[{value}],\"!\":0}}"),
            );
        }
    }
    for text in VALUES
        .iter()
        .chain(&["", "{", "nul", "{} x", "[1", "\"\\ud800\""])
    {
        agrees(schema, text);
    }
}

// S1-23: a preview has 100 characters, and the one-pass form of long or deeply nested values equals the form over a tree of values
#[test]
fn long_and_deep_values_have_shortened_forms() {
    let schema = everything();
    for count in [99, 100, 101] {
        let text = "ä\\n".repeat(count);
        for field in ["n0", "n1", "n2", "n3"] {
            agrees(schema, &format!("{{\"{field}\":\"{text}\"}}"));
        }
    }
    let digits = "9".repeat(400);
    for field in ["b0", "b1", "b2", "b3"] {
        agrees(schema, &format!("{{\"{field}\":{{\"a\":{digits}}}}}"));
        agrees(schema, &format!("{{\"{field}\":[{digits}]}}"));
        for depth in [125, 126, 127, 128] {
            let (open, close) = ("[".repeat(depth), "]".repeat(depth));
            agrees(schema, &format!("{{\"{field}\":{open}{close}}}"));
            agrees(schema, &format!("{{\"?\":{open}{close}}}"));
            let (open, close) = ("{\"a\":".repeat(depth), "}".repeat(depth));
            agrees(schema, &format!("{{\"{field}\":{open}0{close}}}"));
        }
    }
}

// S1-22: no private text is stored, only its length
#[test]
fn private_text_is_recorded_by_length_only() {
    let schema = everything();
    let Kind::Object(fields) = schema.kind else {
        unreachable!()
    };
    let hidden = |field: &&Field| matches!(field.audit, AuditForm::ByType | AuditForm::Length);
    let mut admitted = 0;
    for field in fields.iter().filter(hidden) {
        let alone = Schema::new(Kind::Object(leak([*field])));
        for value in VALUES {
            let text = format!("{{\"{}\":{value}}}", field.name);
            if admit(&alone, &text, Repair::Off).is_err() {
                continue;
            }
            admitted += 1;
            let form = form(&alone, &text);
            assert!(!form.contains("private"), "{text} as {form}");
            assert!(serde_json::from_str::<Value>(&form).is_ok(), "{form}");
        }
    }
    assert!(admitted > 100, "{admitted}");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2_000))]

    // S1-21, S1-22: one pass agrees with a tree of values for random schemas and arguments
    #[test]
    fn one_pass_form_equals_the_form_of_a_value_tree(
        bytes in vec(any::<u8>(), 0..400),
        wrong in prop_oneof![Just(0usize), Just(8), Just(40)],
        at in any::<usize>(),
        with in any::<u8>(),
    ) {
        let (schema, _, text, _) = scene(bytes, wrong);
        for text in [damage(&text, at, with), text] {
            if is_exact(&text) {
                agrees(schema, &text);
            }
        }
    }
}
