use std::collections::BTreeMap;

use tool_core::prelude::*;

/// An id.
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord, Deserialize, StrictSchema)]
pub struct Id(String);

#[derive(Debug, Deserialize, StrictSchema)]
pub struct Stars {
    /// How many by id.
    pub many: BTreeMap<Id, u32>,
}

fn main() {}
