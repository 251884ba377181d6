//! Removal of repositories that were unused for two hours, when the conversation clones the next one.

use std::ffi::OsStr;
use std::io;
use std::time::{Duration, SystemTime};

use cap_fs_ext::DirExt as _;
use cap_std::fs::Dir;

use super::private;
use super::state::{self, EPHEMERAL, State};
use crate::workspace::{Workspace, remove};

/// The name of the folder that contains the clones of a conversation.
pub(super) const REPOSITORIES: &str = ".repos";
const AGE: Duration = Duration::from_hours(2);
const TRIES: u32 = 3;
/// Maximum number of files and folders of a repository whose times are read, and maximum depth. Files beyond these limits are treated as old.
const MOST: u32 = 200_000;
const DEEPEST: u32 = 100;

/// The result of a sweep.
#[derive(Debug, Default)]
pub(super) struct Swept {
    /// Removed repositories, as paths in the folder of the conversation.
    pub(super) repositories: Vec<String>,
    /// The names of the removed states that still had a token.
    tokens: Vec<String>,
}

impl Swept {
    /// Logs a warning for every token that the sweep removed: tokens of unused or removed repositories, and tokens that a killed host left behind.
    pub(super) fn warn(&self, workspace: &Workspace) {
        for name in &self.tokens {
            tracing::warn!(
                target: "tool_std::git",
                instance = workspace.instance(),
                conversation = workspace.conversation(),
                repository = name,
                "a token of an unused or removed repository was removed",
            );
        }
    }
}

/// Removes old repositories with their tokens, tokens whose repository no longer exists, and old folders of calls. Errors do not fail the clone; the
/// next sweep tries the same removals again.
pub(super) fn sweep(workspace: &Workspace, now: SystemTime) -> Swept {
    let mut swept = Swept::default();
    let Ok(state) = State::open(workspace) else {
        return swept;
    };
    let kept = old_repositories(workspace, &state, now, &mut swept.repositories);
    for name in folders(&state.dir) {
        let orphan = if name.starts_with(EPHEMERAL) {
            // This is the state of a clone that may still be running.
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
    // Remove the folders of calls whose host was killed.
    if let Ok((work, _)) = workspace.beside(private::FOLDER) {
        for name in folders(&work) {
            if is_old(&work, &name, now) {
                removed(&work, &name);
            }
        }
    }
    swept.repositories.sort();
    swept
}

/// Removes the repositories for which [`is_left_alone`] is true, and returns the names of the states of the remaining repositories.
fn old_repositories(
    workspace: &Workspace,
    state: &State,
    now: SystemTime,
    gone: &mut Vec<String>,
) -> Vec<String> {
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
            let name = state::name(&owner, &folder);
            let alone = is_left_alone(&dir, &folder, state.used(&name), now);
            if alone && removed(&dir, &folder) {
                gone.push(format!("{REPOSITORIES}/{owner}/{folder}"));
            } else {
                kept.push(name);
            }
        }
        // This removal fails, as intended, if the folder is not empty.
        let _ = repositories.remove_dir(&owner);
    }
    kept
}

/// Returns whether `name` is the name of the state of the repository at `path`.
fn is_of(path: &str, name: &str) -> bool {
    let mut parts = path.split('/').skip(1);
    let (owner, folder) = (parts.next(), parts.next());
    owner
        .zip(folder)
        .is_some_and(|(owner, folder)| state::name(owner, folder) == name)
}

/// Returns whether state without a repository is too old to belong to a clone that is about to finish.
fn is_settled(state: &State, name: &str, now: SystemTime) -> bool {
    const FINISH: Duration = Duration::from_mins(1);
    age(&state.dir, name, now).is_some_and(|age| age > FINISH)
}

fn is_old(dir: &Dir, name: &str, now: SystemTime) -> bool {
    age(dir, name, now).is_some_and(|age| age > AGE)
}

/// Returns whether no tool has used a repository, and nothing in it has changed, for two hours.
///
/// The time of the folder alone is not enough: neither a deeper edit nor a commit changes it. A time in the future is ignored, so that a program
/// cannot keep a repository forever by setting such a time; programs cannot change the time that the tools record.
fn is_left_alone(dir: &Dir, name: &str, used: Option<SystemTime>, now: SystemTime) -> bool {
    let mut look = Scan {
        now,
        left: MOST,
        old: false,
    };
    let of_folder = dir.symlink_metadata(name).and_then(|meta| meta.modified());
    let of_folder = of_folder.ok().map(cap_std::time::SystemTime::into_std);
    if used.into_iter().chain(of_folder).any(|time| look.at(time)) {
        return false;
    }
    let Ok(top) = dir.open_dir_nofollow(name) else {
        return false;
    };
    // Check the files that git itself writes first, so that most repositories need no scan of all files.
    let git = top.open_dir_nofollow(".git");
    let touched = git.is_ok_and(|git| {
        let files = ["index", "HEAD", "logs/HEAD"];
        files.iter().any(|file| look.at_file(&git, file))
    });
    !touched && !look.below(&top, DEEPEST) && look.old
}

/// A scan of modification times.
struct Scan {
    now: SystemTime,
    left: u32,
    /// Whether a time older than two hours was found.
    old: bool,
}

impl Scan {
    /// Returns whether a time is within the last two hours.
    fn at(&mut self, time: SystemTime) -> bool {
        let age = self.now.duration_since(time);
        self.old |= age.as_ref().is_ok_and(|age| *age > AGE);
        age.is_ok_and(|age| age <= AGE)
    }

    fn at_file(&mut self, dir: &Dir, name: impl AsRef<std::path::Path>) -> bool {
        let changed = dir.symlink_metadata(name).and_then(|meta| meta.modified());
        changed.is_ok_and(|time| self.at(time.into_std()))
    }

    /// Returns whether anything below a folder has changed within the last two hours. No link is followed.
    fn below(&mut self, dir: &Dir, depth: u32) -> bool {
        let Ok(entries) = dir.entries() else {
            return false;
        };
        for entry in entries.flatten() {
            if self.left == 0 {
                return false;
            }
            self.left -= 1;
            let name = entry.file_name();
            if self.at_file(dir, &name) {
                return true;
            }
            let is_folder = entry.file_type().is_ok_and(|kind| kind.is_dir());
            if is_folder
                && depth > 0
                && let Ok(folder) = dir.open_dir_nofollow(&name)
                && self.below(&folder, depth - 1)
            {
                return true;
            }
        }
        false
    }
}

/// Returns the time since the folder itself was changed; `None` if the time of the change is in the future or cannot be read.
fn age(dir: &Dir, name: &str, now: SystemTime) -> Option<Duration> {
    let changed = dir.symlink_metadata(name).and_then(|meta| meta.modified());
    now.duration_since(changed.ok()?.into_std()).ok()
}

/// Removes a folder in several tries: a removal may fail because a program is still writing into it. Returns whether the folder no longer exists.
pub(super) fn removed(dir: &Dir, name: &str) -> bool {
    retried(|| remove(dir, OsStr::new(name)))
}

fn retried(mut remove: impl FnMut() -> io::Result<()>) -> bool {
    (0..TRIES).any(|_| match remove() {
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

#[cfg(test)]
mod tests {
    use super::*;

    // S1-88: a removal is retried and its errors are ignored
    #[test]
    fn failed_removal_is_retried_a_limited_number_of_times() {
        let busy = || Err(io::ErrorKind::DirectoryNotEmpty.into());
        for (outcomes, done, tries) in [
            (vec![Ok(())], true, 1),
            (vec![busy(), Ok(())], true, 2),
            (vec![busy(), busy(), Ok(())], true, 3),
            (vec![busy(), busy(), busy(), Ok(())], false, 3),
            (vec![Err(io::ErrorKind::NotFound.into()), busy()], true, 1),
        ] {
            let (mut outcomes, mut count) = (outcomes.into_iter(), 0);
            let gone = retried(|| {
                count += 1;
                outcomes.next().unwrap_or_else(busy)
            });
            assert_eq!((gone, count), (done, tries));
        }
    }
}
