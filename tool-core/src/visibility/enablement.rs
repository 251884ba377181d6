//! Enablement of tools: rows of the instance, the kind of turn, and agents that can be called.

use std::collections::BTreeSet;
use std::future::Future;
use std::sync::Arc;
use std::time::Duration;

use serde::Deserialize;
use serde_json::json;

use crate::context::ToolContext;
use crate::effect::Effect;
use crate::error::ToolError;
use crate::registry::RegistryError;
use crate::tool::{DynamicTool, ToolDef};

/// The rows of an instance that enable tools. A tool is enabled if a row of the source `manual`, `skill` or
/// `global` names it and no such row is switched off; rows of other sources are ignored.
/// The row `agent:<slug>` enables the tool that calls that agent.
///
/// This type stores nothing: `InstanceRules::rules` and `Switches::enablement` build it from stored rows.
///
/// ```
/// use tool_core::Enablement;
///
/// let rows = Enablement::default()
///     .manual("search_docs")
///     .skill("read_file")
///     .row("old_tool", "import", true)
///     .disabled("read_file");
/// assert!(rows.enables("search_docs"));
/// assert!(!rows.enables("old_tool"));
/// assert!(!rows.enables("read_file"));
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[must_use]
pub struct Enablement {
    pub(super) on: BTreeSet<String>,
    pub(super) off: BTreeSet<String>,
    /// Whether any row was added, including rows of ignored sources.
    pub(super) any: bool,
    pub(super) default_open: bool,
}

impl Enablement {
    /// Adds a row that a person created.
    pub fn manual(self, tool: impl Into<String>) -> Self {
        self.row(tool, "manual", true)
    }

    /// Adds a row that a skill created.
    pub fn skill(self, tool: impl Into<String>) -> Self {
        self.row(tool, "skill", true)
    }

    /// Adds a row that is switched off. It hides the tool even if other rows enable it.
    pub fn disabled(self, tool: impl Into<String>) -> Self {
        self.row(tool, "manual", false)
    }

    /// Adds a row from a store.
    pub fn row(mut self, tool: impl Into<String>, source: &str, enabled: bool) -> Self {
        self.any = true;
        if matches!(source, "manual" | "skill" | "global") {
            let rows = if enabled { &mut self.on } else { &mut self.off };
            rows.insert(tool.into());
        }
        self
    }

    /// Enables all tools for an instance that has no rows, for data that was stored before enablement rows existed. By default such an instance has
    /// no tools.
    pub fn default_open(mut self) -> Self {
        self.default_open = true;
        self
    }

    /// Returns whether every tool is enabled because there are no rows and `default_open` is set.
    pub(super) fn is_open(&self) -> bool {
        self.default_open && !self.any
    }

    /// Returns whether the rows enable this tool.
    pub fn enables(&self, tool: &str) -> bool {
        !self.off.contains(tool) && (self.is_open() || self.on.contains(tool))
    }

    /// Returns whether the rows enable this tool, by its own name or an alias.
    #[cfg(feature = "host")]
    pub(super) fn enables_tool(&self, def: &ToolDef) -> bool {
        let is_off = def.names().any(|name| self.off.contains(name));
        !is_off && (self.is_open() || def.names().any(|name| self.on.contains(name)))
    }
}

/// The kind of event that started a turn. It decides which harness tools the turn has.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub enum Runtime {
    /// A person wrote a message. The turn has no harness tools.
    #[default]
    Chat,
    /// A timer fired. The turn has the same tools as a chat.
    Scheduled,
    /// Another agent started the turn. The turn has no harness tools, and no tools that start or call agents.
    SubAgent,
    /// Events of a room started the turn. The turn has the harness tools of the category `room`.
    Room,
    /// A message arrived on a channel. The turn has the harness tools of the category `conversation-trigger` and of the channel's
    /// category.
    Webhook {
        /// The channel on which replies are sent, for example `whatsapp`.
        channel: String,
    },
}

/// Category of the harness tools that every webhook turn has.
const TRIGGER: &str = "conversation-trigger";
/// Category of the harness tools of rooms.
const ROOM: &str = "room";

impl Runtime {
    /// Returns whether a turn of this kind has the harness tools of a category.
    pub fn takes_harness(&self, category: &str) -> bool {
        match self {
            Self::Chat | Self::Scheduled | Self::SubAgent => false,
            Self::Room => category == ROOM,
            // A channel that is named `room` must not expose the room's tools.
            Self::Webhook { channel } => {
                category == TRIGGER || category == channel && category != ROOM
            }
        }
    }
}

/// Maximum length of a prompt for an agent, in characters.
const MOST_PROMPT: u32 = 8000;
/// Default timeout of a call to an agent.
const PATIENCE: Duration = Duration::from_mins(1);

/// The arguments of a tool that calls an agent.
#[derive(Deserialize)]
struct Asked {
    prompt: String,
}

/// A tool that calls another agent. It exists only as configuration: no registry contains it, and a host creates it for each turn.
///
/// ```
/// use tool_core::{AgentTool, Enablement, Registry, Rules, ToolContext, ToolError};
///
/// let law = AgentTool::ask("tax-law", "Knows the tax law.", |prompt, _cx| async move {
///     Ok::<_, ToolError>(format!("About {prompt}: it depends."))
/// })?;
/// let rules = Rules::default()
///     .enablement(Enablement::default().manual("agent:tax-law"))
///     .agent_tool(law);
/// let tools = Registry::builder().build()?.toolset(&ToolContext::anonymous(), &rules);
/// assert!(tools.names().eq(["ask_tax_law"]));
/// # Ok::<(), tool_core::RegistryError>(())
/// ```
#[derive(Clone, Debug)]
#[doc(alias("sub-agent", "subagent", "handoff", "multi-agent"))]
pub struct AgentTool {
    pub(super) row: String,
    pub(super) def: ToolDef,
    pub(super) channel: bool,
}

impl AgentTool {
    /// Makes `tool` the tool that calls the agent `slug`. Its origin becomes `agent:<slug>`, which is also the name of its row. Fails if the tool is
    /// invalid.
    pub fn new(slug: &str, tool: DynamicTool) -> Result<Self, RegistryError> {
        let row = format!("agent:{slug}");
        let def = ToolDef::dynamic(Arc::new(tool.origin(row.as_str()).judge()?));
        Ok(Self {
            row,
            def,
            channel: true,
        })
    }

    /// Creates an agent tool with [`new`](AgentTool::new) from the unchanged tool that [`tool`](AgentTool::tool) returns.
    #[track_caller]
    pub fn ask<F>(
        slug: &str,
        description: impl Into<String>,
        answer: impl Fn(String, ToolContext) -> F + Send + Sync + 'static,
    ) -> Result<Self, RegistryError>
    where
        F: Future<Output = Result<String, ToolError>> + Send + 'static,
    {
        Self::new(slug, Self::tool(slug, description, answer))
    }

    /// Returns the tool `ask_<slug>`, for [`new`](AgentTool::new): it takes a `prompt` of 1 to 8000 characters and returns the agent's
    /// answer as text.
    ///
    /// Its timeout is 60 seconds by default, and the future of `answer` is dropped when the calling turn ends. The tool is declared to change state
    /// and to communicate beyond the host, because the agent's actions are not known in advance. Every call that the agent makes passes the agent's
    /// own gate.
    #[track_caller]
    pub fn tool<F>(
        slug: &str,
        description: impl Into<String>,
        answer: impl Fn(String, ToolContext) -> F + Send + Sync + 'static,
    ) -> DynamicTool
    where
        F: Future<Output = Result<String, ToolError>> + Send + 'static,
    {
        let schema = json!({
            "type": "object",
            "properties": {"prompt": {
                "type": "string",
                "description": "The question for the agent, with everything that the agent has to know.",
                "minLength": 1,
                "maxLength": MOST_PROMPT,
            }},
            "required": ["prompt"],
            "additionalProperties": false,
        });
        DynamicTool::new(
            Self::name_of(slug),
            description,
            schema,
            move |Asked { prompt }: Asked, cx| answer(prompt, cx),
        )
        .category("agent-call")
        .effect(Effect::WRITE.union(Effect::EXTERNAL))
        .timeout(PATIENCE)
    }

    /// Returns the default name of an agent tool: `ask_` and the slug, with `_` for each character that is not an ASCII letter or digit.
    ///
    /// ```
    /// assert_eq!(tool_core::AgentTool::name_of("tax-law"), "ask_tax_law");
    /// ```
    pub fn name_of(slug: &str) -> String {
        let safe = |c: char| if c.is_ascii_alphanumeric() { c } else { '_' };
        format!("ask_{}", slug.chars().map(safe).collect::<String>())
    }

    /// Sets whether the agent accepts calls from agents; defaults to `true`.
    #[must_use]
    pub fn channel(mut self, on: bool) -> Self {
        self.channel = on;
        self
    }
}
