//! Writes that replace or extend the content of documents.

use super::{Document, DocumentEmbedding, DocumentName, DocumentRow, DocumentStatus};
use crate::store::{StoreError, Timestamp, new_row_id};

/// Maximum length of a MIME type and of a source, in bytes.
const MOST_WORD: usize = 500;

/// How a write changes the content of a document.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum DocumentWriteMode {
    /// The write replaces the content.
    Replace,
    /// The write adds the new content at the end, after a blank line unless the document is empty. A document that does not exist is created.
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
    /// The MIME type. With `None`, a write that appends keeps the type of the existing document, and any other write sets `text/markdown`.
    pub mime: Option<String>,
    /// Where the content comes from, such as `agent`, `upload` or a URL.
    pub source: String,
    /// The user for whom the content was written.
    pub principal: Option<String>,
    /// When the content was written.
    pub at: Timestamp,
}

/// The result of [`KnowledgeStore::write_document`](super::KnowledgeStore::write_document).
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum DocumentWritten {
    /// The content was stored, and is not indexed yet.
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

impl DocumentWrite {
    /// Checks the conditions of [`KnowledgeStore::write_document`](super::KnowledgeStore::write_document) that do not depend on stored rows. Fails
    /// with `Conflict` if the file name is `.` or `..`, if appended content is not UTF-8, or if the MIME type or the source is empty, longer than 500
    /// bytes or contains a control character.
    pub fn check(&self) -> Result<(), StoreError> {
        let conflict = |fault: String| Err(StoreError::Conflict(format!("{}: {fault}", self.name)));
        // Clients of HTTP resolve such a name as a part of the path, also if it is encoded, so a request could not name the document.
        if matches!(self.name.file(), "." | "..") {
            return conflict(
                "the file name must not be `.` or `..`, use a name such as `notes.md`".to_owned(),
            );
        }
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
            return conflict(
                "the content to append is not UTF-8 text: append text, or replace the document"
                    .to_owned(),
            );
        }
        Ok(())
    }
}

impl DocumentRow {
    /// Applies [`KnowledgeStore::write_document`](super::KnowledgeStore::write_document) to the stored row with its content, or to `None`, after
    /// [`DocumentWrite::check`]. A write that replaces the content does not use the stored content, which may then be empty. `ready` is the time from
    /// which a worker may index the document. Returns the result, and the content to store with the row. Fails with `Conflict` if text is appended to
    /// a document that is not a text or has a different type, and with `Unavailable` if the operating system fails to return random bytes.
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
        let (id, chunks, created_at, indexed, embedding) = match row {
            Some(row) => (row.id, row.chunks, row.created, row.indexed, row.embedding),
            None => (new_row_id()?, 0, new.at, None, DocumentEmbedding::default()),
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
            embedding,
        };
        let row = Box::new(row);
        Ok((DocumentWritten::Stored { row, created }, content))
    }

    /// Returns the MIME type of the document after a write that appends. Fails with `Conflict` if the types differ, or if the document is not a text.
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
}

/// Joins two texts with a blank line between them. If the first text is empty, returns the second text.
fn joined(mut before: Vec<u8>, added: &[u8]) -> Vec<u8> {
    if !before.is_empty() {
        before.extend_from_slice(b"\n\n");
    }
    before.extend_from_slice(added);
    before
}
