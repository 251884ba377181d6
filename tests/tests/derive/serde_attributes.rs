//! Tests of serde attributes: the schema agrees with the values that serde writes and reads.
#![allow(dead_code, reason = "some fields are only read by serde")]
#![allow(clippy::expect_used, reason = "tests fail by panicking")]
#![allow(
    clippy::trivially_copy_pass_by_ref,
    reason = "serde prescribes the signature"
)]

use crate::support::{admits_input, admits_output, agrees};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use tool_core::StrictSchema;
use tool_core::schema::dialect::{Dialect, schema_text};
use tool_core::schema::{Kind, Schema};

fn keys(schema: &Schema) -> Vec<(&'static str, &'static str)> {
    match schema.kind {
        Kind::Object(fields) => fields
            .iter()
            .map(|field| (field.name, field.out_name))
            .collect(),
        _ => Vec::new(),
    }
}

macro_rules! conventions {
    ($($record:ident $choice:ident $case:literal;)*) => {$(
        #[derive(Serialize, Deserialize, StrictSchema)]
        #[serde(rename_all = $case, deny_unknown_fields)]
        struct $record {
            /// The argument `word` of the tool.
            word: u16,
            /// An argument of several words.
            some_more_words: u16,
            /// An argument with a digit in its name.
            version_2_b: u16,
            /// The argument `renamed` of the tool.
            #[serde(rename = "own_name")]
            renamed: u16,
            /// An argument with a raw identifier.
            r#type: u16,
        }

        #[derive(Serialize, Deserialize, StrictSchema)]
        #[serde(rename_all = $case)]
        enum $choice {
            Word,
            SomeMoreWords,
            HTTPVersion2,
            #[serde(rename = "own name")]
            Renamed,
        }
    )*

    // S0-07: each naming convention gives the same keys and enum values as in serde.
    #[test]
    fn naming_conventions_match_serde() {
        $(
            let record = $record { word: 1, some_more_words: 2, version_2_b: 3, renamed: 4, r#type: 5 };
            let sent = serde_json::to_value(&record).expect("the value can be serialised");
            let named: Vec<&str> = keys($record::SCHEMA).iter().map(|(name, _)| *name).collect();
            for key in &named {
                assert!(sent.get(key).is_some(), "{}: {key} is not in {sent}", $case);
            }
            agrees::<$record>(&[record], &[sent], &[json!({ "word": 1 })]);

            let choices = [$choice::Word, $choice::SomeMoreWords, $choice::HTTPVersion2, $choice::Renamed];
            let sent: Vec<Value> = choices.iter().map(|choice| serde_json::to_value(choice).expect("the value can be serialised")).collect();
            agrees::<$choice>(&choices, &sent, &[json!("Nothing")]);
        )*
    }
    };
}

conventions! {
    LowerRecord LowerChoice "lowercase";
    PascalRecord PascalChoice "PascalCase";
    CamelRecord CamelChoice "camelCase";
    SnakeRecord SnakeChoice "snake_case";
    UpperRecord UpperChoice "UPPERCASE";
    ScreamingRecord ScreamingChoice "SCREAMING_SNAKE_CASE";
}

// The two conventions with hyphens are allowed only for enums, because not every provider accepts property keys with hyphens.
#[derive(Serialize, Deserialize, StrictSchema)]
#[serde(rename_all = "kebab-case")]
enum Kebab {
    SomeMoreWords,
}

#[derive(Serialize, Deserialize, StrictSchema)]
#[serde(rename_all = "SCREAMING-KEBAB-CASE")]
enum ScreamingKebab {
    SomeMoreWords,
}

// S0-07: conventions with hyphens are applied to the values of enums.
#[test]
fn hyphenated_conventions_name_enum_values() {
    agrees(
        &[Kebab::SomeMoreWords],
        &[json!("some-more-words")],
        &[json!("SomeMoreWords")],
    );
    agrees(
        &[ScreamingKebab::SomeMoreWords],
        &[json!("SOME-MORE-WORDS")],
        &[json!("some-more-words")],
    );
}

#[derive(Serialize, Deserialize, StrictSchema)]
#[serde(rename_all(serialize = "camelCase", deserialize = "snake_case"))]
struct Split {
    /// A field that the convention renames.
    first_word: u16,
    /// A field with a separate name for each direction.
    #[serde(rename(serialize = "outside", deserialize = "inside"))]
    named: u16,
    /// A field that is renamed in one direction.
    #[serde(rename(serialize = "gone"))]
    half: u16,
}

// S0-07: a name may differ between reading and writing.
#[test]
fn names_may_differ_by_direction() {
    assert_eq!(
        keys(Split::SCHEMA),
        [
            ("first_word", "firstWord"),
            ("inside", "outside"),
            ("half", "gone")
        ]
    );
    agrees(
        &[Split {
            first_word: 1,
            named: 2,
            half: 3,
        }],
        &[json!({ "first_word": 1, "inside": 2, "half": 3 })],
        &[json!({ "firstWord": 1, "outside": 2, "gone": 3 })],
    );
}

#[derive(Serialize, Deserialize, StrictSchema)]
struct Ways {
    /// The field `both` of `Ways`.
    both: u16,
    /// A field that is only read.
    #[serde(skip_serializing)]
    read: u16,
    /// A field that is only written.
    #[serde(skip_deserializing)]
    sent: u16,
    #[serde(skip)]
    never: Option<std::cell::Cell<u8>>,
    /// A field that is not written when it is empty.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    list: Vec<u16>,
}

// S0-07: fields are skipped in the direction that the attribute names.
#[test]
fn skipped_fields_are_skipped_in_their_direction() {
    let ways = |list| Ways {
        both: 1,
        read: 2,
        sent: 3,
        never: None,
        list,
    };
    agrees(
        &[ways(Vec::new()), ways(vec![1])],
        &[json!({ "both": 1, "read": 2, "list": [] })],
        &[json!({ "both": 1, "sent": 3, "list": [] })],
    );
    assert!(!admits_input::<Ways>(
        &json!({ "both": 1, "read": 2, "sent": 3, "list": [] })
    ));
    assert!(!admits_output::<Ways>(
        &json!({ "both": 1, "read": 2, "sent": 3 })
    ));
    assert!(!admits_output::<Ways>(
        &json!({ "both": 1, "sent": 3, "never": null })
    ));
}

#[derive(Serialize, Deserialize, StrictSchema)]
struct Optional {
    /// The field `plain` of `Optional`.
    plain: Option<u16>,
    /// An `Option` with an explicit default.
    #[serde(default)]
    by_default: Option<u16>,
    /// A field with an alias of `Option`. Traits decide whether a type is optional, not its spelling.
    maybe: Maybe,
}

type Maybe = Option<u16>;

// S1-28: an `Option` may be absent or null.
#[test]
fn optional_means_absent_or_null() {
    agrees(
        &[Optional {
            plain: None,
            by_default: Some(1),
            maybe: None,
        }],
        &[json!({}), json!({ "plain": 1, "maybe": 2 })],
        &[json!({ "plain": "x" })],
    );
    let openai: Value = serde_json::from_str(&schema_text(Optional::SCHEMA, Dialect::OpenAi))
        .expect("the schema is JSON");
    assert_eq!(openai["required"], json!(["plain", "by_default", "maybe"]));
}

#[derive(Serialize, Deserialize, StrictSchema)]
struct Defaults {
    /// A limit whose default both serde and the schema state.
    #[serde(default = "ten")]
    #[schema(default = 10)]
    limit: u16,
    /// The default of a nested record.
    #[serde(default)]
    #[schema(default = { "plain": null, "by_default": 1 })]
    nested: Option<Optional>,
}

fn ten() -> u16 {
    10
}

// S0-06: the schema has the explicit default of a field, and the field is not required.
#[test]
fn default_is_in_the_schema_and_its_field_is_not_required() {
    let schema: Value = serde_json::from_str(&schema_text(Defaults::SCHEMA, Dialect::JsonSchema))
        .expect("the schema is JSON");
    assert_eq!(schema["properties"]["limit"]["default"], json!(10));
    assert!(
        !schema["required"]
            .as_array()
            .is_some_and(|keys| keys.contains(&json!("limit")))
    );
    agrees(
        &[Defaults {
            limit: 1,
            nested: None,
        }],
        &[json!({}), json!({ "limit": 3 })],
        &[json!({ "limit": "3" })],
    );
}

#[derive(Serialize, Deserialize, StrictSchema)]
struct Inner {
    /// X.
    x: u16,
}

#[derive(Serialize, Deserialize, StrictSchema)]
#[serde(rename_all = "camelCase")]
struct Flat {
    /// A key of the outer record.
    own_key: u16,
    #[serde(flatten)]
    inner: Inner,
}

// S0-07: flattened fields appear next to the others.
#[test]
fn flattened_fields_appear_next_to_the_others() {
    agrees(
        &[Flat {
            own_key: 1,
            inner: Inner { x: 2 },
        }],
        &[json!({ "ownKey": 1, "x": 2 })],
        &[json!({ "ownKey": 1, "inner": { "x": 2 } })],
    );
}

#[derive(Serialize, Deserialize, StrictSchema)]
#[serde(
    tag = "kind",
    rename_all = "snake_case",
    rename_all_fields = "camelCase"
)]
enum Internal {
    Unit,
    NewType(Inner),
    Record {
        /// A field with a camel-case key.
        big_y: u16,
    },
    #[serde(rename = "own", rename_all = "UPPERCASE")]
    Renamed {
        /// The field `z` of `Renamed`.
        z: u16,
    },
    #[serde(skip)]
    Never(std::cell::Cell<u8>),
}

#[derive(Serialize, Deserialize, StrictSchema)]
#[serde(tag = "t", content = "c")]
enum Adjacent {
    Unit,
    NewType(u16),
    Record {
        /// The field `y` of `Record`.
        y: u16,
    },
}

#[derive(Serialize, Deserialize, StrictSchema)]
#[schema(allow(external-tag))]
enum External {
    Unit,
    NewType(u16),
    Record {
        /// The field `y` of `Record`.
        y: u16,
    },
}

#[derive(Serialize, Deserialize, StrictSchema)]
#[serde(untagged)]
#[schema(allow(untagged))]
enum Untagged {
    Number(u16),
    Text(String),
    NewType(Inner),
    Record {
        /// The field `y` of `Record`.
        y: u16,
    },
}

// S0-07: the tag of an enum has the same position in the schema as in serde.
#[test]
fn tags_are_where_serde_puts_them() {
    agrees(
        &[
            Internal::Unit,
            Internal::NewType(Inner { x: 1 }),
            Internal::Record { big_y: 1 },
            Internal::Renamed { z: 1 },
        ],
        &[
            json!({ "kind": "unit" }),
            json!({ "kind": "new_type", "x": 1 }),
            json!({ "kind": "record", "bigY": 1 }),
            json!({ "kind": "own", "Z": 1 }),
        ],
        &[
            json!({ "kind": "Never" }),
            json!({ "kind": "record" }),
            json!("unit"),
            json!({ "x": 1 }),
        ],
    );
    agrees(
        &[
            Adjacent::Unit,
            Adjacent::NewType(1),
            Adjacent::Record { y: 1 },
        ],
        &[
            json!({ "t": "Unit" }),
            json!({ "t": "NewType", "c": 1 }),
            json!({ "t": "Record", "c": { "y": 1 } }),
        ],
        &[json!({ "t": "NewType" }), json!({ "NewType": 1 })],
    );
    agrees(
        &[
            External::Unit,
            External::NewType(1),
            External::Record { y: 1 },
        ],
        &[
            json!("Unit"),
            json!({ "NewType": 1 }),
            json!({ "Record": { "y": 1 } }),
        ],
        &[json!("NewType"), json!({ "Record": 1 })],
    );
    agrees(
        &[
            Untagged::Number(1),
            Untagged::Text("x".to_owned()),
            Untagged::NewType(Inner { x: 1 }),
            Untagged::Record { y: 1 },
        ],
        &[json!(1), json!("x"), json!({ "x": 1 }), json!({ "y": 1 })],
        &[json!(true), json!({ "z": 1 })],
    );
}

#[derive(Serialize, Deserialize, StrictSchema)]
struct NewType(Inner);

#[derive(Serialize, Deserialize, StrictSchema)]
#[serde(transparent)]
struct Transparent {
    inner: Vec<u16>,
    #[serde(skip)]
    seen: usize,
}

// S0-07: newtypes and transparent structs have the schema of their field.
#[test]
fn wrappers_have_the_schema_of_their_field() {
    agrees(
        &[NewType(Inner { x: 1 })],
        &[json!({ "x": 1 })],
        &[json!([{ "x": 1 }]), json!(1)],
    );
    agrees(
        &[Transparent {
            inner: vec![1],
            seen: 0,
        }],
        &[json!([1, 2])],
        &[json!({ "inner": [] })],
    );
}

/// A number that serde writes and reads as text.
#[derive(Clone, Serialize, Deserialize, StrictSchema)]
#[serde(try_from = "String", into = "String")]
#[schema(as = String, pattern = "^[0-9]+$")]
struct Ticks(u64);

impl TryFrom<String> for Ticks {
    type Error = std::num::ParseIntError;
    fn try_from(text: String) -> Result<Self, Self::Error> {
        text.parse().map(Self)
    }
}

impl From<Ticks> for String {
    fn from(ticks: Ticks) -> Self {
        ticks.0.to_string()
    }
}

/// An enum that serde writes and reads as a whole number.
#[derive(Clone, Copy, Serialize, Deserialize, StrictSchema)]
#[serde(try_from = "u8", into = "u8")]
#[schema(integer)]
#[repr(u8)]
enum Level {
    Low = 1,
    High = 9,
}

impl TryFrom<u8> for Level {
    type Error = String;
    fn try_from(value: u8) -> Result<Self, String> {
        match value {
            1 => Ok(Self::Low),
            9 => Ok(Self::High),
            other => Err(format!("no level {other}")),
        }
    }
}

impl From<Level> for u8 {
    fn from(level: Level) -> Self {
        level as Self
    }
}

mod doubled {
    use serde::{Deserialize, Deserializer, Serialize, Serializer};

    pub(super) fn serialize<S: Serializer>(value: &u16, serializer: S) -> Result<S::Ok, S::Error> {
        (value * 2).to_string().serialize(serializer)
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<u16, D::Error> {
        String::deserialize(deserializer)?
            .parse::<u16>()
            .map(|value| value / 2)
            .map_err(serde::de::Error::custom)
    }
}

#[derive(Serialize, Deserialize, StrictSchema)]
struct With {
    /// A doubled number, written as text.
    #[serde(with = "doubled")]
    #[schema(as = String, pattern = "^[0-9]+$")]
    value: u16,
}

// S0-07: a type with a custom wire format declares the schema of that format.
#[test]
fn custom_wire_format_states_its_schema() {
    agrees(&[Ticks(12)], &[json!("12")], &[json!("x"), json!(12)]);
    agrees(
        &[Level::Low, Level::High],
        &[json!(1), json!(9)],
        &[json!(2), json!("Low")],
    );
    agrees(
        &[With { value: 4 }],
        &[json!({ "value": "8" })],
        &[json!({ "value": 8 })],
    );
}

#[derive(Serialize, Deserialize, StrictSchema)]
#[schema(allow(variant-alias, variant-other))]
#[serde(expecting = "a colour")]
enum Colour {
    #[serde(alias = "rouge")]
    Red,
    #[serde(other)]
    Another,
}

// S0-07: an alias is read, but the schema does not offer it.
#[test]
fn an_alias_is_read_and_not_offered() {
    assert!(serde_json::from_value::<Colour>(json!("rouge")).is_ok());
    assert!(!admits_input::<Colour>(&json!("rouge")));
    agrees(
        &[Colour::Red, Colour::Another],
        &[json!("Red"), json!("Another")],
        &[],
    );
}

#[derive(Serialize, Deserialize, StrictSchema)]
#[schema(json_schema)]
struct Node {
    /// The label of the node.
    label: String,
    /// The children of the node.
    kids: Vec<Node>,
}

// S0-07: a recursive type is read at every depth.
#[test]
fn recursion_reads_at_every_depth() {
    let deep =
        json!({ "label": "a", "kids": [{ "label": "b", "kids": [{ "label": "c", "kids": [] }] }] });
    let node: Node = serde_json::from_value(deep.clone()).expect("serde reads the value");
    agrees(
        &[node],
        &[deep],
        &[json!({ "label": "a", "kids": [{ "label": "b" }] })],
    );
}

/// A record with schemas of both libraries.
#[derive(Serialize, Deserialize, StrictSchema)]
#[schema(json_schema)]
struct Both<T> {
    /// The items of the record.
    items: Vec<T>,
    /// The level of the record.
    level: Option<Level>,
}

#[derive(schemars::JsonSchema)]
struct Outside {
    both: Both<u16>,
    node: Node,
}

// S0-07: with `#[schema(json_schema)]`, the schema inside a `schemars` type accepts the values that serde reads.
#[test]
fn schema_inside_a_schemars_type_accepts_the_same_values() {
    let schema = schemars::schema_for!(Outside).to_value();
    let validator = jsonschema::validator_for(&schema).expect("the schema is valid");
    let value = |level: Value| json!({ "both": { "items": [1], "level": level }, "node": { "label": "a", "kids": [] } });
    assert!(validator.is_valid(&value(json!(9))), "{schema:#}");
    assert!(!validator.is_valid(&value(json!(2))), "{schema:#}");
    assert!(
        !validator
            .is_valid(&json!({ "both": { "items": ["x"] }, "node": { "label": "a", "kids": [] } }))
    );
}
