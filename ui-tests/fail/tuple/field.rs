use tool_core::prelude::*;

#[derive(Debug, Deserialize, StrictSchema)]
pub struct Line {
    /// From and to.
    pub ends: Vec<(f64, String)>,
}

fn main() {}
