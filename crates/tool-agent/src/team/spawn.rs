//! The tool `spawn_task`, which gives a task to a sub-agent.

use std::fmt;
use std::sync::Arc;

use futures::future::FutureExt as _;
use serde::Serialize;
use serde_json::json;
use tool_contracts::ToolContract as _;
use tool_contracts::team::{self, TaskResult};
use tool_core::turn::{Model, ToolMessage, Turns, UserMessage};
use tool_core::{DynamicTool, ErrorKind, ToolContext, ToolDef, ToolError, Toolset};

use super::consult::{failed, task_schema};
use super::context::{child_context, new_conversation};
use super::error::TeamError;
use super::run::{Ran, caught, run};
use super::tools::{CATEGORY, EFFECT};
use crate::agent::{Agent, AgentBuilder};

/// The name of the tool.
const NAME: &str = team::SpawnTask::NAME;

/// Maximum number of steps of a sub-agent, and the default.
const MOST_STEPS: u32 = 10;

type Parent = dyn Fn(&ToolContext) -> Toolset + Send + Sync;
type NewAgent = dyn Fn() -> AgentBuilder + Send + Sync;

/// The configuration of the tool `spawn_task`, which gives a task to a sub-agent with the tools of the agent that calls it.
///
/// Input: `{task, label}`, where `label` is a short name of the task for people, or null. Output: `{success, result, toolsUsed}`. `result` is the answer, or the
/// reason why there is none. `toolsUsed` has the names of the tools that the sub-agent called, in the order of their first use, without names of tools that do
/// not exist. Every failure of the sub-agent is an output with `success: false`.
///
/// The sub-agent has a new conversation without a history, and at most 10 steps. It has the tools that the host's function returns for the context of
/// the call, except this tool, [harness tools](tool_core::ToolDef::is_harness), and the tools that start or ask agents. The latter are the tools of
/// the categories `agent` and `agent-call`, and every [`AgentTool`](tool_core::AgentTool). The function is called before each step. The calls pass
/// the gate of that toolset, and policies get the agent that called the tool as the caller.
///
/// The context of the sub-agent has the workspace, the users, the session, the trace and the remaining time of the call, and no secrets, variables or
/// host values except the shared [budget](tool_core::turn::Budget) of the call. The tool has no timeout unless the host sets one
/// with [`DynamicTool::timeout`].
///
/// A sub-agent that waits for an approval has no answer, and the approval is withdrawn. The call first reports progress with the label and the conversation of
/// the sub-agent: `{label, conversation}`.
///
/// The registry of the parent cannot contain a tool that needs the parent's list of tools. So build the tool separately, and add it with
/// [`Toolset::with_agent_tools`]:
///
/// ```
/// use tool_agent::model::{Script, ScriptedModel};
/// use tool_agent::team::SpawnTask;
/// use tool_core::prelude::*;
/// use tool_core::store::MemoryStore;
/// use tool_core::turn::Turns;
///
/// /// Adds two numbers.
/// #[tool(read_only)]
/// fn add(
///     /// The first number.
///     a: i32,
///     /// The second number.
///     b: i32,
/// ) -> i64 {
///     i64::from(a) + i64::from(b)
/// }
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// // A host uses an `HttpModel` here, and the toolset of a registry with the rules of the agent.
/// let model = ScriptedModel::new([
///     Script::calls([ToolCall::new("c-1", "add", r#"{"a":1,"b":2}"#)]),
///     Script::text("The sum is 3."),
/// ]);
/// let turns = Turns::new(MemoryStore::default());
/// let spawn = SpawnTask::new(&turns, model, |_| toolset![add])
///     .instructions("You do one task and report the result.")
///     .build()?;
/// let own = Registry::builder().dynamic(spawn).build()?.open();
/// let tools = toolset![add].with_agent_tools(&own);
///
/// let call = ToolCall::new("c-1", "spawn_task", r#"{"task":"Add 1 and 2.","label":null}"#);
/// let result = tools.call(call, &ToolContext::builder().agent("lead").build()).await;
/// let output = result.output().unwrap().get();
/// assert_eq!(output, r#"{"success":true,"result":"The sum is 3.","toolsUsed":["add"]}"#);
/// # Ok(())
/// # }
/// ```
#[doc(alias("sub-agent", "subagent", "Task", "delegate"))]
#[must_use = "call `build` to get the tool"]
pub struct SpawnTask {
    turns: Turns,
    agent: Box<NewAgent>,
    parent: Arc<Parent>,
    instructions: String,
    steps: u32,
}

/// The progress of a call.
#[derive(Serialize)]
struct Began<'a> {
    label: Option<&'a str>,
    conversation: &'a str,
}

impl SpawnTask {
    /// Configures the tool. The conversations of sub-agents are stored by `turns`, each sub-agent uses a clone of `model`, and `parent` returns the tools of the
    /// agent that calls the tool, for the context of the call.
    pub fn new(
        turns: &Turns,
        model: impl Model + Clone + Sync + 'static,
        parent: impl Fn(&ToolContext) -> Toolset + Send + Sync + 'static,
    ) -> Self {
        Self {
            turns: turns.clone(),
            agent: Box::new(move || Agent::builder(NAME, model.clone())),
            parent: Arc::new(parent),
            instructions: String::new(),
            steps: MOST_STEPS,
        }
    }

    /// Sets the instructions of sub-agents. An empty text is not sent.
    pub fn instructions(mut self, text: impl Into<String>) -> Self {
        self.instructions = text.into();
        self
    }

    /// Sets the limit on the steps of a sub-agent, from 1 to 10. The default is 10.
    pub fn most_steps(mut self, steps: u32) -> Self {
        self.steps = steps;
        self
    }

    /// Creates the tool.
    ///
    /// # Errors
    ///
    /// Fails if the limit on steps is not a number from 1 to 10.
    #[track_caller]
    pub fn build(self) -> Result<DynamicTool, TeamError> {
        if !(1..=MOST_STEPS).contains(&self.steps) {
            return Err(TeamError::Steps {
                steps: self.steps,
                most: MOST_STEPS,
            });
        }
        let schema = json!({
            "type": "object",
            "properties": {
                "task": task_schema("The task, with everything that the sub-agent has to know: it does not read this conversation."),
                "label": {
                    "type": ["string", "null"],
                    "description": "A short name of the task for people, or null.",
                    "maxLength": 100,
                },
            },
            "required": ["task", "label"],
            "additionalProperties": false,
        });
        let text = json!({"type": "string"});
        let this = Arc::new(self);
        let spawn = move |arguments: team::SpawnTask, cx: ToolContext| {
            let this = Arc::clone(&this);
            async move { this.run(arguments, &cx).await }
        };
        Ok(DynamicTool::new(
            NAME,
            "Gives a task to a sub-agent with your tools and an empty conversation, and returns its result. Use it for a task with many steps, of \
             which only the result is needed.",
            schema,
            spawn,
        )
        .title("Start a sub-agent")
        .category(CATEGORY)
        .effect(EFFECT)
        .output_schema(&json!({
            "type": "object",
            "properties": {
                "success": {"type": "boolean"},
                "result": text,
                "toolsUsed": {"type": "array", "items": text},
            },
            "required": ["success", "result", "toolsUsed"],
            "additionalProperties": false,
        })))
    }

    async fn run(
        &self,
        arguments: team::SpawnTask,
        cx: &ToolContext,
    ) -> Result<TaskResult, ToolError> {
        let conversation = new_conversation(NAME)?;
        let ran = self.ran(arguments, &conversation, cx).map(Ok);
        // A model or a store of the host may panic.
        let ran = caught("the sub-agent", ran)
            .await
            .unwrap_or_else(|error| Ran {
                answer: Err(error),
                results: Vec::new(),
            });
        let (success, result) = match ran.answer {
            Ok(text) => (true, text),
            Err(error) => {
                failed(NAME, &error, cx);
                (false, error.model_text())
            }
        };
        Ok(TaskResult {
            success,
            result,
            tools_used: used(&ran.results),
        })
    }

    async fn ran(&self, arguments: team::SpawnTask, conversation: &str, cx: &ToolContext) -> Ran {
        let team::SpawnTask { task, label } = arguments;
        cx.audit(
            "agent.asked",
            &json!({"agent": NAME, "conversation": conversation}),
        );
        cx.progress(&Began {
            label: label.as_deref(),
            conversation,
        });
        // Policies for the agent that called the tool apply to its sub-agents, too.
        let child = child_context(cx, cx.agent().unwrap_or(NAME), conversation);
        let (parent, own) = (Arc::clone(&self.parent), cx.clone());
        let agent = (self.agent)()
            .instructions(self.instructions.as_str())
            .tools(move |_| parent(&own).filter(is_for_sub_agent))
            .most_steps(self.steps);
        let task = UserMessage::from(task);
        match agent.build() {
            Ok(agent) => run(&agent, task, "the sub-agent", &self.turns, &child).await,
            Err(error) => Ran {
                answer: Err(ToolError::foreign(error)),
                results: Vec::new(),
            },
        }
    }
}

impl fmt::Debug for SpawnTask {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SpawnTask")
            .field("steps", &self.steps)
            .finish_non_exhaustive()
    }
}

/// Returns whether a sub-agent gets a tool of its parent.
fn is_for_sub_agent(tool: &ToolDef) -> bool {
    let asks = [CATEGORY, "agent-call"].contains(&tool.category());
    !tool.is_harness() && !asks && !tool.calls_agent() && tool.name() != NAME
}

/// Returns the names of the tools that were called, in the order of their first use.
fn used(results: &[ToolMessage]) -> Vec<String> {
    let mut names: Vec<String> = Vec::new();
    for result in results {
        if !result.is_of(ErrorKind::UnknownTool) && !names.contains(&result.name) {
            names.push(result.name.clone());
        }
    }
    names
}
