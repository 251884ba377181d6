//! `StrictSchema` for types of the `jiff` crate.

use jiff::civil::{self, Date};
use jiff::{SignedDuration, Span, Timestamp, Zoned};
use tool_rules::Rule;

use super::{STRING, by_serde, format, refused, strict};
use crate::schema::pattern::Pattern;
use crate::schema::{Constraints, Format, Kind, Schema, StrictSchema};

/// Pattern of ISO 8601 durations in hours, minutes and seconds. A `SignedDuration` has no calendar units, because their length is not fixed.
const SIGNED_DURATION: &Pattern = &Pattern::new(
    r"^-?PT([0-9]{1,9}H([0-9]{1,9}M)?([0-9]{1,9}(\.[0-9]{1,9})?S)?|[0-9]{1,9}M([0-9]{1,9}(\.[0-9]{1,9})?S)?|[0-9]{1,9}(\.[0-9]{1,9})?S)$",
);

strict! {
    format(Format::DateTime) => Timestamp;
    format(Format::Date) => Date;
    format(Format::Duration) => Span;
    Kind::Constrained(STRING, &Constraints { pattern: Some(SIGNED_DURATION), ..Constraints::NONE }) => SignedDuration;
    refused(&Rule::JIFF_ZONED) => Zoned;
    refused(&Rule::JIFF_DATE_TIME) => civil::DateTime;
    refused(&Rule::JIFF_TIME) => civil::Time;
}

by_serde!(Timestamp, Date, Span, SignedDuration);
