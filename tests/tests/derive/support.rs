//! Helpers that print schema trees with one node per line, and compare schemas with serde.
#![allow(dead_code, reason = "each test file uses a part of the helpers")]
#![allow(clippy::expect_used, clippy::panic, reason = "tests fail by panicking")]
#![allow(
    clippy::format_push_string,
    reason = "the format resembles the printed line"
)]

use serde::{Serialize, de::DeserializeOwned};
use serde_json::Value;
use tool_core::StrictSchema;
use tool_core::schema::dialect::{Dialect, output_schema_text, schema_text};
use tool_core::schema::{Constraints, Field, Kind, Schema, Tagging, Text};

/// Returns the schema tree of a type as text.
pub(crate) fn tree<T: StrictSchema>() -> String {
    let mut out = String::new();
    node(T::SCHEMA, 0, &mut out);
    out.trim_end().to_owned()
}

fn node(schema: &Schema, depth: usize, out: &mut String) {
    if !schema.name.is_empty() {
        out.push_str(schema.name);
        out.push(' ');
    }
    match &schema.kind {
        Kind::String => out.push_str("string"),
        Kind::Boolean => out.push_str("boolean"),
        Kind::Integer(integer) => out.push_str(integer.name),
        Kind::Number { single } => out.push_str(if *single { "f32" } else { "f64" }),
        Kind::Enum(values) => {
            let values: Vec<String> = values
                .iter()
                .map(|value| documented(value.value, value.description))
                .collect();
            out.push_str(&format!("enum[{}]", values.join(", ")));
        }
        Kind::IntegerEnum(values) => {
            let values: Vec<String> = values
                .iter()
                .map(|value| {
                    documented(
                        &format!("{} = {}", value.name, value.value),
                        value.description,
                    )
                })
                .collect();
            out.push_str(&format!("integers[{}]", values.join(", ")));
        }
        Kind::Array {
            items,
            unique,
            exactly,
        } => {
            out.push_str(if *unique { "set of " } else { "list of " });
            if let Some(exactly) = exactly {
                out.push_str(&format!("{exactly} "));
            }
            return node(items, depth, out);
        }
        Kind::Optional(inner) => {
            out.push_str("optional ");
            return node(inner, depth, out);
        }
        Kind::Constrained(inner, bounds) => {
            out.push_str(&constraints(bounds));
            describe(schema.description, out);
            return node(inner, depth, out);
        }
        Kind::Ref(name) => out.push_str(&format!("again {name}")),
        Kind::Object(list) => {
            out.push('{');
            describe_after(schema.description, out);
            return fields(list, depth, out);
        }
        Kind::Union(union) => {
            out.push_str(&match union.tagging {
                Tagging::External => "one of, by key {".to_owned(),
                Tagging::Internal { tag } => format!("one of, by `{tag}` {{"),
                Tagging::Adjacent { tag, content } => {
                    format!("one of, by `{tag}` beside `{content}` {{")
                }
                Tagging::Untagged => "one of, by shape {".to_owned(),
            });
            describe_after(schema.description, out);
            for variant in union.variants {
                indent(depth + 1, out);
                out.push_str(&documented(variant.name, variant.description));
                match variant.schema {
                    None => out.push('\n'),
                    Some(inner) => {
                        out.push_str(": ");
                        node(inner, depth + 1, out);
                    }
                }
            }
            indent(depth, out);
            out.push_str("}\n");
            return;
        }
        other => out.push_str(&format!("{other:?}")),
    }
    describe_after(schema.description, out);
}

fn fields(list: &[Field], depth: usize, out: &mut String) {
    for field in list {
        indent(depth + 1, out);
        out.push_str(field.name);
        if field.out_name != field.name {
            out.push_str(&format!(" (sent as {})", field.out_name));
        }
        for (broken, word) in [
            (!field.output, " input"),
            (!field.input, " output"),
            (field.may_skip, " may-skip"),
        ] {
            if broken {
                out.push_str(word);
            }
        }
        if let Some(default) = &field.default {
            out.push_str(&format!(" = {}", default.text));
        }
        out.push_str(": ");
        describe(field.description, out);
        node(field.schema, depth + 1, out);
    }
    indent(depth, out);
    out.push_str("}\n");
}

fn constraints(bounds: &Constraints) -> String {
    let mut parts = Vec::new();
    if let Some(min) = bounds.min {
        parts.push(format!(
            "{}{}",
            if bounds.exclusive_min { ">" } else { ">=" },
            min.text()
        ));
    }
    if let Some(max) = bounds.max {
        parts.push(format!(
            "{}{}",
            if bounds.exclusive_max { "<" } else { "<=" },
            max.text()
        ));
    }
    if let Some(number) = bounds.multiple_of {
        parts.push(format!("multiple of {}", number.text()));
    }
    for (word, value) in [
        ("chars >=", bounds.min_length),
        ("chars <=", bounds.max_length),
        ("items >=", bounds.min_items),
        ("items <=", bounds.max_items),
    ] {
        if let Some(value) = value {
            parts.push(format!("{word}{value}"));
        }
    }
    if let Some(pattern) = bounds.pattern {
        parts.push(format!("/{}/", pattern.source()));
    }
    if let Some(format) = bounds.format {
        parts.push(format!("{format:?}"));
    }
    if bounds.unique {
        parts.push("unique".to_owned());
    }
    if parts.is_empty() {
        String::new()
    } else {
        format!("({}) ", parts.join(", "))
    }
}

fn documented(name: &str, text: Text) -> String {
    if text.is_empty() {
        name.to_owned()
    } else {
        format!("{name} \"{}\"", text.as_json())
    }
}

fn describe(text: Text, out: &mut String) {
    if !text.is_empty() {
        out.push_str(&format!("\"{}\" ", text.as_json()));
    }
}

fn describe_after(text: Text, out: &mut String) {
    if !text.is_empty() {
        out.push_str(&format!(" \"{}\"", text.as_json()));
    }
    out.push('\n');
}

fn indent(depth: usize, out: &mut String) {
    out.push_str(&"  ".repeat(depth));
}

/// Compares the tree of a type with the expected text, ignoring the indentation in the source.
#[track_caller]
pub(crate) fn assert_tree<T: StrictSchema>(golden: &str) {
    let lines: Vec<&str> = golden
        .lines()
        .filter(|line| !line.trim().is_empty())
        .collect();
    let margin = lines
        .iter()
        .map(|line| line.len() - line.trim_start().len())
        .min()
        .unwrap_or(0);
    let golden: Vec<&str> = lines.iter().map(|line| line[margin..].trim_end()).collect();
    assert_eq!(tree::<T>(), golden.join("\n"));
}

/// Returns whether the plain JSON Schema for input admits `value`.
pub(crate) fn admits_input<T: StrictSchema>(value: &Value) -> bool {
    admits(&schema_text(T::SCHEMA, Dialect::JsonSchema), value)
}

/// Returns whether the output schema admits `value`.
pub(crate) fn admits_output<T: StrictSchema>(value: &Value) -> bool {
    admits(&output_schema_text(T::SCHEMA), value)
}

fn admits(schema: &str, value: &Value) -> bool {
    let schema: Value = serde_json::from_str(schema).expect("a schema is JSON");
    jsonschema::validator_for(&schema)
        .expect("a schema is JSON Schema")
        .is_valid(value)
}

/// Asserts that the output schema admits the values as serde writes them, that both serde and the input schema accept `read`, and that both refuse
/// `refused`.
#[track_caller]
pub(crate) fn agrees<T: StrictSchema + Serialize + DeserializeOwned>(
    values: &[T],
    read: &[Value],
    refused: &[Value],
) {
    for value in values {
        let sent = serde_json::to_value(value).expect("the value can be serialised");
        assert!(
            admits_output::<T>(&sent),
            "the output schema does not admit {sent}\n{}",
            output_schema_text(T::SCHEMA)
        );
    }
    for value in read {
        serde_json::from_value::<T>(value.clone())
            .unwrap_or_else(|error| panic!("serde does not read {value}: {error}"));
        assert!(
            admits_input::<T>(value),
            "the input schema does not admit {value}\n{}",
            schema_text(T::SCHEMA, Dialect::JsonSchema)
        );
    }
    for value in refused {
        assert!(
            serde_json::from_value::<T>(value.clone()).is_err(),
            "serde reads {value}"
        );
        assert!(!admits_input::<T>(value), "the input schema admits {value}");
    }
}
