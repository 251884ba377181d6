mod search_docs {
    use tool_core::prelude::*;

    /// Searches.
    #[tool]
    pub fn search_docs(
        /// What.
        query: String,
    ) -> Result<String, ToolError> {
        Ok(query)
    }
}

pub use search_docs::search_docs;

fn main() {}
