use std::collections::BTreeMap;

use tool_core::prelude::*;

/// The record `Id` of this test.
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord, Deserialize, StrictSchema)]
pub struct Id(String);

#[derive(Debug, Deserialize, StrictSchema)]
pub struct Stars {
    /// The number of items by id.
    pub many: BTreeMap<Id, u32>,
}

fn main() {}
