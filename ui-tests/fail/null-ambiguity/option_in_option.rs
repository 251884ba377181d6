use tool_core::prelude::*;

#[derive(Debug, Deserialize, StrictSchema)]
pub struct Patch {
    /// A new name.
    pub name: Option<Option<String>>,
}

fn main() {}
