//! What a thread keeps of a turn.

use std::sync::Arc;

use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

use crate::call::{CallResult, ToolCall};
use crate::context::{Filing, ToolContext};
use crate::error::{ErrorKind, ToolError};
use crate::output::{Citation, ModelOutput};
use crate::store::{
    CallId, CallPlace, EarlierCall, Journal, NewMessage, Role, ThreadId, Timestamp, Usage,
};

/// What a model said in one message: text, calls, or both.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ModelMessage {
    /// The text; empty where it only calls.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub text: String,
    /// The model's reasoning, where the provider returns it as text. It is for display and is not part of a request: a provider gets its own
    /// reasoning back within [`written`](Self::written), with its signatures, and other providers get none.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub reasoning: String,
    /// The calls, in the order in which they stand in the message.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub calls: Vec<ToolCall>,
    /// The message was cut off: by the limit on its length, or because the connection broke. None of its calls is run.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub truncated: bool,
    /// Names of tools that the provider runs itself. A call of one that arrives here is answered with an error.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub provider_tools: Vec<String>,
    /// The message as the provider wrote it, where it has to go back as it came: with its thoughts and their signatures.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub written: Option<Written>,
    /// Why the model stopped; `None` where the provider does not say, as in messages that versions before 0.2 stored.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stop: Option<Stop>,
    /// Tokens that the request used, where the provider says so.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub usage: Option<Usage>,
}

/// Why a model stopped.
///
/// ```
/// use tool_core::turn::Stop;
///
/// assert_eq!(serde_json::to_string(&Stop::Length)?, r#""length""#);
/// assert_eq!(serde_json::from_str::<Stop>(r#""a later word""#)?, Stop::Other("a later word".to_owned()));
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(from = "String", into = "String")]
#[non_exhaustive]
pub enum Stop {
    /// It has said what it had to say.
    End,
    /// It waits for the results of its calls.
    Calls,
    /// The provider has paused the turn; send the message back and it goes on. [`Turns::drive`](super::Turns::drive) does so.
    Paused,
    /// The limit on tokens was reached.
    Length,
    /// A filter or a guardrail stepped in, or the model refused.
    Filtered,
    /// The stream ended before its end.
    Cut,
    /// Something else, in the provider's word.
    Other(String),
}

impl Stop {
    /// Whether the message stands as the model meant it. A word that is not known here counts as not.
    pub fn is_whole(&self) -> bool {
        matches!(self, Self::End | Self::Calls | Self::Paused)
    }

    /// As the word that is stored; that of the provider for [`Other`](Self::Other).
    pub fn as_str(&self) -> &str {
        match self {
            Self::End => "end",
            Self::Calls => "tool_calls",
            Self::Paused => "paused",
            Self::Length => "length",
            Self::Filtered => "filtered",
            Self::Cut => "cut",
            Self::Other(word) => word,
        }
    }
}

impl From<String> for Stop {
    fn from(word: String) -> Self {
        match &*word {
            "end" => Self::End,
            "tool_calls" => Self::Calls,
            "paused" => Self::Paused,
            "length" => Self::Length,
            "filtered" => Self::Filtered,
            "cut" => Self::Cut,
            _ => Self::Other(word),
        }
    }
}

impl From<Stop> for String {
    fn from(stop: Stop) -> Self {
        match stop {
            Stop::Other(word) => word,
            stop => stop.as_str().to_owned(),
        }
    }
}

/// A model's message as its provider wrote it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Written {
    /// The provider, as a word.
    pub provider: String,
    /// What goes into that provider's next request: a JSON array of messages (items, contents).
    pub messages: String,
}

impl ModelMessage {
    /// Only text: the end of a run.
    pub fn text(text: impl Into<String>) -> Self {
        Self {
            text: text.into(),
            ..Self::default()
        }
    }

    /// Only calls.
    pub fn calls(calls: impl IntoIterator<Item = ToolCall>) -> Self {
        Self {
            calls: calls.into_iter().collect(),
            ..Self::default()
        }
    }
}

/// A message of a model as the thread stores it, with its sequence number: what identifies its calls.
///
/// Made by [`Turns::record`](super::Turns::record) and [`Turns::last`](super::Turns::last).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StoredMessage {
    pub(super) thread: ThreadId,
    pub(super) seq: u64,
    pub(super) message: ModelMessage,
    /// The host's name of the turn, where a version before 0.2 stored the message.
    pub(super) turn: Option<Arc<str>>,
}

impl StoredMessage {
    /// The thread.
    pub fn thread(&self) -> &ThreadId {
        &self.thread
    }

    /// The sequence number in the thread.
    pub fn seq(&self) -> u64 {
        self.seq
    }

    /// What the model said.
    pub fn message(&self) -> &ModelMessage {
        &self.message
    }

    /// The calls of the message, with their positions.
    pub(super) fn calls(&self) -> Vec<StoredCall<'_>> {
        let calls = self.message.calls.iter().zip(0..);
        calls
            .map(|(call, position)| StoredCall {
                message: self,
                call,
                position,
            })
            .collect()
    }
}

/// A call of a stored message.
pub(super) struct StoredCall<'m> {
    message: &'m StoredMessage,
    pub(super) call: &'m ToolCall,
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

    /// The context of the call.
    pub(super) fn context(&self, cx: &ToolContext) -> ToolContext {
        let earlier = self.message.turn.as_ref().map(|turn| EarlierCall {
            turn: Arc::clone(turn),
            path: self.call.id.clone(),
        });
        cx.for_call_of(self.id(), earlier)
    }

    /// Has the result stored with the end of the call, where the thread is a part of the gate's database and the result is one that
    /// every run of the message keeps. A result before which approvals have to be withdrawn is stored by itself.
    pub(super) fn filing(&self, journal: Journal, may_have_asked: bool) -> Filing {
        let (thread, place) = (self.message.thread.clone(), self.place());
        let call = self.call.clone();
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

/// Whether approvals of a call, or of calls that it made, may be open although the call has an end: it has stopped before its body, or
/// its body has not waited for them. A turn may leave such a call open; where it does not, it withdraws the approvals before it stores
/// the result.
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
    /// Which message of its run it is; the first is 1.
    #[serde(default)]
    pub(super) step: u32,
    /// The sequence number of the last message that the model had read when it wrote this one. Versions before 0.2 did not store it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) read: Option<u64>,
}

/// The result of a call, as the thread keeps it: what the model reads beside the whole payload.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct ToolMessage {
    /// The provider's id of the call.
    pub id: String,
    /// Name of the tool, as the model wrote it.
    pub name: String,
    /// What the model reads.
    pub text: String,
    /// What the model reads, where that is more than a text: parts such as images, or JSON that is not the payload.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub model: Option<ModelOutput>,
    /// The word of the [`ErrorKind`], where there is no output.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
    /// The payload, for the client.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub output: Option<Box<RawValue>>,
    /// Where the output comes from.
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

    /// Whether there is no output.
    pub fn is_error(&self) -> bool {
        self.error.is_some()
    }

    /// Whether the call was of no use for a reason of this kind.
    pub fn is_of(&self, kind: ErrorKind) -> bool {
        self.error.as_deref() == Some(kind.as_str())
    }

    /// What the tool has said to the user in the model's place: it has an output with `"replyHandled": true`.
    ///
    /// The text is that of `replyText`, empty where there is none.
    pub fn reply(&self) -> Option<String> {
        #[derive(Deserialize)]
        #[serde(rename_all = "camelCase")]
        struct Reply {
            reply_handled: bool,
            #[serde(default)]
            reply_text: Option<String>,
        }
        let reply: Reply = serde_json::from_str(self.output.as_ref()?.get()).ok()?;
        reply
            .reply_handled
            .then(|| reply.reply_text.unwrap_or_default())
    }
}
