use tool_core::prelude::*;

#[derive(Debug, Deserialize, StrictSchema)]
pub struct Query {
    /// The field `nothing` of `Query`.
    pub nothing: (),
}

fn main() {}
