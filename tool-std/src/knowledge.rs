//! Documents of a workspace, which a model searches, reads and writes.
//!
//! | tool | |
//! |---|---|
//! | [`search_knowledge`](fn@search_knowledge) | returns the chunks (pieces of documents) that match a query |
//! | [`get_knowledge`](fn@get_knowledge) | returns a document by its exact file name |
//! | [`write_knowledge`](fn@write_knowledge) | creates, replaces or extends a document |
//!
//! ```text
//! search_knowledge {"query": "return policy", "limit": 1}
//!
//! {"found":true,"results":[{"content":"Returns are free for 30 days. …","score":0.0328,"file":"returns.md","chunk_index":0}],"note":null}
//! ```
//!
//! # Set up
//!
//! The host puts a [`Knowledge`] into the context, and runs an [`Indexer`] in one or more of its processes. A write stores the content at once. The indexer then
//! splits the document into chunks and makes them searchable. If its process dies, another indexer continues after the end of the lease.
//!
//! ```
//! use tool_core::prelude::*;
//! use tool_core::store::MemoryStore;
//! use tool_std::knowledge::{Knowledge, search_knowledge, write_knowledge};
//!
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let knowledge = Knowledge::new(MemoryStore::default());
//! let indexer = knowledge.indexer(); // a host runs it with `tokio::spawn(indexer.run())`
//!
//! let cx = ToolContext::builder().workspace("acme").with(knowledge).build();
//! let tools = toolset![search_knowledge, write_knowledge];
//! let text = r##"{"action": "write", "file": "returns.md", "content": "# Returns\n\nReturns are free for 30 days."}"##;
//! let written = tools.call(ToolCall::new("1", "write_knowledge", text), &cx).await;
//! assert!(written.error().is_none());
//!
//! indexer.run_until_idle().await?;
//! let found = tools.call(ToolCall::new("2", "search_knowledge", r#"{"query": "free returns"}"#), &cx).await;
//! assert!(found.model_text().contains("returns.md"));
//! # Ok(())
//! # }
//! ```
//!
//! Documents belong to the workspace of the context; if the context has no workspace, [`Workspace::single`](tool_core::store::Workspace::single) is used. A host
//! adds its own documents, such as uploaded files, with [`Knowledge::write`]. `Rules::knowledge(false)` hides the tools from a turn.
//!
//! # Search by meaning
//!
//! Without an embedder, documents are found by their words. With [`Knowledge::embedder`], for example an `HttpEmbedder` of the module
//! [`embedding`](crate::embedding), [`search_knowledge`](fn@search_knowledge) also finds chunks with a similar meaning. The ranking by words and the ranking by
//! meaning are fused by reciprocal rank (k = 60). If one of the two searches fails, the results of the other one are returned with a note.
//!
//! The indexer computes the embeddings after it has indexed the words, in batches of 64 chunks. If the embedder fails, the document is found by its words,
//! [`get_knowledge`](fn@get_knowledge) returns a note, and the indexer tries again after a pause ([`Indexer::embedding_retry`]). After text was appended, only
//! the chunks that have changed get new embeddings. Vectors of different models are never compared: after a change of the model, call
//! [`Knowledge::renew_embeddings`].
//!
//! # Types of documents
//!
//! | type | index | features |
//! |---|---|---|
//! | `text/markdown`, `text/plain`, other text, JSON, XML, YAML | the text, in UTF-8 | |
//! | `text/html`, `application/xhtml+xml` | the text as Markdown, without navigation; without the feature, the HTML | `knowledge-html` |
//! | `application/pdf` | the text, which a child process in a sandbox reads ([`Indexer`]) | `knowledge-pdf` |
//!
//! [`write_knowledge`](fn@write_knowledge) writes texts only. A host adds other documents with [`Knowledge::write`].
//!
//! A document that cannot be indexed has the status `failed`, and its error begins with a code: see [`DocumentFault`].
//!
//! # Limits
//!
//! The content of one call of `write_knowledge` has at most 1 MiB ([`MOST_CALL_BYTES`]), and a document has at most
//! 10 MiB ([`Document::MOST_BYTES`](tool_core::store::Document::MOST_BYTES)). A chunk has at most 2,000 characters, of which 200 are also in the
//! previous chunk. The tools need no API key or other secret.
//!
//! The text of a document is untrusted input. If a host lets a model act on this text, the policy of the host should limit the calls that the model can make.

mod extract;
mod fault;
mod handle;
mod index;
#[cfg(all(feature = "knowledge-pdf", unix))]
mod pdf;
mod tools;

pub use fault::DocumentFault;
pub use handle::{Knowledge, KnowledgeReader, KnowledgeWriter};
pub use index::Indexer;
pub use tools::{
    FoundKnowledge, KnowledgeAction, KnowledgeDocument, KnowledgeResult, KnowledgeWritten,
    MOST_CALL_BYTES, get_knowledge, search_knowledge, write_knowledge,
};
