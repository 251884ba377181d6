//! The model of a run: it sends the instructions before the messages of the thread, runs the guardrails, and counts invalid outputs.

use futures::future::{BoxFuture, FutureExt as _};
use tool_core::store::{Message, Role, Usage};
use tool_core::turn::{Model, ModelMessage, ModelRequest, ToolMessage};
use tool_core::{ErrorKind, ToolError, env};

use super::guardrails::{Guardrails, refused_input};
use super::output::{self, OutputMode, Wanted};
use crate::model::{OutputFormat, Unchecked};

/// The note that requests contain in place of a message that an input guardrail has refused.
const WITHHELD: &str = "[A guardrail has withheld this message of the user.]";

/// A model that adds the instructions to each request, runs the guardrails, and counts invalid outputs.
pub(crate) struct Instructed {
    model: Box<dyn Model>,
    instructions: Option<String>,
    guardrails: Guardrails,
    /// The sequence number of the last message of a user that the input guardrails have accepted.
    accepted: Option<u64>,
    /// Sequence numbers of the messages that input guardrails have refused in earlier runs; `None` before the first request or estimate.
    refused: Option<Vec<u64>>,
    /// The messages of the last request, if they differ from those of the thread: the instructions, and notes in place of refused messages. Only new
    /// messages of the thread are copied.
    messages: Vec<Message>,
    /// The tokens of a message that the guardrails are checking.
    unchecked: Option<Usage>,
    wanted: Option<Wanted>,
    /// The format of the output, which the provider enforces.
    format: Option<OutputFormat>,
    was_asked: bool,
}

impl Instructed {
    pub(super) fn new(
        model: Box<dyn Model>,
        instructions: Option<String>,
        guardrails: Guardrails,
        wanted: Option<Wanted>,
    ) -> Self {
        Self {
            model,
            instructions: instructions.filter(|text| !text.trim().is_empty()),
            guardrails,
            accepted: None,
            refused: None,
            messages: Vec::new(),
            unchecked: None,
            wanted,
            format: None,
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

    /// Sets the format of the output, which the provider enforces.
    pub(super) fn set_format(&mut self, format: &OutputFormat) {
        self.format = Some(format.clone());
    }

    /// Counts an invalid output. Returns the problem if no retry is left.
    pub(super) fn refuse(&mut self, why: &str) -> Option<String> {
        self.wanted.as_mut()?.refuse(why)
    }

    /// Counts a text answer as an invalid output. Returns the problem if no retry is left.
    pub(super) fn refuse_text(&mut self, text: &str) -> Option<String> {
        let begin: String = text.chars().take(200).collect();
        let why = format!(
            "it answered with the text \"{begin}\" and did not call `{}`",
            output::NAME
        );
        self.refuse(&why)
    }

    /// Counts the first failed call of `final_answer` since the last request. Returns the problem if no retry is left.
    fn judge(&mut self, thread: &[Message]) -> Option<String> {
        let wanted = self.wanted.as_mut()?;
        if wanted.mode == OutputMode::Native {
            return None;
        }
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

    /// Adds the instructions before the messages of the thread, and notes in place of refused messages.
    fn instruct(&mut self, thread: &[Message]) {
        let own = self.own();
        let refused = self.refused.get_or_insert_with(|| refused_input(thread));
        if self.instructions.is_none() && refused.is_empty() {
            return;
        }
        let Some(first) = thread.first() else {
            return;
        };
        if self.messages.is_empty()
            && let Some(instructions) = &self.instructions
        {
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
        let known = self.messages[own..].iter().map(|message| message.seq);
        let same = known
            .zip(thread)
            .take_while(|(known, message)| *known == message.seq)
            .count();
        self.messages.truncate(own + same);
        self.messages.extend_from_slice(&thread[same..]);
        for message in &mut self.messages[own + same..] {
            if refused.contains(&message.seq) {
                message.content = serde_json::Value::from(WITHHELD).to_string();
            }
        }
    }

    /// Runs the input guardrails, if the request is the first or has a new message of a user. If a guardrail refuses, returns the message that ends
    /// the run.
    async fn check_input(&mut self, request: &ModelRequest<'_>) -> Option<ModelMessage> {
        if self.guardrails.input.is_empty() {
            return None;
        }
        let users = request
            .messages
            .iter()
            .filter(|message| message.role == Role::User);
        let last = users.map(|message| message.seq).max().unwrap_or_default();
        if self.accepted.is_some_and(|accepted| accepted >= last) {
            return None;
        }
        let messages = match self.messages.get(self.own()..) {
            Some(changed) if !changed.is_empty() => changed,
            _ => request.messages,
        };
        let refusal = self.guardrails.check_input(messages, request.cx).await;
        if refusal.is_none() {
            self.accepted = Some(last);
        }
        refusal
    }

    /// Returns the number of messages that are sent before those of the thread.
    fn own(&self) -> usize {
        usize::from(self.instructions.is_some())
    }

    async fn ask(&mut self, request: ModelRequest<'_>) -> Result<ModelMessage, ToolError> {
        if let Some(problem) = self.judge(request.messages) {
            let text = "the model returned no valid output";
            return Err(ToolError::of(ErrorKind::Failed, text).operator(problem));
        }
        self.instruct(request.messages);
        if let Some(ending) = self.check_input(&request).await {
            return Ok(ending);
        }
        let messages = if self.messages.is_empty() {
            request.messages
        } else {
            &self.messages
        };
        self.was_asked = true;
        let guardrails = &self.guardrails;
        let checks_output = !guardrails.output.is_empty();
        let is_checked = checks_output || !guardrails.call.is_empty();
        if !is_checked && self.format.is_none() {
            let request = ModelRequest {
                messages,
                ..request
            };
            return self.model.next(request).await;
        }
        let unchecked = Unchecked::new(checks_output && !guardrails.shows_unchecked);
        let mut cx = request.cx.derive();
        if is_checked {
            cx = cx.with(unchecked.clone());
        }
        if let Some(format) = &self.format {
            cx = cx.with(format.clone());
        }
        let cx = cx.build();
        let sent = ModelRequest {
            messages,
            cx: &cx,
            ..request
        };
        let mut message = self.model.next(sent).await?;
        self.unchecked = message.usage;
        let typed = self
            .wanted
            .as_ref()
            .is_some_and(|wanted| wanted.mode == OutputMode::Tool);
        let ending = guardrails.check_message(&message, typed, request.cx).await;
        self.unchecked = None;
        match ending {
            None => unchecked.release(),
            Some(ending) => {
                unchecked.withdraw();
                message = ModelMessage {
                    usage: message.usage,
                    ..ending
                };
            }
        }
        Ok(message)
    }
}

impl Model for Instructed {
    fn next<'a>(
        &'a mut self,
        request: ModelRequest<'a>,
    ) -> BoxFuture<'a, Result<ModelMessage, ToolError>> {
        self.ask(request).boxed()
    }

    fn interrupted(&mut self) -> Option<ModelMessage> {
        // The text is not complete, so no guardrail has checked it.
        if !self.guardrails.output.is_empty() {
            return None;
        }
        self.model.interrupted()
    }

    fn unmeasured_requests(&mut self) -> u32 {
        self.model.unmeasured_requests()
    }

    fn estimate(&mut self, request: &ModelRequest<'_>, output: u64) -> Usage {
        self.instruct(request.messages);
        let messages = if self.messages.is_empty() {
            request.messages
        } else {
            &self.messages
        };
        let sent = ModelRequest {
            messages,
            ..*request
        };
        self.model.estimate(&sent, output)
    }

    fn unsettled_usage(&mut self) -> Option<Usage> {
        let of_model = self.model.unsettled_usage();
        match (self.unchecked.take(), of_model) {
            (Some(mut usage), of_model) => {
                usage += of_model.unwrap_or_default();
                Some(usage)
            }
            (None, of_model) => of_model,
        }
    }
}
