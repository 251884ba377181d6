//! `StrictSchema` for types of the `time` crate.

use time::{Date, Duration, OffsetDateTime, PrimitiveDateTime, Time};
use tool_rules::Rule;

use super::{by_serde, format, refused, strict};
use crate::schema::{Format, Schema, StrictSchema};

// The serde formats separate date, time and offset by spaces. Of these types, only the format of `Date` matches a string format.
strict! {
    format(Format::Date) => Date;
    refused(&Rule::TIME_OFFSET_DATE_TIME) => OffsetDateTime;
    refused(&Rule::TIME_PRIMITIVE_DATE_TIME) => PrimitiveDateTime;
    refused(&Rule::TIME_TIME) => Time;
    refused(&Rule::TIME_DURATION) => Duration;
}

by_serde!(Date);
