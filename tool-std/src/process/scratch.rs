//! A folder of one call, which goes with it.

use std::fs::{DirBuilder, remove_dir};
use std::io;
use std::os::unix::fs::DirBuilderExt as _;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use cap_std::ambient_authority;
use cap_std::fs::Dir;

use crate::workspace::remove;

/// An empty folder that nobody else may enter. It is removed by [`end`](Scratch::end), or in the background when it is dropped.
#[derive(Debug)]
pub(super) struct Scratch(PathBuf);

impl Scratch {
    pub(super) fn new() -> io::Result<Self> {
        static COUNT: AtomicU64 = AtomicU64::new(0);
        let root = std::env::temp_dir();
        loop {
            let count = COUNT.fetch_add(1, Ordering::Relaxed);
            let path = root.join(format!("tool-std-{}-{count}", std::process::id()));
            match DirBuilder::new().mode(0o700).create(&path) {
                Ok(()) => return Ok(Self(path)),
                // Of a process that died and had our number.
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
                Err(error) => return Err(error),
            }
        }
    }

    pub(super) fn path(&self) -> &Path {
        &self.0
    }

    /// Removes it, before anything else happens: a process that ends with its call leaves nothing.
    pub(super) async fn end(self) {
        // Where it cannot be removed, the drop in there tries on.
        let removed = tokio::task::spawn_blocking(move || {
            let mut scratch = self;
            if is_gone(&scratch.0) {
                scratch.0 = PathBuf::new();
            }
        });
        let _ = removed.await;
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        let path = std::mem::take(&mut self.0);
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
