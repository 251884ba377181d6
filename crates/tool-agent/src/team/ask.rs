//! The tool `ask_<agent>`, which gives a prompt to one agent.

use std::sync::Arc;

use tool_core::{AgentTool, DynamicTool, ToolContext, ToolError};

use super::runner::{AgentRunner, AgentTask, TeamMember};

#[track_caller]
pub(super) fn tool(runner: Arc<dyn AgentRunner>, member: &TeamMember) -> DynamicTool {
    let id = member.id.clone();
    let ask = move |prompt: String, cx: ToolContext| {
        let (runner, id) = (Arc::clone(&runner), id.clone());
        async move {
            refuse_self(&id, &cx)?;
            let answer = runner.ask(AgentTask::new(id, prompt), &cx).await?;
            for citation in answer.citations {
                cx.cite(citation);
            }
            Ok(answer.text)
        }
    };
    AgentTool::tool(&member.id, member.description.clone(), ask)
}

/// Refuses the call of an agent that would ask itself.
pub(super) fn refuse_self(id: &str, cx: &ToolContext) -> Result<(), ToolError> {
    if cx.agent() == Some(id) {
        let text = format!(
            "the agent `{id}` cannot ask itself: answer the task, or ask a different agent"
        );
        return Err(ToolError::of(tool_core::ErrorKind::Denied, text));
    }
    Ok(())
}
