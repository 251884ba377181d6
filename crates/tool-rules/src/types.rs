//! Rules for types of other crates and of the standard library that have no strict schema.

use crate::dialects::{A, NONE, OA, OAP};
use crate::rule::rules;

rules! { "types":
    MAP_KEYS = "map-type", "maps are open records and these keys do not admit every string, take a `Vec` of a struct with a key and a value", "OpenAI, Anthropic, Bedrock: `'additionalProperties' must be explicitly set to false`", OA;
    MAP_KEY_TYPE = "map-type", "maps are open records and `{Self}` does not admit every string, take a `Vec` of a struct with a key and a value", "OpenAI, Anthropic, Bedrock: `'additionalProperties' must be explicitly set to false`", OA;
    BYTES_TYPE = "bytes", "bytes have no JSON form that models write reliably, take base64 text as a `String` and decode it", "a list of numbers wastes tokens; bounds are refused by Anthropic", A;
    SOCKET_ADDRESS = "format-unknown", "a socket address has no string format, take the address (`IpAddr`) and the port (`u16`) as two fields", "OpenAI, Anthropic, Gemini, llguidance, outlines", OAP;
    OS_STRING = "string-lossy", "`OsString` has no portable text form in JSON, use `String` or `PathBuf`", "serde writes it as an object of bytes or of 16-bit units", NONE;
    C_STRING = "string-lossy", "`CString` is a list of bytes in JSON, use `String`", "serde writes it as a list of numbers", NONE;
    SYSTEM_TIME = "time-lossy", "`SystemTime` is a pair of numbers in JSON, use `chrono::DateTime<Utc>` or `jiff::Timestamp`", "not a string in a format that providers support", NONE;
    CHRONO_NAIVE_DATE_TIME = "time-lossy", "`NaiveDateTime` has no offset, which no string format allows, use `DateTime<Utc>`", "RFC 3339 requires an offset", NONE;
    CHRONO_NAIVE_TIME = "time-lossy", "`NaiveTime` has no offset, which no string format allows, use `DateTime<Utc>` or whole seconds", "RFC 3339 requires an offset", NONE;
    CHRONO_TIME_DELTA = "time-lossy", "`TimeDelta` is a pair of numbers in JSON, use `std::time::Duration` or whole seconds", "not a string in a format that providers support", NONE;
    JIFF_ZONED = "time-lossy", "`Zoned` carries a time zone in brackets, which no string format allows, use `jiff::Timestamp`", "RFC 3339 has no time zones", NONE;
    JIFF_DATE_TIME = "time-lossy", "`civil::DateTime` has no offset, which no string format allows, use `jiff::Timestamp`", "RFC 3339 requires an offset", NONE;
    JIFF_TIME = "time-lossy", "`civil::Time` has no offset, which no string format allows, use `jiff::Timestamp` or whole seconds", "RFC 3339 requires an offset", NONE;
    TIME_OFFSET_DATE_TIME = "time-lossy", "serde reads `OffsetDateTime` in its own format, write `#[serde(with = \"time::serde::rfc3339\")]` and `#[schema(as = String, format = \"date-time\")]`", "not a string in a format that providers support", NONE;
    TIME_PRIMITIVE_DATE_TIME = "time-lossy", "`PrimitiveDateTime` has no offset, which no string format allows, use `OffsetDateTime` with `time::serde::rfc3339`", "RFC 3339 requires an offset", NONE;
    TIME_TIME = "time-lossy", "`time::Time` has no offset, which no string format allows, use `OffsetDateTime` with `time::serde::rfc3339`", "RFC 3339 requires an offset", NONE;
    TIME_DURATION = "time-lossy", "serde reads `time::Duration` in its own format, use `std::time::Duration`", "not a string in a format that providers support", NONE;
}
