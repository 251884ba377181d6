use tool_core::prelude::*;

#[derive(Debug, Deserialize, StrictSchema)]
pub struct Row {
    /// The field `cells` of `Row`.
    pub cells: Vec<Option<String>>,
}

fn main() {}
