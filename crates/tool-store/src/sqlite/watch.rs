//! Detection of removed or replaced database files.
//!
//! SQLite keeps writing to a file that was unlinked, and reports success. These writes are lost when the process ends
//! (<https://www.sqlite.org/howtocorrupt.html#unlink>). SQLite detects an unlinked file only in rollback journal mode.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use crate::env;

/// The identity of a file. A different file with the same name has a different identity.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct FileId {
    device: u64,
    inode: u64,
}

impl FileId {
    #[cfg(unix)]
    fn of(path: &Path) -> io::Result<Self> {
        use std::os::unix::fs::MetadataExt as _;
        let metadata = std::fs::metadata(path)?;
        Ok(Self {
            device: metadata.dev(),
            inode: metadata.ino(),
        })
    }

    /// Checks only that the file exists, because Windows does not allow removing or renaming a file that SQLite has open.
    #[cfg(not(unix))]
    fn of(path: &Path) -> io::Result<Self> {
        std::fs::metadata(path)?;
        Ok(Self {
            device: 0,
            inode: 0,
        })
    }
}

/// The identities of the database, its write-ahead log and the log's index. They do not change while a connection is open.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Files([FileId; 3]);

/// The path of an open database, the identity of its file, and the time at which a change of the identity was last noticed.
#[derive(Debug)]
pub(super) struct Watch {
    path: PathBuf,
    seen: Mutex<Seen>,
}

#[derive(Debug)]
struct Seen {
    database: Option<FileId>,
    since: Instant,
}

impl Watch {
    pub(super) fn new(path: PathBuf) -> Self {
        let seen = Mutex::new(Seen {
            database: FileId::of(&path).ok(),
            since: env::monotonic(),
        });
        Self { path, seen }
    }

    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    /// Returns the current identities of the files.
    pub(super) fn files(&self) -> io::Result<Files> {
        let beside = |suffix: &str| {
            let mut name = self.path.clone().into_os_string();
            name.push(suffix);
            FileId::of(Path::new(&name))
        };
        let files = [FileId::of(&self.path)?, beside("-wal")?, beside("-shm")?];
        Ok(Files(files))
    }

    /// Returns whether a connection of this age may have other files open than the current files at the path.
    pub(super) fn is_stale(&self, age: Duration) -> bool {
        let now = env::monotonic();
        let database = FileId::of(&self.path).ok();
        let mut seen = self.seen.lock().unwrap_or_else(PoisonError::into_inner);
        if seen.database != database {
            seen.database = database;
            seen.since = now;
        }
        now.checked_sub(age).is_none_or(|born| born < seen.since)
    }

    /// Marks every connection opened so far as stale.
    pub(super) fn renew(&self) {
        let mut seen = self.seen.lock().unwrap_or_else(PoisonError::into_inner);
        seen.database = FileId::of(&self.path).ok();
        seen.since = env::monotonic();
    }
}
