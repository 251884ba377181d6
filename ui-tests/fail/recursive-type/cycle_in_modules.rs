/// The module `above` of this test.
pub mod above {
    use tool_core::prelude::*;

    /// The record `Folder` of this test.
    #[derive(Debug, Deserialize, StrictSchema)]
    pub struct Folder {
        /// The entry of the folder.
        pub entry: Option<Box<super::below::Entry>>,
    }
}

/// The module `below` of this test.
pub mod below {
    use tool_core::prelude::*;

    /// The record `Entry` of this test.
    #[derive(Debug, Deserialize, StrictSchema)]
    pub struct Entry {
        /// The field `folder` of `Entry`.
        pub folder: Vec<crate::above::Folder>,
    }
}

fn main() {}
