//! Type names that suggest a cycle where there is none: one `Folder` contains an `Entry`, and a different `Folder` is in an `Entry`.

/// A module in which an entry contains a folder.
pub mod below {
    use tool_core::prelude::*;

    /// The record `Folder` of this test.
    #[derive(Debug, Deserialize, StrictSchema)]
    pub struct Folder {
        /// The field `path` of `Folder`.
        pub path: String,
    }

    /// The record `Entry` of this test.
    #[derive(Debug, Deserialize, StrictSchema)]
    pub struct Entry {
        /// The field `folder` of `Entry`.
        pub folder: Option<Box<Folder>>,
    }
}

/// A module in which a folder contains entries.
pub mod above {
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
        /// The field `name` of `Entry`.
        pub name: String,
    }
}

/// A module in which an entry contains a folder of the module `above`.
pub mod beside {
    use tool_core::prelude::*;

    use super::above::Folder;

    /// The record `Entry` of this test.
    #[derive(Debug, Deserialize, StrictSchema)]
    pub struct Entry {
        /// The field `folder` of `Entry`.
        pub folder: Folder,
    }

    /// Walks through all of the entries.
    #[tool]
    pub fn walk(
        /// The entry at which the walk starts.
        from: Entry,
        /// The entry that the walk visits next.
        then: super::below::Entry,
    ) -> Result<usize, ToolError> {
        drop(then);
        Ok(from.folder.entries.len())
    }
}

fn main() {
    use tool_core::{Dialect, Tool};

    let schema = <beside::walk as Tool>::DEF.schema(Dialect::Mcp).to_owned();
    assert!(schema.contains("entries") && schema.contains("path"), "{schema}");
}
