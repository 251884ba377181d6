//! Files of threads, in an object store: the files that users, agents and tools exchange.
//!
//! A file has a path such as `/attachments/report-1a2b3c4d.pdf`, which is valid in one thread only. A sub-agent gets copies of the files that its
//! parent passes on, and the parent gets copies of the files of the sub-agent's result.

use std::fmt;
use std::sync::Arc;

use futures::StreamExt as _;
use object_store::path::Path;
use object_store::{ObjectStore, ObjectStoreExt as _, PutMode};
use tool_core::store::ThreadId;
use tool_core::{Effect, FromContext, ToolContext, ToolError};
use tool_store::{digest, env};

/// The folder that contains all files of a thread.
const FOLDER: &str = "/attachments/";
/// Maximum length of a file name without its extension, in characters.
const MOST_STEM: usize = 64;
/// Maximum length of a file extension, in characters.
const MOST_ENDING: usize = 16;

/// The files of one thread, as a host value for tools: `files: &ThreadFiles`.
///
/// ```
/// use std::sync::Arc;
/// use object_store::memory::InMemory;
/// use tool_agent::files::ThreadFiles;
/// use tool_core::store::ThreadId;
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let files = ThreadFiles::new(Arc::new(InMemory::new()), ThreadId::new("acme", "main")?);
/// let path = files.write("Q3 report.pdf", b"%PDF-1.7".to_vec()).await.map_err(|error| error.operator_text().to_owned())?;
/// assert!(path.starts_with("/attachments/Q3-report-") && path.ends_with(".pdf"));
/// assert_eq!(files.read(&path).await.map_err(|error| error.operator_text().to_owned())?, b"%PDF-1.7");
/// assert!(files.read("/attachments/other.pdf").await.is_err());
/// # Ok(())
/// # }
/// ```
#[derive(Clone)]
pub struct ThreadFiles {
    store: Arc<dyn ObjectStore>,
    thread: ThreadId,
}

impl ThreadFiles {
    /// Creates the files of a thread. Any number of threads can share an object store.
    pub fn new(store: Arc<dyn ObjectStore>, thread: ThreadId) -> Self {
        Self { store, thread }
    }

    /// Returns the thread of the files.
    pub fn thread(&self) -> &ThreadId {
        &self.thread
    }

    /// Stores a new file, and returns its path. In the path, characters of the name that are not ASCII letters, digits or `_` are replaced by `-` or
    /// removed, except for the dot before the extension. Long names are shortened. A random part is added to the name, and no file is overwritten.
    ///
    /// # Errors
    ///
    /// Fails if the object store fails, or if the operating system provides no random bytes.
    pub async fn write(&self, name: &str, bytes: Vec<u8>) -> Result<String, ToolError> {
        let mut random = [0; 4];
        loop {
            env::random(&mut random).map_err(ToolError::foreign)?;
            let path = safe_name(name, &digest::hex(&random));
            if self.put(&path, bytes.clone(), PutMode::Create).await? {
                return Ok(path);
            }
        }
    }

    /// Reads a file of the thread.
    ///
    /// # Errors
    ///
    /// Fails if the thread has no file with this path, or if the object store fails. The model may read the error text for an unknown path.
    pub async fn read(&self, path: &str) -> Result<Vec<u8>, ToolError> {
        self.get(path).await?.ok_or_else(|| {
            let shown: String = path.chars().take(200).collect();
            ToolError::new(format!(
                "the conversation has no file `{shown}`: use a path that a message of this conversation contains"
            ))
        })
    }

    /// Returns whether the thread has a file with this path.
    ///
    /// # Errors
    ///
    /// Fails if the object store fails.
    pub async fn exists(&self, path: &str) -> Result<bool, ToolError> {
        let Some(place) = self.place(path) else {
            return Ok(false);
        };
        match self.store.head(&place).await {
            Ok(_) => Ok(true),
            Err(object_store::Error::NotFound { .. }) => Ok(false),
            Err(error) => Err(ToolError::foreign(error)),
        }
    }

    /// Returns the paths of all files of the thread, sorted.
    ///
    /// # Errors
    ///
    /// Fails if the object store fails.
    pub async fn list(&self) -> Result<Vec<String>, ToolError> {
        let folder = self.folder();
        let mut objects = self.store.list(Some(&folder));
        let mut paths = Vec::new();
        while let Some(object) = objects.next().await {
            let object = object.map_err(ToolError::foreign)?;
            paths.extend(
                object
                    .location
                    .filename()
                    .map(|name| format!("{FOLDER}{name}")),
            );
        }
        paths.sort_unstable();
        Ok(paths)
    }

    /// Removes all files of the thread, and returns their number.
    ///
    /// # Errors
    ///
    /// Fails if the object store fails. In that case, some files may remain.
    pub async fn remove_all(&self) -> Result<usize, ToolError> {
        let paths = self.list().await?;
        for path in paths.iter().filter_map(|path| self.place(path)) {
            self.store.delete(&path).await.map_err(ToolError::foreign)?;
        }
        Ok(paths.len())
    }

    /// Copies a file into a different thread, and returns its path there; `None` if this thread has no such file. The new path depends only on the
    /// two conversations and on `path`, so a repeated copy does not create a second file.
    pub(crate) async fn copy_to(&self, path: &str, to: &Self) -> Result<Option<String>, ToolError> {
        let Some(bytes) = self.get(path).await? else {
            return Ok(None);
        };
        let name = path.strip_prefix(FOLDER).unwrap_or(path);
        let [from, into] = [self, to].map(|files| files.thread.conversation());
        let key = digest::sha256(&[from, into, path]);
        let copy = safe_name(name, &key[..8]);
        to.put(&copy, bytes, PutMode::Overwrite).await?;
        Ok(Some(copy))
    }

    async fn get(&self, path: &str) -> Result<Option<Vec<u8>>, ToolError> {
        let Some(place) = self.place(path) else {
            return Ok(None);
        };
        let object = match self.store.get(&place).await {
            Ok(object) => object,
            Err(object_store::Error::NotFound { .. }) => return Ok(None),
            Err(error) => return Err(ToolError::foreign(error)),
        };
        let bytes = object.bytes().await.map_err(ToolError::foreign)?;
        Ok(Some(bytes.to_vec()))
    }

    /// Stores a file. Returns `false` if the mode is `PutMode::Create` and the path exists already.
    async fn put(&self, path: &str, bytes: Vec<u8>, mode: PutMode) -> Result<bool, ToolError> {
        let place = self.place(path).ok_or_else(|| {
            ToolError::new("the path of the file is invalid").operator(path.to_owned())
        })?;
        match self.store.put_opts(&place, bytes.into(), mode.into()).await {
            Ok(_) => Ok(true),
            Err(object_store::Error::AlreadyExists { .. }) => Ok(false),
            Err(error) => Err(ToolError::foreign(error)),
        }
    }

    fn folder(&self) -> Path {
        // `Path` drops empty segments. With the prefixes, no segment is empty.
        Path::from_iter([
            format!("w-{}", self.thread.workspace()),
            format!("c-{}", self.thread.conversation()),
            "attachments".to_owned(),
        ])
    }

    /// Returns the path of a file in the object store; `None` if `path` cannot be the path of a file of a thread.
    fn place(&self, path: &str) -> Option<Path> {
        let name = path.strip_prefix(FOLDER)?;
        let is_name = !name.is_empty() && name.chars().all(is_safe) && !name.starts_with('.');
        is_name.then(|| self.folder().join(name))
    }
}

impl FromContext for ThreadFiles {
    const EFFECT: Effect = Effect::READ.union(Effect::WRITE);

    fn from_context(cx: &ToolContext) -> Result<Self, ToolError> {
        cx.extension()
            .ok_or_else(|| ToolError::unavailable("the files of the conversation"))
    }
}

impl fmt::Debug for ThreadFiles {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ThreadFiles")
            .field("thread", &self.thread)
            .finish_non_exhaustive()
    }
}

fn is_safe(c: char) -> bool {
    c.is_ascii_alphanumeric() || matches!(c, '.' | '_' | '-')
}

/// Returns the path of a file: the name with safe characters, then `part`, which makes the path unique, and the extension.
fn safe_name(name: &str, part: &str) -> String {
    let (stem, ending) = match name.rsplit_once('.') {
        Some((stem, ending))
            if !stem.is_empty() && ending.chars().all(|c| c.is_ascii_alphanumeric()) =>
        {
            (stem, ending)
        }
        _ => (name, ""),
    };
    // In the name of a copy, the new unique part replaces the unique part of the original.
    let stem = match stem.rsplit_once('-') {
        Some((first, last))
            if last.len() == 8
                && last.bytes().all(|c| c.is_ascii_hexdigit())
                && !first.is_empty() =>
        {
            first
        }
        _ => stem,
    };
    let safe = |text: &str, most: usize| -> String {
        let mut safe = String::new();
        for c in text.chars() {
            if c.is_ascii_alphanumeric() || c == '_' {
                safe.push(c);
            } else if !safe.is_empty() && !safe.ends_with('-') {
                safe.push('-');
            }
            if safe.len() == most {
                break;
            }
        }
        safe.trim_end_matches('-').to_owned()
    };
    let (mut stem, ending) = (safe(stem, MOST_STEM), safe(ending, MOST_ENDING));
    if stem.is_empty() {
        "file".clone_into(&mut stem);
    }
    let dot = if ending.is_empty() { "" } else { "." };
    format!("{FOLDER}{stem}-{part}{dot}{ending}")
}

/// Returns the paths of files in a text, with their positions, in order. A path starts at the beginning of a word, so the path of a URL is not found.
pub(crate) fn paths_in(text: &str) -> impl Iterator<Item = (usize, &str)> {
    text.match_indices(FOLDER).filter_map(|(at, _)| {
        let before = text[..at].chars().next_back();
        if before.is_some_and(|c| is_safe(c) || matches!(c, '/' | ':' | '~' | '%')) {
            return None;
        }
        let name = &text[at + FOLDER.len()..];
        let end = name.find(|c| !is_safe(c)).unwrap_or(name.len());
        // A dot after a path ends the sentence.
        let name = name[..end].trim_end_matches('.');
        (!name.is_empty()).then(|| (at, &text[at..at + FOLDER.len() + name.len()]))
    })
}

#[cfg(test)]
mod tests {
    use super::{paths_in, safe_name};

    #[test]
    fn file_names_are_reduced_to_safe_characters() {
        for (name, path) in [
            ("a b.txt", "/attachments/a-b-01234567.txt"),
            ("../../etc/passwd", "/attachments/etc-passwd-01234567"),
            (".env", "/attachments/env-01234567"),
            ("日本.pdf", "/attachments/file-01234567.pdf"),
            ("r-89abcdef.pdf", "/attachments/r-01234567.pdf"),
        ] {
            assert_eq!(safe_name(name, "01234567"), path, "{name}");
        }
        let long = safe_name(&"x".repeat(200), "01234567");
        assert_eq!(long.len(), "/attachments/".len() + 64 + 9);
    }

    #[test]
    fn paths_are_found_in_sentences() {
        let text = "See /attachments/a-1.txt. And (/attachments/b.pdf), https://a.example/attachments/1.pdf, /attachments/.";
        let paths: Vec<&str> = paths_in(text).map(|(_, path)| path).collect();
        assert_eq!(paths, ["/attachments/a-1.txt", "/attachments/b.pdf"]);
    }
}
