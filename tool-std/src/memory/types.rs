//! The enums of the memory tools: types, durability, sources and owners of memories.

use tool_core::prelude::*;

use crate::mirrored::mirrored;

mirrored! {
    /// What a memory is about.
    MemoryType {
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
    } = MemoryType
}

mirrored! {
    /// How long a memory keeps its weight in searches.
    Durability {
        /// It keeps its weight.
        Core,
        /// It slowly loses weight.
        Standard,
        /// It loses weight within days, and is removed 30 days after it was last stored.
        Ephemeral,
    } = Durability
}

mirrored! {
    /// The author of a memory's content.
    MemorySource {
        /// A user or an operator.
        User,
        /// A model.
        Model,
        /// The output of a tool, such as a web page.
        Tool,
    } = MemorySource
}

mirrored! {
    /// Whether a memory is new.
    MemoryChange {
        /// The memory is new.
        Add,
        /// A memory with the same or a similar content was updated.
        Update,
    } = MemoryEvent
}

/// The agents that read a memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, StrictSchema)]
#[serde(rename_all = "snake_case")]
pub enum MemoryOwner {
    /// All agents of the organization.
    Org,
    /// Only the agent that stores it.
    Agent,
}
