//! Tools with which one agent asks other agents.
//!
//! | tool | purpose |
//! |---|---|
//! | [`consult_team`](Team::consult_team) | gives one task to all agents of a team at once, and returns all answers |
//! | [`consult_specialist`](Team::consult_specialist) | gives a task and the conversation so far to one agent of the team |
//! | [`research_topic`](Team::research_topic) | gives a topic to an agent that does research, and returns a summary with citations |
//! | [`ask_<agent>`](Team::ask) | gives a prompt to one agent; an [`AgentTool`](tool_core::AgentTool), which needs the enablement row `agent:<id>` |
//! | [`spawn_task`](SpawnTask) | gives a task to a sub-agent that has the tools of the agent that calls the tool |
//!
//! An [`AgentRunner`] runs the agents. [`LocalTeam`] runs [`Agent`](crate::agent::Agent)s of this process, each task in a new conversation.
//!
//! # What the tools have in common
//!
//! - The tools have the effects `WRITE` and `EXTERNAL`, because the actions of an agent are not known in advance; `consult_specialist` also has
//!   `READ`. Each call of a tool passes the gate of the agent that asks, so a call that is denied runs no agent. Each call that an agent makes passes
//!   the agent's own gate.
//! - A repeated call has new effects: the conversation of an agent is stored, a model is asked, and the calls of the agent belong to the agent's
//!   conversation. So the tools are neither idempotent nor declared as [`only_calls`](tool_core::DynamicTool::only_calls): if a process ends in the
//!   middle of a call, a gate with a ledger keeps the call as ambiguous until an operator settles it. Without a ledger, the call is made again, and
//!   it asks the agents again.
//! - If the call is cancelled or its deadline passes, the requests of the agents are dropped.
//! - The category of the tools is `agent` (`agent-call` for `ask_<agent>`). Tools of the category `agent` need no enablement row, and turns of the
//!   kind [`Runtime::SubAgent`](tool_core::Runtime::SubAgent) do not have them. [`DynamicTool::category`](tool_core::DynamicTool::category) changes
//!   the category.
//! - An error of an agent has the text that the model may read. Texts for operators are never part of an output.
//!
//! ```
//! use tool_agent::agent::Agent;
//! use tool_agent::model::{Script, ScriptedModel};
//! use tool_agent::team::{LocalTeam, Team, TeamMember};
//! use tool_core::prelude::*;
//! use tool_core::store::MemoryStore;
//! use tool_core::turn::{Outcome, Turns};
//!
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> Result<(), Box<dyn std::error::Error>> {
//! // A host uses `HttpModel`s here.
//! let answers = |text: &str| ScriptedModel::new([Script::text(text)]);
//! let turns = Turns::new(MemoryStore::default());
//! let agents = LocalTeam::builder(&turns)
//!     .member(
//!         TeamMember::new("law", "Lawyer", "Knows the law."),
//!         Agent::builder("law", answers("It is legal.")).instructions("You are a lawyer.").build()?,
//!     )
//!     .member(
//!         TeamMember::new("tax", "Accountant", "Knows the taxes."),
//!         Agent::builder("tax", answers("It is not taxed.")).build()?,
//!     )
//!     .build()?;
//! let team = Team::builder(agents).caller("lead").conversations(&turns).build()?;
//! let registry = Registry::builder()
//!     .dynamic(team.consult_team()?)
//!     .dynamic(team.consult_specialist()?)
//!     .build()?;
//!
//! let model = ScriptedModel::new([
//!     Script::calls([ToolCall::new("c-1", "consult_team", r#"{"task":"May we sell it?"}"#)]),
//!     Script::with(|request| {
//!         let result = &request.messages.last().unwrap().content;
//!         assert!(result.contains("It is legal.") && result.contains("It is not taxed."));
//!         Ok(tool_core::turn::ModelMessage::text("Yes."))
//!     }),
//! ]);
//! let lead = Agent::builder("lead", model).tools(move |_| registry.open()).build()?;
//! let cx = ToolContext::builder().workspace("acme").agent("lead").conversation("main").build();
//! let outcome = lead.respond("May we sell it?", &turns, &cx).await?;
//! assert!(matches!(outcome, Outcome::Answered(text) if text == "Yes."));
//! # Ok(())
//! # }
//! ```

mod ask;
mod consult;
mod context;
mod error;
mod local;
mod research;
mod run;
mod runner;
mod spawn;
mod specialist;
mod tools;

pub use error::TeamError;
pub use local::{LocalTeam, LocalTeamBuilder};
pub use runner::{AgentAnswer, AgentRunner, AgentTask, TeamMember};
pub use spawn::SpawnTask;
pub use tools::{Team, TeamBuilder};
