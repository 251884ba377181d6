//! A repository in the folder of the conversation, checked before git reads it.

use std::io::{self, Read as _};
use std::path::PathBuf;
use std::time::SystemTime;

use cap_fs_ext::{DirExt as _, FollowSymlinks, OpenOptionsFollowExt as _, OpenOptionsSyncExt as _};
use cap_std::fs::{Dir, MetadataExt as _, OpenOptions};
use tool_core::ToolError;

use super::state::{self, RepositoryState, State};
use super::sweep::REPOSITORIES;
use crate::workspace::{Workspace, WorkspacePath};

/// Maximum number of files and folders in a `.git`.
const MOST: usize = 200_000;
/// Maximum size of a configuration, in bytes.
const CONFIG: u64 = 64 << 10;
/// Maximum size of the list of commits at which a shallow history ends, in bytes.
const SHALLOW: u64 = 1 << 20;

/// A repository whose `.git` contains nothing that leads out of the repository.
#[derive(Debug)]
pub(super) struct Repository {
    /// The folder to which jobs for the repository get access: the folder of the conversation, or the folder of a call.
    pub(super) home: PathBuf,
    /// The absolute path of the repository's folder.
    pub(super) top: PathBuf,
    /// The path relative to the folder of the conversation, as error texts show it to the model.
    pub(super) shown: String,
    /// The host's state for the repository, if `git_clone` created the repository.
    pub(super) kept: Option<RepositoryState>,
    /// The content of the repository's configuration, not yet checked.
    pub(super) config: Vec<u8>,
    /// The content of `.git/shallow`, not yet checked; empty if the clone is not shallow.
    pub(super) shallow: Vec<u8>,
}

/// Opens the repository at a path, records that it is in use now, and refuses a repository that leads out of the folder of the conversation.
pub(super) fn open(
    workspace: &Workspace,
    text: &str,
    now: SystemTime,
) -> Result<Repository, ToolError> {
    let path = workspace.resolve(text).map_err(ToolError::shown)?;
    let mut dir = workspace.dir().and_then(Dir::try_clone)?;
    for name in path.names() {
        dir = dir
            .open_dir_nofollow(name)
            .map_err(|error| missing(&path, &error))?;
    }
    let dot_git = dir.open_dir_nofollow(".git").map_err(|error| match error.kind() {
        io::ErrorKind::NotFound => missing(&path, &error),
        _ => ToolError::new(format!(
            "the `.git` of `{path}` is not a folder, and these tools do not follow it: write the path of the repository that it refers to"
        )),
    })?;
    look_through(&dot_git, workspace.trust().hard_links)?;
    Ok(Repository {
        home: workspace.path().to_owned(),
        top: path
            .names()
            .fold(workspace.path().to_owned(), |top, name| top.join(name)),
        kept: kept(workspace, &path, now)?,
        config: small_file(&dot_git, "config", CONFIG)?,
        shallow: small_file(&dot_git, "shallow", SHALLOW)?,
        shown: path.to_string(),
    })
}

fn missing(path: &WorkspacePath, error: &io::Error) -> ToolError {
    ToolError::new(format!(
        "there is no repository at `{path}`: write the `path` that `git_clone` returned, or the path of a folder with a `.git` folder"
    ))
    .operator(error.to_string())
}

/// Returns the host's state for a repository, and records that it is in use now. `None` if `git_clone` did not create the repository.
fn kept(
    workspace: &Workspace,
    path: &WorkspacePath,
    now: SystemTime,
) -> Result<Option<RepositoryState>, ToolError> {
    let names: Vec<&str> = path.names().collect();
    let [REPOSITORIES, owner, folder] = names[..] else {
        return Ok(None);
    };
    let state = State::open(workspace)?;
    let name = state::name(owner, folder);
    let kept = state.kept(&name)?;
    if kept.is_some() {
        state.mark(&name, now)?;
    }
    Ok(kept)
}

/// Refuses everything that would make git read or write elsewhere: links, pipes, sockets, devices, files that name other folders, and, unless the
/// host allows them, hard-linked files. Also refuses more than [`MOST`] files and folders.
fn look_through(dot_git: &Dir, hard_links: bool) -> Result<(), ToolError> {
    let mut folders = vec![(String::new(), dot_git.try_clone()?)];
    let mut seen = 0;
    while let Some((at, dir)) = folders.pop() {
        for entry in dir.entries()? {
            let entry = entry?;
            seen += 1;
            if seen > MOST {
                return Err(ToolError::new(format!(
                    "the repository's `.git` has more than {MOST} files, which is too many for these tools: clone it again"
                )));
            }
            let name = entry.file_name();
            let below = format!("{at}{}", name.to_string_lossy());
            let kind = entry.file_type()?;
            if kind.is_dir() {
                folders.push((format!("{below}/"), dir.open_dir_nofollow(&name)?));
                continue;
            }
            let elsewhere = matches!(
                below.as_str(),
                "commondir"
                    | "config.worktree"
                    | "objects/info/alternates"
                    | "objects/info/http-alternates"
            );
            let links = || dir.symlink_metadata(&name).map_or(1, |meta| meta.nlink());
            if elsewhere || !kind.is_file() || !hard_links && links() > 1 {
                return Err(leads_out(&below));
            }
        }
    }
    Ok(())
}

fn leads_out(below: &str) -> ToolError {
    let below: String = below.chars().take(80).collect();
    ToolError::new(format!(
        "`.git/{below}` may lead git out of the repository, so these tools do not use it: clone the repository again"
    ))
}

/// Reads a file of a `.git`; the result is empty if the file does not exist.
fn small_file(dot_git: &Dir, name: &str, most: u64) -> Result<Vec<u8>, ToolError> {
    let mut options = OpenOptions::new();
    options.read(true).follow(FollowSymlinks::No).nonblock(true);
    let file = match dot_git.open_with(name, &options) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        opened => opened?,
    };
    let mut bytes = Vec::new();
    file.take(most + 1).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > most {
        return Err(ToolError::new(format!(
            "the repository's `.git/{name}` is larger than {} KiB: clone the repository again",
            most >> 10
        )));
    }
    Ok(bytes)
}
