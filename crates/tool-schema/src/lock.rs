//! Contracts of tools in a lock file, and the changes between two lock files with the effect of each change on callers.
//!
//! `cargo tool lock` writes the file and `cargo tool diff` prints the changes. The caller chooses the format of the file: the types implement serde's
//! traits.
//!
//! ```
//! use tool_schema::lock::{Callers, LockedTool, changes};
//!
//! let tool = |input: &str| LockedTool {
//!     name: "search".into(),
//!     input: input.into(),
//!     ..LockedTool::default()
//! };
//! let before = tool(r#"{"type":"object","properties":{"limit":{"type":"integer","maximum":50}}}"#);
//! let now = tool(r#"{"type":"object","properties":{"limit":{"type":"integer","maximum":20}}}"#);
//!
//! let found = changes(&[before], &[now]);
//! assert_eq!(found[0].place, "/limit");
//! assert_eq!(found[0].callers, Callers::Breaking);
//! ```

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};

mod node;
mod schema;
mod tool;

#[cfg(test)]
mod tests;

/// The version of the file format. Files of other versions are rejected.
pub const VERSION: u32 = 1;

/// The content of a lock file.
#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LockFile {
    /// The version of the file format, [`VERSION`].
    pub version: u32,
    /// The contracts of all tools.
    #[serde(default, rename = "tool")]
    pub tools: Vec<LockedTool>,
}

/// The contract of one tool.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LockedTool {
    /// The name that models use.
    pub name: String,
    /// The fingerprint that approvals are bound to.
    pub contract: String,
    /// The description that models read.
    pub description: String,
    /// The category of the tool.
    pub category: String,
    /// The effects of the tool: `read`, `write`, `destroy` and `external`.
    pub effects: Vec<String>,
    /// The hints that MCP clients read: `read_only`, `destructive`, `idempotent` and `open_world`.
    pub hints: Vec<String>,
    /// The approval policy: `never`, `by_effect`, `when` or `always`.
    pub approval: String,
    /// The dialects that the tool is offered in.
    pub providers: Vec<String>,
    /// The keys of the required secrets.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub secrets: Vec<String>,
    /// The keys of the optional secrets.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub optional_secrets: Vec<String>,
    /// The names of the required variables.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub variables: Vec<String>,
    /// The names of the optional variables.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub optional_variables: Vec<String>,
    /// JSON Schema of the arguments.
    pub input: String,
    /// JSON Schema of the output, if it has one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub output: Option<String>,
}

/// The effect of a change on callers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Callers {
    /// Callers need no change: for example, every argument that was valid is still valid.
    Compatible,
    /// Callers may need a change: for example, an argument that was valid is no longer valid, or the tool has a new effect.
    Breaking,
}

/// The effect of a change on pending approvals.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum PendingApprovals {
    /// The approvals stay valid.
    Hold,
    /// The approvals have to be requested again.
    Void,
}

/// One change of a tool.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Change {
    /// The name of the tool.
    pub tool: String,
    /// The effect of the change on callers.
    pub callers: Callers,
    /// The effect of the change on pending approvals.
    pub approvals: PendingApprovals,
    /// The part that changed, such as `argument`, `output` or `effect`; `tool` if the tool was added or removed.
    pub part: &'static str,
    /// The place in the part, such as `/filter/tags/[]`; empty for the part as a whole.
    pub place: String,
    /// A description of the change.
    pub text: String,
}

/// Returns all changes between the contracts of two lock files, ordered by the name of the tool.
pub fn changes(before: &[LockedTool], now: &[LockedTool]) -> Vec<Change> {
    fn by_name(tools: &[LockedTool]) -> BTreeMap<&str, &LockedTool> {
        tools.iter().map(|tool| (&*tool.name, tool)).collect()
    }
    let (before, now) = (by_name(before), by_name(now));
    let names: BTreeSet<&str> = before.keys().chain(now.keys()).copied().collect();
    let whole = |name: &str, callers, approvals, text: &str| Change {
        tool: name.to_owned(),
        callers,
        approvals,
        part: "tool",
        place: String::new(),
        text: text.to_owned(),
    };
    let each = names
        .into_iter()
        .flat_map(|name| match (before.get(name), now.get(name)) {
            (Some(before), Some(now)) => tool::changes(before, now),
            (Some(_), None) => vec![whole(
                name,
                Callers::Breaking,
                PendingApprovals::Void,
                "it was removed",
            )],
            _ => vec![whole(
                name,
                Callers::Compatible,
                PendingApprovals::Hold,
                "it is new",
            )],
        });
    each.collect()
}
