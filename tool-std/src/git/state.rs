//! The host's state for the repositories of a conversation, which no tool can reach.
//!
//! ```text
//! {root}/{workspace}/git-state/{conversation}/{owner}~{name}-{8 hex}/   exists as long as the repository
//!     url       the URL that was cloned
//!     used      its modification time is the time of the last call of a tool
//!     token     0600
//!     helper    0700, passes the token to git
//! {root}/{workspace}/git-state/{conversation}/clone-{8 hex}/            exists while the clone runs
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

/// Prefix of the names of folders that exist only while a clone runs.
pub(super) const EPHEMERAL: &str = "clone-";
const FOLDER: &str = "git-state";
const URL: &str = "url";
const USED: &str = "used";

/// The folder with the state of a conversation's repositories.
#[derive(Debug)]
pub(super) struct State {
    pub(super) dir: Dir,
    path: PathBuf,
}

/// The state of one repository.
#[derive(Debug)]
pub(super) struct RepositoryState {
    /// The name of its folder in the state.
    pub(super) name: String,
    pub(super) url: String,
    /// The folder of its token and helper, if it has a token.
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

    /// Writes a token and its helper into the folder with this name, and creates the folder if it does not exist. Neither file may exist yet.
    pub(super) fn install(
        &self,
        name: &str,
        scope: Scope<'_>,
        token: &SecretString,
    ) -> io::Result<()> {
        let dir = enter_private(&self.dir, name)?;
        credential::install(&dir, &self.path(name), scope, token)
    }

    /// Writes a token and its helper, which replace the token and the helper that the repository has; returns their folder.
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

    /// Records the URL that a repository was cloned from.
    pub(super) fn record(&self, name: &str, url: &str) -> io::Result<()> {
        let dir = enter_private(&self.dir, name)?;
        credential::private(&dir, URL, 0o600, url.as_bytes())
    }

    /// Records that a tool uses a repository now.
    pub(super) fn mark(&self, name: &str, now: SystemTime) -> io::Result<()> {
        let dir = self.dir.open_dir_nofollow(name)?;
        let mut options = OpenOptions::new();
        options.write(true).create(true).mode(0o600);
        dir.open_with(USED, &options)?.into_std().set_modified(now)
    }

    /// Returns the time at which a tool last used a repository, if that is known.
    pub(super) fn used(&self, name: &str) -> Option<SystemTime> {
        let dir = self.dir.open_dir_nofollow(name).ok()?;
        Some(dir.symlink_metadata(USED).ok()?.modified().ok()?.into_std())
    }

    /// Reads the state of a repository; `None` if it was not cloned here.
    pub(super) fn kept(&self, name: &str) -> io::Result<Option<RepositoryState>> {
        let dir = match self.dir.open_dir_nofollow(name) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            opened => opened?,
        };
        Ok(Some(RepositoryState {
            name: name.to_owned(),
            url: dir.read_to_string(URL)?,
            credentials: dir.exists(HELPER).then(|| self.path(name)),
        }))
    }

    pub(super) fn has_token(&self, name: &str) -> bool {
        let dir = self.dir.open_dir_nofollow(name);
        dir.is_ok_and(|dir| dir.exists(TOKEN))
    }

    /// Removes the state with this name; returns whether it existed.
    pub(super) fn forget(&self, name: &str) -> io::Result<bool> {
        match remove(&self.dir, name.as_ref()) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(false),
            removed => removed.map(|()| true),
        }
    }
}

/// Returns the name of a repository's state. It is unambiguous, because owners and names cannot contain a `~`.
pub(super) fn name(owner: &str, folder: &str) -> String {
    format!("{owner}~{folder}")
}

/// Returns eight unpredictable hexadecimal digits.
pub(super) fn suffix() -> String {
    static COUNT: AtomicU64 = AtomicU64::new(0);
    let count = COUNT.fetch_add(1, Ordering::Relaxed);
    let hash = RandomState::new().hash_one((std::process::id(), count));
    format!("{:08x}", hash & 0xffff_ffff)
}
