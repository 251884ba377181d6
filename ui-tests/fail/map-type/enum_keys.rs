use std::collections::HashMap;

use tool_core::prelude::*;

/// The enum `Lang` of this test.
#[derive(Debug, PartialEq, Eq, Hash, Deserialize, StrictSchema)]
pub enum Lang {
    Rust,
    Go,
}

#[derive(Debug, Deserialize, StrictSchema)]
pub struct Stars {
    /// How many of each.
    pub many: HashMap<Lang, u32>,
}

fn main() {}
