//! Work before the first request of a run: sub-agents that are continued, and sub-agents that start without a call.

use std::sync::Arc;

use futures::future::BoxFuture;
use serde::Deserialize;
use serde_json::{Value, json};
use tool_core::store::seal::{NewValue, Vault};
use tool_core::store::{
    ChildKind, ChildRow, ChildState, Message, Role, Timestamp, VariableFilter, VariableLevel,
    VariableScope, VariableType,
};
use tool_core::turn::{Budget, ModelRequest, TurnError};
use tool_core::{DynamicTool, ExposeSecret as _, Registry, SecretString, ToolContext, ToolError};

use super::AgentRuntime;
use super::child::{self, Opened, Start, unavailable};
use super::entry::{Immediate, Subagent};
use super::error::RuntimeError;
use super::prompt::{new_message, stored};
use super::resumable::{self, groups};
use super::run::{Run, Standing};
use super::terminate::{answered, is_active};
use super::tools::is_on;
use super::variables::unavailable as no_variables;

/// The user name that is stored with variables that the runtime writes.
const RUNTIME: &str = "agent-runtime";

/// The name and the first message that a model proposes for an instance.
#[derive(Deserialize)]
struct Described {
    name: String,
    message: String,
}

impl AgentRuntime {
    /// Continues the sub-agents of a thread, and starts its immediate sub-agents.
    pub(super) async fn adopt(
        &self,
        run: &Arc<Run>,
        standing: &Standing,
        messages: &[Message],
    ) -> Result<(), RuntimeError> {
        // The rows include prompts, whose children also continue, and children of agents that made a handoff.
        let rows = self.children_of(&run.thread).await?;
        let is_open = |row: &ChildRow| row.kind == ChildKind::Prompt && is_active(row);
        let read = match messages {
            // The thread was not read, because the choice of the agent does not depend on it.
            [] if rows.iter().any(is_open) => self.0.turns.messages(&run.base, None).await?,
            _ => Vec::new(),
        };
        let messages = if read.is_empty() { messages } else { &read };
        self.go_on(run, &rows, messages).await?;
        let mut live = resumable::has_live(&rows);
        if !standing.has_spoken && !self.entry(standing.next).subagents.is_empty() {
            // The agent that writes the next message starts its sub-agents.
            let next = Run::copy_for(run, run.base.clone(), standing.next);
            self.start_immediate(&Arc::new(next), standing, &rows).await;
            live = live || resumable::has_live(&self.children_of(&run.thread).await?);
        }
        run.set_live(live);
        Ok(())
    }

    /// Continues and starts the sub-agents of the thread of a child.
    pub(super) async fn adopt_below(&self, run: &Arc<Run>) -> Result<(), ToolError> {
        if self.entry(run.current()).subagents.is_empty() {
            return Ok(());
        }
        let messages = self.0.turns.messages(&run.base, None).await;
        let messages = messages.map_err(unavailable)?;
        let standing = self.standing(run.first, &messages);
        let adopted = Box::pin(self.adopt(run, &standing, &messages)).await;
        adopted.map_err(unavailable)
    }

    /// Starts the sub-agents that waited for variables which a user has now supplied, at every depth below the conversation of the context, and
    /// returns their rows. Call it after a user has answered a request for variables. [`respond`](Self::respond) and [`drive`](Self::drive) do the
    /// same.
    ///
    /// # Errors
    ///
    /// Fails if the runtime has no agent `first` (the agent that began the conversation), if the context has no conversation, and if a store fails.
    pub async fn start_deferred(
        &self,
        first: &str,
        cx: &ToolContext,
    ) -> Result<Vec<ChildRow>, RuntimeError> {
        let first = self.known(first)?;
        let thread = cx.thread().ok_or(TurnError::Unnamed)?;
        let messages = self.0.turns.messages(cx, None).await?;
        let standing = self.standing(first, &messages);
        let base = cx.derive().agent(self.entry(standing.next).name()).build();
        let run = Run::new(self.clone(), base, thread, None, None, first, &standing);
        let run = Arc::new(run);
        self.start_supplied(&run).await
    }

    /// Starts each deferred child of a thread, and of the threads below it, if the child's request for variables was answered.
    fn start_supplied<'a>(
        &'a self,
        run: &'a Arc<Run>,
    ) -> BoxFuture<'a, Result<Vec<ChildRow>, RuntimeError>> {
        // The future is boxed, because a child may have children.
        Box::pin(async move {
            let mut started = Vec::new();
            for row in self.children_of(&run.thread).await? {
                match self.start_if_supplied(run, &row).await? {
                    Some(row) => started.push(row),
                    None => {
                        if let Some(below) = self.run_below(run, &row).await? {
                            started.extend(self.start_supplied(&below).await?);
                        }
                    }
                }
            }
            Ok(started)
        })
    }

    /// Creates the run of a child, from which its own children are continued.
    async fn run_below(
        &self,
        run: &Arc<Run>,
        row: &ChildRow,
    ) -> Result<Option<Arc<Run>>, ToolError> {
        let Some(target) = self.index(&row.agent) else {
            return Ok(None);
        };
        if self.entry(target).subagents.is_empty() && self.entry(target).prompts.is_empty() {
            return Ok(None);
        }
        Ok(Some(self.run_of(run, row, target).await?))
    }

    /// Begins the first session of a deferred child, if it has no open request for variables.
    async fn start_if_supplied(
        &self,
        run: &Arc<Run>,
        row: &ChildRow,
    ) -> Result<Option<ChildRow>, ToolError> {
        if row.state != ChildState::Deferred {
            return Ok(None);
        }
        if let (Some(vault), Some(id)) = (&self.0.vault, &row.request) {
            let open = vault.store().request(row.workspace(), id).await;
            if open.map_err(unavailable)?.is_some() {
                return Ok(None);
            }
        }
        let Some(row) = self.release(row).await? else {
            return Ok(None);
        };
        self.session_in_background(run, row.thread.clone());
        Ok(Some(row))
    }

    /// Continues the sessions whose process died or which waited, at every depth, and ends the sessions of calls that were cancelled.
    fn go_on<'a>(
        &'a self,
        run: &'a Arc<Run>,
        rows: &'a [ChildRow],
        messages: &'a [Message],
    ) -> BoxFuture<'a, Result<(), RuntimeError>> {
        // The future is boxed, because a child may have children.
        Box::pin(async move {
            let answered = answered(messages);
            for row in rows {
                let is_active = is_active(row);
                let is_answered = row.call.is_some_and(|call| answered.contains(&call));
                if row.kind == ChildKind::Prompt && is_active && is_answered {
                    // The store failed when the call ended, or the process died.
                    self.end_prompt(row).await?;
                }
                if row.kind == ChildKind::Subagent && row.state == ChildState::Deferred {
                    self.start_if_supplied(run, row).await?;
                } else if row.kind == ChildKind::Subagent && is_active && row.waits {
                    // If the call was not cancelled, the call itself continues the session.
                    if is_answered {
                        self.cancel_session(run, row).await?;
                    }
                } else if row.kind == ChildKind::Subagent && is_active {
                    self.session_in_background(run, row.thread.clone());
                } else if let Some(below) = self.run_below(run, row).await? {
                    // This child runs no session that would continue its children.
                    let messages = self.0.turns.messages(&below.base, None).await?;
                    let rows = self.children_of(&row.thread).await?;
                    self.go_on(&below, &rows, &messages).await?;
                }
            }
            Ok(())
        })
    }

    /// Starts the immediate sub-agents of an agent to which the conversation was passed during a run.
    pub(super) async fn activate(
        &self,
        run: &Arc<Run>,
        messages: &[Message],
    ) -> Result<(), ToolError> {
        let standing = self.standing(run.first, messages);
        let rows = self.children_of(&run.thread).await.map_err(unavailable)?;
        self.start_immediate(run, &standing, &rows).await;
        let rows = self.children_of(&run.thread).await.map_err(unavailable)?;
        run.set_live(resumable::has_live(&rows));
        Ok(())
    }

    /// Starts the immediate sub-agents of the active agent. A failure is logged: the conversation continues without the sub-agent.
    async fn start_immediate(&self, run: &Arc<Run>, standing: &Standing, rows: &[ChildRow]) {
        let entry = self.entry(run.current());
        for tool in &entry.subagents {
            let Some(immediate) = &tool.immediate else {
                continue;
            };
            if !is_on(tool.flag.as_ref(), &run.base) {
                continue;
            }
            let live = rows
                .iter()
                .filter(|row| row.agent == tool.agent && row.kind == ChildKind::Subagent)
                .filter(|row| row.is_live())
                .count();
            let started = if immediate.per_instance {
                self.start_groups(run, tool, immediate, live).await
            } else if live == 0 {
                let key = format!("immediate:{}:{}", tool.agent, standing.activation);
                let message = immediate.message.clone();
                self.start(run, tool, key, message, None).await.map(drop)
            } else {
                Ok(())
            };
            if let Err(error) = started {
                tracing::warn!(
                    error = error.operator_text(),
                    agent = tool.agent,
                    "an immediate sub-agent was not started"
                );
            }
        }
    }

    /// Starts a sub-agent in the background. Returns whether its thread exists; otherwise, the limit on instances is reached.
    async fn start(
        &self,
        run: &Arc<Run>,
        tool: &Subagent,
        key: String,
        message: String,
        name: Option<String>,
    ) -> Result<bool, ToolError> {
        let Some(target) = self.index(&tool.agent) else {
            return Ok(false);
        };
        let resumable = tool.resumable.as_ref();
        let start = Start {
            target,
            key,
            call: None,
            waits: false,
            message,
            paths: Vec::new(),
            name,
            resumable: resumable.is_some(),
            side: resumable
                .map(|resumable| resumable.side)
                .unwrap_or_default(),
            most: resumable.and_then(|resumable| resumable.most),
        };
        Ok(match self.open(run, start).await? {
            Opened::Child(row, _) => {
                if row.state == ChildState::Running {
                    self.session_in_background(run, row.thread);
                }
                true
            }
            Opened::Deferred(_) => true,
            Opened::Full(_) => false,
        })
    }

    /// Starts an instance for each group of stored variables of the thread.
    async fn start_groups(
        &self,
        run: &Arc<Run>,
        tool: &Subagent,
        immediate: &Immediate,
        live: usize,
    ) -> Result<(), ToolError> {
        let Some(vault) = &self.0.vault else {
            return Ok(());
        };
        let scope = VariableScope::thread(&run.thread);
        let filter = VariableFilter {
            level: Some(VariableLevel::Thread),
            owner: Some(run.thread.conversation().to_owned()),
            ..VariableFilter::default()
        };
        let infos = vault.list_variables(run.thread.workspace(), &filter).await;
        let infos = infos.map_err(no_variables)?;
        let names = immediate.names();
        let stored: Vec<&str> = infos.iter().map(|info| &*info.name).collect();
        let all = groups(names.iter().copied(), stored.iter().copied());
        let most = tool.resumable.as_ref().and_then(|resumable| resumable.most);
        let mut room = most.map_or(usize::MAX, |most| {
            usize::try_from(most)
                .unwrap_or(usize::MAX)
                .saturating_sub(live)
        });
        for (_, group) in all {
            let open = vault
                .open_variables(std::slice::from_ref(&scope), group.values().copied())
                .await
                .map_err(no_variables)?;
            let value = |name: &str| {
                let variable = group.get(name)?;
                open.iter().find(|open| open.name == *variable)
            };
            // The time at which the values were written identifies the group, so that later values of the same names start a new instance.
            let written: Vec<String> = infos
                .iter()
                .filter(|info| group.values().any(|name| *name == info.name))
                .map(|info| format!("{}@{}", info.name, info.at.as_millis()))
                .collect();
            let key = format!("instance:{}:{}", tool.agent, written.join(","));
            let thread = super::tools::thread_of(&run.thread, "sub", &key)?;

            let is_known = self.store()?.child(&thread).await;
            if is_known.map_err(unavailable)?.is_some() {
                // An earlier attempt started the instance.
                self.consume(vault, &scope, group.values().copied()).await?;
                continue;
            }
            if room == 0 {
                continue;
            }
            let own: Vec<NewValue> = names
                .iter()
                .filter_map(|name| {
                    let open = value(name)?;
                    let text = SecretString::from(open.value.expose_secret());
                    let hides = immediate.hides(name) || open.kind == VariableType::Secret;
                    let kind = if hides {
                        VariableType::Secret
                    } else {
                        VariableType::Text
                    };
                    Some(NewValue::declared(*name, kind, text))
                })
                .collect();
            let target = VariableScope::thread(&thread);
            let set = vault.set_variables(&target, own, RUNTIME).await;
            set.map_err(no_variables)?;

            let hint = |name: &Option<String>| {
                let open = value(name.as_deref()?)?;
                // A model must not read a secret, even if the host configured it as a hint.
                (open.kind != VariableType::Secret).then(|| open.value.expose_secret().to_owned())
            };
            let (name, brief) = (hint(&immediate.name), hint(&immediate.description));
            let described = self
                .describe(run, tool, name.as_deref(), brief.as_deref())
                .await;
            let name = child::display_name(&described.name);
            let started = self.start(run, tool, key, described.message, name).await?;
            if !started {
                return Ok(());
            }
            room -= 1;
            self.consume(vault, &scope, group.values().copied()).await?;
        }
        Ok(())
    }

    /// Removes variables that were moved to an instance.
    async fn consume<'n>(
        &self,
        vault: &Vault,
        scope: &VariableScope,
        names: impl Iterator<Item = &'n str>,
    ) -> Result<(), ToolError> {
        for name in names {
            let removed = vault.remove_variable(scope, name).await;
            removed.map_err(no_variables)?;
        }
        Ok(())
    }

    /// Asks the model of the active agent for a name and a first message of an instance. The request contains only the name of the sub-agent and the
    /// two hints. If the model fails, the hints themselves become the name and the message.
    async fn describe(
        &self,
        run: &Run,
        tool: &Subagent,
        name: Option<&str>,
        brief: Option<&str>,
    ) -> Described {
        let fallback = Described {
            name: name.unwrap_or(&tool.agent).to_owned(),
            message: brief.or(name).unwrap_or("Begin your task.").to_owned(),
        };
        if name.is_none() && brief.is_none() {
            return fallback;
        }
        match self.described(run, tool, name, brief).await {
            Ok(described) => described,
            Err(error) => {
                tracing::warn!(
                    error = error.operator_text(),
                    agent = tool.agent,
                    "no model described an instance, so its hints are used"
                );
                fallback
            }
        }
    }

    async fn described(
        &self,
        run: &Run,
        tool: &Subagent,
        name: Option<&str>,
        brief: Option<&str>,
    ) -> Result<Described, ToolError> {
        const TOOL: &str = "describe_instance";
        let schema = json!({
            "type": "object",
            "properties": {
                "name": {"type": "string", "description": "A short name for the instance.", "minLength": 1},
                "message": {"type": "string", "description": "The first message for the instance.", "minLength": 1},
            },
            "required": ["name", "message"],
            "additionalProperties": false,
        });
        let describe = DynamicTool::new(
            TOOL,
            "Describes the instance.",
            schema,
            |value: Value, _| async move { Ok::<_, ToolError>(value) },
        );
        let registry = Registry::builder().dynamic(describe.read_only()).build();
        let tools = registry.map_err(ToolError::foreign)?.open();
        let text = format!(
            "An instance of the agent `{}` is started. Call `{TOOL}` once with a short name for it and with its first message.\nname hint: {}\ndescription hint: {}",
            tool.agent,
            name.unwrap_or("none"),
            brief.unwrap_or("none"),
        );
        let content = stored(&text.into())?;
        let message = new_message(&run.thread, Role::User, content, Timestamp::now());
        let messages = [message.numbered(1)];
        let mut model = self.entry(run.current()).agent.model();
        let request = ModelRequest {
            messages: &messages,
            tools: &tools,
            step: 1,
            cx: &run.base,
        };
        let step = format!("instance:{}", name.unwrap_or_default());
        let reply = Budget::ask(&mut *model, request, &step).await?;
        let call = reply.calls.into_iter().find(|call| call.name == TOOL);
        let call = call.ok_or_else(|| ToolError::new("the model did not call the tool"))?;
        let result = tools.call(call, &ToolContext::anonymous()).await;
        let output = result
            .output()
            .ok_or_else(|| ToolError::new(result.model_text()))?;
        serde_json::from_str(output.get()).map_err(ToolError::foreign)
    }
}
