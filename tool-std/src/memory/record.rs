//! The `remember` tool, which stores a memory.

use tool_core::prelude::*;
use tool_core::store::{Importance, MemoryScope, NewMemory, Timestamp};
use tool_core::{ErrorKind, Writes};

use super::host::{reader, unavailable};
use super::{Durability, Memory, MemoryChange, MemoryOwner, MemoryType};

/// The stored memory: the output of [`remember`](fn@remember).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, StrictSchema)]
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

/// Stores a fact, a preference or another piece of knowledge for later conversations. Write one self-contained sentence, with names instead of "he" or "it". Do
/// not store passwords, and do not store what only matters in this conversation. Storing a known content again updates it.
#[tool(
    category = "memory",
    example("A preference of the user", { "content": "Ada prefers short answers.", "memory_type": "preference", "durability": "core" }),
    example("A fact for all agents", { "content": "The fiscal year of Acme begins on 1 July.", "scope": "org" }),
)]
pub async fn remember(
    memory: &Writes<Memory>,
    cx: &ToolContext,
    /// What to remember.
    #[arg(length = 1..=2000)]
    content: String,
    /// What the memory is about.
    #[arg(default = "fact")]
    memory_type: MemoryType,
    /// How long the memory keeps its weight in searches.
    #[arg(default = "standard")]
    durability: Durability,
    /// The agents that read the memory: all agents of the organization, or only you. By default, only you.
    scope: Option<MemoryOwner>,
) -> Result<Remembered, ToolError> {
    let content = cx.redact(content.trim());
    if content.is_empty() {
        let text = "the content is blank: write what should be remembered";
        return Err(ToolError::of(ErrorKind::InvalidArguments, text));
    }
    let scope = owner(cx, scope)?;
    let importance = memory.scorer.importance(&content, memory_type, durability);
    let importance = importance.await.unwrap_or(f64::NAN);
    let importance = if importance.is_nan() {
        0.5
    } else {
        importance.clamp(0.0, 1.0)
    };
    let (vector, note) = match memory.vector(&content).await {
        Ok(vector) => (vector, None),
        Err(_) => (
            None,
            Some("The memory can be found only by its words for now.".to_owned()),
        ),
    };
    let new = NewMemory {
        scope,
        content,
        memory_type: memory_type.into(),
        durability: durability.into(),
        importance: Importance::new(importance).map_err(unavailable)?,
        source: tool_core::store::MemorySource::Model,
        principal: cx.user().map(str::to_owned),
        conversation: cx.conversation().map(str::to_owned),
        vector,
        at: Timestamp::now(),
    };
    let remembered = memory.memories.remember(new).await.map_err(unavailable)?;
    Ok(Remembered {
        id: remembered.memory.id,
        event: remembered.event.into(),
        importance: remembered.memory.importance.value(),
        note,
    })
}

/// Returns the scope of a new memory.
fn owner(cx: &ToolContext, owner: Option<MemoryOwner>) -> Result<MemoryScope, ToolError> {
    let own = reader(cx)?;
    match owner {
        None => Ok(own),
        Some(MemoryOwner::Org) => Ok(MemoryScope::shared(own.workspace())),
        Some(MemoryOwner::Agent) if own.agent_name().is_some() => Ok(own),
        Some(MemoryOwner::Agent) => Err(ToolError::of(
            ErrorKind::InvalidArguments,
            "this agent cannot have memories, because it has no name: use the scope `org`",
        )),
    }
}
