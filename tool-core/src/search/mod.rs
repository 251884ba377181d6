//! Thousands of tools, of which a model sees few: it searches for the others.
//!
//! A toolset with a search offers the tools that are kept in sight, and two more: `search_tools`, which finds what the turn may use
//! by name, description and parameters, and `call_tool`, which calls what was found. Providers that defer tools themselves get them
//! in their own way, see [`Provider::offer`](crate::wire::Provider::offer). Whatever the way, a call is one of the tool itself: visibility, policy, approval,
//! ledger and audit know nothing of the search, and what the turn may not use is neither found nor called.
//!
//! ```
//! use tool_core::prelude::*;
//! use tool_core::search::ToolSearch;
//!
//! /// Sends a mail to one person.
//! #[tool]
//! fn send_mail(
//!     /// The address.
//!     to: String,
//! ) -> String {
//!     format!("sent to {to}")
//! }
//!
//! /// Reads the calendar of this week.
//! #[tool]
//! fn read_calendar() -> String {
//!     "nothing".to_owned()
//! }
//!
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let all = toolset![send_mail, read_calendar];
//! let search = ToolSearch::new(&all);
//! let tools = all.searched(&search)?;
//! assert!(tools.offered().map(|tool| tool.wire_name()).eq(["call_tool", "search_tools"]));
//!
//! let cx = ToolContext::anonymous();
//! let asked = ToolCall::new("1", "search_tools", r#"{"query":"mail to a person"}"#);
//! assert!(tools.call(asked, &cx).await.model_text().contains("send_mail"));
//! let call = ToolCall::new("2", "call_tool", r#"{"name":"send_mail","arguments":"{\"to\":\"ann\"}"}"#);
//! assert_eq!(tools.call(call, &cx).await.model_text(), "sent to ann");
//! # Ok(())
//! # }
//! ```
//!
//! The index is BM25 over words without their plural endings: exact, the same every time, and without a model. It is made once, of
//! all tools; a turn only leaves out what it may not use.

mod index;
mod tools;
mod words;

use std::collections::BTreeSet;
use std::sync::Arc;

use crate::tool::ToolDef;
use crate::toolset::Toolset;

use index::Index;
pub(crate) use tools::{defs, open};

/// Name of the tool that finds tools.
pub const SEARCH_TOOLS: &str = "search_tools";
/// Name of the tool that calls what was found.
pub const CALL_TOOL: &str = "call_tool";

/// Whether this is one of the two tools that stand for those out of sight.
pub(crate) fn stands_for_others(name: &str) -> bool {
    [CALL_TOOL, SEARCH_TOOLS].contains(&name)
}

/// How many tools one search gives where nothing is said.
const MOST: usize = 5;

/// What can be searched for, and what stays in sight. Cheap to clone; made once for a registry. See the [module](self).
#[derive(Clone, Debug)]
#[doc(alias("tool search", "tool retrieval", "defer_loading"))]
pub struct ToolSearch {
    index: Arc<Index>,
    kept: Arc<BTreeSet<String>>,
    most: usize,
}

/// A tool that fits.
#[derive(Clone, Copy, Debug)]
pub struct Found<'a> {
    /// The tool.
    pub tool: &'a ToolDef,
    /// How well it fits, above zero; comparable within one search only.
    pub score: f32,
}

impl ToolSearch {
    /// Reads the names, titles, categories, tags, descriptions and parameters of these tools, usually all of a registry:
    /// `ToolSearch::new(&registry.open())`. They are known by the names that the model sees; a turn's tools that are not among them
    /// stay in sight.
    pub fn new(tools: &Toolset) -> Self {
        Self {
            index: Arc::new(Index::new(tools.tools())),
            kept: Arc::default(),
            most: MOST,
        }
    }

    /// Keeps tools in sight, by the names that the model sees: those that nearly every turn needs.
    #[must_use]
    pub fn keep(mut self, names: impl IntoIterator<Item = impl Into<String>>) -> Self {
        let kept = Arc::make_mut(&mut self.kept);
        kept.extend(names.into_iter().map(Into::into));
        self
    }

    /// How many tools one search gives at most; 5 where nothing is said.
    #[must_use]
    pub fn most(mut self, most: usize) -> Self {
        self.most = most.max(1);
        self
    }

    /// Finds tools that a turn may use by now, best first; of those that fit equally well, by name.
    ///
    /// A query that is a tool's whole name finds that tool first. What begins as a word of the query does counts less.
    pub fn find<'a>(&self, query: &str, tools: &'a Toolset) -> Vec<Found<'a>> {
        let visible = self.index.find(query).filter_map(|(name, score)| {
            let (_, tool) = tools.find(name)?;
            Some(Found { tool, score })
        });
        visible.take(self.most).collect()
    }

    /// Whether a turn's tool stays out of sight until it is searched for.
    pub(crate) fn defers(&self, name: &str) -> bool {
        self.index.knows(name) && !self.kept.contains(name)
    }
}
