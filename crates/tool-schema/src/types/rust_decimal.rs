//! `StrictSchema` for the type of the `rust_decimal` crate.

use rust_decimal::Decimal;

use super::{STRING, by_serde, strict};
use crate::schema::pattern::Pattern;
use crate::schema::{Constraints, Kind, Schema, StrictSchema};

/// Pattern of a decimal number as a string. serde reads JSON numbers too, but many clients round them to a double. An integer of 28
/// digits always fits.
const DECIMAL: &Pattern = &Pattern::new(r"^-?[0-9]{1,28}(\.[0-9]{1,28})?$");

strict! {
    Kind::Constrained(STRING, &Constraints { pattern: Some(DECIMAL), ..Constraints::NONE }) => Decimal;
}

by_serde!(Decimal);
