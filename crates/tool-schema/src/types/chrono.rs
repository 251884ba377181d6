//! `StrictSchema` for types of the `chrono` crate.

use chrono::{
    DateTime, FixedOffset, NaiveDate, NaiveDateTime, NaiveTime, TimeDelta, TimeZone, Utc,
};
use tool_rules::Rule;

use super::{by_serde, format, refused, strict};
use crate::schema::{Format, Schema, StrictSchema};

/// The time zone can be any type: `Utc`, `FixedOffset`, `Local`.
impl<Z: TimeZone> StrictSchema for DateTime<Z> {
    const SCHEMA: &'static Schema = &Schema::new(format(Format::DateTime));
}

strict! {
    format(Format::Date) => NaiveDate;
    refused(&Rule::CHRONO_NAIVE_DATE_TIME) => NaiveDateTime;
    refused(&Rule::CHRONO_NAIVE_TIME) => NaiveTime;
    refused(&Rule::CHRONO_TIME_DELTA) => TimeDelta;
}

by_serde!(NaiveDate, DateTime<Utc>, DateTime<FixedOffset>);
