//! The private folder of one call, in which git works while it has the token or a network.
//!
//! A program that runs in the folder of the conversation can change a repository at any moment, and git reads its configuration more than once.
//! Therefore no git process that has the token or a network reads anything in that folder. Such a process works in a repository in the private
//! folder. This module writes the configuration of that repository, and no tool and no sandboxed program can open the private folder. Jobs without
//! the token and without a network copy objects in and out.
//!
//! ```text
//! {root}/{workspace}/git-work/{conversation}/{8 hex}/site/   0700, exists while the call runs
//! ```

use std::ffi::{OsStr, OsString};
use std::fmt::Write as _;
use std::io;
use std::os::unix::ffi::{OsStrExt as _, OsStringExt as _};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use cap_std::fs::Dir;
use tool_core::ToolError;

use super::command::Command;
use super::credential::private;
use super::repository::Repository;
use super::session::Session;
use super::state::{self, EPHEMERAL, State};
use super::sweep::removed;
use crate::workspace::{Workspace, create_private};

/// The folder, next to the conversations, that contains the folders of calls.
pub(super) const FOLDER: &str = "git-work";
/// The repository in the folder of a call.
pub(super) const SITE: &str = "site";
/// Maximum number of branches whose commits are copied.
const MOST: &str = "1000";

/// A folder that is removed with its content: by `remove`, or by a background thread after the value is dropped.
#[derive(Debug)]
pub(super) struct PrivateFolder {
    inner: Arc<Inner>,
    removed: bool,
}

#[derive(Debug)]
struct Inner {
    parent: Dir,
    suffix: String,
    path: PathBuf,
    /// Used to remove the token that was installed for the call, along with the folder.
    state: State,
}

impl PrivateFolder {
    pub(super) fn make(workspace: &Workspace) -> io::Result<Self> {
        let (parent, path) = workspace.beside(FOLDER)?;
        let state = State::open(workspace)?;
        for _ in 0..100 {
            let suffix = state::suffix();
            match create_private(&parent, &suffix) {
                Ok(()) => {
                    let inner = Inner {
                        path: path.join(&suffix),
                        parent,
                        suffix,
                        state,
                    };
                    return Ok(Self {
                        inner: Arc::new(inner),
                        removed: false,
                    });
                }
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
                Err(error) => return Err(error),
            }
        }
        Err(io::Error::other(
            "no name is free for a temporary git folder",
        ))
    }

    pub(super) fn path(&self) -> &Path {
        &self.inner.path
    }

    /// Returns the name of the folder: eight hexadecimal digits.
    pub(super) fn suffix(&self) -> &str {
        &self.inner.suffix
    }

    /// Returns the name of the state that stores the token of a clone while the clone runs.
    pub(super) fn shim(&self) -> String {
        self.inner.shim()
    }

    /// Returns the repository in the folder, whether it exists or not.
    pub(super) fn repository(&self) -> Repository {
        Repository {
            home: self.path().to_owned(),
            top: self.path().join(SITE),
            shown: String::from(SITE),
            kept: None,
            config: Vec::new(),
            shallow: Vec::new(),
        }
    }

    pub(super) fn dir(&self) -> io::Result<Dir> {
        use cap_fs_ext::DirExt as _;

        self.inner.parent.open_dir_nofollow(&self.inner.suffix)
    }

    /// Removes the folder now, and blocks meanwhile. Writes a warning to the log if that fails.
    pub(super) fn remove(mut self) {
        self.removed = true;
        if !self.inner.remove() {
            tracing::warn!(target: "tool_std::git", folder = %self.path().display(), "a folder of git was not removed");
        }
    }
}

impl Drop for PrivateFolder {
    fn drop(&mut self) {
        if self.removed {
            return;
        }
        // If the call was cancelled, its git process is being killed and may still write, so the removal is repeated for one second.
        let inner = Arc::clone(&self.inner);
        let removal = std::thread::Builder::new().spawn(move || {
            for _ in 0..20 {
                inner.remove();
                std::thread::sleep(Duration::from_millis(50));
            }
        });
        // If no thread can be started, the next sweep removes the folder.
        if let Err(error) = removal {
            tracing::warn!(target: "tool_std::git", %error, "a folder of git was not removed");
        }
    }
}

impl Inner {
    fn shim(&self) -> String {
        format!("{EPHEMERAL}{}", self.suffix)
    }

    /// Removes the folder and the token that was installed for the call; returns whether both were removed.
    fn remove(&self) -> bool {
        let forgotten = self.state.forget(&self.shim()).is_ok();
        removed(&self.parent, &self.suffix) && forgotten
    }
}

/// Creates a private repository that contains only the commits of the branches and remote-tracking branches of `from`, at most [`MOST`] branches.
/// `branch` is the name and commit of a branch to create in the private repository.
pub(super) async fn copied(
    session: &Session,
    from: &Repository,
    branch: Option<(&str, &str)>,
) -> Result<PrivateFolder, ToolError> {
    let count = format!("--count={MOST}");
    let tips = Command::new("for-each-ref")
        .args([&count, "--format=%(objectname)"])
        .args(["refs/heads", "refs/remotes/origin"])
        .on(from);
    let tips = session.succeed(tips).await?;
    let sha256 = if let Some(hash) = tips.lines().next() {
        hash.len() == 64
    } else {
        let asked = Command::new("rev-parse").arg("--show-object-format");
        session.line(asked.on(from)).await?.as_deref() == Some("sha256")
    };
    let refs = refs(&tips, branch)?;
    let shallow = shallow(&from.shallow)?;
    let is_empty = refs.is_empty();
    let folder = session
        .blocking(move |parts| {
            let folder = PrivateFolder::make(&parts.workspace)?;
            begin(&folder.dir()?, &refs, &shallow, sha256)?;
            io::Result::Ok(folder)
        })
        .await??;
    if !is_empty {
        let repository = folder.repository();
        let pack = Command::new("pack-objects")
            .args(["--all", "--quiet", "--window=0", ".git/objects/pack/pack"])
            .on(&repository)
            .writes()
            .borrows(from);
        let packed = session.succeed(pack).await;
        if let Err(error) = packed {
            // Remove the folder before the response is sent.
            session.blocking(|_| folder.remove()).await?;
            return Err(error);
        }
    }
    Ok(folder)
}

/// Returns the content of `packed-refs` for these commits; each has to be a lower-case hexadecimal hash.
fn refs(tips: &str, branch: Option<(&str, &str)>) -> Result<String, ToolError> {
    let mut refs = String::new();
    for (number, hash) in tips.lines().enumerate() {
        let _ = writeln!(refs, "{} refs/have/{number}", checked(hash)?);
    }
    if let Some((branch, hash)) = branch {
        let _ = writeln!(refs, "{} refs/heads/{branch}", checked(hash)?);
    }
    Ok(refs)
}

/// Returns the commits at which the history of a shallow clone ends. Fails if a line of the file is not a hash.
fn shallow(file: &[u8]) -> Result<String, ToolError> {
    let file = std::str::from_utf8(file).unwrap_or("?");
    let mut lines = String::new();
    for hash in file.lines() {
        let _ = writeln!(lines, "{}", checked(hash)?);
    }
    Ok(lines)
}

fn checked(hash: &str) -> Result<&str, ToolError> {
    let is_hash = matches!(hash.len(), 40 | 64)
        && hash
            .bytes()
            .all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'));
    is_hash.then_some(hash).ok_or_else(|| {
        ToolError::new(
            "the repository's `.git` is damaged, it names a commit that is not a hash: clone the repository again",
        )
    })
}

/// Writes the files that make a folder a repository.
fn begin(folder: &Dir, refs: &str, shallow: &str, sha256: bool) -> io::Result<()> {
    let dot_git = format!("{SITE}/.git");
    for below in ["objects/pack", "refs"] {
        folder.create_dir_all(format!("{dot_git}/{below}"))?;
    }
    let config = if sha256 {
        "[core]\n\trepositoryformatversion = 1\n\tbare = false\n[extensions]\n\tobjectformat = sha256\n"
    } else {
        "[core]\n\trepositoryformatversion = 0\n\tbare = false\n"
    };
    for (name, content) in [
        ("HEAD", "ref: refs/heads/none\n"),
        ("config", config),
        ("packed-refs", refs),
        ("shallow", shallow),
    ] {
        if !content.is_empty() {
            let name = format!("{dot_git}/{name}");
            private(folder, &name, 0o600, content.as_bytes())?;
        }
    }
    Ok(())
}

/// Quotes a path for `GIT_ALTERNATE_OBJECT_DIRECTORIES`, whose entries are separated by colons.
pub(super) fn alternate(path: &Path) -> OsString {
    let mut quoted = vec![b'"'];
    for &byte in OsStr::as_bytes(path.as_os_str()) {
        match byte {
            b'"' | b'\\' => quoted.extend([b'\\', byte]),
            b'\n' => quoted.extend(b"\\n"),
            _ => quoted.push(byte),
        }
    }
    quoted.push(b'"');
    OsString::from_vec(quoted)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

    use super::*;

    #[test]
    fn only_hashes_are_copied() {
        let hash = "0123456789abcdef0123456789abcdef01234567";
        let both = refs(&format!("{hash}\n{hash}\n"), Some(("main", hash))).unwrap();
        assert_eq!(
            both,
            format!("{hash} refs/have/0\n{hash} refs/have/1\n{hash} refs/heads/main\n")
        );
        assert!(refs("", None).unwrap().is_empty());
        assert_eq!(shallow(hash.as_bytes()).unwrap(), format!("{hash}\n"));
        for odd in [
            "x",
            "",
            " ",
            "0123",
            &hash.to_uppercase(),
            &format!("{hash} x"),
        ] {
            assert!(refs(&format!("{hash}\n{odd}\n"), None).is_err(), "{odd:?}");
            assert!(shallow(format!("{odd}\n").as_bytes()).is_err(), "{odd:?}");
        }
        assert!(shallow(b"\xff").is_err());
    }

    #[test]
    fn alternate_path_with_a_colon_is_quoted() {
        assert_eq!(alternate(Path::new("/a:b \"c\\d")), r#""/a:b \"c\\d""#);
    }
}
