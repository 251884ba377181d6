//! Child threads: threads that belong to a parent thread, such as the threads of sub-agents.

use serde::{Deserialize, Serialize};

use super::{
    CallPlace, NewMessage, Scope, StoreError, StoreFuture, ThreadId, Timestamp, Workspace, words,
};

/// The purpose of a child thread.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum ChildKind {
    /// The messages of a prompt that a tool call runs. They belong to that call.
    Prompt,
    /// The conversation of a sub-agent.
    Subagent,
}

words!(ChildKind {
    Prompt = "prompt",
    Subagent = "subagent",
});

/// The state of a child thread.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum ChildState {
    /// The first session begins when a user has supplied the variables that the agent requires.
    Deferred,
    /// A session is in progress, or the process of the session died.
    Running,
    /// The last session ended. A message begins the next session.
    Idle,
    /// The last session failed. A message begins the next session.
    Failed,
    /// A call of the session waits for a person.
    AwaitingHuman,
    /// The thread accepts no more messages.
    Terminated,
}

words!(ChildState {
    Deferred = "deferred",
    Running = "running",
    Idle = "idle",
    Failed = "failed",
    AwaitingHuman = "awaiting_human",
    Terminated = "terminated",
});

/// A child thread as it is stored.
///
/// Its methods include the state transitions of a row, for authors of a store: read the row, apply the step and write the row back, in one
/// transaction.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct ChildRow {
    /// The id of the child thread.
    pub thread: ThreadId,
    /// The thread that started the child thread, in the same workspace.
    pub parent: ThreadId,
    /// The agent of the parent that started the thread; empty if the host started it. The settings of this agent apply to the thread, even after
    /// the parent made a handoff to a different agent.
    pub caller: String,
    /// The call of the parent that began the current session; `None` if no call did.
    pub call: Option<CallPlace>,
    /// Whether that call returns the outcome of the session. Otherwise, the outcome is delivered as a message.
    pub waits: bool,
    /// The sequence number of the message that began the current session; 0 if no message did.
    pub begins: u64,
    /// The purpose of the thread.
    pub kind: ChildKind,
    /// The name of the agent or of the prompt.
    pub agent: String,
    /// The display name that the model gave the sub-agent. It is stored in clear text, also by a store that seals messages.
    pub name: Option<String>,
    /// The depth of the parent plus 1. A thread without a parent has the depth 0.
    pub depth: u32,
    /// Whether the parent may send more messages.
    pub resumable: bool,
    /// The state of the child thread.
    pub state: ChildState,
    /// The number of the current or last session; the first is 1.
    pub session: u64,
    /// The number of the last session whose outcome was delivered to the parent; 0 if none was.
    pub delivered: u64,
    /// The [keys](ChildSender::key) of the messages of the current session. Messages without a key are left out.
    pub keys: Vec<String>,
    /// The id of the open request for variables, while the state is [`Deferred`](ChildState::Deferred).
    pub request: Option<String>,
    /// When the thread was started.
    pub created: Timestamp,
    /// When the row was last changed.
    pub updated: Timestamp,
}

impl ChildRow {
    /// Creates the row of a running thread of depth 1 that is not resumable, in its first session.
    pub fn new(
        thread: ThreadId,
        parent: ThreadId,
        kind: ChildKind,
        agent: impl Into<String>,
        at: Timestamp,
    ) -> Self {
        Self {
            thread,
            parent,
            caller: String::new(),
            call: None,
            waits: false,
            begins: 0,
            kind,
            agent: agent.into(),
            name: None,
            depth: 1,
            resumable: false,
            state: ChildState::Running,
            session: 1,
            delivered: 0,
            keys: Vec::new(),
            request: None,
            created: at,
            updated: at,
        }
    }

    /// Returns the workspace of both threads.
    pub fn workspace(&self) -> &Workspace {
        self.thread.workspace()
    }

    /// Returns whether the thread accepts messages.
    pub fn is_live(&self) -> bool {
        self.state != ChildState::Terminated
    }

    /// Returns whether the row counts toward a limit on live children of `other`'s parent, kind and agent.
    pub fn is_sibling_of(&self, other: &Self) -> bool {
        self.is_live()
            && self.parent == other.parent
            && self.kind == other.kind
            && self.agent == other.agent
    }

    /// Checks the conditions of [`ChildStore::open_child`] that do not depend on stored rows. Fails with `Conflict` if the agent is empty, if a
    /// thread is its own parent, if the threads are in different workspaces, if the depth is 0, if the row is not in its first session, if the
    /// first messages belong to a different thread, or if [`NewMessage::check`] fails.
    pub fn check(&self, messages: &[NewMessage]) -> Result<(), StoreError> {
        let fault = if self.agent.is_empty() {
            "has no agent, name the agent"
        } else if self.thread == self.parent {
            "is its own parent, give it a conversation of its own"
        } else if self.thread.workspace() != self.parent.workspace() {
            "is in a different workspace than its parent, use one workspace"
        } else if self.depth == 0 {
            "has the depth 0, use the depth of its parent plus 1"
        } else if self.session != 1 || self.delivered != 0 {
            "does not begin with its first session, create it with `ChildRow::new`"
        } else if messages.iter().any(|message| message.thread != self.thread) {
            "has first messages of a different thread, use its own thread in the messages"
        } else {
            return messages.iter().try_for_each(NewMessage::check);
        };
        Err(StoreError::Conflict(format!(
            "the child thread {} {fault}",
            self.thread
        )))
    }

    /// Checks the message of [`ChildStore::end_session`]. Fails with `Conflict` if the message belongs to a thread that is not the parent, or if
    /// [`NewMessage::check`] fails.
    pub fn check_end(&self, end: &EndedSession) -> Result<(), StoreError> {
        let Some(message) = &end.message else {
            return Ok(());
        };
        if message.thread != self.parent {
            return Err(StoreError::Conflict(format!(
                "the outcome of the child thread {} belongs to thread {}, write it to the parent {}",
                self.thread, message.thread, self.parent
            )));
        }
        message.check()
    }

    /// Returns the text that shows the display name in lists, such as `name:Fjord study`; `None` if the child has no name.
    pub fn tag(&self) -> Option<String> {
        self.name.as_ref().map(|name| format!("name:{name}"))
    }

    /// Applies [`ChildStore::message_child`] to the row, and returns the effect of the message. If the message begins a session,
    /// the store sets [`begins`](Self::begins) to the sequence number of the message.
    pub fn receive(&mut self, sender: &ChildSender, at: Timestamp) -> Receipt {
        let key = sender.key.as_ref();
        if key.is_some_and(|key| self.keys.contains(key)) {
            return Receipt::Known;
        }
        let receipt = match self.state {
            ChildState::Terminated => return Receipt::Dead,
            ChildState::Idle | ChildState::Failed => {
                self.state = ChildState::Running;
                self.session += 1;
                (self.call, self.waits) = (sender.call, sender.waits);
                self.keys.clear();
                Receipt::Begun
            }
            ChildState::Deferred | ChildState::Running | ChildState::AwaitingHuman => {
                Receipt::Queued
            }
        };
        self.keys.extend(key.cloned());
        if receipt == Receipt::Begun || key.is_some() {
            self.updated = at;
        }
        receipt
    }

    /// Applies [`ChildStore::change_child`] to the row. Returns whether the change applies. A change from idle or failed to running begins the next
    /// session.
    pub fn change(&mut self, change: &ChildChange) -> bool {
        if self.session != change.session || !change.from.contains(&self.state) {
            return false;
        }
        if change.to == ChildState::Running
            && matches!(self.state, ChildState::Idle | ChildState::Failed)
        {
            self.session += 1;
            (self.call, self.waits) = (None, false);
            self.keys.clear();
        }
        if self.state == ChildState::Deferred && change.to == ChildState::Running {
            // The call that started the child has returned.
            self.waits = false;
        }
        self.state = change.to;
        if change.to != ChildState::Deferred {
            self.request = None;
        }
        self.updated = change.at;
        true
    }

    /// Applies [`ChildStore::end_session`] to the row. `last_of_user` is the sequence number of the last message of a user in the thread, 0 if there
    /// is none. Returns `Ended(None)` if this step ends the session; the store then appends the message and returns its sequence number.
    pub fn end(&mut self, end: &EndedSession, last_of_user: u64) -> SessionEnd {
        let is_over = self.delivered >= end.session || self.state == ChildState::Terminated;
        if self.session != end.session || is_over {
            return SessionEnd::Earlier;
        }
        if end.read.is_some_and(|read| last_of_user > read) {
            return SessionEnd::Unread;
        }
        self.state = end.state;
        self.delivered = end.session;
        self.request = None;
        self.updated = end.at;
        SessionEnd::Ended(None)
    }

    /// Returns the error for a child thread that does not exist.
    pub fn missing(thread: &ThreadId) -> StoreError {
        StoreError::Missing(format!("no child thread {thread}"))
    }
}

/// The result of [`ChildStore::open_child`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ChildOpened {
    /// The row and the first messages were stored.
    New(Box<ChildRow>),
    /// The store has a row of this thread already, and nothing was stored.
    Known(Box<ChildRow>),
    /// The parent has as many live children of the kind and the agent as the limit allows, and nothing was stored. These are the rows of these
    /// children, ordered by conversation.
    Full(Vec<ChildRow>),
}

/// The sender of a message for a child thread.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ChildSender {
    /// Identifies the call that sends the message. A message is not stored if the current session has a message with the same key.
    pub key: Option<String>,
    /// The call, if the sender is a call of the parent.
    pub call: Option<CallPlace>,
    /// Whether the call returns the outcome of a session that the message begins.
    pub waits: bool,
}

/// The effect of a message for a child thread, decided by [`ChildRow::receive`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Receipt {
    /// The message begins the next session.
    Begun,
    /// The current session reads the message.
    Queued,
    /// The current session has a message with this key, from an earlier run of the call. The message was not stored again.
    Known,
    /// The thread is terminated, so the message was not stored.
    Dead,
}

/// The result of [`ChildStore::message_child`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ChildMessage {
    /// The row after the change.
    pub row: ChildRow,
    /// The effect of the message.
    pub receipt: Receipt,
    /// The sequence number of the message; `None` if it was not stored.
    pub seq: Option<u64>,
}

/// A change of a child's state.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ChildChange {
    /// The number of the session that the caller has read. If the row is in a different session, it is not changed.
    pub session: u64,
    /// The states from which the change is allowed.
    pub from: Vec<ChildState>,
    /// The new state of the child thread.
    pub to: ChildState,
    /// When the row is changed.
    pub at: Timestamp,
}

/// The end of a child's session.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EndedSession {
    /// The number of the session.
    pub session: u64,
    /// The new state of the child thread.
    pub state: ChildState,
    /// The sequence number of the last message that the session has read. The session does not end if a user has written a later message. `None`
    /// disables this check.
    pub read: Option<u64>,
    /// The message for the parent's thread, if the outcome is delivered as a message.
    pub message: Option<NewMessage>,
    /// When the session ended.
    pub at: Timestamp,
}

/// The result of [`ChildStore::end_session`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SessionEnd {
    /// The session ended. The number is the sequence number of the message in the parent's thread, if there was one.
    Ended(Option<u64>),
    /// The session had ended before, a later session has begun, or the thread is terminated. Nothing was stored.
    Earlier,
    /// A user has written a message that the session has not read. Nothing was stored; continue the session.
    Unread,
}

/// A filter for child threads: a row must match every field that is set.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ChildFilter {
    /// Children of this thread.
    pub parent: Option<ThreadId>,
    /// Children of this kind.
    pub kind: Option<ChildKind>,
    /// Children of this agent.
    pub agent: Option<String>,
    /// Children in this state.
    pub state: Option<ChildState>,
    /// The maximum number of rows.
    pub limit: Option<u32>,
    /// The cursor: only rows after it. It is the [`ChildRow::thread`] of the last row of the previous page.
    pub after: Option<ThreadId>,
}

impl ChildFilter {
    /// Returns whether the filter admits a row. The caller applies `limit`.
    pub fn admits(&self, row: &ChildRow) -> bool {
        self.parent
            .as_ref()
            .is_none_or(|parent| *parent == row.parent)
            && self.kind.is_none_or(|kind| kind == row.kind)
            && self.agent.as_ref().is_none_or(|agent| *agent == row.agent)
            && self.state.is_none_or(|state| state == row.state)
            && self.after.as_ref().is_none_or(|after| row.thread > *after)
    }
}

/// A store of child threads.
///
/// [`Maintenance::erase_contents`](super::Maintenance::erase_contents) removes the row of an erased thread and the rows of its children.
/// [`Maintenance::purge`](super::Maintenance::purge) removes a row together with the messages of its thread. A message to a thread whose row was
/// removed fails with `Missing`, and a call that is repeated afterwards opens the child again.
///
/// ```
/// use tool_store::*;
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), StoreError> {
/// let store = MemoryStore::default();
/// let (main, child) = (ThreadId::new("acme", "main")?, ThreadId::new("acme", "child")?);
/// let row = ChildRow::new(child.clone(), main.clone(), ChildKind::Subagent, "researcher", Timestamp::now());
/// assert!(matches!(store.open_child(row.clone(), Some(1), Vec::new()).await?, ChildOpened::New(_)));
/// // A second attempt after a crash finds the same child.
/// assert!(matches!(store.open_child(row, Some(1), Vec::new()).await?, ChildOpened::Known(_)));
///
/// let end = EndedSession { session: 1, state: ChildState::Idle, read: None, message: None, at: Timestamp::now() };
/// assert_eq!(store.end_session(&child, end.clone()).await?, SessionEnd::Ended(None));
/// assert_eq!(store.end_session(&child, end).await?, SessionEnd::Earlier);
/// # Ok(())
/// # }
/// ```
#[doc(alias("subagent", "sub-agent", "spawn"))]
pub trait ChildStore: Send + Sync + 'static {
    /// Stores a child thread with its first messages, in one transaction. `most` limits the live children of the same parent, kind and agent,
    /// including this one; `None` sets no limit. Fails with `Conflict` if [`ChildRow::check`] or [`ThreadStore::append`](super::ThreadStore::append)
    /// refuses the row or a message.
    ///
    /// A row of the same thread has priority over the limit, so that a call that is repeated after a crash finds its child.
    fn open_child(
        &self,
        row: ChildRow,
        most: Option<u32>,
        messages: Vec<NewMessage>,
    ) -> StoreFuture<'_, ChildOpened>;

    /// Returns the row of a child thread; `None` if the thread is not a child.
    fn child<'a>(&'a self, thread: &'a ThreadId) -> StoreFuture<'a, Option<ChildRow>>;

    /// Lists child threads, ordered by workspace and conversation.
    fn children<'a>(
        &'a self,
        scope: Scope<'a>,
        filter: &'a ChildFilter,
    ) -> StoreFuture<'a, Vec<ChildRow>>;

    /// Appends a message to a child thread and applies [`ChildRow::receive`], in one transaction. A terminated thread gets no message. Fails with
    /// `Missing` if the message's thread is not a child, and with `Conflict` if [`ThreadStore::append`](super::ThreadStore::append) refuses the
    /// message.
    fn message_child(
        &self,
        message: NewMessage,
        sender: ChildSender,
    ) -> StoreFuture<'_, ChildMessage>;

    /// Changes the state of a child, and returns the row after the change; `None` if the child does not exist, or if its session or state is
    /// different from the [change](ChildChange)'s.
    fn change_child<'a>(
        &'a self,
        thread: &'a ThreadId,
        change: ChildChange,
    ) -> StoreFuture<'a, Option<ChildRow>>;

    /// Ends a session and appends the message to the parent's thread, in one transaction, so that each outcome is delivered once. Fails with
    /// `Missing` if the thread is not a child, and with `Conflict` if the message belongs to a thread that is not the parent, or if
    /// [`ThreadStore::append`](super::ThreadStore::append) refuses it.
    fn end_session<'a>(
        &'a self,
        thread: &'a ThreadId,
        end: EndedSession,
    ) -> StoreFuture<'a, SessionEnd>;

    /// Removes the row of a child. Its messages remain until [`ThreadStore::erase`](super::ThreadStore::erase). Returns whether the row existed.
    fn remove_child<'a>(&'a self, thread: &'a ThreadId) -> StoreFuture<'a, bool>;
}
