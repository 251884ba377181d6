//! Tests that every dialect states every bound that the guard checks, as a keyword or in words.

use core::num::{
    NonZeroI8, NonZeroI16, NonZeroI32, NonZeroI64, NonZeroI128, NonZeroIsize, NonZeroU8,
    NonZeroU16, NonZeroU32, NonZeroU64, NonZeroU128, NonZeroUsize,
};
use std::time::Duration;

use serde_json::{Value, json};

use super::{float, optional, proven, whole};
use crate::args::{Repair, admit};
use crate::schema::dialect::{Dialect, schema_text};
use crate::schema::{Constraints, Field, Format, Kind, Pattern, Schema, StrictSchema, Text};

/// A value that breaks one bound, and alternative words that state this bound.
struct Case {
    schema: Schema,
    breaks: Value,
    words: Vec<String>,
}

fn case(schema: &'static Schema, breaks: Value, words: &[&str]) -> Case {
    Case {
        schema: *schema,
        breaks,
        words: words.iter().map(|word| (*word).to_owned()).collect(),
    }
}

fn bounded(inner: &'static Schema, bounds: Constraints) -> &'static Schema {
    let bounds = Box::leak(Box::new(bounds));
    Box::leak(Box::new(Schema::new(Kind::Constrained(inner, bounds))))
}

/// Parses a number that the `json!` macro cannot express.
fn number(text: &str) -> Value {
    serde_json::from_str(text).unwrap_or_else(|_| json!(text.parse::<f64>().unwrap_or_default()))
}

macro_rules! widths {
    ($cases:ident: $($unsigned:ident $not_zero:ident, $signed:ident $signed_not_zero:ident;)+) => {$(
        let most = $unsigned::MAX as f64 * 1.001 + 1.0;
        let (least, largest) = ($signed::MIN as f64 * 1.001 - 1.0, $signed::MAX as f64 * 1.001 + 1.0);
        let bits = match $unsigned::BITS {
            128 => "128 bits".to_owned(),
            64 => "64 bits".to_owned(),
            _ => format!(" to {}.", $unsigned::MAX),
        };
        let signed_bits = match $unsigned::BITS {
            128 => "128 bits".to_owned(),
            64 => "64 bits".to_owned(),
            _ => format!("Range: {} to {}.", $signed::MIN, $signed::MAX),
        };
        let round = |value: f64| json!(value.trunc());
        $cases.extend([
            case($unsigned::SCHEMA, json!(-1), &["Range: 0 to ", "0 or more."]),
            case($unsigned::SCHEMA, round(most), &[&bits]),
            case($not_zero::SCHEMA, json!(0), &["Range: 1 to ", "1 or more."]),
            case($not_zero::SCHEMA, round(most), &[&bits]),
            case($signed::SCHEMA, round(least), &[&signed_bits]),
            case($signed::SCHEMA, round(largest), &[&signed_bits]),
            case($signed_not_zero::SCHEMA, json!(0), &["Not 0."]),
            case($signed_not_zero::SCHEMA, round(largest), &[&signed_bits]),
        ]);
    )+};
}

#[allow(
    clippy::cast_precision_loss,
    clippy::cast_lossless,
    reason = "values far beyond the width"
)]
fn of_types() -> Vec<Case> {
    let mut cases = Vec::new();
    widths! { cases:
        u8 NonZeroU8, i8 NonZeroI8;
        u16 NonZeroU16, i16 NonZeroI16;
        u32 NonZeroU32, i32 NonZeroI32;
        u64 NonZeroU64, i64 NonZeroI64;
        usize NonZeroUsize, isize NonZeroIsize;
        u128 NonZeroU128, i128 NonZeroI128;
    }
    cases.extend([
        case(char::SCHEMA, json!("ab"), &["One character."]),
        case(char::SCHEMA, json!(""), &["One character."]),
        case(Duration::SCHEMA, json!("P1Y"), &["without years, months"]),
        case(Duration::SCHEMA, json!("P1M"), &["without years, months"]),
        case(Duration::SCHEMA, json!("P1Y2M3DT1S"), &["without years"]),
        case(Duration::SCHEMA, json!("PT0.5S"), &["and fractions"]),
        case(Duration::SCHEMA, json!("soon"), &["ISO 8601 duration"]),
        case(<[bool; 2]>::SCHEMA, json!([true]), &["Exactly 2 items."]),
        case(
            <[bool; 2]>::SCHEMA,
            json!([true, true, true]),
            &["Exactly 2 items."],
        ),
        case(
            <std::collections::BTreeSet<u16>>::SCHEMA,
            json!([1, 1]),
            &["Each item once."],
        ),
    ]);
    for (format, wrong) in [
        (Format::DateTime, "2026-01-31"),
        (Format::Date, "2026-02-31"),
        (Format::Time, "8"),
        (Format::Duration, "1"),
        (Format::Email, "a"),
        (Format::Hostname, "-"),
        (Format::Ipv4, "::1"),
        (Format::Ipv6, "1.2.3.4"),
        (Format::Ip, "x"),
        (Format::Uuid, "x"),
    ] {
        let schema = Box::leak(Box::new(Schema::new(Kind::Format(format))));
        let name = match format {
            Format::Ip => "ipv4 or ipv6",
            Format::Duration => "ISO 8601 duration",
            other => other.name(),
        };
        cases.push(case(schema, json!(wrong), &[&format!("Format: {name}")]));
    }
    cases
}

fn of_constraints() -> Vec<Case> {
    static DIGITS: Pattern = Pattern::new("^[0-9]+$");
    const NONE: Constraints = Constraints::NONE;
    // The pattern lists every field of `Constraints`. A new field is a compile error here, as a reminder to add its cases.
    let Constraints {
        min: _,
        max: _,
        exclusive_min: _,
        exclusive_max: _,
        multiple_of: _,
        min_length: _,
        max_length: _,
        pattern: _,
        format: _,
        min_items: _,
        max_items: _,
        unique: _,
    } = NONE;
    let mut cases = Vec::new();
    for inner in [
        u16::SCHEMA,
        i64::SCHEMA,
        u64::SCHEMA,
        i128::SCHEMA,
        f64::SCHEMA,
        f32::SCHEMA,
    ] {
        let words = |value: i32, side: &str| {
            vec![
                format!("{side} {value}"),
                format!("Range: {value}"),
                format!(" to {value}."),
            ]
        };
        let mut add = |bounds: Constraints, breaks: i32, side: &str, value: i32| {
            cases.push(Case {
                schema: *bounded(inner, bounds),
                breaks: json!(breaks),
                words: words(value, side),
            });
        };
        let is_float = matches!(inner.kind, Kind::Number { .. });
        add(
            Constraints {
                min: whole(3, "3"),
                ..NONE
            },
            2,
            "At least",
            3,
        );
        add(
            Constraints {
                max: whole(9, "9"),
                ..NONE
            },
            10,
            "At most",
            9,
        );
        let (above, next) = if is_float {
            ("More than", 3)
        } else {
            ("At least", 4)
        };
        add(
            Constraints {
                min: whole(3, "3"),
                exclusive_min: true,
                ..NONE
            },
            3,
            above,
            next,
        );
        let (below, last) = if is_float {
            ("Less than", 9)
        } else {
            ("At most", 8)
        };
        add(
            Constraints {
                max: whole(9, "9"),
                exclusive_max: true,
                ..NONE
            },
            9,
            below,
            last,
        );
        let both = Constraints {
            min: whole(3, "3"),
            max: whole(9, "9"),
            ..NONE
        };
        add(both, 2, "At least", 3);
        add(both, 10, "At most", 9);
        let open = Constraints {
            exclusive_min: true,
            exclusive_max: true,
            ..both
        };
        add(open, 3, above, next);
        add(open, 9, below, last);
        add(
            Constraints {
                multiple_of: whole(5, "5"),
                ..NONE
            },
            7,
            "A multiple of",
            5,
        );
        add(
            Constraints {
                multiple_of: whole(5, "5"),
                ..both
            },
            7,
            "A multiple of",
            5,
        );
    }
    // The side without an explicit bound keeps the bound of the type.
    let from_three = Constraints {
        min: whole(3, "3"),
        ..NONE
    };
    let to_nine = Constraints {
        max: whole(9, "9"),
        ..NONE
    };
    cases.extend([
        case(
            bounded(u32::SCHEMA, from_three),
            number("4294967296"),
            &["Range: 3 to 4294967295."],
        ),
        case(
            bounded(u32::SCHEMA, to_nine),
            json!(-1),
            &["Range: 0 to 9."],
        ),
        case(
            bounded(i32::SCHEMA, to_nine),
            number("-2147483649"),
            &["Range: -2147483648 to 9."],
        ),
        case(
            bounded(u64::SCHEMA, from_three),
            number("1e25"),
            &["64 bits"],
        ),
        case(
            bounded(u64::SCHEMA, to_nine),
            json!(-1),
            &["Range: 0 to 9."],
        ),
        case(bounded(i64::SCHEMA, to_nine), number("-1e25"), &["64 bits"]),
        case(bounded(NonZeroI32::SCHEMA, to_nine), json!(0), &["Not 0."]),
        case(
            bounded(
                f64::SCHEMA,
                Constraints {
                    min: float(0.5, "0.5"),
                    multiple_of: float(0.5, "0.5"),
                    ..NONE
                },
            ),
            json!(0.75),
            &["A multiple of 0.5."],
        ),
        case(
            bounded(
                String::SCHEMA,
                Constraints {
                    min_length: Some(2),
                    ..NONE
                },
            ),
            json!("a"),
            &["At least 2 characters."],
        ),
        case(
            bounded(
                String::SCHEMA,
                Constraints {
                    max_length: Some(2),
                    ..NONE
                },
            ),
            json!("abc"),
            &["At most 2 characters."],
        ),
        case(
            bounded(
                String::SCHEMA,
                Constraints {
                    pattern: Some(&DIGITS),
                    ..NONE
                },
            ),
            json!("a"),
            &["Pattern: `^[0-9]+$`."],
        ),
        case(
            bounded(
                String::SCHEMA,
                Constraints {
                    format: Some(Format::Email),
                    ..NONE
                },
            ),
            json!("a"),
            &["Format: email."],
        ),
        case(
            bounded(
                uuid_like(),
                Constraints {
                    pattern: Some(&DIGITS),
                    ..NONE
                },
            ),
            json!("2026-01-31"),
            &["Pattern:"],
        ),
        case(
            bounded(
                Vec::<bool>::SCHEMA,
                Constraints {
                    min_items: Some(1),
                    ..NONE
                },
            ),
            json!([]),
            &["At least 1 item."],
        ),
        case(
            bounded(
                Vec::<bool>::SCHEMA,
                Constraints {
                    min_items: Some(2),
                    ..NONE
                },
            ),
            json!([true]),
            &["At least 2 items."],
        ),
        case(
            bounded(
                Vec::<bool>::SCHEMA,
                Constraints {
                    max_items: Some(1),
                    ..NONE
                },
            ),
            json!([true, true]),
            &["At most 1 item."],
        ),
        case(
            bounded(
                Vec::<bool>::SCHEMA,
                Constraints {
                    min_items: Some(2),
                    max_items: Some(3),
                    ..NONE
                },
            ),
            json!([true]),
            &["2 to 3 items."],
        ),
        case(
            bounded(
                Vec::<bool>::SCHEMA,
                Constraints {
                    unique: true,
                    ..NONE
                },
            ),
            json!([true, true]),
            &["Each item once."],
        ),
    ]);
    cases
}

/// Returns the schema of a string with a format, for a case that combines it with a pattern.
fn uuid_like() -> &'static Schema {
    Box::leak(Box::new(Schema::new(Kind::Format(Format::Date))))
}

/// Checks that a dialect states the bound for the field `x`.
fn states(case: &Case, schema: &'static Schema, dialect: Dialect) -> Result<(), String> {
    let fields = Box::leak(Box::new([Field::new("x", Text::EMPTY, schema)]));
    let root = Schema::new(Kind::Object(fields));
    let refused = admit(&root, &json!({ "x": case.breaks }).to_string(), Repair::Off).is_err();
    if !refused {
        return Err(format!("the guard admits {}", case.breaks));
    }
    let text = schema_text(&root, dialect);
    let document = proven(&text);
    let validator = jsonschema::options()
        .should_validate_formats(true)
        .build(&document)
        .map_err(|error| error.to_string())?;
    let description = document["properties"]["x"]["description"]
        .as_str()
        .unwrap_or_default();
    let in_words = case.words.iter().any(|words| description.contains(words));
    if in_words || !validator.is_valid(&json!({ "x": case.breaks })) {
        return Ok(());
    }
    Err(format!("{dialect:?} admits {}: {text}", case.breaks))
}

// Every dialect states each bound, such as both bounds of `u32`, the 1 of `NonZeroU32`, and the grammar of `Duration`, which rejects `P1Y`.
#[test]
fn every_dialect_states_every_bound() {
    let mut lost = Vec::new();
    let cases: Vec<Case> = of_types().into_iter().chain(of_constraints()).collect();
    for case in &cases {
        let plain: &'static Schema = Box::leak(Box::new(case.schema));
        let maybe: &'static Schema = Box::leak(Box::new(optional(plain)));
        for schema in [plain, maybe] {
            for dialect in Dialect::ALL {
                lost.extend(states(case, schema, dialect).err());
            }
        }
    }
    assert!(
        lost.is_empty(),
        "{} of {}: {lost:#?}",
        lost.len(),
        cases.len() * 10
    );
}
