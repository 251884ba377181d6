//! Documents: their names, their rows and their chunks.

use std::fmt;

use serde::{Deserialize, Serialize};

use super::DocumentEmbedding;
use crate::store::{StoreError, Timestamp, Workspace, words};

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

/// The name of a document: a workspace, and the exact file name in it. Two names that differ only in case are two documents.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct DocumentName {
    workspace: Workspace,
    file: String,
}

impl DocumentName {
    /// Creates the name of a document. Take the workspace from the session, not from the request: the workspace isolates tenants from each other.
    /// Fails with `Conflict` if the file name is empty or longer than 255 bytes, begins or ends with white space, or contains a control character.
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

    /// Returns the workspace of the document.
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
    /// The content was written and is not indexed yet. A search finds the chunks of the previous content, if it was indexed.
    Pending,
    /// A worker indexes the content, or the process of the worker died.
    Indexing,
    /// A search finds the content.
    Indexed,
    /// The content could not be indexed; [`DocumentRow::fault`] contains the cause. A search does not find the document.
    Failed,
}

words!(DocumentStatus {
    Pending = "pending",
    Indexing = "indexing",
    Indexed = "indexed",
    Failed = "failed",
});

/// A document without its content, and the state of its index.
///
/// Its methods include the state transitions of a row, for authors of a store: read the row, apply the step and write the row back, in one
/// transaction.
///
/// The fields [`created`](Self::created), [`updated`](Self::updated) and [`indexed`](Self::indexed) are times of the caller, and
/// [`ready`](Self::ready) is measured by the clock that decides about leases, which is the database's clock in a `PostgresStore`.
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
    /// The number of chunks in the index.
    pub chunks: u32,
    /// When a worker may index the document: the time from which it waits, or the end of the lease of the current claim. `None` if there is nothing
    /// to index.
    pub ready: Option<Timestamp>,
    /// The token of the current claim, which is new for each claim.
    pub token: Option<String>,
    /// The name of the worker that claimed the document last since the content was written, for operators.
    pub worker: Option<String>,
    /// The number of claims whose lease expired since the content was written; 0 after the content was indexed.
    pub recoveries: u32,
    /// When the document was created.
    pub created: Timestamp,
    /// When the content was last written.
    pub updated: Timestamp,
    /// When the content was last indexed.
    pub indexed: Option<Timestamp>,
    /// The state of the embeddings of the chunks.
    pub embedding: DocumentEmbedding,
}

impl DocumentRow {
    /// Returns the workspace of the document.
    pub fn workspace(&self) -> &Workspace {
        self.name.workspace()
    }
}

/// A document with its content.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Document {
    /// The document without its content.
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

    /// Splits a text into chunks of [`CHUNK_CHARS`](Self::CHUNK_CHARS) characters that overlap by [`CHUNK_OVERLAP`](Self::CHUNK_OVERLAP) characters.
    /// The last chunk may be shorter. A blank text has no chunks.
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
