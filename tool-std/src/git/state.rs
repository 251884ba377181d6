//! What the host keeps of a conversation's repositories, where no tool reaches it.
//!
//! ```text
//! {root}/{instance}/git-state/{conversation}/{owner}~{name}-{8 hex}/   as long as the repository
//!     url       where it was cloned from
//!     used      when a tool last worked with it, as the time of this file
//!     token     0600
//!     helper    0700, gives the token to git
//! {root}/{instance}/git-state/{conversation}/clone-{8 hex}/            as long as the clone runs
//! ```

use std::hash::{BuildHasher as _, RandomState};
use std::io;
use std::path::PathBuf;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::SystemTime;

use cap_fs_ext::DirExt as _;
use cap_std::fs::{Dir, OpenOptions, OpenOptionsExt as _};
use tool_core::SecretString;

use super::credential::{self, HELPER, Scope, TOKEN};
use crate::workspace::{Workspace, enter_private, remove};

/// Beginning of the names of folders that last as long as a clone.
pub(super) const EPHEMERAL: &str = "clone-";
const FOLDER: &str = "git-state";
const URL: &str = "url";
const USED: &str = "used";

/// The state of a conversation.
#[derive(Debug)]
pub(super) struct State {
    pub(super) dir: Dir,
    path: PathBuf,
}

/// What is kept of one repository.
#[derive(Debug)]
pub(super) struct Kept {
    /// The name that it is kept under.
    pub(super) name: String,
    pub(super) url: String,
    /// Its folder, where it has a token.
    pub(super) credentials: Option<PathBuf>,
}

impl State {
    pub(super) fn open(workspace: &Workspace) -> io::Result<Self> {
        let (dir, path) = workspace.beside(FOLDER)?;
        Ok(Self { dir, path })
    }

    pub(super) fn path(&self, name: &str) -> PathBuf {
        self.path.join(name)
    }

    /// A token and its helper in a folder of their own, which must not be there yet.
    pub(super) fn install(
        &self,
        name: &str,
        scope: Scope<'_>,
        token: &SecretString,
    ) -> io::Result<()> {
        let dir = enter_private(&self.dir, name)?;
        credential::install(&dir, &self.path(name), scope, token)
    }

    /// A token and its helper in the place of those that a repository may have; where they are.
    pub(super) fn renew(
        &self,
        name: &str,
        scope: Scope<'_>,
        token: &SecretString,
    ) -> io::Result<PathBuf> {
        let (dir, path) = (self.dir.open_dir_nofollow(name)?, self.path(name));
        credential::renew(&dir, &path, scope, token)?;
        Ok(path)
    }

    /// Writes down where a repository was cloned from.
    pub(super) fn record(&self, name: &str, url: &str) -> io::Result<()> {
        let dir = enter_private(&self.dir, name)?;
        credential::private(&dir, URL, 0o600, url.as_bytes())
    }

    /// Writes down that a tool works with a repository now.
    pub(super) fn mark(&self, name: &str, now: SystemTime) -> io::Result<()> {
        let dir = self.dir.open_dir_nofollow(name)?;
        let mut options = OpenOptions::new();
        options.write(true).create(true).mode(0o600);
        dir.open_with(USED, &options)?.into_std().set_modified(now)
    }

    /// When a tool last worked with a repository, where that is known.
    pub(super) fn used(&self, name: &str) -> Option<SystemTime> {
        let dir = self.dir.open_dir_nofollow(name).ok()?;
        Some(dir.symlink_metadata(USED).ok()?.modified().ok()?.into_std())
    }

    /// What is kept of a repository; `None` where it was not cloned here.
    pub(super) fn kept(&self, name: &str) -> io::Result<Option<Kept>> {
        let dir = match self.dir.open_dir_nofollow(name) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            opened => opened?,
        };
        Ok(Some(Kept {
            name: name.to_owned(),
            url: dir.read_to_string(URL)?,
            credentials: dir.exists(HELPER).then(|| self.path(name)),
        }))
    }

    pub(super) fn has_token(&self, name: &str) -> bool {
        let dir = self.dir.open_dir_nofollow(name);
        dir.is_ok_and(|dir| dir.exists(TOKEN))
    }

    /// Removes what is kept under a name; whether there was anything.
    pub(super) fn forget(&self, name: &str) -> io::Result<bool> {
        match remove(&self.dir, name.as_ref()) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(false),
            removed => removed.map(|()| true),
        }
    }
}

/// The name under which a repository's state is kept: no owner and no name has a `~`.
pub(super) fn name(owner: &str, folder: &str) -> String {
    format!("{owner}~{folder}")
}

/// Eight hexadecimal digits that nobody can foresee.
pub(super) fn suffix() -> String {
    static COUNT: AtomicU64 = AtomicU64::new(0);
    let count = COUNT.fetch_add(1, Ordering::Relaxed);
    let hash = RandomState::new().hash_one((std::process::id(), count));
    format!("{:08x}", hash & 0xffff_ffff)
}
