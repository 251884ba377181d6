//! The second part of a transcript file: the transcript as text.

use std::collections::HashMap;
use std::fmt::Write as _;
use std::sync::{Arc, Mutex};

use serde_json::Value;
use tool_agent::runtime::{AgentEvent, AgentEventKind, RuntimeError};
use tool_core::Dialect;
use tool_core::store::{ChildRow, Message, Role, ThreadId, VariableFilter, Workspace};
use tool_core::turn::{ModelMessage, ModelRequest, Outcome, ToolMessage, UserMessage};

use crate::stage::Stage;
use crate::tools::is_known;

/// The events and the requests of a conversation, in order.
#[derive(Clone, Default)]
pub(crate) struct Journal(Arc<Mutex<Written>>);

#[derive(Default)]
struct Written {
    text: String,
    /// The messages of the last request of each thread and agent.
    requests: HashMap<(String, String), Vec<String>>,
    /// The pieces of a text that are not written yet, with the beginning of their line.
    pieces: Option<(String, String)>,
    /// The definitions of the tools that the runtime added to requests.
    definitions: Vec<String>,
}

impl Written {
    fn line(&mut self, line: &str) {
        if let Some((begin, pieces)) = self.pieces.take() {
            let _ = writeln!(self.text, "{begin} {pieces}");
        }
        let _ = writeln!(self.text, "{line}");
    }

    /// Adds a piece to a line, or begins a new line.
    fn piece(&mut self, begin: String, piece: &str) {
        match &mut self.pieces {
            Some((open, pieces)) if *open == begin => {
                pieces.push('|');
                pieces.push_str(piece);
            }
            _ => {
                if let Some((begin, pieces)) = self.pieces.take() {
                    let _ = writeln!(self.text, "{begin} {pieces}");
                }
                self.pieces = Some((begin, piece.to_owned()));
            }
        }
    }
}

impl Journal {
    pub(crate) fn line(&self, line: &str) {
        self.0.lock().unwrap().line(line);
    }

    pub(crate) fn step(&self, step: &str) {
        self.line(&format!("\n== {step}"));
    }

    /// Returns the text so far.
    pub(crate) fn raw(&self) -> String {
        self.0.lock().unwrap().text.clone()
    }

    /// Returns the definitions of the tools that the runtime added to requests.
    fn definitions(&self) -> Vec<String> {
        self.0.lock().unwrap().definitions.clone()
    }

    /// Writes a request: the names of its tools, and the messages that were not in the last request of the thread.
    pub(crate) fn request(&self, agent: &str, request: &ModelRequest<'_>) {
        let thread = request.cx.thread().unwrap();
        let key = (thread.conversation().to_owned(), agent.to_owned());
        let messages: Vec<String> = request.messages.iter().map(read_by_model).collect();
        let mut tools: Vec<&str> = request.tools.names().collect();
        tools.sort_unstable();
        let mut written = self.0.lock().unwrap();
        written.line(&format!(
            "{} {agent} REQUEST with the tools [{}]",
            thread.conversation(),
            tools.join(", ")
        ));
        let earlier = written.requests.get(&key).map_or(0, |earlier| {
            let is_longer = messages.len() >= earlier.len();
            if is_longer && messages[..earlier.len()] == earlier[..] {
                earlier.len()
            } else {
                0
            }
        });
        if earlier > 0 {
            written.line(&format!("    the {earlier} messages of the last request"));
        }
        for message in &messages[earlier..] {
            written.line(&format!("    {}", indented(message, 6)));
        }
        written.requests.insert(key, messages);
        let definitions = request.tools.definitions(Dialect::JsonSchema);
        let definitions: Vec<Value> = serde_json::from_str(&definitions).unwrap();
        for definition in definitions {
            let name = definition["name"].as_str().unwrap_or_default().to_owned();
            let text = format!("{agent}: {definition}");
            if !is_known(&name) && !written.definitions.contains(&text) {
                written.definitions.push(text);
            }
        }
    }

    pub(crate) fn event(&self, event: &AgentEvent) {
        let begin = format!(
            "{} {} {}",
            event.conversation,
            event.agent,
            event.kind.name()
        );
        let mut written = self.0.lock().unwrap();
        let rest = match &event.kind {
            AgentEventKind::Text { delta } | AgentEventKind::Reasoning { delta } => {
                written.piece(begin, delta);
                return;
            }
            AgentEventKind::CallArguments { id, delta } => {
                written.piece(format!("{begin} {id}"), delta);
                return;
            }
            AgentEventKind::StepStarted { step } => step.to_string(),
            AgentEventKind::CallStarted { id, name } => format!("{id} {name}"),
            AgentEventKind::Message { text, calls, .. } => {
                let calls: Vec<_> = calls.iter().map(|call| &*call.name).collect();
                format!("{text:?} {calls:?}")
            }
            AgentEventKind::Progress { id, name, step } => format!("{id} {name} {step}"),
            AgentEventKind::Result {
                id,
                name,
                text,
                error,
                output,
            } => {
                let error = error.as_ref().map(|error| format!(" error {error}"));
                let output = output.as_ref().map(|output| format!(" output {output}"));
                format!(
                    "{id} {name} {text:?}{}{}",
                    error.unwrap_or_default(),
                    output.unwrap_or_default()
                )
            }
            AgentEventKind::Handoff { to } => to.clone(),
            AgentEventKind::ChildStarted {
                child,
                child_agent,
                name,
            } => format!("{child} {child_agent} {name:?}"),
            AgentEventKind::ChildEnded { child, failed } => format!("{child} failed={failed}"),
            AgentEventKind::Waiting { approvals } => {
                let approvals = approvals.iter().map(|approval| {
                    let of = approval.conversation.as_deref().unwrap_or_default();
                    format!("{} in {of}", approval.tool)
                });
                approvals.collect::<Vec<_>>().join(", ")
            }
            AgentEventKind::RunEnded { cause, error } => match error {
                Some(error) => format!("{cause}: {error}"),
                None => cause.clone(),
            },
            _ => String::new(),
        };
        written.line(format!("{begin} {rest}").trim_end());
    }
}

/// Indents the lines after the first one.
fn indented(text: &str, by: usize) -> String {
    text.replace('\n', &format!("\n{}", " ".repeat(by)))
}

fn calls_of(message: &ModelMessage) -> String {
    let calls = message
        .calls
        .iter()
        .map(|call| format!("{}({})", call.name, call.arguments));
    let text = (!message.text.is_empty()).then(|| message.text.clone());
    let parts: Vec<String> = text.into_iter().chain(calls).collect();
    parts.join("\n")
}

/// Returns a message as a model reads it.
fn read_by_model(message: &Message) -> String {
    let content = &message.content;
    match message.role {
        Role::User => {
            let user: UserMessage = serde_json::from_str(content).unwrap();
            format!("user: {}", user.to_text())
        }
        Role::Assistant => {
            let said: ModelMessage = serde_json::from_str(content).unwrap();
            format!("assistant: {}", calls_of(&said))
        }
        Role::Tool => {
            let result: ToolMessage = serde_json::from_str(content).unwrap();
            format!("tool {}: {}", result.name, result.text)
        }
        Role::System => format!("system: {content}"),
    }
}

/// Returns a message as it is stored.
fn stored(message: &Message) -> String {
    let mut text = format!("{:>2} {}", message.seq, read_by_model(message));
    if message.role == Role::Tool {
        let result: ToolMessage = serde_json::from_str(&message.content).unwrap();
        if let Some(error) = result.error {
            let _ = write!(text, "\nerror: {error}");
        }
        if let Some(output) = result.output {
            let _ = write!(text, "\noutput: {output}");
        }
    }
    indented(&text, 5)
}

/// Returns the outcome of a run.
pub(crate) fn outcome(result: &Result<Outcome, RuntimeError>) -> String {
    let outcome = match result {
        Ok(Outcome::Waiting(tickets)) => {
            let tools: Vec<&str> = tickets.iter().map(|ticket| &*ticket.tool).collect();
            format!("Waiting({tools:?})")
        }
        Ok(Outcome::Lacking(needs)) => {
            let names: Vec<&str> = needs.iter().map(|need| &*need.name).collect();
            format!("Lacking({names:?})")
        }
        Ok(outcome) => format!("{outcome:?}"),
        Err(error) => format!("error: {error}"),
    };
    format!("-> {outcome}")
}

fn child_line(row: &ChildRow) -> String {
    let mut line = format!(
        "thread {}: {} {} of {}, started by {}, depth {}, {}, session {}, delivered {}",
        row.thread.conversation(),
        row.kind.as_str(),
        row.agent,
        row.parent.conversation(),
        row.caller,
        row.depth,
        row.state.as_str(),
        row.session,
        row.delivered
    );
    if row.waits {
        line.push_str(", its call waits");
    }
    if row.resumable {
        line.push_str(", resumable");
    }
    if let Some(tag) = row.tag() {
        let _ = write!(line, ", {tag}");
    }
    if let Some(request) = &row.request {
        let _ = write!(line, ", request {request}");
    }
    line
}

/// Writes the contents of the stores at the end.
pub(crate) async fn threads(stage: &Stage<'_>) -> String {
    let mut text = String::new();
    let main = Stage::thread();
    let mut rows: Vec<ChildRow> = Vec::new();
    let mut open: Vec<ThreadId> = vec![main.clone()];
    while let Some(thread) = open.pop() {
        let cx = stage.context().derive();
        let cx = cx.conversation(thread.conversation()).build();
        for row in stage.runtime.children(&cx).await.unwrap() {
            open.push(row.thread.clone());
            rows.push(row);
        }
    }
    // The threads are listed in the order in which the journal names them.
    let journal = stage.journal.raw();
    let named_at = |row: &ChildRow| {
        let at = journal.find(row.thread.conversation());
        (
            at.unwrap_or(usize::MAX),
            row.name.clone(),
            row.agent.clone(),
        )
    };
    rows.sort_by_key(named_at);
    let children = rows.iter().map(|row| (row.thread.clone(), child_line(row)));
    let all = [(main, "thread main".to_owned())]
        .into_iter()
        .chain(children);
    for (thread, title) in all {
        let _ = writeln!(text, "\n{title}");
        let cx = stage.context().derive();
        let cx = cx.conversation(thread.conversation()).build();
        for message in stage.turns().messages(&cx, None).await.unwrap() {
            let _ = writeln!(text, "  {}", stored(&message));
        }
        let files = stage.files_of(&thread);
        let mut lines = Vec::new();
        for path in files.list().await.unwrap() {
            let content = files.read(&path).await.unwrap();
            lines.push((String::from_utf8_lossy(&content).into_owned(), path));
        }
        lines.sort_unstable();
        for (content, path) in lines {
            let _ = writeln!(text, "  file {path}: {content}");
        }
        let filter = VariableFilter {
            owner: Some(thread.conversation().to_owned()),
            ..VariableFilter::default()
        };
        let acme = Workspace::new("acme");
        for info in stage.vault.list_variables(&acme, &filter).await.unwrap() {
            let _ = writeln!(text, "  variable {} ({})", info.name, info.kind.as_str());
        }
    }
    let definitions = stage.journal.definitions();
    if !definitions.is_empty() {
        let _ = writeln!(text, "\nthe tools of the runtime in the requests");
    }
    for definition in definitions {
        let _ = writeln!(text, "  {definition}");
    }
    text
}
