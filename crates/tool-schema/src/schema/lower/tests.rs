//! Golden tests: each kind of node in each dialect.

#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::items_after_statements,
    clippy::cast_lossless,
    clippy::too_many_lines,
    clippy::unnecessary_wraps,
    reason = "each test builds its trees and reads its results in place"
)]

mod every_bound;

use crate::schema::dialect::{
    Dialect, Dialects, HasSpec, Heading, Hints, Render, RenderSchema, Spec, ToolExample,
    definition_around, definition_text, measure, measure_schema, output_schema_text, schema_key,
    schema_text, total, wrapper,
};
use crate::schema::{
    Constraints, EnumValue, Example, Field, Format, Integer, IntegerValue, Json, Kind, Number,
    Pattern, Schema, StrictSchema, Tagging, Text, Union, Variant,
};

const STRING: &Schema = &Schema::new(Kind::String);
const U8: &Schema = &Schema::new(Kind::Integer(Integer {
    name: "u8",
    min: 0,
    max: 255,
    not_zero: false,
}));
const U32: &Schema = &Schema::new(Kind::Integer(Integer {
    name: "u32",
    min: 0,
    max: 4_294_967_295,
    not_zero: false,
}));
const I64: &Schema = &Schema::new(Kind::Integer(Integer {
    name: "i64",
    min: i64::MIN as i128,
    max: i64::MAX as u128,
    not_zero: false,
}));
const NONZERO_I64: &Schema = &Schema::new(Kind::Integer(Integer {
    name: "NonZeroI64",
    min: i64::MIN as i128,
    max: i64::MAX as u128,
    not_zero: true,
}));
const NONZERO_U32: &Schema = &Schema::new(Kind::Integer(Integer {
    name: "NonZeroU32",
    min: 0,
    max: 4_294_967_295,
    not_zero: true,
}));
const F64: &Schema = &Schema::new(Kind::Number { single: false });
const LANG: &Schema = &Schema::new(Kind::Enum(&[
    EnumValue {
        value: "rust",
        description: Text::escaped("Rust."),
    },
    EnumValue {
        value: "go\"",
        description: Text::EMPTY,
    },
]))
.named("Lang");
const TEN: Example = Example {
    value: &Json::Number(Number::Integer {
        value: 10,
        text: "10",
    }),
    text: "10",
};

const fn whole(value: i128, text: &'static str) -> Option<Number> {
    Some(Number::Integer { value, text })
}

const fn float(value: f64, text: &'static str) -> Option<Number> {
    Some(Number::Float { value, text })
}

/// Returns the schema of the only field, `x`, without the root object around it.
fn field(field: Field, dialect: Dialect) -> String {
    let fields: &'static [Field] = Box::leak(Box::new([field]));
    let text = schema_text(&Schema::new(Kind::Object(fields)), dialect);
    proven(&text);
    let start = text.find(r#""x":"#).unwrap() + 4;
    let end = text.rfind(r#"},"required""#).unwrap();
    text[start..end].to_owned()
}

/// Checks that the text is valid JSON and, by an independent validator, a valid JSON Schema.
fn proven(text: &str) -> serde_json::Value {
    let value: serde_json::Value =
        serde_json::from_str(text).unwrap_or_else(|error| panic!("{error}: {text}"));
    assert!(jsonschema::meta::is_valid(&value), "{text}");
    value
}

/// Returns the schema of one field in all five dialects, in order.
fn five(schema: &Schema) -> [String; 5] {
    let schema: &'static Schema = Box::leak(Box::new(*schema));
    Dialect::ALL.map(|dialect| field(Field::new("x", Text::EMPTY, schema), dialect))
}

fn is_five(schema: &Schema, expected: [&str; 5]) {
    assert_eq!(five(schema), expected);
}

fn same_in_all(schema: &Schema, expected: &str) {
    is_five(schema, [expected; 5]);
}

const fn optional(schema: &'static Schema) -> Schema {
    Schema::new(Kind::Optional(schema))
}

#[test]
fn plain_scalars_are_lowered_for_each_dialect() {
    same_in_all(STRING, r#"{"type":"string"}"#);
    same_in_all(&Schema::new(Kind::Boolean), r#"{"type":"boolean"}"#);
    same_in_all(F64, r#"{"type":"number"}"#);
}

#[test]
fn integer_widths_above_32_bits_are_in_the_description() {
    let bound = r#"{"type":"integer","minimum":0,"maximum":255}"#;
    let words = r#"{"description":"Range: 0 to 255.","type":"integer"}"#;
    is_five(U8, [bound, words, bound, bound, bound]);
    let bound = r#"{"type":"integer","minimum":0,"maximum":4294967295}"#;
    let words = r#"{"description":"Range: 0 to 4294967295.","type":"integer"}"#;
    is_five(U32, [bound, words, bound, bound, bound]);
    let least = r#"{"description":"Fits in 64 bits.","type":"integer","minimum":0}"#;
    is_five(
        u64::SCHEMA,
        [
            least,
            r#"{"description":"0 or more. Fits in 64 bits.","type":"integer"}"#,
            least,
            least,
            r#"{"type":"integer","minimum":0,"maximum":18446744073709551615}"#,
        ],
    );
    let free = r#"{"description":"Fits in 64 bits.","type":"integer"}"#;
    is_five(
        I64,
        [
            free,
            free,
            free,
            free,
            r#"{"type":"integer","minimum":-9223372036854775808,"maximum":9223372036854775807}"#,
        ],
    );
}

#[test]
fn nonzero_is_stated_as_a_keyword_or_in_the_description() {
    let words = r#"{"description":"Not 0. Fits in 64 bits.","type":"integer"}"#;
    let full = r#"{"type":"integer","minimum":-9223372036854775808,"maximum":9223372036854775807,"not":{"const":0}}"#;
    is_five(NONZERO_I64, [words, words, words, words, full]);
    let bound = r#"{"type":"integer","minimum":1,"maximum":4294967295}"#;
    let words = r#"{"description":"Range: 1 to 4294967295.","type":"integer"}"#;
    for schema in [NONZERO_U32, core::num::NonZeroU32::SCHEMA] {
        is_five(schema, [bound, words, bound, bound, bound]);
    }
}

// S1-28: an `Option` is required and nullable for OpenAI, and not required elsewhere
#[test]
fn option_is_nullable_for_openai_and_not_required_elsewhere() {
    const SCALAR: &Schema = &optional(STRING);
    let nullable = r#"{"type":["string","null"]}"#;
    let plain = r#"{"type":"string"}"#;
    is_five(SCALAR, [nullable, plain, plain, plain, plain]);
    const ENUM: &Schema = &optional(LANG);
    let description = r#""description":"- `rust`: Rust.""#;
    let body = r#""type":"string","enum":["rust","go\""]"#;
    let plain = format!("{{{description},{body}}}");
    is_five(
        ENUM,
        [
            &format!(r#"{{{description},"anyOf":[{{{body}}},{{"type":"null"}}]}}"#),
            &plain,
            &plain,
            &plain,
            &plain,
        ],
    );
    const LIST: &Schema = &optional(&Schema::new(Kind::Array {
        items: STRING,
        unique: false,
        exactly: None,
    }));
    let list = r#"{"type":"array","items":{"type":"string"}}"#;
    is_five(
        LIST,
        [
            &format!(r#"{{"anyOf":[{list},{{"type":"null"}}]}}"#),
            list,
            list,
            list,
            list,
        ],
    );

    const ROOT: &Schema = &Schema::new(Kind::Object(&[
        Field::new("x", Text::EMPTY, SCALAR),
        Field::new("y", Text::EMPTY, STRING),
    ]));
    let required = |dialect| proven(&schema_text(ROOT, dialect))["required"].clone();
    assert_eq!(required(Dialect::OpenAi), serde_json::json!(["x", "y"]));
    for dialect in [
        Dialect::Anthropic,
        Dialect::Gemini,
        Dialect::Mcp,
        Dialect::JsonSchema,
    ] {
        assert_eq!(required(dialect), serde_json::json!(["y"]));
    }
}

// S0-06, S2-04: a default is in the description, or in JSON Schema in the keyword `default`; JSON Schema does not require the field
#[test]
fn default_is_described_and_makes_the_field_optional() {
    let text = |dialect| {
        field(
            Field::new("x", Text::escaped("How many"), U32).default_value(TEN),
            dialect,
        )
    };
    assert_eq!(
        text(Dialect::OpenAi),
        r#"{"description":"How many. Default: 10.","type":["integer","null"],"minimum":0,"maximum":4294967295}"#
    );
    assert_eq!(
        text(Dialect::Anthropic),
        r#"{"description":"How many. Range: 0 to 4294967295. Default: 10.","type":"integer"}"#
    );
    assert_eq!(
        text(Dialect::Gemini),
        r#"{"description":"How many. Default: 10.","type":"integer","minimum":0,"maximum":4294967295}"#
    );
    assert_eq!(
        text(Dialect::Mcp),
        r#"{"description":"How many. Default: 10.","type":"integer","minimum":0,"maximum":4294967295}"#
    );
    assert_eq!(
        text(Dialect::JsonSchema),
        r#"{"description":"How many","type":"integer","minimum":0,"maximum":4294967295,"default":10}"#
    );
    const QUOTED: Example = Example {
        value: &Json::String("a\"b"),
        text: r#""a\"b""#,
    };
    let text = field(
        Field::new("x", Text::EMPTY, STRING).default_value(QUOTED),
        Dialect::Mcp,
    );
    assert_eq!(
        text,
        r#"{"description":"Default: \"a\\\"b\".","type":"string"}"#
    );
    const ROOT: &Schema = &Schema::new(Kind::Object(&[
        Field::new("x", Text::EMPTY, U32).default_value(TEN)
    ]));
    let schema = proven(&schema_text(ROOT, Dialect::JsonSchema));
    assert_eq!(schema["required"], serde_json::json!([]));
}

#[test]
fn ranges_are_lowered_for_each_dialect() {
    const BOTH: Constraints = Constraints {
        min: whole(1, "1"),
        max: whole(50, "50"),
        ..Constraints::NONE
    };
    const RANGE: &Schema = &Schema::new(Kind::Constrained(U32, &BOTH));
    let stated = r#"{"type":"integer","minimum":1,"maximum":50}"#;
    is_five(
        RANGE,
        [
            stated,
            r#"{"description":"Range: 1 to 50.","type":"integer"}"#,
            stated,
            stated,
            stated,
        ],
    );
    const EXCLUSIVE: Constraints = Constraints {
        min: whole(1, "1"),
        exclusive_min: true,
        multiple_of: whole(5, "5"),
        ..Constraints::NONE
    };
    const MOVED: &Schema = &Schema::new(Kind::Constrained(I64, &EXCLUSIVE));
    let stated =
        r#"{"description":"Fits in 64 bits.","type":"integer","minimum":2,"multipleOf":5}"#;
    is_five(
        MOVED,
        [
            stated,
            r#"{"description":"At least 2. Fits in 64 bits. A multiple of 5.","type":"integer"}"#,
            r#"{"description":"Fits in 64 bits. A multiple of 5.","type":"integer","minimum":2}"#,
            stated,
            r#"{"type":"integer","minimum":2,"multipleOf":5,"maximum":9223372036854775807}"#,
        ],
    );
    const HALF_OPEN: Constraints = Constraints {
        min: float(0.0, "0.0"),
        exclusive_min: true,
        max: float(1.5, "1.5"),
        ..Constraints::NONE
    };
    const FLOAT: &Schema = &Schema::new(Kind::Constrained(F64, &HALF_OPEN));
    let stated = r#"{"type":"number","exclusiveMinimum":0.0,"maximum":1.5}"#;
    is_five(
        FLOAT,
        [
            stated,
            r#"{"description":"More than 0.0. At most 1.5.","type":"number"}"#,
            r#"{"description":"More than 0.0.","type":"number","maximum":1.5}"#,
            stated,
            stated,
        ],
    );
}

#[test]
fn lengths_patterns_and_characters_are_stated() {
    static DIGITS: Pattern = Pattern::new(r"^\d{3}$");
    static BOUNDS: Constraints = Constraints {
        min_length: Some(3),
        max_length: Some(20),
        pattern: Some(&DIGITS),
        ..Constraints::NONE
    };
    const TEXT: &Schema = &Schema::new(Kind::Constrained(STRING, &BOUNDS));
    let keywords = r#""type":"string","minLength":3,"maxLength":20,"pattern":"^\\d{3}$"}"#;
    let both = format!(r#"{{"description":"3 to 20 characters.",{keywords}"#);
    let stated = format!("{{{keywords}");
    is_five(
        TEXT,
        [
            &both,
            &both,
            r#"{"description":"3 to 20 characters. Pattern: `^\\d{3}$`.","type":"string"}"#,
            &stated,
            &stated,
        ],
    );
    let stated = r#"{"type":"string","minLength":1,"maxLength":1}"#;
    let both = r#"{"description":"One character.","type":"string","minLength":1,"maxLength":1}"#;
    is_five(
        &Schema::new(Kind::Char),
        [
            both,
            both,
            r#"{"description":"One character.","type":"string"}"#,
            stated,
            stated,
        ],
    );
}

#[test]
fn formats_are_lowered_for_each_dialect() {
    same_in_all(
        &Schema::new(Kind::Format(Format::DateTime)),
        r#"{"type":"string","format":"date-time"}"#,
    );
    let stated = r#"{"type":"string","format":"uuid"}"#;
    is_five(
        &Schema::new(Kind::Format(Format::Uuid)),
        [
            stated,
            stated,
            r#"{"description":"Format: uuid.","type":"string"}"#,
            stated,
            stated,
        ],
    );
    let words = r#"{"description":"Format: ipv4 or ipv6.","type":"string"}"#;
    is_five(
        &Schema::new(Kind::Format(Format::Ip)),
        [
            words,
            words,
            words,
            words,
            r#"{"type":"string","anyOf":[{"format":"ipv4"},{"format":"ipv6"}]}"#,
        ],
    );
    let pattern = crate::schema::duration::PATTERN;
    let stated = format!(r#"{{"type":"string","format":"duration","pattern":"{pattern}"}}"#);
    let words = crate::schema::duration::WORDS;
    let words = format!(r#"{{"description":"{words}","type":"string"}}"#);
    is_five(
        &Schema::new(Kind::Duration),
        [&stated, &stated, &words, &stated, &stated],
    );
    const EMAIL: Constraints = Constraints {
        format: Some(Format::Email),
        ..Constraints::NONE
    };
    let stated = r#"{"type":"string","format":"email"}"#;
    is_five(
        &Schema::new(Kind::Constrained(STRING, &EMAIL)),
        [
            stated,
            stated,
            r#"{"description":"Format: email.","type":"string"}"#,
            stated,
            stated,
        ],
    );
}

#[test]
fn lists_are_lowered_for_each_dialect() {
    const ONE: Constraints = Constraints {
        min_items: Some(1),
        ..Constraints::NONE
    };
    const LIST: &Schema = &Schema::new(Kind::Array {
        items: STRING,
        unique: false,
        exactly: None,
    });
    same_in_all(
        &Schema::new(Kind::Constrained(LIST, &ONE)),
        r#"{"type":"array","items":{"type":"string"},"minItems":1}"#,
    );
    const TWO: Constraints = Constraints {
        min_items: Some(2),
        max_items: Some(5),
        ..Constraints::NONE
    };
    let stated = r#"{"type":"array","items":{"type":"string"},"minItems":2,"maxItems":5}"#;
    is_five(
        &Schema::new(Kind::Constrained(LIST, &TWO)),
        [
            stated,
            r#"{"description":"2 to 5 items.","type":"array","items":{"type":"string"}}"#,
            stated,
            stated,
            stated,
        ],
    );
    let stated = r#"{"type":"array","items":{"type":"string"},"minItems":3,"maxItems":3}"#;
    is_five(
        &Schema::new(Kind::Array {
            items: STRING,
            unique: false,
            exactly: Some(3),
        }),
        [
            stated,
            r#"{"description":"Exactly 3 items.","type":"array","items":{"type":"string"}}"#,
            stated,
            stated,
            stated,
        ],
    );
    let words = r#"{"description":"Each item once.","type":"array","items":{"type":"string"}}"#;
    is_five(
        &Schema::new(Kind::Array {
            items: STRING,
            unique: true,
            exactly: None,
        }),
        [
            words,
            words,
            words,
            words,
            r#"{"type":"array","items":{"type":"string"},"uniqueItems":true}"#,
        ],
    );
}

#[test]
fn integer_enums_name_their_values() {
    const LEVELS: &Schema = &Schema::new(Kind::IntegerEnum(&[
        IntegerValue {
            value: 3,
            name: "Low",
            description: Text::EMPTY,
        },
        IntegerValue {
            value: -12,
            name: "High",
            description: Text::escaped("Urgent."),
        },
    ]));
    same_in_all(
        LEVELS,
        r#"{"description":"- `3`: Low.\n- `-12`: High. Urgent.","type":"integer","enum":[3,-12]}"#,
    );
}

// A sentence that describes both a field and its type is written once.
#[test]
fn a_field_documented_like_its_type_is_documented_once() {
    const NAMED: &Schema = &Schema::new(Kind::Object(&[Field::new("a", Text::EMPTY, STRING)]))
        .described(Text::escaped("A filter."));
    let text = field(
        Field::new("x", Text::escaped("A filter."), NAMED),
        Dialect::Mcp,
    );
    assert!(
        text.starts_with(r#"{"description":"A filter.","type":"object""#),
        "{text}"
    );
}

// S0-05: doc comments of fields reach the schema
#[test]
fn a_field_is_documented_before_its_type() {
    const NAMED: &Schema = &Schema::new(Kind::Object(&[Field::new("a", Text::EMPTY, STRING)]))
        .described(Text::escaped("A filter."));
    let text = field(
        Field::new("x", Text::escaped(r#"Narrow \"it\""#), NAMED),
        Dialect::Mcp,
    );
    assert_eq!(
        text,
        r#"{"description":"Narrow \"it\". A filter.","type":"object","properties":{"a":{"type":"string"}},"required":["a"],"additionalProperties":false}"#
    );
}

// S1-29: objects are closed, and maps state the type of their values
#[test]
fn records_are_closed_and_maps_are_typed() {
    let closed = r#"{"type":"object","properties":{},"required":[],"additionalProperties":false}"#;
    for dialect in Dialect::ALL {
        assert_eq!(
            schema_text(&Schema::new(Kind::Object(&[])), dialect),
            closed
        );
    }
    assert_eq!(
        five(&Schema::new(Kind::Map(STRING)))[3],
        r#"{"type":"object","additionalProperties":{"type":"string"}}"#
    );
    const ORDERED: &Schema = &Schema::new(Kind::Object(&[
        Field::new("b", Text::EMPTY, STRING),
        Field::new("a", Text::EMPTY, STRING),
    ]));
    assert_eq!(
        schema_text(ORDERED, Dialect::Gemini),
        r#"{"type":"object","properties":{"b":{"type":"string"},"a":{"type":"string"}},"required":["b","a"],"additionalProperties":false,"propertyOrdering":["b","a"]}"#
    );
}

const POINT: &Schema = &Schema::new(Kind::Object(&[Field::new("a", Text::EMPTY, STRING)]));

const VARIANTS: &[Variant] = &[
    Variant {
        name: "unit",
        description: Text::escaped("None."),
        schema: None,
    },
    Variant {
        name: "point",
        description: Text::escaped("One."),
        schema: Some(POINT),
    },
];

const fn union(tagging: Tagging) -> Schema {
    Schema::new(Kind::Union(Union {
        tagging,
        variants: VARIANTS,
    }))
}

#[test]
fn unions_are_any_of_with_the_tag_first() {
    const INTERNAL: &Schema = &union(Tagging::Internal { tag: "kind" });
    let unit = r#"{"description":"None.","type":"object","properties":{"kind":{"type":"string","enum":["unit"]}},"required":["kind"],"additionalProperties":false}"#;
    let point = r#"{"description":"One.","type":"object","properties":{"kind":{"type":"string","enum":["point"]},"a":{"type":"string"}},"required":["kind","a"],"additionalProperties":false}"#;
    assert_eq!(
        five(INTERNAL)[3],
        format!(r#"{{"anyOf":[{unit},{point}]}}"#)
    );
    const MAYBE: &Schema = &optional(INTERNAL);
    assert_eq!(
        five(MAYBE)[0],
        format!(r#"{{"anyOf":[{unit},{point},{{"type":"null"}}]}}"#)
    );
    assert_eq!(five(MAYBE)[1], format!(r#"{{"anyOf":[{unit},{point}]}}"#));
    assert!(five(INTERNAL)[2].contains(r#""propertyOrdering":["kind","a"]"#));

    let inner = r#"{"type":"object","properties":{"a":{"type":"string"}},"required":["a"],"additionalProperties":false}"#;
    const ADJACENT: &Schema = &union(Tagging::Adjacent {
        tag: "t",
        content: "c",
    });
    assert_eq!(
        five(ADJACENT)[4],
        format!(
            r#"{{"anyOf":[{{"description":"None.","type":"object","properties":{{"t":{{"type":"string","enum":["unit"]}}}},"required":["t"],"additionalProperties":false}},{{"description":"One.","type":"object","properties":{{"t":{{"type":"string","enum":["point"]}},"c":{inner}}},"required":["t","c"],"additionalProperties":false}}]}}"#
        )
    );
    const EXTERNAL: &Schema = &union(Tagging::External);
    assert_eq!(
        five(EXTERNAL)[0],
        format!(
            r#"{{"anyOf":[{{"description":"- `unit`: None.","type":"string","enum":["unit"]}},{{"description":"One.","type":"object","properties":{{"point":{inner}}},"required":["point"],"additionalProperties":false}}]}}"#
        )
    );
    const UNTAGGED: &Schema = &Schema::new(Kind::Union(Union {
        tagging: Tagging::Untagged,
        variants: &[
            Variant {
                name: "A",
                description: Text::EMPTY,
                schema: Some(STRING),
            },
            Variant {
                name: "B",
                description: Text::escaped("A flag."),
                schema: Some(&Schema::new(Kind::Boolean)),
            },
        ],
    }));
    same_in_all(
        UNTAGGED,
        r#"{"anyOf":[{"type":"string"},{"description":"A flag.","type":"boolean"}]}"#,
    );
}

const TREE: &Schema = &Schema::new(Kind::Object(&[
    Field::new(
        "next",
        Text::EMPTY,
        &optional(&Schema::new(Kind::Ref("Tree"))),
    ),
    Field::new(
        "kids",
        Text::EMPTY,
        &Schema::new(Kind::Array {
            items: &Schema::new(Kind::Ref("Tree")),
            unique: false,
            exactly: None,
        }),
    ),
]))
.named("Tree");

#[test]
fn recursive_types_are_definitions() {
    const ROOT: &Schema = &Schema::new(Kind::Object(&[
        Field::new("left", Text::EMPTY, TREE),
        Field::new("right", Text::escaped("Right."), TREE),
    ]));
    let text = schema_text(ROOT, Dialect::OpenAi);
    proven(&text);
    assert_eq!(
        text,
        r##"{"type":"object","properties":{"left":{"$ref":"#/$defs/Tree"},"right":{"description":"Right.","anyOf":[{"$ref":"#/$defs/Tree"}]}},"required":["left","right"],"additionalProperties":false,"$defs":{"Tree":{"type":"object","properties":{"next":{"anyOf":[{"$ref":"#/$defs/Tree"},{"type":"null"}]},"kids":{"type":"array","items":{"$ref":"#/$defs/Tree"}}},"required":["next","kids"],"additionalProperties":false}}}"##
    );
    let value = serde_json::json!({"left": {"next": null, "kids": []}, "right": {"next": {"next": null, "kids": []}, "kids": []}});
    assert!(jsonschema::is_valid(&proven(&text), &value));
    let alone = schema_text(TREE, Dialect::JsonSchema);
    assert!(
        alone.starts_with(r#"{"type":"object""#) && alone.contains(r#""$defs":{"Tree":{"#),
        "{alone}"
    );
    proven(&alone);
}

#[test]
fn output_schemas_describe_what_is_serialized() {
    const SENT: &Schema = &Schema::new(Kind::Object(&[
        Field::new("a", Text::EMPTY, &optional(STRING)).out_name("A\""),
        Field::new("hidden", Text::EMPTY, STRING).input_only(),
        Field::new("wait", Text::EMPTY, &Schema::new(Kind::Duration)).may_skip(),
        Field::new("any", Text::escaped("Free."), &Schema::new(Kind::Any)),
        Field::new(
            "pair",
            Text::EMPTY,
            &Schema::new(Kind::Tuple(&[STRING, &Schema::new(Kind::Boolean)])),
        ),
    ]));
    let text = output_schema_text(SENT);
    assert_eq!(
        text,
        r#"{"type":"object","properties":{"A\"":{"anyOf":[{"type":"string"},{"type":"null"}]},"wait":{"type":"object","properties":{"secs":{"type":"integer","minimum":0},"nanos":{"type":"integer","minimum":0,"maximum":999999999}},"required":["secs","nanos"],"additionalProperties":false},"any":{"description":"Free."},"pair":{"type":"array","prefixItems":[{"type":"string"},{"type":"boolean"}],"items":false,"minItems":2}},"required":["A\"","any","pair"],"additionalProperties":false}"#
    );
    assert!(jsonschema::is_valid(
        &proven(&text),
        &serde_json::json!({"A\"": null, "wait": {"secs": 1, "nanos": 0}, "any": [1], "pair": ["a", true]})
    ));
}

struct Search;

impl StrictSchema for Search {
    const SCHEMA: &'static Schema = &Schema::new(Kind::Object(&[
        Field::new("query", Text::escaped("What to search for."), STRING),
        Field::new("limit", Text::escaped("How many."), U32).default_value(TEN),
        Field::new("lang", Text::EMPTY, LANG),
    ]))
    .named("Search");
}

impl HasSpec for Search {
    const SPEC: &'static Spec = &Spec {
        name: "search",
        title: Some(Text::escaped("Search it")),
        description: Text::escaped("Searches."),
        input: Self::SCHEMA,
        examples: &[
            ToolExample {
                label: Some(Text::escaped("A plain lookup")),
                input: Example {
                    value: &Json::Object(&[
                        ("query", Json::String("serde")),
                        ("lang", Json::String("rust")),
                    ]),
                    text: r#"{"query":"serde","lang":"rust"}"#,
                },
                result: Some(Example {
                    value: &Json::Array(&[]),
                    text: "[]",
                }),
            },
            ToolExample {
                label: None,
                input: Example {
                    value: &Json::Object(&[("query", Json::String("partial"))]),
                    text: r#"{"query":"partial"}"#,
                },
                result: None,
            },
        ],
        providers: Dialects::ALL.without(Dialect::Gemini),
        hints: Hints {
            read_only: true,
            destructive: false,
            idempotent: true,
            open_world: false,
        },
    };
}

const LENS: [usize; Dialect::COUNT] = measure(Search::SPEC);

// S1-63: the label and input of an example are in the description, in definitions made at compile time and at run time
#[test]
fn compiled_definitions_equal_definitions_built_at_run_time() {
    let made = *Render::<Search, { total(&LENS) }>::LOWERED;
    for (dialect, lowered) in Dialect::ALL.into_iter().zip(made) {
        assert_eq!(lowered.definition, definition_text(Search::SPEC, dialect));
        if dialect == Dialect::Gemini {
            assert_eq!(lowered.definition, "");
        } else {
            assert_eq!(lowered.schema, schema_text(Search::SCHEMA, dialect));
            serde_json::from_str::<serde_json::Value>(lowered.definition).unwrap();
        }
    }
    let read = |dialect: Dialect| {
        serde_json::from_str::<serde_json::Value>(made[dialect.index()].definition).unwrap()
    };
    let openai = read(Dialect::OpenAi);
    assert_eq!(openai["function"]["strict"], true);
    let described = "Searches.\n\nExamples:\n- A plain lookup: {\"query\":\"serde\",\"lang\":\"rust\"} → []\n- {\"query\":\"partial\"}";
    assert_eq!(openai["function"]["description"], described);
    let anthropic = read(Dialect::Anthropic);
    assert_eq!(
        anthropic["input_examples"],
        serde_json::json!([{"query": "serde", "lang": "rust"}])
    );
    // Anthropic would reject a partial example in `input_examples`, so it is in the description.
    assert_eq!(
        anthropic["description"],
        "Searches.\n\nExamples:\n- {\"query\":\"partial\"}"
    );
    assert!(jsonschema::is_valid(
        &anthropic["input_schema"],
        &anthropic["input_examples"][0]
    ));
    let mcp = read(Dialect::Mcp);
    assert_eq!(mcp["title"], "Search it");
    assert_eq!(mcp["annotations"]["readOnlyHint"], true);
    assert_eq!(
        RenderSchema::<Search, { measure_schema(Search::SCHEMA) }>::TEXT,
        output_schema_text(Search::SCHEMA)
    );
}

// A definition without a title and examples is the same for a schema text and for a schema tree.
#[test]
fn definition_around_a_schema_text_equals_the_definition_of_the_tree() {
    let spec = Spec {
        title: None,
        examples: &[],
        providers: Dialects::ALL,
        ..*Search::SPEC
    };
    for dialect in Dialect::ALL {
        let schema = schema_text(Search::SCHEMA, dialect);
        let heading = Heading {
            name: "search",
            title: None,
            description: "Searches.",
            hints: spec.hints,
            strict: true,
        };
        let text = definition_around(dialect, &heading, &schema);
        assert_eq!(text, definition_text(&spec, dialect));
        let mut value: serde_json::Value = serde_json::from_str(&text).unwrap();
        if let Some(key) = wrapper(dialect) {
            value = value[key].take();
        }
        assert_eq!(value[schema_key(dialect)].to_string().len(), schema.len());
        let titled = Heading {
            title: Some("Search it"),
            ..heading
        };
        let titled = definition_around(dialect, &titled, &schema);
        assert_eq!(
            titled.contains(r#""title":"Search it""#),
            dialect == Dialect::Mcp
        );
    }
}
