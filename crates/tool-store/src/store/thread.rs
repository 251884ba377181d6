//! Messages of threads (conversations).

use serde::{Deserialize, Serialize};

#[cfg(feature = "host")]
use super::Journal;
use super::{CallPlace, StoreError, StoreFuture, ThreadId, Timestamp, words};

/// The author of a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Role {
    /// The host, with instructions for the model.
    System,
    /// The user, with a message for the model.
    User,
    /// The model, with text, calls or both.
    Assistant,
    /// A tool, with the result of one call.
    Tool,
}

words!(Role { System = "system", User = "user", Assistant = "assistant", Tool = "tool", });

/// A message to append to a thread.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NewMessage {
    /// The thread of the message.
    pub thread: ThreadId,
    /// The author of the message.
    pub role: Role,
    /// The call that a tool's message answers; `None` for other messages.
    pub answers: Option<CallPlace>,
    /// For a message of the model: the sequence number of the model's last message that the writer has read, 0 if there was none. The store refuses
    /// the message if the thread contains a newer message of the model, so that only one of two concurrent runs continues. `None` disables this
    /// check.
    pub follows: Option<u64>,
    /// The content, as JSON. Depending on the role, `tool_core::turn::Turns` stores a string for the system, a `UserMessage`, a `ModelMessage` or a
    /// `ToolMessage`.
    pub content: String,
    /// When the message was written.
    pub at: Timestamp,
}

/// A stored message with its sequence number.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Message {
    /// The sequence number in the thread. Numbers increase by 1 and are never reused, even after the thread was erased.
    pub seq: u64,
    /// The thread of the message.
    pub thread: ThreadId,
    /// The author of the message.
    pub role: Role,
    /// The call that a tool's message answers; `None` for other messages.
    pub answers: Option<CallPlace>,
    /// The host's name of the turn, in messages that earlier versions of this crate, which had no call identities, wrote.
    pub turn: Option<String>,
    /// The content, as JSON.
    pub content: String,
    /// When the message was written.
    pub at: Timestamp,
}

impl NewMessage {
    /// Checks the conditions of [`ThreadStore::append`] that do not depend on the thread: fails with `Conflict` if a tool's message does not contain
    /// the call that it answers, or if a different message contains a call.
    pub fn check(&self) -> Result<(), StoreError> {
        match (self.role, self.answers) {
            (Role::Tool, None) => Err(StoreError::Conflict(
                "a tool's message answers a call, give the call's place in the thread".to_owned(),
            )),
            (Role::System | Role::User | Role::Assistant, Some(_)) => {
                Err(StoreError::Conflict(format!(
                    "a message of role `{}` cannot answer a call, only a tool's message can",
                    self.role
                )))
            }
            _ => Ok(()),
        }
    }

    /// Returns the error for a tool's message whose call already has a result in the thread.
    #[must_use]
    pub fn answered(&self) -> StoreError {
        let CallPlace { message, position } = self.answers.unwrap_or(CallPlace {
            message: 0,
            position: 0,
        });
        StoreError::Conflict(format!(
            "call {position} of message {message} already has a result in thread {}",
            self.thread
        ))
    }

    /// Returns the error for a message of the model that does not follow the model's last message in the thread.
    #[must_use]
    pub fn overtaken(&self) -> StoreError {
        StoreError::Conflict(format!(
            "thread {} has a newer message of the model than the writer has read: read the thread again",
            self.thread
        ))
    }

    /// Returns the message as it is stored, with its sequence number.
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

/// A store of the messages of threads.
///
/// ```
/// use tool_store::*;
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
    /// Returns the transactions of the database that this store belongs to; `None` if each of its changes is a separate transaction.
    #[cfg(feature = "host")]
    fn journal(&self) -> Option<Journal> {
        None
    }

    /// Stores a message at the end of its thread, and returns its sequence number. Fails with `Conflict` if the call already has a result,
    /// if a message of the model does not [follow](NewMessage::follows) the model's last message, or if [`NewMessage::check`] fails.
    fn append(&self, message: NewMessage) -> StoreFuture<'_, u64>;

    /// Returns the messages of a thread in order, or only the messages after a sequence number if one is passed. An unknown thread has no messages.
    fn read<'a>(
        &'a self,
        thread: &'a ThreadId,
        after: Option<u64>,
    ) -> StoreFuture<'a, Vec<Message>>;

    /// Returns at most `limit` messages of a thread, in order, after a sequence number; 0 is the beginning. The default implementation reads
    /// all messages after the number.
    fn read_page<'a>(
        &'a self,
        thread: &'a ThreadId,
        after: u64,
        limit: u32,
    ) -> StoreFuture<'a, Vec<Message>> {
        Box::pin(async move {
            let mut messages = self.read(thread, Some(after)).await?;
            messages.truncate(usize::try_from(limit).unwrap_or(usize::MAX));
            Ok(messages)
        })
    }

    /// Returns the sequence number of the first message with this role and this time in a thread; `None` if there is none. The default implementation
    /// reads the thread in pages.
    fn message_at<'a>(
        &'a self,
        thread: &'a ThreadId,
        role: Role,
        at: Timestamp,
    ) -> StoreFuture<'a, Option<u64>> {
        Box::pin(async move {
            let mut after = 0;
            loop {
                let page = self.read_page(thread, after, 100).await?;
                let mut found = page.iter();
                let found = found.find(|message| message.role == role && message.at == at);
                match (found, page.last()) {
                    (Some(found), _) => return Ok(Some(found.seq)),
                    (None, Some(last)) => after = last.seq,
                    (None, None) => return Ok(None),
                }
            }
        })
    }

    /// Removes the messages of a thread, and returns their number. Their sequence numbers are never reused, so that a new call never has the identity
    /// of a call in an erased message.
    fn erase<'a>(&'a self, thread: &'a ThreadId) -> StoreFuture<'a, u64>;
}
