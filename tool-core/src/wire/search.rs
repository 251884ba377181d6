//! Tools out of sight, in the way of providers that search for themselves.

use super::Provider;
use crate::search::{ToolSearch, stands_for_others};
use crate::tool::ToolDef;
use crate::toolset::Toolset;

/// Most tools that Anthropic searches among.
const MOST_ANTHROPIC: usize = 10_000;
/// Most functions in one request of Responses, in sight or not.
const MOST_RESPONSES: usize = 128;

/// A provider's own search in place of ours.
#[derive(Clone, Copy)]
pub(super) struct Native<'a> {
    provider: Provider,
    tools: &'a Toolset,
    search: &'a ToolSearch,
}

impl<'a> Native<'a> {
    /// Where the toolset is searched, and the provider can do it with so many tools.
    pub(super) fn of(provider: Provider, tools: &'a Toolset) -> Option<Self> {
        let search = tools.search()?;
        let most = match provider {
            Provider::Anthropic => MOST_ANTHROPIC,
            Provider::Responses => MOST_RESPONSES,
            Provider::Chat | Provider::Gemini | Provider::Bedrock => return None,
        };
        let native = Self {
            provider,
            tools,
            search,
        };
        // One place is the search's own.
        (native.tools().count() < most).then_some(native)
    }

    /// Every tool of the turn but the two that stand for others.
    pub(super) fn tools(self) -> impl Iterator<Item = &'a ToolDef> {
        self.tools
            .tools()
            .filter(|def| !stands_for_others(def.wire_name()))
    }

    pub(super) fn defers(self, def: &ToolDef) -> bool {
        self.search.defers(def.wire_name())
    }

    /// The element of the list that turns the search on.
    pub(super) fn entry(self) -> &'static str {
        match self.provider {
            Provider::Anthropic => {
                r#"{"type":"tool_search_tool_bm25_20251119","name":"tool_search_tool_bm25"}"#
            }
            _ => r#"{"type":"tool_search"}"#,
        }
    }
}

/// A definition that is loaded when it is found.
pub(super) fn deferred(definition: &str) -> String {
    let open = definition.strip_suffix('}').unwrap_or(definition);
    format!(r#"{open},"defer_loading":true}}"#)
}
