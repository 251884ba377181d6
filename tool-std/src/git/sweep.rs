//! The first clock: repositories that have been left alone for two hours go when the conversation clones the next one.

use std::ffi::OsStr;
use std::io;
use std::time::{Duration, SystemTime};

use cap_fs_ext::DirExt as _;
use cap_std::fs::Dir;

use super::state::{self, EPHEMERAL, State};
use crate::workspace::{Workspace, remove};

/// Below this folder of a workspace are its clones.
pub(super) const REPOSITORIES: &str = ".repos";
const AGE: Duration = Duration::from_hours(2);
const TRIES: u32 = 3;

/// What a sweep has removed.
#[derive(Debug, Default)]
pub(super) struct Swept {
    /// Repositories, as paths in the workspace.
    pub(super) repositories: Vec<String>,
    /// The state of those that still had a token.
    tokens: Vec<String>,
}

impl Swept {
    /// Warns of every token that was left over: whoever used it has ended without removing it.
    pub(super) fn warn(&self, workspace: &Workspace) {
        for name in &self.tokens {
            tracing::warn!(
                target: "tool_std::git",
                instance = workspace.instance(),
                conversation = workspace.conversation(),
                repository = name,
                "a token was left over and is removed now",
            );
        }
    }
}

/// Removes what is too old, with its token, and tokens whose repository is gone. What cannot be removed stays for the next time: no
/// clone fails for it.
pub(super) fn sweep(workspace: &Workspace, now: SystemTime) -> Swept {
    let mut swept = Swept::default();
    let Ok(state) = State::open(workspace) else {
        return swept;
    };
    let kept = old_repositories(workspace, now, &mut swept.repositories);
    for name in folders(&state.dir) {
        let orphan = if name.starts_with(EPHEMERAL) {
            // A clone that runs at this moment has one.
            is_old(&state.dir, &name, now)
        } else {
            let went = swept.repositories.iter().any(|path| is_of(path, &name));
            went || !kept.contains(&name) && is_settled(&state, &name, now)
        };
        if orphan {
            if state.has_token(&name) {
                swept.tokens.push(name.clone());
            }
            let _ = state.forget(&name);
        }
    }
    swept.repositories.sort();
    swept
}

/// Removes repositories that are too old, and gives the names of the state of those that are not.
fn old_repositories(workspace: &Workspace, now: SystemTime, gone: &mut Vec<String>) -> Vec<String> {
    let mut kept = Vec::new();
    let opened = workspace
        .dir()
        .and_then(|dir| dir.open_dir_nofollow(REPOSITORIES));
    let Ok(repositories) = opened else {
        return kept;
    };
    for owner in folders(&repositories) {
        let Ok(dir) = repositories.open_dir_nofollow(&owner) else {
            continue;
        };
        for folder in folders(&dir) {
            if is_old(&dir, &folder, now) && removed(&dir, &folder) {
                gone.push(format!("{REPOSITORIES}/{owner}/{folder}"));
            } else {
                kept.push(state::name(&owner, &folder));
            }
        }
        // Only where nothing is left in it.
        let _ = repositories.remove_dir(&owner);
    }
    kept
}

/// Whether the state is that of the repository at this path.
fn is_of(path: &str, name: &str) -> bool {
    let mut parts = path.split('/').skip(1);
    let (owner, folder) = (parts.next(), parts.next());
    owner
        .zip(folder)
        .is_some_and(|(owner, folder)| state::name(owner, folder) == name)
}

/// State without a repository; not that of a clone which is just being finished.
fn is_settled(state: &State, name: &str, now: SystemTime) -> bool {
    const FINISH: Duration = Duration::from_mins(1);
    age(&state.dir, name, now).is_some_and(|age| age > FINISH)
}

fn is_old(dir: &Dir, name: &str, now: SystemTime) -> bool {
    age(dir, name, now).is_some_and(|age| age > AGE)
}

/// Since the folder itself was changed; `None` for one from the future.
fn age(dir: &Dir, name: &str, now: SystemTime) -> Option<Duration> {
    let changed = dir.symlink_metadata(name).and_then(|meta| meta.modified());
    now.duration_since(changed.ok()?.into_std()).ok()
}

/// Tries a few times: what a program has left open or is still writing may go a moment later.
pub(super) fn removed(dir: &Dir, name: &str) -> bool {
    (0..TRIES).any(|_| match remove(dir, OsStr::new(name)) {
        Ok(()) => true,
        Err(error) => error.kind() == io::ErrorKind::NotFound,
    })
}

fn folders(dir: &Dir) -> Vec<String> {
    let Ok(entries) = dir.entries() else {
        return Vec::new();
    };
    entries
        .flatten()
        .filter(|entry| entry.file_type().is_ok_and(|kind| kind.is_dir()))
        .filter_map(|entry| entry.file_name().into_string().ok())
        .collect()
}
