//! Texts on which the two decoders once disagreed, and texts for which serde alone would choose the wrong variant.

use serde::{Deserialize, Deserializer, de::Error as _};
use tool_core::__private0::read::{by_serde, from_text};
use tool_core::StrictSchema;

/// A record whose `Deserialize` is stricter than its schema.
#[derive(Debug, StrictSchema)]
struct Ordered<T> {
    /// The lower bound.
    low: T,
    /// The upper bound.
    high: T,
}

#[derive(Deserialize)]
struct Pair<T> {
    low: T,
    high: T,
}

impl<'de, T: Deserialize<'de> + PartialOrd> Deserialize<'de> for Ordered<T> {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        let Pair { low, high } = Pair::deserialize(from)?;
        if low > high {
            return Err(D::Error::custom("low is above high"));
        }
        Ok(Self { low, high })
    }
}

#[derive(Debug, StrictSchema)]
struct Holds {
    /// The bounds of the record.
    bounds: Ordered<u16>,
}

#[test]
fn user_deserialize_impl_is_used() {
    let text = r#"{"low":2,"high":1}"#;
    assert!(by_serde::<Ordered<u16>>(text).is_err());
    let read = from_text::<Holds>(&format!(r#"{{"bounds":{text}}}"#));
    assert!(
        read.is_err(),
        "{:?}",
        read.map(|read| read.value.bounds.high - read.value.bounds.low)
    );
}

#[derive(Debug, StrictSchema)]
#[allow(dead_code, reason = "`Debug` shows it")]
#[serde(untagged)]
#[schema(allow(untagged))]
enum Shape {
    Wait(std::time::Duration),
    List(Vec<u16>),
}

#[derive(Debug, StrictSchema)]
#[allow(dead_code, reason = "`Debug` shows it")]
#[serde(untagged)]
#[schema(allow(untagged))]
enum Other {
    Record {
        /// The first number.
        one: u16,
        /// The second number.
        two: u16,
    },
    List(Vec<u16>),
}

// serde's derive would read a list as a duration or as a record, if an untagged union has such a variant before its list.
#[test]
fn list_is_not_read_as_a_duration_or_record() {
    let read = from_text::<Shape>("[2,5]").map(|read| read.value);
    assert!(
        matches!(&read, Ok(Shape::List(list)) if list == &[2, 5]),
        "{read:?}"
    );
    let read = from_text::<Other>("[2,5]").map(|read| read.value);
    assert!(
        matches!(&read, Ok(Other::List(list)) if list == &[2, 5]),
        "{read:?}"
    );
}

#[derive(Debug, Deserialize, StrictSchema)]
#[allow(dead_code, reason = "`Debug` shows it")]
#[serde(untagged)]
#[schema(allow(untagged))]
enum Waits {
    List(Vec<Waits>),
    Wait(std::time::Duration),
}

#[test]
fn serde_reads_a_duration_at_the_limit_of_nesting() {
    let text = format!("{}\"PT1S\"{}", "[".repeat(127), "]".repeat(127));
    assert!(from_text::<Waits>(&text).is_ok());
    let read = by_serde::<Waits>(&text);
    assert!(read.is_ok(), "{:?}", read.err());
}

// If each of the nested unions with flattened records tried every combination, decoding would take exponential time.
#[test]
fn union_decoding_is_not_exponential() {
    use decode_tests::{own, twin};
    for depth in [8, 60, 120] {
        let text = format!("{}{{}}{}", "{\"child\":".repeat(depth), "}".repeat(depth));
        let one = from_text::<own::Tree>(&text).map(|read| read.value);
        let other = by_serde::<twin::Tree>(&text).map(|read| read.value);
        assert_eq!(
            (one.is_ok(), other.is_ok()),
            (depth == 8, depth == 8),
            "{one:?} {other:?}"
        );
    }
}
