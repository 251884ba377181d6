//! The model of a run: it sends the instructions before the messages of the thread, and counts invalid outputs.

use futures::future::{BoxFuture, FutureExt as _};
use tool_core::store::{Message, Role, Usage};
use tool_core::turn::{Model, ModelMessage, ModelRequest, ToolMessage};
use tool_core::{ErrorKind, ToolError, env};

use super::output::{self, Wanted};

/// A model that receives the instructions before the messages of the thread.
pub(crate) struct Instructed {
    model: Box<dyn Model>,
    instructions: Option<String>,
    /// The messages of the last request, of which the first contains the instructions. Only new messages of the thread are copied.
    messages: Vec<Message>,
    wanted: Option<Wanted>,
    was_asked: bool,
}

impl Instructed {
    pub(super) fn new(
        model: Box<dyn Model>,
        instructions: Option<String>,
        wanted: Option<Wanted>,
    ) -> Self {
        Self {
            model,
            instructions: instructions.filter(|text| !text.trim().is_empty()),
            messages: Vec::new(),
            wanted,
            was_asked: false,
        }
    }

    /// Returns whether a request was sent.
    pub(super) fn was_asked(&self) -> bool {
        self.was_asked
    }

    /// Returns the problem of the last output if no retry was left.
    pub(super) fn refused_output(&self) -> Option<String> {
        self.wanted.as_ref()?.refused.clone()
    }

    /// Counts a text answer as an invalid output. Returns the problem if no retry is left.
    pub(super) fn refuse_text(&mut self, text: &str) -> Option<String> {
        let begin: String = text.chars().take(200).collect();
        let why = format!(
            "it answered with the text \"{begin}\" and did not call `{}`",
            output::NAME
        );
        self.wanted.as_mut()?.refuse(&why)
    }

    /// Counts the first failed call of `final_answer` since the last request. Returns the problem if no retry is left.
    fn judge(&mut self, thread: &[Message]) -> Option<String> {
        let wanted = self.wanted.as_mut()?;
        let last = thread.iter().map(|message| message.seq).max()?;
        let before = wanted.judged.replace(last)?;
        let new = thread
            .iter()
            .filter(|message| message.seq > before && message.role == Role::Tool);
        for message in new {
            let result: ToolMessage = serde_json::from_str(&message.content).ok()?;
            if result.name == output::NAME && result.is_error() {
                return wanted.refuse(&result.text);
            }
        }
        None
    }

    /// Puts the instructions before the messages of the thread.
    fn instruct(&mut self, thread: &[Message]) {
        let Some(instructions) = &self.instructions else {
            return;
        };
        let Some(first) = thread.first() else {
            return;
        };
        if self.messages.is_empty() {
            self.messages.push(Message {
                seq: 0,
                thread: first.thread.clone(),
                role: Role::System,
                answers: None,
                turn: None,
                content: serde_json::Value::from(&**instructions).to_string(),
                at: env::now(),
            });
        }
        let known = self.messages[1..].iter().map(|message| message.seq);
        let same = known
            .zip(thread)
            .take_while(|(known, message)| *known == message.seq)
            .count();
        self.messages.truncate(1 + same);
        self.messages.extend_from_slice(&thread[same..]);
    }
}

impl Model for Instructed {
    fn next<'a>(
        &'a mut self,
        request: ModelRequest<'a>,
    ) -> BoxFuture<'a, Result<ModelMessage, ToolError>> {
        if let Some(problem) = self.judge(request.messages) {
            let text = "the model returned no valid output";
            let error = ToolError::of(ErrorKind::Failed, text).operator(problem);
            return futures::future::ready(Err(error)).boxed();
        }
        self.was_asked = true;
        self.instruct(request.messages);
        let messages = if self.messages.is_empty() {
            request.messages
        } else {
            &self.messages
        };
        self.model.next(ModelRequest {
            messages,
            ..request
        })
    }

    fn interrupted(&mut self) -> Option<ModelMessage> {
        self.model.interrupted()
    }

    fn unsettled_usage(&mut self) -> Option<Usage> {
        self.model.unsettled_usage()
    }
}
