//! Sub-agents: their threads, their first messages and their results.

use std::collections::HashMap;
use std::fmt::{self, Display};
use std::sync::Arc;

use futures::future::BoxFuture;
use serde_json::{Value, json};
use tool_core::store::seal::NewVariableRequest;
use tool_core::store::{
    CallId, CallKey, CallPlace, ChildKind, ChildOpened, ChildRow, ChildState, NewMessage, Role,
    ThreadId, Timestamp, VariableRequest, VariableScope,
};
use tool_core::turn::{ClientResult, ModelMessage, UserMessage};
use tool_core::{Effect, FromContext, Rules, ToolContext, ToolError, VariableNeed};

use super::AgentRuntime;
use super::entry::{AgentEntry, Properties, Side, Subagent};
use super::prompt::{new_message, stored};
use super::result::{AgentResult, ResultAttachment, text_of};
use super::run::{Run, Standing};
use super::tools::{MESSAGE, thread_of};
use super::variables::{field, unavailable as no_variables};
use crate::files::{ThreadFiles, paths_in};

/// Maximum length of the display name of a sub-agent, in characters.
const MOST_NAME: usize = 120;

/// Maximum number of different paths in one text whose files are looked up and copied.
const MOST_PATHS: usize = 100;

/// The type of the message with the result of a sub-agent.
const REPORT: &str = "subagent_result";

/// The code of the error for variables that a sub-agent needs.
pub(super) const ENV_REQUIRED: &str = "subagent_env_required";

/// The arguments with which a prompt tool was called, for the instructions and the tools of the prompt: `arguments: &AgentArguments`.
#[derive(Clone, Debug)]
pub struct AgentArguments(pub(super) Arc<Value>);

impl AgentArguments {
    /// Returns the arguments, which match the schema of the agent.
    pub fn get(&self) -> &Value {
        &self.0
    }
}

impl FromContext for AgentArguments {
    const EFFECT: Effect = Effect::READ;

    fn from_context(cx: &ToolContext) -> Result<Self, ToolError> {
        cx.extension()
            .ok_or_else(|| ToolError::unavailable("the arguments of the agent"))
    }
}

pub(super) fn unavailable(error: impl Display) -> ToolError {
    ToolError::unavailable("the store of child threads").operator(error.to_string())
}

/// Returns the key of the running call. A repeated call has the same key.
pub(super) fn key_of(cx: &ToolContext) -> Result<CallKey, ToolError> {
    cx.idempotency_key().ok_or_else(|| {
        ToolError::unavailable("the identity of the call")
            .operator("tools that run agents need a gate, such as the gate of the runtime")
    })
}

/// Returns the first message of an agent: the value of a property, or the arguments as JSON.
pub(super) fn first_message(
    arguments: &Value,
    properties: &Properties,
    entry: &AgentEntry,
) -> String {
    let default = entry.arguments.is_none().then_some(MESSAGE);
    let property = properties.message.as_deref().or(default);
    let value = property.and_then(|property| arguments.get(property));
    match value.filter(|value| !value.is_null()).map(text_of) {
        Some(text) if !text.trim().is_empty() => text,
        _ => arguments.to_string(),
    }
}

/// Returns the paths of files in the arguments: one path, or a list of paths.
pub(super) fn paths_of(arguments: &Value, properties: &Properties) -> Vec<String> {
    let property = properties.attachments.as_deref();
    match property.and_then(|property| arguments.get(property)) {
        Some(Value::String(path)) => vec![path.clone()],
        Some(Value::Array(paths)) => paths
            .iter()
            .filter_map(|path| Some(path.as_str()?.to_owned()))
            .collect(),
        _ => Vec::new(),
    }
}

/// Adds a line to a message for each file that the message does not name.
pub(super) fn with_paths(mut message: String, paths: &[String]) -> String {
    for path in paths {
        let is_named = paths_in(&message).any(|(_, named)| named == path);
        if !is_named {
            message.push_str("\nattachment: ");
            message.push_str(path);
        }
    }
    message
}

/// Returns the display name of a sub-agent: with single spaces, cut to 120 characters.
pub(super) fn display_name(name: &str) -> Option<String> {
    let name = name.split_whitespace().collect::<Vec<_>>().join(" ");
    let name: String = name.chars().take(MOST_NAME).collect();
    (!name.is_empty()).then_some(name)
}

/// Returns a text as a message for a thread.
pub(super) fn message_of(
    thread: &ThreadId,
    role: Role,
    text: &str,
    at: Timestamp,
) -> Result<NewMessage, ToolError> {
    let content = match role {
        Role::Assistant => {
            serde_json::to_string(&ModelMessage::text(text)).map_err(ToolError::foreign)?
        }
        _ => stored(&UserMessage::from(text))?,
    };
    Ok(new_message(thread, role, content, at))
}

pub(super) fn user_message(
    thread: &ThreadId,
    text: &str,
    at: Timestamp,
) -> Result<NewMessage, ToolError> {
    message_of(thread, Role::User, text, at)
}

/// Returns the text of a message to the parent that reports the result of a session, or a message of a tool of the sub-agent.
pub(super) fn report(row: &ChildRow, result: &AgentResult) -> String {
    let mut report = json!({"type": REPORT, "agent": row.agent, "name": row.name});
    if let (Some(report), Ok(Value::Object(result))) =
        (report.as_object_mut(), serde_json::to_value(result))
    {
        report.extend(result);
    }
    report.to_string()
}

/// Returns whether the content of a user's message is the result of a sub-agent.
pub(super) fn is_report(content: &str) -> bool {
    #[derive(serde::Deserialize)]
    struct Report {
        r#type: String,
    }
    let text: Option<String> = serde_json::from_str(content).ok();
    let report = text.and_then(|text| serde_json::from_str::<Report>(&text).ok());
    report.is_some_and(|report| report.r#type == REPORT)
}

/// Returns the role that a message of the parent has in the thread of a sub-agent.
pub(super) fn role_of(side: Side) -> Role {
    match side {
        Side::A => Role::User,
        Side::B => Role::Assistant,
    }
}

/// Creates the run of a child thread.
pub(super) fn fresh_run(
    runtime: &AgentRuntime,
    base: ToolContext,
    row: ChildRow,
    agent: usize,
    above: Option<Rules>,
) -> Run {
    // Autonomous agents and prompts make no handoffs.
    let standing = Standing {
        current: agent,
        next: agent,
        handoffs: 0,
        activation: 0,
        has_open: false,
        has_spoken: false,
    };
    let thread = row.thread.clone();
    Run::new(
        runtime.clone(),
        base,
        thread,
        Some(row),
        above,
        agent,
        &standing,
    )
}

/// The parameters of the start of a sub-agent.
pub(super) struct Start {
    pub(super) target: usize,
    /// Identifies the start, so that a repeated start finds the thread.
    pub(super) key: String,
    pub(super) call: Option<CallPlace>,
    /// Whether the call waits for the outcome.
    pub(super) waits: bool,
    pub(super) message: String,
    pub(super) paths: Vec<String>,
    pub(super) name: Option<String>,
    pub(super) resumable: bool,
    pub(super) side: Side,
    pub(super) most: Option<u32>,
}

/// The result of the start of a sub-agent.
pub(super) enum Opened {
    /// The thread exists. The paths name files that were not copied.
    Child(Box<ChildRow>, Vec<String>),
    /// The thread waits for variables.
    Deferred(Box<AgentResult>),
    /// The limit on instances is reached.
    Full(Vec<ChildRow>),
}

impl AgentRuntime {
    /// Runs an agent in its own thread, for a tool that is not resumable.
    pub(super) async fn subagent(
        &self,
        run: &Arc<Run>,
        tool: &Subagent,
        target: usize,
        arguments: Value,
        cx: &ToolContext,
    ) -> Result<AgentResult, ToolError> {
        let properties = &tool.properties;
        let name = properties.name.as_ref();
        let name = name.and_then(|name| Some(text_of(arguments.get(name)?)));
        let start = Start {
            target,
            key: key_of(cx)?.as_str().to_owned(),
            call: cx.identity().and_then(CallId::place),
            waits: tool.blocking,
            message: first_message(&arguments, properties, self.entry(target)),
            paths: paths_of(&arguments, properties),
            name: name.and_then(|name| display_name(&name)),
            resumable: false,
            side: Side::A,
            most: None,
        };
        match self.open(run, start).await? {
            Opened::Child(row, skipped) => {
                let mut result = self.begun(run, tool.blocking, *row, cx).await?;
                result.skip(skipped);
                Ok(result)
            }
            Opened::Deferred(result) => Ok(*result),
            Opened::Full(_) => Err(ToolError::unavailable("the agent")),
        }
    }

    /// Waits for the session of a child, or returns its reference at once.
    pub(super) async fn begun(
        &self,
        run: &Arc<Run>,
        blocking: bool,
        row: ChildRow,
        cx: &ToolContext,
    ) -> Result<AgentResult, ToolError> {
        if blocking {
            return match self.session(run, &row.thread).await {
                Ok(result) => Ok(result),
                Err(pause) => Err(pause.into_error(cx)),
            };
        }
        let mut result = AgentResult::success(
            "The agent has started. Its result is delivered as a message when it has finished.",
        );
        result.subagent_id = Some(row.thread.conversation().to_owned());
        self.session_in_background(run, row.thread);
        Ok(result)
    }

    /// Stores the thread of a sub-agent with its first message.
    pub(super) async fn open(&self, run: &Arc<Run>, start: Start) -> Result<Opened, ToolError> {
        let store = self.store()?;
        let thread = thread_of(&run.thread, "sub", &start.key)?;
        if let Some(row) = store.child(&thread).await.map_err(unavailable)? {
            return self.opened(run, row, Vec::new()).await;
        }
        let (caller, target) = (self.entry(run.current()), self.entry(start.target));
        caller
            .spawn
            .check(caller.name(), target.name(), run.depth)?;
        // A prompt may start an agent only if each agent that runs the prompt, directly or through other prompts, may also start it.
        for prompted_by in &run.prompted_by {
            let above = self.entry(*prompted_by);
            above.spawn.check(above.name(), target.name(), run.depth)?;
        }
        let (message, skipped) = self
            .pass_files(&run.home, &thread, start.message, &start.paths)
            .await?;
        let missing = self
            .missing_scoped(&run.base, start.target, &thread)
            .await?;

        let now = Timestamp::now();
        let mut row = ChildRow::new(
            thread.clone(),
            run.thread.clone(),
            ChildKind::Subagent,
            target.name(),
            now,
        );
        row.caller = caller.name().to_owned();
        row.call = start.call;
        row.waits = start.waits;
        row.name = start.name;
        row.depth = run.depth + 1;
        row.resumable = start.resumable;
        let message = message_of(&thread, role_of(start.side), &message, now)?;
        if !missing.is_empty() {
            row.state = ChildState::Deferred;
            row.request = Some(self.request(run, &row, &missing).await?);
        }
        let request = row.request.clone();
        let opened = store.open_child(row, start.most, vec![message]).await;
        let opened = opened.map_err(unavailable)?;
        if !matches!(opened, ChildOpened::New(_))
            && let (Some(vault), Some(request)) = (&self.0.vault, &request)
        {
            let withdrawn = vault
                .store()
                .withdraw_request(thread.workspace(), request)
                .await;
            withdrawn.map_err(unavailable)?;
        }
        match opened {
            ChildOpened::New(row) | ChildOpened::Known(row) => {
                self.opened(run, *row, skipped).await
            }
            ChildOpened::Full(rows) => Ok(Opened::Full(rows)),
        }
    }

    async fn opened(
        &self,
        run: &Run,
        row: ChildRow,
        skipped: Vec<String>,
    ) -> Result<Opened, ToolError> {
        if row.state != ChildState::Deferred {
            return Ok(Opened::Child(Box::new(row), skipped));
        }
        let (Some(id), Some(vault)) = (&row.request, &self.0.vault) else {
            return Err(ToolError::unavailable("the variables of the agent"));
        };
        let request = vault.store().request(row.workspace(), id).await;
        match request.map_err(unavailable)? {
            Some(request) => {
                let result = self.env_required(run, &row, &request);
                Ok(Opened::Deferred(Box::new(result)))
            }
            // The user has supplied the values in the meantime.
            None => match self.release(&row).await? {
                Some(row) => Ok(Opened::Child(Box::new(row), skipped)),
                None => Err(ToolError::unavailable("the agent")),
            },
        }
    }

    /// Stores a request for the variables of a deferred child.
    async fn request(
        &self,
        run: &Run,
        row: &ChildRow,
        missing: &[VariableNeed],
    ) -> Result<String, ToolError> {
        let Some(vault) = &self.0.vault else {
            return Err(ToolError::variables_required(missing.to_vec()));
        };
        let request = NewVariableRequest {
            // The request belongs to the thread of a user, even if a prompt starts the sub-agent.
            thread: run.home.clone(),
            agent: row.agent.clone(),
            target: VariableScope::thread(&row.thread),
            required: missing.iter().map(field).collect(),
        };
        vault.request_variables(request).await.map_err(no_variables)
    }

    /// Returns the error result for a child that waits for variables. The result contains no values.
    fn env_required(&self, run: &Run, row: &ChildRow, request: &VariableRequest) -> AgentResult {
        let endpoint = self
            .0
            .endpoint
            .replace("{thread}", run.home.conversation())
            .replace("{request}", &request.id);
        let required = serde_json::to_value(&request.required).unwrap_or_default();
        let data = json!({
            "request_id": request.id,
            "endpoint": endpoint,
            "required": required,
            "missing": request.missing,
            "agent": row.agent,
        });
        let text = format!(
            "the agent `{}` starts when the user has supplied: {}",
            row.agent,
            request.missing.join(", ")
        );
        let mut result = AgentResult::error(text).code(ENV_REQUIRED, Some(data));
        result.subagent_id = Some(row.thread.conversation().to_owned());
        result
    }

    /// Stores the error results of calls of client tools: a child thread has no client.
    pub(super) async fn supply(
        &self,
        run: &Arc<Run>,
        results: Vec<ClientResult>,
    ) -> Result<(), ToolError> {
        let tools = run.tools(&run.base);
        let supplied = self.0.turns.supply(&tools, results, &run.base).await;
        supplied.map(drop).map_err(unavailable)
    }

    /// Splits paths into the paths that exist in a thread, and the other paths.
    pub(super) async fn existing(
        &self,
        thread: &ThreadId,
        paths: Vec<String>,
    ) -> Result<(Vec<String>, Vec<String>), ToolError> {
        let files = self.files(thread);
        let (mut known, mut skipped) = (Vec::new(), Vec::new());
        for path in paths {
            let exists = match &files {
                Some(files) => files.exists(&path).await?,
                None => false,
            };
            if exists { &mut known } else { &mut skipped }.push(path);
        }
        Ok((known, skipped))
    }

    /// Copies the files of a message from one thread to another, and returns the message with the paths of the copies, and the paths whose files were
    /// not copied. Without an object store, the message is not changed and no file is copied.
    ///
    /// Replaces a path in the message with `[missing file]` if the file was not copied: in the other thread, the path could name a different file.
    pub(super) async fn pass_files(
        &self,
        from: &ThreadId,
        to: &ThreadId,
        message: String,
        paths: &[String],
    ) -> Result<(String, Vec<String>), ToolError> {
        let (Some(from), Some(to)) = (self.files(from), self.files(to)) else {
            return Ok((message, paths.to_vec()));
        };
        let (message, mut skipped) = copied(&from, &to, message).await?;
        let mut copies = Vec::new();
        for path in paths {
            match from.copy_to(path, &to).await? {
                Some(copy) => copies.push(copy),
                None if skipped.contains(path) => {}
                None => skipped.push(path.clone()),
            }
        }
        Ok((with_paths(message, &copies), skipped))
    }

    /// Copies the files of a result from the thread of a child to the thread of its parent, and replaces the paths in the result with the paths of
    /// the copies. An attachment that does not exist is skipped.
    pub(super) async fn pass_result(
        &self,
        from: &ThreadId,
        parent: &Run,
        mut result: AgentResult,
    ) -> Result<AgentResult, ToolError> {
        let (Some(from), Some(to)) = (self.files(from), self.files(&parent.home)) else {
            // Without an object store, no file can be stored.
            let files = std::mem::take(&mut result.attachments).into_iter();
            result
                .skipped_attachments
                .extend(files.map(|file| match file {
                    ResultAttachment::New { name, .. } => name,
                    ResultAttachment::Path(path) => path,
                }));
            return Ok(result);
        };
        let attachments = std::mem::take(&mut result.attachments);
        let mut all = serde_json::to_value(&result).map_err(ToolError::foreign)?;
        copy_in_value(&from, &to, &mut all).await?;
        result = serde_json::from_value(all).map_err(ToolError::foreign)?;
        let mut passed: Vec<ResultAttachment> = Vec::new();
        for attachment in attachments {
            let path = match attachment {
                ResultAttachment::Path(path) => {
                    let copy = from.copy_to(&path, &to).await?;
                    if copy.is_none() {
                        result.skipped_attachments.push(path);
                    }
                    copy
                }
                ResultAttachment::New { name, data, .. } => {
                    let bytes =
                        base64::Engine::decode(&base64::engine::general_purpose::STANDARD, data);
                    let bytes = bytes.map_err(|error| {
                        ToolError::new("a file of the agent is not valid base64")
                            .operator(error.to_string())
                    })?;
                    Some(to.write(&name, bytes).await?)
                }
            };
            passed.extend(path.map(ResultAttachment::Path));
        }
        result.attachments = passed;
        Ok(result)
    }
}

/// Copies the files that a text names, and returns the text with the paths of the copies, and the paths whose files were not copied.
async fn copied(
    from: &ThreadFiles,
    to: &ThreadFiles,
    text: String,
) -> Result<(String, Vec<String>), ToolError> {
    let mut copies: HashMap<&str, Option<String>> = HashMap::new();
    let (mut new, mut skipped, mut end) = (String::new(), Vec::new(), 0);
    for (at, path) in paths_in(&text) {
        if !copies.contains_key(path) {
            // The number of paths is limited, because each path costs a request to the object store.
            let copy = if copies.len() < MOST_PATHS {
                from.copy_to(path, to).await?
            } else {
                None
            };
            if copy.is_none() {
                skipped.push(path.to_owned());
            }
            copies.insert(path, copy);
        }
        new.push_str(&text[end..at]);
        let copy = copies.get(path).and_then(Option::as_deref);
        new.push_str(copy.unwrap_or("[missing file]"));
        end = at + path.len();
    }
    new.push_str(&text[end..]);
    Ok((new, skipped))
}

/// Copies the files whose paths are in the texts of a value, and replaces the paths with the paths of the copies.
fn copy_in_value<'a>(
    from: &'a ThreadFiles,
    to: &'a ThreadFiles,
    value: &'a mut Value,
) -> BoxFuture<'a, Result<(), ToolError>> {
    // The future is boxed, because the function calls itself.
    Box::pin(async move {
        match value {
            Value::String(text) => {
                if paths_in(text).next().is_some() {
                    *text = copied(from, to, std::mem::take(text)).await?.0;
                }
            }
            Value::Array(items) => {
                for item in items {
                    copy_in_value(from, to, item).await?;
                }
            }
            Value::Object(fields) => {
                for field in fields.values_mut() {
                    copy_in_value(from, to, field).await?;
                }
            }
            Value::Null | Value::Bool(_) | Value::Number(_) => {}
        }
        Ok(())
    })
}

impl fmt::Debug for Start {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Start")
            .field("key", &self.key)
            .finish_non_exhaustive()
    }
}
