//! Events of threads: records of a thread's runs, in addition to its messages.

use super::{RunFence, StoreError, StoreFuture, ThreadId, Timestamp};

/// Maximum length of the name of an event's kind, in bytes.
const MOST_KIND: usize = 64;

/// An event to append to a thread.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NewThreadEvent {
    /// The name of the kind, such as `run_started`: 1 to 64 bytes. It is stored in clear text, also by a store that seals messages.
    pub kind: String,
    /// The version of the format of [`body`](Self::body).
    pub version: u32,
    /// The event as JSON, at most [`ThreadEvent::MOST_BYTES`] long.
    pub body: String,
    /// Whether the event belongs to the running step, such as a piece of the model's text. Such an event is removed when the step ends
    /// ([`NewThreadEvents::ends_step`]).
    pub transient: bool,
    /// When the event happened.
    pub at: Timestamp,
}

/// Events to append to a thread, in one transaction.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NewThreadEvents {
    /// The thread of the events.
    pub thread: ThreadId,
    /// The run whose driver writes the events. If a different driver has taken over the thread, the events are refused with
    /// [`Conflict`](StoreError::Conflict). `None` disables this check.
    pub fence: Option<RunFence>,
    /// Whether the step that ran before has ended, so that the stored [transient](NewThreadEvent::transient) events of the thread are removed before
    /// the new events are stored.
    pub ends_step: bool,
    /// The events, in order.
    pub events: Vec<NewThreadEvent>,
}

/// An event of a thread as it is stored.
///
/// Messages of the thread are not events, and no message is stored twice. The field [`message`](Self::message) orders the events among the messages:
///
/// - an event comes after the message whose number is `message`, and before the next message;
/// - events after the same message are ordered by [`seq`](Self::seq).
///
/// A reader that reads the new messages first and the new events afterwards misses no event: an event that is stored later comes after the last
/// message that was read. If an event comes after a later message, the reader keeps the event until it has read that message.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ThreadEvent {
    /// The thread of the event.
    pub thread: ThreadId,
    /// The sequence number of the event in the thread. Numbers increase and are never reused, even after the events were erased. Removed transient
    /// events leave gaps.
    pub seq: u64,
    /// The sequence number of the thread's last message when the event was stored; 0 if the thread had none.
    pub message: u64,
    /// The name of the kind.
    pub kind: String,
    /// The version of the format of [`body`](Self::body).
    pub version: u32,
    /// The event as JSON.
    pub body: String,
    /// Whether the event belongs to the running step, and is removed when the step ends.
    pub transient: bool,
    /// When the event happened.
    pub at: Timestamp,
}

impl ThreadEvent {
    /// Maximum length of [`body`](Self::body), in bytes.
    pub const MOST_BYTES: usize = 64 * 1024;
}

impl NewThreadEvents {
    /// Checks the conditions of [`ThreadEventStore::append_events`] that do not depend on stored rows. Fails with `Conflict` if the run of the fence
    /// belongs to a different thread, if the name of a kind does not have 1 to 64 bytes, or if a body is longer than [`ThreadEvent::MOST_BYTES`].
    pub fn check(&self) -> Result<(), StoreError> {
        let conflict = |fault: String| {
            let thread = &self.thread;
            Err(StoreError::Conflict(format!(
                "the events of thread {thread} {fault}"
            )))
        };
        if let Some(fence) = &self.fence
            && *fence.id.thread() != self.thread
        {
            return conflict(format!("have the fence of {}, use one thread", fence.id));
        }
        for event in &self.events {
            if event.kind.is_empty() || event.kind.len() > MOST_KIND {
                return conflict(format!(
                    "have a kind whose name has {} bytes, use 1 to {MOST_KIND}",
                    event.kind.len()
                ));
            }
            if event.body.len() > ThreadEvent::MOST_BYTES {
                return conflict(format!(
                    "have a body of {} bytes, write at most {}",
                    event.body.len(),
                    ThreadEvent::MOST_BYTES
                ));
            }
        }
        Ok(())
    }
}

impl NewThreadEvent {
    /// Returns the event as it is stored. `message` is the sequence number of the thread's last message.
    pub fn numbered(self, thread: &ThreadId, seq: u64, message: u64) -> ThreadEvent {
        let Self {
            kind,
            version,
            body,
            transient,
            at,
        } = self;
        ThreadEvent {
            thread: thread.clone(),
            seq,
            message,
            kind,
            version,
            body,
            transient,
            at,
        }
    }
}

/// A store of the events of threads, in the database of the threads and the runs.
///
/// Other processes follow a run with these events and the messages of its thread. [`Maintenance::erase_contents`](super::Maintenance::erase_contents)
/// and [`Maintenance::purge`](super::Maintenance::purge) remove the events of a thread together with its messages.
///
/// ```
/// use tool_store::*;
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), StoreError> {
/// let (store, thread, at) = (MemoryStore::default(), ThreadId::new("acme", "main")?, Timestamp::now());
/// let event = |kind: &str, transient| NewThreadEvent { kind: kind.into(), version: 1, body: "{}".into(), transient, at };
/// let append = |ends_step, events| NewThreadEvents { thread: thread.clone(), fence: None, ends_step, events };
///
/// store.append_events(append(false, vec![event("run_started", false), event("text", true)])).await?;
/// assert_eq!(store.thread_events(&thread, 0, 10).await?.len(), 2);
/// // The end of the step removes the text, and the numbers continue.
/// assert_eq!(store.append_events(append(true, vec![event("run_ended", false)])).await?, 3);
/// let kinds = store.thread_events(&thread, 0, 10).await?.into_iter().map(|event| event.kind);
/// assert_eq!(kinds.collect::<Vec<_>>(), ["run_started", "run_ended"]);
/// # Ok(())
/// # }
/// ```
#[doc(alias("event log", "outbox", "stream", "resume"))]
pub trait ThreadEventStore: Send + Sync + 'static {
    /// Appends events to their thread, and returns the sequence number of the thread's last event; 0 if it never had one. Fails with `Conflict` if
    /// the [fence](NewThreadEvents::fence) or [`NewThreadEvents::check`] refuses the events.
    fn append_events(&self, events: NewThreadEvents) -> StoreFuture<'_, u64>;

    /// Returns at most `limit` events of a thread, in order, after a sequence number; 0 is the beginning. An unknown thread has no events.
    fn thread_events<'a>(
        &'a self,
        thread: &'a ThreadId,
        after: u64,
        limit: u32,
    ) -> StoreFuture<'a, Vec<ThreadEvent>>;

    /// Removes the events of a thread, and returns their number. Their sequence numbers are never reused.
    fn erase_events<'a>(&'a self, thread: &'a ThreadId) -> StoreFuture<'a, u64>;
}
