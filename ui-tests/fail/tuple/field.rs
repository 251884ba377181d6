use tool_core::prelude::*;

#[derive(Debug, Deserialize, StrictSchema)]
pub struct Line {
    /// The field `ends` of `Line`.
    pub ends: Vec<(f64, String)>,
}

fn main() {}
