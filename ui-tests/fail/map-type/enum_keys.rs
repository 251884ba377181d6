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
    /// The number of items of each kind.
    pub many: HashMap<Lang, u32>,
}

fn main() {}
