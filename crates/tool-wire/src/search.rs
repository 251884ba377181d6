//! The providers' own tool search: Anthropic and Responses load hidden tools on demand.

use std::collections::HashSet;

use tool_core::search::{CALL_TOOL, SEARCH_TOOLS};
use tool_core::{ToolDef, Toolset};

use super::Provider;

/// The maximum number of tools that Anthropic searches, including the search itself.
const MOST_ANTHROPIC: usize = 10_000;
/// The maximum number of tools in one request of Responses, including hidden tools and the search itself.
const MOST_RESPONSES: usize = 128;

/// A provider's own search, used in place of `search_tools`.
pub(super) struct Native<'a> {
    provider: Provider,
    tools: &'a Toolset,
    /// Names of the tools that the model sees without a search.
    listed: HashSet<&'a str>,
}

impl<'a> Native<'a> {
    /// Returns the provider's search, if the toolset is searched and the provider can search that many tools.
    pub(super) fn of(provider: Provider, tools: &'a Toolset) -> Option<Self> {
        tools.search()?;
        let most = match provider {
            Provider::Anthropic => MOST_ANTHROPIC,
            Provider::Responses => MOST_RESPONSES,
            Provider::Chat | Provider::Gemini | Provider::Bedrock => return None,
        };
        let native = Self {
            provider,
            tools,
            listed: tools.offered().map(ToolDef::wire_name).collect(),
        };
        // The search itself counts as one tool.
        (native.tools().count() < most).then_some(native)
    }

    /// Returns every tool of the turn except `search_tools` and `call_tool`, which replace hidden tools.
    pub(super) fn tools(&self) -> impl Iterator<Item = &'a ToolDef> + use<'a> {
        let replaces = |def: &&ToolDef| [CALL_TOOL, SEARCH_TOOLS].contains(&def.wire_name());
        self.tools.tools().filter(move |def| !replaces(def))
    }

    pub(super) fn defers(&self, def: &ToolDef) -> bool {
        !self.listed.contains(def.wire_name())
    }

    /// Returns the list element that turns on the search.
    pub(super) fn entry(&self) -> &'static str {
        match self.provider {
            Provider::Anthropic => {
                r#"{"type":"tool_search_tool_bm25_20251119","name":"tool_search_tool_bm25"}"#
            }
            _ => r#"{"type":"tool_search"}"#,
        }
    }
}

/// Marks a definition as deferred: the provider loads it when its search finds the tool.
pub(super) fn deferred(definition: &str) -> String {
    let open = definition.strip_suffix('}').unwrap_or(definition);
    format!(r#"{open},"defer_loading":true}}"#)
}
