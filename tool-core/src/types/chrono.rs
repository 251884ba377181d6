//! `StrictSchema` for types of the `chrono` crate.

use chrono::{
    DateTime, FixedOffset, NaiveDate, NaiveDateTime, NaiveTime, TimeDelta, TimeZone, Utc,
};

use super::{by_serde, format, refused, strict};
use crate::schema::{Format, Schema, StrictSchema};

/// With any time zone: `Utc`, `FixedOffset`, `Local`.
impl<Z: TimeZone> StrictSchema for DateTime<Z> {
    const SCHEMA: &'static Schema = &Schema::new(format(Format::DateTime));
}

strict! {
    format(Format::Date) => NaiveDate;
    refused(
        "time-lossy",
        "`NaiveDateTime` has no offset, which no string format allows, use `DateTime<Utc>`",
    ) => NaiveDateTime;
    refused(
        "time-lossy",
        "`NaiveTime` has no offset, which no string format allows, use `DateTime<Utc>` or whole seconds",
    ) => NaiveTime;
    refused(
        "time-lossy",
        "`TimeDelta` is a pair of numbers in JSON, use `std::time::Duration` or whole seconds",
    ) => TimeDelta;
}

by_serde!(NaiveDate, DateTime<Utc>, DateTime<FixedOffset>);
