use tool_core::prelude::*;

/// The record `Folder` of this test.
#[derive(Debug, Deserialize, StrictSchema)]
pub struct Folder {
    /// What is in it.
    pub entries: Vec<Entry>,
}

/// The record `Entry` of this test.
#[derive(Debug, Deserialize, StrictSchema)]
pub struct Entry {
    /// The field `folder` of `Entry`.
    pub folder: Option<Folder>,
}

fn main() {}
