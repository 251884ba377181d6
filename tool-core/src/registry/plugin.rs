//! Plugins: tools of other publishers, each in its own namespace.

use semver::{Version, VersionReq};

use super::{Missing, Pruned, RegistryBuilder};
use crate::tool::DynamicTool;

/// Tools of one publisher, built for certain versions of this crate.
///
/// Its schemas are JSON Schema, so a plugin shares no schema library with the host. Each tool gets the plugin's namespace: `search`
/// of the plugin `github` is `github:search`, which a model calls as `github__search`.
///
/// ```
/// use serde_json::{Value, json};
/// use tool_core::{DynamicTool, Plugin, Registry};
///
/// let search = DynamicTool::new(
///     "search",
///     "Searches repositories.",
///     json!({"type": "object", "properties": {}, "additionalProperties": false}),
///     |_: Value, _cx| async { "nothing" },
/// );
/// let registry = Registry::builder()
///     .plugin(Plugin::new("github", ">=0.1, <1").tool(search))
///     .plugin(Plugin::new("ancient", "^0.0.3"))
///     .build()?;
/// assert!(registry.open().names().eq(["github__search"]));
/// # Ok::<(), tool_core::RegistryError>(())
/// ```
#[must_use = "pass it to `RegistryBuilder::plugin`"]
pub struct Plugin {
    namespace: String,
    engine: String,
    tools: Vec<DynamicTool>,
}

impl Plugin {
    /// The version of this crate. Plugins must be compatible with it.
    pub const ENGINE: &str = env!("CARGO_PKG_VERSION");

    /// Creates a plugin without tools. `engine` is the range of versions of this crate that the plugin was made for, as in a `Cargo.toml`.
    pub fn new(namespace: impl Into<String>, engine: impl Into<String>) -> Self {
        Self {
            namespace: namespace.into(),
            engine: engine.into(),
            tools: Vec::new(),
        }
    }

    /// Adds a tool by its name within the plugin. Its aliases get the namespace of the plugin, too.
    pub fn tool(mut self, mut tool: DynamicTool) -> Self {
        for name in std::iter::once(&mut tool.def.name).chain(&mut tool.def.aliases) {
            *name = format!("{}:{name}", self.namespace);
        }
        tool.def.origin = format!("plugin {} ({})", self.namespace, tool.def.origin);
        self.tools.push(tool);
        self
    }

    /// Returns why this version of the crate refuses the plugin; `None` if it accepts the plugin.
    fn refusal(&self) -> Option<String> {
        let engine: Version = match Self::ENGINE.parse() {
            Ok(engine) => engine,
            Err(error) => return Some(error.to_string()),
        };
        match self.engine.parse::<VersionReq>() {
            Ok(range) if range.matches(&engine) => None,
            Ok(range) => Some(format!(
                "requires tool-core {range}, and this is tool-core {engine}"
            )),
            Err(error) => Some(format!(
                "its range `{}` cannot be read: {error}",
                self.engine
            )),
        }
    }
}

impl RegistryBuilder {
    /// Adds the tools of a plugin.
    ///
    /// A plugin is left out with a warning if it was built for other versions of this crate, or if its version range cannot be parsed. The registry
    /// is then built without its tools, and [`Toolset::explain`](crate::Toolset::explain) returns the reason.
    pub fn plugin(mut self, plugin: Plugin) -> Self {
        let Some(refusal) = plugin.refusal() else {
            return plugin.tools.into_iter().fold(self, Self::dynamic);
        };
        tracing::warn!(
            plugin = plugin.namespace,
            tools = plugin.tools.len(),
            %refusal,
            "the plugin is left out because its range of versions does not include this version of tool-core, or cannot be read"
        );
        self.pruned
            .extend(plugin.tools.into_iter().map(|tool| Pruned {
                tool: tool.def.name,
                lack: Missing::Version,
                detail: refusal.clone(),
            }));
        self
    }
}
