//! Folders of conversations: one folder for each conversation, which the tools of a turn cannot leave.
//!
//! ```text
//! {root}/{workspace}/conversations/{conversation}/     the folder of the conversation
//! {root}/{workspace}/conversation-ids/{conversation}   a file that contains the id to which the folder belongs
//! ```
//!
//! The word *workspace* has two meanings. In this documentation, as in `ToolContext`, a workspace is a tenant of the host, such as a customer. In the
//! names of types ([`Workspaces`], [`Workspace`], [`WorkspacePath`]) and in texts for models, it is the folder of one conversation. An *instance* in
//! the names of this module, such as [`Workspaces::delete_instance`], is a workspace, and not a part of it.
//!
//! A host puts [`Workspaces`] into its contexts. A tool then gets a [`Reader`] or a [`Writer`] for the folder of the caller's workspace and
//! conversation, and has the effects of that handle:
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
//! The name of a workspace matches `^[a-z0-9][a-z0-9-]*$`. In the id of a conversation, every character outside of `[a-zA-Z0-9._-]` is replaced with
//! `_`; `.`, `..` and the empty id are refused. Ids that map to the same name do not share a folder: the first id gets the name, which the file in
//! `conversation-ids` records, and every other id gets the name with a hash of the id. The hash is also added for ids of more than 200 characters,
//! and for `.git`, which git would treat as the repository of every folder next to it.
//!
//! # Lifetime
//!
//! A folder is created when a tool first needs it. [`Workspaces::delete_instance`] removes all files of a workspace, and
//! [`Workspaces::delete_conversation`] removes the folder of one conversation and the data that packs store for it; the name stays assigned to its
//! id. Only a host calls these functions. Do not remove a folder by other means: the tokens of its repositories are stored next to it and would be
//! left behind.

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

/// The default root of the folders of conversations.
pub const DEFAULT_ROOT: &str = "packages/engine/workspaces/";

/// The environment variable that sets the root of the folders of conversations.
pub const ROOT_VARIABLE: &str = "WORKSPACES_ROOT";

const CONVERSATIONS: &str = "conversations";
const IDS: &str = "conversation-ids";

/// The folders of all conversations, below one root. The value is cheap to clone; a host puts it into its contexts with
/// [`ToolContextBuilder::with`](tool_core::ToolContextBuilder::with).
#[derive(Clone, Debug)]
pub struct Workspaces {
    root: Arc<Path>,
    trust: Trust,
}

/// Kinds of files that the host allows although they may lead out of the folder of a conversation.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Trust {
    pub(crate) hard_links: bool,
    pub(crate) other_devices: bool,
}

impl Workspaces {
    /// Creates the value with the folder `root`, which is created when it is needed. A relative path is resolved now, against the current directory.
    pub fn new(root: impl AsRef<Path>) -> Self {
        let root = root.as_ref();
        let root = std::path::absolute(root).unwrap_or_else(|_| root.to_owned());
        Self {
            root: root.into(),
            trust: Trust::default(),
        }
    }

    /// Creates the value with the root in the environment variable `WORKSPACES_ROOT`, by default `packages/engine/workspaces/`. The variable is read
    /// once, here.
    pub fn from_env() -> Self {
        let root = std::env::var_os(ROOT_VARIABLE).filter(|root| !root.is_empty());
        Self::new(root.map_or_else(|| PathBuf::from(DEFAULT_ROOT), PathBuf::from))
    }

    /// Allows files with more than one hard link. By default they are refused, because another name of the file may be outside of the conversation's
    /// folder. A package manager that links files from its store needs this.
    #[must_use]
    pub fn allow_hard_links(mut self) -> Self {
        self.trust.hard_links = true;
        self
    }

    /// Allows files and folders of other file systems that are mounted below the folder of a conversation. By default they are refused.
    #[must_use]
    pub fn allow_other_devices(mut self) -> Self {
        self.trust.other_devices = true;
        self
    }

    /// Returns the absolute path of the root.
    pub fn root(&self) -> &Path {
        &self.root
    }

    /// Returns the folder of a conversation; `instance` is the name of the workspace. The name of the folder is assigned now; the folder is created
    /// when it is needed.
    ///
    /// # Errors
    ///
    /// Returns a [`WorkspaceError`] if the name of the workspace or the id of the conversation is invalid, if the root cannot be read or written, or
    /// if other conversations already use all names that this conversation could get.
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

    /// Removes all files of a workspace: the folders of its conversations, the data of their repositories and their names. `instance` is the name of
    /// the workspace. Returns whether anything was removed. A [`Workspace`] that was opened before keeps a handle on the removed folder.
    ///
    /// The tree is renamed first, so that it cannot be found from then on, and tokens are removed before everything else. If something cannot be
    /// removed, everything else is removed nevertheless; the next call for the same workspace retries the removal. No link is followed, read-only
    /// files are removed too, and mounts in the tree are neither emptied nor removed.
    ///
    /// # Errors
    ///
    /// Returns a [`WorkspaceError`] if the name of the workspace is invalid, or for the first operation of the file system that failed.
    pub fn delete_instance(&self, instance: &str) -> Result<bool, WorkspaceError> {
        name::check_instance(instance)?;
        remove::instance(&self.root, instance)
            .map_err(|source| WorkspaceError::io(&self.root.join(instance), source))
    }

    /// Removes the folder of one conversation and the data that packs store for it, such as the tokens of its repositories. Returns whether anything
    /// was removed. The name stays assigned to the id: the next folder of the conversation has the same path and is empty. As with
    /// [`delete_instance`](Self::delete_instance), tokens are removed first, and the next call retries failed removals.
    ///
    /// End the turns of the conversation first: a running tool may create the folder again.
    ///
    /// # Errors
    ///
    /// Returns a [`WorkspaceError`] if the name of the workspace or the id of the conversation is invalid, or for the first operation of the file
    /// system that failed.
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

/// The folder of one conversation. The value is cheap to clone.
///
/// A host with a single folder can put a `Workspace` into its contexts instead of [`Workspaces`]; this folder is then used for every workspace and
/// conversation.
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
        expect(dead_code, reason = "only `fs` and `git` check files")
    )]
    trust: Trust,
    dir: OnceLock<Dir>,
}

impl Workspace {
    /// Returns the absolute path of the folder. It may not exist yet: [`dir`](Workspace::dir) creates it.
    pub fn path(&self) -> &Path {
        &self.0.path
    }

    /// Opens the folder and creates it if it does not exist. No part of its path below the root may be a link.
    ///
    /// # Errors
    ///
    /// Returns the error of the file system.
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

    /// Returns the name of the workspace (the tenant).
    pub fn instance(&self) -> &str {
        &self.0.instance
    }

    /// Returns the id of the conversation.
    pub fn conversation(&self) -> &str {
        &self.0.conversation
    }

    /// Opens the folder in which a pack stores data of this conversation. No [`WorkspacePath`] leads to the folder. It is next to the folder of
    /// conversations, and is removed with the workspace or the conversation. If it does not exist, it is created with access for its owner only.
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

/// Opens a subfolder and creates it if it does not exist. A link is not followed.
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

/// Opens a subfolder; if it does not exist, creates it with access for its owner only. A link is not followed.
#[cfg(feature = "git")]
pub(crate) fn enter_private(parent: &Dir, name: &str) -> io::Result<Dir> {
    match create_private(parent, name) {
        Err(error) if error.kind() != io::ErrorKind::AlreadyExists => return Err(error),
        _ => {}
    }
    parent.open_dir_nofollow(name)
}

/// Creates a folder that only its owner may enter.
#[cfg(feature = "git")]
pub(crate) fn create_private(parent: &Dir, name: &str) -> io::Result<()> {
    use cap_std::fs::{DirBuilder, DirBuilderExt as _};

    let mut owner_only = DirBuilder::new();
    owner_only.mode(0o700);
    parent.create_dir_with(name, &owner_only)
}

/// The reason why the folder of a conversation could not be opened, or files could not be removed.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum WorkspaceError {
    /// The name of the workspace is invalid.
    #[error(
        "`{0}` is not a workspace name: write lower-case letters, digits and `-`, and begin with a letter or a digit"
    )]
    Instance(String),
    /// The conversation's id is empty, `.` or `..`.
    #[error("`{0}` is not a valid conversation id: use an id that is not empty, `.` or `..`")]
    Conversation(String),
    /// The file system reported an error, or other conversations already use all folder names that the conversation could get.
    #[error("`{}`: {source}", path.display())]
    Io {
        /// The root of the folders if a conversation was to be opened; the folder of the workspace if files were to be removed.
        path: PathBuf,
        /// The cause.
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
