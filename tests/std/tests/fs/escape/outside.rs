//! Files and folders next to a workspace. The tests watch them with inotify.

use std::collections::BTreeMap;
use std::fs;
use std::mem::MaybeUninit;
use std::os::fd::OwnedFd;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};

use rustix::fs::inotify::{self, CreateFlags, ReadFlags, WatchFlags};
use rustix::io::Errno;

use super::trial::{CANARY, UNNAMED};

/// Folders next to the workspace and next to the root, relative to the workspace's parent.
const BESIDE: [&str; 4] = ["conv2", "conv1x", "conv", "../../../outside"];

/// The inode, the mode, the modification time (seconds and nanoseconds) and the content of a file.
type State = (u64, u32, i64, i64, Vec<u8>);

pub(crate) struct Outside {
    watch: OwnedFd,
    folders: Vec<PathBuf>,
    before: BTreeMap<PathBuf, State>,
}

impl Outside {
    /// Creates the files outside of a workspace and starts to watch them.
    pub(crate) fn around(workspace: &Path) -> Self {
        let base = workspace.parent().unwrap();
        let mut folders = Vec::new();
        for name in BESIDE {
            let folder = base.join(name);
            fs::create_dir_all(folder.join("deep")).unwrap();
            for file in ["secret", "deep/secret", UNNAMED, ".hidden", "inside.txt"] {
                fs::write(folder.join(file), format!("{CANARY} of {name}/{file}\n")).unwrap();
            }
            let folder = folder.canonicalize().unwrap();
            folders.push(folder.join("deep"));
            folders.push(folder);
        }
        let before = folders.iter().flat_map(|folder| state(folder)).collect();
        let watch = inotify::init(CreateFlags::NONBLOCK | CreateFlags::CLOEXEC).unwrap();
        for folder in &folders {
            // The watch of a folder reports access by a name in the folder; the watch of a file also reports access through a different hard link.
            inotify::add_watch(&watch, folder, WatchFlags::ALL_EVENTS).unwrap();
            for entry in fs::read_dir(folder).unwrap() {
                let path = entry.unwrap().path();
                if path.is_file() {
                    inotify::add_watch(&watch, path, WatchFlags::ALL_EVENTS).unwrap();
                }
            }
        }
        let this = Self {
            watch,
            folders,
            before,
        };
        this.events();
        this
    }

    /// Asserts that no file or folder outside was accessed.
    pub(crate) fn is_quiet(&self, what: &str) {
        let events = self.events();
        assert!(events.is_empty(), "{what}: {events:?}");
    }

    /// Asserts that no file outside was read, listed or changed. A tool may have opened such a file through a name inside, because it must open a
    /// file to find out its type.
    pub(crate) fn is_unread(&self, what: &str) {
        let events = self.events();
        let harmless = ReadFlags::OPEN | ReadFlags::CLOSE_NOWRITE | ReadFlags::ISDIR;
        assert!(
            events.iter().all(|event| harmless.contains(*event)),
            "{what}: {events:?}"
        );
    }

    /// Asserts that all files outside are unchanged and that no files were added.
    pub(crate) fn is_unchanged(&self) {
        let after: BTreeMap<_, _> = self
            .folders
            .iter()
            .flat_map(|folder| state(folder))
            .collect();
        assert_eq!(self.before, after);
        self.events();
    }

    /// Returns the events since the last call.
    pub(crate) fn events(&self) -> Vec<ReadFlags> {
        let mut buffer = [MaybeUninit::uninit(); 4096];
        let mut reader = inotify::Reader::new(&self.watch, &mut buffer);
        let mut events = Vec::new();
        loop {
            match reader.next() {
                Ok(event) => events.push(event.events()),
                Err(Errno::WOULDBLOCK) => break,
                Err(error) => panic!("{error}"),
            }
        }
        // If a different test starts a process while these files are written, the process inherits the open files until it executes its program. A
        // close event without an open event therefore belongs to a file that was opened before the watch began.
        if !events.iter().any(|event| event.contains(ReadFlags::OPEN)) {
            events.retain(|event| *event != ReadFlags::CLOSE_WRITE);
        }
        events
    }
}

/// Returns the state of every entry of a folder.
fn state(folder: &Path) -> Vec<(PathBuf, State)> {
    let entries = fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().path());
    let state = |path: PathBuf| {
        let facts = fs::symlink_metadata(&path).unwrap();
        let content = if facts.is_file() {
            fs::read(&path).unwrap()
        } else {
            Vec::new()
        };
        (
            path,
            (
                facts.ino(),
                facts.mode(),
                facts.mtime(),
                facts.mtime_nsec(),
                content,
            ),
        )
    };
    entries.map(state).collect()
}
