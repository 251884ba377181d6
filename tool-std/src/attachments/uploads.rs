//! The object store of a host, and the host value of the tool.

use std::fmt;
use std::path::Path as FilePath;
use std::sync::Arc;

use object_store::local::LocalFileSystem;
use object_store::path::Path;
use object_store::{
    Attribute, Attributes, Error, ObjectStore, ObjectStoreExt as _, PutMode, PutOptions, PutPayload,
};
use tool_core::store::ThreadId;
use tool_core::{Effect, ErrorKind, FromContext, ToolContext, ToolError};

use super::name::{numbered, safe};

/// Maximum size of a file, in bytes: 10 MiB.
pub const MOST_BYTES: usize = 10 * 1024 * 1024;

/// Maximum number of files of one conversation whose names differ only in the number that [`numbered`] adds.
const MOST_NAMES: u32 = 1_000;

/// The object store of a host, for the files of all conversations. It is cheap to clone. Pass it to the tool with
/// [`ToolContextBuilder::with`](tool_core::ToolContextBuilder::with).
#[derive(Clone)]
pub struct Uploads {
    store: Arc<dyn ObjectStore>,
    url: Option<Arc<str>>,
}

impl Uploads {
    /// Creates uploads that are stored in this object store.
    pub fn new(store: Arc<dyn ObjectStore>) -> Self {
        Self { store, url: None }
    }

    /// Creates uploads that are stored in a folder of the host. The folder is created if it does not exist.
    pub fn folder(path: impl AsRef<FilePath>) -> std::io::Result<Self> {
        std::fs::create_dir_all(&path)?;
        let store = LocalFileSystem::new_with_prefix(path)?;
        Ok(Self::new(Arc::new(store)))
    }

    /// Sets the URL under which a server of the host serves the object store. The URL of a file is this URL, a `/` and the percent-encoded key.
    /// The server must check the caller, for example with [`read`](Self::read): a key can be guessed.
    #[must_use]
    pub fn url(mut self, base: impl Into<String>) -> Self {
        self.url = Some(base.into().trim_end_matches('/').into());
        self
    }

    /// Stores a file of a conversation. Returns its name, and its key in the object store.
    pub(super) async fn put(
        &self,
        thread: &ThreadId,
        file: &str,
        mime: &str,
        bytes: Vec<u8>,
    ) -> Result<(String, Path), ToolError> {
        let (stem, ending) = safe(file);
        let payload = PutPayload::from(bytes);
        let mut attributes = Attributes::new();
        attributes.insert(Attribute::ContentType, mime.to_owned().into());
        // Makes browsers save the file instead of showing it, because the file may be a page with a script.
        attributes.insert(Attribute::ContentDisposition, "attachment".into());
        for number in 1..=MOST_NAMES {
            let name = numbered(&stem, &ending, number);
            let key = folder(thread).join(name.as_str());
            // The check avoids sending the body under a name that is taken. If another call takes the name after the check, the store refuses the
            // body.
            match self.store.head(&key).await {
                Ok(_) => continue,
                Err(Error::NotFound { .. }) => {}
                Err(error) => return Err(unavailable(&error)),
            }
            let options = PutOptions {
                attributes: attributes.clone(),
                ..PutOptions::from(PutMode::Create)
            };
            let mut stored = self.store.put_opts(&key, payload.clone(), options).await;
            if matches!(stored, Err(Error::NotImplemented { .. })) {
                // A folder stores no attributes.
                attributes = Attributes::new();
                let options = PutOptions::from(PutMode::Create);
                stored = self.store.put_opts(&key, payload.clone(), options).await;
            }
            match stored {
                Ok(_) => return Ok((name, key)),
                Err(Error::AlreadyExists { .. }) => {}
                Err(error) => return Err(unavailable(&error)),
            }
        }
        Err(ToolError::new(format!(
            "the conversation has {MOST_NAMES} files with the name `{}`, use another name",
            numbered(&stem, &ending, 1)
        )))
    }

    /// Returns the URL of a key, if the host has set the base URL.
    pub(super) fn url_of(&self, key: &Path) -> Option<String> {
        // A key may contain `%`, and a server decodes a URL once.
        let path = key.as_ref().replace('%', "%25").replace(' ', "%20");
        self.url.as_ref().map(|url| format!("{url}/{path}"))
    }

    /// Returns the bytes of a file of a conversation. A key of a different conversation causes the same error as a key that does not exist.
    pub async fn read(&self, thread: &ThreadId, key: &str) -> Result<Vec<u8>, ToolError> {
        let missing = || {
            let shown: String = key.chars().take(200).collect();
            ToolError::new(format!(
                "the conversation has no file `{shown}`: use a key that `upload_attachment` has returned in this conversation"
            ))
        };
        let path = Path::parse(key).map_err(|_| missing())?;
        let mut parts = path.prefix_match(&folder(thread)).ok_or_else(missing)?;
        if parts.next().is_none() || parts.next().is_some() {
            return Err(missing());
        }
        drop(parts);
        let object = match self.store.get(&path).await {
            Ok(object) => object,
            Err(Error::NotFound { .. }) => return Err(missing()),
            Err(error) => return Err(unavailable(&error)),
        };
        let bytes = object.bytes().await.map_err(|error| unavailable(&error))?;
        Ok(bytes.to_vec())
    }
}

/// Returns the folder of a conversation. `Path` escapes the names, and the prefixes keep it from dropping an empty name.
fn folder(thread: &ThreadId) -> Path {
    Path::from_iter([
        format!("w-{}", thread.workspace()),
        format!("c-{}", thread.conversation()),
        "attachments".to_owned(),
    ])
}

fn unavailable(error: &Error) -> ToolError {
    ToolError::of(
        ErrorKind::Unavailable,
        "the file store cannot be used now, details are in the host's log",
    )
    .operator(error.to_string())
}

impl fmt::Debug for Uploads {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Uploads")
            .field("url", &self.url)
            .finish_non_exhaustive()
    }
}

/// Permission to store files of the caller's conversation: a host value with [`Effect::WRITE`], created from the context's [`Uploads`], workspace and
/// conversation.
#[derive(Clone, Debug)]
pub struct AttachmentWriter {
    pub(super) uploads: Uploads,
    pub(super) thread: ThreadId,
}

impl FromContext for AttachmentWriter {
    const EFFECT: Effect = Effect::WRITE;

    fn from_context(cx: &ToolContext) -> Result<Self, ToolError> {
        let uploads = cx.extension();
        let uploads = uploads
            .ok_or_else(|| ToolError::unavailable("`Uploads`, a host value of the context,"))?;
        let conversation = cx
            .conversation()
            .ok_or_else(|| ToolError::unavailable("the context's `conversation`"))?;
        let thread = ThreadId::new(cx.workspace().unwrap_or_default(), conversation);
        let thread = thread.map_err(|error| {
            ToolError::unavailable("the conversation").operator(error.to_string())
        })?;
        Ok(Self { uploads, thread })
    }
}
