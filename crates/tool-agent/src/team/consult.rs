//! The tool `consult_team`, which gives one task to all agents of a team.

use std::fmt::Write as _;
use std::time::Duration;

use futures::stream::{FuturesUnordered, StreamExt as _};
use serde::Serialize;
use serde_json::{Value, json};
use tool_contracts::ToolContract as _;
use tool_contracts::team::{AnswerStatus, ConsultTeam, TeamAnswer, TeamAnswers};
use tool_core::{DynamicTool, ErrorKind, ModelOutput, ToModelOutput, ToolContext, ToolError};

use super::run::caught;
use super::runner::{AgentAnswer, AgentTask, TeamMember};
use super::tools::{CATEGORY, EFFECT, Team};

/// Time that is reserved for the call itself after the time of the agents.
const RESERVE: Duration = Duration::from_millis(500);

/// The state of all agents of a call: the progress, and the output.
#[derive(Clone, Serialize)]
#[serde(transparent)]
struct Report(TeamAnswers);

impl ToModelOutput for Report {
    fn to_model_output(&self) -> ModelOutput {
        let mut all = String::new();
        for TeamAnswer {
            name, status, text, ..
        } in &self.0.responses
        {
            let gap = if all.is_empty() { "" } else { "\n\n" };
            let failed = if *status == AnswerStatus::Complete {
                ""
            } else {
                " (no answer)"
            };
            // Writing to a string does not fail.
            let _ = write!(all, "{gap}{name}{failed}:\n{text}");
        }
        ModelOutput::text(all)
    }
}

#[track_caller]
pub(super) fn tool(team: Team) -> DynamicTool {
    let schema = json!({
        "type": "object",
        "properties": {"task": task_schema("The task for every agent, with everything that the agents have to know.")},
        "required": ["task"],
        "additionalProperties": false,
    });
    let mut description =
        "Gives one task to all agents of the team at once, and returns the answer of each agent. The agents:".to_owned();
    describe(&mut description, team.participants());
    let consult = move |ConsultTeam { task }: ConsultTeam, cx: ToolContext| {
        let team = team.clone();
        async move { consult(&team, &task, &cx).await }
    };
    DynamicTool::shown(ConsultTeam::NAME, description, schema, consult)
        .title("Consult the team")
        .category(CATEGORY)
        .effect(EFFECT)
        .output_schema(&output_schema())
}

async fn consult(team: &Team, task: &str, cx: &ToolContext) -> Result<Report, ToolError> {
    let members = team
        .participants()
        .filter(|member| Some(&*member.id) != cx.agent());
    let members: Vec<_> = members.collect();
    let pending = members.iter().map(|member| TeamAnswer {
        agent_id: member.id.clone(),
        name: member.name.clone(),
        status: AnswerStatus::Pending,
        text: String::new(),
    });
    let mut report = Report(TeamAnswers {
        responses: pending.collect(),
    });
    if members.is_empty() {
        let text = "the team has no agent besides the one that asks: answer the task yourself";
        return Err(ToolError::of(ErrorKind::Denied, text));
    }
    let left = cx.remaining().map(|left| left.saturating_sub(RESERVE));
    let timeout = left.map_or(team.timeout, |left| left.min(team.timeout));
    let limit = Duration::from_millis(u64::try_from(timeout.as_millis()).unwrap_or(u64::MAX));
    // A report does not wait for its reader, because a slow client must not use up the time of the agents.
    cx.progress(&report);
    let asked = members.iter().enumerate().map(async |(at, member)| {
        let answer = ask(team, member, task, cx);
        (at, tokio::time::timeout(timeout, answer).await)
    });
    let mut asked: FuturesUnordered<_> = asked.collect();
    while let Some((at, ended)) = asked.next().await {
        let response = &mut report.0.responses[at];
        (response.status, response.text) = match ended {
            Ok(Ok(answer)) => {
                for citation in answer.citations {
                    cx.cite(citation);
                }
                (AnswerStatus::Complete, answer.text)
            }
            Ok(Err(error)) => {
                failed(&response.agent_id, &error, cx);
                (AnswerStatus::Error, error.model_text())
            }
            Err(_) => (
                AnswerStatus::Timeout,
                format!("the agent did not answer within {limit:?}"),
            ),
        };
        cx.progress(&report);
    }
    Ok(report)
}

/// Asks one agent. A panic of the runner is an error, so that it does not end the requests of the other agents.
async fn ask(
    team: &Team,
    member: &TeamMember,
    task: &str,
    cx: &ToolContext,
) -> Result<AgentAnswer, ToolError> {
    let answer = async {
        let task = AgentTask::new(member.id.as_str(), task);
        team.runner.ask(task, cx).await
    };
    caught("the agent", answer).await
}

/// Adds the error of an agent to the audit row of the call.
pub(super) fn failed(agent: &str, error: &ToolError, cx: &ToolContext) {
    let text: String = error.operator_text().chars().take(1000).collect();
    let kind = error.kind().as_str();
    cx.audit(
        "agent.failed",
        &json!({"agent": agent, "kind": kind, "error": text}),
    );
}

/// Returns the schema of a task or a topic: a text of 1 to 8,000 characters.
pub(super) fn task_schema(description: &str) -> Value {
    json!({"type": "string", "description": description, "minLength": 1, "maxLength": 8000})
}

/// Adds a line for each agent.
pub(super) fn describe<'a>(text: &mut String, members: impl Iterator<Item = &'a TeamMember>) {
    for TeamMember {
        id,
        name,
        description,
    } in members
    {
        // Writing to a string does not fail.
        let _ = write!(text, "\n- `{id}` ({name}): {description}");
    }
}

fn output_schema() -> Value {
    let text = json!({"type": "string"});
    json!({
        "type": "object",
        "properties": {"responses": {
            "type": "array",
            "items": {
                "type": "object",
                "properties": {
                    "agentId": text,
                    "name": text,
                    "status": {"type": "string", "enum": ["pending", "complete", "error", "timeout"]},
                    "text": text,
                },
                "required": ["agentId", "name", "status", "text"],
                "additionalProperties": false,
            },
        }},
        "required": ["responses"],
        "additionalProperties": false,
    })
}
