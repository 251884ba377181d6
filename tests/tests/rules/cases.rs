//! Cases that break rules at run time, for rules that neither a JSON Schema in the data files nor a program of `ui-tests` breaks.

use std::panic::{AssertUnwindSafe, catch_unwind};

use serde_json::{Value, json};
use tool_core::prelude::*;
use tool_core::schema::__private0::{Spec, check_constraints, toolset_faults};
use tool_core::schema::dialect::{Dialects, Hints};
use tool_core::schema::dynamic::{KEPT_LIMIT, read, read_text};
use tool_core::schema::rules::faults;
use tool_core::schema::{
    Constraints, EnumValue, Field, Format, Kind, Number, Pattern, Schema, Tagging, Text, Union,
    Variant,
};
use tool_core::{DynamicTool, Registry, StrictSchema};
use tool_rules::Rule;

use crate::message::{messages, rule_of};
use crate::schemas::seen;

fn leak<T>(value: T) -> &'static T {
    Box::leak(Box::new(value))
}

fn schema(kind: Kind) -> &'static Schema {
    leak(Schema::new(kind))
}

fn object(fields: impl IntoIterator<Item = &'static Schema>) -> &'static Schema {
    let fields = fields.into_iter().enumerate().map(|(at, schema)| {
        let name: &'static str = format!("f{at}").leak();
        Field::new(name, Text::EMPTY, schema)
    });
    schema(Kind::Object(fields.collect::<Vec<_>>().leak()))
}

/// Returns the rules that the type of a field breaks.
fn of(field: &'static Schema, providers: Dialects) -> Vec<&'static Rule> {
    let faults = faults(object([field]), providers, "t");
    faults
        .iter()
        .map(|fault| rule_of(fault.rule, &fault.text).unwrap())
        .collect()
}

fn of_type<T: StrictSchema>() -> Vec<&'static Rule> {
    of(T::SCHEMA, Dialects::ALL)
}

/// Returns the rule that a pattern breaks.
fn of_pattern(source: &'static str) -> &'static Rule {
    let error = Pattern::parse(source).unwrap_err();
    rule_of(error.rule(), error.text()).unwrap()
}

/// Returns the rules that the bounds of a field break.
fn of_bounds(field: &'static Schema, bounds: Constraints) -> Vec<&'static Rule> {
    let check = || check_constraints(field, &bounds, "T", "f");
    let payload = catch_unwind(AssertUnwindSafe(check)).unwrap_err();
    let text = payload.downcast_ref::<String>().unwrap();
    messages(text)
        .map(|(id, text)| rule_of(id, text).unwrap())
        .collect()
}

/// Returns the rules that a set of two tools with these arguments breaks.
fn of_two(input: &'static Schema) -> Vec<&'static Rule> {
    let spec = |name| Spec {
        name,
        title: None,
        description: Text::escaped("Does."),
        input,
        examples: &[],
        providers: Dialects::ALL,
        hints: Hints {
            read_only: false,
            destructive: false,
            idempotent: false,
            open_world: false,
        },
    };
    toolset_faults(&[&spec("a"), &spec("b")])
        .iter()
        .map(|fault| rule_of(fault.rule, &fault.text).unwrap())
        .collect()
}

/// Returns the rules that a dynamic tool with this name and description breaks.
fn of_tool(name: &str, description: &str) -> Vec<&'static Rule> {
    let schema =
        json!({"type": "object", "properties": {}, "required": [], "additionalProperties": false});
    let tool = DynamicTool::new(name, description, &schema, |_: Value, _| async {
        Ok::<_, ToolError>(String::new())
    });
    let error = Registry::builder()
        .dynamic(tool)
        .build()
        .unwrap_err()
        .to_string();
    messages(&error)
        .map(|(id, text)| rule_of(id, text).unwrap())
        .collect()
}

/// Returns a type that contains itself. The number makes its name unique.
fn recursive(number: usize) -> &'static Schema {
    let name: &'static str = format!("Tree{number}").leak();
    let again = leak(Schema::new(Kind::Ref(name)).within("a"));
    let items = schema(Kind::Array {
        items: again,
        unique: false,
        exactly: None,
    });
    let fields = leak([Field::new("kids", Text::EMPTY, items)]);
    leak(Schema::new(Kind::Object(fields)).named(name).within("a"))
}

/// Returns the rules that these cases break.
#[expect(clippy::too_many_lines, reason = "a list with a line for each rule")]
pub(crate) fn broken() -> Vec<&'static Rule> {
    let mut all = Vec::new();
    // Types of other crates that have no exact schema.
    all.extend(of_type::<bytes::Bytes>());
    all.extend(of_type::<jiff::Zoned>());
    all.extend(of_type::<jiff::civil::DateTime>());
    all.extend(of_type::<jiff::civil::Time>());
    all.extend(of_type::<time::OffsetDateTime>());
    all.extend(of_type::<time::PrimitiveDateTime>());
    all.extend(of_type::<time::Time>());
    all.extend(of_type::<time::Duration>());
    // Schema trees that the derive macro cannot generate.
    let value = EnumValue {
        value: "same",
        description: Text::EMPTY,
    };
    all.extend(of(schema(Kind::Enum(leak([value, value]))), Dialects::ALL));
    let format = Format::Unknown("partial-time");
    all.extend(of(schema(Kind::Format(format)), Dialects::ALL));
    let narrow = Dialects::only(Dialect::OpenAi).with(Dialect::JsonSchema);
    let trees = faults(object((0..17).map(recursive)), narrow, "t");
    all.extend(
        trees
            .iter()
            .map(|fault| rule_of(fault.rule, &fault.text).unwrap()),
    );
    let choice = schema(Kind::Union(Union {
        tagging: Tagging::Internal { tag: "kind" },
        variants: leak([Variant {
            name: "a",
            description: Text::EMPTY,
            schema: None,
        }]),
    }));
    all.extend(of_two(object([choice; 9])));
    // Bounds that are invalid for the type of their field.
    let text = schema(Kind::String);
    let list = schema(Kind::Array {
        items: text,
        unique: false,
        exactly: None,
    });
    let pair = schema(Kind::Array {
        items: text,
        unique: false,
        exactly: Some(2),
    });
    let whole = u32::SCHEMA;
    let bounds = [
        (
            whole,
            Constraints {
                multiple_of: Some(Number::Float {
                    value: 0.5,
                    text: "0.5",
                }),
                ..Constraints::NONE
            },
        ),
        (
            list,
            Constraints {
                min_length: Some(1),
                ..Constraints::NONE
            },
        ),
        (
            text,
            Constraints {
                min_length: Some(2),
                max_length: Some(1),
                ..Constraints::NONE
            },
        ),
        (
            pair,
            Constraints {
                min_items: Some(1),
                ..Constraints::NONE
            },
        ),
    ];
    for (schema, bounds) in bounds {
        all.extend(of_bounds(schema, bounds));
    }
    // Patterns that cannot be parsed or are refused.
    let patterns = [
        r"\p{L}",
        r"\a",
        r"\uD83D",
        r"\u{110000}",
        r"\xZZ",
        r"[\d-z]",
        "[z-a]",
        "[a",
        ")",
        "(",
        "]",
        "*",
        "(?<a>b)",
        "(?i:a)",
        "a{",
        "a{2,1}",
        "((((a{9}){9}){9}){9}){9}",
    ];
    all.extend(patterns.map(of_pattern));
    // Dynamic tools with an invalid name and no description.
    all.extend(of_tool("no name", ""));
    // JSON Schemas that are too large for a line of the data file.
    let listed = |values: Vec<String>| json!({"type": "object", "properties": {"x": {"type": "string", "enum": values}}});
    let many: serde_json::Map<String, Value> = (0..5001)
        .map(|at| (format!("p{at}"), json!({"type": "string"})))
        .collect();
    for schema in [
        json!({"type": "object", "properties": many}),
        listed(vec!["x".repeat(120_001)]),
        listed((0..1001).map(|at| format!("v{at}")).collect()),
    ] {
        all.extend(seen(&schema).iter().map(|seen| seen.rule));
    }
    let large = json!({"type": "object", "description": "x".repeat(KEPT_LIMIT), "properties": {}});
    for faults in [read_text("{").unwrap_err(), read(&large).unwrap_err()] {
        all.extend(
            faults
                .iter()
                .map(|fault| rule_of(fault.rule, &fault.text).unwrap()),
        );
    }
    all
}
