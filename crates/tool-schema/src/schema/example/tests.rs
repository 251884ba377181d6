//! Tests of the validation of examples, results and defaults against schemas.

#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::items_after_statements,
    clippy::cast_lossless,
    clippy::too_many_lines,
    clippy::unnecessary_wraps,
    reason = "each test builds its trees and reads its results in place"
)]

use super::{Proof, check_default, check_example_entry, check_result};
use crate::schema::rules::{Fault, Path, Report, Rule};
use crate::schema::{
    Constraints, EnumValue, Example, Field, Format, Integer, IntegerValue, Json, Kind, Number,
    Pattern, Schema, Tagging, Text, Union, Variant,
};

const STRING: &Schema = &Schema::new(Kind::String);
const U8: &Schema = &Schema::new(Kind::Integer(Integer {
    name: "u8",
    min: 0,
    max: 255,
    not_zero: false,
}));
const OPTIONAL: &Schema = &Schema::new(Kind::Optional(STRING));
const LANG: &Schema = &Schema::new(Kind::Enum(&[
    EnumValue {
        value: "rust",
        description: Text::EMPTY,
    },
    EnumValue {
        value: "go",
        description: Text::EMPTY,
    },
]));
const TAGS: &Schema = &Schema::new(Kind::Array {
    items: STRING,
    unique: true,
    exactly: None,
});
const FILTER: &Schema = &Schema::new(Kind::Object(&[
    Field::new("lang", Text::EMPTY, LANG),
    Field::new("tags", Text::EMPTY, TAGS),
    Field::new("note", Text::EMPTY, OPTIONAL).out_name("Note"),
    Field::new("limit", Text::EMPTY, U8).default_value(TEN),
]))
.named("Filter");
const ARGS: &Schema = &Schema::new(Kind::Object(&[
    Field::new("query", Text::EMPTY, STRING),
    Field::new("filter", Text::EMPTY, FILTER),
]));
const TEN: Example = Example {
    value: &number(10),
    text: "10",
};

const fn number(value: i128) -> Json {
    Json::Number(Number::Integer { value, text: "n" })
}

const fn float(value: f64) -> Json {
    Json::Number(Number::Float { value, text: "f" })
}

/// Returns the faults of an example call.
fn example_faults(input: &Schema, value: &Json, tool: &str) -> Vec<Fault> {
    let mut report = Report::new();
    Proof {
        report: &mut report,
        rule: &Rule::EXAMPLE,
        output: false,
        quiet: false,
        failed: false,
    }
    .top(&Path::owner(tool), input, value);
    report.faults()
}

/// Returns the faults of a value that a model sends (or that the tool returns, if `output` is set).
fn value_faults(schema: &Schema, value: &Json, owner: &str, output: bool) -> Vec<Fault> {
    let mut report = Report::new();
    let rule = if output {
        &Rule::RESULT
    } else {
        &Rule::DEFAULT_VALUE
    };
    Proof {
        report: &mut report,
        rule,
        output,
        quiet: false,
        failed: false,
    }
    .value(&Path::owner(owner), schema, None, value);
    report.faults()
}

impl Proof<'_> {
    /// Validates an example call, which may omit arguments at the top level.
    const fn top(&mut self, path: &Path<'_>, schema: &Schema, value: &Json) {
        match (&schema.kind, value) {
            (Kind::Object(fields), Json::Object(entries)) => {
                self.record(&path.at(schema), fields, &[], entries, true);
            }
            _ => self.value(path, schema, None, value),
        }
    }
}

fn faults(schema: &Schema, value: Json) -> Vec<String> {
    value_faults(schema, &value, "v", false)
        .into_iter()
        .map(|fault| format!("{}: {}", fault.path, fault.text))
        .collect()
}

fn fits(schema: &Schema, value: Json) -> bool {
    faults(schema, value).is_empty()
}

// S1-64: an example call may omit top-level arguments; a required key further down may not be missing
#[test]
fn only_top_level_arguments_may_be_omitted_in_examples() {
    let partial = Json::Object(&[("query", Json::String("serde"))]);
    assert_eq!(example_faults(ARGS, &partial, "search"), []);
    check_example_entry(ARGS, "query", &Json::String("serde"), "search");
    const STALE: Json = Json::Object(&[
        ("query", number(1)),
        ("old", Json::Null),
        (
            "filter",
            Json::Object(&[
                ("lang", Json::String("python")),
                ("note", Json::Null),
                ("limit", Json::Null),
            ]),
        ),
    ]);
    let faults = example_faults(ARGS, &STALE, "search")
        .into_iter()
        .map(|fault| format!("{} {}", fault.path, fault.text))
        .collect::<Vec<_>>();
    assert_eq!(
        faults,
        [
            "search.query expected text, found `n`",
            "search expected one of the keys `query`, `filter`, found `old`",
            "search.filter.lang expected one of `rust`, `go`, found `\"python\"`",
            "search.filter.tags expected a list without duplicates, found nothing",
        ]
    );
}

#[test]
fn wrong_example_names_the_position_in_the_build_error() {
    let wrong = Json::Boolean(true);
    let payload = std::panic::catch_unwind(|| check_example_entry(ARGS, "query", &wrong, "search"))
        .unwrap_err();
    assert_eq!(
        payload.downcast_ref::<String>().unwrap(),
        "`search.query`: [example] expected text, found `true`"
    );
    let default = Example {
        value: &Json::Number(Number::Integer {
            value: 300,
            text: "300",
        }),
        text: "300",
    };
    let payload =
        std::panic::catch_unwind(|| check_default(U8, &default, "Filter", "limit")).unwrap_err();
    assert_eq!(
        payload.downcast_ref::<String>().unwrap(),
        "`Filter.limit`: [default-value] the default does not fit: expected a whole number (`u8`), found `300`"
    );
}

#[test]
fn scalar_examples_are_validated() {
    assert!(
        fits(U8, number(255))
            && !fits(U8, number(256))
            && !fits(U8, number(-1))
            && !fits(U8, float(1.0))
    );
    let nonzero = Schema::new(Kind::Integer(Integer {
        name: "NonZeroI64",
        min: i64::MIN as i128,
        max: i64::MAX as u128,
        not_zero: true,
    }));
    assert!(fits(&nonzero, number(-1)) && !fits(&nonzero, number(0)));
    let single = Schema::new(Kind::Number { single: true });
    assert!(fits(&single, float(1.5)) && fits(&single, number(1)) && !fits(&single, float(1e39)));
    assert!(fits(OPTIONAL, Json::Null) && !fits(STRING, Json::Null));
    let character = Schema::new(Kind::Char);
    assert!(
        fits(&character, Json::String("ä"))
            && !fits(&character, Json::String("ab"))
            && !fits(&character, Json::String(""))
    );
    let duration = Schema::new(Kind::Duration);
    assert!(fits(&duration, Json::String("PT1M30S")) && !fits(&duration, Json::String("90s")));
    let date = Schema::new(Kind::Format(Format::Date));
    assert!(fits(&date, Json::String("2026-01-31")) && !fits(&date, Json::String("2026-02-31")));
    let level = Schema::new(Kind::IntegerEnum(&[IntegerValue {
        value: 3,
        name: "Low",
        description: Text::EMPTY,
    }]));
    assert!(fits(&level, number(3)) && !fits(&level, number(4)));
}

#[test]
fn example_bounds_are_validated() {
    static PATTERN: Pattern = Pattern::new("^[a-z]+$");
    static TEXT: Constraints = Constraints {
        min_length: Some(2),
        max_length: Some(3),
        pattern: Some(&PATTERN),
        ..Constraints::NONE
    };
    let text = Schema::new(Kind::Constrained(OPTIONAL, &TEXT));
    assert!(fits(&text, Json::String("ab")) && fits(&text, Json::Null));
    assert!(
        !fits(&text, Json::String("a"))
            && !fits(&text, Json::String("abcd"))
            && !fits(&text, Json::String("AB"))
    );
    static RANGE: Constraints = Constraints {
        min: Some(Number::Integer {
            value: 1,
            text: "1",
        }),
        exclusive_min: true,
        max: Some(Number::Float {
            value: 2.5,
            text: "2.5",
        }),
        multiple_of: Some(Number::Float {
            value: 0.1,
            text: "0.1",
        }),
        ..Constraints::NONE
    };
    const F64: &Schema = &Schema::new(Kind::Number { single: false });
    let range = Schema::new(Kind::Constrained(F64, &RANGE));
    assert!(fits(&range, float(2.5)) && fits(&range, float(1.3)) && fits(&range, number(2)));
    assert!(!fits(&range, number(1)) && !fits(&range, float(2.6)) && !fits(&range, float(1.25)));
    assert_eq!(
        faults(&range, number(1)),
        [
            "v: the default does not fit: expected a number above 1 to 2.5 that is a multiple of 0.1, found `n`"
        ]
    );
    static ITEMS: Constraints = Constraints {
        min_items: Some(1),
        max_items: Some(2),
        ..Constraints::NONE
    };
    let list = Schema::new(Kind::Constrained(TAGS, &ITEMS));
    assert!(fits(
        &list,
        Json::Array(&[Json::String("a"), Json::String("b")])
    ));
    assert!(
        !fits(&list, Json::Array(&[]))
            && !fits(&list, Json::Array(&[Json::String("a"), Json::String("a")]))
    );
}

#[test]
fn unions_and_recursive_types_are_validated() {
    const POINT: &Schema = &Schema::new(Kind::Object(&[Field::new("a", Text::EMPTY, STRING)]));
    const VARIANTS: &[Variant] = &[
        Variant {
            name: "unit",
            description: Text::EMPTY,
            schema: None,
        },
        Variant {
            name: "point",
            description: Text::EMPTY,
            schema: Some(POINT),
        },
    ];
    let union = |tagging| {
        Schema::new(Kind::Union(Union {
            tagging,
            variants: VARIANTS,
        }))
    };
    let internal = union(Tagging::Internal { tag: "kind" });
    assert!(fits(
        &internal,
        Json::Object(&[("kind", Json::String("unit"))])
    ));
    assert!(fits(
        &internal,
        Json::Object(&[("a", Json::String("x")), ("kind", Json::String("point"))])
    ));
    assert_eq!(
        faults(&internal, Json::Object(&[("kind", Json::String("point"))])),
        ["v.a: the default does not fit: expected text, found nothing"]
    );
    assert_eq!(
        faults(&internal, Json::Object(&[("kind", Json::String("other"))])).len(),
        1
    );
    let external = union(Tagging::External);
    assert!(fits(&external, Json::String("unit")) && !fits(&external, Json::String("point")));
    assert!(fits(
        &external,
        Json::Object(&[("point", Json::Object(&[("a", Json::String("x"))]))])
    ));
    let adjacent = union(Tagging::Adjacent {
        tag: "t",
        content: "c",
    });
    assert!(fits(
        &adjacent,
        Json::Object(&[
            ("t", Json::String("point")),
            ("c", Json::Object(&[("a", Json::String("x"))]))
        ])
    ));
    assert!(!fits(
        &adjacent,
        Json::Object(&[("t", Json::String("unit")), ("c", Json::Null)])
    ));
    const UNTAGGED: &[Variant] = &[
        Variant {
            name: "A",
            description: Text::EMPTY,
            schema: Some(STRING),
        },
        Variant {
            name: "B",
            description: Text::EMPTY,
            schema: Some(POINT),
        },
    ];
    let untagged = Schema::new(Kind::Union(Union {
        tagging: Tagging::Untagged,
        variants: UNTAGGED,
    }));
    assert!(
        fits(&untagged, Json::String("x"))
            && fits(&untagged, Json::Object(&[("a", Json::String("x"))]))
    );
    assert_eq!(
        faults(&untagged, number(1)),
        ["v: the default does not fit: expected a variant of the union: `A`, `B`, found `n`"]
    );
    const TREE: &Schema = &Schema::new(Kind::Object(&[Field::new(
        "kids",
        Text::EMPTY,
        &Schema::new(Kind::Array {
            items: &Schema::new(Kind::Ref("Tree")),
            unique: false,
            exactly: None,
        }),
    )]))
    .named("Tree");
    assert!(fits(
        TREE,
        Json::Object(&[(
            "kids",
            Json::Array(&[Json::Object(&[("kids", Json::Array(&[]))])])
        )])
    ));
    assert_eq!(
        faults(
            TREE,
            Json::Object(&[("kids", Json::Array(&[Json::Object(&[])]))])
        ),
        ["v.kids[0].kids: the default does not fit: expected a list, found nothing"]
    );
}

#[test]
fn example_results_follow_serdes_output() {
    let full = Example {
        value: &Json::Object(&[
            ("lang", Json::String("go")),
            ("tags", Json::Array(&[])),
            ("Note", Json::Null),
            (
                "limit",
                Json::Number(Number::Integer {
                    value: 1,
                    text: "1",
                }),
            ),
        ]),
        text: "",
    };
    check_result(FILTER, &full, "search", 1);
    let input_only = Json::Object(&[
        ("lang", Json::String("go")),
        ("tags", Json::Array(&[])),
        ("note", Json::Null),
        ("limit", Json::Null),
    ]);
    // A key of the wrong direction is reported once, not as an unknown and as a missing key.
    let faults = value_faults(FILTER, &input_only, "v", true);
    assert_eq!(faults.len(), 2, "{faults:?}");
    const DURATION: Json = Json::Object(&[("secs", number(1)), ("nanos", number(0))]);
    assert_eq!(
        value_faults(&Schema::new(Kind::Duration), &DURATION, "v", true),
        []
    );
}
