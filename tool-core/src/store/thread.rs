//! The messages of a thread.

use serde::{Deserialize, Serialize};

#[cfg(feature = "host")]
use super::Journal;
use super::{CallPlace, StoreError, StoreFuture, ThreadId, Timestamp, words};

/// Who speaks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Role {
    /// The host, with instructions for the model.
    System,
    /// The user.
    User,
    /// The model.
    Assistant,
    /// A tool, with the result of one call.
    Tool,
}

words!(Role { System = "system", User = "user", Assistant = "assistant", Tool = "tool", });

/// A message to be stored.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NewMessage {
    /// The thread.
    pub thread: ThreadId,
    /// Who speaks.
    pub role: Role,
    /// The call that a tool's message answers; `None` for other messages.
    pub answers: Option<CallPlace>,
    /// For a message of the model: the sequence number of the last message of the model that its writer has read, 0 where there was
    /// none. The message is refused where the thread has a newer one, so that of two runs in one thread only one goes on. `None` stores
    /// it in any case.
    pub follows: Option<u64>,
    /// What is said, as JSON. [`Turns`](crate::turn::Turns) store a string for the system, a [`UserMessage`](crate::turn::UserMessage), a
    /// [`ModelMessage`](crate::turn::ModelMessage) or a [`ToolMessage`](crate::turn::ToolMessage), by the role.
    pub content: String,
    /// When.
    pub at: Timestamp,
}

/// A message as it is stored.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Message {
    /// Its sequence number in the thread. Numbers grow by 1, and none is given twice, also after the thread was erased.
    pub seq: u64,
    /// The thread.
    pub thread: ThreadId,
    /// Who speaks.
    pub role: Role,
    /// The call that a tool's message answers.
    pub answers: Option<CallPlace>,
    /// The host's name of the turn, in messages that versions before 0.2 wrote.
    pub turn: Option<String>,
    /// What is said, as JSON.
    pub content: String,
    /// When.
    pub at: Timestamp,
}

impl NewMessage {
    /// Refuses what [`ThreadStore::append`] does not take whatever the thread holds: Conflict for a tool's message that answers no
    /// call, and for another message that answers one.
    pub fn check(&self) -> Result<(), StoreError> {
        match (self.role, self.answers) {
            (Role::Tool, None) => Err(StoreError::Conflict(
                "a tool's message answers a call, give its place in the thread".to_owned(),
            )),
            (Role::System | Role::User | Role::Assistant, Some(_)) => {
                Err(StoreError::Conflict(format!(
                    "a message of role `{}` answers no call, only a tool's message does",
                    self.role
                )))
            }
            _ => Ok(()),
        }
    }

    /// The error for a tool's message whose call has its result in the thread already.
    #[must_use]
    pub fn answered(&self) -> StoreError {
        let CallPlace { message, position } = self.answers.unwrap_or(CallPlace {
            message: 0,
            position: 0,
        });
        StoreError::Conflict(format!(
            "call {position} of message {message} has its result in thread {} already",
            self.thread
        ))
    }

    /// The error for a message of the model that does not follow the thread's last one.
    #[must_use]
    pub fn overtaken(&self) -> StoreError {
        StoreError::Conflict(format!(
            "thread {} has a newer message of the model than the writer has read",
            self.thread
        ))
    }

    /// The message with its sequence number.
    pub fn numbered(self, seq: u64) -> Message {
        let Self {
            thread,
            role,
            answers,
            follows: _,
            content,
            at,
        } = self;
        Message {
            seq,
            thread,
            role,
            answers,
            turn: None,
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
/// let thread = ThreadId::new("acme", "main")?;
/// let called = NewMessage {
///     thread: thread.clone(), role: Role::Assistant, answers: None, follows: Some(0), content: "{}".into(), at: Timestamp::now(),
/// };
/// let message = store.append(called).await?;
/// let result = NewMessage {
///     thread: thread.clone(), role: Role::Tool, answers: Some(CallPlace { message, position: 0 }), follows: None,
///     content: "7".into(), at: Timestamp::now(),
/// };
/// assert_eq!(store.append(result.clone()).await?, 2);
/// assert!(matches!(store.append(result).await, Err(StoreError::Conflict(_)))); // a call has one result
/// assert_eq!(ThreadStore::read(&store, &thread, None).await?.len(), 2);
/// # Ok(())
/// # }
/// ```
#[doc(alias("memory", "session", "conversation history", "checkpointer"))]
pub trait ThreadStore: Send + Sync + 'static {
    /// The transactions of the database that this store is a part of; `None` where each of its changes is a transaction of its own.
    #[cfg(feature = "host")]
    fn journal(&self) -> Option<Journal> {
        None
    }

    /// Stores a message at the end of its thread, and returns its sequence number. Conflict where the call has a tool's message already,
    /// where a message of the model does not [follow](NewMessage::follows) the last one, and for what [`NewMessage::check`] refuses.
    fn append(&self, message: NewMessage) -> StoreFuture<'_, u64>;

    /// The messages of a thread in order; those after a sequence number where one is given. An unknown thread has none.
    fn read<'a>(
        &'a self,
        thread: &'a ThreadId,
        after: Option<u64>,
    ) -> StoreFuture<'a, Vec<Message>>;

    /// Removes the messages of a thread, and returns how many there were. Their sequence numbers are not given again, so that a new call
    /// is never taken for one of an erased message.
    fn erase<'a>(&'a self, thread: &'a ThreadId) -> StoreFuture<'a, u64>;
}
