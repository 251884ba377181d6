//! The tool `research_topic`, which gives a topic to an agent that does research.

use std::time::Duration;

use serde::Serialize;
use serde_json::json;
use tool_contracts::ToolContract as _;
use tool_contracts::team::{ResearchDepth, ResearchTopic};
use tool_core::{Citation, DynamicTool, ToolContext, ToolError};

use super::ask::refuse_self;
use super::consult::task_schema;
use super::runner::AgentTask;
use super::tools::{CATEGORY, EFFECT, Team};

/// Default timeout of the tool.
const PATIENCE: Duration = Duration::from_mins(5);

/// Returns the sentences that explain the depth to the researcher.
fn instructions(depth: ResearchDepth) -> &'static str {
    match depth {
        ResearchDepth::Quick => {
            "Depth: quick. Use a few good sources, and answer in one or two paragraphs."
        }
        ResearchDepth::Deep => {
            "Depth: deep. Compare several independent sources, state where they disagree, and answer in detail."
        }
    }
}

#[derive(Serialize)]
struct Findings {
    summary: String,
    citations: Vec<Citation>,
}

#[track_caller]
pub(super) fn tool(team: Team, researcher: String) -> DynamicTool {
    let schema = json!({
        "type": "object",
        "properties": {
            "topic": task_schema("The topic or the question, with everything that the researcher has to know."),
            "depth": {
                "type": "string",
                "enum": ["quick", "deep"],
                "description": "`quick` for a short answer from a few sources, `deep` for a comparison of several sources.",
            },
        },
        "required": ["topic", "depth"],
        "additionalProperties": false,
    });
    let research = move |arguments: ResearchTopic, cx: ToolContext| {
        let (team, researcher) = (team.clone(), researcher.clone());
        async move { research(&team, &researcher, arguments, &cx).await }
    };
    DynamicTool::new(
        ResearchTopic::NAME,
        "Gives a topic to an agent that does research, and returns a summary with its sources.",
        schema,
        research,
    )
    .title("Research a topic")
    .category(CATEGORY)
    .effect(EFFECT)
    .output_schema(&output_schema())
    .timeout(PATIENCE)
}

async fn research(
    team: &Team,
    researcher: &str,
    ResearchTopic { topic, depth }: ResearchTopic,
    cx: &ToolContext,
) -> Result<Findings, ToolError> {
    refuse_self(researcher, cx)?;
    let task = format!("Research this topic:\n{topic}\n\n{}", instructions(depth));
    let answer = team
        .runner
        .ask(AgentTask::new(researcher, task), cx)
        .await?;
    for citation in &answer.citations {
        cx.cite(citation.clone());
    }
    Ok(Findings {
        summary: answer.text,
        citations: answer.citations,
    })
}

fn output_schema() -> serde_json::Value {
    let text = json!({"type": "string"});
    json!({
        "type": "object",
        "properties": {
            "summary": text,
            "citations": {
                "type": "array",
                "items": {
                    "type": "object",
                    "properties": {"source": text, "sourceId": text, "version": text, "retrievedAt": text},
                    "required": ["source", "sourceId", "retrievedAt"],
                    "additionalProperties": false,
                },
            },
        },
        "required": ["summary", "citations"],
        "additionalProperties": false,
    })
}
