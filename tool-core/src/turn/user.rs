//! Messages of users and of the host.

use std::fmt;

use serde::de::value::MapAccessDeserializer;
use serde::de::{self, MapAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::thread::Thread;
use super::{DuringRun, Hold, Model, Outcome, TurnError, Turns, thread};
use crate::context::ToolContext;
use crate::output::{Part, check, parts_as_text};
use crate::store::{NewMessage, Role, StoreError, ThreadId, Timestamp};
use crate::toolset::Toolset;

/// A user's message: text, images and files.
///
/// [`Turns::say`] also accepts a text, a [`Part`] or a list of parts. A thread stores a message of one text as a JSON string, and any other message as an
/// object with `parts`; both forms are read back as this type.
///
/// ```
/// use tool_core::Part;
/// use tool_core::turn::UserMessage;
///
/// let message = UserMessage::from([
///     Part::text("What is on this picture?"),
///     Part::base64("image/png", "iVBORw0KGgo=").named("cat.png"),
/// ]);
/// assert_eq!(message.to_text(), "What is on this picture?\n[image/png]");
/// assert_eq!(message.check(), Ok(()));
///
/// assert_eq!(serde_json::to_string(&UserMessage::from("Hello"))?, r#""Hello""#);
/// let stored: UserMessage = serde_json::from_str(r#"{"parts":[{"type":"text","text":"a"},{"type":"text","text":"b"}]}"#)?;
/// assert_eq!(stored.parts().len(), 2);
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UserMessage {
    parts: Vec<Part>,
}

/// The reason why a message is not stored: providers would refuse every request that contains it.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum MessageError {
    /// The message has no parts.
    #[error("it has no parts: add at least one text, image or file")]
    Empty,
    /// A system message has no text.
    #[error("its text is empty: write what the model has to know")]
    Blank,
    /// A part of the message is invalid.
    #[error("`parts[{at}]` {why}")]
    Part {
        /// Index of the part.
        at: usize,
        /// The fault of the part and how to correct it.
        why: String,
    },
}

impl UserMessage {
    /// Creates a message of these parts. [`check`](Self::check) tests whether providers accept them.
    pub fn new(parts: impl IntoIterator<Item = Part>) -> Self {
        Self {
            parts: parts.into_iter().collect(),
        }
    }

    /// Returns the parts, in order.
    pub fn parts(&self) -> &[Part] {
        &self.parts
    }

    /// Returns the message as text alone, with a line for each part: a file is named by its media type, as in `[image/png]`.
    pub fn to_text(&self) -> String {
        parts_as_text(&self.parts)
    }

    /// Refuses a message that no provider accepts: without parts, with a text of white space alone, or with a file whose media type, data or URL is
    /// invalid. [`Turns::say`] calls this before it stores a message, because a stored message is sent with every later request.
    pub fn check(&self) -> Result<(), MessageError> {
        if self.parts.is_empty() {
            return Err(MessageError::Empty);
        }
        for (at, part) in self.parts.iter().enumerate() {
            check::part(part).map_err(|why| MessageError::Part { at, why })?;
        }
        Ok(())
    }
}

impl From<&str> for UserMessage {
    fn from(text: &str) -> Self {
        Self::from(text.to_owned())
    }
}

impl From<&String> for UserMessage {
    fn from(text: &String) -> Self {
        Self::from(text.clone())
    }
}

impl From<String> for UserMessage {
    fn from(text: String) -> Self {
        Self::from(Part::text(text))
    }
}

impl From<Part> for UserMessage {
    fn from(part: Part) -> Self {
        Self { parts: vec![part] }
    }
}

impl From<Vec<Part>> for UserMessage {
    fn from(parts: Vec<Part>) -> Self {
        Self { parts }
    }
}

impl<const N: usize> From<[Part; N]> for UserMessage {
    fn from(parts: [Part; N]) -> Self {
        Self::new(parts)
    }
}

/// The stored form of a message that is not a single text.
#[derive(Serialize, Deserialize)]
struct Parts<P> {
    parts: P,
}

impl Serialize for UserMessage {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match &self.parts[..] {
            // Earlier versions stored every message in this form.
            [Part::Text { text }] => serializer.serialize_str(text),
            parts => Parts { parts }.serialize(serializer),
        }
    }
}

impl<'de> Deserialize<'de> for UserMessage {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Stored;

        impl<'de> Visitor<'de> for Stored {
            type Value = UserMessage;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a text or an object with `parts`")
            }

            fn visit_str<E: de::Error>(self, text: &str) -> Result<UserMessage, E> {
                Ok(UserMessage::from(text))
            }

            fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<UserMessage, A::Error> {
                let Parts { parts } = Parts::deserialize(MapAccessDeserializer::new(map))?;
                let message = UserMessage { parts };
                if message.parts.is_empty() {
                    return Err(de::Error::custom(MessageError::Empty));
                }
                Ok(message)
            }
        }

        deserializer.deserialize_any(Stored)
    }
}

impl Turns {
    /// Stores a user's message in the conversation of a context, and returns its sequence number in the thread.
    ///
    /// The message is a text, a [`Part`], or a list of parts: text, images and files, as base64 text or as a URL. A message
    /// that no provider accepts is not stored: [`TurnError::Message`].
    ///
    /// A message that arrives during a run waits or interrupts the run, as set by [`DuringRun`]. [`respond`](Self::respond) stores a
    /// message and answers it.
    ///
    /// ```
    /// use tool_core::store::MemoryStore;
    /// use tool_core::turn::Turns;
    /// use tool_core::{Part, ToolContext};
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), tool_core::turn::TurnError> {
    /// let turns = Turns::new(MemoryStore::default());
    /// let cx = ToolContext::builder().workspace("acme").conversation("main").user("ann").build();
    /// assert_eq!(turns.say("How is the weather in Oslo?", &cx).await?, 1);
    ///
    /// let picture = Part::base64("image/png", "iVBORw0KGgo=").named("clouds.png");
    /// assert_eq!(turns.say([Part::text("And where is this?"), picture], &cx).await?, 2);
    ///
    /// let error = turns.say(Part::base64("png", "iVBORw0KGgo="), &cx).await.unwrap_err();
    /// assert!(error.to_string().contains("write type and subtype, such as `image/png`"));
    /// # Ok(())
    /// # }
    /// ```
    pub async fn say(
        &self,
        message: impl Into<UserMessage>,
        cx: &ToolContext,
    ) -> Result<u64, TurnError> {
        let message = of_user(&message.into(), cx)?;
        let thread = message.thread.clone();
        let seq = self.threads.append(message).await?;
        if self.during_run == DuringRun::Interrupt {
            self.interrupt(&thread).await?;
        }
        Ok(seq)
    }

    /// Stores a user's message and answers it: [`say`](Self::say), then [`drive`](Self::drive).
    ///
    /// If threads and runs are in one database ([`Journal`](crate::store::Journal)), the message is stored in the transaction that begins the run.
    /// That saves one `fsync`, and no other drive of the thread can begin between these two steps.
    ///
    /// If another run of the thread is active, the message is stored as well, and the outcome is [`Outcome::Busy`]: that run reads
    /// the message or is interrupted by it, as set by [`DuringRun`]. If a store fails before the run begins, the error is the same as for `say`.
    ///
    /// ```
    /// use futures::future::BoxFuture;
    /// use tool_core::store::MemoryStore;
    /// use tool_core::turn::{Model, ModelMessage, Outcome, ModelRequest, Turns};
    /// use tool_core::{Registry, ToolContext, ToolError};
    ///
    /// struct Echo;
    ///
    /// impl Model for Echo {
    ///     fn next<'a>(&'a mut self, request: ModelRequest<'a>) -> BoxFuture<'a, Result<ModelMessage, ToolError>> {
    ///         let text = request.messages.last().map_or("", |message| &message.content);
    ///         Box::pin(std::future::ready(Ok(ModelMessage::text(text))))
    ///     }
    /// }
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), tool_core::turn::TurnError> {
    /// let turns = Turns::new(MemoryStore::default());
    /// let cx = ToolContext::builder().workspace("acme").conversation("main").user("ann").build();
    /// let tools = Registry::builder().build().expect("no two tools have one name").open();
    /// let outcome = turns.respond("Hello.", &mut Echo, |_| tools.clone(), &cx).await?;
    /// assert!(matches!(outcome, Outcome::Answered(text) if text == r#""Hello.""#));
    /// # Ok(())
    /// # }
    /// ```
    pub async fn respond<M: Model + ?Sized>(
        &self,
        message: impl Into<UserMessage>,
        model: &mut M,
        tools: impl Fn(&ToolContext) -> Toolset,
        cx: &ToolContext,
    ) -> Result<Outcome, TurnError> {
        let Some(journal) = self.one_database() else {
            self.say(message, cx).await?;
            return self.drive(model, tools, cx).await;
        };
        let message = of_user(&message.into(), cx)?;
        let id = message.thread.clone();
        match self.hold_with(message, journal, cx).await? {
            Hold::Mine(held) => {
                let unread = Thread::unread(&self.threads, id);
                self.drive_held(model, tools, cx, unread, held, &[]).await
            }
            Hold::Busy(run) if self.during_run == DuringRun::Wait => Ok(Outcome::Busy(run)),
            Hold::Busy(_) => {
                self.interrupt(&id).await?;
                // If the other run has ended already, this drive answers the message.
                self.drive(model, tools, cx).await
            }
        }
    }

    /// Stores a system message in the conversation of a context: instructions that the model follows from this message on. Returns its sequence number in
    /// the thread.
    ///
    /// Store the instructions when a conversation begins, and again only if they change, because every message is sent with each request.
    /// `Provider::history` of the crate `tool-wire` puts them where the provider expects them. A system message is not a question to the model:
    /// [`drive`](Self::drive) does not begin a run for it, and a current run reads it with its next request.
    ///
    /// Fails with [`TurnError::Message`] for a text of white space alone.
    ///
    /// ```
    /// use tool_core::ToolContext;
    /// use tool_core::store::MemoryStore;
    /// use tool_core::turn::Turns;
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), tool_core::turn::TurnError> {
    /// let turns = Turns::new(MemoryStore::default());
    /// let cx = ToolContext::builder().workspace("acme").conversation("main").user("ann").build();
    /// assert_eq!(turns.instruct("You answer in one sentence.", &cx).await?, 1);
    /// assert_eq!(turns.say("How is the weather in Oslo?", &cx).await?, 2);
    /// # Ok(())
    /// # }
    /// ```
    pub async fn instruct(&self, text: &str, cx: &ToolContext) -> Result<u64, TurnError> {
        if text.trim().is_empty() {
            return Err(MessageError::Blank.into());
        }
        let content = serde_json::Value::from(text).to_string();
        let message = new_message(Role::System, thread(cx)?, content);
        Ok(self.threads.append(message).await?)
    }
}

/// Builds a user's message for the thread of a context.
pub(super) fn of_user(message: &UserMessage, cx: &ToolContext) -> Result<NewMessage, TurnError> {
    message.check()?;
    let content =
        serde_json::to_string(message).map_err(|error| StoreError::Corrupt(error.to_string()))?;
    Ok(new_message(Role::User, thread(cx)?, content))
}

fn new_message(role: Role, thread: ThreadId, content: String) -> NewMessage {
    NewMessage {
        thread,
        role,
        answers: None,
        follows: None,
        content,
        at: Timestamp::now(),
    }
}
