//! Drivers of the conversations of a chat: a model of the host, or the agents of a runtime.

use std::sync::Arc;

use tool_agent::runtime::{
    AgentBegun, AgentRuntime, BegunAgentRun, RuntimeError, StoredEvents, UiView,
};
use tool_core::store::ThreadId;
use tool_core::turn::{Begun, BegunRun, Turns, UserMessage};
use tool_core::{Ticket, ToolCall, ToolContext, Toolset};
use tool_wire::ui::Writer;

use super::model::ChatModel;
use super::{failed, of_runtime, of_turn};
use crate::problem::{Kind, Problem};

type Tools = dyn Fn(&ToolContext) -> Toolset + Send + Sync;

/// Drives conversations with a model of the host; see [`ChatServer::builder`](super::ChatServer::builder).
pub struct ModelDriver {
    turns: Turns,
    pub(super) model: Arc<dyn ChatModel>,
    pub(super) tools: Arc<Tools>,
}

impl ModelDriver {
    pub(super) fn new(turns: Turns, model: impl ChatModel) -> Self {
        Self {
            turns,
            model: Arc::new(model),
            tools: Arc::new(|_| tool_core::toolset![]),
        }
    }
}

/// Drives conversations with the agents of a runtime; see [`ChatServer::agents`](super::ChatServer::agents).
pub struct AgentDriver {
    runtime: AgentRuntime,
    agent: String,
    pub(super) events: Option<StoredEvents>,
    /// The function that sets how the pieces of a step are shown.
    pub(super) shown: fn(UiView) -> UiView,
}

impl AgentDriver {
    pub(super) fn new(runtime: &AgentRuntime, agent: &str) -> Result<Self, RuntimeError> {
        // The runtime refuses a name that it does not have.
        runtime.variables(agent)?;
        Ok(Self {
            runtime: runtime.clone(),
            agent: agent.to_owned(),
            events: None,
            shown: std::convert::identity,
        })
    }
}

pub(super) enum Driver {
    Model(ModelDriver),
    Agents(AgentDriver),
}

/// A begun run, whose lease this process has.
pub(super) enum Held {
    Model(BegunRun),
    Agents(BegunAgentRun),
}

impl Driver {
    pub(super) fn turns(&self) -> &Turns {
        match self {
            Self::Model(driver) => &driver.turns,
            Self::Agents(driver) => driver.runtime.turns(),
        }
    }

    /// Returns the tools that the interface may show.
    pub(super) fn tools(&self, cx: &ToolContext) -> Result<Toolset, Problem> {
        match self {
            Self::Model(driver) => Ok((driver.tools)(cx)),
            Self::Agents(driver) => driver.runtime.all_tools(cx).map_err(of_runtime),
        }
    }

    /// Creates the view of a message.
    pub(super) fn view(&self, tools: &Toolset, thread: &ThreadId) -> UiView {
        let view = UiView::new(Writer::new(tools), thread.conversation());
        match self {
            Self::Agents(driver) => (driver.shown)(view),
            Self::Model(_) => view,
        }
    }

    /// Returns the reader of the stored events; `None` for a model of the host, and if no store of events was set.
    pub(super) fn events(&self) -> Option<&StoredEvents> {
        match self {
            Self::Model(_) => None,
            Self::Agents(driver) => driver.events.as_ref(),
        }
    }

    /// Begins a run. Fails with 409 if a different run of the conversation is active.
    pub(super) async fn begin(&self, cx: &ToolContext) -> Result<Held, Problem> {
        let begun = match self {
            Self::Model(driver) => match driver.turns.begin(cx).await.map_err(of_turn)? {
                Begun::Run(run) => Some(Held::Model(*run)),
                Begun::Busy(_) => None,
            },
            Self::Agents(driver) => {
                let begun = driver.runtime.begin(&driver.agent, cx).await;
                match begun.map_err(of_runtime)? {
                    AgentBegun::Run(run) => Some(Held::Agents(*run)),
                    AgentBegun::Busy(_) => None,
                }
            }
        };
        begun.ok_or_else(|| {
            Problem::new(
                Kind::Conflict,
                "a run of this conversation is active: read it with `GET …/stream`, stop it with `POST …/stop`, or repeat the request when it has ended",
            )
        })
    }

    /// Returns the open approvals of a conversation and of the threads below it.
    pub(super) async fn waiting(
        &self,
        cx: &ToolContext,
        tools: &Toolset,
    ) -> Result<Vec<Ticket>, Problem> {
        match self {
            Self::Model(_) => {
                let approvals = tools.gate().and_then(|gate| gate.approvals());
                let (Some(approvals), Some(thread)) = (approvals, cx.thread()) else {
                    return Ok(Vec::new());
                };
                approvals.waiting(&thread).await.map_err(|error| {
                    tracing::error!(%error, "the approval requests of a chat cannot be read");
                    failed()
                })
            }
            Self::Agents(driver) => driver.runtime.waiting(cx).await.map_err(of_runtime),
        }
    }

    /// Returns the threads whose approval requests the user of the conversation answers.
    pub(super) async fn threads(
        &self,
        thread: &ThreadId,
        cx: &ToolContext,
    ) -> Result<Vec<ThreadId>, Problem> {
        let mut threads = vec![thread.clone()];
        if let Self::Agents(driver) = self {
            let below = driver.runtime.threads_below(cx).await;
            threads.extend(below.map_err(of_runtime)?);
        }
        Ok(threads)
    }
}

impl Held {
    pub(super) async fn say(&mut self, message: UserMessage) -> Result<u64, Problem> {
        match self {
            Self::Model(run) => run.say(message).await.map_err(of_turn),
            Self::Agents(run) => run.say(message).await.map_err(of_runtime),
        }
    }

    pub(super) async fn is_answered(&self) -> Result<bool, Problem> {
        match self {
            Self::Model(run) => run.is_answered().await.map_err(of_turn),
            Self::Agents(run) => run.is_answered().await.map_err(of_runtime),
        }
    }

    pub(super) async fn open_calls(&self) -> Result<Vec<ToolCall>, Problem> {
        match self {
            Self::Model(run) => run.open_calls().await.map_err(of_turn),
            Self::Agents(run) => run.open_calls().await.map_err(of_runtime),
        }
    }

    pub(super) async fn cancel(self) {
        match self {
            Self::Model(run) => run.cancel().await,
            Self::Agents(run) => run.cancel().await,
        }
    }
}
