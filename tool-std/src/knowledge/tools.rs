//! The tools `search_knowledge`, `get_knowledge` and `write_knowledge`.

use std::collections::BTreeMap;

use futures::future::join;
use tool_core::prelude::*;
use tool_core::store::text_search::fuse;
use tool_core::store::{
    ChunkHit, ChunkSearch, Document, DocumentName, DocumentWrite, DocumentWriteMode,
    DocumentWritten, StoreError, Timestamp,
};

use super::fault::explained;
use super::handle::{KnowledgeReader, KnowledgeWriter, unavailable};
use crate::embedding::{both, rounded};

/// Maximum size of the content of one call of [`write_knowledge`](fn@write_knowledge), in bytes: 1 MiB.
pub const MOST_CALL_BYTES: usize = 1024 * 1024;

/// The note on a document whose embeddings could not be computed.
const UNEMBEDDED: &str = "Parts of the document are found by their words only, because their meaning could not be determined yet. This is tried again.";

/// The parts of documents that match a query.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, StrictSchema)]
pub struct FoundKnowledge {
    /// Whether a document matches the query.
    pub found: bool,
    /// The parts, best first.
    pub results: Vec<KnowledgeResult>,
    /// Why results may be missing or in a worse order; null if every search succeeded.
    pub note: Option<String>,
}

/// A part of a document.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, StrictSchema)]
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
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, StrictSchema)]
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
    /// Why the document cannot be indexed, if the status is `failed`.
    pub error: Option<String>,
    /// Why a search finds parts of the document by their words only, if their meaning could not be determined yet.
    pub note: Option<String>,
    /// The time at which the document was last written, in ISO 8601.
    pub updated_at: Option<String>,
}

/// How `write_knowledge` changes a document.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, StrictSchema)]
#[serde(rename_all = "snake_case")]
pub enum KnowledgeAction {
    /// Creates the document, or replaces its whole content.
    Write,
    /// Adds the content to the end of the document, after a blank line. A document that does not exist is created.
    Append,
}

/// A document that was written.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, StrictSchema)]
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

/// Searches the documents of the workspace, and returns the best matching parts of them. Read a whole document with `get_knowledge`.
#[tool(
    category = "knowledge",
    example("A question", { "query": "return policy for opened goods" }),
    example("The best match only", { "query": "opening hours Hamburg", "limit": 1 }),
)]
pub async fn search_knowledge(
    knowledge: &KnowledgeReader,
    cx: &ToolContext,
    /// Words or a question.
    #[arg(length = 1..=1000)]
    query: String,
    /// The maximum number of parts to return.
    #[arg(default = 5, range = 1..=50)]
    limit: u32,
) -> Result<FoundKnowledge, ToolError> {
    let KnowledgeReader {
        knowledge,
        workspace,
    } = knowledge;
    let is_hybrid = knowledge.model().is_some();
    // Each search returns more results than the limit, because a result that both searches find may be the best one.
    let fetched = if is_hybrid {
        limit.saturating_mul(2).max(20)
    } else {
        limit
    };
    let words = knowledge.store().search_chunks(ChunkSearch {
        workspace,
        query: &query,
        limit: fetched,
    });
    let meanings = knowledge.nearest(workspace, &query, fetched);
    let (words, meanings) = join(words, meanings).await;
    if let Err(error) = &meanings {
        tracing::warn!(
            error = error.operator_text(),
            "the documents cannot be searched by meaning"
        );
    }
    let (mut lists, note) = both(words.map_err(|error| unavailable(&error)), meanings)?;
    let hits: Vec<ChunkHit> = if is_hybrid {
        let mut hits = fused(lists);
        hits.truncate(usize::try_from(limit).unwrap_or(usize::MAX));
        hits
    } else {
        lists.pop().unwrap_or_default()
    };
    let results: Vec<KnowledgeResult> = hits
        .into_iter()
        .map(|hit| KnowledgeResult {
            content: hit.content,
            score: hit.score,
            file: hit.file,
            chunk_index: hit.index,
        })
        .collect();
    for result in &results {
        let part = format!("{}#{}", result.file, result.chunk_index);
        cx.cite(Citation::new("knowledge", part));
    }
    Ok(FoundKnowledge {
        found: !results.is_empty(),
        results,
        note: note.map(str::to_owned),
    })
}

/// Fuses rankings of chunks by rank, best first. The scores of a search by words depend on ranks only, so they cannot be compared with cosines.
fn fused(lists: Vec<Vec<ChunkHit>>) -> Vec<ChunkHit> {
    let key = |hit: &ChunkHit| (hit.file.clone(), hit.index);
    let keys = lists.iter().map(|hits| hits.iter().map(key).collect());
    let keys: Vec<Vec<(String, u32)>> = keys.collect();
    let hits = lists.into_iter().flatten();
    let mut hits: BTreeMap<_, ChunkHit> = hits.map(|hit| (key(&hit), hit)).collect();
    let fused = fuse(&keys).into_iter();
    fused
        .filter_map(|(key, score)| {
            let score = rounded(score);
            let hit = hits.remove(&key)?;
            Some(ChunkHit { score, ..hit })
        })
        .collect()
}

/// Returns a document of the workspace by its exact file name, with its whole text. Upper and lower case differ.
#[tool(
    category = "knowledge",
    example("A document", { "file": "returns.md" }),
)]
pub async fn get_knowledge(
    knowledge: &KnowledgeReader,
    cx: &ToolContext,
    /// The file name, as in the results of `search_knowledge`.
    #[arg(length = 1..=255)]
    file: String,
) -> Result<KnowledgeDocument, ToolError> {
    // No document can have an invalid name, so the document does not exist.
    let Ok(name) = DocumentName::new(&knowledge.workspace, file) else {
        return Ok(KnowledgeDocument::default());
    };
    let read = knowledge.knowledge.store().document(&name).await;
    let Some(document) = read.map_err(|error| unavailable(&error))? else {
        return Ok(KnowledgeDocument::default());
    };
    cx.cite(Citation::new("knowledge", name.file()));
    let Document { row, content, text } = document;
    let own = if Document::is_text(&row.mime) {
        String::from_utf8(content).ok()
    } else {
        None
    };
    Ok(KnowledgeDocument {
        found: true,
        file: Some(name.file().to_owned()),
        content: own.or(text),
        mime: Some(row.mime),
        size: Some(row.size),
        source: Some(row.source),
        status: Some(row.status.as_str().to_owned()),
        error: row.fault.as_deref().map(explained),
        note: (row.embedding.failures > 0).then(|| UNEMBEDDED.to_owned()),
        updated_at: Some(row.updated.rfc3339()),
    })
}

/// Writes a text document of the workspace, so that later searches find it: creates it, replaces it, or adds to its end. Use it for what should be known in
/// later conversations.
#[tool(
    category = "knowledge",
    destructive,
    example("A new document", { "action": "write", "file": "returns.md", "content": "# Returns\n\nReturns are free for 30 days." }),
    example("More text at its end", { "action": "append", "file": "returns.md", "content": "Opened goods are excluded." }),
)]
pub async fn write_knowledge(
    knowledge: &KnowledgeWriter,
    cx: &ToolContext,
    /// Replace the whole document, or add to its end.
    action: KnowledgeAction,
    /// The file name, such as `returns.md`.
    #[arg(length = 1..=255)]
    file: String,
    /// The text, at most 1 MiB in one call. A document has at most 10 MiB.
    content: String,
    /// The MIME type of the text. The default is `text/markdown`; a document that is extended keeps its type.
    #[arg(length = 1..=200)]
    mime: Option<String>,
) -> Result<KnowledgeWritten, ToolError> {
    if content.len() > MOST_CALL_BYTES {
        return Err(too_large(&format!(
            "the content has {} bytes, and one call writes at most {MOST_CALL_BYTES} bytes: write the document in parts with `append`",
            content.len()
        )));
    }
    let name = DocumentName::new(&knowledge.workspace, file).map_err(refused)?;
    if let Some(mime) = mime.as_deref().filter(|mime| !Document::is_text(mime)) {
        return Err(ToolError::new(format!(
            "`{mime}` is not a text type, use `text/markdown`, `text/plain` or another text type"
        )));
    }
    let write = DocumentWrite {
        name,
        mode: match action {
            KnowledgeAction::Write => DocumentWriteMode::Replace,
            KnowledgeAction::Append => DocumentWriteMode::Append,
        },
        content: content.into_bytes(),
        mime,
        source: "agent".to_owned(),
        principal: cx.user().map(str::to_owned),
        at: Timestamp::now(),
    };
    match knowledge.knowledge.write(write).await.map_err(refused)? {
        DocumentWritten::Stored { row, created } => Ok(KnowledgeWritten {
            ok: true,
            document_id: row.id,
            created,
            reindex_scheduled: row.ready.is_some(),
            size: row.size,
        }),
        DocumentWritten::TooLarge { size } => Err(too_large(&format!(
            "the document would have {size} bytes, and a document has at most {} bytes: continue in another document",
            Document::MOST_BYTES
        ))),
    }
}

fn too_large(text: &str) -> ToolError {
    ToolError::new(format!("DOCUMENT_SIZE_EXCEEDED: {text}"))
}

/// Returns the error for an invalid file name, or for a write that the store has refused or could not make.
fn refused(error: StoreError) -> ToolError {
    match error {
        StoreError::Conflict(text) => ToolError::new(text),
        error => unavailable(&error),
    }
}
