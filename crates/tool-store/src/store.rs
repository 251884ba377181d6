//! The traits of the stores, their records, the state transitions that every store shares, and the store in memory.

#[cfg(feature = "host")]
mod administration;
#[cfg(feature = "host")]
mod answer;
#[cfg(feature = "host")]
mod approval;
#[cfg(feature = "host")]
mod audit;
#[cfg(feature = "host")]
mod budget;
mod catalogue;
#[cfg(feature = "host")]
mod change;
#[cfg(feature = "host")]
mod child;
#[cfg(feature = "host")]
mod claim;
#[cfg(feature = "host")]
mod directory;
mod enablement;
#[cfg(feature = "host")]
mod event;
#[cfg(feature = "host")]
mod function;
mod identity;
#[cfg(feature = "host")]
mod journal;
#[cfg(feature = "host")]
mod knowledge;
#[cfg(feature = "host")]
mod ledger;
#[cfg(feature = "host")]
pub(crate) mod limit;
#[cfg(feature = "host")]
pub(crate) mod long_term;
#[cfg(feature = "host")]
mod maintenance;
mod memory;
#[cfg(feature = "host")]
mod plan;
#[cfg(feature = "host")]
mod record_change;
#[cfg(feature = "host")]
mod room;
#[cfg(feature = "host")]
mod run;
#[cfg(feature = "host")]
mod schedule;
#[cfg(feature = "host")]
mod sealed;
#[cfg(feature = "host")]
mod secret;
#[doc(hidden)]
pub mod shield;
mod spill;
#[cfg(feature = "host")]
mod stored_tool;
#[cfg(feature = "host")]
mod switch;
mod thread;
#[cfg(feature = "host")]
mod thread_event;
#[cfg(feature = "schedule")]
mod timing;
#[cfg(feature = "host")]
mod usage;
#[cfg(feature = "host")]
mod variable;
#[cfg(feature = "host")]
mod variable_request;
#[cfg(feature = "host")]
mod work;

use std::error::Error;

use futures::future::BoxFuture;

#[doc(inline)]
pub use crate::env::Timestamp;
#[cfg(feature = "host")]
#[doc(no_inline)]
pub use crate::text_search;
#[cfg(feature = "host")]
pub use administration::{DirectoryChange, ErasedContents, InstanceChange, VaultChange};
#[cfg(feature = "host")]
pub use approval::{
    ApprovalAnswer, ApprovalFilter, ApprovalKind, ApprovalRequest, ApprovalRow, ApprovalStatus,
    ApprovalStore, Verdict,
};
#[cfg(feature = "host")]
pub use audit::{AuditFilter, AuditNote, AuditRow, AuditSink};
#[cfg(feature = "host")]
pub use budget::{
    BudgetAmount, BudgetFilter, BudgetId, BudgetLimits, BudgetRow, BudgetSettlement, BudgetStore,
    NewReservation, Reserved,
};
pub use catalogue::{
    Catalogue, CatalogueChanges, CatalogueEntry, RemovedTool, RenamedTool, SyncReport,
};
#[cfg(feature = "host")]
pub use change::{Applied, Change, ChangeRequest, ChangeStore, Changed, Expected, RequestKey};
#[cfg(feature = "host")]
pub use child::{
    ChildChange, ChildFilter, ChildKind, ChildMessage, ChildOpened, ChildRow, ChildSender,
    ChildState, ChildStore, EndedSession, Receipt, SessionEnd,
};
#[cfg(feature = "host")]
pub use claim::EffectClaim;
#[cfg(feature = "host")]
pub use directory::{Directory, Editor, Member, MemberRole, RetentionTier, WorkspaceSettings};
pub use enablement::{
    CatalogueDiff, ChangedInstances, EnablementFacts, EnablementFilter, EnablementRow,
    EnablementSource, EnablementStore, InstanceId, RowChange, SkillChange, SkillPin, SkillVersion,
};
pub(crate) use enablement::{SYNC, check_operator};
#[cfg(feature = "host")]
pub(crate) use event::kept_since;
#[cfg(all(feature = "host", any(feature = "sqlite", feature = "postgres")))]
pub(crate) use event::read as read_event;
#[cfg(feature = "host")]
pub use event::{EVENTS_KEPT, Event, EventPage, EventResource, EventStore};
#[cfg(feature = "host")]
pub use function::{
    Function, FunctionEffects, FunctionFilter, FunctionKind, FunctionUpdate, FunctionVersion,
    NewFunction, NewFunctionVersion, ToolSchema,
};
#[doc(hidden)]
pub use identity::EarlierCall;
pub use identity::{CallId, CallKey, CallPlace, Scope, ThreadId, Workspace};
#[cfg(feature = "host")]
pub use journal::{Batch, BatchStore, Batched, EndedEffect, EndedRun, Journal, RunFence};
#[cfg(feature = "host")]
pub use knowledge::{
    ChunkEmbedding, ChunkHit, ChunkSearch, ChunkText, ChunkVectorSearch, Document,
    DocumentEmbedding, DocumentFilter, DocumentName, DocumentRow, DocumentStatus, DocumentWrite,
    DocumentWriteMode, DocumentWritten, EmbeddingClaim, EmbeddingOutcome, EmbeddingWork,
    IndexClaim, IndexOutcome, KnowledgeStore,
};
#[cfg(all(feature = "host", any(feature = "sqlite", feature = "postgres")))]
pub(crate) use knowledge::{best_chunks, rounded as rounded_score};
#[cfg(feature = "host")]
pub use ledger::{
    Begun, EffectEnd, EffectFilter, EffectLedger, EffectRow, EffectState, Ended, Intent, Resolution,
};
#[cfg(feature = "host")]
pub use limit::{LimitId, LimitRow, LimitRule, LimitStore, LimitTake, LimitTaken, LimitUnit};
#[cfg(feature = "host")]
pub use long_term::{
    Durability, Importance, LongTermStore, MemoryCorrection, MemoryEvent, MemoryFilter, MemoryHit,
    MemoryQuery, MemoryRow, MemoryScope, MemorySource, MemoryType, MemoryVector, NewMemory,
    NewNote, Note, NoteBlock, Remembered,
};
#[cfg(feature = "host")]
pub use maintenance::{Erased, Erasure, Maintenance, Purged, Retention};
pub use memory::MemoryStore;
#[cfg(all(feature = "host", any(feature = "sqlite", feature = "postgres")))]
pub(crate) use plan::PlanState;
#[cfg(feature = "host")]
pub use plan::{
    NewPlanRun, PlanAnswer, PlanApproval, PlanArtifact, PlanAttempt, PlanAttemptStatus, PlanChange,
    PlanChanged, PlanCheckpoint, PlanCondition, PlanCreated, PlanDeliverable, PlanDraft, PlanEdge,
    PlanEvent, PlanEventKind, PlanExecutor, PlanFilter, PlanIssue, PlanNode, PlanNodeKind,
    PlanNodeRun, PlanNodeStatus, PlanOutcome, PlanOwner, PlanRefusal, PlanRow, PlanRules,
    PlanRunId, PlanSchema, PlanSeverity, PlanSpec, PlanStatus, PlanStore, PlanSubmission,
};
#[cfg(feature = "host")]
pub use record_change::RecordChange;
#[cfg(feature = "host")]
pub use room::{
    NewRoomEvent, NewRoomMessage, RoomCompaction, RoomEvent, RoomEventFilter, RoomEventState,
    RoomMessage, RoomStore, RoomSummary,
};
#[cfg(feature = "host")]
pub use run::{
    NewRun, RunBegun, RunCause, RunCursor, RunEnd, RunFilter, RunId, RunProgress, RunRow, RunState,
    RunStop, RunStore,
};
#[cfg(feature = "host")]
pub use schedule::{
    NewTask, ScheduleStore, SkippedRun, TaskAttempt, TaskClaim, TaskDefinition, TaskFilter, TaskId,
    TaskOutcome, TaskRow, TaskRun, TaskRunFilter, TaskRunState, TaskStep, TaskTiming, TaskUpdate,
};
#[cfg(feature = "host")]
pub use sealed::{
    KeyId, KeyUse, Reseal, SealKeyRow, SealStore, Sealed, SealedColumn, SealedPlace, SealedRow,
};
#[cfg(feature = "host")]
pub use secret::{SecretFilter, SecretInfo, SecretRow, SecretStore};
pub use spill::{Spill, SpillPart, SpillStore};
#[cfg(feature = "host")]
pub(crate) use stored_tool::new_row_id;
#[cfg(feature = "host")]
pub use stored_tool::{
    AgentBinding, BindingFilter, IncludeDeleted, NewTool, ResolvedTool, RuntimeUser,
    RuntimeUserLevel, StoredExample, StoredTool, StoredToolFilter, StoredToolStore, ToolChange,
    ToolEdit, ToolEdited, ToolFacts, ToolSource, ToolTarget, ToolUpdate,
};
#[cfg(feature = "host")]
pub use switch::{Switch, SwitchFilter, SwitchKey, SwitchKind, SwitchStore};
pub use thread::{Message, NewMessage, Role, ThreadStore};
#[cfg(feature = "host")]
pub use thread_event::{NewThreadEvent, NewThreadEvents, ThreadEvent, ThreadEventStore};
#[cfg(feature = "schedule")]
pub use timing::{TimingError, next_due, read_time, write_time};
#[cfg(feature = "host")]
pub use usage::Usage;
#[cfg(feature = "host")]
pub use variable::{
    VariableFilter, VariableInfo, VariableLevel, VariableRow, VariableScope, VariableStore,
    VariableType, VariableValue,
};
#[cfg(feature = "host")]
pub use variable_request::{VariableField, VariableRequest, VariableRequestStore};
#[cfg(all(feature = "host", any(feature = "sqlite", feature = "postgres")))]
pub(crate) use work::SUSPECT;
#[cfg(feature = "host")]
pub use work::{
    ClaimedWork, NewWork, WorkAgent, WorkCause, WorkClaim, WorkFilter, WorkOutcome, WorkRow,
    WorkState, WorkStore,
};

/// The future that a store's methods return.
pub type StoreFuture<'a, T> = BoxFuture<'a, Result<T, StoreError>>;

/// An error of a store.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum StoreError {
    /// A stored row or a value of the caller forbids the change. Nothing was changed, except for changes that the method's documentation lists.
    #[error("conflict: {0}")]
    Conflict(String),
    /// The stored row differs from the row that the caller has read. Nothing was changed.
    #[error("stale: {0}")]
    Stale(String),
    /// The row does not exist, or belongs to a different workspace.
    #[error("missing: {0}")]
    Missing(String),
    /// The author of the change may not make it. Nothing was changed.
    #[error("forbidden: {0}")]
    Forbidden(String),
    /// The store could not be reached, read or written, or something that it needs failed, such as a key provider. The same call may succeed later.
    #[error("the store is unavailable: {0}")]
    Unavailable(Box<dyn Error + Send + Sync>),
    /// A stored row cannot be read: its values are invalid, or they are sealed and this handle of the store does not open them. A retry fails with
    /// the same error.
    #[error("the store contains a value that this program cannot read: {0}")]
    Corrupt(String),
}

/// The stores that every host needs, in one object: the seven traits combined.
///
/// ```
/// use std::sync::Arc;
/// use tool_store::{MemoryStore, Store};
///
/// let store: Arc<dyn Store> = Arc::new(MemoryStore::default());
/// # let _ = store;
/// ```
#[cfg(feature = "host")]
pub trait Store:
    ApprovalStore + EffectLedger + AuditSink + ThreadStore + RunStore + SpillStore + SwitchStore
{
}

#[cfg(feature = "host")]
impl<
    T: ApprovalStore + EffectLedger + AuditSink + ThreadStore + RunStore + SpillStore + SwitchStore,
> Store for T
{
}

/// The stores of sealed secrets and of variables, in one object: the four traits combined. The store does not need the keys, because the vault
/// (feature `seal`) seals and opens the values.
#[cfg(feature = "host")]
pub trait VaultStore: SealStore + SecretStore + VariableStore + VariableRequestStore {}

#[cfg(feature = "host")]
impl<T: SealStore + SecretStore + VariableStore + VariableRequestStore> VaultStore for T {}

/// Defines the words that stores write for the variants of a plain enum.
macro_rules! words {
    ($name:ident { $($variant:ident = $word:literal,)+ }) => {
        impl $name {
            /// Every value, in the order of the definition.
            pub const ALL: &'static [Self] = &[$(Self::$variant,)+];

            /// Returns the word that stores write for the value.
            pub const fn as_str(self) -> &'static str {
                match self {
                    $(Self::$variant => $word,)+
                }
            }

            /// Returns the variant of a stored word; `None` for an unknown word.
            pub fn from_word(word: &str) -> Option<Self> {
                match word {
                    $($word => Some(Self::$variant),)+
                    _ => None,
                }
            }
        }

        impl std::fmt::Display for $name {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str(self.as_str())
            }
        }
    };
}
use words;
