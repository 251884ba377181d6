//! Changes that operators make to memories, documents, plans, scheduled tasks and rooms.

use super::{
    DocumentName, DocumentRow, Expected, MemoryCorrection, MemoryRow, PlanRunId, StoreError,
    TaskId, TaskUpdate, ThreadId, Timestamp, Workspace,
};

/// A change of a memory, a document, a run of a plan, a scheduled task or a room.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum RecordChange {
    /// Applies [`LongTermStore::correct_memory`](super::LongTermStore::correct_memory).
    CorrectMemory {
        /// The workspace of the memory.
        workspace: Workspace,
        /// The id of the memory.
        id: String,
        /// The corrected values of the memory.
        correction: Box<MemoryCorrection>,
        /// The memory that the operator has read.
        expected: Expected<Box<MemoryRow>>,
    },
    /// Applies [`LongTermStore::remove_memory`](super::LongTermStore::remove_memory), but fails with `Missing` for an unknown memory.
    RemoveMemory {
        /// The workspace of the memory.
        workspace: Workspace,
        /// The id of the memory.
        id: String,
        /// The memory that the operator has read.
        expected: Expected<Box<MemoryRow>>,
    },
    /// Removes all memories that were last stored for a user. The result is [`Changed::Erased`](super::Changed::Erased).
    EraseMemories {
        /// The workspace of the user.
        workspace: Workspace,
        /// The user whose memories are removed.
        principal: String,
    },
    /// Applies [`KnowledgeStore::remove_document`](super::KnowledgeStore::remove_document), but fails with `Missing` for an unknown document.
    RemoveDocument {
        /// The name of the document.
        name: DocumentName,
        /// The document that the operator has read.
        expected: Expected<Box<DocumentRow>>,
    },
    /// Ends a run of a plan, as [`PlanChange::Abort`](super::PlanChange::Abort) does, but fails with `Conflict` for a run that has ended.
    EndPlan {
        /// The id of the run.
        id: PlanRunId,
        /// When the operator ends the run.
        at: Timestamp,
    },
    /// Applies [`ScheduleStore::update_task`](super::ScheduleStore::update_task), but fails with `Missing` for an unknown task.
    UpdateTask {
        /// The id of the task.
        id: TaskId,
        /// The change of the task.
        update: Box<TaskUpdate>,
        /// The version of the row that the operator has read.
        expected: u64,
    },
    /// Applies [`ScheduleStore::remove_task`](super::ScheduleStore::remove_task), but fails with `Missing` for an unknown task.
    RemoveTask {
        /// The id of the task.
        id: TaskId,
        /// The version of the row that the operator has read; `None` if the change does not depend on it.
        expected: Option<u64>,
        /// When the operator removes the task.
        at: Timestamp,
    },
    /// Applies [`RoomStore::remove_room`](super::RoomStore::remove_room), but fails with `Missing` for an unknown room.
    RemoveRoom {
        /// The conversation of the room.
        room: ThreadId,
    },
}

impl RecordChange {
    /// Returns the workspace of the changed row.
    pub fn workspace(&self) -> &Workspace {
        match self {
            Self::CorrectMemory { workspace, .. }
            | Self::RemoveMemory { workspace, .. }
            | Self::EraseMemories { workspace, .. } => workspace,
            Self::RemoveDocument { name, .. } => name.workspace(),
            Self::EndPlan { id, .. } => id.workspace(),
            Self::UpdateTask { id, .. } | Self::RemoveTask { id, .. } => id.workspace(),
            Self::RemoveRoom { room } => room.workspace(),
        }
    }

    /// Returns the error for a row that does not exist.
    pub fn missing(&self) -> StoreError {
        match self {
            Self::CorrectMemory { id, .. } | Self::RemoveMemory { id, .. } => {
                MemoryRow::missing(id)
            }
            Self::EraseMemories { workspace, .. } => {
                StoreError::Missing(format!("no workspace `{workspace}`"))
            }
            Self::RemoveDocument { name, .. } => StoreError::Missing(format!("no {name}")),
            Self::EndPlan { id, .. } => id.missing(),
            Self::UpdateTask { id, .. } | Self::RemoveTask { id, .. } => {
                StoreError::Missing(format!("no {id}"))
            }
            Self::RemoveRoom { room } => StoreError::Missing(format!("no room {room}")),
        }
    }

    /// Checks the conditions that do not depend on stored rows, such as [`MemoryCorrection::check`].
    pub(super) fn check(&self) -> Result<(), StoreError> {
        match self {
            Self::CorrectMemory { correction, .. } => correction.check(),
            _ => Ok(()),
        }
    }

    /// Returns whether the change reads and writes contents that a store may seal.
    #[cfg(any(feature = "postgres", feature = "sqlite"))]
    pub(crate) fn has_contents(&self) -> bool {
        matches!(self, Self::EndPlan { .. })
    }

    /// Returns whether a store that seals contents refuses the change, because it would write a text that a full-text index contains.
    #[cfg(any(feature = "postgres", feature = "sqlite"))]
    pub(crate) fn writes_clear_text(&self) -> bool {
        matches!(self, Self::CorrectMemory { .. })
    }

    /// Returns whether the change removes or replaces contents, which no file of the store may contain afterwards.
    #[cfg(feature = "sqlite")]
    pub(crate) fn removes_contents(&self) -> bool {
        !matches!(self, Self::EndPlan { .. } | Self::UpdateTask { .. })
    }
}
