use tool_core::prelude::*;

#[derive(Debug, Deserialize, StrictSchema)]
pub struct Patch {
    /// The field `nothing` of `Patch`.
    pub nothing: Option<()>,
}

fn main() {}
