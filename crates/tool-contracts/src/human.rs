//! The tools of the pack `human` of `tool-std`: questions and messages to people.

use serde::{Deserialize, Serialize};
#[cfg(feature = "schema")]
use tool_core::StrictSchema;

use crate::ToolContract;

/// The arguments of `ask_user`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(StrictSchema))]
pub struct AskUser {
    /// The questions, each with a different id.
    #[cfg_attr(feature = "schema", schema(min_items = 1, max_items = 5))]
    pub questions: Vec<UserQuestion>,
}

impl ToolContract for AskUser {
    const NAME: &'static str = "ask_user";
    type Input = Self;
    type Output = UserAnswers;
}

/// One question to the user.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(StrictSchema))]
pub struct UserQuestion {
    /// The id of the question, to which the answer refers.
    #[cfg_attr(feature = "schema", schema(length = 1..=64))]
    pub id: String,
    /// The question, as the user reads it.
    #[cfg_attr(feature = "schema", schema(length = 1..=1000))]
    pub question: String,
    /// The options to choose from; empty for a question that is answered with a text.
    #[cfg_attr(feature = "schema", schema(max_items = 6))]
    pub options: Vec<QuestionOption>,
    /// Whether the user may choose several options.
    pub multi_select: bool,
    /// Whether the user may write a text instead of or besides an option.
    pub allow_free_text: bool,
}

/// One option of a question.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(StrictSchema))]
pub struct QuestionOption {
    /// The label of the option, which is also its id in the answer.
    #[cfg_attr(feature = "schema", schema(length = 1..=200))]
    pub label: String,
    /// An explanation of the option.
    #[cfg_attr(feature = "schema", schema(length = 0..=1000))]
    pub description: Option<String>,
}

/// The result of `ask_user`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(StrictSchema))]
pub struct UserAnswers {
    /// Whether the user has answered.
    pub status: AnswerState,
    /// The answers; empty while the user has not answered.
    pub answers: Vec<UserAnswer>,
}

/// Whether the user has answered the questions.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(StrictSchema))]
#[serde(rename_all = "snake_case")]
pub enum AnswerState {
    /// The user has answered.
    Answered,
    /// The turn ends, and the answers follow in a later message.
    Deferred,
}

/// The answer to one question.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(StrictSchema))]
pub struct UserAnswer {
    /// The id of the question.
    pub id: String,
    /// The labels of the options that the user chose.
    pub selected: Vec<String>,
    /// The text that the user wrote.
    pub text: Option<String>,
}

/// The arguments of `send_message_to_human`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(StrictSchema))]
pub struct SendMessageToHuman {
    /// The text to send.
    #[cfg_attr(feature = "schema", schema(length = 1..=20000))]
    pub message: String,
}

impl ToolContract for SendMessageToHuman {
    const NAME: &'static str = "send_message_to_human";
    type Input = Self;
    type Output = SentMessage;
}

/// The address that a message was sent to.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(StrictSchema))]
pub struct SentMessage {
    /// The name of the channel.
    pub channel: String,
    /// The address in the channel.
    pub target: String,
}

/// The arguments of `mark_room_event_completed`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(StrictSchema))]
pub struct MarkRoomEventCompleted {
    /// The ids of the events.
    #[cfg_attr(feature = "schema", schema(min_items = 1, max_items = 100))]
    pub event_ids: Vec<String>,
    /// What was done, for the people who supervise the room.
    #[cfg_attr(feature = "schema", schema(length = 0..=4000))]
    pub notes: Option<String>,
}

impl ToolContract for MarkRoomEventCompleted {
    const NAME: &'static str = "mark_room_event_completed";
    type Input = Self;
    type Output = CompletedEvents;
}

/// The number of events that a call has completed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(StrictSchema))]
pub struct CompletedEvents {
    /// The number of events that this call has completed, without events that no turn has taken, that were completed before or that do not exist.
    pub completed_count: u64,
}

/// The arguments of `compact_room_history`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(StrictSchema))]
pub struct CompactRoomHistory {
    /// How many of the latest messages to keep.
    #[cfg_attr(feature = "schema", schema(range = 0..=1000))]
    pub keep_recent: Option<u32>,
}

impl ToolContract for CompactRoomHistory {
    const NAME: &'static str = "compact_room_history";
    type Input = Self;
    type Output = CompactedHistory;
}

/// The result of a compaction.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(StrictSchema))]
pub struct CompactedHistory {
    /// How many messages the summary has replaced; 0 if there was nothing to compact.
    pub compacted_messages: u64,
    /// How many messages are kept in addition to the summary.
    pub kept_messages: u64,
}

/// The arguments of `send_outbound_message`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(StrictSchema))]
pub struct SendOutboundMessage {
    /// The text to send.
    #[cfg_attr(feature = "schema", schema(length = 1..=20000))]
    pub message: String,
}

impl ToolContract for SendOutboundMessage {
    const NAME: &'static str = "send_outbound_message";
    type Input = Self;
    type Output = Replied;
}

/// The message that was sent in place of an answer of the model.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(StrictSchema))]
#[serde(rename_all = "camelCase")]
pub struct Replied {
    /// Whether the person has the reply, so that the model does not answer again.
    pub reply_handled: bool,
    /// The text that was sent.
    pub reply_text: String,
    /// The name of the channel.
    pub channel: String,
    /// The address in the channel.
    pub target: String,
}
