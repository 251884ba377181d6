//! The tools of the pack `memory` of `tool-std`.

use serde::{Deserialize, Serialize};
#[cfg(feature = "schema")]
use tool_core::StrictSchema;

use crate::ToolContract;

/// The arguments of `search_memory`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(StrictSchema))]
pub struct SearchMemory {
    /// Words or a question.
    #[cfg_attr(feature = "schema", schema(length = 1..=1000))]
    pub query: String,
    /// The maximum number of results; 5 by default.
    #[cfg_attr(feature = "schema", schema(range = 1..=20))]
    pub limit: Option<u32>,
    /// The types of memories to search; all types by default.
    #[cfg_attr(feature = "schema", schema(max_items = 7))]
    pub types: Option<Vec<MemoryType>>,
}

impl ToolContract for SearchMemory {
    const NAME: &'static str = "search_memory";
    type Input = Self;
    type Output = MemoryResults;
}

/// The arguments of `remember`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(StrictSchema))]
pub struct Remember {
    /// What to remember.
    #[cfg_attr(feature = "schema", schema(length = 1..=2000))]
    pub content: String,
    /// What the memory is about; a fact by default.
    pub memory_type: Option<MemoryType>,
    /// How long the memory keeps its weight in searches; standard by default.
    pub durability: Option<Durability>,
    /// The agents that read the memory: all agents of the organization, or only the calling agent, which is the default.
    pub scope: Option<MemoryOwner>,
}

impl ToolContract for Remember {
    const NAME: &'static str = "remember";
    type Input = Self;
    type Output = Remembered;
}

/// The arguments of `memory_block`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(StrictSchema))]
pub struct MemoryBlock {
    /// The text of the note.
    #[cfg_attr(feature = "schema", schema(length = 1..=500))]
    pub note: String,
}

impl ToolContract for MemoryBlock {
    const NAME: &'static str = "memory_block";
    type Input = Self;
    type Output = BlockState;
}

/// The arguments of `search_conversation`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(StrictSchema))]
pub struct SearchConversation {
    /// The words to search for.
    #[cfg_attr(feature = "schema", schema(length = 1..=1000))]
    pub query: String,
    /// The authors whose messages are searched; the user and the assistant by default.
    #[cfg_attr(feature = "schema", schema(max_items = 2))]
    pub roles: Option<Vec<ConversationRole>>,
    /// The maximum number of results; 10 by default.
    #[cfg_attr(feature = "schema", schema(range = 1..=20))]
    pub limit: Option<u32>,
}

impl ToolContract for SearchConversation {
    const NAME: &'static str = "search_conversation";
    type Input = Self;
    type Output = ConversationResults;
}

/// What a memory is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(StrictSchema))]
#[serde(rename_all = "snake_case")]
pub enum MemoryType {
    /// Something that is true.
    Fact,
    /// What a user likes, dislikes or wants done in a certain way.
    Preference,
    /// What happened in a conversation.
    Interaction,
    /// A summary of a longer text.
    Summary,
    /// What a user asked for.
    UserRequest,
    /// A person, an organization or a thing.
    Entity,
    /// A subject that a user is interested in.
    Interest,
}

/// How long a memory keeps its weight in searches.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(StrictSchema))]
#[serde(rename_all = "snake_case")]
pub enum Durability {
    /// It keeps its weight.
    Core,
    /// It slowly loses weight.
    Standard,
    /// It loses weight within days, and is removed 30 days after it was last stored.
    Ephemeral,
}

/// The agents that read a memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(StrictSchema))]
#[serde(rename_all = "snake_case")]
pub enum MemoryOwner {
    /// All agents of the organization.
    Org,
    /// Only the agent that stores it.
    Agent,
}

/// The author of a memory's content.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(StrictSchema))]
#[serde(rename_all = "snake_case")]
pub enum MemorySource {
    /// A user or an operator.
    User,
    /// A model.
    Model,
    /// The output of a tool, such as a web page.
    Tool,
}

/// Whether a memory is new.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(StrictSchema))]
#[serde(rename_all = "snake_case")]
pub enum MemoryChange {
    /// The memory is new.
    Add,
    /// A memory with the same or a similar content was updated.
    Update,
}

/// The result of `remember`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(StrictSchema))]
pub struct Remembered {
    /// The id of the memory.
    pub id: String,
    /// Whether the memory is new, or an earlier one was updated.
    pub event: MemoryChange,
    /// The importance of the memory, from 0 to 1.
    pub importance: f64,
    /// What could not be done; null if everything was done.
    pub note: Option<String>,
}

/// The result of `search_memory`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(StrictSchema))]
pub struct MemoryResults {
    /// The query that was searched.
    pub query: String,
    /// The number of results.
    pub count: u64,
    /// The memories, best first.
    pub results: Vec<MemoryResult>,
    /// Why results may be missing or in a worse order; null if every search succeeded.
    pub note: Option<String>,
}

/// One memory of the results.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(StrictSchema))]
pub struct MemoryResult {
    /// The id of the memory.
    pub id: String,
    /// The text of the memory.
    pub content: String,
    /// What the memory is about.
    pub memory_type: MemoryType,
    /// How long the memory keeps its weight in searches.
    pub durability: Durability,
    /// The importance of the memory, from 0 to 1.
    pub importance: f64,
    /// The score of the result, with 4 decimals. It can be compared only with the scores of the same search.
    pub score: f64,
    /// The agents that read the memory.
    pub scope: MemoryOwner,
    /// The author of the content.
    pub source: MemorySource,
    /// When the memory was first stored, in RFC 3339.
    pub created_at: String,
    /// When the memory was last stored, in RFC 3339.
    pub updated_at: String,
}

/// The result of `memory_block`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(StrictSchema))]
pub struct BlockState {
    /// The number of notes that were ever appended.
    pub total_notes: u64,
    /// The number of oldest notes that were removed, because the block was full.
    pub removed_notes: u64,
    /// The length of the block, in characters.
    pub chars: u64,
}

/// The author of a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(StrictSchema))]
#[serde(rename_all = "snake_case")]
pub enum ConversationRole {
    /// The user, with whom the model talks.
    User,
    /// The assistant, which is the model.
    Assistant,
}

/// The result of `search_conversation`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(StrictSchema))]
pub struct ConversationResults {
    /// The query that was searched.
    pub query: String,
    /// The number of results.
    pub count: u64,
    /// The messages, best first.
    pub results: Vec<ConversationHit>,
}

/// One message of the results.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(StrictSchema))]
pub struct ConversationHit {
    /// The number of the message in the conversation. Later messages have larger numbers.
    pub message_id: u64,
    /// The author of the message.
    pub role: ConversationRole,
    /// The part of the message around the words of the query, at most 300 characters.
    pub snippet: String,
    /// When the message was written, in RFC 3339.
    pub created_at: String,
    /// The score of the result, with 4 decimals. It can be compared only with the scores of the same search.
    pub score: f64,
}
