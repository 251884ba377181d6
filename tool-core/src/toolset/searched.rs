//! Toolsets with tool search: the model sees some of the tools and searches for the others.

use std::collections::BTreeSet;
use std::sync::Arc;

use super::{Toolset, ToolsetError, search_tools};
use crate::registry::ToolIndex;
use crate::search::{self, Found, ToolSearch};
use crate::tool::ToolDef;
use crate::visibility::View;

impl Toolset {
    /// Hides from the model the tools that a search can find, except [kept](ToolSearch::keep) tools. Offers `search_tools` and `call_tool` instead:
    /// see [`search`](crate::search).
    ///
    /// Apart from that, the toolset is unchanged: the hidden tools are still visible to the host, [`names`](Toolset::names) returns them, and calls
    /// of them run. Apply this change last: a toolset that is filtered, renamed or combined afterwards shows all its tools again.
    ///
    /// Fails if a tool of the turn is named `search_tools` or `call_tool`, for example because the toolset has a search already.
    pub fn searched(self, search: &ToolSearch) -> Result<Self, ToolsetError> {
        let own = search_tools::defs().map_err(ToolsetError::Search)?;
        for def in own {
            if let Some(other) = self.get(def.wire_name()) {
                return Err(ToolsetError::Collision {
                    name: def.wire_name().to_owned(),
                    first: format!("the search for tools ({})", def.origin_text()),
                    second: format!("{} ({})", self.place(), other.origin_text()),
                });
            }
        }
        let before = self.view.as_deref();
        let mut codes = before.map_or_else(
            || vec![0; self.shelf.tools.len()],
            |view| view.codes.clone(),
        );
        let hidden = codes.split_off(self.shelf.tools.len());
        let mut beside: Vec<(ToolDef, u8)> = self.agents().iter().cloned().zip(hidden).collect();
        beside.retain(|(def, _)| own.iter().all(|own| own.wire_name() != def.wire_name()));
        beside.extend(own.iter().map(|def| (def.clone(), 0)));
        beside.sort_by(|(a, _), (b, _)| a.wire_name().cmp(b.wire_name()));
        codes.extend(beside.iter().map(|(_, code)| *code));
        let side = ToolIndex::of(beside.into_iter().map(|(def, _)| def).collect());
        let absent = before.map_or_else(BTreeSet::new, |view| view.absent.clone());
        let live = before.map_or_else(Vec::new, |view| view.live.clone());
        let view = View::new(&self.shelf, codes, absent, Some(Arc::new(side)), live);
        Ok(Self {
            view: Some(Arc::new(view)),
            search: Some(Arc::new(search.clone())),
            ..self
        })
    }

    /// Returns the search that [`searched`](Toolset::searched) has set; `None` if the toolset has no search.
    pub fn search(&self) -> Option<&ToolSearch> {
        self.search.as_deref()
    }

    /// Returns the tools that are offered to a provider, in order. With tool search, these are only the tools that the model can call without a
    /// [search](Toolset::searched).
    pub fn offered(&self) -> impl Iterator<Item = &ToolDef> {
        let search = self.search();
        self.tools()
            .filter(move |def| search.is_none_or(|search| !search.defers(def.wire_name())))
    }

    /// Returns whether the tool at this position is `search_tools` or `call_tool`.
    pub(super) fn stands_for_others(&self, at: usize) -> bool {
        self.search.is_some()
            && at >= self.shelf.tools.len()
            && search::stands_for_others(self.def(at).wire_name())
    }

    /// Returns the same toolset without the search, so that calls need not be unwrapped.
    pub(crate) fn opened(&self) -> Self {
        Self {
            search: None,
            ..self.clone()
        }
    }
}

impl ToolSearch {
    /// Indexes the names, titles, categories, tags, descriptions and parameters of these tools, usually of a whole registry:
    /// `ToolSearch::new(&registry.open())`. The index identifies tools by the names that the model sees. Tools of a turn that are
    /// not in the index stay listed.
    pub fn new(tools: &Toolset) -> Self {
        Self::of(tools.tools())
    }

    /// Finds tools in `tools`, best match first and ties by name.
    ///
    /// A query that equals a tool's name ranks that tool first. A word that only starts with a query word scores less than an
    /// exact match.
    pub fn find<'a>(&self, query: &str, tools: &'a Toolset) -> Vec<Found<'a>> {
        self.find_with(query, |name| tools.get(name))
    }
}
