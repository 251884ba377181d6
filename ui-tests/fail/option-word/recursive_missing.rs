use tool_core::prelude::*;

/// The record `Folder` of this test.
#[derive(Debug, Deserialize, StrictSchema)]
pub struct Folder {
    /// The entries of the folder.
    pub entries: Vec<Entry>,
}

/// The record `Entry` of this test.
#[derive(Debug, Deserialize, StrictSchema)]
pub struct Entry {
    /// The field `folder` of `Entry`.
    pub folder: Option<Folder>,
}

fn main() {}
