use tool_core::prelude::*;

#[derive(Debug, Deserialize, StrictSchema)]
pub struct Patch {
    /// Nothing.
    pub nothing: Option<()>,
}

fn main() {}
