//! User-defined readers with `deserialize_with`, `with`, `as` and `try_from`. They receive null for an absent optional
//! key, and the error for a value that they refuse contains the pointer of the value.

#![allow(
    clippy::expect_used,
    clippy::panic,
    reason = "a test fails by panicking"
)]

use tool_core::prelude::*;

/// A reader for hexadecimal numbers that are written as text.
mod hex {
    use serde::de::{Deserialize, Deserializer, Error};

    pub(crate) fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<Option<u32>, D::Error> {
        let text = Option::<String>::deserialize(from)?;
        text.map(|text| u32::from_str_radix(&text, 16))
            .transpose()
            .map_err(Error::custom)
    }
}

/// A type that accepts null, but is not an `Option`.
#[derive(Debug, PartialEq)]
struct Colour(u32);

impl<'de> Deserialize<'de> for Colour {
    fn deserialize<D: serde::Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        hex::deserialize(from).map(|colour| Self(colour.unwrap_or(7)))
    }
}

/// An optional note with at least one character.
#[derive(Debug, Deserialize, StrictSchema)]
struct Note(#[schema(length = 1..)] Option<String>);

/// Readers in the fields of a record.
#[derive(Debug, Deserialize, StrictSchema)]
struct Paint {
    /// A number that serde reads by `with`.
    #[serde(with = "hex")]
    #[schema(as = Option<String>)]
    first: Option<u32>,
    /// A number that serde reads by `deserialize_with`.
    #[serde(deserialize_with = "hex::deserialize")]
    #[schema(as = Option<String>, pattern = "^[0-9a-z]+$")]
    second: Option<u32>,
    /// A colour, whose type is not an `Option`.
    #[schema(as = Option<String>)]
    third: Colour,
    /// A number with serde's default.
    #[serde(with = "hex", default)]
    #[schema(as = Option<String>)]
    fourth: Option<u32>,
    /// A number with a stated default.
    #[serde(with = "hex")]
    #[schema(as = Option<String>, default = "ff")]
    fifth: Option<u32>,
    /// A field whose type is a newtype.
    note: Note,
    /// A newtype with bounds around it.
    #[schema(length = ..=9)]
    short: Note,
}

impl Paint {
    fn line(&self) -> String {
        let Self {
            first,
            second,
            third,
            fourth,
            fifth,
            note,
            short,
        } = self;
        format!(
            "{first:?} {second:?} {} {fourth:?} {fifth:?} {:?} {:?}",
            third.0, note.0, short.0
        )
    }
}

/// Readers in a record whose absent fields get serde's defaults.
#[derive(Debug, Default, Deserialize, StrictSchema)]
#[serde(default)]
struct Filled {
    /// A number that serde reads by `with`.
    #[serde(with = "hex")]
    #[schema(as = Option<String>)]
    filled: Option<u32>,
}

/// Readers in the variants of an enum.
#[derive(Debug, Deserialize, StrictSchema)]
#[serde(tag = "kind")]
enum Coat {
    Plain {
        /// A colour that serde reads by `with`.
        #[serde(with = "hex")]
        #[schema(as = Option<String>)]
        tint: Option<u32>,
    },
    Thick(Paint),
}

/// Readers in the variants of an externally tagged enum.
#[derive(Debug, Deserialize, StrictSchema)]
#[schema(allow(external-tag))]
enum Layer {
    Plain {
        /// A colour that serde reads by `with`.
        #[serde(with = "hex")]
        #[schema(as = Option<String>)]
        tint: Option<u32>,
    },
}

/// Readers in records that are flattened into another record.
#[derive(Debug, Deserialize, StrictSchema)]
struct Flat {
    #[serde(flatten)]
    paint: Paint,
    #[serde(flatten)]
    filled: Filled,
    /// The field `coats` of `Flat`.
    coats: Vec<Coat>,
    /// The flattened layer.
    layer: Layer,
}

const NONE: &str = "None None 7 None Some(255) None None";

/// Paints with a record as its only parameter.
#[tool]
fn paint_all(#[args] paint: Paint) -> String {
    paint.line()
}

/// Paints with two records as parameters.
#[tool]
fn paint_inner(
    /// The argument `paint` of the tool.
    paint: Paint,
    /// The argument `filled` of the tool.
    filled: Filled,
) -> String {
    format!("{} {:?}", paint.line(), filled.filled)
}

/// Paints with records that are flattened into another record.
#[tool(allow(limit-optional))]
fn paint_flat(#[args] flat: Flat) -> String {
    let coats = flat.coats.iter().map(|coat| match coat {
        Coat::Plain { tint } => format!("{tint:?}"),
        Coat::Thick(paint) => paint.line(),
    });
    let coats: Vec<String> = coats.collect();
    let Layer::Plain { tint } = flat.layer;
    format!(
        "{} {:?} {} {tint:?}",
        flat.paint.line(),
        flat.filled.filled,
        coats.join(" ")
    )
}

/// Paints with parameters that custom deserializers read.
#[tool]
fn paint_arguments(
    /// An argument whose type is not an `Option`.
    #[arg(as = Option<String>)]
    colour: Colour,
    /// An argument with a default.
    #[arg(as = Option<String>, default = "ff")]
    other: Colour,
    /// An argument that is a newtype.
    note: Note,
) -> String {
    format!("{} {} {:?}", colour.0, other.0, note.0)
}

async fn answer(name: &str, arguments: &str) -> String {
    // The test uses a registry, because the tools together have more optional parameters than `toolset!` allows.
    let registry = Registry::builder()
        .tool::<paint_all>()
        .tool::<paint_inner>()
        .tool::<paint_flat>()
        .tool::<paint_arguments>()
        .build()
        .expect("the registry is valid");
    let tools = registry.open().repair(Repair::Off);
    let call = ToolCall::new("1", name, arguments);
    tools
        .call(call, &ToolContext::anonymous())
        .await
        .model_text()
}

// A custom deserializer receives null for an absent key. Earlier, the schema allowed the key to be absent, but serde refused `{}` without a
// pointer.
#[tokio::test]
async fn absent_key_reaches_a_custom_deserializer_as_null() {
    assert_eq!(answer("paint_all", "{}").await, NONE);
    let nulls = r#"{"first":null,"second":null,"third":null,"fourth":null,"fifth":null,"note":null,"short":null}"#;
    assert_eq!(answer("paint_all", nulls).await, NONE);
    let values =
        r#"{"short":"b","second":"b","first":"a","third":"c","fourth":"d","fifth":"e","note":"a"}"#;
    assert_eq!(
        answer("paint_all", values).await,
        r#"Some(10) Some(11) 12 Some(13) Some(14) Some("a") Some("b")"#
    );
    assert_eq!(
        answer("paint_inner", r#"{"paint":{},"filled":{}}"#).await,
        format!("{NONE} None")
    );
    assert_eq!(answer("paint_arguments", "{}").await, "7 255 None");
    assert_eq!(
        answer(
            "paint_arguments",
            r#"{"colour":"a","other":null,"note":"x"}"#
        )
        .await,
        r#"10 255 Some("x")"#
    );
}

// A custom deserializer receives null for an absent key in variants and flattened records too.
#[tokio::test]
async fn absent_key_is_null_in_variants_and_flattened_records() {
    let coats = r#"{"coats":[{"kind":"Plain"},{"kind":"Plain","tint":"a"},{"kind":"Thick"}],"layer":{"Plain":{}}}"#;
    assert_eq!(
        answer("paint_flat", coats).await,
        format!("{NONE} None None Some(10) {NONE} None")
    );
}

/// An even number.
#[derive(Debug, Deserialize, StrictSchema)]
#[serde(try_from = "u32")]
#[schema(as = u32)]
struct Even(u32);

impl TryFrom<u32> for Even {
    type Error = String;
    fn try_from(number: u32) -> Result<Self, String> {
        if number.is_multiple_of(2) {
            Ok(Self(number))
        } else {
            Err(format!("{number} is odd"))
        }
    }
}

#[derive(Debug, Deserialize, StrictSchema)]
struct Basket {
    /// The counts of the items.
    #[serde(rename = "of_each")]
    counts: Vec<Even>,
    /// The field `tint` of `Basket`.
    tint: Option<Tint>,
}

#[derive(Debug, Deserialize, StrictSchema)]
#[schema(allow(external-tag))]
enum Tint {
    Mixed {
        /// The field `part` of `Mixed`.
        part: Even,
    },
    Pure(Even),
}

/// Adds the numbers in all baskets to a single number.
#[tool]
fn baskets(
    /// The baskets whose numbers are added.
    all: Vec<Basket>,
    /// A single number.
    one: Even,
) -> u32 {
    let tint = |basket: &Basket| match &basket.tint {
        Some(Tint::Mixed { part } | Tint::Pure(part)) => part.0,
        None => 0,
    };
    let counts = |basket: &Basket| basket.counts.iter().map(|count| count.0).sum::<u32>();
    one.0
        + all
            .iter()
            .map(|basket| tint(basket) + counts(basket))
            .sum::<u32>()
}

// The error of a custom deserializer has the pointer of the value. Earlier, the model received serde's text without the pointer.
#[tokio::test]
async fn deserializer_error_is_reported_with_its_pointer() {
    let tools = toolset![baskets];
    for (arguments, pointer, found) in [
        (r#"{"all":[],"one":3}"#, "/one", "3"),
        (
            r#"{"one":2,"all":[{"of_each":[2]},{"of_each":[2,4,5]}]}"#,
            "/all/1/of_each/2",
            "5",
        ),
        (
            r#"{"one":2,"all":[{"of_each":[],"tint":{"Mixed":{"part":7}}}]}"#,
            "/all/0/tint/Mixed/part",
            "7",
        ),
        (
            r#"{"one":2,"all":[{"of_each":[],"tint":{"Pure":9}}]}"#,
            "/all/0/tint/Pure",
            "9",
        ),
    ] {
        let call = ToolCall::new("1", "baskets", arguments);
        let result = tools.call(call, &ToolContext::anonymous()).await;
        let error = result.error().expect("the value is refused");
        let [issue] = error.issues() else {
            panic!("{error:?}");
        };
        assert_eq!(issue.pointer, pointer);
        assert_eq!(
            issue.expected,
            format!("a value that the tool accepts ({found} is odd)")
        );
        assert_eq!(issue.found, format!("the number {found}"));
        assert!(
            result
                .model_text()
                .contains(&format!("`{pointer}`: expected"))
        );
    }
}

// The error of a dynamic tool's deserializer has the pointer of the value.
#[tokio::test]
async fn dynamic_handler_error_is_reported_with_its_pointer() {
    #[derive(Deserialize)]
    struct Numbers {
        all: Vec<Even>,
    }
    let schema = r#"{"type":"object","properties":{"all":{"type":"array","items":{"type":"integer"},"description":"Numbers."}},"required":["all"],"additionalProperties":false}"#;
    let body = async |numbers: Numbers, _: ToolContext| {
        Ok::<_, ToolError>(numbers.all.iter().map(|number| number.0).sum::<u32>())
    };
    let tool = tool_core::DynamicTool::new("sum", "Adds even numbers.", schema, body);
    let registry = Registry::builder()
        .dynamic(tool)
        .build()
        .expect("the registry is valid");
    let ask = async |arguments: &str| {
        let call = ToolCall::new("1", "sum", arguments);
        registry.open().call(call, &ToolContext::anonymous()).await
    };
    assert_eq!(ask(r#"{"all":[2,4]}"#).await.model_text(), "6");
    let result = ask(r#"{"all":[2,5]}"#).await;
    let issues = result.error().map(ToolError::issues).unwrap_or_default();
    assert_eq!(issues.len(), 1);
    assert_eq!(issues[0].pointer, "/all/1");
    assert!(issues[0].expected.contains("5 is odd"));
}
