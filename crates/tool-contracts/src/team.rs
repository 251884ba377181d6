//! The tools of `tool-agent` with which an agent asks other agents. Keys are in camel case.
//!
//! `ask_<agent>` has no contract, because its name depends on the agent: its argument is `{prompt}` and its result a string.

use serde::{Deserialize, Serialize};
#[cfg(feature = "schema")]
use tool_core::StrictSchema;

use crate::ToolContract;

/// The arguments of `consult_team`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(StrictSchema))]
#[serde(rename_all = "camelCase")]
pub struct ConsultTeam {
    /// The task for every agent, with everything that the agents have to know.
    #[cfg_attr(feature = "schema", schema(length = 1..=8000))]
    pub task: String,
}

impl ToolContract for ConsultTeam {
    const NAME: &'static str = "consult_team";
    type Input = Self;
    type Output = TeamAnswers;
}

/// The answers of a team: the progress and the result of `consult_team`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(StrictSchema))]
#[serde(rename_all = "camelCase")]
pub struct TeamAnswers {
    /// One response for each agent, in the order of the participants.
    pub responses: Vec<TeamAnswer>,
}

/// The state of one agent.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(StrictSchema))]
#[serde(rename_all = "camelCase")]
pub struct TeamAnswer {
    /// The id of the agent.
    pub agent_id: String,
    /// The name of the agent.
    pub name: String,
    /// Whether the agent has answered.
    pub status: AnswerStatus,
    /// The answer, or the text of the error; empty while the agent works.
    pub text: String,
}

/// The status of an agent that was asked.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(StrictSchema))]
#[serde(rename_all = "lowercase")]
pub enum AnswerStatus {
    /// The agent works. Only progress has this status.
    Pending,
    /// The agent has answered.
    Complete,
    /// The agent failed.
    Error,
    /// The agent did not answer in time.
    Timeout,
}

/// The arguments of `consult_specialist`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(StrictSchema))]
#[serde(rename_all = "camelCase")]
pub struct ConsultSpecialist {
    /// The id of the agent. The schema of the tool lists the ids that are possible.
    pub agent_id: String,
    /// The task for the agent. The agent also reads this conversation.
    #[cfg_attr(feature = "schema", schema(length = 1..=8000))]
    pub task: String,
}

impl ToolContract for ConsultSpecialist {
    const NAME: &'static str = "consult_specialist";
    type Input = Self;
    type Output = SpecialistAnswer;
}

/// The answer of a specialist.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(StrictSchema))]
#[serde(rename_all = "camelCase")]
pub struct SpecialistAnswer {
    /// The id of the agent.
    pub agent_id: String,
    /// The whole answer.
    pub text: String,
}

/// The arguments of `research_topic`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(StrictSchema))]
#[serde(rename_all = "camelCase")]
pub struct ResearchTopic {
    /// The topic or the question, with everything that the researcher has to know.
    #[cfg_attr(feature = "schema", schema(length = 1..=8000))]
    pub topic: String,
    /// The depth of the research.
    pub depth: ResearchDepth,
}

impl ToolContract for ResearchTopic {
    const NAME: &'static str = "research_topic";
    type Input = Self;
    type Output = Research;
}

/// The depth of a research.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(StrictSchema))]
#[serde(rename_all = "lowercase")]
pub enum ResearchDepth {
    /// A short answer from a few sources.
    Quick,
    /// A comparison of several sources.
    Deep,
}

/// The result of a research.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Research {
    /// The answer of the researcher.
    pub summary: String,
    /// The sources that the researcher used.
    pub citations: Vec<Citation>,
}

/// A source of a text.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Citation {
    /// The kind or the name of the source, such as `web`.
    pub source: String,
    /// The id of the item in the source, such as a URL.
    pub source_id: String,
    /// The version of the item.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub version: Option<String>,
    /// The time at which the item was retrieved, in ISO 8601.
    pub retrieved_at: String,
}

/// The arguments of `spawn_task`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(StrictSchema))]
#[serde(rename_all = "camelCase")]
pub struct SpawnTask {
    /// The task, with everything that the sub-agent has to know.
    #[cfg_attr(feature = "schema", schema(length = 1..=8000))]
    pub task: String,
    /// A short name of the task for people.
    #[cfg_attr(feature = "schema", schema(length = 0..=100))]
    pub label: Option<String>,
}

impl ToolContract for SpawnTask {
    const NAME: &'static str = "spawn_task";
    type Input = Self;
    type Output = TaskResult;
}

/// The result of a sub-agent.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(StrictSchema))]
#[serde(rename_all = "camelCase")]
pub struct TaskResult {
    /// Whether the sub-agent has answered.
    pub success: bool,
    /// The answer, or the reason why there is none.
    pub result: String,
    /// The names of the tools that the sub-agent called, in the order of their first use.
    pub tools_used: Vec<String>,
}
