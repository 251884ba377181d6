//! One run of an agent in its own conversation.

use std::fmt::Write as _;
use std::panic::AssertUnwindSafe;

use futures::future::FutureExt as _;
use tool_core::store::Role;
use tool_core::turn::{Outcome, ToolMessage, TurnError, Turns, UserMessage};
use tool_core::{Citation, ErrorKind, Ticket, ToolContext, ToolError};

use crate::agent::Agent;

/// A run that has ended.
pub(super) struct Ran {
    /// The answer; an error if there is none or if the results cannot be read.
    pub(super) answer: Result<String, ToolError>,
    /// The results of the agent's calls, in the order of the conversation; empty if they cannot be read.
    pub(super) results: Vec<ToolMessage>,
}

/// Runs an agent on a message. `cx` names a new conversation. `who` names the agent in errors, for example "the agent `law`".
pub(super) async fn run(
    agent: &Agent,
    message: UserMessage,
    who: &str,
    turns: &Turns,
    cx: &ToolContext,
) -> Ran {
    let answer = match agent.respond(message, turns, cx).await {
        Ok(Outcome::Waiting(tickets)) => {
            withdraw(agent, &tickets, cx).await;
            Err(waits(who, &tickets))
        }
        Ok(outcome) => answer(who, outcome),
        Err(error) => Err(failed(error)),
    };
    match results(turns, cx).await {
        Ok(results) => Ran { answer, results },
        Err(error) => Ran {
            // The error of the run itself explains more than the error of the read.
            answer: answer.and(Err(error)),
            results: Vec::new(),
        },
    }
}

/// Returns the citations of results, each version of a source once.
pub(super) fn citations(results: Vec<ToolMessage>) -> Vec<Citation> {
    let mut all: Vec<Citation> = Vec::new();
    for citation in results.into_iter().flat_map(|result| result.citations) {
        let is_same = |known: &Citation| {
            known.source() == citation.source()
                && known.source_id() == citation.source_id()
                && known.version_text() == citation.version_text()
        };
        if !all.iter().any(is_same) {
            all.push(citation);
        }
    }
    all
}

/// Reads the results of the calls in the conversation of a context.
async fn results(turns: &Turns, cx: &ToolContext) -> Result<Vec<ToolMessage>, ToolError> {
    let messages = turns.messages(cx, None).await.map_err(failed)?;
    let results = messages
        .iter()
        .filter(|message| message.role == Role::Tool)
        .map(|message| serde_json::from_str(&message.content));
    results.collect::<Result<_, _>>().map_err(|error| {
        ToolError::foreign(error).operator("a stored result of an agent cannot be read")
    })
}

/// Withdraws the approvals that the run requested, because no run would continue after a person has answered.
async fn withdraw(agent: &Agent, tickets: &[Ticket], cx: &ToolContext) {
    let tools = agent.tools(cx);
    let Some(approvals) = tools.gate().and_then(|gate| gate.approvals()) else {
        return;
    };
    for ticket in tickets {
        // If the store fails, the approval expires later, and an approved call is not run.
        let _ = approvals.withdraw(&ticket.id, cx).await;
    }
}

fn waits(who: &str, tickets: &[Ticket]) -> ToolError {
    let tools = listed(tickets.iter().map(|ticket| ticket.tool.as_str()));
    ToolError::new(format!(
        "{who} has no answer, because its call of {tools} needs the approval of a person, and an agent that was asked cannot wait for it; \
         the call was not made"
    ))
}

fn answer(who: &str, outcome: Outcome) -> Result<String, ToolError> {
    let (kind, why) = match outcome {
        Outcome::Answered(text) | Outcome::Replied(text) => return Ok(text),
        Outcome::Length(_) => (
            ErrorKind::Failed,
            "its answer reached the limit on tokens; ask for a shorter answer".to_owned(),
        ),
        Outcome::Filtered(_) => (
            ErrorKind::Failed,
            "its provider withheld the answer".to_owned(),
        ),
        Outcome::Guardrail(tripped) => (
            ErrorKind::Failed,
            format!("a guardrail ended its run: {}", tripped.text),
        ),
        Outcome::Cut(_) => (ErrorKind::Failed, "its answer is incomplete".to_owned()),
        Outcome::Waiting(tickets) => return Err(waits(who, &tickets)),
        Outcome::Client(calls) => {
            let tools = listed(calls.iter().map(|call| call.name.as_str()));
            let why = format!(
                "its call of {tools} has to be run by the client, which an agent that was asked cannot reach"
            );
            (ErrorKind::Failed, why)
        }
        Outcome::Lacking(needs) => {
            let names = listed(needs.iter().map(|need| &*need.name));
            let why = format!("its calls need variables that have no value: {names}");
            (ErrorKind::Failed, why)
        }
        Outcome::StepLimit => (
            ErrorKind::Failed,
            "it reached its limit on steps before it answered; ask for a smaller task".to_owned(),
        ),
        Outcome::Budget => (
            ErrorKind::Failed,
            "it reached its limit on tokens or on cost before it answered; ask for a smaller task"
                .to_owned(),
        ),
        Outcome::TimeLimit => (
            ErrorKind::TimedOut,
            "it reached its limit on time before it answered; ask for a smaller task".to_owned(),
        ),
        Outcome::SharedBudget(_) => (
            ErrorKind::Failed,
            "the budget that the agents share was used up before it answered".to_owned(),
        ),
        Outcome::Cancelled | Outcome::Interrupted => {
            (ErrorKind::Cancelled, "its run was cancelled".to_owned())
        }
        Outcome::Deadline => (ErrorKind::TimedOut, "its deadline passed".to_owned()),
        Outcome::Draining => (
            ErrorKind::Unavailable,
            "the host is shutting down".to_owned(),
        ),
        Outcome::Unsettled(_) => (
            ErrorKind::Interrupted,
            "the result of one of its calls is unknown".to_owned(),
        ),
        Outcome::Busy(_) => (
            ErrorKind::Interrupted,
            "its conversation is run elsewhere at the moment; ask again later".to_owned(),
        ),
    };
    Err(ToolError::of(kind, format!("{who} has no answer: {why}")))
}

fn failed(error: TurnError) -> ToolError {
    match error {
        TurnError::Model(error) => error,
        TurnError::Message(error) => {
            ToolError::of(ErrorKind::InvalidArguments, format!("the task: {error}"))
        }
        error @ TurnError::PauseLimit { .. } => {
            ToolError::new("the provider of its model paused too often").operator(error.to_string())
        }
        error => ToolError::foreign(error),
    }
}

/// Runs a future of the host or of a model. A panic is an error, whose text for operators is the text of the panic.
pub(super) async fn caught<T>(
    who: &str,
    run: impl Future<Output = Result<T, ToolError>>,
) -> Result<T, ToolError> {
    let ended = AssertUnwindSafe(run).catch_unwind().await;
    ended.unwrap_or_else(|payload| {
        let error = ToolError::of(ErrorKind::Panicked, format!("{who} failed"));
        let text = payload.downcast_ref::<String>().map(String::as_str);
        let text = text.or_else(|| payload.downcast_ref::<&str>().copied());
        Err(error.operator(text.unwrap_or("the panic has no text")))
    })
}

/// Returns the names in back quotes, each once.
pub(super) fn listed<'a>(names: impl Iterator<Item = &'a str>) -> String {
    let (mut text, mut seen) = (String::new(), Vec::new());
    for name in names {
        if !seen.contains(&name) {
            let comma = if seen.is_empty() { "" } else { ", " };
            // Writing to a string does not fail.
            let _ = write!(text, "{comma}`{name}`");
            seen.push(name);
        }
    }
    text
}
