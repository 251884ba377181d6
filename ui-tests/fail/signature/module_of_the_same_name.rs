mod search_docs {
    use tool_core::prelude::*;

    /// Searches the index for pages.
    #[tool]
    pub fn search_docs(
        /// The argument `query` of the tool.
        query: String,
    ) -> Result<String, ToolError> {
        Ok(query)
    }
}

pub use search_docs::search_docs;

fn main() {}
