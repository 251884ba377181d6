//! `StrictSchema` for the type of the `uuid` crate.

use super::{by_serde, format, strict};
use crate::schema::{Format, Schema, StrictSchema};

strict! {
    format(Format::Uuid) => uuid::Uuid;
}

by_serde!(uuid::Uuid);
