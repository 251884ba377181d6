//! The temporary folder of one call.

use std::fs::{DirBuilder, File, OpenOptions, TryLockError, remove_dir};
use std::io;
use std::os::unix::fs::{DirBuilderExt as _, MetadataExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};
use std::sync::Once;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use cap_std::ambient_authority;
use cap_std::fs::Dir;
use rustix::fs::OFlags;
use rustix::process::geteuid;

use crate::workspace::remove;

/// Prefix of the names of these folders.
const PREFIX: &str = "tool-std-";

/// An empty folder that only the host's user may enter. [`end`](Scratch::end) removes it. If the value is dropped without `end`, the drop removes an
/// empty folder, and a background thread removes any other. The kernel releases the lock of a host that is killed, and the next host of the same
/// user removes the folder.
#[derive(Debug)]
pub(super) struct Scratch {
    path: PathBuf,
    #[expect(
        dead_code,
        reason = "held: other hosts remove a folder that is not locked"
    )]
    lock: File,
}

impl Scratch {
    pub(super) fn new() -> io::Result<Self> {
        static COUNT: AtomicU64 = AtomicU64::new(0);
        static SWEPT: Once = Once::new();
        let root = std::env::temp_dir();
        SWEPT.call_once(|| {
            let root = root.clone();
            // The folders may contain a million files, so a thread removes them. If no thread can be started, the folders are left for the next host.
            let _ = std::thread::Builder::new().spawn(move || sweep(&root));
        });
        loop {
            let count = COUNT.fetch_add(1, Ordering::Relaxed);
            let path = root.join(format!("{PREFIX}{}-{count}", std::process::id()));
            match DirBuilder::new().mode(0o700).create(&path) {
                // Before the folder is locked, another host may take it for the folder of a killed host and remove it.
                Ok(()) => {
                    if let Some(lock) = locked(&path)? {
                        return Ok(Self { path, lock });
                    }
                }
                // The folder belongs to another process with the same id, for example an earlier one.
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
                Err(error) => return Err(error),
            }
        }
    }

    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    /// Removes the folder and waits for the removal, so that a process that exits right after its call leaves nothing behind.
    pub(super) async fn end(self) {
        // If it cannot be removed here, the drop of `scratch` tries again.
        let removed = tokio::task::spawn_blocking(move || {
            let mut scratch = self;
            if is_gone(&scratch.path) {
                scratch.path = PathBuf::new();
            }
        });
        let _ = removed.await;
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        let path = std::mem::take(&mut self.path);
        if path.as_os_str().is_empty() || remove_dir(&path).is_ok() {
            return;
        }
        // A command may have left a million files, and the processes of a cancelled command may not have exited yet. If no thread can be started, the
        // folder is left for the next host.
        let _ = std::thread::Builder::new().spawn(move || {
            for _ in 0..50 {
                if is_gone(&path) {
                    return;
                }
                std::thread::sleep(Duration::from_millis(20));
            }
        });
    }
}

/// Locks a folder. Returns `None` if another process holds the lock, or if the folder does not exist any more or was replaced.
fn locked(path: &Path) -> io::Result<Option<File>> {
    let no_link = OFlags::DIRECTORY | OFlags::NOFOLLOW;
    let folder = OpenOptions::new()
        .read(true)
        .custom_flags(no_link.bits().cast_signed())
        .open(path);
    let folder = match folder {
        Ok(folder) => folder,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(error),
    };
    match folder.try_lock() {
        Ok(()) => {}
        Err(TryLockError::WouldBlock) => return Ok(None),
        Err(TryLockError::Error(error)) => return Err(error),
    }
    let (locked, now) = (folder.metadata()?, path.symlink_metadata());
    let is_it = now.is_ok_and(|now| (now.dev(), now.ino()) == (locked.dev(), locked.ino()));
    Ok(is_it.then_some(folder))
}

/// Removes the folders of killed hosts of this user.
fn sweep(root: &Path) {
    let own = geteuid().as_raw();
    for entry in root.read_dir().into_iter().flatten().flatten() {
        let is_one = entry.file_name().to_string_lossy().starts_with(PREFIX)
            && entry
                .metadata()
                .is_ok_and(|meta| meta.is_dir() && meta.uid() == own);
        if !is_one {
            continue;
        }
        // The lock is held during the removal, so that no other host removes the same folder.
        if let Ok(Some(_lock)) = locked(&entry.path()) {
            is_gone(&entry.path());
        }
    }
}

/// Removes a folder regardless of the modes that a command has set in it; returns whether it no longer exists.
fn is_gone(path: &Path) -> bool {
    let (Some(parent), Some(name)) = (path.parent(), path.file_name()) else {
        return true;
    };
    let parent = Dir::open_ambient_dir(parent, ambient_authority());
    match parent.and_then(|parent| remove(&parent, name)) {
        Ok(()) => true,
        Err(error) => error.kind() == io::ErrorKind::NotFound,
    }
}
