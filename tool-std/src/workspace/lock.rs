//! The lock for replacing files in the folder of a conversation.

use std::fs::{File, TryLockError};
use std::io;
use std::time::{Duration, Instant};

use cap_fs_ext::{DirExt as _, FollowSymlinks, OpenOptionsFollowExt as _};
use cap_std::fs::OpenOptions;

use super::{IDS, Workspace, open_root};

/// Maximum time that a writer waits for other writers. A writer holds the lock while it checks and replaces one file.
const WAIT: Duration = Duration::from_secs(10);
const PAUSE: Duration = Duration::from_millis(1);

/// The lock of a writer, held from the check of a file until its replacement is renamed, so that no change by another call in between is lost.
#[derive(Debug)]
pub(crate) struct WriteLock {
    #[expect(dead_code, reason = "held: dropping it releases the lock")]
    file: Option<File>,
}

impl Workspace {
    /// Waits for the other writers of this folder, in this process and in others. Fails with [`io::ErrorKind::ResourceBusy`] if the call is cancelled
    /// or the wait takes longer than [`WAIT`].
    ///
    /// Locks the file that contains the id of the conversation, which no program that runs in the folder can open. If the workspace was deleted, this
    /// file does not exist and nothing is locked, because the files of the conversation are deleted as well.
    pub(crate) fn lock(&self, cancelled: impl Fn() -> bool) -> io::Result<WriteLock> {
        let file = match self.id_file() {
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                return Ok(WriteLock { file: None });
            }
            opened => opened?,
        };
        let began = Instant::now();
        loop {
            match file.try_lock() {
                Ok(()) => return Ok(WriteLock { file: Some(file) }),
                Err(TryLockError::Error(error)) => return Err(error),
                Err(TryLockError::WouldBlock) if cancelled() || began.elapsed() > WAIT => {
                    return Err(io::ErrorKind::ResourceBusy.into());
                }
                Err(TryLockError::WouldBlock) => std::thread::sleep(PAUSE),
            }
        }
    }

    fn id_file(&self) -> io::Result<File> {
        let inner = &*self.0;
        let ids = open_root(&inner.root)?
            .open_dir_nofollow(&inner.instance)?
            .open_dir_nofollow(IDS)?;
        let mut options = OpenOptions::new();
        // NFS can lock only files that are open for writing.
        options.write(true).follow(FollowSymlinks::No);
        Ok(ids.open_with(&inner.folder, &options)?.into_std())
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

    use std::io;

    use crate::workspace::Workspaces;

    #[test]
    fn dropped_lock_is_released_and_cancelled_call_stops_waiting() {
        let root = tempfile::tempdir().unwrap();
        let open = || Workspaces::new(root.path()).open("acme", "c1").unwrap();
        let lock = open().lock(|| false).unwrap();
        let refused = open().lock(|| true).unwrap_err();
        assert_eq!(refused.kind(), io::ErrorKind::ResourceBusy);
        // A different conversation has a different lock file.
        let other = Workspaces::new(root.path()).open("acme", "c2").unwrap();
        other.lock(|| true).unwrap();
        drop(lock);
        // A process that another test starts at this moment holds the lock until it executes its program.
        open().lock(|| false).unwrap();
        Workspaces::new(root.path())
            .delete_instance("acme")
            .unwrap();
        other.lock(|| true).unwrap();
    }
}
