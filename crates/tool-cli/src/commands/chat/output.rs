//! The output of a chat: text as it arrives for people, rendered as Markdown in a terminal, and one event in each line for programs.

use std::collections::HashMap;
use std::io::{self, Write as _};
use std::sync::{Mutex, MutexGuard, PoisonError};

use serde::Serialize;
use serde_json::value::RawValue;
use tool_agent::model::{Delta, ModelEvent};
use tool_core::ToolCall;
use tool_core::hidden::escape;
use tool_core::store::{Message, Role};
use tool_core::turn::{ModelMessage, Outcome, ToolMessage};

use super::escape::Escaper;
use super::history;
use super::markdown::{Markdown, Spans};
use crate::outcome::Failure;
use crate::screen::{BAD, DIM, GOOD, NAME, Screen, WARN, paint};

/// Maximum number of characters of a result that people see.
const MOST_SHOWN: usize = 400;

mod agents;

/// The default number of columns, for a terminal that does not report its width.
const DEFAULT_WIDTH: usize = 80;

/// Writes the events of a chat.
pub(super) struct Output {
    screen: Screen,
    text: Mutex<Text>,
}

/// The text of the model that is being written.
#[derive(Default)]
struct Text {
    /// Whether the last text did not end with a line break.
    is_open: bool,
    is_written: bool,
    escaper: Escaper,
    /// Whether more of the text may follow.
    is_arriving: bool,
    /// Lines about sub-agents that are written after the text.
    later: Vec<String>,
    /// The threads of sub-agents.
    threads: HashMap<String, agents::Thread>,
    /// Renders Markdown; `None` if the text is written unchanged.
    markdown: Option<Markdown>,
}

/// An event of a chat, for programs.
#[derive(Serialize)]
#[serde(tag = "event", rename_all = "snake_case")]
enum Event<'a> {
    Conversation {
        id: &'a str,
    },
    Request {
        model: &'a str,
        attempt: u32,
    },
    Text {
        text: &'a str,
    },
    Reasoning {
        text: &'a str,
    },
    Call {
        id: &'a str,
        tool: &'a str,
    },
    Arguments {
        id: &'a str,
        text: &'a str,
    },
    Progress {
        id: &'a str,
        tool: &'a str,
        value: &'a RawValue,
    },
    Result {
        id: &'a str,
        tool: &'a str,
        text: &'a str,
        error: Option<&'a str>,
    },
    Restarted,
    Failed {
        error: String,
        retry_in_ms: Option<u128>,
    },
    Waiting {
        cause: &'a str,
    },
    End {
        cause: &'a str,
        text: Option<&'a str>,
    },
}

impl Output {
    pub(super) fn new(screen: Screen) -> Self {
        let text = Text {
            markdown: screen.is_styled().then(Markdown::default),
            ..Text::default()
        };
        Self {
            screen,
            text: Mutex::new(text),
        }
    }

    /// Writes an event of the model.
    pub(super) fn event(&self, event: &ModelEvent<'_>) {
        if matches!(event, ModelEvent::Delta(Delta::Text(_))) {
            self.lock().is_written = true;
        }
        if self.screen.is_json() {
            if let Some(event) = of_model(event) {
                print(&event);
            }
            return;
        }
        match event {
            ModelEvent::Delta(Delta::Text(text)) => self.lock().push(text),
            ModelEvent::Delta(Delta::Call { name, .. }) => self.call(name),
            ModelEvent::StepRestarted => self.restarted(),
            event => self.attempt(event),
        }
    }

    /// Writes that the pieces of an attempt are withdrawn.
    fn restarted(&self) {
        self.lock().discard();
        let text = "the reply was interrupted: ignore its incomplete text above";
        self.line(paint(WARN, text));
    }

    /// Writes that a request is sent again.
    pub(super) fn attempt(&self, event: &ModelEvent<'_>) {
        let ModelEvent::Failed { error, retry_in } = event else {
            return;
        };
        if let Some(wait) = retry_in.filter(|_| !self.screen.is_json()) {
            let text = format!("{error}; retrying in {:.1} s", wait.as_secs_f64());
            self.line(paint(WARN, escape(&text)));
        }
    }

    /// Writes the result of a call.
    pub(super) fn result(&self, result: &ToolMessage) {
        if self.screen.is_json() {
            print(&Event::Result {
                id: &result.id,
                tool: &result.name,
                text: &result.text,
                error: result.error.as_deref(),
            });
            return;
        }
        self.line(result_line(&result.name, &result.text, result.is_error()));
    }

    /// Writes messages of an earlier process.
    pub(super) fn past(&self, messages: &[Message]) {
        for message in messages {
            match message.role {
                Role::User => {
                    let text = format!("> {}", escape(&history::of_user(message)));
                    self.line(paint(DIM, text));
                }
                Role::Assistant => {
                    let read = serde_json::from_str::<ModelMessage>(&message.content);
                    let Ok(message) = read else { continue };
                    self.lock().push(&message.text);
                    self.end_line();
                    for call in &message.calls {
                        self.call(&call.name);
                    }
                }
                Role::Tool => {
                    if let Ok(result) = serde_json::from_str(&message.content) {
                        self.result(&result);
                    }
                }
                Role::System => {}
            }
        }
    }

    /// Writes the id of the conversation that is stored.
    pub(super) fn conversation(&self, id: &str) -> Result<(), Failure> {
        if self.screen.is_json() {
            return Screen::json(&Event::Conversation { id });
        }
        if self.screen.is_interactive() {
            let text = format!("conversation {id}; `--continue={id}` continues it");
            self.screen.note(paint(DIM, escape(&text)));
        }
        Ok(())
    }

    /// Returns whether a piece of an answer was written since the last call of this function.
    pub(super) fn take_written(&self) -> bool {
        std::mem::take(&mut self.lock().is_written)
    }

    /// Writes an answer that another process received.
    pub(super) fn answer(&self, text: &str) {
        if self.screen.is_json() {
            print(&Event::Text { text });
            return;
        }
        self.lock().push(text);
        self.end_line();
    }

    fn call(&self, tool: &str) {
        self.line(call_line(tool));
    }

    /// Writes the progress of a running call.
    pub(super) fn progress(&self, call: &ToolCall, step: &RawValue) {
        if self.screen.is_json() {
            print(&Event::Progress {
                id: &call.id,
                tool: &call.name,
                value: step,
            });
            return;
        }
        self.line(progress_line(&call.name, step.get()));
    }

    /// Writes how a message ended. A text of the model is already written. The text of a tool that answers in place of the model is written here.
    pub(super) fn outcome(&self, outcome: &Outcome) -> Result<(), Failure> {
        let text = match outcome {
            Outcome::Answered(text)
            | Outcome::Replied(text)
            | Outcome::Length(text)
            | Outcome::Filtered(text)
            | Outcome::Cut(text) => Some(&**text),
            Outcome::Guardrail(tripped) => Some(&*tripped.text),
            _ => None,
        };
        if self.screen.is_json() {
            return Screen::json(&Event::End {
                cause: cause(outcome),
                text,
            });
        }
        if let Outcome::Replied(text) = outcome {
            self.screen.out(escape(text))?;
        }
        Ok(())
    }

    /// Writes that a message that waited for approvals or variables continues.
    pub(super) fn waiting(&self, outcome: &Outcome) {
        if self.screen.is_json() {
            let cause = cause(outcome);
            print(&Event::Waiting { cause });
        }
    }

    /// Writes that the run of a message failed.
    pub(super) fn failed(&self) {
        if self.screen.is_json() {
            let (cause, text) = ("failed", None);
            print(&Event::End { cause, text });
        }
    }

    /// Writes the held rest of the text, and a line break if the text did not end with one.
    pub(super) fn end_line(&self) {
        let mut text = self.lock();
        text.end();
        for line in std::mem::take(&mut text.later) {
            self.screen.note(line);
        }
    }

    fn lock(&self) -> MutexGuard<'_, Text> {
        self.text.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Writes a line about the chat to standard error, so that standard output contains only the answers.
    fn line(&self, text: impl std::fmt::Display) {
        self.end_line();
        self.screen.note(text);
    }
}

fn call_line(tool: &str) -> String {
    let name = paint(NAME, escape(tool));
    format!("{} {name}", paint(DIM, "calling"))
}

fn result_line(tool: &str, text: &str, is_error: bool) -> String {
    let mark = if is_error {
        paint(BAD, "failed")
    } else {
        paint(GOOD, "result")
    };
    let name = paint(NAME, escape(tool));
    let text = shortened(text);
    format!("{mark} {name}: {}", escape(&text))
}

fn progress_line(tool: &str, step: &str) -> String {
    let text = format!("{tool} {}", shortened(step));
    paint(DIM, escape(&text))
}

/// Converts an event of the model; `None` if the event is not for programs.
fn of_model<'a>(event: &ModelEvent<'a>) -> Option<Event<'a>> {
    Some(match event {
        ModelEvent::Request { model, attempt } => Event::Request {
            model,
            attempt: *attempt,
        },
        ModelEvent::Delta(Delta::Text(text)) => Event::Text { text },
        ModelEvent::Delta(Delta::Reasoning(text)) => Event::Reasoning { text },
        ModelEvent::Delta(Delta::Call { id, name }) => Event::Call { id, tool: name },
        ModelEvent::Delta(Delta::Arguments { id, text }) => Event::Arguments { id, text },
        ModelEvent::StepRestarted => Event::Restarted,
        ModelEvent::Failed { error, retry_in } => Event::Failed {
            error: error.to_string(),
            retry_in_ms: retry_in.map(|wait| wait.as_millis()),
        },
        _ => return None,
    })
}

/// Returns the name of the cause with which a run ended or waits; `busy` if there is none.
fn cause(outcome: &Outcome) -> &'static str {
    outcome.cause().map_or("busy", |cause| cause.as_str())
}

/// Writes an event as a line. An observer cannot return an error. If the output is closed, the next write of the command fails and reports
/// it.
fn print(event: &Event<'_>) {
    let _ = Screen::json(event);
}

impl Text {
    fn push(&mut self, text: &str) {
        self.is_arriving = true;
        let text = self.escaper.push(text);
        self.render(&text);
    }

    fn end(&mut self) {
        self.is_arriving = false;
        let rest = self.escaper.finish();
        self.render(&rest);
        if let Some(markdown) = &mut self.markdown {
            let rest = markdown.finish();
            self.write_spans(&rest);
        }
        if std::mem::take(&mut self.is_open) {
            write("\n");
        }
    }

    /// Drops the part of the text that is not written yet.
    fn discard(&mut self) {
        self.escaper = Escaper::default();
        if let Some(markdown) = &mut self.markdown {
            *markdown = Markdown::default();
        }
    }

    /// Writes a text without hidden characters.
    fn render(&mut self, text: &str) {
        if let Some(markdown) = &mut self.markdown {
            // The size of the terminal may have changed.
            markdown.width(Screen::width().unwrap_or(DEFAULT_WIDTH));
            let spans = markdown.push(text);
            self.write_spans(&spans);
        } else if !text.is_empty() {
            self.is_open = !text.ends_with('\n');
            write(text);
        }
    }

    fn write_spans(&mut self, spans: &Spans) {
        if !spans.is_empty() {
            self.is_open = !spans.ends_with_line_break();
            write(&spans.to_string());
        }
    }
}

fn write(text: &str) {
    let mut out = io::stdout().lock();
    let _ = out.write_all(text.as_bytes()).and_then(|()| out.flush());
}

/// Returns the first line of a text, at most [`MOST_SHOWN`] characters.
fn shortened(text: &str) -> String {
    let line = text.lines().next().unwrap_or_default();
    let end = line.char_indices().nth(MOST_SHOWN).map(|(end, _)| end);
    match end {
        Some(end) => format!("{}…", &line[..end]),
        None if line.len() < text.trim_end().len() => format!("{line} …"),
        None => line.to_owned(),
    }
}
