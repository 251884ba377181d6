//! `StrictSchema` for types of the `jiff` crate.

use jiff::civil::{self, Date};
use jiff::{SignedDuration, Span, Timestamp, Zoned};

use super::{STRING, by_serde, format, refused, strict};
use crate::schema::pattern::Pattern;
use crate::schema::{Constraints, Format, Kind, Schema, StrictSchema};

/// ISO 8601 durations without calendar units, which have no fixed length that a `SignedDuration` could hold.
const SIGNED_DURATION: &Pattern = &Pattern::new(
    r"^-?PT([0-9]{1,9}H([0-9]{1,9}M)?([0-9]{1,9}(\.[0-9]{1,9})?S)?|[0-9]{1,9}M([0-9]{1,9}(\.[0-9]{1,9})?S)?|[0-9]{1,9}(\.[0-9]{1,9})?S)$",
);

strict! {
    format(Format::DateTime) => Timestamp;
    format(Format::Date) => Date;
    format(Format::Duration) => Span;
    Kind::Constrained(STRING, &Constraints { pattern: Some(SIGNED_DURATION), ..Constraints::NONE }) => SignedDuration;
    refused(
        "time-lossy",
        "`Zoned` carries a time zone in brackets, which no string format allows, use `jiff::Timestamp`",
    ) => Zoned;
    refused(
        "time-lossy",
        "`civil::DateTime` has no offset, which no string format allows, use `jiff::Timestamp`",
    ) => civil::DateTime;
    refused(
        "time-lossy",
        "`civil::Time` has no offset, which no string format allows, use `jiff::Timestamp` or whole seconds",
    ) => civil::Time;
}

by_serde!(Timestamp, Date, Span, SignedDuration);
