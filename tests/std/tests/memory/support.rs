//! Contexts, calls and services of the tests.

use futures::FutureExt as _;
use futures::future::BoxFuture;
use serde_json::{Value, json};
use tool_core::prelude::*;
use tool_core::store::{
    Durability, Importance, LongTermStore, MemoryScope, MemorySource, MemoryStore, MemoryType,
    NewMemory, ThreadStore, Timestamp, Workspace,
};
use tool_std::memory::{
    Embedder, Memory, memory_block, remember, search_conversation, search_memory,
};
use tool_store::SqliteStore;

/// Returns a store in memory and a store on SQLite.
pub(crate) async fn memories() -> [Memory; 2] {
    let sqlite = SqliteStore::in_memory().await.unwrap();
    [Memory::new(MemoryStore::default()), Memory::new(sqlite)]
}

/// Returns the context of an agent of `acme`, in the conversation `main`.
pub(crate) fn context(memory: &Memory, agent: &str) -> ToolContext {
    context_in(memory, "acme", agent, "main")
}

pub(crate) fn context_in(
    memory: &Memory,
    workspace: &str,
    agent: &str,
    conversation: &str,
) -> ToolContext {
    let cx = ToolContext::builder().workspace(workspace).user("ann");
    let cx = cx.agent(agent).conversation(conversation);
    cx.with(memory.clone()).build()
}

/// Calls a tool, and returns its output or the text of its error.
pub(crate) async fn call(cx: &ToolContext, tool: &str, arguments: Value) -> Result<Value, String> {
    let tools = toolset![search_memory, remember, memory_block, search_conversation];
    let call = ToolCall::new("1", tool, arguments.to_string());
    let result = tools.call(call, cx).await;
    match result.output() {
        Some(output) => Ok(serde_json::from_str(output.get()).unwrap()),
        None => Err(result.model_text().clone()),
    }
}

/// Remembers a content in a scope, and returns the output.
pub(crate) async fn remembered(cx: &ToolContext, content: &str, scope: &str) -> Value {
    let arguments = json!({ "content": content, "scope": scope });
    call(cx, "remember", arguments).await.unwrap()
}

/// Returns the contents that a search finds.
pub(crate) async fn found(cx: &ToolContext, query: &str) -> Vec<String> {
    let output = call(cx, "search_memory", json!({ "query": query })).await;
    contents(&output.unwrap(), "content")
}

pub(crate) fn contents(output: &Value, field: &str) -> Vec<String> {
    let results = output["results"].as_array().unwrap();
    assert_eq!(output["count"], json!(results.len()));
    let contents = results.iter().map(|result| result[field].as_str().unwrap());
    contents.map(str::to_owned).collect()
}

/// Returns a memory for the store itself.
pub(crate) fn new_memory(content: &str, source: MemorySource) -> NewMemory {
    NewMemory {
        scope: MemoryScope::shared(&Workspace::new("acme")),
        content: content.to_owned(),
        memory_type: MemoryType::Fact,
        durability: Durability::Standard,
        importance: Importance::new(0.5).unwrap(),
        source,
        principal: None,
        conversation: None,
        vector: None,
        at: Timestamp::now(),
    }
}

/// An embedder with one dimension for each subject. It maps synonyms to one subject.
#[derive(Clone, Copy)]
pub(crate) struct Subjects;

const SUBJECTS: [&[&str]; 4] = [
    &["tea", "drink", "beverage", "coffee"],
    &["berlin", "city", "lives", "home"],
    &["car", "vehicle", "drives", "bicycle"],
    &["budget", "money", "price"],
];

impl Embedder for Subjects {
    fn model(&self) -> &'static str {
        "subjects"
    }

    fn embed<'a>(&'a self, texts: &'a [String]) -> BoxFuture<'a, Result<Vec<Vec<f32>>, ToolError>> {
        let vector = |text: &String| {
            let text = text.to_lowercase();
            let values = SUBJECTS.iter().zip(1_u8..).map(|(words, place)| {
                let count = words.iter().filter(|word| text.contains(**word)).count();
                f32::from(u8::try_from(count).unwrap()) + f32::from(place) * 0.01
            });
            values.collect()
        };
        let vectors = texts.iter().map(vector).collect();
        async { Ok(vectors) }.boxed()
    }
}

/// An embedder that never works.
pub(crate) struct Broken;

impl Embedder for Broken {
    fn model(&self) -> &'static str {
        "broken"
    }

    fn embed<'a>(&'a self, _: &'a [String]) -> BoxFuture<'a, Result<Vec<Vec<f32>>, ToolError>> {
        async { Err(ToolError::unavailable("the embedder")) }.boxed()
    }
}

/// The traits of a store that `Memory::new` takes.
pub(crate) trait Stores: LongTermStore + ThreadStore + Clone {}
impl<T: LongTermStore + ThreadStore + Clone> Stores for T {}
