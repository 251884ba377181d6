//! Documents of a workspace, their searchable chunks, and the jobs that index them.

use std::fmt;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::{Scope, StoreError, StoreFuture, Timestamp, Workspace, new_row_id, words};
use crate::env;
use crate::text_search::{Candidate, fuse, rank};

/// Maximum length of a file name, in bytes.
const MOST_FILE: usize = 255;

/// Types that are texts although their names do not begin with `text/`.
const TEXTS: &[&str] = &[
    "application/json",
    "application/xml",
    "application/yaml",
    "application/toml",
    "application/javascript",
    "application/x-ndjson",
    "application/sql",
];

/// Maximum length of a MIME type and of a source, in bytes.
const MOST_WORD: usize = 500;

/// The name of a document: a workspace, and the exact file name in it. Two names that differ only in case are two documents.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct DocumentName {
    workspace: Workspace,
    file: String,
}

impl DocumentName {
    /// Creates the name of a document. Take the workspace from the session, not from the request: the workspace isolates tenants from each other. Fails with
    /// `Conflict` if the file name has not 1 to 255 bytes, begins or ends with white space, or contains a control character.
    pub fn new(workspace: &Workspace, file: impl Into<String>) -> Result<Self, StoreError> {
        let file = file.into();
        let fault = if file.is_empty() || file.len() > MOST_FILE {
            format!("has {} bytes, use 1 to {MOST_FILE}", file.len())
        } else if file.trim() != file {
            "begins or ends with white space, remove it".to_owned()
        } else if file.contains(char::is_control) {
            "contains a control character, use a name such as `notes.md`".to_owned()
        } else {
            return Ok(Self {
                workspace: workspace.clone(),
                file,
            });
        };
        Err(StoreError::Conflict(format!("the file name {fault}")))
    }

    /// Returns the workspace.
    pub fn workspace(&self) -> &Workspace {
        &self.workspace
    }

    /// Returns the file name in the workspace.
    pub fn file(&self) -> &str {
        &self.file
    }
}

impl fmt::Display for DocumentName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (file, workspace) = (&self.file, self.workspace.as_str());
        write!(f, "document `{file}` of workspace `{workspace}`")
    }
}

/// The state of a document's index.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum DocumentStatus {
    /// The content was written and is not indexed yet. A search finds the chunks of the previous content, if there was one.
    Pending,
    /// A worker indexes the content, or its process died.
    Indexing,
    /// A search finds the content.
    Indexed,
    /// The content cannot be indexed; [`DocumentRow::fault`] contains the cause. A search does not find the document.
    Failed,
}

words!(DocumentStatus {
    Pending = "pending",
    Indexing = "indexing",
    Indexed = "indexed",
    Failed = "failed",
});

/// How a write changes the content of a document.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum DocumentWriteMode {
    /// Replaces the content.
    Replace,
    /// Adds the new content after a blank line. A document that does not exist is created.
    Append,
}

/// A write to a document.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DocumentWrite {
    /// The document, which is created if it does not exist.
    pub name: DocumentName,
    /// Whether the content is replaced or added.
    pub mode: DocumentWriteMode,
    /// The content. Appended content must be UTF-8.
    pub content: Vec<u8>,
    /// The MIME type. `None` is the type of the existing document in a write that appends, and `text/markdown` otherwise.
    pub mime: Option<String>,
    /// Where the content comes from, such as `agent`, `upload` or a URL.
    pub source: String,
    /// The user for whom the content was written.
    pub principal: Option<String>,
    /// When the content was written.
    pub at: Timestamp,
}

/// A document without its content, and the state of its index.
///
/// Its methods are the state transitions of a row, for authors of a store: read the row, apply the step and write the row back, in one transaction.
///
/// The fields [`created`](Self::created), [`updated`](Self::updated) and [`indexed`](Self::indexed) are times of the caller, and [`ready`](Self::ready) is
/// measured by the clock that decides about leases, which is the database's clock in a `PostgresStore`.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct DocumentRow {
    /// The name of the document.
    pub name: DocumentName,
    /// The id of the document, which is unique in the store. It is not a secret.
    pub id: String,
    /// The MIME type of the content.
    pub mime: String,
    /// The size of the content, in bytes.
    pub size: u64,
    /// Where the content comes from.
    pub source: String,
    /// The user for whom the content was last written.
    pub principal: Option<String>,
    /// The state of the index.
    pub status: DocumentStatus,
    /// Why the content could not be indexed, such as `PDF_ENCRYPTED`; `None` unless the status is [`Failed`](DocumentStatus::Failed).
    pub fault: Option<String>,
    /// The number of chunks that a search finds.
    pub chunks: u32,
    /// When a worker may index the document: the time from which it waits, or the end of the lease of the current claim. `None` if there is nothing to index.
    pub ready: Option<Timestamp>,
    /// The token of the current claim, which is new for each claim.
    pub token: Option<String>,
    /// The name of the worker that claimed the document last, for operators.
    pub worker: Option<String>,
    /// The number of claims whose lease expired since the content was written.
    pub recoveries: u32,
    /// When the document was created.
    pub created: Timestamp,
    /// When the content was last written.
    pub updated: Timestamp,
    /// When the content was last indexed.
    pub indexed: Option<Timestamp>,
}

/// A document with its content.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Document {
    /// The document.
    pub row: DocumentRow,
    /// The content as it was written.
    pub content: Vec<u8>,
    /// The text that was extracted from the content; `None` if the content is itself the text, or is not indexed.
    pub text: Option<String>,
}

impl Document {
    /// Maximum size of a document's content, in bytes: 10 MiB.
    pub const MOST_BYTES: u64 = 10 * 1024 * 1024;

    /// Maximum length of a chunk, in characters.
    pub const CHUNK_CHARS: usize = 2_000;

    /// The number of characters at the beginning of a chunk that are also at the end of the previous chunk.
    pub const CHUNK_OVERLAP: usize = 200;

    /// Returns whether a MIME type is a text, so that the content of the document is its text.
    ///
    /// ```
    /// use tool_store::Document;
    ///
    /// assert!(Document::is_text("text/html; charset=utf-8") && Document::is_text("application/ld+json"));
    /// assert!(!Document::is_text("application/pdf"));
    /// ```
    pub fn is_text(mime: &str) -> bool {
        let essence = mime.split(';').next().unwrap_or_default();
        let essence = essence.trim().to_ascii_lowercase();
        let suffixes = ["+json", "+xml", "+yaml"];
        essence.starts_with("text/")
            || suffixes.iter().any(|suffix| essence.ends_with(suffix))
            || TEXTS.contains(&essence.as_str())
    }

    /// Splits a text into chunks of [`CHUNK_CHARS`](Self::CHUNK_CHARS) characters that overlap by [`CHUNK_OVERLAP`](Self::CHUNK_OVERLAP) characters. A
    /// blank text has no chunks.
    ///
    /// ```
    /// use tool_store::Document;
    ///
    /// let chunks = Document::chunks("ü".repeat(3_000).as_str());
    /// assert_eq!(chunks.iter().map(|chunk| chunk.chars().count()).collect::<Vec<_>>(), [2_000, 1_200]);
    /// ```
    pub fn chunks(text: &str) -> Vec<String> {
        if text.trim().is_empty() {
            return Vec::new();
        }
        let mut chunks = Vec::new();
        let mut rest = text;
        loop {
            let place = |chars: usize| {
                let place = rest.char_indices().nth(chars);
                place.map(|(byte, _)| byte)
            };
            let Some(end) = place(Self::CHUNK_CHARS) else {
                chunks.push(rest.to_owned());
                return chunks;
            };
            chunks.push(rest[..end].to_owned());
            let next = place(Self::CHUNK_CHARS - Self::CHUNK_OVERLAP).unwrap_or(end);
            rest = &rest[next..];
        }
    }
}

/// The result of [`KnowledgeStore::write_document`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum DocumentWritten {
    /// The content was stored and waits for its index.
    Stored {
        /// The document after the write.
        row: Box<DocumentRow>,
        /// Whether the document did not exist before.
        created: bool,
    },
    /// Nothing was changed, because the content would be larger than [`Document::MOST_BYTES`].
    TooLarge {
        /// The size that the content would have, in bytes.
        size: u64,
    },
}

/// A claim of a document by a worker that indexes documents.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct IndexClaim {
    /// The name of the worker, for operators.
    pub worker: String,
    /// The length of the lease.
    pub lease: Duration,
    /// The number of expired leases after which a document fails with [`DocumentRow::CRASH_LIMIT`] instead of being claimed.
    pub most_recoveries: u32,
    /// When the worker claims.
    pub at: Timestamp,
}

impl IndexClaim {
    /// Returns a new token for a claim.
    pub fn token() -> String {
        let (process, serial) = env::serial();
        format!("{process:016x}{serial:016x}")
    }
}

/// How the index of a claimed document ends.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum IndexOutcome {
    /// The content was indexed. The chunks replace the chunks of the previous content.
    Indexed {
        /// The text that was extracted from the content; `None` if the content is itself the text.
        text: Option<String>,
        /// The chunks, in order.
        chunks: Vec<String>,
    },
    /// The content cannot be indexed, for this cause, such as `PDF_ENCRYPTED`. The chunks of the previous content are removed.
    Failed(String),
    /// The document waits again for this time, for example because the worker is shut down.
    Retry(Duration),
}

/// A query for chunks.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ChunkSearch<'a> {
    /// The workspace whose documents are searched.
    pub workspace: &'a Workspace,
    /// The query, in words. It is not a query language: operators have no meaning.
    pub query: &'a str,
    /// The maximum number of chunks.
    pub limit: u32,
}

/// A chunk that matches a query.
#[derive(Clone, Debug, PartialEq)]
pub struct ChunkHit {
    /// The file name of the document.
    pub file: String,
    /// The position of the chunk in its document; 0 is the first.
    pub index: u32,
    /// The text of the chunk.
    pub content: String,
    /// The score, with four decimals. It depends only on the rank of the chunk, so it can be compared only with scores of the same query.
    pub score: f64,
}

/// A filter for documents.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct DocumentFilter {
    /// Documents with this status.
    pub status: Option<DocumentStatus>,
    /// The maximum number of rows.
    pub limit: Option<u32>,
    /// The cursor: only rows after it. It is the [`DocumentRow::name`] of the last row of the previous page.
    pub after: Option<DocumentName>,
}

impl DocumentFilter {
    /// Returns whether the filter admits a row. The caller applies `limit`.
    pub fn admits(&self, row: &DocumentRow) -> bool {
        self.status.is_none_or(|status| status == row.status)
            && self.after.as_ref().is_none_or(|after| row.name > *after)
    }
}

impl DocumentWrite {
    /// Checks the conditions of [`KnowledgeStore::write_document`] that do not depend on stored rows. Fails with `Conflict` if appended content is not UTF-8,
    /// or if the MIME type or the source is empty, longer than 500 bytes or contains a control character.
    pub fn check(&self) -> Result<(), StoreError> {
        let conflict = |fault: String| Err(StoreError::Conflict(format!("{}: {fault}", self.name)));
        let words = [
            ("MIME type", self.mime.as_deref()),
            ("source", Some(self.source.as_str())),
        ];
        for (what, word) in words {
            let Some(word) = word else { continue };
            if word.is_empty() || word.len() > MOST_WORD || word.contains(char::is_control) {
                return conflict(format!(
                    "the {what} must have 1 to {MOST_WORD} bytes and no control characters"
                ));
            }
        }
        if self.mode == DocumentWriteMode::Append && str::from_utf8(&self.content).is_err() {
            return conflict("the content to append is not UTF-8 text".to_owned());
        }
        Ok(())
    }
}

impl DocumentRow {
    /// The [fault](Self::fault) of a document whose leases expired too often, probably because its content crashes the processes that index it.
    pub const CRASH_LIMIT: &'static str = "CRASH_LIMIT";

    /// Applies [`KnowledgeStore::write_document`] to the stored row with its content, or to `None`, after [`DocumentWrite::check`]. A write that replaces the
    /// content does not use the stored content, which may then be empty. `ready` is the time from which a worker may index the document. Returns the result,
    /// and the content to store with the row.
    pub fn write(
        stored: Option<(Self, Vec<u8>)>,
        new: DocumentWrite,
        ready: Timestamp,
    ) -> Result<(DocumentWritten, Vec<u8>), StoreError> {
        let created = stored.is_none();
        let (row, mime, content) = match stored {
            Some((row, before)) if new.mode == DocumentWriteMode::Append => {
                let mime = row.appended_type(&before, new.mime.as_deref())?;
                (Some(row), mime, joined(before, &new.content))
            }
            stored => {
                let mime = new.mime.unwrap_or_else(|| "text/markdown".to_owned());
                (stored.map(|(row, _)| row), mime, new.content)
            }
        };
        let size = u64::try_from(content.len()).unwrap_or(u64::MAX);
        if size > Document::MOST_BYTES {
            return Ok((DocumentWritten::TooLarge { size }, Vec::new()));
        }
        let (id, chunks, created_at, indexed) = match row {
            Some(row) => (row.id, row.chunks, row.created, row.indexed),
            None => (new_row_id()?, 0, new.at, None),
        };
        let row = Self {
            name: new.name,
            id,
            mime,
            size,
            source: new.source,
            principal: new.principal,
            status: DocumentStatus::Pending,
            fault: None,
            chunks,
            ready: Some(ready),
            token: None,
            worker: None,
            recoveries: 0,
            created: created_at,
            updated: new.at,
            indexed,
        };
        let row = Box::new(row);
        Ok((DocumentWritten::Stored { row, created }, content))
    }

    /// Returns the MIME type of the document after a write that appends. Fails if the types differ, or if the document is not a text.
    fn appended_type(&self, content: &[u8], mime: Option<&str>) -> Result<String, StoreError> {
        let (name, own) = (&self.name, &self.mime);
        if mime.is_some_and(|mime| mime != own) {
            return Err(StoreError::Conflict(format!(
                "the {name} has the type `{own}`: append content of this type, or replace the document"
            )));
        }
        if !Document::is_text(own) || str::from_utf8(content).is_err() {
            return Err(StoreError::Conflict(format!(
                "the {name} is not a text (`{own}`): replace it instead of appending"
            )));
        }
        Ok(own.clone())
    }

    /// Returns whether a worker may claim the document.
    pub fn is_ready(&self, now: Timestamp) -> bool {
        self.ready.is_some_and(|ready| ready <= now)
    }

    /// Applies [`KnowledgeStore::claim_document`] to a row that [is ready](Self::is_ready). Returns whether the row was claimed. Otherwise it has failed,
    /// because its lease expired too often, and its chunks must be removed.
    pub fn claim(&mut self, claim: &IndexClaim, token: String) -> bool {
        if self.status == DocumentStatus::Indexing {
            self.recoveries = self.recoveries.saturating_add(1);
            if self.recoveries > claim.most_recoveries {
                self.fail(Self::CRASH_LIMIT.to_owned());
                return false;
            }
        }
        self.status = DocumentStatus::Indexing;
        self.token = Some(token);
        self.worker = Some(claim.worker.clone());
        self.ready = Some(claim.at.plus(claim.lease));
        true
    }

    fn fail(&mut self, fault: String) {
        self.status = DocumentStatus::Failed;
        self.fault = Some(fault);
        self.chunks = 0;
        self.ready = None;
        self.token = None;
    }

    /// Returns whether a token is the token of the current claim.
    fn is_claimed_with(&self, token: &str) -> bool {
        self.status == DocumentStatus::Indexing && self.token.as_deref() == Some(token)
    }

    /// Applies [`KnowledgeStore::extend_index`] to the row. Returns false, and changes nothing, if the token is not the token of the current claim, or if the
    /// lease has expired.
    pub fn extend(&mut self, token: &str, lease: Duration, now: Timestamp) -> bool {
        let extends = self.is_claimed_with(token) && !self.is_ready(now);
        if extends {
            self.ready = self.ready.max(Some(now.plus(lease)));
        }
        extends
    }

    /// Applies [`KnowledgeStore::finish_index`] to the row. `now` is the time of the clock that decides about leases, and `at` the time of the caller. Returns
    /// false, and changes nothing, if the token is not the token of the current claim.
    pub fn finish(
        &mut self,
        token: &str,
        outcome: &IndexOutcome,
        now: Timestamp,
        at: Timestamp,
    ) -> bool {
        if !self.is_claimed_with(token) {
            return false;
        }
        match outcome {
            IndexOutcome::Indexed { chunks, .. } => {
                self.status = DocumentStatus::Indexed;
                self.chunks = u32::try_from(chunks.len()).unwrap_or(u32::MAX);
                self.ready = None;
                self.token = None;
                self.recoveries = 0;
                self.indexed = Some(at);
            }
            IndexOutcome::Failed(fault) => self.fail(fault.clone()),
            IndexOutcome::Retry(after) => {
                self.status = DocumentStatus::Pending;
                self.ready = Some(now.plus(*after));
                self.token = None;
            }
        }
        true
    }

    /// Returns the workspace of the document.
    pub fn workspace(&self) -> &Workspace {
        self.name.workspace()
    }
}

/// Joins two texts with a blank line.
fn joined(mut before: Vec<u8>, added: &[u8]) -> Vec<u8> {
    if !before.is_empty() {
        before.extend_from_slice(b"\n\n");
    }
    before.extend_from_slice(added);
    before
}

/// Implements the ranking of [`KnowledgeStore::search_chunks`]. `total` is the number of chunks of the workspace, from which the candidates come.
pub(crate) fn best_chunks<K: Clone + Ord>(
    query: &[String],
    candidates: Vec<Candidate<K>>,
    total: u64,
    limit: u32,
) -> Vec<(K, f64)> {
    let limit = usize::try_from(limit).unwrap_or(usize::MAX);
    // A chunk below this place in both rankings is not among the best.
    let fetched = limit.saturating_mul(2).max(20);
    let keys = |ranked: Vec<(K, f64)>| {
        let keys = ranked.into_iter().take(fetched);
        keys.map(|(key, _)| key).collect::<Vec<K>>()
    };
    let any = keys(rank(query, &candidates, total));
    let mut complete = candidates;
    complete.retain(|candidate| {
        query
            .iter()
            .all(|term| candidate.terms.split(' ').any(|word| word == term))
    });
    let complete = keys(rank(query, &complete, total));
    let fused = fuse(&[complete, any]).into_iter().take(limit);
    fused
        .map(|(key, score)| (key, (score * 10_000.0).round() / 10_000.0))
        .collect()
}

/// A store of documents that a search finds by their words.
///
/// A write stores the content and marks the document for the index. A worker claims the document for the length of a lease, splits its text into chunks, and
/// stores them. If its process dies, another worker claims the document when the lease expires. A write during a claim ends the claim, so that the
/// chunks always belong to content that was complete.
///
/// Documents belong to their workspace and are kept until [`remove_document`](Self::remove_document) removes them. The erasure of a user
/// ([`Maintenance::erase_contents`](super::Maintenance::erase_contents)) removes the name of the user from the documents, and keeps the documents.
///
/// Contents are stored in clear text, also by a store that seals messages, because the index of the words contains them.
///
/// ```
/// use std::time::Duration;
/// use tool_store::*;
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), StoreError> {
/// let (store, workspace, at) = (MemoryStore::default(), Workspace::new("acme"), Timestamp::now());
/// let name = DocumentName::new(&workspace, "returns.md")?;
/// store.write_document(DocumentWrite {
///     name: name.clone(), mode: DocumentWriteMode::Replace, content: "Returns are free for 30 days.".into(), mime: None,
///     source: "upload".into(), principal: None, at,
/// }).await?;
///
/// // A worker indexes the document.
/// let claim = IndexClaim { worker: "one".into(), lease: Duration::from_secs(60), most_recoveries: 3, at };
/// let document = store.claim_document(Scope::All, claim).await?.expect("a document");
/// let text = String::from_utf8_lossy(&document.content);
/// let indexed = IndexOutcome::Indexed { text: None, chunks: Document::chunks(&text) };
/// assert!(store.finish_index(&name, document.row.token.as_deref().unwrap(), indexed, at).await?);
///
/// let hits = store.search_chunks(ChunkSearch { workspace: &workspace, query: "free returns", limit: 5 }).await?;
/// assert_eq!(hits[0].file, "returns.md");
/// # Ok(())
/// # }
/// ```
#[doc(alias("rag", "retrieval", "knowledge base", "full-text search"))]
pub trait KnowledgeStore: Send + Sync + 'static {
    /// Writes the content of a document, and marks it for the index. Fails with `Conflict` if [`DocumentWrite::check`] fails, or if text is appended to a
    /// document that is not a text or has a different type.
    fn write_document(&self, write: DocumentWrite) -> StoreFuture<'_, DocumentWritten>;

    /// Returns a document with its content; `None` if it does not exist.
    fn document<'a>(&'a self, name: &'a DocumentName) -> StoreFuture<'a, Option<Document>>;

    /// Returns the documents of a scope, ordered by workspace and file name.
    fn list_documents<'a>(
        &'a self,
        scope: Scope<'a>,
        filter: &'a DocumentFilter,
    ) -> StoreFuture<'a, Vec<DocumentRow>>;

    /// Removes a document with its content and its chunks. Returns whether it existed. Afterwards, no file of the store contains the content.
    fn remove_document<'a>(&'a self, name: &'a DocumentName) -> StoreFuture<'a, bool>;

    /// Returns the chunks of a workspace that match a query, best first. Two rankings are fused by rank: the chunks that contain every word of the query,
    /// and the chunks that contain any of the words.
    fn search_chunks<'a>(&'a self, search: ChunkSearch<'a>) -> StoreFuture<'a, Vec<ChunkHit>>;

    /// Claims the document that has waited longest. Documents whose leases expired too often fail and are skipped. `None` if no document is ready.
    fn claim_document<'a>(
        &'a self,
        scope: Scope<'a>,
        claim: IndexClaim,
    ) -> StoreFuture<'a, Option<Document>>;

    /// Extends the lease of a claim. Returns false if the token is not the token of the current claim, or if the lease has expired: the worker must then stop
    /// its work.
    fn extend_index<'a>(
        &'a self,
        name: &'a DocumentName,
        token: &'a str,
        lease: Duration,
        at: Timestamp,
    ) -> StoreFuture<'a, bool>;

    /// Ends a claim. Returns false, and changes nothing, if the token is not the token of the current claim.
    fn finish_index<'a>(
        &'a self,
        name: &'a DocumentName,
        token: &'a str,
        outcome: IndexOutcome,
        at: Timestamp,
    ) -> StoreFuture<'a, bool>;
}
