//! Tool search: a model finds and calls tools that are not listed in its request.
//!
//! A toolset with a [`ToolSearch`] lists only the tools that are [kept](ToolSearch::keep) or not in its index, and two more tools: `search_tools`
//! finds tools by name, description and parameters, and `call_tool` calls one of them. If a provider supports deferred tools itself, its requests use
//! the provider's own format instead, see `Provider::offer` of the crate `tool-wire`. In both cases the host calls the found tool itself: visibility,
//! policy, approval, ledger and audit work as for a listed tool, and a tool that the turn may not use can be neither found nor called.
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
//! The index is BM25 over words without plural endings: it needs no model, and the same query always returns the same result. It is built once from all
//! tools; each turn filters out the tools that it may not use.

mod index;
mod words;

use std::collections::BTreeSet;
use std::sync::Arc;

use crate::tool::ToolDef;

use index::Index;

/// Name of the tool that searches for tools.
pub const SEARCH_TOOLS: &str = "search_tools";
/// Name of the tool that calls a tool found by [`SEARCH_TOOLS`].
pub const CALL_TOOL: &str = "call_tool";

/// Returns whether this is `search_tools` or `call_tool`, which replace the deferred tools in the request.
pub(crate) fn stands_for_others(name: &str) -> bool {
    [CALL_TOOL, SEARCH_TOOLS].contains(&name)
}

/// Default limit on the results of one search.
const MOST: usize = 5;

/// An index of searchable tools, and the names of the tools that stay listed. Cheap to clone; build it once for a registry. See
/// the [module](self).
#[derive(Clone, Debug)]
#[doc(alias("tool search", "tool retrieval", "defer_loading"))]
pub struct ToolSearch {
    index: Arc<Index>,
    kept: Arc<BTreeSet<String>>,
    most: usize,
}

/// A tool that matches a query.
#[derive(Clone, Copy, Debug)]
pub struct Found<'a> {
    /// The tool that matches the query.
    pub tool: &'a ToolDef,
    /// Relevance, above zero; comparable within one search only.
    pub score: f32,
}

impl ToolSearch {
    /// Implements [`ToolSearch::new`] for the tools of an iterator.
    pub(crate) fn of<'a>(tools: impl Iterator<Item = &'a ToolDef>) -> Self {
        Self {
            index: Arc::new(Index::new(tools)),
            kept: Arc::default(),
            most: MOST,
        }
    }

    /// Keeps these tools listed, by the names that the model sees. Use it for the tools that nearly every turn needs.
    #[must_use]
    pub fn keep(mut self, names: impl IntoIterator<Item = impl Into<String>>) -> Self {
        let kept = Arc::make_mut(&mut self.kept);
        kept.extend(names.into_iter().map(Into::into));
        self
    }

    /// Limits the number of results of one search (default: 5, at least 1).
    #[must_use]
    pub fn most(mut self, most: usize) -> Self {
        self.most = most.max(1);
        self
    }

    /// Implements [`ToolSearch::find`]. `get` returns the tool with a name, if the turn may use it.
    pub(crate) fn find_with<'a>(
        &self,
        query: &str,
        get: impl Fn(&str) -> Option<&'a ToolDef>,
    ) -> Vec<Found<'a>> {
        let visible = self.index.find(query).filter_map(|(name, score)| {
            let tool = get(name)?;
            Some(Found { tool, score })
        });
        visible.take(self.most).collect()
    }

    /// Returns whether a tool is left out of the request, so that the model has to search for it.
    pub(crate) fn defers(&self, name: &str) -> bool {
        self.index.knows(name) && !self.kept.contains(name)
    }
}
