//! The messages of a turn, as a thread stores them.

use std::borrow::Cow;
use std::sync::Arc;

use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

use super::GuardrailKind;
use crate::call::{CallResult, ToolCall};
use crate::context::{Filing, ToolContext};
use crate::error::{ErrorKind, ToolError};
use crate::output::{Citation, ModelOutput};
use crate::store::{
    CallId, CallPlace, EarlierCall, Journal, NewMessage, Role, ThreadId, Timestamp, Usage,
};
use crate::toolset::Toolset;

/// One message of a model: text, calls, or both.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ModelMessage {
    /// The text; empty if the message has only calls.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub text: String,
    /// The model's reasoning, if the provider returns it as text. It is for display and is not part of a request: a provider gets its own
    /// reasoning back in [`written`](Self::written), with its signatures, and other providers get none.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub reasoning: String,
    /// The calls, in the order of the message.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub calls: Vec<ToolCall>,
    /// Whether the message was cut off, by the limit on its length or because the connection broke. None of its calls is run.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub truncated: bool,
    /// Names of tools that the provider runs itself. If `calls` contains a call of one of them, its result is an error.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub provider_tools: Vec<String>,
    /// The message as the provider wrote it, if it has to be sent back unchanged: with its reasoning and the signatures.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub written: Option<Written>,
    /// The reason why the model stopped; `None` if the provider does not report it, and in messages that earlier versions stored.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stop: Option<StopReason>,
    /// Tokens that the request used, if the provider reports them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub usage: Option<Usage>,
}

/// Why a model stopped.
///
/// ```
/// use tool_core::turn::StopReason;
///
/// assert_eq!(serde_json::to_string(&StopReason::Length)?, r#""length""#);
/// assert_eq!(serde_json::from_str::<StopReason>(r#""a later word""#)?, StopReason::Other("a later word".to_owned()));
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(from = "String", into = "String")]
#[non_exhaustive]
pub enum StopReason {
    /// The message is complete.
    End,
    /// The model waits for the results of its calls.
    Calls,
    /// The provider paused the turn and continues it when the message is sent back. [`Turns::drive`](super::Turns::drive) sends it back.
    Paused,
    /// The limit on tokens was reached.
    Length,
    /// A filter or a guardrail of the provider intervened, or the model refused.
    Filtered,
    /// The stream ended before the message was complete.
    Cut,
    /// A guardrail of the host ended the run: the text of the message is the text of the guardrail, and not of the model.
    Guardrail(GuardrailKind),
    /// Any other reason, as the provider names it.
    Other(String),
}

impl StopReason {
    /// Returns whether the message is complete. A paused message counts as complete, and an unknown reason as incomplete.
    pub fn is_whole(&self) -> bool {
        matches!(self, Self::End | Self::Calls | Self::Paused)
    }

    /// Returns the stored name; for [`Other`](Self::Other), this is the text of the provider.
    pub fn as_str(&self) -> &str {
        match self {
            Self::End => "end",
            Self::Calls => "tool_calls",
            Self::Paused => "paused",
            Self::Length => "length",
            Self::Filtered => "filtered",
            Self::Cut => "cut",
            Self::Guardrail(kind) => kind.as_str(),
            Self::Other(word) => word,
        }
    }
}

impl From<String> for StopReason {
    fn from(word: String) -> Self {
        match &*word {
            "end" => Self::End,
            "tool_calls" => Self::Calls,
            "paused" => Self::Paused,
            "length" => Self::Length,
            "filtered" => Self::Filtered,
            "cut" => Self::Cut,
            "input_guardrail" => Self::Guardrail(GuardrailKind::Input),
            "output_guardrail" => Self::Guardrail(GuardrailKind::Output),
            "call_guardrail" => Self::Guardrail(GuardrailKind::Call),
            _ => Self::Other(word),
        }
    }
}

impl From<StopReason> for String {
    fn from(stop: StopReason) -> Self {
        match stop {
            StopReason::Other(word) => word,
            stop => stop.as_str().to_owned(),
        }
    }
}

/// A model's message as its provider wrote it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Written {
    /// The name of the provider.
    pub provider: String,
    /// The host's name for the endpoint and the model that wrote the message; `None` if the host does not set it, and in messages that earlier
    /// versions stored. Signatures, encrypted reasoning and compaction blocks are valid only there, so requests to a different origin must not
    /// contain them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub origin: Option<String>,
    /// The message in the format of that provider's requests: a JSON array of messages (items, contents).
    pub messages: String,
}

impl ModelMessage {
    /// Creates a message of text alone. A run ends with such a message.
    pub fn text(text: impl Into<String>) -> Self {
        Self {
            text: text.into(),
            ..Self::default()
        }
    }

    /// Creates a message of calls alone.
    pub fn calls(calls: impl IntoIterator<Item = ToolCall>) -> Self {
        Self {
            calls: calls.into_iter().collect(),
            ..Self::default()
        }
    }
}

/// A message of a model as the thread stores it. Its sequence number identifies its calls.
///
/// [`Turns::record`](super::Turns::record) and [`Turns::last`](super::Turns::last) return it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StoredMessage {
    pub(super) thread: ThreadId,
    pub(super) seq: u64,
    pub(super) message: ModelMessage,
    /// The sequence number of the last message that the model had read.
    pub(super) read: u64,
    /// The host's name of the turn, if an earlier version of this crate, which had no call identities, stored the message.
    pub(super) turn: Option<Arc<str>>,
}

impl StoredMessage {
    /// Returns the id of the thread.
    pub fn thread(&self) -> &ThreadId {
        &self.thread
    }

    /// Returns the sequence number in the thread.
    pub fn seq(&self) -> u64 {
        self.seq
    }

    /// Returns the sequence number of the last message that the model had read when it wrote this message.
    pub fn read(&self) -> u64 {
        self.read
    }

    /// Returns the model's message.
    pub fn message(&self) -> &ModelMessage {
        &self.message
    }

    /// Returns the calls of the message, with their positions. `continued` is the toolset if an earlier run may have made the calls: then the tools
    /// may have been renamed since the model named them.
    pub(super) fn calls<'m>(&'m self, continued: Option<&Toolset>) -> Vec<StoredCall<'m>> {
        let calls = self.message.calls.iter().zip(0..);
        calls
            .map(|(written, position)| StoredCall {
                message: self,
                written,
                call: continued.map_or(Cow::Borrowed(written), |tools| tools.continued(written)),
                position,
            })
            .collect()
    }
}

/// A call of a stored message.
pub(super) struct StoredCall<'m> {
    message: &'m StoredMessage,
    /// The call as the model wrote it, for the results that the model reads.
    pub(super) written: &'m ToolCall,
    /// The call with the present name of its tool.
    pub(super) call: Cow<'m, ToolCall>,
    pub(super) position: u32,
}

impl StoredCall<'_> {
    pub(super) fn place(&self) -> CallPlace {
        CallPlace {
            message: self.message.seq,
            position: self.position,
        }
    }

    pub(super) fn id(&self) -> CallId {
        CallId::in_thread(&self.message.thread, self.message.seq, self.position)
    }

    /// Returns the same context with the identity of the call.
    pub(super) fn context(&self, cx: &ToolContext) -> ToolContext {
        let earlier = self.message.turn.as_ref().map(|turn| EarlierCall {
            turn: Arc::clone(turn),
            path: self.call.id.clone(),
        });
        cx.for_call_of(self.id(), earlier)
    }

    /// Returns the filing that stores the result together with the end of the call, if both are in one database. It does not store a result that may
    /// still change, nor a result for which approvals have to be withdrawn first; the turn stores these results separately.
    pub(super) fn filing(&self, journal: Journal, may_have_asked: bool) -> Filing {
        let (thread, place) = (self.message.thread.clone(), self.place());
        let call = self.written.clone();
        Filing::new(self.id(), journal, move |result| {
            let by_itself = may_have_asked || leaves_approvals(result);
            if result.undecided || result.unsettled().is_some() || by_itself {
                return None;
            }
            Some(NewMessage {
                thread: thread.clone(),
                role: Role::Tool,
                answers: Some(place),
                follows: None,
                content: serde_json::to_string(&ToolMessage::of(&call, result)).ok()?,
                at: Timestamp::now(),
            })
        })
    }
}

/// Returns whether approvals of a call, or of its nested calls, may be open although the call has ended: it stopped before its body, or its body did
/// not wait for them. A turn may leave such a call open. If it does not, it withdraws the approvals before it stores the result.
pub(super) fn leaves_approvals(result: &CallResult) -> bool {
    let may_stay_open = |error: &ToolError| {
        matches!(
            error.kind(),
            ErrorKind::Pending | ErrorKind::Unavailable | ErrorKind::Cancelled
        )
    };
    let waits = |error| !result.tickets().is_empty() || may_stay_open(error);
    result.stopped || result.error().is_some_and(waits)
}

/// The content of an assistant's message in a thread.
#[derive(Serialize, Deserialize)]
pub(super) struct Recorded {
    #[serde(flatten)]
    pub(super) message: ModelMessage,
    /// The number of the step since the last message of the user; the first is 1.
    #[serde(default)]
    pub(super) step: u32,
    /// The sequence number of the last message that the model had read when it wrote this message. Earlier versions did not store it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) read: Option<u64>,
}

/// The result of a call, as the thread stores it: the text for the model and the complete payload.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct ToolMessage {
    /// The provider's id of the call.
    pub id: String,
    /// Name of the tool, as the model wrote it.
    pub name: String,
    /// The text that the model reads.
    pub text: String,
    /// The output that the model reads, if it is more than a text: parts such as images, or JSON that is not the payload.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub model: Option<ModelOutput>,
    /// The name of the [`ErrorKind`], if the call failed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
    /// The payload, for the client.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub output: Option<Box<RawValue>>,
    /// The sources of the output.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub citations: Vec<Citation>,
}

impl ToolMessage {
    pub(super) fn of(call: &ToolCall, result: &CallResult) -> Self {
        Self {
            id: call.id.clone(),
            name: call.name.clone(),
            text: result.model_text(),
            model: result
                .model_output()
                .filter(|output| !output.is_text())
                .cloned(),
            error: result.error().map(|error| error.kind().as_str().to_owned()),
            output: result.output().map(ToOwned::to_owned),
            citations: result.citations().to_vec(),
        }
    }

    /// Returns whether the call failed, so that it has no output.
    pub fn is_error(&self) -> bool {
        self.error.is_some()
    }

    /// Returns whether the call failed with an error of this kind.
    pub fn is_of(&self, kind: ErrorKind) -> bool {
        self.error.as_deref() == Some(kind.as_str())
    }

    /// Returns the text that the tool sends to the user instead of a message of the model, if the output has `"replyHandled": true`.
    ///
    /// The text is the value of `replyText`; it is empty if the output has no such key. Both keys may also be written in snake case, as the fields of
    /// a Rust struct without `rename_all` are: `reply_handled` and `reply_text`.
    pub fn reply(&self) -> Option<String> {
        #[derive(Deserialize)]
        struct Reply {
            #[serde(default, rename = "replyHandled")]
            handled: bool,
            #[serde(default, rename = "reply_handled")]
            snake_handled: bool,
            #[serde(default, rename = "replyText")]
            text: Option<String>,
            #[serde(default, rename = "reply_text")]
            snake_text: Option<String>,
        }
        let reply: Reply = serde_json::from_str(self.output.as_ref()?.get()).ok()?;
        (reply.handled || reply.snake_handled)
            .then(|| reply.text.or(reply.snake_text).unwrap_or_default())
    }
}
