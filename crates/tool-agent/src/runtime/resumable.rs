//! The tools for sub-agents that accept more messages: `subagent_create`, `subagent_message` and `subagents`.

use std::collections::BTreeMap;
use std::sync::{Arc, PoisonError};

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use tool_core::store::{
    CallId, ChildFilter, ChildKind, ChildRow, ChildSender, ChildState, Receipt, Scope, ThreadId,
    Timestamp,
};
use tool_core::{
    DynamicTool, ModelOutput, Registry, Rules, ToModelOutput, ToolCall, ToolContext, ToolError,
    Toolset,
};

use super::AgentRuntime;
use super::child::{self, Opened, Start, unavailable};
use super::entry::{AgentEntry, Resumable, Subagent};
use super::result::{AgentResult, text_of};
use super::run::{Run, RunHandle};
use super::tools::{is_on, runs_agents};

const CREATE: &str = "subagent_create";
const SEND: &str = "subagent_message";
const LIST: &str = "subagents";

/// The names of the tools, which no other tool of an agent with resumable sub-agents may have.
pub(super) const NAMES: [&str; 3] = [CREATE, SEND, LIST];

/// The values that decide which tools a step has.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct Offer {
    caller: usize,
    /// The agents that can be created.
    agents: Vec<usize>,
    /// Whether the thread has a live instance.
    live: bool,
}

#[derive(Deserialize)]
struct Create {
    agent: String,
    name: String,
    message: String,
    attachments: Vec<String>,
    #[serde(default)]
    arguments: Value,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Send {
    reference_id: String,
    message: String,
    attachments: Vec<String>,
}

/// The instances of a thread, for the model.
#[derive(Serialize)]
struct Instances {
    subagents: Vec<Instance>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Instance {
    reference_id: String,
    agent: String,
    name: Option<String>,
    status: &'static str,
}

impl From<&ChildRow> for Instance {
    fn from(row: &ChildRow) -> Self {
        Self {
            reference_id: row.thread.conversation().to_owned(),
            agent: row.agent.clone(),
            name: row.name.clone(),
            status: row.state.as_str(),
        }
    }
}

impl ToModelOutput for Instances {
    fn to_model_output(&self) -> ModelOutput {
        ModelOutput::text(listed(&self.subagents))
    }
}

fn listed(instances: &[Instance]) -> String {
    if instances.is_empty() {
        return "There are no sub-agents.".to_owned();
    }
    let lines: Vec<String> = instances
        .iter()
        .map(|instance| {
            let name = instance.name.as_deref().unwrap_or("unnamed");
            format!(
                "{} ({}, {name}): {}",
                instance.reference_id, instance.agent, instance.status
            )
        })
        .collect();
    lines.join("\n")
}

/// The schema of the arguments of an agent in `subagent_create`: one schema for all agents, or JSON text if their schemas cannot be combined.
enum ArgumentsSchema {
    /// No agent takes arguments.
    None,
    /// The value must match this schema.
    Value(Value),
    /// The value is a text that contains JSON.
    Text,
}

fn create_schema(agents: &[&AgentEntry], arguments: &ArgumentsSchema) -> Value {
    let names: Vec<&str> = agents.iter().map(|entry| entry.name()).collect();
    let mut properties = json!({
        "agent": {"type": "string", "description": "The agent to start.", "enum": names},
        "name": {
            "type": "string",
            "description": "A short name for this instance, with which a person recognizes it.",
            "minLength": 1,
        },
        "message": {
            "type": "string",
            "description": "The task, with everything that the agent has to know.",
            "minLength": 1,
        },
        "attachments": {
            "type": "array",
            "description": "The paths of files of this conversation that the agent gets. May be empty.",
            "items": {"type": "string"},
        },
    });
    let mut required = vec!["agent", "name", "message", "attachments"];
    let own = match arguments {
        ArgumentsSchema::None => None,
        ArgumentsSchema::Value(schema) => Some(schema.clone()),
        ArgumentsSchema::Text => Some(json!({
            "type": ["string", "null"],
            "description": "The arguments of the agent as the text of a JSON object; null if the agent takes none.",
        })),
    };
    if let (Some(own), Some(properties)) = (own, properties.as_object_mut()) {
        properties.insert("arguments".to_owned(), own);
        required.push("arguments");
    }
    json!({"type": "object", "properties": properties, "required": required, "additionalProperties": false})
}

fn arguments_schema(agents: &[&AgentEntry]) -> ArgumentsSchema {
    let mut schemas: Vec<Value> = Vec::new();
    for schema in agents.iter().filter_map(|entry| entry.arguments.as_deref()) {
        let schema: Value = serde_json::from_str(schema).unwrap_or_default();
        if !schemas.contains(&schema) {
            schemas.push(schema);
        }
    }
    let all_take = agents.iter().all(|entry| entry.arguments.is_some());
    match &schemas[..] {
        [] => ArgumentsSchema::None,
        [one] if all_take => ArgumentsSchema::Value(one.clone()),
        _ => ArgumentsSchema::Text,
    }
}

fn create(agents: &[&AgentEntry]) -> DynamicTool {
    let description = agents.iter().fold(
        "Starts an agent for a task of its own. Its reference is used to write to it later. The agents are:".to_owned(),
        |text, entry| {
            let description = entry.description.as_deref().unwrap_or_default();
            format!("{text}\n- {}: {description}", entry.name())
        },
    );
    let schema = create_schema(agents, &arguments_schema(agents));
    let run = |arguments: Create, cx: ToolContext| async move {
        let RunHandle(run) = cx.get()?;
        Box::pin(run.runtime.create(&run, arguments, &cx)).await
    };
    runs_agents(DynamicTool::shown(CREATE, description, schema, run))
}

fn send() -> DynamicTool {
    let schema = json!({
        "type": "object",
        "properties": {
            "referenceId": {"type": "string", "description": "The reference of the sub-agent.", "minLength": 1},
            "message": {"type": "string", "description": "The message for the sub-agent.", "minLength": 1},
            "attachments": {
                "type": "array",
                "description": "The paths of files of this conversation that the sub-agent gets. May be empty.",
                "items": {"type": "string"},
            },
        },
        "required": ["referenceId", "message", "attachments"],
        "additionalProperties": false,
    });
    let run = |arguments: Send, cx: ToolContext| async move {
        let RunHandle(run) = cx.get()?;
        Box::pin(run.runtime.send(&run, arguments, &cx)).await
    };
    runs_agents(DynamicTool::shown(
        SEND,
        "Sends a message to a sub-agent that was started with `subagent_create`. A running sub-agent reads it with its next step; otherwise a new session begins.",
        schema,
        run,
    ))
}

fn list() -> DynamicTool {
    let empty = json!({"type": "object", "properties": {}, "additionalProperties": false});
    let run = |_: Value, cx: ToolContext| async move {
        let RunHandle(run) = cx.get()?;
        let rows = run.runtime.instances(&run.thread).await?;
        let subagents = rows.iter().map(Instance::from).collect();
        Ok::<_, ToolError>(Instances { subagents })
    };
    DynamicTool::shown(
        LIST,
        "Lists the sub-agents of this conversation with their references and states.",
        empty,
        run,
    )
    .category("agent-call")
    .read_only()
}

impl AgentRuntime {
    /// Returns the tools for the resumable sub-agents that are switched on: `subagent_create` for these agents, and the other tools while an instance
    /// is live. Returns `None` if no such agent is switched on and no instance is live, and if the tools cannot be built.
    pub(super) fn resumable_tools(
        &self,
        agent: usize,
        cx: &ToolContext,
        live: bool,
        rules: &Rules,
    ) -> Option<Toolset> {
        let tools = self.entry(agent).subagents.iter();
        let tools = tools.filter(|tool| tool.resumable.is_some());
        let on: Vec<usize> = tools
            .filter(|tool| is_on(tool.flag.as_ref(), cx) && rules.shows(&tool.agent))
            .filter_map(|tool| self.index(&tool.agent))
            .collect();
        if on.is_empty() && !live {
            return None;
        }
        let mut known = self
            .0
            .resumable
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        let offer = Offer {
            caller: agent,
            agents: on,
            live,
        };
        if let Some(tools) = known.get(&offer) {
            return Some(tools.clone());
        }
        let agents: Vec<&AgentEntry> = offer.agents.iter().map(|at| self.entry(*at)).collect();
        let mut registry = Registry::builder();
        if !agents.is_empty() {
            registry = registry.dynamic(create(&agents));
        }
        if live {
            registry = registry.dynamic(send()).dynamic(list());
        }
        let tools = match registry.build() {
            Ok(registry) => registry.open(),
            Err(error) => {
                tracing::error!(%error, "the tools for resumable sub-agents are invalid");
                return None;
            }
        };
        known.insert(offer, tools.clone());
        Some(tools)
    }

    /// Returns the instances of resumable sub-agents of a thread.
    pub(super) async fn instances(&self, thread: &ThreadId) -> Result<Vec<ChildRow>, ToolError> {
        let filter = ChildFilter {
            parent: Some(thread.clone()),
            kind: Some(ChildKind::Subagent),
            ..ChildFilter::default()
        };
        let scope = Scope::Workspace(thread.workspace());
        let rows = self.store()?.children(scope, &filter).await;
        let mut rows = rows.map_err(unavailable)?;
        rows.retain(|row| row.resumable);
        Ok(rows)
    }

    async fn create(
        &self,
        run: &Arc<Run>,
        create: Create,
        cx: &ToolContext,
    ) -> Result<AgentResult, ToolError> {
        let caller = run.current();
        let tool = self.subagent_of(caller, &create.agent);
        let target = self.index(&create.agent);
        let (Some(tool), Some(target)) = (tool, target) else {
            return Err(ToolError::new(format!(
                "the agent `{}` cannot be started here",
                create.agent
            )));
        };
        let Some(resumable) = &tool.resumable else {
            return Err(ToolError::new(format!(
                "the agent `{0}` is called with the tool `{0}`",
                create.agent
            )));
        };
        let rules = run.rules(caller);
        if !is_on(tool.flag.as_ref(), &run.base) || !rules.shows(&create.agent) {
            return Err(ToolError::new(format!(
                "the agent `{}` is switched off",
                create.agent
            )));
        }
        let Some(name) = child::display_name(&create.name) else {
            return Err(ToolError::new(
                "`name` is empty: write a short name for the instance",
            ));
        };
        if create.message.trim().is_empty() {
            return Err(ToolError::new(
                "`message` is empty: write the task of the agent",
            ));
        }
        let message = self
            .with_arguments(target, create.message, create.arguments)
            .await?;
        // If one instance is allowed and calls wait, a second task continues the existing instance.
        if resumable.most == Some(1) && tool.blocking {
            let rows = self.instances(&run.thread).await?;
            let live = rows
                .iter()
                .find(|row| row.agent == create.agent && row.state != ChildState::Terminated);
            let key = child::key_of(cx)?;
            let own = super::tools::thread_of(&run.thread, "sub", key.as_str())?;
            if let Some(row) = live.filter(|row| row.thread != own) {
                let row = row.clone();
                return self
                    .deliver(run, (tool, resumable), row, message, create.attachments, cx)
                    .await;
            }
        }
        let start = Start {
            target,
            key: child::key_of(cx)?.as_str().to_owned(),
            call: cx.identity().and_then(CallId::place),
            waits: tool.blocking,
            message,
            paths: create.attachments,
            name: Some(name),
            resumable: true,
            side: resumable.side,
            most: resumable.most,
        };
        match self.open(run, start).await? {
            Opened::Child(row, skipped) => {
                run.set_live(true);
                let mut result = self.begun(run, tool.blocking, *row, cx).await?;
                result.skip(skipped);
                Ok(result)
            }
            Opened::Deferred(result) => {
                run.set_live(true);
                Ok(*result)
            }
            Opened::Full(rows) => {
                let instances: Vec<Instance> = rows.iter().map(Instance::from).collect();
                Err(ToolError::new(format!(
                    "the agent `{}` has {} live instances, which is the limit: write to one of them with `subagent_message`\n{}",
                    create.agent,
                    rows.len(),
                    listed(&instances)
                )))
            }
        }
    }

    /// Validates the arguments against the schema of an agent, and adds them to its first message.
    async fn with_arguments(
        &self,
        target: usize,
        message: String,
        arguments: Value,
    ) -> Result<String, ToolError> {
        let entry = self.entry(target);
        let Some(schema) = &entry.arguments else {
            return match arguments {
                Value::Null => Ok(message),
                _ => Err(ToolError::new(format!(
                    "the agent `{}` takes no `arguments`: write null",
                    entry.name()
                ))),
            };
        };
        let text = text_of(&arguments);
        // A registry checks values against a schema that is known only at run time.
        let echo = DynamicTool::new(
            "arguments",
            "Checks arguments.",
            schema.as_str(),
            |value: Value, _| async move { Ok::<_, ToolError>(value) },
        );
        let registry = Registry::builder().dynamic(echo.read_only()).build();
        let tools = registry.map_err(ToolError::foreign)?.open();
        let call = ToolCall::new("arguments", "arguments", &*text);
        let result = tools.call(call, &ToolContext::anonymous()).await;
        match (result.output(), result.error()) {
            (Some(checked), _) => Ok(format!("{message}\narguments: {}", checked.get())),
            (None, error) => {
                let why = error.map(ToolError::model_text).unwrap_or_default();
                Err(ToolError::new(format!(
                    "`arguments` do not fit the agent `{}`: {why}",
                    entry.name()
                )))
            }
        }
    }

    async fn send(
        &self,
        run: &Arc<Run>,
        send: Send,
        cx: &ToolContext,
    ) -> Result<AgentResult, ToolError> {
        if send.message.trim().is_empty() {
            return Err(ToolError::new(
                "`message` is empty: write what the sub-agent has to know",
            ));
        }
        let rows = self.instances(&run.thread).await?;
        let row = rows
            .iter()
            .find(|row| row.thread.conversation() == send.reference_id);
        let tool = row.and_then(|row| self.subagent_of(run.current(), &row.agent));
        let resumable = tool.and_then(|tool| tool.resumable.as_ref());
        let (Some(row), Some(tool), Some(resumable)) = (row, tool, resumable) else {
            let live: Vec<Instance> = rows
                .iter()
                .filter(|row| row.is_live())
                .map(Instance::from)
                .collect();
            let shown: String = send.reference_id.chars().take(80).collect();
            return Err(ToolError::new(format!(
                "there is no sub-agent `{shown}`\n{}",
                listed(&live)
            )));
        };
        let row = row.clone();
        self.deliver(
            run,
            (tool, resumable),
            row,
            send.message,
            send.attachments,
            cx,
        )
        .await
    }

    /// Passes a message to an instance, and begins a session if none is in progress.
    async fn deliver(
        &self,
        run: &Arc<Run>,
        (tool, resumable): (&Subagent, &Resumable),
        row: ChildRow,
        message: String,
        attachments: Vec<String>,
        cx: &ToolContext,
    ) -> Result<AgentResult, ToolError> {
        let reference = row.thread.conversation().to_owned();
        let (message, skipped) = self
            .pass_files(&run.home, &row.thread, message, &attachments)
            .await?;
        let role = child::role_of(resumable.side);
        let message = child::message_of(&row.thread, role, &message, Timestamp::now())?;
        let key = child::key_of(cx)?;
        let sender = ChildSender {
            key: Some(key.as_str().to_owned()),
            call: cx.identity().and_then(CallId::place),
            waits: tool.blocking,
        };
        let told = self.store()?.message_child(message, sender.clone()).await;
        let told = told.map_err(unavailable)?;
        let is_own = told.row.call.is_some() && told.row.call == sender.call;
        let mut result = match told.receipt {
            Receipt::Dead => {
                return Err(ToolError::new(format!(
                    "the sub-agent `{reference}` has ended and reads no more messages"
                )));
            }
            Receipt::Queued => AgentResult::success(match told.row.state {
                ChildState::Deferred => {
                    "The sub-agent has not started yet. It reads the message when the user has supplied its variables."
                }
                _ => "The sub-agent is running. It reads the message with its next step.",
            }),
            Receipt::Begun => self.begun(run, tool.blocking, told.row, cx).await?,
            // This call is repeated, and its first attempt began the session.
            Receipt::Known if is_own => self.begun(run, tool.blocking, told.row, cx).await?,
            Receipt::Known => AgentResult::success(
                "The sub-agent is running. It reads the message with its next step.",
            ),
        };
        result.subagent_id = Some(reference);
        result.skip(skipped);
        Ok(result)
    }
}

/// Returns whether a thread has a live instance of a resumable sub-agent.
pub(super) fn has_live(rows: &[ChildRow]) -> bool {
    rows.iter().any(|row| row.resumable && row.is_live())
}

/// Groups the names of stored variables: group 1 contains the names themselves, and group `n` the names with `__n`. Groups without a variable for
/// each name are left out.
pub(super) fn groups<'n>(
    names: impl Iterator<Item = &'n str> + Clone,
    stored: impl Iterator<Item = &'n str>,
) -> BTreeMap<u32, BTreeMap<&'n str, &'n str>> {
    let mut groups: BTreeMap<u32, BTreeMap<&str, &str>> = BTreeMap::new();
    for variable in stored {
        for name in names.clone() {
            let Some(rest) = variable.strip_prefix(name) else {
                continue;
            };
            let group = match rest {
                "" => Some(1),
                rest => rest
                    .strip_prefix("__")
                    .filter(|number| !number.starts_with(['0', '+']))
                    .and_then(|number| number.parse().ok())
                    .filter(|number| *number > 1),
            };
            if let Some(group) = group {
                groups.entry(group).or_default().insert(name, variable);
            }
        }
    }
    let most = names.count();
    groups.retain(|_, group| group.len() == most);
    groups
}
