/// What is above.
pub mod above {
    use tool_core::prelude::*;

    /// A folder.
    #[derive(Debug, Deserialize, StrictSchema)]
    pub struct Folder {
        /// What is in it.
        pub entry: Option<Box<super::below::Entry>>,
    }
}

/// What is below.
pub mod below {
    use tool_core::prelude::*;

    /// An entry.
    #[derive(Debug, Deserialize, StrictSchema)]
    pub struct Entry {
        /// The folder.
        pub folder: Vec<crate::above::Folder>,
    }
}

fn main() {}
