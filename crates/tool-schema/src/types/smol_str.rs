//! `StrictSchema` for the type of the `smol_str` crate.

use super::{by_serde, strict};
use crate::schema::{Kind, Schema, StrictSchema};

strict! {
    Kind::String => smol_str::SmolStr;
}

by_serde!(smol_str::SmolStr);
