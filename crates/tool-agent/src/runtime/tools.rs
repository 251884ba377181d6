//! The tools that a runtime adds to the tools of its agents.

use std::collections::HashMap;

use serde_json::{Value, json};
use tool_core::store::ThreadId;
use tool_core::{
    DynamicTool, Effect, Registry, ToolContext, ToolDef, ToolError, Toolset, ToolsetError,
};
use tool_store::digest;

use super::AgentRuntime;
use super::entry::{AgentEntry, Handoff, PromptTool, Subagent};
use super::error::RuntimeConfigError;
use super::run::{Run, RunHandle};

/// The name of the property of the default arguments.
pub(super) const MESSAGE: &str = "message";

const PROMPT: &str = "agent-prompt";
const HANDOFF: &str = "agent-handoff";
const SUBAGENT: &str = "agent-call";

/// The kind of a tool of an agent, by the action of the tool.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum ToolKind {
    /// The tool has no other kind. It runs, for example, a function of the host.
    Function,
    /// The tool runs another agent within the call.
    Prompt,
    /// The tool passes the conversation to another agent.
    Handoff,
    /// The tool starts a sub-agent, sends a message to one, or lists the sub-agents.
    Subagent,
}

impl ToolKind {
    /// Returns the kind of a tool. The categories `agent-prompt`, `agent-handoff` and `agent-call` of dynamic tools are reserved for the tools of a
    /// runtime.
    pub fn of(tool: &ToolDef) -> Self {
        match tool.category() {
            PROMPT if tool.is_dynamic() => Self::Prompt,
            HANDOFF if tool.is_dynamic() => Self::Handoff,
            SUBAGENT if tool.is_dynamic() => Self::Subagent,
            _ => Self::Function,
        }
    }

    /// Returns the name of the kind.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Function => "function",
            Self::Prompt => "prompt",
            Self::Handoff => "handoff",
            Self::Subagent => "subagent",
        }
    }
}

/// Returns the JSON Schema of an agent's arguments.
pub(super) fn schema_of(entry: &AgentEntry) -> String {
    entry.arguments.clone().unwrap_or_else(|| {
        json!({
            "type": "object",
            "properties": {MESSAGE: {
                "type": "string",
                "description": "The message for the agent, with everything that the agent has to know.",
                "minLength": 1,
            }},
            "required": [MESSAGE],
            "additionalProperties": false,
        })
        .to_string()
    })
}

/// Builds the tools that do not depend on the step, for each entry.
pub(super) fn of_entries(
    entries: &[AgentEntry],
    names: &HashMap<String, usize>,
) -> Result<Vec<Toolset>, RuntimeConfigError> {
    let build = |entry: &AgentEntry| {
        let mut registry = Registry::builder();
        for tool in &entry.prompts {
            let target = names[&tool.agent];
            registry = registry.dynamic(prompt(tool.clone(), target, &entries[target]));
        }
        for handoff in &entry.handoffs {
            let target = names[&handoff.agent];
            registry = registry.dynamic(hand_off(handoff, target, &entries[target]));
        }
        for tool in entry
            .subagents
            .iter()
            .filter(|tool| tool.resumable.is_none())
        {
            let target = names[&tool.agent];
            registry = registry.dynamic(subagent(tool.clone(), target, &entries[target]));
        }
        Ok(registry.build()?.open())
    };
    entries.iter().map(build).collect()
}

/// Sets the properties of all tools that run agents: their effects are unknown in advance, the calls of the agent pass the agent's gate, and a
/// repeated call continues the thread that the first call began.
pub(super) fn runs_agents(tool: DynamicTool) -> DynamicTool {
    tool.category(SUBAGENT)
        .effect(Effect::WRITE.union(Effect::EXTERNAL))
        .continues()
        .sequential()
}

fn description(entry: &AgentEntry) -> String {
    entry.description.clone().unwrap_or_default()
}

fn prompt(tool: PromptTool, target: usize, entry: &AgentEntry) -> DynamicTool {
    let (name, description) = (entry.name(), description(entry));
    let run = move |arguments: Value, cx: ToolContext| {
        let tool = tool.clone();
        async move {
            let RunHandle(run) = cx.get()?;
            let prompt = run.runtime.prompt(&run, &tool, target, arguments, &cx);
            Box::pin(prompt).await
        }
    };
    runs_agents(DynamicTool::shown(name, description, schema_of(entry), run)).category(PROMPT)
}

fn hand_off(handoff: &Handoff, target: usize, entry: &AgentEntry) -> DynamicTool {
    let empty = json!({"type": "object", "properties": {}, "additionalProperties": false});
    let description = match &entry.description {
        Some(description) => format!(
            "Passes the conversation to the agent `{}`, which continues it. {description}",
            entry.name()
        ),
        None => format!(
            "Passes the conversation to the agent `{}`, which continues it.",
            entry.name()
        ),
    };
    let name = entry.name().to_owned();
    let pass = move |_: Value, cx: ToolContext| {
        let text = format!("The agent `{name}` continues the conversation.");
        async move {
            let RunHandle(run) = cx.get()?;
            run.hand_off(target)?;
            run.store_events().await;
            Ok::<_, ToolError>(text)
        }
    };
    // The only effect of a handoff is its result, which is a message of the thread.
    DynamicTool::new(handoff.tool(), description, empty, pass)
        .category(HANDOFF)
        .read_only()
        .sequential()
}

fn subagent(tool: Subagent, target: usize, entry: &AgentEntry) -> DynamicTool {
    let (name, description) = (entry.name(), description(entry));
    let run = move |arguments: Value, cx: ToolContext| {
        let tool = tool.clone();
        async move {
            let RunHandle(run) = cx.get()?;
            let subagent = run.runtime.subagent(&run, &tool, target, arguments, &cx);
            Box::pin(subagent).await
        }
    };
    runs_agents(DynamicTool::shown(name, description, schema_of(entry), run))
}

/// A tool of an agent with the name of a tool that the runtime adds.
pub(super) struct Collision {
    own: Toolset,
    added: Toolset,
    pub(super) name: String,
}

impl Collision {
    /// Returns the tools of the agent and of the runtime. The tools of the runtime have priority.
    pub(super) fn resolved(self) -> Toolset {
        self.own.with_agent_tools(&self.added)
    }
}

/// Returns whether the variable of an optional tool switches it on. A tool without a variable, and a tool whose variable has an empty name, is on.
pub(super) fn is_on(flag: Option<&String>, cx: &ToolContext) -> bool {
    let Some(flag) = flag.filter(|flag| !flag.is_empty()) else {
        return true;
    };
    let value = cx.variable(flag).unwrap_or_default().trim();
    ["true", "1", "yes"]
        .iter()
        .any(|word| value.eq_ignore_ascii_case(word))
}

/// Returns whether a thread with this name can be a child thread.
pub(super) fn may_be_child(thread: &ThreadId) -> bool {
    let name = thread.conversation();
    name.starts_with("sub_") || name.starts_with("prompt_")
}

/// Returns the thread of a child that is identified by a key. The same key has the same thread, so that a repeated call finds its child.
pub(super) fn thread_of(parent: &ThreadId, kind: &str, key: &str) -> Result<ThreadId, ToolError> {
    let id = digest::sha256(&[parent.conversation(), kind, key]);
    let conversation = format!("{kind}_{}", &id[..24]);
    ThreadId::new(parent.workspace(), conversation).map_err(ToolError::foreign)
}

impl AgentRuntime {
    /// Returns the tools of an agent: its own tools, and the tools of the runtime. Fails if a name is used twice.
    pub(super) fn toolset(
        &self,
        agent: usize,
        run: &Run,
        cx: &ToolContext,
        live: bool,
    ) -> Result<Toolset, Box<Collision>> {
        let loaded = &self.0.agents[agent];
        let entry = &loaded.entry;
        let mut own = entry.agent.tools(cx);
        if own.gate().is_none() {
            own = own.through(&self.0.gate);
        }
        let adds_none = loaded.tools.is_empty() && entry.subagents.is_empty();
        if adds_none && run.above.is_none() && !entry.is_restricted {
            return Ok(own);
        }
        let rules = run.rules(agent);
        let is_below = run.is_below;
        if run.above.is_some() || entry.is_restricted {
            own = own.filter(|def| rules.shows(def.name()) && !(is_below && def.is_harness()));
        }
        if adds_none {
            return Ok(own);
        }
        let prompts = entry.prompts.iter().map(|tool| (&*tool.agent, &tool.flag));
        let agents = entry
            .subagents
            .iter()
            .map(|tool| (&*tool.agent, &tool.flag));
        let called: HashMap<&str, &Option<String>> = prompts.chain(agents).collect();
        let flag_of = |def: &ToolDef| {
            let mut handoffs = entry.handoffs.iter();
            let handoff = handoffs.find(|handoff| handoff.tool() == def.name());
            handoff.map_or_else(
                || called.get(def.name()).and_then(|flag| flag.as_ref()),
                |handoff| handoff.flag.as_ref(),
            )
        };
        let mut added = loaded.tools.clone();
        // The thread of a child belongs to its agent, so the agent cannot make a handoff.
        let may_hand_off = run.row.is_none();
        let is_offered = |def: &ToolDef| {
            let passes = may_hand_off || ToolKind::of(def) != ToolKind::Handoff;
            passes && rules.shows(def.name()) && is_on(flag_of(def), cx)
        };
        added = added.filter(is_offered);
        if let Some(resumable) = self.resumable_tools(agent, cx, live, &rules) {
            let resumable = resumable.filter(|def| rules.shows(def.name()));
            added = match added.clone().combine(&resumable) {
                Ok(both) => both,
                Err(_) => added.with_agent_tools(&resumable),
            };
        }
        let tools = own.clone().combine(&added).map_err(|error| {
            let name = match error {
                ToolsetError::Collision { name, .. } => name,
                other => other.to_string(),
            };
            Box::new(Collision { own, added, name })
        })?;
        let hinted = entry
            .subagents
            .iter()
            .filter(|tool| tool.resumable.is_some());
        Ok(hinted.fold(tools, |tools, tool| {
            let text = format!(
                "`{0}` is not a tool: start the agent with `subagent_create` and `\"agent\": \"{0}\"`, and write to an agent that was started with `subagent_message`",
                tool.agent
            );
            tools.hint(&*tool.agent, text)
        }))
    }
}
