//! The `find_files` tool, which finds files by their names.

use globset::{GlobBuilder, GlobMatcher};
use tool_core::prelude::*;

use super::limits::Limits;
use super::open::Home;
use super::walk::{RuleCount, Walk};
use crate::workspace::{Reader, WorkspacePath};

/// The files whose names match.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, StrictSchema)]
pub struct Found {
    /// The paths of the files, relative to the workspace, sorted.
    pub paths: Vec<String>,
    /// The number of all matching paths.
    pub total: u64,
    /// Whether there are more paths: after these, or among files that were not searched.
    pub truncated: bool,
    /// The `offset` of the next call, to continue.
    pub next_offset: Option<u64>,
    /// Advice if not every file was searched or not every ignore rule was applied.
    pub note: Option<String>,
}

/// Finds files of the workspace by name. Skips files that `.gitignore` or `.ignore` exclude and names that begin with a dot, unless an
/// argument includes them, and always skips `.git`. Use `search_files` to search the contents of files.
#[tool(
    category = "files",
    example("Every file of a kind", { "pattern": "*.rs" }),
    example("In all `tests` folders below `packages`", { "pattern": "**/tests/*.json", "path": "packages" }),
)]
#[expect(clippy::too_many_arguments, reason = "a model can set each argument")]
pub fn find_files(
    cx: &ToolContext,
    reader: &Reader,
    limits: &Limits,
    /// A glob: `*` and `?` within a name, `**` for any folders, `[ab]`, `{a,b}`. A glob without `/` matches names in any folder.
    #[arg(length = 1..=1000)]
    pattern: String,
    /// The folder to search, relative to the workspace, or absolute and inside the workspace.
    #[arg(default = ".")]
    path: String,
    /// Include names that begin with a dot.
    #[arg(default = false)]
    hidden: bool,
    /// Include files that `.gitignore` or `.ignore` exclude.
    #[arg(default = false)]
    ignored: bool,
    /// The maximum number of paths to return.
    #[arg(default = 200, range = 1..=1000)]
    limit: u32,
    /// The number of paths to skip: `next_offset` of the previous result.
    #[arg(default = 0)]
    offset: u64,
) -> Result<Found, ToolError> {
    let glob = glob(&pattern)?;
    let path = reader.resolve(&path).map_err(ToolError::shown)?;
    let home = Home::of(reader)?;
    let walk = Walk {
        home: &home,
        hidden,
        ignored,
        most: limits.walked,
        cancelled: &|| cx.is_cancelled(),
        rules: RuleCount::default(),
    };
    let files = walk.files(&path)?;
    let note = files.note(limits.walked);
    let mut paths = files.paths;
    paths.retain(|file| glob.is_match(from(&files.start, file)));
    let total = paths.len() as u64;
    let first = usize::try_from(offset).unwrap_or(usize::MAX);
    let mut bytes = 0;
    let mut shown = Vec::new();
    for path in paths.into_iter().skip(first).take(limit as usize) {
        bytes += path.len();
        // Return at least one path, however long it is, so that the next call can continue after it.
        if bytes > limits.bytes && !shown.is_empty() {
            break;
        }
        shown.push(path);
    }
    let next = offset.saturating_add(shown.len() as u64);
    Ok(Found {
        paths: shown,
        total,
        truncated: next < total || files.more,
        next_offset: (next < total).then_some(next),
        note,
    })
}

/// Compiles a glob for paths relative to the folder that is searched.
pub(super) fn glob(pattern: &str) -> Result<GlobMatcher, ToolError> {
    let pattern = pattern.strip_prefix("./").unwrap_or(pattern);
    let anywhere = if pattern.contains('/') { "" } else { "**/" };
    let glob = GlobBuilder::new(&format!("{anywhere}{pattern}"))
        .literal_separator(true)
        .build();
    let glob = glob.map_err(|error| {
        ToolError::new(format!(
            "`{pattern}` is not a glob: {}, write one such as `src/**/*.rs`",
            error.kind()
        ))
    })?;
    Ok(glob.compile_matcher())
}

/// Returns the path of a file relative to the folder that is searched.
pub(super) fn from<'a>(start: &WorkspacePath, file: &'a str) -> &'a str {
    let below = file
        .strip_prefix(start.as_str())
        .and_then(|rest| rest.strip_prefix('/'));
    // If `start` is the conversation's folder itself, the path is already relative to it; if `start` is the file itself, only its name is matched.
    below.unwrap_or_else(|| match start.split() {
        Some((_, name)) if start.as_str() == file => &file[file.len() - name.len()..],
        _ => file,
    })
}
