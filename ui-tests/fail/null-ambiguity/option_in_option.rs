use tool_core::prelude::*;

#[derive(Debug, Deserialize, StrictSchema)]
pub struct Patch {
    /// The field `name` of `Patch`.
    pub name: Option<Option<String>>,
}

fn main() {}
