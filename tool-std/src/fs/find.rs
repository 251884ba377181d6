//! The `find_files` tool, which finds files by their names.

use globset::{GlobBuilder, GlobMatcher};
use tool_core::prelude::*;

use super::limits::Limits;
use super::open::Home;
use super::walk::{RuleCount, Walk};
use crate::workspace::{Reader, WorkspacePath};

/// Files by their names.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, StrictSchema)]
pub struct Found {
    /// Their paths from the workspace on, sorted.
    pub paths: Vec<String>,
    /// How many there are.
    pub total: u64,
    /// Whether there are more: behind these, or among files that were not looked at.
    pub truncated: bool,
    /// Where to go on: the `offset` of the next call.
    pub next_offset: Option<u64>,
    /// What to do where not every file was looked at.
    pub note: Option<String>,
}

/// Finds files of the workspace by their names. What `.gitignore` and `.ignore` leave out and names that begin with a dot are not
/// looked at, unless said; `.git` never is. Use `search_files` to find files by what is in them.
#[tool(
    category = "files",
    example("Every file of a kind", { "pattern": "*.rs" }),
    example("In some folders below another", { "pattern": "**/tests/*.json", "path": "packages" }),
)]
#[expect(
    clippy::too_many_arguments,
    reason = "each is one that a model may give"
)]
pub fn find_files(
    cx: &ToolContext,
    reader: &Reader,
    limits: &Limits,
    /// A glob: `*` and `?` within a name, `**` for any folders, `[ab]`, `{a,b}`. Without a `/` it is about names in any folder.
    #[arg(length = 1..=1000)]
    pattern: String,
    /// The folder to look in, from the workspace on, or absolute and inside the workspace.
    #[arg(default = ".")]
    path: String,
    /// Take names that begin with a dot.
    #[arg(default = false)]
    hidden: bool,
    /// Take what `.gitignore` and `.ignore` leave out.
    #[arg(default = false)]
    ignored: bool,
    /// How many paths to return.
    #[arg(default = 200, range = 1..=1000)]
    limit: u32,
    /// How many paths to leave out: `next_offset` of the result before.
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

/// The path of a file relative to the folder that is searched.
pub(super) fn from<'a>(start: &WorkspacePath, file: &'a str) -> &'a str {
    let below = file
        .strip_prefix(start.as_str())
        .and_then(|rest| rest.strip_prefix('/'));
    // If `start` is the workspace itself, the path is already relative to it; if `start` is the file itself, only its name is matched.
    below.unwrap_or_else(|| match start.split() {
        Some((_, name)) if start.as_str() == file => &file[file.len() - name.len()..],
        _ => file,
    })
}
