//! The list of tools in a request.

use tool_core::{ToolDef, Toolset};

use super::Provider;
use super::definition::definition;
use super::search::{Native, deferred};

/// A tool whose definition is in the request: in the list, or in a message.
#[derive(Clone, Debug)]
#[expect(clippy::struct_excessive_bools, reason = "each is an independent fact")]
pub(super) struct Listed {
    pub(super) def: ToolDef,
    pub(super) text: String,
    /// Whether the tool is sent as strict, so that the provider enforces its schema.
    pub(super) strict: bool,
    /// Whether the turn may use the tool.
    pub(super) open: bool,
    /// Whether the tool is defined in a message of the conversation and not in the list.
    pub(super) inline: bool,
    /// Whether the tool is loaded only when the provider's own search finds it.
    pub(super) deferred: bool,
}

impl Listed {
    pub(super) fn name(&self) -> &str {
        self.def.wire_name()
    }
}

pub(super) fn offered(
    provider: Provider,
    native: Option<&Native<'_>>,
    tools: &Toolset,
    lenient: &[String],
) -> Vec<Listed> {
    let offered = candidates(native, tools)
        .into_iter()
        .filter(|def| !def.definition(provider.dialect()).is_empty());
    let listed = |def: &ToolDef| {
        let late = native.is_some_and(|native| native.defers(def));
        let claude = provider == Provider::Anthropic;
        let own = def.non_strict().contains(provider.dialect());
        let strict = !(late && claude || own || lenient.iter().any(|name| name == def.wire_name()));
        let text = definition(provider, def, strict);
        Listed {
            text: if late { deferred(&text) } else { text },
            def: def.clone(),
            strict,
            open: true,
            inline: false,
            deferred: late,
        }
    };
    offered.map(listed).collect()
}

/// Returns the tools from which the list is created.
fn candidates<'a>(native: Option<&Native<'a>>, tools: &'a Toolset) -> Vec<&'a ToolDef> {
    match native {
        Some(native) => native.tools().collect(),
        None => tools.offered().collect(),
    }
}

pub(super) fn left_out(
    provider: Provider,
    native: Option<&Native<'_>>,
    tools: &Toolset,
) -> Vec<String> {
    candidates(native, tools)
        .into_iter()
        .filter(|def| def.definition(provider.dialect()).is_empty())
        .map(|def| def.wire_name().to_owned())
        .collect()
}

pub(super) fn array(search: Option<&str>, listed: &[Listed]) -> String {
    let listed = listed.iter().filter(|tool| !tool.inline);
    let texts = || {
        search
            .into_iter()
            .chain(listed.clone().map(|tool| &*tool.text))
    };
    let bytes: usize = texts().map(|text| text.len() + 1).sum();
    let mut array = String::with_capacity(bytes + 2);
    array.push('[');
    for (at, text) in texts().enumerate() {
        array.push_str(if at == 0 { "" } else { "," });
        array.push_str(text);
    }
    array.push(']');
    array
}
