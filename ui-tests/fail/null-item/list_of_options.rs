use tool_core::prelude::*;

#[derive(Debug, Deserialize, StrictSchema)]
pub struct Row {
    /// Cells.
    pub cells: Vec<Option<String>>,
}

fn main() {}
