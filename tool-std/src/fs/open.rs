//! Opening files and folders below the handle of a conversation's folder, and the errors for models if that fails.

use std::fs::File;
use std::io;

use cap_fs_ext::{DirExt as _, FollowSymlinks, OpenOptionsFollowExt as _, OpenOptionsSyncExt as _};
use cap_std::fs::{Dir, OpenOptions};
use tool_core::ToolError;

use crate::workspace::{Facts, Kind, Place, Refused, Workspace, WorkspacePath, WriteLock};

/// The folder of a conversation, with an open handle.
pub(super) struct Home<'a> {
    pub(super) workspace: &'a Workspace,
    pub(super) dir: &'a Dir,
    pub(super) place: Place,
}

/// The location of a file: its opened parent folder, and its name in that folder.
pub(super) struct Slot<'a> {
    pub(super) dir: Dir,
    pub(super) name: &'a str,
}

impl<'a> Home<'a> {
    pub(super) fn of(workspace: &'a Workspace) -> Result<Self, ToolError> {
        let opened = workspace.dir().and_then(|dir| Ok((dir, Facts::of(dir)?)));
        let (dir, facts) = opened.map_err(|error| {
            ToolError::new("the workspace cannot be opened, details are in the host's log")
                .operator(format!("`{}`: {error}", workspace.path().display()))
        })?;
        Ok(Self {
            workspace,
            dir,
            place: facts.place,
        })
    }

    /// Opens a regular file for reading. Links are followed as long as they stay inside the conversation's folder.
    pub(super) fn file(&self, path: &WorkspacePath) -> Result<(File, Facts), ToolError> {
        let told = |error| told(path, &error);
        let file = self.dir.open_with(path, &reading()).map_err(told)?;
        let facts = Facts::of(&file).map_err(told)?;
        self.admit(path, &facts, Kind::File)?;
        Ok((file.into_std(), facts))
    }

    /// Opens a folder for listing. Links are followed as long as they stay inside the conversation's folder.
    pub(super) fn folder(&self, path: &WorkspacePath) -> Result<Dir, ToolError> {
        let told = |error| told(path, &error);
        let dir = match self.dir.open_dir(path) {
            // Distinguish the path of a file from a path with a file in place of a folder, for a better error text.
            Err(error) if error.kind() == io::ErrorKind::NotADirectory => {
                self.file(path)?;
                return Err(ToolError::new(format!(
                    "`{path}` is a file, write the path of a folder"
                )));
            }
            opened => opened.map_err(told)?,
        };
        self.admit(path, &Facts::of(&dir).map_err(told)?, Kind::Folder)?;
        Ok(dir)
    }

    /// Resolves the links of a path, which must not lead out of the conversation's folder. A walk begins at the result and follows no links.
    pub(super) fn real(&self, path: &WorkspacePath) -> Result<WorkspacePath, ToolError> {
        if path.split().is_none() {
            return Ok(path.clone());
        }
        let real = self
            .dir
            .canonicalize(path)
            .map_err(|error| told(path, &error))?;
        let real = real.to_str().filter(|real| !real.is_empty()).unwrap_or(".");
        WorkspacePath::relative(real).map_err(ToolError::shown)
    }

    /// Opens the parent folder of a file to write. No link is followed on the way, so the file is written in the folder that was checked. With
    /// `make`, missing folders are created.
    pub(super) fn slot<'p>(
        &self,
        path: &'p WorkspacePath,
        make: bool,
    ) -> Result<Slot<'p>, ToolError> {
        let Some((_, name)) = path.split() else {
            return Err(ToolError::new(
                "`.` is the workspace itself, write the path of a file",
            ));
        };
        if path.names().any(is_git) {
            return Err(ToolError::new(format!(
                "`{path}` is inside a `.git`, which only git writes: use the tools for git"
            )));
        }
        let told = |error| told(path, &error);
        let mut dir = self.dir.try_clone().map_err(told)?;
        let mut names = path.names().peekable();
        while let Some(part) = names.next() {
            if names.peek().is_none() {
                break;
            }
            let next = match dir.open_dir_nofollow(part) {
                Err(error) if error.kind() == io::ErrorKind::NotFound && make => {
                    match dir.create_dir(part) {
                        Err(error) if error.kind() != io::ErrorKind::AlreadyExists => {
                            return Err(told(error));
                        }
                        _ => dir.open_dir_nofollow(part),
                    }
                }
                opened => opened,
            };
            let next = next.map_err(|error| match Facts::at(&dir, part) {
                Ok(facts) if facts.kind == Kind::Link => link(path, &dir, part),
                _ => told(error),
            })?;
            self.admit(path, &Facts::of(&next).map_err(told)?, Kind::Folder)?;
            dir = next;
        }
        Ok(Slot { dir, name })
    }

    /// Acquires the lock that prevents other calls from replacing files of the conversation.
    pub(super) fn lock(
        &self,
        path: &WorkspacePath,
        cancelled: impl Fn() -> bool,
    ) -> Result<WriteLock, ToolError> {
        self.workspace
            .lock(cancelled)
            .map_err(|error| told(path, &error))
    }

    /// Returns the facts of the existing file at a slot, if any. Fails if it is not a regular file that may be replaced.
    pub(super) fn present(
        &self,
        path: &WorkspacePath,
        slot: &Slot<'_>,
    ) -> Result<Option<Facts>, ToolError> {
        match Facts::at(&slot.dir, slot.name) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(told(path, &error)),
            Ok(facts) if facts.kind == Kind::Link => Err(link(path, &slot.dir, slot.name)),
            Ok(facts) => {
                self.admit(path, &facts, Kind::File)?;
                Ok(Some(facts))
            }
        }
    }

    /// Opens a slot's file for reading. It must not be a link.
    pub(super) fn in_slot(
        &self,
        path: &WorkspacePath,
        slot: &Slot<'_>,
    ) -> Result<(File, Facts), ToolError> {
        if self.present(path, slot)?.is_none() {
            return Err(told(path, &io::ErrorKind::NotFound.into()));
        }
        let told = |error| told(path, &error);
        let mut options = reading();
        options.follow(FollowSymlinks::No);
        let file = slot.dir.open_with(slot.name, &options).map_err(told)?;
        let facts = Facts::of(&file).map_err(told)?;
        self.admit(path, &facts, Kind::File)?;
        Ok((file.into_std(), facts))
    }

    fn admit(&self, path: &WorkspacePath, facts: &Facts, wanted: Kind) -> Result<(), ToolError> {
        if facts.kind != wanted {
            let text = match (facts.kind, wanted) {
                (Kind::Folder, _) => {
                    format!("`{path}` is a folder, write the path of a file in it")
                }
                (Kind::File, _) => format!("`{path}` is a file, write the path of a folder"),
                _ => format!("`{path}` is neither a file nor a folder, and cannot be opened"),
            };
            return Err(ToolError::new(text));
        }
        let admitted = facts.admit(self.place, self.workspace.trust());
        admitted.map_err(|refused| {
            ToolError::new(match refused {
                Refused::HardLinks => format!(
                    "`{path}` has a second name (a hard link), which may be outside the workspace: make a copy and use that"
                ),
                Refused::OtherDevice => format!(
                    "`{path}` is on a different file system than the workspace, which the host does not allow"
                ),
            })
        })
    }
}

fn link(path: &WorkspacePath, dir: &Dir, name: &str) -> ToolError {
    let target = dir.read_link_contents(name).unwrap_or_default();
    ToolError::new(format!(
        "`{path}`: `{name}` is a link to `{}`, write the path of its target",
        target.display()
    ))
}

/// Converts an I/O error to an error whose text is written for the model.
pub(super) fn told(path: &WorkspacePath, error: &io::Error) -> ToolError {
    use io::ErrorKind as Kind;

    let text = match error.kind() {
        Kind::NotFound => {
            "does not exist, `list_directory` and `find_files` list the files that do"
        }
        // cap-std's own error for a path that leads outside has no error number; errors of the system have one.
        Kind::PermissionDenied if error.raw_os_error().is_none() => {
            "leads out of the workspace, write the path of a file in it"
        }
        Kind::PermissionDenied => "cannot be opened: permission denied",
        Kind::NotADirectory => "uses a file as a folder",
        Kind::IsADirectory => "is a folder, write the path of a file in it",
        Kind::AlreadyExists => "already exists",
        _ if rustix::io::Errno::from_io_error(error) == Some(rustix::io::Errno::LOOP) => {
            "is a link that is broken or may not be followed here"
        }
        Kind::InvalidFilename => "has a name that is too long",
        Kind::StorageFull | Kind::QuotaExceeded => "cannot be written: no space is left",
        Kind::ResourceBusy => {
            "cannot be written: other calls are writing in the workspace, try again"
        }
        Kind::ReadOnlyFilesystem => "cannot be written: the file system is read-only",
        _ => "cannot be opened or written, details are in the host's log",
    };
    ToolError::new(format!("`{path}` {text}")).operator(error.to_string())
}

fn reading() -> OpenOptions {
    let mut options = OpenOptions::new();
    // Opening a pipe must not wait for its other end. Everything except regular files is refused after it is opened.
    options.read(true).nonblock(true);
    options
}

/// Opens a file that a walk found, without following a link at its end. Returns `None` if the entry is not a regular file any more, or if the host
/// does not allow the file because it has several hard links or is on a different file system.
pub(super) fn walked(home: &Home<'_>, path: &str) -> io::Result<Option<(File, Facts)>> {
    let mut options = reading();
    options.follow(FollowSymlinks::No);
    let file = home.dir.open_with(path, &options)?;
    let facts = Facts::of(&file)?;
    let admitted =
        facts.kind == Kind::File && facts.admit(home.place, home.workspace.trust()).is_ok();
    Ok(admitted.then(|| (file.into_std(), facts)))
}

/// Returns whether a file system or git treats a name as `.git`: in upper or lower case, with characters that are ignored, with characters that
/// Windows drops at the end, with the name of a stream after a `:`, or as its short name.
fn is_git(name: &str) -> bool {
    let ignored = |c: &char| !matches!(c, '\u{200c}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{feff}' | '\u{200b}');
    let plain: String = name.chars().filter(ignored).collect();
    let stem = plain.split(':').next().unwrap_or_default();
    let stem = stem.trim_end_matches(['.', ' ']);
    stem.eq_ignore_ascii_case(".git") || stem.eq_ignore_ascii_case("git~1")
}

#[cfg(test)]
mod tests {
    use super::is_git;

    // S1-78: every spelling of `.git` is recognized, so no tool writes into a repository's `.git`
    #[test]
    fn spellings_of_dot_git_are_recognized() {
        for name in [
            ".git",
            ".GIT",
            ".Git",
            ".git.",
            ".git ",
            ".git. .",
            "git~1",
            "GIT~1",
            ".g\u{200c}it",
            "\u{feff}.git",
            ".git::$INDEX_ALLOCATION",
        ] {
            assert!(is_git(name), "{name:?}");
        }
        for name in [
            ".gitignore",
            "git",
            ".github",
            ".git2",
            "git~2",
            "a.git",
            ".gi",
        ] {
            assert!(!is_git(name), "{name:?}");
        }
    }
}
