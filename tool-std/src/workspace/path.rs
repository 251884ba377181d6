//! Paths of files in the folder of a conversation, as models write them.

use std::fmt;
use std::path::Path;

use super::Workspace;

/// Maximum number of bytes of a name and of a path, as in common file systems.
const NAME: usize = 255;
const PATH: usize = 4096;

/// A path in the folder of a conversation: relative, with `/` between its parts, and without `.` or `..` as a part. The path of the folder itself is
/// `.`.
///
/// The path need not exist, and a link on it may lead outside of the folder: this is checked only when the path is opened below the handle of the
/// folder.
///
/// ```
/// use tool_std::workspace::WorkspacePath;
///
/// assert_eq!(WorkspacePath::relative("a/../b//c")?.as_str(), "b/c");
/// assert_eq!(WorkspacePath::relative("./")?.as_str(), ".");
/// assert!(WorkspacePath::relative("a/../../b").is_err());
/// assert!(WorkspacePath::relative("/etc/passwd").is_err());
/// assert!(WorkspacePath::relative("./C:/x").is_err());
/// # Ok::<(), tool_std::workspace::PathError>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct WorkspacePath(String);

impl WorkspacePath {
    /// Parses and normalizes a relative path.
    ///
    /// # Errors
    ///
    /// Returns a [`PathError`], whose text explains to a model what to write instead.
    pub fn relative(text: &str) -> Result<Self, PathError> {
        let fault = |fault| Err(PathError(shown(text), fault));
        if text.is_empty() {
            return fault(Fault::Empty);
        }
        if text.contains('\0') {
            return fault(Fault::Nul);
        }
        if text.starts_with(['/', '\\']) || has_drive(text) {
            return fault(Fault::Absolute);
        }
        if text.contains('\\') {
            return fault(Fault::Backslash);
        }
        if text.len() > PATH {
            return fault(Fault::Long);
        }
        let mut path = String::with_capacity(text.len());
        let mut rest = text;
        while !rest.is_empty() {
            // Names are short, so a loop over bytes is faster than setting up `memchr`.
            let end = rest.bytes().position(|byte| byte == b'/');
            let (part, behind) = rest.split_at(end.unwrap_or(rest.len()));
            rest = behind.get(1..).unwrap_or_default();
            match part {
                "" | "." => {}
                ".." if path.is_empty() => return fault(Fault::Leaves),
                ".." => path.truncate(path.bytes().rposition(|byte| byte == b'/').unwrap_or(0)),
                _ if part.len() > NAME => return fault(Fault::Long),
                _ => {
                    if !path.is_empty() {
                        path.push('/');
                    }
                    path.push_str(part);
                }
            }
        }
        // The normalized path must be valid input too, so `./c:` is refused like `c:`.
        if has_drive(&path) {
            return fault(Fault::Absolute);
        }
        if path.is_empty() {
            path.push('.');
        }
        Ok(Self(path))
    }

    /// Returns the path as text; `.` for the conversation's folder itself.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Returns the path's folder and its last name; `None` for the conversation's folder itself.
    pub fn split(&self) -> Option<(&str, &str)> {
        match self.0.as_str() {
            "." => None,
            path => Some(path.rsplit_once('/').unwrap_or((".", path))),
        }
    }

    /// Returns the names in the path, in order; the conversation's folder itself has none.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.0.split('/').filter(|name| *name != ".")
    }
}

impl fmt::Display for WorkspacePath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl AsRef<Path> for WorkspacePath {
    fn as_ref(&self) -> &Path {
        Path::new(&self.0)
    }
}

impl Workspace {
    /// Parses a path that a model has written: a relative path, or an absolute path inside of this folder, such as the path that `git_clone`
    /// returned.
    ///
    /// # Errors
    ///
    /// Returns a [`PathError`], whose text explains to a model what to write instead.
    ///
    /// ```
    /// # let root = tempfile::tempdir()?;
    /// # let root = root.path();
    /// let workspace = tool_std::workspace::Workspaces::new(root).open("acme", "conv1")?;
    /// let inside = format!("{}/a/../b", workspace.path().display());
    /// assert_eq!(workspace.resolve(&inside)?.as_str(), "b");
    /// let beside = format!("{}x/b", workspace.path().display());
    /// assert!(workspace.resolve(&beside).is_err());
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn resolve(&self, text: &str) -> Result<WorkspacePath, PathError> {
        let path = Path::new(text);
        if !path.is_absolute() || text.contains('\0') {
            return WorkspacePath::relative(text);
        }
        // Whole names are compared, so `/ws/conv1x` is not below `/ws/conv1`.
        let below = |base: &Path| {
            let rest = path.strip_prefix(base).ok()?.to_str()?;
            Some(WorkspacePath::relative(if rest.is_empty() {
                "."
            } else {
                rest
            }))
        };
        // If a part of the root is a link, programs that run in the folder use the canonical path.
        let inside = below(self.path()).or_else(|| below(&self.path().canonicalize().ok()?));
        let outside = PathError(shown(text), Fault::Outside);
        inside
            .ok_or(outside.clone())?
            .map_err(|error| match error.1 {
                Fault::Leaves => outside,
                fault => PathError(shown(text), fault),
            })
    }
}

/// The reason why a text is not a valid path in the folder of a conversation. The error's text is written for the model that wrote the path.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PathError(String, Fault);

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Fault {
    Empty,
    Nul,
    Absolute,
    Backslash,
    Long,
    Leaves,
    Outside,
}

impl std::error::Error for PathError {}

impl fmt::Display for PathError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self(path, fault) = self;
        match fault {
            Fault::Empty => f.write_str("the path is empty, write `.` for the workspace itself"),
            Fault::Nul => write!(f, "`{path}` contains a NUL character, remove it"),
            Fault::Absolute => write!(
                f,
                "`{path}` is absolute, write the path relative to the workspace, such as `notes/plan.md`"
            ),
            Fault::Backslash => write!(f, "`{path}` has a backslash, write `/` between folders"),
            Fault::Long => write!(
                f,
                "`{path}` is too long: a name has at most {NAME} bytes, a path {PATH}"
            ),
            Fault::Leaves => write!(
                f,
                "`{path}` leads out of the workspace, write a path that stays in it"
            ),
            Fault::Outside => write!(
                f,
                "`{path}` is outside the workspace, write the path relative to the workspace, such as `notes/plan.md`"
            ),
        }
    }
}

/// Returns whether a path begins with a drive: `C:\`, `C:/` or `C:name`.
fn has_drive(text: &str) -> bool {
    matches!(text.as_bytes(), [letter, b':', ..] if letter.is_ascii_alphabetic())
}

/// Returns the path in an error text: shortened, and with NUL escaped.
fn shown(text: &str) -> String {
    let most = 200;
    let short: String = text.chars().take(most).collect();
    let more = if text.chars().nth(most).is_some() {
        "…"
    } else {
        ""
    };
    short.replace('\0', "\\0") + more
}
