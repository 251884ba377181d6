use tool_core::prelude::*;

#[derive(Debug, Deserialize, StrictSchema)]
pub struct Query {
    /// Nothing.
    pub nothing: (),
}

fn main() {}
