//! A folder of one call, which goes with it.

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

/// How the names of these folders begin.
const PREFIX: &str = "tool-std-";

/// An empty folder that only the host's user may enter. [`end`](Scratch::end) removes it, or a background thread when it is dropped. The kernel releases
/// the lock of a host that is killed, and the next host of the same user removes the folder.
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
            // There may be a million files. Without a thread they stay for the next host.
            let _ = std::thread::Builder::new().spawn(move || sweep(&root));
        });
        loop {
            let count = COUNT.fetch_add(1, Ordering::Relaxed);
            let path = root.join(format!("{PREFIX}{}-{count}", std::process::id()));
            match DirBuilder::new().mode(0o700).create(&path) {
                // Another host may take it for left behind until it is locked.
                Ok(()) => {
                    if let Some(lock) = locked(&path)? {
                        return Ok(Self { path, lock });
                    }
                }
                // Of a process that died and had our number.
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
                Err(error) => return Err(error),
            }
        }
    }

    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    /// Removes it, before anything else happens: a process that ends with its call leaves nothing.
    pub(super) async fn end(self) {
        // Where it cannot be removed, the drop in there tries on.
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
        // A command may have left a million files, and one that was cancelled may still be dying. Without a thread it stays.
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

/// Locks a folder. `None` if another process holds the lock or the folder does not exist any more.
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

/// Removes what hosts of this user have left behind that were killed.
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

/// Removes a folder, whatever modes a command left in it; whether nothing is left.
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
