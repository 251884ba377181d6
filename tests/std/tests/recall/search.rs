//! Hosts whose memories are the passages of a question set, and their searches.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use futures::FutureExt as _;
use futures::future::BoxFuture;
use serde_json::{Value, json};
use tool_core::prelude::*;
use tool_core::store::text_search::fuse;
use tool_core::store::{
    LongTermStore, MemoryHit, MemoryQuery, MemoryScope, MemoryVector, ThreadStore, Timestamp,
    Workspace,
};
use tool_std::memory::{Embedder as _, Memory, Reranker, remember, search_memory};

use super::questions::{Question, QuestionSet, Vectors};

/// The agent that searches.
const AGENT: &str = "a";

/// The number of results of a search.
const LIMIT: u32 = 10;

/// The method by which a question is searched.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Search {
    /// `search_memory` without an embedder.
    Words,
    /// The store's search by meaning.
    Meaning,
    /// `search_memory` with an embedder.
    Both,
    /// The results of the store's searches by words and by meaning, fused by reciprocal rank.
    Ranks,
    /// `search_memory` with an embedder and a reranker that knows the answers. No reranker can reach better figures.
    Reranked,
    /// `search_memory` with the same embedder and reranker in the fast mode.
    Fast,
}

impl Search {
    pub(crate) const ALL: [Self; 6] = [
        Self::Words,
        Self::Meaning,
        Self::Both,
        Self::Ranks,
        Self::Fast,
        Self::Reranked,
    ];

    /// Returns the name in the table of figures.
    pub(crate) fn title(self) -> &'static str {
        match self {
            Self::Words => "words",
            Self::Meaning => "meaning",
            Self::Both => "words and meaning",
            Self::Ranks => "words and meaning, fused by rank",
            Self::Fast => "words and meaning, fast mode",
            Self::Reranked => "words and meaning, perfect reranker",
        }
    }
}

/// The memories of one question set.
pub(crate) struct Host {
    workspace: Workspace,
    memory: Memory,
    embedder: Vectors,
    judge: Judge,
    /// The id of each passage, by its text.
    passages: BTreeMap<String, String>,
}

impl Host {
    /// Remembers the passages of a set in the workspace of its language, one half for all agents and one half for the agent that searches.
    pub(crate) async fn with_passages<S: LongTermStore + ThreadStore + Clone>(
        store: S,
        set: &QuestionSet,
    ) -> Self {
        let passages = set.passages.iter();
        let passages = passages.map(|passage| (passage.text.clone(), passage.id.clone()));
        let host = Self {
            workspace: Workspace::new(set.language),
            memory: Memory::new(store),
            embedder: set.embedder.clone(),
            judge: Judge::of(set),
            passages: passages.collect(),
        };
        let cx = host.context(host.memory.clone());
        for (passage, scope) in set.passages.iter().zip(["org", "agent"].iter().cycle()) {
            let arguments = json!({ "content": passage.text, "scope": scope });
            call(&cx, "remember", arguments).await;
        }
        // The embeddings are computed afterwards, because a memory that is similar to an earlier one replaces it.
        let memory = host.memory.clone().embedder(host.embedder.clone());
        while memory.embed_missing(&host.workspace, 100).await.unwrap() > 0 {}
        host
    }

    fn context(&self, memory: Memory) -> ToolContext {
        let cx = ToolContext::builder().workspace(self.workspace.as_str());
        cx.agent(AGENT).conversation("main").with(memory).build()
    }

    /// Returns the ids of the passages that a search finds, best first.
    pub(crate) async fn found(&self, question: &Question, search: Search) -> Vec<String> {
        let memory = self.memory.clone();
        let with_embedder = || memory.clone().embedder(self.embedder.clone());
        let memory = match search {
            Search::Words => memory,
            Search::Meaning => return self.ids(&self.nearest(&question.text).await),
            Search::Ranks => return self.fused_by_rank(&question.text).await,
            Search::Both => with_embedder(),
            Search::Reranked => with_embedder().reranker(self.judge.clone()),
            Search::Fast => with_embedder().reranker(self.judge.clone()).fast_mode(true),
        };
        let arguments = json!({ "query": question.text, "limit": LIMIT });
        let output = call(&self.context(memory), "search_memory", arguments).await;
        assert_eq!(output["note"], Value::Null);
        let results = output["results"].as_array().unwrap().iter();
        let texts = results.map(|result| result["content"].as_str().unwrap().to_owned());
        self.ids(&texts.collect::<Vec<_>>())
    }

    /// Returns the texts that the store finds by meaning.
    async fn nearest(&self, question: &str) -> Vec<String> {
        let vectors = self.embedder.embed(&[question.to_owned()]).await.unwrap();
        let values = vectors.into_iter().next().unwrap();
        let vector = MemoryVector::new(self.embedder.model(), values).unwrap();
        let (store, reader) = (self.memory.store(), self.reader());
        let query = query(question);
        let found = store.nearest_memories(&reader, &vector, &query).await;
        texts(found.unwrap())
    }

    async fn fused_by_rank(&self, question: &str) -> Vec<String> {
        let (store, reader) = (self.memory.store(), self.reader());
        let query = query(question);
        let words = store.search_memories(&reader, &query).await;
        let lists = [texts(words.unwrap()), self.nearest(question).await];
        let fused = fuse(&lists).into_iter().map(|(text, _)| text);
        self.ids(&fused.collect::<Vec<_>>())
    }

    fn reader(&self) -> MemoryScope {
        MemoryScope::agent(&self.workspace, AGENT).unwrap()
    }

    fn ids(&self, texts: &[String]) -> Vec<String> {
        let texts = texts.iter();
        texts.map(|text| self.passages[text].clone()).collect()
    }
}

/// Returns the query with which `search_memory` searches the store.
fn query(question: &str) -> MemoryQuery {
    MemoryQuery {
        text: question.to_owned(),
        types: Vec::new(),
        limit: 2 * LIMIT,
        now: Timestamp::now(),
    }
}

fn texts(hits: Vec<MemoryHit>) -> Vec<String> {
    hits.into_iter().map(|hit| hit.memory.content).collect()
}

async fn call(cx: &ToolContext, tool: &str, arguments: Value) -> Value {
    let tools = toolset![search_memory, remember];
    let call = ToolCall::new("1", tool, arguments.to_string());
    let result = tools.call(call, cx).await;
    let output = result
        .output()
        .unwrap_or_else(|| panic!("{}", result.model_text()));
    serde_json::from_str(output.get()).unwrap()
}

/// A reranker that knows the relevant passages of each question.
#[derive(Clone)]
struct Judge(Arc<BTreeMap<String, BTreeSet<String>>>);

impl Judge {
    fn of(set: &QuestionSet) -> Self {
        let passages = set.passages.iter();
        let texts: BTreeMap<&str, &str> = passages
            .map(|passage| (passage.id.as_str(), passage.text.as_str()))
            .collect();
        let questions = set.questions.iter().map(|question| {
            let relevant = question.relevant.iter();
            let relevant = relevant.map(|id| texts[id.as_str()].to_owned());
            (question.text.clone(), relevant.collect())
        });
        Self(Arc::new(questions.collect()))
    }
}

impl Reranker for Judge {
    fn rerank<'a>(
        &'a self,
        query: &'a str,
        texts: &'a [String],
    ) -> BoxFuture<'a, Result<Vec<f64>, ToolError>> {
        let relevant = &self.0[query];
        let scores = texts
            .iter()
            .map(|text| f64::from(u8::from(relevant.contains(text))));
        let scores = scores.collect();
        async { Ok(scores) }.boxed()
    }
}
