use tool_core::prelude::*;

use std::collections::{BTreeMap, HashMap};

#[derive(Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize, StrictSchema)]
pub struct Point {
    /// The field `north` of `Point`.
    pub north: i32,
}

/// Returns a map, for this test.
#[tool]
pub fn alone() -> HashMap<(u8, u8), u8> {
    HashMap::new()
}

/// Returns a map, for this test.
#[tool]
pub fn in_a_result() -> Result<BTreeMap<Vec<u8>, u8>, ToolError> {
    Ok(BTreeMap::new())
}

/// Returns a map, for this test.
#[tool]
pub fn in_a_list() -> Vec<Option<HashMap<Point, u8>>> {
    Vec::new()
}

/// Returns a map, for this test.
#[tool]
pub fn as_a_value() -> Result<HashMap<String, Vec<BTreeMap<[u8; 2], u8>>>, ToolError> {
    Ok(HashMap::new())
}

/// Returns a map at the end.
#[tool]
pub fn streamed() -> ToolStream<u8, HashMap<(), u8>> {
    tool_stream! {
        yield 1;
        HashMap::new()
    }
}

fn main() {}
