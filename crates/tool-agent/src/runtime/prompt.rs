//! Prompt tools: agents that run within a call.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use serde_json::Value;
use tool_core::store::{
    CallId, ChildKind, ChildOpened, ChildRow, ChildState, EndedSession, Message, NewMessage, Role,
    StoreError, Timestamp,
};
use tool_core::turn::{ModelMessage, ToolMessage, UserMessage};
use tool_core::{ErrorKind, ToolContext, ToolError};

use super::AgentRuntime;
use super::child::{self, AgentArguments};
use super::entry::{AgentEntry, PromptTool};
use super::event::AgentEventKind;
use super::outcome::{self, Ended};
use super::parent::ParentThread;
use super::result::{AgentResult, FAILED, ResultCall};
use super::resumable;
use super::run::Run;
use super::tools::thread_of;

/// Maximum depth of a prompt. A prompt has the depth of the calling thread plus 1, and a conversation has the depth 0.
const MOST_NESTED: u32 = 8;

/// Interval between attempts to drive a thread that another process drives.
pub(super) const BUSY: Duration = Duration::from_millis(100);

impl AgentRuntime {
    /// Runs an agent within a call.
    pub(super) async fn prompt(
        &self,
        run: &Arc<Run>,
        tool: &PromptTool,
        target: usize,
        arguments: Value,
        cx: &ToolContext,
    ) -> Result<AgentResult, ToolError> {
        let above = run.row.as_ref().map_or(0, |row| row.depth);
        if above >= MOST_NESTED {
            return Err(ToolError::of(
                ErrorKind::Denied,
                format!("agents call each other {MOST_NESTED} deep, which is the limit"),
            ));
        }
        let entry = self.entry(target);
        let key = child::key_of(cx)?;
        let thread = thread_of(&run.thread, "prompt", key.as_str())?;
        let (message, skipped) = {
            let message = child::first_message(&arguments, &tool.properties, entry);
            let paths = child::paths_of(&arguments, &tool.properties);
            let (paths, skipped) = self.existing(&run.home, paths).await?;
            (child::with_paths(message, &paths), skipped)
        };
        let now = Timestamp::now();
        let mut row = ChildRow::new(
            thread.clone(),
            run.thread.clone(),
            ChildKind::Prompt,
            entry.name(),
            now,
        );
        row.call = cx.identity().and_then(CallId::place);
        row.waits = true;
        row.caller = self.entry(run.current()).name().to_owned();
        row.depth = above + 1;
        let first = child::user_message(&thread, &message, now)?;
        let store = self.store()?;
        let opened = store.open_child(row, None, vec![first]).await;
        let row = match opened.map_err(child::unavailable)? {
            ChildOpened::New(row) | ChildOpened::Known(row) => *row,
            ChildOpened::Full(_) => return Err(ToolError::unavailable("the agent")),
        };

        // The prompt shares the thread of the call: its variables, its files and its depth.
        let base = run
            .base
            .derive()
            .conversation(thread.conversation())
            .agent(entry.name())
            .without::<ParentThread>()
            .with(AgentArguments(Arc::new(arguments)))
            .build();
        let caller = run.current();
        let above = Some(run.rules(caller));
        let mut inner = child::fresh_run(self, base, row.clone(), target, above);
        inner.home = run.home.clone();
        inner.depth = run.depth;
        inner.is_below = run.is_below;
        inner.prompted_by.clone_from(&run.prompted_by);
        inner.prompted_by.push(caller);
        let inner = Arc::new(inner);
        self.adopt_below(&inner).await?;
        run.emit_of_child(AgentEventKind::ChildStarted {
            child: thread.conversation().to_owned(),
            child_agent: entry.name().to_owned(),
            name: None,
        })
        .await;
        let outcome = loop {
            match outcome::ended(self.driven_apart(&inner).await?) {
                Ended::Answered(text) => break Ok(text),
                Ended::Failed(why) => break Err(why),
                Ended::Paused(pause) => return Err(pause.into_error(cx)),
                Ended::Client(results) => self.supply(&inner, results).await?,
                Ended::Busy => tokio::time::sleep(BUSY).await,
            }
        };
        let messages = self.0.turns.messages(&inner.base, None).await;
        let messages = messages.map_err(ToolError::foreign)?;
        if let Err(error) = self.end_prompt(&row).await {
            // The answer is not lost: the next drive of the conversation ends the row.
            tracing::warn!(%error, thread = %row.thread, "the end of a prompt could not be stored");
        }
        let mut result = result_of(tool, outcome, calls_in(&messages, entry));
        run.emit_of_child(AgentEventKind::ChildEnded {
            child: thread.conversation().to_owned(),
            failed: result.is_error(),
        })
        .await;
        result.skip(skipped);
        Ok(result)
    }

    /// Stores the end of a prompt whose call has ended.
    pub(super) async fn end_prompt(&self, row: &ChildRow) -> Result<(), ToolError> {
        let store = self.store()?;
        let end = || EndedSession {
            session: row.session,
            state: ChildState::Terminated,
            read: None,
            message: None,
            at: Timestamp::now(),
        };
        let ended = match store.end_session(&row.thread, end()).await {
            Err(StoreError::Unavailable(_)) => store.end_session(&row.thread, end()).await,
            ended => ended,
        };
        ended.map(drop).map_err(child::unavailable)
    }
}

/// Builds the result of a prompt tool.
fn result_of(
    tool: &PromptTool,
    outcome: Result<String, String>,
    mut calls: Vec<ResultCall>,
) -> AgentResult {
    let mut failures: Vec<String> = calls
        .iter()
        .filter_map(|call| Some(format!("{}: {}", call.name, call.error.as_ref()?)))
        .collect();
    let text = match outcome {
        Ok(text) => text,
        Err(why) => {
            failures.push(why);
            String::new()
        }
    };
    let mut result = if failures.is_empty() {
        AgentResult::success(if tool.text { text } else { String::new() })
    } else if tool.errors {
        let mut result = AgentResult::error(failures.join("\n"));
        result.result = (tool.text && !text.trim().is_empty()).then_some(text);
        result
    } else {
        let mut result = AgentResult::error(FAILED);
        result.result = (tool.text && !text.trim().is_empty()).then_some(text);
        result
    };
    if tool.calls {
        if !tool.errors {
            for call in calls.iter_mut().filter(|call| call.error.is_some()) {
                call.error = Some(FAILED.to_owned());
            }
        }
        result.tool_calls = calls;
    }
    result
}

/// Returns the error of a call, or the error of the agent that the call ran; `None` if both succeeded.
fn error_of(result: &ToolMessage, entry: &AgentEntry) -> Option<String> {
    if result.is_error() {
        return Some(result.text.clone());
    }
    let prompts = entry.prompts.iter().map(|tool| &tool.agent);
    let mut agents = prompts.chain(entry.subagents.iter().map(|tool| &tool.agent));
    let runs_agent =
        resumable::NAMES.contains(&&*result.name) || agents.any(|agent| *agent == result.name);
    let output = result.output.as_ref().filter(|_| runs_agent)?;
    let own: AgentResult = serde_json::from_str(output.get()).ok()?;
    own.is_error()
        .then(|| own.error.unwrap_or_else(|| FAILED.to_owned()))
}

/// Returns the calls in the messages of a thread of an agent, with their results.
fn calls_in(messages: &[Message], entry: &AgentEntry) -> Vec<ResultCall> {
    let results: HashMap<(u64, u32), ToolMessage> = messages
        .iter()
        .filter_map(|message| {
            let place = message.answers?;
            let result = serde_json::from_str(&message.content).ok()?;
            Some(((place.message, place.position), result))
        })
        .collect();
    let mut calls = Vec::new();
    for message in messages
        .iter()
        .filter(|message| message.role == Role::Assistant)
    {
        let Ok(said) = serde_json::from_str::<ModelMessage>(&message.content) else {
            continue;
        };
        for (call, position) in said.calls.into_iter().zip(0..) {
            let result = results.get(&(message.seq, position));
            let error = match result {
                Some(result) => error_of(result, entry),
                None => Some("it was not run".to_owned()),
            };
            calls.push(ResultCall {
                name: call.name,
                arguments: call.arguments,
                result: result
                    .filter(|_| error.is_none())
                    .map(|result| result.text.clone()),
                error,
            });
        }
    }
    calls
}

/// Returns the JSON text with which a thread stores a message of a user.
pub(super) fn stored(message: &UserMessage) -> Result<String, ToolError> {
    message.check().map_err(ToolError::shown)?;
    serde_json::to_string(message).map_err(ToolError::foreign)
}

/// Returns a new message for a thread.
pub(super) fn new_message(
    thread: &tool_core::store::ThreadId,
    role: Role,
    content: String,
    at: Timestamp,
) -> NewMessage {
    NewMessage {
        thread: thread.clone(),
        role,
        answers: None,
        follows: None,
        content,
        at,
    }
}
