//! The schemas of foreign types: serde reads the texts that the schema admits, with the exceptions that the tests list.
#![allow(
    clippy::expect_used,
    clippy::panic,
    clippy::needless_pass_by_value,
    clippy::items_after_statements,
    reason = "a test fails by panicking, and is easier to read with its data inline"
)]

use core::fmt::Debug;
use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet, BinaryHeap, HashMap, HashSet, LinkedList, VecDeque};
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::num::{NonZeroI8, NonZeroU64};
use std::path::PathBuf;
use std::rc::Rc;
use std::sync::Arc;

use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;
use tool_core::StrictSchema;
use tool_core::schema::{Format, Kind, Schema};
use tool_tests::admits;

/// Texts in the formats of the types, and similar texts that these formats exclude.
const TEXTS: &[&str] = &[
    "",
    " ",
    "a",
    "ä",
    "ab",
    "0",
    "1",
    "-1",
    "1.5",
    "-0.5",
    "1e3",
    ".5",
    "5.",
    "1_000",
    "NaN",
    "inf",
    "1234567890123456789012345678",
    "1234567890123456789012345678.1234567890123456789012345678",
    "99999999999999999999999999999",
    "-9999999999999999999999999999.9",
    "127.0.0.1",
    "127.0.0.01",
    "256.0.0.1",
    "1.2.3",
    "::1",
    "fe80::1%eth0",
    "::ffff:1.2.3.4",
    "1::2::3",
    "2024-02-29",
    "2023-02-29",
    "2024-13-01",
    "2024-1-1",
    "0000-01-01",
    "9999-12-31",
    "10000-01-01",
    "-2024-01-01",
    "20240229",
    "2024-02-29T12:00:00Z",
    "2024-02-29t12:00:00z",
    "2024-02-29 12:00:00Z",
    "2024-02-29T12:00:00",
    "2024-02-29T12:00:00.5Z",
    "2024-02-29T12:00:00.123456789Z",
    "2024-02-29T12:00:00.1234567891234Z",
    "2024-02-29T24:00:00Z",
    "2024-02-29T23:59:60Z",
    "2016-12-31T23:59:60Z",
    "2024-02-29T12:00:60Z",
    "2024-02-29T12:00:00+02:00",
    "2024-02-29T12:00:00-00:00",
    "2024-02-29T12:00:00+23:59",
    "2024-02-29T12:00:00+24:00",
    "2024-02-29T12:00:00+0200",
    "2024-02-29T12:00Z",
    "0000-01-01T00:00:00Z",
    "9999-12-31T23:59:59Z",
    "9999-12-31T23:59:59.999999999-12:00",
    "0000-01-01T00:00:00+12:00",
    "2024-02-29T12:00:00Z[UTC]",
    "PT1M30S",
    "PT0S",
    "-PT1S",
    "P1D",
    "P1W",
    "P1Y2M",
    "P1Y2M3DT4H5M6S",
    "PT1.5S",
    "PT1H1S",
    "P",
    "PT",
    "PT36H",
    "pt1s",
    "P1DT",
    "PT999999999S",
    "PT99999999999S",
    "P99999Y",
    "P9999999999Y",
    "P1W2D",
    "67e55044-10b1-426f-9247-bb680e5fe0c8",
    "67E55044-10B1-426F-9247-BB680E5FE0C8",
    "67e5504410b1426f9247bb680e5fe0c8",
    "{67e55044-10b1-426f-9247-bb680e5fe0c8}",
    "urn:uuid:67e55044-10b1-426f-9247-bb680e5fe0c8",
    "67e55044-10b1-426f-9247-bb680e5fe0cg",
    "00000000-0000-0000-0000-000000000000",
    "1.2.3-alpha.1",
    "1.2.3-01",
    "1.2.3-0a",
    "1.2.3+01.b",
    "1.2.3-alpha+b",
    "01.2.3",
    "1.2",
    "1.2.3-",
    "1.2.3+",
    "1.2.999999999999999999",
    "1.2.99999999999999999999",
    "1.2.3 ",
    "*",
    "^1",
    "^1.2",
    ">=1.2.3",
    ">= 1.2.3, <2",
    "~1.2.3",
    "=1.2.3",
    ">1,<2",
    "1, *",
    "1.*",
    ">",
    "1,",
    "1 2",
    "< 1.0.0 , > 2",
    "1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1",
    "1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1",
    "https://example.com",
    "a/b",
    "tab\there",
];

fn reads<T: DeserializeOwned>(text: &str) -> bool {
    serde_json::from_value::<T>(Value::String(text.to_owned())).is_ok()
}

/// Asserts that serde reads every text of [`TEXTS`] that the schema admits. Also asserts that the schema admits the texts `written`, and the texts
/// that serde writes for them.
#[track_caller]
fn sound<T: StrictSchema + DeserializeOwned + Serialize + Debug>(written: &[&str]) {
    sound_but::<T>(written, &[]);
}

/// Asserts the same as [`sound`], except that serde refuses the texts `but` of [`TEXTS`], although the schema admits them.
#[track_caller]
fn sound_but<T: StrictSchema + DeserializeOwned + Serialize + Debug>(
    written: &[&str],
    but: &[&str],
) {
    let admitted = TEXTS.iter().filter(|text| admits::text::<T>(text));
    let unread: Vec<_> = admitted.filter(|text| !reads::<T>(text)).collect();
    assert_eq!(
        unread.into_iter().copied().collect::<Vec<_>>(),
        but,
        "the schema admits these texts, but serde does not read them"
    );
    for text in written {
        assert!(admits::text::<T>(text), "`{text}` is not admitted");
        let value: T = serde_json::from_value(Value::String((*text).to_owned()))
            .expect("serde reads the text");
        let again = serde_json::to_value(&value).expect("serde writes the value");
        let again = again.as_str().expect("the value is written as text");
        assert!(
            admits::text::<T>(again),
            "`{text}` is written as `{again}`, which is not admitted"
        );
    }
}

fn kind<T: StrictSchema>() -> Kind {
    T::SCHEMA.kind
}

fn refusal<T: StrictSchema>() -> &'static str {
    match kind::<T>() {
        Kind::Refused { rule, .. } => rule,
        other => panic!("not refused: {other:?}"),
    }
}

// S1-27: text types of the standard library have the right format.
#[test]
fn std_text_types_have_the_right_format() {
    sound::<String>(&["", "ä"]);
    sound::<Box<str>>(&["a"]);
    sound::<char>(&["ä"]);
    sound::<PathBuf>(&["a/b"]);
    sound::<Cow<'static, str>>(&["a"]);
    sound::<Ipv4Addr>(&["127.0.0.1"]);
    sound::<Ipv6Addr>(&["::1"]);
    sound::<IpAddr>(&["127.0.0.1", "::1"]);
    assert!(matches!(kind::<std::time::Duration>(), Kind::Duration));
    assert_eq!(refusal::<std::time::SystemTime>(), "time-lossy");
    assert_eq!(refusal::<std::ffi::OsString>(), "string-lossy");
    assert_eq!(refusal::<std::ffi::CString>(), "string-lossy");
    assert_eq!(refusal::<SocketAddr>(), "format-unknown");
}

#[test]
fn number_types_have_the_right_schema() {
    fn range<T: StrictSchema>() -> (i128, u128, bool) {
        match kind::<T>() {
            Kind::Integer(integer) => (integer.min, integer.max, integer.not_zero),
            other => panic!("not an integer: {other:?}"),
        }
    }
    assert_eq!(range::<i8>(), (-128, 127, false));
    assert_eq!(range::<u64>(), (0, u64::MAX.into(), false));
    assert_eq!(
        range::<i128>(),
        (i128::MIN, i128::MAX.unsigned_abs(), false)
    );
    assert_eq!(range::<u128>(), (0, u128::MAX, false));
    assert_eq!(range::<NonZeroU64>(), (1, u64::MAX.into(), false));
    assert_eq!(range::<NonZeroI8>(), (-128, 127, true));
    assert!(matches!(kind::<f32>(), Kind::Number { single: true }));
    assert!(matches!(kind::<bool>(), Kind::Boolean));
}

// S1-29: lists, sets and maps of the standard library have the right schemas.
#[test]
fn std_containers_have_the_right_schema() {
    fn list<T: StrictSchema>(unique: bool, exactly: Option<usize>) {
        match kind::<T>() {
            Kind::Array {
                items: Schema {
                    kind: Kind::String, ..
                },
                unique: u,
                exactly: e,
            } => assert_eq!((u, e), (unique, exactly)),
            other => panic!("not a list of text: {other:?}"),
        }
    }
    list::<Vec<String>>(false, None);
    list::<Box<[String]>>(false, None);
    list::<VecDeque<String>>(false, None);
    list::<LinkedList<String>>(false, None);
    list::<BinaryHeap<String>>(false, None);
    list::<[String; 3]>(false, Some(3));
    list::<BTreeSet<String>>(true, None);
    list::<HashSet<String>>(true, None);
    list::<indexmap::IndexSet<String>>(true, None);
    list::<Arc<Vec<Rc<Box<String>>>>>(false, None);
    list::<Cow<'static, [String]>>(false, None);
    fn map<T: StrictSchema>() -> bool {
        matches!(
            kind::<T>(),
            Kind::Map(Schema {
                kind: Kind::Boolean,
                ..
            })
        )
    }
    assert!(
        map::<HashMap<String, bool>>()
            && map::<BTreeMap<String, bool>>()
            && map::<indexmap::IndexMap<String, bool>>()
    );
    assert!(matches!(
        kind::<serde_json::Map<String, Value>>(),
        Kind::Map(Schema {
            kind: Kind::Any,
            ..
        })
    ));
    assert!(matches!(kind::<Value>(), Kind::Any));
    assert!(matches!(
        kind::<Box<serde_json::value::RawValue>>(),
        Kind::Any
    ));
    assert!(matches!(kind::<()>(), Kind::Null));
    assert!(matches!(
        kind::<std::marker::PhantomData<str>>(),
        Kind::Null
    ));
    assert!(matches!(kind::<(u8, String)>(), Kind::Tuple([_, _])));
    assert!(matches!(
        kind::<Option<String>>(),
        Kind::Optional(Schema {
            kind: Kind::String,
            ..
        })
    ));
}

// S1-27: text types of other crates have the right format.
#[test]
fn foreign_text_types_have_the_right_format() {
    sound::<chrono::DateTime<chrono::Utc>>(&["2024-02-29T12:00:00Z"]);
    sound::<chrono::DateTime<chrono::FixedOffset>>(&["2024-02-29T12:00:00+02:00"]);
    sound::<chrono::NaiveDate>(&["2024-02-29"]);
    // The first text has more than nine fractional digits. The other two are above the maximum of `jiff::Timestamp`, which is before the end of the
    // year 9999, so that the local time is in range in every time zone.
    let far = [
        "2024-02-29T12:00:00.1234567891234Z",
        "9999-12-31T23:59:59Z",
        "9999-12-31T23:59:59.999999999-12:00",
    ];
    sound_but::<jiff::Timestamp>(&["2024-02-29T12:00:00Z"], &far);
    sound::<jiff::civil::Date>(&["2024-02-29"]);
    sound::<jiff::SignedDuration>(&["PT1M30S", "-PT1S"]);
    sound::<time::Date>(&["2024-02-29"]);
    sound::<uuid::Uuid>(&["67e55044-10b1-426f-9247-bb680e5fe0c8"]);
    sound::<rust_decimal::Decimal>(&["1.5", "-0.5", "1234567890123456789012345678"]);
    sound::<smol_str::SmolStr>(&["a"]);
    sound::<semver::Version>(&["1.2.3-alpha.1", "1.2.3+01.b"]);
    sound::<semver::VersionReq>(&["^1.2", ">=1.2.3, <2", "*"]);
    sound_but::<jiff::Span>(&["P1Y2M3DT4H5M6S", "PT1M30S"], &["P99999Y", "P9999999999Y"]);
    assert!(matches!(kind::<url::Url>(), Kind::Format(Format::Uri)));
}

#[test]
fn foreign_types_with_a_better_alternative_are_refused() {
    assert_eq!(refusal::<bytes::Bytes>(), "bytes");
    for rule in [
        refusal::<chrono::NaiveDateTime>(),
        refusal::<chrono::NaiveTime>(),
        refusal::<chrono::TimeDelta>(),
        refusal::<jiff::Zoned>(),
        refusal::<jiff::civil::DateTime>(),
        refusal::<jiff::civil::Time>(),
        refusal::<time::OffsetDateTime>(),
        refusal::<time::PrimitiveDateTime>(),
        refusal::<time::Time>(),
        refusal::<time::Duration>(),
    ] {
        assert_eq!(rule, "time-lossy");
    }
    // The types of `time` in this list are refused, because their serialized form is not a JSON Schema format.
    let written =
        serde_json::to_value(time::OffsetDateTime::UNIX_EPOCH).expect("serde writes the value");
    assert!(
        !Format::DateTime.matches(
            written
                .as_str()
                .expect("the value is written as text")
                .as_bytes()
        )
    );
}
