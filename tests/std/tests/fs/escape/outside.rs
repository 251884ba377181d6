//! What lies around a workspace, watched.

use std::collections::BTreeMap;
use std::fs;
use std::mem::MaybeUninit;
use std::os::fd::OwnedFd;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};

use rustix::fs::inotify::{self, CreateFlags, ReadFlags, WatchFlags};
use rustix::io::Errno;

use super::trial::{CANARY, UNNAMED};

/// Folders beside the workspace, from its parent on, and one beside the root.
const BESIDE: [&str; 4] = ["conv2", "conv1x", "conv", "../../../outside"];

/// Number, mode and time of change of a file, and what it holds.
type State = (u64, u32, i64, i64, Vec<u8>);

pub(crate) struct Outside {
    watch: OwnedFd,
    folders: Vec<PathBuf>,
    before: BTreeMap<PathBuf, State>,
}

impl Outside {
    /// Makes what is outside of a workspace, and begins to watch it.
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
            // The folder tells of names in it; a file by itself is reached by another name as well.
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

    /// Nothing outside was so much as opened.
    pub(crate) fn is_quiet(&self, what: &str) {
        let events = self.events();
        assert!(events.is_empty(), "{what}: {events:?}");
    }

    /// Nothing outside was read, listed or changed. It may have been opened: a name inside led to it, and what it was showed then.
    pub(crate) fn is_unread(&self, what: &str) {
        let events = self.events();
        let harmless = ReadFlags::OPEN | ReadFlags::CLOSE_NOWRITE | ReadFlags::ISDIR;
        assert!(
            events.iter().all(|event| harmless.contains(*event)),
            "{what}: {events:?}"
        );
    }

    /// Nothing outside is different from what it was, and nothing is new.
    pub(crate) fn is_unchanged(&self) {
        let after: BTreeMap<_, _> = self
            .folders
            .iter()
            .flat_map(|folder| state(folder))
            .collect();
        assert_eq!(self.before, after);
        self.events();
    }

    /// What happened since this was asked last.
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
        // Another test may have started a process while the files here were written: that process holds them until it runs its program. What is
        // closed then was opened before the watch began.
        if !events.iter().any(|event| event.contains(ReadFlags::OPEN)) {
            events.retain(|event| *event != ReadFlags::CLOSE_WRITE);
        }
        events
    }
}

/// Everything in a folder: what it is, and what it holds.
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
