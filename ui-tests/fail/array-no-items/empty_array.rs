use tool_core::prelude::*;

#[derive(Debug, Deserialize, StrictSchema)]
pub struct Nothing {
    /// Nothing.
    pub nothing: [String; 0],
}

fn main() {}
