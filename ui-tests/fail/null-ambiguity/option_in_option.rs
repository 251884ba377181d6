use tool_core::prelude::*;

#[derive(Debug, Deserialize, StrictSchema)]
pub struct Patch {
    /// The field `name` of `Patch`: a new name.
    pub name: Option<Option<String>>,
}

fn main() {}
