//! `StrictSchema` for types of the `time` crate.

use time::{Date, Duration, OffsetDateTime, PrimitiveDateTime, Time};

use super::{by_serde, format, refused, strict};
use crate::schema::{Format, Schema, StrictSchema};

// In their serde format, spaces separate date, time and offset; only the date alone matches a string format.
strict! {
    format(Format::Date) => Date;
    refused(
        "time-lossy",
        "serde reads `OffsetDateTime` in its own format, write `#[serde(with = \"time::serde::rfc3339\")]` and `#[schema(as = String, format = \"date-time\")]`",
    ) => OffsetDateTime;
    refused(
        "time-lossy",
        "`PrimitiveDateTime` has no offset, which no string format allows, use `OffsetDateTime` with `time::serde::rfc3339`",
    ) => PrimitiveDateTime;
    refused(
        "time-lossy",
        "`time::Time` has no offset, which no string format allows, use `OffsetDateTime` with `time::serde::rfc3339`",
    ) => Time;
    refused(
        "time-lossy",
        "serde reads `time::Duration` in its own format, use `std::time::Duration`",
    ) => Duration;
}

by_serde!(Date);
