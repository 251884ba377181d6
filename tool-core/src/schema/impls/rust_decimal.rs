//! `rust_decimal`.

use rust_decimal::Decimal;

use super::{STRING, by_serde, strict};
use crate::schema::pattern::Pattern;
use crate::schema::{Constraints, Kind, Schema, StrictSchema};

/// Text, although serde reads numbers too: a number has been through a double. 28 digits always fit.
const DECIMAL: &Pattern = &Pattern::new(r"^-?[0-9]{1,28}(\.[0-9]{1,28})?$");

strict! {
    Kind::Constrained(STRING, &Constraints { pattern: Some(DECIMAL), ..Constraints::NONE }) => Decimal;
}

by_serde!(Decimal);
