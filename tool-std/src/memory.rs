//! Tools with which an agent stores memories across conversations, and searches its memories and its conversation.
//!
//! ```text
//! remember {"content": "Ada drinks green tea.", "memory_type": "preference"}
//!
//! {"id":"7f0c…","event":"add","importance":0.65,"note":null}
//!
//! search_memory {"query": "what does Ada drink?", "limit": 1}
//!
//! {"query":"what does Ada drink?","count":1,"results":[{"id":"7f0c…","content":"Ada drinks green tea.","memory_type":"preference",
//!  "durability":"standard","importance":0.65,"score":0.0274,"scope":"agent","source":"model","created_at":"2026-03-01T09:30:00Z",
//!  "updated_at":"2026-03-01T09:30:00Z"}],"note":null}
//! ```
//!
//! | tool | effect |
//! |---|---|
//! | [`search_memory`](fn@search_memory) | reads the memories that all agents of the workspace share, and those of the calling agent |
//! | [`remember`](fn@remember) | stores a memory; the same content is stored once |
//! | [`memory_block`](fn@memory_block) | appends a note to the conversation's notes; the host must write them into the instructions of each turn ([`Memory::block`]) |
//! | [`search_conversation`](fn@search_conversation) | reads the earlier messages of the conversation |
//!
//! The host adds a [`Memory`] to the context: it contains the store, and optionally an [`Embedder`] for searches by meaning, such as `HttpEmbedder` (feature
//! `http-client`). Without an embedder, memories are found by keywords. The workspace, the agent and the conversation come from the context and never from
//! the model, so an agent cannot read the memories of another agent.
//!
//! The tools need no API key or other secret. Before a text is stored, the secrets of the context are redacted from it.
//!
//! Memories are untrusted input: a model may have remembered what a web page says. Each result states the author of its content ([`MemorySource`]),
//! and content of a less trusted source never replaces content of a more trusted one. If a host lets a model act on memories, the policy of the host
//! should limit the calls that the model can make.
//!
//! # Limits
//!
//! | value | limit |
//! |---|---|
//! | content of a memory | 2,000 characters |
//! | results of a search | 20 |
//! | note | 500 characters |
//! | notes of a conversation | 4,000 characters; the oldest notes are shortened, then removed |
//! | embeddings compared exactly by a search | all of a scope with at most 1,024, otherwise at least 512 of each scope, chosen by codes of one bit for each dimension |
//! | matches considered for each word of a query | the newest 256 of each scope (the memories of one agent, or the shared memories of a workspace) |
//!
//! # Recall
//!
//! `search_memory` searches by words (BM25) and, with an embedder, also by meaning, and fuses the results by their scores
//! ([`fuse_scores`](tool_core::store::text_search::fuse_scores)). The table has the share of questions whose answer is among the first 5 and 10
//! results, and the mean of the reciprocal ranks of the answers (MRR). The embeddings are from the model `all-MiniLM-L6-v2`, which was trained with
//! English texts only. The question sets are in `tests/std/data/recall`, and `tests/std/tests/recall` measures them in memory, on SQLite and on
//! PostgreSQL.
//!
//! | question set | search | recall@5 | recall@10 | MRR@10 |
//! |---|---|---|---|---|
//! | English: 503 memories, 251 questions | words | 0.534 | 0.633 | 0.406 |
//! | English: 503 memories, 251 questions | meaning | 0.805 | 0.853 | 0.662 |
//! | English: 503 memories, 251 questions | words and meaning | 0.801 | 0.857 | 0.664 |
//! | English: 503 memories, 251 questions | words and meaning, fused by rank | 0.693 | 0.813 | 0.554 |
//! | English: 503 memories, 251 questions | words and meaning, fast mode | 0.801 | 0.857 | 0.664 |
//! | English: 503 memories, 251 questions | words and meaning, perfect reranker | 0.896 | 0.896 | 0.896 |
//! | Swedish: 101 memories, 100 questions | words | 0.610 | 0.680 | 0.525 |
//! | Swedish: 101 memories, 100 questions | meaning | 0.570 | 0.690 | 0.499 |
//! | Swedish: 101 memories, 100 questions | words and meaning | 0.690 | 0.780 | 0.558 |
//! | Swedish: 101 memories, 100 questions | words and meaning, fused by rank | 0.600 | 0.740 | 0.556 |
//! | Swedish: 101 memories, 100 questions | words and meaning, fast mode | 0.690 | 0.780 | 0.558 |
//! | Swedish: 101 memories, 100 questions | words and meaning, perfect reranker | 0.850 | 0.850 | 0.850 |
//!
//! *Fused by rank* is a fusion by reciprocal rank (k = 60) for comparison: the many weak results of the worse search displace results of the better one. The *perfect
//! reranker* knows the answers, so it is the limit of what a [`Reranker`] can reach with the results of both searches. The fast mode skips it.

mod conversation;
mod host;
mod importance;
mod note;
mod record;
mod search;
mod services;
mod types;

#[doc(no_inline)]
pub use crate::embedding::Embedder;
#[cfg(feature = "http-client")]
#[cfg_attr(docsrs, doc(cfg(feature = "http-client")))]
#[doc(no_inline)]
pub use crate::embedding::HttpEmbedder;
pub use conversation::{
    ConversationHit, ConversationResults, ConversationRole, search_conversation,
};
pub use host::Memory;
pub use importance::Heuristic;
pub use note::{BlockState, memory_block};
pub use record::{Remembered, remember};
pub use search::{MemoryResult, MemoryResults, search_memory};
pub use services::{ImportanceScorer, Reranker};
pub use types::{Durability, MemoryChange, MemoryOwner, MemorySource, MemoryType};
