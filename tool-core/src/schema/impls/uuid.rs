//! `uuid`.

use super::{format, strict};
use crate::schema::{Format, Schema, StrictSchema};

strict! {
    format(Format::Uuid) => uuid::Uuid;
}
