//! The events of agents that call each other.

use tool_agent::runtime::{AgentEvent, AgentEventKind};
use tool_core::hidden::escape;

use super::{Output, call_line, progress_line, result_line};
use crate::commands::chat::escape::Escaper;
use crate::screen::{BAD, DIM, NAME, Screen, WARN, paint};

/// The thread of a sub-agent or of a prompt.
#[derive(Default)]
pub(super) struct Thread {
    /// The number of ancestor threads.
    depth: usize,
    escaper: Escaper,
    /// The end of the text that is not a complete line yet.
    line: String,
    /// Whether a piece of the text of the current step was received.
    has_text: bool,
}

impl Output {
    /// Writes an event of an agent: the text of the conversation to standard output, and everything else as lines to standard error. The lines of
    /// threads below the conversation are indented and begin with the agent's name.
    pub(in crate::commands::chat) fn agent_event(&self, event: &AgentEvent) {
        if matches!(event.kind, AgentEventKind::Text { .. }) && event.parent.is_none() {
            self.lock().is_written = true;
        }
        if self.screen.is_json() {
            // An observer cannot return an error. If the output is closed, the next write of the command fails.
            let _ = Screen::json(event);
        } else if event.parent.is_some() {
            self.of_child(event);
        } else {
            self.of_conversation(event);
        }
    }

    fn of_conversation(&self, event: &AgentEvent) {
        let conversation = event.conversation.as_str();
        match &event.kind {
            AgentEventKind::StepStarted { .. } => {
                self.thread(conversation, None, |thread| thread.has_text = false);
            }
            AgentEventKind::Text { delta } => {
                self.thread(conversation, None, |thread| thread.has_text = true);
                self.lock().push(delta);
            }
            AgentEventKind::Message { text, .. } => {
                // The text of a model that does not stream was not received in pieces.
                if !self.thread(conversation, None, |thread| thread.has_text) {
                    self.lock().push(text);
                }
                self.end_line();
            }
            AgentEventKind::StepRestarted => self.restarted(),
            kind => {
                if let Some(line) = line(&event.agent, kind) {
                    self.line(line);
                }
            }
        }
    }

    fn of_child(&self, event: &AgentEvent) {
        let parent = event.parent.as_deref();
        let complete = self.thread(&event.conversation, parent, |thread| match &event.kind {
            AgentEventKind::StepStarted { .. } => {
                thread.has_text = false;
                Vec::new()
            }
            AgentEventKind::Text { delta } => {
                thread.has_text = true;
                thread.push(delta)
            }
            AgentEventKind::Message { text, .. } => {
                let mut lines = Vec::new();
                if !thread.has_text {
                    lines = thread.push(text);
                }
                lines.extend(thread.rest());
                lines
            }
            AgentEventKind::StepRestarted => {
                *thread = Thread {
                    depth: thread.depth,
                    ..Thread::default()
                };
                vec![paint(
                    WARN,
                    "the reply was interrupted: ignore its incomplete text above",
                )]
            }
            AgentEventKind::CallStarted { .. } | AgentEventKind::RunEnded { .. } => thread.rest(),
            _ => Vec::new(),
        });
        for text in complete.into_iter().chain(line(&event.agent, &event.kind)) {
            self.aside(event, &text);
        }
    }

    /// Writes a line about a child thread. While the text of the conversation is received, the line is kept until the end of the text.
    fn aside(&self, event: &AgentEvent, text: &str) {
        let parent = event.parent.as_deref();
        let depth = self.thread(&event.conversation, parent, |thread| thread.depth);
        let agent = paint(NAME, escape(&event.agent));
        let line = format!("{}{agent}: {text}", "  ".repeat(depth));
        let mut text = self.lock();
        if text.is_arriving {
            text.later.push(line);
        } else {
            self.screen.note(line);
        }
    }

    fn thread<R>(
        &self,
        conversation: &str,
        parent: Option<&str>,
        with: impl FnOnce(&mut Thread) -> R,
    ) -> R {
        let mut text = self.lock();
        let above = parent.map_or(0, |parent| {
            1 + text.threads.get(parent).map_or(0, |thread| thread.depth)
        });
        let thread = text.threads.entry(conversation.to_owned());
        with(thread.or_insert_with(|| Thread {
            depth: above,
            ..Thread::default()
        }))
    }
}

impl Thread {
    /// Adds a piece of the text, and returns the lines that are complete.
    fn push(&mut self, text: &str) -> Vec<String> {
        self.line += &self.escaper.push(text);
        let mut lines = Vec::new();
        while let Some(end) = self.line.find('\n') {
            let line: String = self.line.drain(..=end).collect();
            lines.push(line.trim_end().to_owned());
        }
        lines
    }

    /// Returns the rest of the text as a line, unless it is empty.
    fn rest(&mut self) -> Vec<String> {
        self.line += &self.escaper.finish();
        let line = std::mem::take(&mut self.line);
        if line.is_empty() {
            Vec::new()
        } else {
            vec![line]
        }
    }
}

/// Returns the line for an event, or `None` if people do not see the event.
fn line(agent: &str, kind: &AgentEventKind) -> Option<String> {
    Some(match kind {
        AgentEventKind::CallStarted { name, .. } => call_line(name),
        AgentEventKind::Result {
            name, text, error, ..
        } => result_line(name, text, error.is_some()),
        AgentEventKind::Progress { name, step, .. } => progress_line(name, &step.to_string()),
        AgentEventKind::Handoff { to } => {
            let text = format!("{agent} passes the conversation to {to}");
            paint(DIM, escape(&text))
        }
        AgentEventKind::ChildStarted {
            child_agent, name, ..
        } => {
            let text = match name {
                Some(name) => format!("{child_agent} ({name}) begins"),
                None => format!("{child_agent} begins"),
            };
            paint(DIM, escape(&text))
        }
        AgentEventKind::ChildEnded { failed: true, .. } => paint(BAD, "the sub-agent failed"),
        _ => return None,
    })
}
