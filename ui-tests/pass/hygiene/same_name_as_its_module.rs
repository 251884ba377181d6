mod search_docs {
    use tool_core::prelude::*;

    /// Searches the index for pages.
    #[tool(input = SearchDocs)]
    pub fn search_docs(
        /// The argument `query` of the tool.
        query: String,
    ) -> Result<String, ToolError> {
        Ok(query)
    }
}

pub use search_docs::{SearchDocs, search_docs};
use tool_core::toolset;

fn main() {
    let call = SearchDocs { query: "serde".to_owned() };
    assert_eq!(call.query, "serde");
    let _ = search_docs(call.query);
    let _ = toolset![SearchDocs];
}
