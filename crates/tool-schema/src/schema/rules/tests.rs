//! Tests of the rules: schemas that break a rule, the path in its message, and schemas that pass.

#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::items_after_statements,
    clippy::cast_lossless,
    clippy::too_many_lines,
    clippy::unnecessary_wraps,
    reason = "each test builds its trees and reads its results in place"
)]

use crate::schema::dialect::{Dialect, Dialects, Hints, Spec};
use crate::schema::rules::{
    Rule, check_constraints, check_field, check_limits, check_optional, check_param, check_tool,
    check_toolset, check_type, check_variant, faults, is_tool_name, survey, toolset_faults,
};
use crate::schema::{
    Constraints, EnumValue, Field, Format, Integer, IntegerValue, Kind, Number, Schema, Tagging,
    Text, Union, Variant,
};

const STRING: &Schema = &Schema::new(Kind::String);
const U8: &Schema = &Schema::new(Kind::Integer(Integer {
    name: "u8",
    min: 0,
    max: 255,
    not_zero: false,
}));
const I64: &Schema = &Schema::new(Kind::Integer(Integer {
    name: "i64",
    min: i64::MIN as i128,
    max: i64::MAX as u128,
    not_zero: false,
}));
const F64: &Schema = &Schema::new(Kind::Number { single: false });
const URI: &Schema = &Schema::new(Kind::Format(Format::Uri));
const NARROW: Dialects = Dialects::only(Dialect::OpenAi).with(Dialect::JsonSchema);

fn leak<T>(value: T) -> &'static T {
    Box::leak(Box::new(value))
}

fn schema(kind: Kind) -> &'static Schema {
    leak(Schema::new(kind))
}

fn field(name: &'static str, schema: &'static Schema) -> Field {
    Field::new(name, Text::EMPTY, schema)
}

fn object<const N: usize>(fields: [Field; N]) -> &'static Schema {
    schema(Kind::Object(leak(fields)))
}

/// Returns `rule path` of each fault of a tool `t` with the argument `x`.
fn told_for(x: &'static Schema, providers: Dialects) -> Vec<String> {
    faults(object([field("x", x)]), providers, "t")
        .into_iter()
        .map(|fault| format!("{} {}", fault.rule, fault.path))
        .collect()
}

fn told(x: &'static Schema) -> Vec<String> {
    told_for(x, Dialects::ALL)
}

/// Returns the panic message that would end const evaluation.
fn panicked(check: impl FnOnce() + std::panic::UnwindSafe) -> String {
    let payload = std::panic::catch_unwind(check).unwrap_err();
    payload.downcast_ref::<String>().unwrap().clone()
}

fn list(items: &'static Schema) -> &'static Schema {
    schema(Kind::Array {
        items,
        unique: false,
        exactly: None,
    })
}

fn optional(inner: &'static Schema) -> &'static Schema {
    schema(Kind::Optional(inner))
}

fn strings<const N: usize>(values: [&'static str; N]) -> &'static Schema {
    schema(Kind::Enum(leak(values.map(|value| EnumValue {
        value,
        description: Text::EMPTY,
    }))))
}

fn union<const N: usize>(
    tagging: Tagging,
    variants: [(&'static str, Option<&'static Schema>); N],
) -> &'static Schema {
    let variants = leak(variants.map(|(name, schema)| Variant {
        name,
        description: Text::EMPTY,
        schema,
    }));
    schema(Kind::Union(Union { tagging, variants }))
}

#[test]
fn types_with_a_better_alternative_are_refused() {
    assert_eq!(told(STRING), [""; 0]);
    assert_eq!(told(schema(Kind::Any)), ["untyped-value t.x"]);
    assert_eq!(told(list(schema(Kind::Any))), ["untyped-value t.x[]"]);
    assert_eq!(told(schema(Kind::Null)), ["unit-type t.x"]);
    assert_eq!(told(schema(Kind::Never)), ["enum-empty t.x"]);
    assert_eq!(told(schema(Kind::Tuple(leak([STRING, U8])))), ["tuple t.x"]);
    assert_eq!(told(list(U8)), ["bytes t.x"]);
    assert_eq!(told(list(I64)), [""; 0]);
    assert_eq!(told(list(optional(STRING))), ["null-item t.x[]"]);
    assert_eq!(told(optional(optional(STRING))), ["null-ambiguity t.x"]);
    assert_eq!(told(optional(schema(Kind::Null))), ["null-ambiguity t.x"]);
    assert_eq!(
        told(schema(Kind::Array {
            items: STRING,
            unique: false,
            exactly: Some(0)
        })),
        ["array-no-items t.x"]
    );
    assert_eq!(
        told(schema(Kind::Refused {
            rule: "time-lossy",
            text: "take seconds"
        })),
        ["time-lossy t.x"]
    );
}

// S1-27: a format that a strict mode rejects is reported at every depth
#[test]
fn unsupported_formats_are_reported_at_any_depth() {
    assert_eq!(told(URI), ["format-uri t.x"]);
    assert_eq!(
        told(schema(Kind::Format(Format::Unknown("partial-time")))),
        ["format-unknown t.x"]
    );
    let deep = object([
        field(
            "a",
            list(optional(URI).is_optional().then_some(URI).unwrap()),
        ),
        field("b", optional(URI)),
    ]);
    assert_eq!(told(deep), ["format-uri t.x.a[]", "format-uri t.x.b"]);
    let variants = union(
        Tagging::Internal { tag: "kind" },
        [("v", Some(object([field("url", URI)])))],
    );
    assert_eq!(told(variants), ["format-uri t.x.v.url"]);
    let bounds = leak(Constraints {
        format: Some(Format::Uri),
        ..Constraints::NONE
    });
    assert_eq!(
        told(schema(Kind::Constrained(STRING, bounds))),
        ["format-uri t.x"]
    );
}

// S1-29: maps and recursive types are rejected only for the providers that do not support them
#[test]
fn maps_and_recursion_depend_on_the_providers() {
    let map = schema(Kind::Map(STRING));
    assert_eq!(told(map), ["map-type t.x"]);
    assert_eq!(
        told_for(map, Dialects::only(Dialect::Mcp).with(Dialect::Gemini)),
        [""; 0]
    );
    assert_eq!(
        told_for(
            schema(Kind::Map(schema(Kind::Any))),
            Dialects::only(Dialect::Mcp)
        ),
        ["untyped-value t.x{}"]
    );
    let tree = leak(
        Schema::new(Kind::Object(leak([field(
            "next",
            optional(schema(Kind::Ref("Tree"))),
        )])))
        .named("Tree")
        .checked(),
    );
    assert_eq!(told(tree), ["recursive-type t.x.next"]);
    assert_eq!(told_for(tree, NARROW), [""; 0]);
    assert_eq!(
        told_for(schema(Kind::Ref("Tree")), NARROW),
        ["ref-target t.x"]
    );
    let other = leak(Schema::new(Kind::Ref("Tree")).within("elsewhere"));
    let around = leak(
        Schema::new(Kind::Object(leak([field("next", optional(other))])))
            .named("Tree")
            .within("here"),
    );
    assert_eq!(told_for(around, NARROW), ["ref-target t.x.next"]);
}

#[test]
fn checked_types_are_reported_once() {
    let inner = leak(
        Schema::new(Kind::Object(leak([
            field("url", URI),
            field("map", schema(Kind::Map(STRING))),
        ])))
        .named("Inner")
        .checked(),
    );
    check_field(inner, "Outer", "inner", true);
    // The rule for maps depends on the tool's providers, so the map is reported here. The format is not reported again.
    assert_eq!(told(inner), ["map-type t.x.map"]);
    let generic = leak(Schema {
        checked: false,
        ..*inner
    });
    assert_eq!(
        panicked(|| check_field(list(generic), "Outer", "inner", true)),
        "`Outer.inner[].url`: [format-uri] `url` formats are refused, take a `String` and check it in the body"
    );
}

#[test]
fn malformed_and_duplicate_keys_are_refused() {
    assert_eq!(
        told(object([field("a", STRING), field("b-c", STRING)])),
        ["property-key t.x"]
    );
    assert_eq!(
        told(object([
            field("a", STRING),
            field("b", STRING),
            field("a", STRING)
        ])),
        ["duplicate-key t.x"]
    );
    let long = "a".repeat(65).leak();
    assert_eq!(
        told(object([
            field(long, STRING),
            field("1a", STRING),
            field("_1", STRING)
        ])),
        ["property-key t.x", "property-key t.x"]
    );
}

#[test]
fn malformed_enums_are_refused() {
    assert_eq!(told(strings(["a", "b"])), [""; 0]);
    assert_eq!(told(strings([])), ["enum-empty t.x"]);
    assert_eq!(told(strings(["a", ""])), ["enum-empty-string t.x"]);
    assert_eq!(told(strings(["ab", "cd", "Ab"])), ["enum-case-only t.x"]);
    assert_eq!(told(strings(["ab", "ab"])), ["enum-duplicate t.x"]);
    let numbers = leak([1, 2, 1].map(|value| IntegerValue {
        value,
        name: "N",
        description: Text::EMPTY,
    }));
    assert_eq!(
        told(schema(Kind::IntegerEnum(numbers))),
        ["enum-duplicate t.x"]
    );
}

#[test]
fn malformed_unions_are_refused() {
    let point = object([field("a", STRING)]);
    let internal = Tagging::Internal { tag: "kind" };
    assert_eq!(
        told(union(internal, [("a", None), ("b", Some(point))])),
        [""; 0]
    );
    assert_eq!(told(union(internal, [])), ["enum-empty t.x"]);
    assert_eq!(
        told(union(internal, [("a", None), ("A", None)])),
        ["enum-case-only t.x"]
    );
    assert_eq!(
        told(union(internal, [("a", Some(STRING))])),
        ["tagged-newtype-ref t.x"]
    );
    assert_eq!(
        told(union(
            internal,
            [("a", Some(object([field("kind", STRING)])))]
        )),
        ["duplicate-key t.x.a"]
    );
    assert_eq!(
        told(union(Tagging::Internal { tag: "$kind" }, [("a", None)])),
        ["property-key t.x"]
    );
    assert_eq!(
        told(union(
            Tagging::Adjacent {
                tag: "t",
                content: "t"
            },
            [("a", None)]
        )),
        ["duplicate-key t.x"]
    );
    assert_eq!(
        told(union(Tagging::External, [("a", Some(optional(STRING)))])),
        ["null-ambiguity t.x.a"]
    );
    assert_eq!(
        told(union(
            Tagging::External,
            [("a b", Some(STRING)), ("c d", None)]
        )),
        ["property-key t.x"]
    );
    assert_eq!(
        told(union(Tagging::Untagged, [("a", None)])),
        ["null-ambiguity t.x.a"]
    );
}

// Each fault of a variant is reported by the check of that variant.
#[test]
fn union_faults_are_reported_per_variant() {
    let told = |union: &'static Schema, at: usize| {
        std::panic::catch_unwind(|| check_variant(union, at, true))
            .err()
            .map(|payload| *payload.downcast::<String>().unwrap())
    };
    let same = union(
        Tagging::Untagged,
        [
            ("a", Some(STRING)),
            ("b", Some(STRING)),
            ("c", Some(STRING)),
        ],
    );
    assert_eq!(told(same, 0), None);
    let b = told(same, 1).unwrap();
    assert!(
        b.contains("[union-overlap] the variants `a` and `b`"),
        "{b}"
    );
    assert!(
        b.contains("write `#[serde(tag = \"kind\", content = \"value\")]` instead of `untagged`"),
        "{b}"
    );
    // `c` overlaps with `a` and with `b`, and only the first overlap is reported.
    assert_eq!(told(same, 2).unwrap().lines().count(), 1);
    let tagged = union(
        Tagging::Internal { tag: "kind" },
        [("a", Some(STRING)), ("b", Some(STRING))],
    );
    assert!(told(tagged, 0).unwrap().contains("[tagged-newtype-ref]"));
    // The attribute `content` applies to all variants, so only the first variant reports that it is missing.
    assert_eq!(told(tagged, 1), None);
    // A type without a schema is reported where the schema is required, and nowhere else.
    let unknown = union(
        Tagging::Internal { tag: "kind" },
        [("a", Some(Schema::REPORTED))],
    );
    assert_eq!(told(unknown, 0), None);
}

#[test]
fn untagged_variants_are_disjoint_or_refused() {
    let pair = |left, right| {
        told(union(
            Tagging::Untagged,
            [("A", Some(left)), ("B", Some(right))],
        ))
        .len()
    };
    assert_eq!(pair(STRING, schema(Kind::Boolean)), 0);
    assert_eq!(pair(I64, F64), 1);
    assert_eq!(pair(STRING, schema(Kind::Format(Format::Uuid))), 1);
    assert_eq!(pair(strings(["a"]), strings(["b"])), 0);
    assert_eq!(pair(strings(["a"]), strings(["b", "a"])), 1);
    assert_eq!(pair(list(STRING), list(I64)), 1);
    // The value `{x}` matches both `{x}` and `{x, y?}`.
    let x = object([field("x", STRING)]);
    assert_eq!(
        pair(
            x,
            object([field("x", STRING), field("y", optional(STRING))])
        ),
        1
    );
    assert_eq!(pair(x, object([field("x", STRING), field("y", STRING)])), 0);
    assert_eq!(pair(x, object([field("x", I64)])), 0);
    assert_eq!(pair(object([]), object([field("y", optional(STRING))])), 1);
    let tagged = |name| union(Tagging::Internal { tag: "kind" }, [(name, Some(x))]);
    assert_eq!(pair(tagged("a"), tagged("b")), 0);
    assert_eq!(pair(tagged("a"), tagged("a")), 1);
    assert_eq!(pair(tagged("a"), x), 0);
    assert_eq!(
        pair(
            union(Tagging::External, [("u", None), ("d", Some(I64))]),
            object([field("d", STRING)])
        ),
        0
    );
    assert_eq!(
        pair(
            union(Tagging::External, [("u", None), ("d", Some(I64))]),
            STRING
        ),
        1
    );
    assert_eq!(
        pair(schema(Kind::Ref("T")), STRING),
        2,
        "and the name has no definition"
    );
}

#[test]
fn bounds_that_do_not_match_their_type_are_refused() {
    let whole = |value: i128| {
        let text = match value {
            256 => "256",
            -1 => "-1",
            _ => "",
        };
        Some(Number::Integer { value, text })
    };
    let float = |value: f64| Some(Number::Float { value, text: "" });
    let wrong = |schema: &'static Schema, bounds: Constraints| {
        let mut report = super::Report::new();
        super::constraint::faults(&mut report, &super::Path::owner("F"), schema, &bounds);
        report
            .faults()
            .into_iter()
            .map(|fault| fault.text)
            .collect::<Vec<_>>()
    };
    let none = Constraints::NONE;
    assert_eq!(
        wrong(
            optional(U8),
            Constraints {
                min: whole(1),
                max: whole(50),
                ..none
            }
        ),
        [""; 0]
    );
    assert_eq!(
        wrong(
            U8,
            Constraints {
                max: whole(256),
                ..none
            }
        ),
        ["the bound `256` is outside of `u8`"]
    );
    assert_eq!(
        wrong(
            U8,
            Constraints {
                min: whole(-1),
                ..none
            }
        ),
        ["the bound `-1` is outside of `u8`"]
    );
    assert_eq!(
        wrong(
            U8,
            Constraints {
                min: float(1.5),
                ..none
            }
        ),
        ["the bounds must be whole numbers, because the field is a whole number"]
    );
    assert_eq!(
        wrong(
            U8,
            Constraints {
                min: whole(5),
                max: whole(4),
                ..none
            }
        )
        .len(),
        1
    );
    assert_eq!(
        wrong(
            U8,
            Constraints {
                min: whole(5),
                max: whole(6),
                exclusive_min: true,
                exclusive_max: true,
                ..none
            }
        )
        .len(),
        1
    );
    assert_eq!(
        wrong(
            F64,
            Constraints {
                min: whole(5),
                max: whole(6),
                exclusive_min: true,
                exclusive_max: true,
                ..none
            }
        )
        .len(),
        0
    );
    assert_eq!(
        wrong(
            F64,
            Constraints {
                min: float(0.5),
                max: float(0.5),
                exclusive_max: true,
                ..none
            }
        )
        .len(),
        1
    );
    assert_eq!(
        wrong(
            F64,
            Constraints {
                multiple_of: whole(0),
                ..none
            }
        ),
        ["`multiple_of` must be greater than zero"]
    );
    assert_eq!(
        wrong(
            STRING,
            Constraints {
                min: whole(1),
                ..none
            }
        )
        .len(),
        1
    );
    assert_eq!(
        wrong(
            STRING,
            Constraints {
                min_length: Some(2),
                max_length: Some(1),
                ..none
            }
        )
        .len(),
        1
    );
    assert_eq!(
        wrong(
            U8,
            Constraints {
                min_length: Some(2),
                ..none
            }
        )
        .len(),
        1
    );
    assert_eq!(
        wrong(
            list(STRING),
            Constraints {
                max_length: Some(2),
                ..none
            }
        )
        .len(),
        1
    );
    assert_eq!(
        wrong(
            STRING,
            Constraints {
                unique: true,
                ..none
            }
        )
        .len(),
        1
    );
    assert_eq!(
        wrong(
            list(STRING),
            Constraints {
                unique: true,
                min_items: Some(1),
                max_items: Some(1),
                ..none
            }
        )
        .len(),
        0
    );
    assert_eq!(
        wrong(
            URI,
            Constraints {
                format: Some(Format::Email),
                ..none
            }
        ),
        ["the type already has a format, remove `format`"]
    );
    assert_eq!(
        panicked(|| check_constraints(
            U8,
            &Constraints {
                format: Some(Format::Uri),
                ..Constraints::NONE
            },
            "Filter",
            "n"
        )),
        "`Filter.n`: [format-uri] `url` formats are refused, take a `String` and check it in the body\n`Filter.n`: [constraint] `format` is for text, the field has a different type"
    );
}

#[test]
fn one_panic_lists_the_faults_up_to_a_limit() {
    let two = object([field("a", URI), field("b", list(schema(Kind::Any)))]);
    let text = panicked(|| check_param(two, Dialects::ALL, "search", "filter"));
    assert_eq!(
        text,
        "`search.filter.a`: [format-uri] `url` formats are refused, take a `String` and check it in the body\n`search.filter.b[]`: [untyped-value] a type that admits any JSON has no schema, take a concrete type"
    );
    let many =
        object(["a1", "a2", "a3", "a4", "a5", "a6", "a7", "a8"].map(|name| field(name, two)));
    assert_eq!(told(many).len(), 16);
    let more = object(["c1", "c2"].map(|name| field(name, many)));
    let text = panicked(|| check_param(more, Dialects::ALL, "search", "filter"));
    assert_eq!(text.lines().count(), 25);
    assert!(text.ends_with("\nand 8 more"), "{text}");
    let found = faults(more, Dialects::ALL, "search");
    assert_eq!(found.len(), 25);
    assert_eq!(
        found[24].text,
        "8 more faults, of this rule and possibly of others"
    );
    let long: &str = "k".repeat(1000).leak();
    let long =
        object(["d1", "d2", "d3", "d4", "d5"].map(|name| field(name, object([field(long, URI)]))));
    let text = panicked(|| check_param(long, Dialects::ALL, "search", "filter"));
    let lines: Vec<_> = text.lines().collect();
    let (last, whole) = lines.split_last().unwrap();
    assert!(
        whole
            .iter()
            .all(|line| line.contains("] ") && !line.ends_with('k')),
        "{text}"
    );
    assert_eq!(*last, format!("and {} more", 10 - whole.len()));
    check_optional(optional(STRING), "Filter", "a");
    assert!(
        panicked(|| check_optional(STRING, "Filter", "a"))
            .starts_with("`Filter.a`: [optional-not-nullable] ")
    );
    check_type(object([field("a", URI)]), true);
    assert!(
        panicked(|| check_type(leak(strings(["a", "A"]).named("Lang")), true))
            .starts_with("`Lang`: [enum-case-only] the values `a` and `A` ")
    );
}

fn spec(name: &'static str, input: &'static Schema, providers: Dialects) -> &'static Spec {
    leak(Spec {
        name,
        title: None,
        description: Text::escaped("Does."),
        input,
        examples: &[],
        providers,
        hints: Hints {
            read_only: false,
            destructive: false,
            idempotent: false,
            open_world: false,
        },
    })
}

fn optionals(count: usize) -> &'static Schema {
    let fields = (0..count)
        .map(|at| field(format!("f{at}").leak(), optional(STRING)))
        .collect::<Vec<_>>();
    schema(Kind::Object(fields.leak()))
}

fn nested(depth: usize) -> &'static Schema {
    (1..depth).fold(object([]), |inner, _| object([field("a", inner)]))
}

/// Creates a schema with `count` recursive types.
fn recursive(count: usize) -> &'static Schema {
    let tree = |number: usize| {
        let name: &str = format!("Tree{number}").leak();
        let again = leak(Schema::new(Kind::Ref(name)).within("a"));
        let kids = leak([field("kids", list(again))]);
        leak(Schema::new(Kind::Object(kids)).named(name).within("a"))
    };
    let fields: Vec<Field> = (0..count)
        .map(|number| field(format!("f{number}").leak(), tree(number)))
        .collect();
    schema(Kind::Object(fields.leak()))
}

// M2: a tool that exceeds a provider's size limits is rejected
#[test]
fn tool_beyond_the_size_limits_is_refused() {
    let rules = |input, providers| {
        faults(input, providers, "t")
            .into_iter()
            .map(|fault| fault.rule)
            .collect::<Vec<_>>()
    };
    assert_eq!(rules(optionals(24), Dialects::ALL), [""; 0]);
    assert_eq!(rules(optionals(25), Dialects::ALL), ["limit-optional"]);
    assert_eq!(rules(optionals(25), NARROW), [""; 0]);
    assert_eq!(rules(nested(10), Dialects::ALL), [""; 0]);
    assert_eq!(rules(nested(11), Dialects::ALL), ["limit-depth"]);
    assert_eq!(rules(nested(11), Dialects::only(Dialect::Gemini)), [""; 0]);
    assert_eq!(rules(recursive(16), NARROW), [""; 0]);
    assert_eq!(rules(recursive(17), NARROW), ["ref-target"]);
    assert_eq!(rules(list(STRING), Dialects::ALL), ["root-not-object"]);
    assert_eq!(rules(strings(["a"]), Dialects::ALL), ["root-union"]);
    let choice = union(Tagging::Internal { tag: "kind" }, [("a", None)]);
    let unions = |count: usize| {
        schema(Kind::Object(
            (0..count)
                .map(|at| field(format!("f{at}").leak(), choice))
                .collect::<Vec<_>>()
                .leak(),
        ))
    };
    assert_eq!(rules(unions(15), Dialects::ALL), [""; 0]);
    assert_eq!(rules(unions(16), Dialects::ALL), ["limit-union"]);
    let values = |count: usize| {
        let values = (0..count)
            .map(|at| EnumValue {
                value: format!("value_{at:060}").leak(),
                description: Text::EMPTY,
            })
            .collect::<Vec<_>>();
        object([field("x", schema(Kind::Enum(values.leak())))])
    };
    assert_eq!(rules(values(250), Dialects::ALL), [""; 0]);
    assert_eq!(rules(values(251), Dialects::ALL), ["limit-size"]);
    check_tool(spec("t", optionals(24), Dialects::ALL));
    assert_eq!(
        panicked(|| check_tool(spec("t", optionals(25), Dialects::ALL))),
        "`t`: [limit-optional] the tool has 25 optional fields and Anthropic accepts at most 24 in a request, split it or require some"
    );
    let bare = leak(Spec {
        description: Text::EMPTY,
        ..*spec("t", object([]), NARROW)
    });
    assert!(
        panicked(|| check_limits(bare, &survey(bare.input))).contains("[tool-description-missing]")
    );
}

// M2: a set of tools that exceeds a provider's limits for one request is rejected
#[test]
fn toolset_beyond_the_limits_is_refused() {
    let tools = |count: usize, input, providers| {
        (0..count)
            .map(|at| spec(format!("t{at}").leak(), input, providers))
            .collect::<Vec<_>>()
    };
    let rules = |tools: &[&Spec]| {
        toolset_faults(tools)
            .into_iter()
            .map(|fault| fault.rule)
            .collect::<Vec<_>>()
    };
    assert_eq!(rules(&tools(20, optionals(1), Dialects::ALL)), [""; 0]);
    assert_eq!(
        rules(&tools(21, optionals(1), Dialects::ALL)),
        ["limit-strict-tools"]
    );
    assert_eq!(
        rules(&tools(13, optionals(2), Dialects::ALL)),
        ["limit-optional"]
    );
    assert_eq!(rules(&tools(128, optionals(2), NARROW)), [""; 0]);
    assert_eq!(rules(&tools(129, optionals(2), NARROW)), ["limit-tools"]);
    let twice = [
        spec("same", object([]), NARROW),
        spec("same", object([]), NARROW),
    ];
    assert_eq!(
        panicked(move || check_toolset(&twice)),
        "`toolset`: [tool-name-clash] two tools have the name `same`, rename one"
    );
}

#[test]
fn survey_counts_inlined_definitions() {
    let union = union(
        Tagging::External,
        [
            ("unit", None),
            ("data", Some(object([field("a", optional(U8))]))),
        ],
    );
    let found = survey(object([
        field("u", union),
        field("e", strings(["ab", "c"])),
    ]));
    assert_eq!(
        (
            found.depth,
            found.properties,
            found.optionals,
            found.unions,
            found.enum_values
        ),
        (3, 4, 1, 1, 3)
    );
    assert_eq!(
        found.characters,
        "u".len() + "e".len() + "unit".len() + "data".len() + "a".len() + "abc".len()
    );
    assert!(found.external && !found.untagged && !found.wide_integer);
}

#[test]
fn tool_names_outside_the_pattern_are_refused() {
    assert!(["a", "Search-docs_2"].into_iter().all(is_tool_name));
    assert!(
        !["", "1a", "_a", "a.b", "a b", &"a".repeat(65)]
            .into_iter()
            .any(is_tool_name)
    );
}

#[test]
fn rule_texts_start_lower_case_and_have_no_full_stop() {
    for rule in Rule::all() {
        assert!(!rule.id.is_empty() && !rule.evidence.is_empty(), "{rule:?}");
        assert!(
            !rule.text.ends_with('.')
                && rule
                    .text
                    .chars()
                    .next()
                    .is_some_and(|first| !first.is_ascii_uppercase()),
            "{rule:?}"
        );
    }
}
