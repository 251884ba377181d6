//! A workspace with the three knowledge tools.

use serde_json::{Value, json};
use tool_core::prelude::*;
use tool_core::store::MemoryStore;
use tool_std::knowledge::{Knowledge, get_knowledge, search_knowledge, write_knowledge};

pub(crate) struct Desk {
    pub(crate) knowledge: Knowledge,
    tools: Toolset,
    cx: ToolContext,
}

impl Desk {
    pub(crate) fn new() -> Self {
        Self::of(Knowledge::new(MemoryStore::default()), "acme")
    }

    pub(crate) fn of(knowledge: Knowledge, workspace: &str) -> Self {
        let cx = ToolContext::builder()
            .workspace(workspace)
            .user("ann")
            .with(knowledge.clone())
            .build();
        Self {
            knowledge,
            tools: toolset![get_knowledge, search_knowledge, write_knowledge],
            cx,
        }
    }

    pub(crate) async fn result(&self, tool: &str, arguments: &Value) -> CallResult {
        let call = ToolCall::new("c", tool, arguments.to_string());
        self.tools.call(call, &self.cx).await
    }

    /// Returns the output of a call that succeeds.
    pub(crate) async fn ok(&self, tool: &str, arguments: Value) -> Value {
        let result = self.result(tool, &arguments).await;
        assert!(result.error().is_none(), "{}", result.model_text());
        serde_json::from_str(result.output().unwrap().get()).unwrap()
    }

    /// Returns the text of a call that fails.
    pub(crate) async fn fails(&self, tool: &str, arguments: Value) -> String {
        let result = self.result(tool, &arguments).await;
        assert!(result.error().is_some(), "{}", result.model_text());
        result.model_text()
    }

    pub(crate) async fn write(&self, file: &str, content: &str) -> Value {
        let arguments = json!({"action": "write", "file": file, "content": content});
        self.ok("write_knowledge", arguments).await
    }

    pub(crate) async fn get(&self, file: &str) -> Value {
        self.ok("get_knowledge", json!({"file": file})).await
    }

    /// Returns the file name of each result of a search.
    pub(crate) async fn search(&self, query: &str) -> Vec<String> {
        let found = self.ok("search_knowledge", json!({"query": query})).await;
        let results = found["results"].as_array().unwrap();
        assert_eq!(found["found"], !results.is_empty());
        let files = results
            .iter()
            .map(|result| result["file"].as_str().unwrap());
        files.map(str::to_owned).collect()
    }

    pub(crate) async fn index(&self) -> usize {
        self.knowledge.indexer().run_until_idle().await.unwrap()
    }
}
