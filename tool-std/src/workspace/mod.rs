//! A folder for each conversation, which the tools of a turn cannot leave.
//!
//! ```text
//! {root}/{instance}/conversations/{conversation}/     the workspace
//! {root}/{instance}/conversation-ids/{conversation}   a file that holds the id the folder belongs to
//! ```
//!
//! A host puts [`Workspaces`] into its contexts. From the caller's instance and conversation a tool then gets its [`Reader`] or its
//! [`Writer`], whose effects are part of the tool's:
//!
//! ```
//! use tool_core::ToolContext;
//! use tool_std::workspace::{Reader, Workspaces};
//!
//! # let root = tempfile::tempdir()?;
//! # let root = root.path();
//! let cx = ToolContext::builder()
//!     .workspace("acme")
//!     .conversation("slack:channel:U123")
//!     .with(Workspaces::new(root))
//!     .build();
//! let reader: Reader = cx.get().unwrap();
//! assert_eq!(reader.path(), root.join("acme/conversations/slack_channel_U123"));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # Names
//!
//! The slug of an instance matches `^[a-z0-9][a-z0-9-]*$`. In the id of a conversation every character outside `[a-zA-Z0-9._-]` becomes
//! `_`; `.`, `..` and the empty id are refused. Ids that become the same name do not share a folder: the first one has the name, and the
//! file in `conversation-ids` says so; each other one has the name and a hash of its id. So do ids of more than 200 characters, and
//! `.git`, which would be the repository of every folder beside it.
//!
//! # Two clocks
//!
//! A folder is made when a tool first needs it. [`Workspaces::delete_instance`] removes everything of an instance,
//! [`Workspaces::delete_conversation`] the folder of one conversation and what packs keep of it; its id keeps its name. Nothing calls
//! them but a host. Do not remove a folder by other means: the tokens of its repositories lie beside it and would stay.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};

use cap_fs_ext::DirExt as _;
use cap_std::ambient_authority;
use cap_std::fs::Dir;

mod claim;
#[cfg(feature = "fs")]
mod facts;
mod handle;
#[cfg(feature = "fs")]
mod lock;
mod name;
mod own;
mod path;
mod remove;
mod replace;

#[cfg(feature = "fs")]
pub(crate) use facts::{Facts, Kind, Place, Refused};
pub use handle::{Reader, Writer};
#[cfg(feature = "fs")]
pub(crate) use lock::WriteLock;
pub use path::{PathError, WorkspacePath};
#[cfg(any(feature = "git", feature = "process"))]
pub(crate) use remove::remove;
pub(crate) use replace::{Replace, replace, spare_name};

/// Where workspaces lie when nothing else is said.
pub const DEFAULT_ROOT: &str = "packages/engine/workspaces/";

/// The environment variable that says where they lie.
pub const ROOT_VARIABLE: &str = "WORKSPACES_ROOT";

const CONVERSATIONS: &str = "conversations";
const IDS: &str = "conversation-ids";

/// The workspaces below one root. Cheap to clone; a host puts it into its contexts with
/// [`ToolContextBuilder::with`](tool_core::ToolContextBuilder::with).
#[derive(Clone, Debug)]
pub struct Workspaces {
    root: Arc<Path>,
    trust: Trust,
}

/// What the host takes in a workspace though it may lead out of it.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Trust {
    pub(crate) hard_links: bool,
    pub(crate) other_devices: bool,
}

impl Workspaces {
    /// The workspaces below `root`, which is made when it is needed. A relative path is taken from the current folder, now.
    pub fn new(root: impl AsRef<Path>) -> Self {
        let root = root.as_ref();
        let root = std::path::absolute(root).unwrap_or_else(|_| root.to_owned());
        Self {
            root: root.into(),
            trust: Trust::default(),
        }
    }

    /// The workspaces below the folder that `WORKSPACES_ROOT` names, or below `packages/engine/workspaces/`. The variable is read
    /// here and never again.
    pub fn from_env() -> Self {
        let root = std::env::var_os(ROOT_VARIABLE).filter(|root| !root.is_empty());
        Self::new(root.map_or_else(|| PathBuf::from(DEFAULT_ROOT), PathBuf::from))
    }

    /// Takes files with more than one hard link, which are refused otherwise: the other name may be outside. A package manager that
    /// links files from its store needs this.
    #[must_use]
    pub fn allow_hard_links(mut self) -> Self {
        self.trust.hard_links = true;
        self
    }

    /// Takes files and folders of other file systems that are mounted below a workspace, which are refused otherwise.
    #[must_use]
    pub fn allow_other_devices(mut self) -> Self {
        self.trust.other_devices = true;
        self
    }

    /// The root, absolute.
    pub fn root(&self) -> &Path {
        &self.root
    }

    /// The workspace of a conversation. Its name is taken now, its folder is made when it is needed.
    ///
    /// # Errors
    ///
    /// [`WorkspaceError`] where the instance or the conversation cannot have a folder, or the root cannot be written.
    ///
    /// ```
    /// # let root = tempfile::tempdir()?;
    /// # let root = root.path();
    /// let workspaces = tool_std::workspace::Workspaces::new(root);
    /// let (one, other) = (workspaces.open("acme", "a:b")?, workspaces.open("acme", "a_b")?);
    /// assert_eq!(one.path(), root.join("acme/conversations/a_b"));
    /// assert_ne!(one.path(), other.path());
    /// assert!(workspaces.open("acme", "..").is_err());
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn open(&self, instance: &str, conversation: &str) -> Result<Workspace, WorkspaceError> {
        name::check_instance(instance)?;
        name::check_conversation(conversation)?;
        let folder = claim::folder(&self.root, instance, conversation)
            .map_err(|source| WorkspaceError::io(&self.root, source))?;
        let path = [instance, CONVERSATIONS, &folder]
            .iter()
            .fold(self.root.to_path_buf(), |path, part| path.join(part));
        Ok(Workspace(Arc::new(Inner {
            root: Arc::clone(&self.root),
            path,
            instance: instance.to_owned(),
            conversation: conversation.to_owned(),
            folder,
            trust: self.trust,
            dir: OnceLock::new(),
        })))
    }

    /// Removes everything of an instance: all its conversations, their repositories and the names they had. Says whether there was
    /// anything. A [`Workspace`] that was opened before keeps a folder that is no more.
    ///
    /// The tree is first moved aside, so that from then on nobody finds it, and tokens go before all else. What cannot be removed keeps
    /// nothing else from going; it is left aside, and the next call for the same instance tries it again. No link is followed, what a
    /// program made read-only goes as well, and what is mounted in the tree is neither emptied nor removed.
    ///
    /// # Errors
    ///
    /// [`WorkspaceError`] where the slug is none, or the first thing that could not be removed.
    pub fn delete_instance(&self, instance: &str) -> Result<bool, WorkspaceError> {
        name::check_instance(instance)?;
        remove::instance(&self.root, instance)
            .map_err(|source| WorkspaceError::io(&self.root.join(instance), source))
    }

    /// Removes the folder of one conversation and what packs keep of it beside, as the tokens of its repositories. Says whether there was
    /// anything. The id keeps its name: its next folder has the same path and is empty. As with
    /// [`delete_instance`](Self::delete_instance), tokens go first, and what cannot be removed is tried again by the next call.
    ///
    /// End the turns of the conversation before: what runs may make its folder again.
    ///
    /// # Errors
    ///
    /// [`WorkspaceError`] where the instance or the conversation cannot have a folder, or the first thing that could not be removed.
    ///
    /// ```
    /// # let root = tempfile::tempdir()?;
    /// # let root = root.path();
    /// let workspaces = tool_std::workspace::Workspaces::new(root);
    /// let workspace = workspaces.open("acme", "c-1")?;
    /// workspace.dir()?.write("notes.md", "text")?;
    /// assert!(workspaces.delete_conversation("acme", "c-1")?);
    /// assert!(!workspace.path().exists());
    /// assert!(!workspaces.delete_conversation("acme", "c-1")?);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn delete_conversation(
        &self,
        instance: &str,
        conversation: &str,
    ) -> Result<bool, WorkspaceError> {
        name::check_instance(instance)?;
        name::check_conversation(conversation)?;
        remove::conversation(&self.root, instance, conversation)
            .map_err(|source| WorkspaceError::io(&self.root.join(instance), source))
    }
}

/// The workspace of one conversation. Cheap to clone.
///
/// A host that has only one puts it into the context itself: it is then used whatever the context's instance and conversation are.
#[derive(Clone, Debug)]
pub struct Workspace(Arc<Inner>);

#[derive(Debug)]
struct Inner {
    root: Arc<Path>,
    path: PathBuf,
    instance: String,
    conversation: String,
    folder: String,
    #[cfg_attr(
        not(any(feature = "fs", feature = "git")),
        expect(dead_code, reason = "only the tools of `fs` open files")
    )]
    trust: Trust,
    dir: OnceLock<Dir>,
}

impl Workspace {
    /// The folder, absolute. It may not be there yet: [`dir`](Workspace::dir) makes it.
    pub fn path(&self) -> &Path {
        &self.0.path
    }

    /// The folder, open. Made when it is not there; no part of it below the root may be a link.
    ///
    /// # Errors
    ///
    /// What the file system says.
    pub fn dir(&self) -> io::Result<&Dir> {
        let inner = &*self.0;
        if let Some(dir) = inner.dir.get() {
            return Ok(dir);
        }
        let root = open_root(&inner.root)?;
        let dir = enter(&root, &inner.instance)?;
        let dir = enter(&dir, CONVERSATIONS)?;
        let dir = enter(&dir, &inner.folder)?;
        Ok(inner.dir.get_or_init(|| dir))
    }

    /// The slug of its instance.
    pub fn instance(&self) -> &str {
        &self.0.instance
    }

    /// The id of its conversation.
    pub fn conversation(&self) -> &str {
        &self.0.conversation
    }

    /// A folder for what a pack keeps of this conversation where no tool reaches it: beside the conversations, so that it goes with the
    /// instance. Made when it is not there, for its owner alone.
    #[cfg(feature = "git")]
    pub(crate) fn beside(&self, pack: &str) -> io::Result<(Dir, PathBuf)> {
        let inner = &*self.0;
        let dir = enter(&open_root(&inner.root)?, &inner.instance)?;
        let dir = enter_private(&enter_private(&dir, pack)?, &inner.folder)?;
        let path = [inner.instance.as_str(), pack, &inner.folder]
            .iter()
            .fold(inner.root.to_path_buf(), |path, part| path.join(part));
        Ok((dir, path))
    }

    #[cfg(any(feature = "fs", feature = "git"))]
    pub(crate) fn trust(&self) -> Trust {
        self.0.trust
    }
}

fn open_root(root: &Path) -> io::Result<Dir> {
    match Dir::open_ambient_dir(root, ambient_authority()) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            Dir::create_ambient_dir_all(root, ambient_authority())?;
            Dir::open_ambient_dir(root, ambient_authority())
        }
        opened => opened,
    }
}

/// A folder of one name, made when it is not there. A link is not followed.
pub(crate) fn enter(parent: &Dir, name: &str) -> io::Result<Dir> {
    match parent.open_dir_nofollow(name) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            match parent.create_dir(name) {
                Err(error) if error.kind() != io::ErrorKind::AlreadyExists => return Err(error),
                _ => {}
            }
            parent.open_dir_nofollow(name)
        }
        opened => opened,
    }
}

/// A folder of one name that only its owner may enter, made so when it is not there. A link is not followed.
#[cfg(feature = "git")]
pub(crate) fn enter_private(parent: &Dir, name: &str) -> io::Result<Dir> {
    match create_private(parent, name) {
        Err(error) if error.kind() != io::ErrorKind::AlreadyExists => return Err(error),
        _ => {}
    }
    parent.open_dir_nofollow(name)
}

/// A new folder that only its owner may enter.
#[cfg(feature = "git")]
pub(crate) fn create_private(parent: &Dir, name: &str) -> io::Result<()> {
    use cap_std::fs::{DirBuilder, DirBuilderExt as _};

    let mut owner_only = DirBuilder::new();
    owner_only.mode(0o700);
    parent.create_dir_with(name, &owner_only)
}

/// Why there is no workspace.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum WorkspaceError {
    /// The instance's name is no slug.
    #[error(
        "`{0}` is no slug of an instance, which has lower-case letters, digits and `-` and does not begin with `-`"
    )]
    Instance(String),
    /// The conversation's id is empty, `.` or `..`.
    #[error("`{0}` cannot be the id of a conversation: it names no folder of its own")]
    Conversation(String),
    /// The file system said no.
    #[error("`{}`: {source}", path.display())]
    Io {
        /// What was to be opened or removed.
        path: PathBuf,
        /// What the file system said.
        source: io::Error,
    },
}

impl WorkspaceError {
    fn io(path: &Path, source: io::Error) -> Self {
        Self::Io {
            path: path.to_owned(),
            source,
        }
    }
}
