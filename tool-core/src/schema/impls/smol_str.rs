//! `smol_str`.

use super::strict;
use crate::schema::{Kind, Schema, StrictSchema};

strict! {
    Kind::String => smol_str::SmolStr;
}
