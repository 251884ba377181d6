use tool_core::prelude::*;

#[derive(Debug, Deserialize, StrictSchema)]
pub struct Nothing {
    /// A list without items.
    pub nothing: [String; 0],
}

fn main() {}
