//! Names that look like a circle and are none: `Folder` of one module holds an `Entry`, that of another is held by one.

/// Where an entry holds a folder.
pub mod below {
    use tool_core::prelude::*;

    /// A folder.
    #[derive(Debug, Deserialize, StrictSchema)]
    pub struct Folder {
        /// Its path.
        pub path: String,
    }

    /// An entry.
    #[derive(Debug, Deserialize, StrictSchema)]
    pub struct Entry {
        /// The folder.
        pub folder: Option<Box<Folder>>,
    }
}

/// Where a folder holds entries.
pub mod above {
    use tool_core::prelude::*;

    /// A folder.
    #[derive(Debug, Deserialize, StrictSchema)]
    pub struct Folder {
        /// What is in it.
        pub entries: Vec<Entry>,
    }

    /// An entry.
    #[derive(Debug, Deserialize, StrictSchema)]
    pub struct Entry {
        /// Its name.
        pub name: String,
    }
}

/// Where an entry holds the folder that holds the other entries.
pub mod beside {
    use tool_core::prelude::*;

    use super::above::Folder;

    /// An entry.
    #[derive(Debug, Deserialize, StrictSchema)]
    pub struct Entry {
        /// The folder.
        pub folder: Folder,
    }

    /// Walks.
    #[tool]
    pub fn walk(
        /// Where to begin.
        from: Entry,
        /// And here.
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
