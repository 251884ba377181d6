//! A model's reply to a request.

use std::collections::HashSet;

use serde_json::value::RawValue;
use tool_core::ToolCall;
use tool_core::store::Usage;
use tool_core::turn::{ModelMessage, StopReason, Written};

use super::{Delta, Provider, WireError};

/// A model's reply: text, calls, or both.
#[derive(Clone, Debug)]
pub struct ModelReply {
    message: ModelMessage,
    stop: StopReason,
}

impl ModelReply {
    /// Returns the message for [`Turns`](tool_core::turn::Turns), which contains the whole reply: text, reasoning, calls in order, usage and the
    /// reason why the model stopped.
    pub fn message(&self) -> &ModelMessage {
        &self.message
    }

    /// Sets the host's name for the endpoint and the model that wrote the reply, such as `https://api.anthropic.com claude-opus-5`. With it,
    /// [`Provider::history_for`] leaves signatures, encrypted reasoning and other opaque parts of the reply out of requests to a different origin.
    /// Does nothing for a reply that is not kept in the provider's own format, such as a reply of Chat without reasoning.
    #[must_use]
    pub fn with_origin(mut self, origin: impl Into<String>) -> Self {
        if let Some(written) = &mut self.message.written {
            written.origin = Some(origin.into());
        }
        self
    }

    /// Converts the reply into its message.
    pub fn into_message(self) -> ModelMessage {
        self.message
    }

    /// Returns the text; empty if the model only calls tools.
    pub fn text(&self) -> &str {
        &self.message.text
    }

    /// Returns the model's reasoning; empty if there is none, or if the provider does not return it as text.
    pub fn reasoning(&self) -> &str {
        &self.message.reasoning
    }

    /// Returns the calls that may run, in order. If the reply was cut off, returns no calls, because the last call may be incomplete and the
    /// calls before it may be only a part of a plan. [`message`](Self::message) contains the calls that were cut off.
    pub fn calls(&self) -> &[ToolCall] {
        if self.is_truncated() {
            return &[];
        }
        &self.message.calls
    }

    /// Returns whether the reply was cut off: by the token limit, by a filter, because the stream ended early, or for a reason that this crate does
    /// not know.
    pub fn is_truncated(&self) -> bool {
        self.message.truncated
    }

    /// Returns the reason why the model stopped.
    pub fn stop(&self) -> &StopReason {
        &self.stop
    }
}

/// Reads the events of one provider.
pub(super) trait Reading: Send + Sync {
    fn event(&mut self, data: &str, deltas: &mut Vec<Delta>) -> Result<(), WireError>;
    /// Returns whether the final event of the stream was read.
    fn is_complete(&self) -> bool;
    /// Returns the tokens that the events report so far.
    fn usage(&self) -> Option<Usage>;
    fn finish(self: Box<Self>) -> Result<ModelReply, WireError>;
}

/// Returns the id of a new call: the provider's id or, if it is missing or empty, an id that none of the earlier calls has. `earlier` returns the
/// ids of the earlier calls.
pub(super) fn call_id<'a, I: Iterator<Item = &'a str>>(
    given: Option<String>,
    earlier: impl Fn() -> I,
) -> String {
    if let Some(id) = given.filter(|id| !id.trim().is_empty()) {
        return id;
    }
    let mut number = earlier().count();
    loop {
        let id = format!("call_{number}");
        if earlier().all(|other| other != id) {
            return id;
        }
        number += 1;
    }
}

/// The reasoning of a reply while it is read: blocks, separated by empty lines.
#[derive(Debug, Default)]
pub(super) struct Reasoning {
    text: String,
    /// Whether the last block continues.
    open: bool,
}

impl Reasoning {
    /// Adds text to the open block, or begins a new block.
    pub(super) fn push(&mut self, piece: &str, deltas: &mut Vec<Delta>) {
        if piece.is_empty() {
            return;
        }
        let apart = if self.open || self.text.is_empty() {
            ""
        } else {
            "\n\n"
        };
        let piece = format!("{apart}{piece}");
        self.open = true;
        self.text.push_str(&piece);
        deltas.push(Delta::Reasoning(piece));
    }

    /// Ends the open block.
    pub(super) fn end(&mut self) {
        self.open = false;
    }
}

/// A reply while it is read.
#[derive(Debug)]
pub(super) struct Draft {
    provider: Provider,
    text: String,
    reasoning: String,
    calls: Vec<ToolCall>,
    /// Whether every part is known to be complete.
    whole: bool,
    written: Option<String>,
    usage: Option<Usage>,
}

impl Draft {
    pub(super) fn new(provider: Provider) -> Self {
        Self {
            provider,
            text: String::new(),
            reasoning: String::new(),
            calls: Vec::new(),
            whole: true,
            written: None,
            usage: None,
        }
    }

    pub(super) fn text(&mut self, text: &str) {
        self.text.push_str(text);
    }

    pub(super) fn reasoning(&mut self, reasoning: Reasoning) {
        self.reasoning = reasoning.text;
    }

    /// Adds a call. Empty arguments become an empty object.
    pub(super) fn call(&mut self, id: String, name: String, arguments: String) {
        let arguments = if arguments.trim().is_empty() {
            super::json::NO_ARGUMENTS.to_owned()
        } else {
            arguments
        };
        self.calls.push(ToolCall::new(id, name, arguments));
    }

    /// Returns the number of calls so far.
    pub(super) fn count(&self) -> usize {
        self.calls.len()
    }

    /// Returns the calls so far.
    pub(super) fn calls(&self) -> &[ToolCall] {
        &self.calls
    }

    /// Marks the reply as incomplete.
    pub(super) fn broken(&mut self) {
        self.whole = false;
    }

    /// Stores the messages that the provider wrote, for the next request.
    pub(super) fn written(&mut self, messages: &[Box<RawValue>]) {
        self.written = serde_json::to_string(messages).ok();
    }

    /// Sets the tokens that the request used.
    pub(super) fn used(&mut self, usage: Option<Usage>) {
        self.usage = usage.filter(Usage::is_measured);
    }

    /// Completes the reply. Fails if two calls have the same id.
    pub(super) fn close(self, stop: StopReason) -> Result<ModelReply, WireError> {
        let mut ids = HashSet::new();
        if let Some(call) = self.calls.iter().find(|call| !ids.insert(&call.id)) {
            return Err(WireError::RepeatedId {
                provider: self.provider,
                id: call.id.clone(),
            });
        }
        let stop = match stop {
            StopReason::End | StopReason::Calls | StopReason::Paused if !self.whole => {
                StopReason::Cut
            }
            StopReason::End if !self.calls.is_empty() => StopReason::Calls,
            stop => stop,
        };
        let written = self.written.map(|messages| Written {
            provider: self.provider.name().to_owned(),
            origin: None,
            messages,
        });
        Ok(ModelReply {
            message: ModelMessage {
                text: self.text,
                reasoning: self.reasoning,
                calls: self.calls,
                truncated: !stop.is_whole(),
                provider_tools: Vec::new(),
                written,
                stop: Some(stop.clone()),
                usage: self.usage,
            },
            stop,
        })
    }
}
