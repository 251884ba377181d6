//! Tests of the schemas of many types: in every dialect they are valid JSON Schema and pass an independent linter, and the general JSON Schema has
//! the same meaning as the schema of `schemars`.
#![allow(
    clippy::expect_used,
    clippy::panic,
    dead_code,
    reason = "a test fails by panicking; only the schemas of the types are used"
)]

use std::collections::{BTreeSet, HashMap, VecDeque};
use std::net::{Ipv4Addr, Ipv6Addr};
use std::num::{NonZeroI32, NonZeroU32};
use std::path::PathBuf;

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::Value;
use tool_core::StrictSchema;
use tool_core::schema::Schema;
use tool_core::schema::dialect::{Dialect, schema_text};
use tool_core::schema::dynamic::{Target, judge, read_text};
use tool_tests::{lint::lint, spelling::canonical};

/// A type with its schema and the schema of `schemars`.
struct Case {
    name: &'static str,
    schema: &'static Schema,
    /// A function that returns the schema of `schemars`, or `None` if the test does not compare the two schemas.
    twin: Option<fn() -> schemars::Schema>,
}

/// Declares, for each line, a struct with one field, and a function that returns these structs as cases.
macro_rules! one_field {
    ($($name:ident: $type:ty;)+) => {
        $(
            #[derive(Deserialize, StrictSchema, JsonSchema)]
            struct $name {
                /// The only field of the record.
                field: $type,
            }
        )+
        fn one_field() -> Vec<Case> {
            vec![$(case::<$name>(stringify!($name))),+]
        }
    };
}

fn case<T: StrictSchema + JsonSchema>(name: &'static str) -> Case {
    let twin: fn() -> schemars::Schema = || {
        schemars::generate::SchemaSettings::draft2020_12()
            .into_generator()
            .into_root_schema_for::<T>()
    };
    Case {
        name,
        schema: T::SCHEMA,
        twin: Some(twin),
    }
}

fn ours<T: StrictSchema>(name: &'static str) -> Case {
    Case {
        name,
        schema: T::SCHEMA,
        twin: None,
    }
}

one_field! {
    FString: String;
    FBool: bool;
    FChar: char;
    FI8: i8;
    FI16: i16;
    FI32: i32;
    FI64: i64;
    FU8: u8;
    FU16: u16;
    FU32: u32;
    FU64: u64;
    FUsize: usize;
    FF32: f32;
    FF64: f64;
    FNonzerou32: NonZeroU32;
    FNonzeroi32: NonZeroI32;
    FPathbuf: PathBuf;
    FIpv4Addr: Ipv4Addr;
    FIpv6Addr: Ipv6Addr;
    FBoxStr: Box<str>;
    OptString: Option<String>;
    OptInt: Option<i64>;
    OptUnit: Option<Unit>;
    OptRecord: Option<Point>;
    OptBox: Option<Box<Point>>;
    List: Vec<String>;
    Lists: Vec<Vec<i32>>;
    Deque: VecDeque<bool>;
    Records: Vec<Point>;
    Fixed: [f64; 3];
    Set: BTreeSet<String>;
    OptSet: Option<BTreeSet<u32>>;
    Boxed: Box<Point>;
    EnumList: Vec<Unit>;
    DocEnum: Documented;
    PartlyDocEnum: PartlyDocumented;
    OptDocEnum: Option<Documented>;
    InternalField: Internal;
    OptInternal: Option<Internal>;
    InternalList: Vec<Internal>;
    AdjacentField: Adjacent;
    ExternalField: External;
    UntaggedField: Untagged;
    NewtypeField: Newtype;
    Instant: chrono::DateTime<chrono::Utc>;
    Day: chrono::NaiveDate;
    Id: uuid::Uuid;
    OptId: Option<uuid::Uuid>;
    GenericField: Page<Point>;
    Compact: smol_str::SmolStr;
}

/// A point in the plane.
#[derive(Deserialize, StrictSchema, JsonSchema)]
struct Point {
    /// The distance to the right.
    x: f64,
    /// The distance upwards.
    y: Option<f64>,
}

#[derive(Deserialize, StrictSchema, JsonSchema)]
#[serde(rename_all = "snake_case")]
enum Unit {
    FirstOne,
    SecondOne,
}

/// The speed of the search.
#[derive(Deserialize, StrictSchema, JsonSchema)]
enum Documented {
    /// A fast search.
    Fast,
    /// A slow and thorough search.
    Slow,
}

#[derive(Deserialize, StrictSchema, JsonSchema)]
enum PartlyDocumented {
    /// The first letter.
    A,
    B,
    C,
}

#[derive(Deserialize, StrictSchema, JsonSchema)]
#[serde(tag = "kind", rename_all = "snake_case")]
enum Internal {
    /// The variant `Nothing` of `Internal`.
    Nothing,
    /// A value with a name.
    Named {
        /// The field `name` of `Named`.
        name: String,
    },
    /// A value with a point.
    At(Point),
}

#[derive(Deserialize, StrictSchema, JsonSchema)]
#[serde(tag = "t", content = "c")]
enum Adjacent {
    /// The variant `Nothing` of `Adjacent`.
    Nothing,
    /// The variant `Number` of `Adjacent`.
    Number(i32),
    /// A value with a name.
    Named {
        /// The field `name` of `Named`.
        name: String,
    },
}

#[derive(Deserialize, StrictSchema, JsonSchema)]
#[schema(allow(external-tag))]
enum External {
    /// The variant `Nothing` of `External`.
    Nothing,
    /// The variant `Number` of `External`.
    Number(i32),
    /// A value with a name.
    Named {
        /// The field `name` of `Named`.
        name: String,
    },
}

#[derive(Deserialize, StrictSchema, JsonSchema)]
#[serde(untagged)]
#[schema(allow(untagged))]
enum Untagged {
    /// A text value.
    Text(String),
    /// The variant `List` of `Untagged`.
    List(Vec<i32>),
    /// A point as the value.
    At(Point),
}

#[derive(Deserialize, StrictSchema, JsonSchema)]
#[serde(transparent)]
struct Newtype(String);

#[derive(Deserialize, StrictSchema, JsonSchema)]
struct Page<T> {
    /// The field `items` of `Page`.
    items: Vec<T>,
    /// The start of the next page.
    next: Option<String>,
}

/// A struct without fields.
#[derive(Deserialize, StrictSchema, JsonSchema)]
struct Empty {}

#[derive(Deserialize, StrictSchema, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct Renamed {
    /// The field `first_name` of `Renamed`.
    first_name: String,
    /// The last name.
    #[serde(rename = "other")]
    last_name: String,
    /// A field that is never read.
    #[serde(skip)]
    skipped: u8,
}

#[derive(Deserialize, StrictSchema, JsonSchema)]
struct Flat {
    /// The field `name` of `Flat`.
    name: String,
    /// The field `at` of `Flat`.
    #[serde(flatten)]
    at: Point,
}

// This type is not compared with `schemars`, because bounds and defaults are not part of the `schemars` schema.
#[derive(Deserialize, StrictSchema)]
struct Bounded {
    /// The field `count` of `Bounded`.
    #[schema(range = 1..=50)]
    count: u32,
    /// The field `share` of `Bounded`.
    #[schema(range = 0.0..=1.0)]
    share: Option<f64>,
    /// The field `code` of `Bounded`.
    #[schema(pattern = "^[a-z]{1,8}$")]
    code: String,
    /// A list of names.
    #[schema(min_items = 2, max_items = 5)]
    names: Vec<String>,
    /// The field `title` of `Bounded`.
    #[schema(length = 1..=80)]
    title: String,
    /// The field `limit` of `Bounded`.
    #[serde(default = "ten")]
    #[schema(default = 10)]
    limit: u32,
    /// The field `mail` of `Bounded`.
    #[schema(format = "email")]
    mail: Option<String>,
    /// The field `wait` of `Bounded`.
    wait: std::time::Duration,
    /// The name of the host.
    host: std::net::IpAddr,
    /// The field `price` of `Bounded`.
    price: rust_decimal::Decimal,
    /// The version to use.
    version: semver::Version,
}

fn ten() -> u32 {
    10
}

/// A record with a map, which only some dialects can express.
#[derive(Deserialize, StrictSchema, JsonSchema)]
struct Labels {
    /// The labels by their keys.
    labels: HashMap<String, String>,
}

/// A recursive type.
#[derive(Deserialize, StrictSchema, JsonSchema)]
struct Tree {
    /// The field `name` of `Tree`.
    name: String,
    /// The field `children` of `Tree`.
    children: Vec<Tree>,
}

fn cases() -> Vec<Case> {
    let mut cases = one_field();
    cases.extend([
        case::<Point>("Point"),
        case::<Empty>("Empty"),
        case::<Renamed>("Renamed"),
        case::<Flat>("Flat"),
        case::<Page<Unit>>("Page<Unit>"),
        ours::<Bounded>("Bounded"),
    ]);
    cases
}

fn text(case: &Case, dialect: Dialect) -> Value {
    serde_json::from_str(&schema_text(case.schema, dialect))
        .unwrap_or_else(|error| panic!("{} in {dialect:?}: {error}", case.name))
}

// M2, S1-27, S1-28, S1-29: the linter and `judge` report no fault of these types in any dialect.
#[test]
fn every_dialect_passes_the_linter() {
    let cases = cases();
    assert!(cases.len() >= 40, "only {} types", cases.len());
    let mut found = Vec::new();
    for case in &cases {
        for dialect in Dialect::ALL {
            let schema = text(case, dialect);
            found.extend(
                lint(dialect.name(), &schema)
                    .into_iter()
                    .map(|fault| format!("{}: {fault}", case.name)),
            );
            let verdicts = judge(&schema);
            found.extend(
                verdicts
                    .against(Target::from(dialect))
                    .map(|fault| format!("{} {}: {fault}", case.name, dialect.name())),
            );
        }
    }
    assert!(found.is_empty(), "{}", found.join("\n"));
}

// M2: the text in every dialect is valid JSON Schema.
#[test]
fn every_dialect_is_json_schema() {
    for case in cases() {
        for dialect in Dialect::ALL {
            let schema = text(&case, dialect);
            assert!(
                jsonschema::draft202012::meta::is_valid(&schema),
                "{} in {dialect:?}: {schema}",
                case.name
            );
        }
    }
}

// M2: the schema of `schemars` has the same meaning, but may have a different spelling.
#[test]
fn schemars_schema_has_the_same_meaning() {
    let mut compared = 0;
    let mut found = Vec::new();
    for case in cases() {
        let Some(twin) = case.twin else { continue };
        let (ours, theirs) = (
            canonical(&text(&case, Dialect::JsonSchema)),
            canonical(twin().as_value()),
        );
        if ours != theirs {
            found.push(format!("{}\n  ours   {ours}\n  theirs {theirs}", case.name));
        }
        compared += 1;
    }
    assert!(compared >= 40, "only {compared} types were compared");
    assert!(found.is_empty(), "{}", found.join("\n"));
}

// M2, S1-29: the linter refuses a map for OpenAI and Anthropic, and recursion for Anthropic; it accepts both in general JSON Schema.
#[test]
fn maps_and_recursion_are_refused_per_provider() {
    let clean =
        |case: &Case, dialect: Dialect| lint(dialect.name(), &text(case, dialect)).is_empty();
    let labels = case::<Labels>("Labels");
    assert!(!clean(&labels, Dialect::OpenAi) && !clean(&labels, Dialect::Anthropic));
    assert!(clean(&labels, Dialect::Mcp) && clean(&labels, Dialect::JsonSchema));
    let tree = case::<Tree>("Tree");
    assert!(clean(&tree, Dialect::OpenAi) && clean(&tree, Dialect::JsonSchema));
    assert!(!clean(&tree, Dialect::Anthropic));
}

// M2: a generated schema can be read back without a change of its meaning, so an MCP client imports the same tool.
#[test]
fn written_schemas_can_be_read_back() {
    let mut found = Vec::new();
    for case in cases() {
        let written = schema_text(case.schema, Dialect::JsonSchema);
        let back = match read_text(&written) {
            Ok(back) => back,
            Err(faults) => {
                found.push(format!("{}: {faults:?}", case.name));
                continue;
            }
        };
        let again: Value =
            serde_json::from_str(&back.text(Dialect::JsonSchema)).expect("the schema is JSON");
        let (first, second) = (
            canonical(&text(&case, Dialect::JsonSchema)),
            canonical(&again),
        );
        if first != second {
            found.push(format!(
                "{}\n  first  {first}\n  second {second}",
                case.name
            ));
        }
    }
    assert!(found.is_empty(), "{}", found.join("\n"));
}
