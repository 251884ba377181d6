//! The messages of a thread.

use serde::{Deserialize, Serialize};

use super::{StoreError, StoreFuture, Timestamp, words};

/// Who speaks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Role {
    /// The user.
    User,
    /// The model.
    Assistant,
    /// A tool, with the result of one call.
    Tool,
}

words!(Role { User = "user", Assistant = "assistant", Tool = "tool", });

/// A message to be stored.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct NewMessage {
    /// The thread.
    pub thread: String,
    /// The turn that it belongs to.
    pub turn: String,
    /// Who speaks.
    pub role: Role,
    /// The call that a tool's message answers.
    pub call: Option<String>,
    /// What is said, as JSON.
    pub content: String,
    /// When.
    pub at: Timestamp,
}

/// A message as it is stored.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Message {
    /// Its place in the thread; the first is 1, and none is left out.
    pub seq: u64,
    /// The thread.
    pub thread: String,
    /// The turn that it belongs to.
    pub turn: String,
    /// Who speaks.
    pub role: Role,
    /// The call that a tool's message answers.
    pub call: Option<String>,
    /// What is said, as JSON.
    pub content: String,
    /// When.
    pub at: Timestamp,
}

impl NewMessage {
    /// Refuses what [`ThreadStore::append`] does not take whatever the thread holds: Conflict for a tool's message that names no call.
    pub fn check(&self) -> Result<(), StoreError> {
        if self.role == Role::Tool && self.call.is_none() {
            return Err(StoreError::Conflict(
                "a tool's message names the call that it answers".to_owned(),
            ));
        }
        Ok(())
    }

    /// The error for a tool's message whose call has its result in the thread already.
    #[must_use]
    pub fn answered(&self) -> StoreError {
        let (thread, turn) = (&self.thread, &self.turn);
        let call = self.call.as_deref().unwrap_or_default();
        StoreError::Conflict(format!(
            "call `{call}` of turn `{turn}` has its result in thread `{thread}` already"
        ))
    }

    /// The message at its place in the thread.
    pub fn at_place(self, seq: u64) -> Message {
        let Self {
            thread,
            turn,
            role,
            call,
            content,
            at,
        } = self;
        Message {
            seq,
            thread,
            turn,
            role,
            call,
            content,
            at,
        }
    }
}

/// Keeps the messages of threads.
///
/// ```
/// use tool_core::store::*;
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), StoreError> {
/// let store = MemoryStore::default();
/// let result = NewMessage {
///     thread: "th1".into(), turn: "t1".into(), role: Role::Tool, call: Some("c1".into()), content: "7".into(), at: Timestamp::now(),
/// };
/// assert_eq!(store.append(result.clone()).await?, 1);
/// assert!(matches!(store.append(result).await, Err(StoreError::Conflict(_)))); // a call has one result
/// assert_eq!(ThreadStore::read(&store, "th1", None).await?.len(), 1);
/// # Ok(())
/// # }
/// ```
pub trait ThreadStore: Send + Sync + 'static {
    /// Stores a message at the end of its thread, and returns its place there. Conflict where the call of this turn has a tool's
    /// message already, and for a tool's message that names no call.
    fn append(&self, message: NewMessage) -> StoreFuture<'_, u64>;

    /// The messages of a thread in order; those after a place where one is given. An unknown thread has none.
    fn read<'a>(&'a self, thread: &'a str, after: Option<u64>) -> StoreFuture<'a, Vec<Message>>;

    /// Removes a thread, and returns how many messages it had.
    fn erase<'a>(&'a self, thread: &'a str) -> StoreFuture<'a, u64>;
}
