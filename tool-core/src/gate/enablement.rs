//! What switches tools on: rows of the instance, the kind of turn, agents that can be asked.

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

/// The rows of an instance that switch tools on. A tool is on where a manual or a skill row names it; rows of other kinds are
/// skipped. The row `agent:<slug>` switches on the tool that asks that agent.
///
/// Nothing here is stored: `Switches::enablement` makes it from stored rows.
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
    /// There were rows, if only some that count for nothing.
    pub(super) any: bool,
    pub(super) default_open: bool,
}

impl Enablement {
    /// A row that a person made.
    pub fn manual(self, tool: impl Into<String>) -> Self {
        self.row(tool, "manual", true)
    }

    /// A row that a skill made.
    pub fn skill(self, tool: impl Into<String>) -> Self {
        self.row(tool, "skill", true)
    }

    /// A row that was switched off: it hides the tool whatever other rows say, and stays where it is.
    pub fn disabled(self, tool: impl Into<String>) -> Self {
        self.row(tool, "manual", false)
    }

    /// A row as a store has it.
    pub fn row(mut self, tool: impl Into<String>, source: &str, enabled: bool) -> Self {
        self.any = true;
        if matches!(source, "manual" | "skill") {
            let rows = if enabled { &mut self.on } else { &mut self.off };
            rows.insert(tool.into());
        }
        self
    }

    /// Takes an instance without any row as one that has all tools, as old data means it. Without this it has none.
    pub fn default_open(mut self) -> Self {
        self.default_open = true;
        self
    }

    /// Whether everything is on, because there is no row and none is needed.
    pub(super) fn is_open(&self) -> bool {
        self.default_open && !self.any
    }

    /// Whether the rows switch this tool on.
    pub fn enables(&self, tool: &str) -> bool {
        !self.off.contains(tool) && (self.is_open() || self.on.contains(tool))
    }
}

/// What started a turn. It decides which harness tools the turn has: those of its own category, and no others.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub enum Runtime {
    /// A person wrote; no harness tools.
    #[default]
    Chat,
    /// A timer; the same tools as a chat.
    Scheduled,
    /// Another agent started it; no harness tools, nothing that starts or asks agents.
    SubAgent,
    /// Events of a room; harness tools of the category `room`.
    Room,
    /// A message that came in over a channel; harness tools of the category `conversation-trigger` and of the channel's.
    Webhook {
        /// The channel that answers go out on, for example `whatsapp`.
        channel: String,
    },
}

/// Category of harness tools that every triggered conversation has.
const TRIGGER: &str = "conversation-trigger";
/// Category of harness tools of rooms.
const ROOM: &str = "room";

impl Runtime {
    /// Whether a turn of this kind has harness tools of a category.
    pub fn takes_harness(&self, category: &str) -> bool {
        match self {
            Self::Chat | Self::Scheduled | Self::SubAgent => false,
            Self::Room => category == ROOM,
            // A channel of that name would bring the room's tools along.
            Self::Webhook { channel } => {
                category == TRIGGER || category == channel && category != ROOM
            }
        }
    }
}

/// The longest prompt for another agent, in characters.
const MOST_PROMPT: u32 = 8000;
/// How long another agent may take where nothing is said.
const PATIENCE: Duration = Duration::from_mins(1);

/// The arguments of a tool that asks an agent.
#[derive(Deserialize)]
struct Asked {
    prompt: String,
}

/// A tool that asks another agent. It exists only as configuration: it is in no registry, and a host makes it for each turn.
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
    /// The tool that asks the agent `slug`; its origin becomes `agent:<slug>`, which is also the name of its row.
    pub fn new(slug: &str, tool: DynamicTool) -> Result<Self, RegistryError> {
        let row = format!("agent:{slug}");
        let def = ToolDef::dynamic(Arc::new(tool.origin(row.as_str()).judge()?));
        Ok(Self {
            row,
            def,
            channel: true,
        })
    }

    /// The usual tool: [`tool`](AgentTool::tool) as it is.
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

    /// The tool `ask_<slug>`, for [`new`](AgentTool::new): a `prompt` of 1 to 8000 characters in, the agent's answer as text out.
    ///
    /// It has 60 seconds unless told otherwise, and `answer` is dropped with the turn that asked. It counts as a tool that changes
    /// state and reaches beyond the host, because nobody knows what the agent will do; every call of the agent's passes a gate of its
    /// own.
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
                "description": "What to ask, with everything that the agent has to know.",
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

    /// The name that such a tool usually has: `ask_` and the slug, with `_` for what a name cannot hold.
    ///
    /// ```
    /// assert_eq!(tool_core::AgentTool::name_of("tax-law"), "ask_tax_law");
    /// ```
    pub fn name_of(slug: &str) -> String {
        let safe = |c: char| if c.is_ascii_alphanumeric() { c } else { '_' };
        format!("ask_{}", slug.chars().map(safe).collect::<String>())
    }

    /// Whether the agent takes calls from agents; it does where nothing is said.
    #[must_use]
    pub fn channel(mut self, on: bool) -> Self {
        self.channel = on;
        self
    }
}
