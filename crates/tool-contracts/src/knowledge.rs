//! The tools of the pack `knowledge` of `tool-std`.

use serde::{Deserialize, Serialize};
#[cfg(feature = "schema")]
use tool_core::StrictSchema;

use crate::ToolContract;

/// The arguments of `search_knowledge`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(StrictSchema))]
pub struct SearchKnowledge {
    /// Words or a question.
    #[cfg_attr(feature = "schema", schema(length = 1..=1000))]
    pub query: String,
    /// The maximum number of parts to return.
    #[cfg_attr(feature = "schema", schema(range = 1..=50))]
    pub limit: Option<u32>,
}

impl ToolContract for SearchKnowledge {
    const NAME: &'static str = "search_knowledge";
    type Input = Self;
    type Output = FoundKnowledge;
}

/// The arguments of `get_knowledge`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(StrictSchema))]
pub struct GetKnowledge {
    /// The file name, as in the results of `search_knowledge`.
    #[cfg_attr(feature = "schema", schema(length = 1..=255))]
    pub file: String,
}

impl ToolContract for GetKnowledge {
    const NAME: &'static str = "get_knowledge";
    type Input = Self;
    type Output = KnowledgeDocument;
}

/// The arguments of `write_knowledge`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(StrictSchema))]
pub struct WriteKnowledge {
    /// Replace the whole document, or add to its end.
    pub action: KnowledgeAction,
    /// The file name, such as `returns.md`.
    #[cfg_attr(feature = "schema", schema(length = 1..=255))]
    pub file: String,
    /// The text, at most 1 MiB in one call. A document has at most 10 MiB. The error for more begins with `DOCUMENT_SIZE_EXCEEDED`.
    pub content: String,
    /// The MIME type of the text. The default is `text/markdown`; a document that is extended keeps its type.
    #[cfg_attr(feature = "schema", schema(length = 1..=200))]
    pub mime: Option<String>,
}

impl ToolContract for WriteKnowledge {
    const NAME: &'static str = "write_knowledge";
    type Input = Self;
    type Output = KnowledgeWritten;
}

/// How `write_knowledge` changes a document.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(StrictSchema))]
#[serde(rename_all = "snake_case")]
pub enum KnowledgeAction {
    /// Creates the document, or replaces its whole content.
    Write,
    /// Adds the content to the end of the document, after a blank line. A document that does not exist is created.
    Append,
}

/// The parts of documents that match a query.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(StrictSchema))]
pub struct FoundKnowledge {
    /// Whether a document matches the query.
    pub found: bool,
    /// The parts, best first.
    pub results: Vec<KnowledgeResult>,
    /// Why results may be missing or in a worse order; null if every search succeeded.
    pub note: Option<String>,
}

/// A part of a document.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(StrictSchema))]
pub struct KnowledgeResult {
    /// The text of the part, at most 2,000 characters.
    pub content: String,
    /// The score of the match. Compare it only with the scores of the same query.
    pub score: f64,
    /// The file name of the document.
    pub file: String,
    /// The position of the part in the document; 0 is the first.
    pub chunk_index: u32,
}

/// A document. All fields except `found` are null if the document does not exist.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(StrictSchema))]
pub struct KnowledgeDocument {
    /// Whether the document exists.
    pub found: bool,
    /// The file name.
    pub file: Option<String>,
    /// The whole text; null for a document that is not a text, until its text was extracted.
    pub content: Option<String>,
    /// The MIME type.
    pub mime: Option<String>,
    /// The size of the document in bytes.
    pub size: Option<u64>,
    /// Where the document comes from, such as `agent` or `upload`.
    pub source: Option<String>,
    /// The state of the index: `pending`, `indexing`, `indexed` or `failed`. A search finds the current text when it is `indexed`.
    pub status: Option<String>,
    /// Why the document cannot be indexed, if the status is `failed`. It begins with a code, such as `NOT_TEXT`.
    pub error: Option<String>,
    /// Why a search finds parts of the document by their words only, if their meaning could not be determined yet.
    pub note: Option<String>,
    /// The time at which the document was last written, in ISO 8601.
    pub updated_at: Option<String>,
}

/// A document that was written.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(StrictSchema))]
pub struct KnowledgeWritten {
    /// Always true: a document that was not written is an error.
    pub ok: bool,
    /// The id of the document, which it keeps when its content changes.
    pub document_id: String,
    /// Whether the document is new.
    pub created: bool,
    /// Whether the document waits for its index. A search finds the new content shortly afterwards.
    pub reindex_scheduled: bool,
    /// The size of the whole document in bytes.
    pub size: u64,
}
