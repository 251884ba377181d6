//! The tool `consult_specialist`, which gives a task and the conversation so far to one agent.

use serde_json::json;
use tool_contracts::ToolContract as _;
use tool_contracts::team::{ConsultSpecialist, SpecialistAnswer};
use tool_core::store::Role;
use tool_core::turn::{ModelMessage, Turns, UserMessage};
use tool_core::{
    DynamicTool, Effect, ErrorKind, History, HistoryMessage, HistoryRole, ToolContext, ToolError,
};

use super::ask::refuse_self;
use super::consult::{describe, task_schema};
use super::run::listed;
use super::runner::{AgentTask, TeamMember};
use super::tools::{CATEGORY, EFFECT, Team};

/// Maximum size of the history that an agent gets, in bytes of its texts.
const MOST_HISTORY: usize = 64 * 1024;

#[track_caller]
pub(super) fn tool(team: Team, members: &[&TeamMember]) -> DynamicTool {
    let ids: Vec<_> = members.iter().map(|member| &member.id).collect();
    let schema = json!({
        "type": "object",
        "properties": {
            "agentId": {"type": "string", "enum": ids, "description": "The id of the agent."},
            "task": task_schema("The task for the agent. The agent also reads this conversation."),
        },
        "required": ["agentId", "task"],
        "additionalProperties": false,
    });
    let mut description =
        "Gives a task and this conversation to one agent, and returns its answer. The agents:"
            .to_owned();
    describe(&mut description, members.iter().copied());
    let timeout = team.timeout;
    let consult = move |arguments: ConsultSpecialist, cx: ToolContext| {
        let team = team.clone();
        async move { consult(&team, arguments, &cx).await }
    };
    let text = json!({"type": "string"});
    DynamicTool::new(ConsultSpecialist::NAME, description, schema, consult)
        .title("Consult a specialist")
        .category(CATEGORY)
        // The tool reads the conversation.
        .effect(EFFECT.union(Effect::READ))
        .output_schema(&json!({
            "type": "object",
            "properties": {"agentId": text, "text": text},
            "required": ["agentId", "text"],
            "additionalProperties": false,
        }))
        .timeout(timeout)
}

async fn consult(
    team: &Team,
    asked: ConsultSpecialist,
    cx: &ToolContext,
) -> Result<SpecialistAnswer, ToolError> {
    let ConsultSpecialist { agent_id, task } = asked;
    refuse_self(&agent_id, cx)?;
    // The schema has refused other ids, unless the host made the tool accept them.
    if !team.participants().any(|member| member.id == agent_id) {
        let known = listed(team.participants().map(|member| member.id.as_str()));
        let text = format!("the team has no agent `{agent_id}`: ask one of {known}");
        return Err(ToolError::of(ErrorKind::InvalidArguments, text));
    }
    let history = match &team.conversations {
        Some(turns) => of_thread(turns, cx).await?,
        None => of_context(cx),
    };
    let task = AgentTask::new(agent_id.as_str(), task).history(latest(history));
    let answer = team.runner.ask(task, cx).await?;
    for citation in answer.citations {
        cx.cite(citation);
    }
    Ok(SpecialistAnswer {
        agent_id,
        text: answer.text,
    })
}

/// Reads the texts of the user and of the model in the conversation of the call; none if the call has no conversation.
async fn of_thread(turns: &Turns, cx: &ToolContext) -> Result<Vec<HistoryMessage>, ToolError> {
    if cx.thread().is_none() {
        return Ok(Vec::new());
    }
    let mut history = Vec::new();
    for message in turns.messages(cx, None).await? {
        let (speaker, text) = match message.role {
            Role::User => {
                let said: UserMessage = serde_json::from_str(&message.content)?;
                (HistoryRole::User, said.to_text())
            }
            Role::Assistant => {
                let said: ModelMessage = serde_json::from_str(&message.content)?;
                (HistoryRole::Assistant, said.text)
            }
            Role::System | Role::Tool => continue,
        };
        if !text.is_empty() {
            history.push(HistoryMessage { speaker, text });
        }
    }
    Ok(history)
}

/// Returns the texts of the user and of the model that the host added to the context.
fn of_context(cx: &ToolContext) -> Vec<HistoryMessage> {
    let Ok(history) = cx.get::<History>() else {
        return Vec::new();
    };
    let said = history.recent(None, 0);
    said.filter(|message| message.speaker != HistoryRole::Tool)
        .cloned()
        .collect()
}

/// Returns the latest messages whose texts have at most [`MOST_HISTORY`] bytes in total.
fn latest(mut history: Vec<HistoryMessage>) -> Vec<HistoryMessage> {
    let mut size = 0;
    let fits = history.iter().rev().take_while(|message| {
        size += message.text.len();
        size <= MOST_HISTORY
    });
    let first = history.len() - fits.count();
    history.split_off(first)
}
