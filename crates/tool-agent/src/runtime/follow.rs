//! Readers of stored events: they follow the runs of a thread from any process.

use std::fmt;
use std::str::FromStr;
use std::sync::Arc;
use std::time::Duration;

use futures::stream::{self, BoxStream, StreamExt as _};
use serde::Deserialize;
use tool_core::store::{
    Message, Role, StoreError, ThreadEvent, ThreadEventStore, ThreadId, ThreadStore, shield,
};
use tool_core::turn::{ModelMessage, ToolMessage, is_paused};

use super::event::{AgentEvent, AgentEventKind, EVENT_VERSION};

/// Maximum number of messages, and of rows, of one read.
const PAGE: u32 = 200;

/// Default time between two reads of a thread without new events.
const POLL: Duration = Duration::from_millis(250);

/// Reads the events of threads from a store, in any process that has the store: the events that [`AgentRuntimeBuilder::events`] has stored, together
/// with the messages of the thread.
///
/// The events of a thread form a stream like the events of [`AgentRuntime::stream`], but without the events of the threads below it. Read each of
/// these threads in the same way: [`ChildStarted`](AgentEventKind::ChildStarted) has the conversation of the child. The stream begins with the first
/// run whose events were stored.
///
/// - A reader that joins late gets the messages and the results of the earlier steps, then the pieces of the running step, and then the new events.
/// - Pieces are stored in batches. A reader may miss the last pieces of a step, but never earlier pieces. The
///   [`Message`](AgentEventKind::Message) of the step has the complete text and replaces its pieces.
/// - A run whose process died has no [`RunEnded`](AgentEventKind::RunEnded). The next [`RunStarted`](AgentEventKind::RunStarted) withdraws the pieces of a
///   step that has no message, and so does [`RunEnded`](AgentEventKind::RunEnded).
///
/// ```
/// use futures::StreamExt as _;
/// use tool_agent::agent::Agent;
/// use tool_agent::model::{Script, ScriptedModel};
/// use tool_agent::runtime::{AgentEntry, AgentEventKind, AgentRuntime, EventCursor, StoredEvents};
/// use tool_core::store::MemoryStore;
/// use tool_core::turn::Turns;
/// use tool_core::{Gate, ToolContext};
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let model = ScriptedModel::new([Script::text("Hello there.")]);
/// let store = MemoryStore::default();
/// let runtime = AgentRuntime::builder(Turns::new(store.clone()), &Gate::builder().build())
///     .events(store.clone())
///     .agent(AgentEntry::new(Agent::builder("chief", model).build()?))
///     .build()?;
/// let cx = ToolContext::builder().workspace("acme").conversation("main").build();
/// runtime.respond("chief", "Hello.", &cx).await?;
///
/// // Usually in a different process, and while the run continues:
/// let events = StoredEvents::new(store);
/// let mut following = events.follow(&cx.thread().unwrap(), EventCursor::START);
/// let mut kinds = Vec::new();
/// while let Some(followed) = following.next().await {
///     let event = followed?.event;
///     kinds.push(event.kind.name());
///     if let AgentEventKind::RunEnded { .. } = event.kind {
///         break;
///     }
/// }
/// assert_eq!(kinds, ["run_started", "step_started", "message", "run_ended"]);
/// # Ok(())
/// # }
/// ```
///
/// [`AgentRuntime::stream`]: super::AgentRuntime::stream
/// [`AgentRuntimeBuilder::events`]: super::AgentRuntimeBuilder::events
#[derive(Clone)]
#[doc(alias("resume", "reconnect", "tail"))]
pub struct StoredEvents {
    threads: Arc<dyn ThreadStore>,
    events: Arc<dyn ThreadEventStore>,
    poll: Duration,
}

/// A place in the stream of a thread's events, after an event.
///
/// Its text, such as `12-40` or `12-40-step`, is an opaque id for clients that resume a stream, for example as the id of a server-sent event.
///
/// ```
/// use tool_agent::runtime::EventCursor;
///
/// let cursor: EventCursor = "12-40-step".parse()?;
/// assert_eq!(cursor.to_string(), "12-40-step");
/// assert_eq!(EventCursor::START.to_string(), "0-0");
/// assert!("12".parse::<EventCursor>().is_err());
/// # Ok::<(), tool_core::store::StoreError>(())
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct EventCursor {
    /// The sequence number of the last message that was read.
    message: u64,
    /// The sequence number of the last row that was read.
    seq: u64,
    /// Whether a step has started whose message has not been read.
    in_step: bool,
}

impl EventCursor {
    /// The beginning of a stream.
    pub const START: Self = Self {
        message: 0,
        seq: 0,
        in_step: false,
    };

    /// Returns the sequence number of the last message of the thread before this place; 0 if there is none.
    pub fn message(&self) -> u64 {
        self.message
    }
}

impl fmt::Display for EventCursor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}-{}", self.message, self.seq)?;
        if self.in_step {
            f.write_str("-step")?;
        }
        Ok(())
    }
}

impl FromStr for EventCursor {
    type Err = StoreError;

    fn from_str(text: &str) -> Result<Self, StoreError> {
        let (place, in_step) = match text.strip_suffix("-step") {
            Some(place) => (place, true),
            None => (text, false),
        };
        let numbers = place.split_once('-');
        let numbers = numbers.and_then(|(message, seq)| Some((number(message)?, number(seq)?)));
        let (message, seq) = numbers.ok_or_else(|| {
            StoreError::Conflict(
                "the cursor is not the cursor of an event: send the id of the last event"
                    .to_owned(),
            )
        })?;
        Ok(Self {
            message,
            seq,
            in_step,
        })
    }
}

/// Parses a number that consists of digits only and is at most `i64::MAX`, the largest integer of the store.
fn number(text: &str) -> Option<u64> {
    let digits = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    let number = digits.then(|| text.parse().ok()).flatten()?;
    (number <= i64::MAX.cast_unsigned()).then_some(number)
}

/// An event of a thread, and the place after it.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct FollowedEvent {
    /// The place after the event, from which the next event can be read.
    pub cursor: EventCursor,
    /// The event that was read.
    pub event: AgentEvent,
    /// The sequence number of the last message of the user that was read before the event; 0 if the reader has not read one.
    pub user: u64,
}

/// The events of a thread, as they are stored; created by [`StoredEvents::follow`].
///
/// The stream ends only after an error. After an error, follow the thread again from the last
/// cursor.
#[must_use = "the events are read while the stream is polled"]
pub struct FollowedEvents(BoxStream<'static, Result<FollowedEvent, StoreError>>);

impl stream::Stream for FollowedEvents {
    type Item = Result<FollowedEvent, StoreError>;

    fn poll_next(
        mut self: std::pin::Pin<&mut Self>,
        cx: &mut std::task::Context<'_>,
    ) -> std::task::Poll<Option<Self::Item>> {
        self.0.poll_next_unpin(cx)
    }
}

impl fmt::Debug for FollowedEvents {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("FollowedEvents").finish_non_exhaustive()
    }
}

impl fmt::Debug for StoredEvents {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("StoredEvents")
            .field("poll", &self.poll)
            .finish_non_exhaustive()
    }
}

impl StoredEvents {
    /// Creates a reader of the threads of a store.
    pub fn new<S: ThreadStore + ThreadEventStore>(store: S) -> Self {
        let store = Arc::new(store);
        Self::shared(Arc::clone(&store) as Arc<dyn ThreadStore>, store)
    }

    /// Creates a reader of two stores of the same database, which other code may share.
    pub fn shared(threads: Arc<dyn ThreadStore>, events: Arc<dyn ThreadEventStore>) -> Self {
        Self {
            threads: shield::threads(threads),
            events: shield::thread_events(events),
            poll: POLL,
        }
    }

    /// Sets the time between two reads of a thread without new events; the default is 250 milliseconds.
    #[must_use]
    pub fn poll_every(mut self, poll: Duration) -> Self {
        self.poll = poll.max(Duration::from_millis(1));
        self
    }

    /// Returns the time between two reads of a thread without new events.
    pub fn poll_interval(&self) -> Duration {
        self.poll
    }

    /// Returns the events that are stored after a place, at most a few hundred. The list is empty if no event is stored after the place.
    ///
    /// # Errors
    ///
    /// Fails if the store fails, and with [`StoreError::Corrupt`] if a row cannot be parsed, for example because a later version of this crate has
    /// written it.
    pub async fn read(
        &self,
        thread: &ThreadId,
        after: EventCursor,
    ) -> Result<Vec<FollowedEvent>, StoreError> {
        self.reader(thread, after).read().await
    }

    /// Creates a reader of the events after a place, which reads each event once.
    pub fn reader(&self, thread: &ThreadId, after: EventCursor) -> EventReader {
        EventReader {
            events: self.clone(),
            reader: Box::new(Reader {
                thread: thread.clone(),
                cursor: after,
                agents: None,
                last: None,
                user: 0,
            }),
            knows_agents: false,
        }
    }

    /// Follows a thread from a place: returns the stored events and then the new ones. The stream ends only after an error.
    pub fn follow(&self, thread: &ThreadId, after: EventCursor) -> FollowedEvents {
        let state = Some((self.reader(thread, after), Vec::new().into_iter(), false));
        let events = stream::unfold(state, |state| async move {
            // The state is `None` after an error, which ends the stream.
            let (mut reader, mut events, mut is_all) = state?;
            loop {
                if let Some(event) = events.next() {
                    return Some((Ok(event), Some((reader, events, is_all))));
                }
                if is_all {
                    tokio::time::sleep(reader.events.poll).await;
                }
                match reader.page().await {
                    Ok((read, all)) => (events, is_all) = (read.into_iter(), all),
                    Err(error) => return Some((Err(error), None)),
                }
            }
        });
        FollowedEvents(events.boxed())
    }

    /// Returns the place before the last run of a thread whose events are stored; the beginning if there is none.
    ///
    /// # Errors
    ///
    /// Fails like [`read`](Self::read).
    pub async fn last_run(&self, thread: &ThreadId) -> Result<EventCursor, StoreError> {
        let (mut last, mut after) = (EventCursor::START, 0);
        loop {
            let rows = self.events.thread_events(thread, after, PAGE).await?;
            let Some(end) = rows.last().map(|row| row.seq) else {
                return Ok(last);
            };
            let mut runs = rows.iter().rev().filter(|row| row.kind == RUN_STARTED);
            if let Some(run) = runs.next() {
                last = EventCursor {
                    message: run.message,
                    seq: run.seq - 1,
                    in_step: false,
                };
            }
            after = end;
        }
    }

    /// Reads the rows up to the place of a reader, to find the parent and the agents at that place.
    async fn learn_agents(&self, reader: &mut Reader) -> Result<(), StoreError> {
        let (mut read, place) = (0, reader.cursor.seq);
        while read < place {
            let rows = self.events.thread_events(&reader.thread, read, PAGE);
            let rows = rows.await?;
            let Some(end) = rows.last().map(|row| row.seq) else {
                break;
            };
            for row in rows.iter().filter(|row| row.seq <= place) {
                reader.learn(&parse(row)?);
            }
            read = end;
        }
        if reader.cursor.in_step
            && let Some(agents) = &mut reader.agents
        {
            // The rows of the step may be removed. A handoff before them was made before the step began.
            agents.active.clone_from(&agents.next);
        }
        Ok(())
    }

    /// Reads the next page. Returns its events, and whether no more are stored.
    async fn read_on(&self, reader: &mut Reader) -> Result<(Vec<FollowedEvent>, bool), StoreError> {
        // The messages are read before the events, so that every event that is stored in between comes after
        // the last of these messages.
        let EventCursor { message, seq, .. } = reader.cursor;
        let messages = self.threads.read_page(&reader.thread, message, PAGE);
        let messages = messages.await?;
        let rows = self.events.thread_events(&reader.thread, seq, PAGE).await?;
        let is_full = |length: usize| length >= PAGE as usize;
        let is_all = !is_full(messages.len()) && !is_full(rows.len());
        let mut last = messages.last().map_or(message, |message| message.seq);
        if is_full(rows.len()) {
            // Unread rows may come before later messages, so the reader stops at the place of the last row.
            last = last.min(rows.last().map_or(message, |row| row.message).max(message));
        }
        let mut events = Vec::new();
        let mut messages = messages.into_iter().filter(|message| message.seq <= last);
        let mut next = messages.next();
        for row in rows {
            if row.message > last {
                break;
            }
            while let Some(message) = next.take_if(|message| message.seq <= row.message) {
                reader.message(&message, &mut events)?;
                next = messages.next();
            }
            reader.row(&row, &mut events)?;
        }
        for message in next.into_iter().chain(messages) {
            reader.message(&message, &mut events)?;
        }
        Ok((events, is_all))
    }
}

/// Reads the events of one thread; created by [`StoredEvents::reader`]. After an error, create a reader at the last cursor.
#[derive(Debug)]
pub struct EventReader {
    events: StoredEvents,
    reader: Box<Reader>,
    /// Whether the rows up to the first place were read. These rows name the active agent.
    knows_agents: bool,
}

impl EventReader {
    /// Returns the events that were stored after the events of the last call, as [`StoredEvents::read`] does.
    ///
    /// # Errors
    ///
    /// Fails like [`StoredEvents::read`].
    pub async fn read(&mut self) -> Result<Vec<FollowedEvent>, StoreError> {
        loop {
            let (events, is_all) = self.page().await?;
            if is_all || !events.is_empty() {
                return Ok(events);
            }
        }
    }

    /// Reads the next page. Returns its events, and whether no more are stored.
    async fn page(&mut self) -> Result<(Vec<FollowedEvent>, bool), StoreError> {
        if !self.knows_agents {
            self.events.learn_agents(&mut self.reader).await?;
            self.knows_agents = true;
        }
        self.events.read_on(&mut self.reader).await
    }
}

const RUN_STARTED: &str = "run_started";

fn parse(row: &ThreadEvent) -> Result<AgentEvent, StoreError> {
    let corrupt = |why: String| {
        let (seq, thread) = (row.seq, &row.thread);
        StoreError::Corrupt(format!("event {seq} of thread {thread} {why}"))
    };
    if row.version > EVENT_VERSION {
        return Err(corrupt(format!(
            "has the version {}, and this program reads versions up to {EVENT_VERSION}",
            row.version
        )));
    }
    serde_json::from_str(&row.body).map_err(|error| corrupt(format!("cannot be read: {error}")))
}

/// A message of the model, as a thread stores it.
#[derive(Deserialize)]
struct Said {
    #[serde(flatten)]
    message: ModelMessage,
    #[serde(default)]
    step: u32,
}

/// The place of a reader, and the state that the next events depend on.
#[derive(Debug)]
struct Reader {
    thread: ThreadId,
    cursor: EventCursor,
    /// The parent thread, the active agent, and the agent of the next step; `None` before the first run.
    agents: Option<Agents>,
    /// The step of the last message in the run, unless the provider paused the step.
    last: Option<u32>,
    /// The sequence number of the last message of the user; 0 if none was read.
    user: u64,
}

#[derive(Debug)]
struct Agents {
    parent: Option<String>,
    active: String,
    next: String,
}

impl Reader {
    fn learn(&mut self, event: &AgentEvent) {
        match (&mut self.agents, &event.kind) {
            (agents, AgentEventKind::RunStarted) => {
                *agents = Some(Agents {
                    parent: event.parent.clone(),
                    active: event.agent.clone(),
                    next: event.agent.clone(),
                });
            }
            (Some(agents), AgentEventKind::Handoff { to }) => agents.next.clone_from(to),
            (Some(agents), AgentEventKind::StepStarted { .. }) => {
                agents.active.clone_from(&event.agent);
                agents.next.clone_from(&event.agent);
            }
            _ => {}
        }
    }

    /// Adds the event of a row, unless it belongs to a step whose message was read before.
    fn row(
        &mut self,
        row: &ThreadEvent,
        events: &mut Vec<FollowedEvent>,
    ) -> Result<(), StoreError> {
        let event = parse(row)?;
        self.cursor.seq = row.seq;
        let is_late = row.transient && row.message < self.cursor.message;
        match &event.kind {
            AgentEventKind::RunStarted | AgentEventKind::RunEnded { .. } => {
                (self.cursor.in_step, self.last) = (false, None);
            }
            AgentEventKind::StepStarted { step } => {
                if is_late || self.last == Some(*step) {
                    return Ok(());
                }
                self.cursor.in_step = true;
            }
            AgentEventKind::Progress { .. } => {}
            _ if row.transient && (is_late || !self.cursor.in_step) => return Ok(()),
            _ => {}
        }
        self.learn(&event);
        events.push(FollowedEvent {
            cursor: self.cursor,
            event,
            user: self.user,
        });
        Ok(())
    }

    /// Adds the events of a message: a step of the model, or the result of a call.
    fn message(
        &mut self,
        message: &Message,
        events: &mut Vec<FollowedEvent>,
    ) -> Result<(), StoreError> {
        let corrupt = |error: serde_json::Error| {
            let (seq, thread) = (message.seq, &message.thread);
            StoreError::Corrupt(format!(
                "message {seq} of thread {thread} cannot be read: {error}"
            ))
        };
        let kind = match message.role {
            _ if self.agents.is_none() => None,
            Role::User | Role::System => None,
            Role::Assistant => {
                let said: Said = serde_json::from_str(&message.content).map_err(corrupt)?;
                if !self.cursor.in_step {
                    if let Some(agents) = &mut self.agents {
                        agents.active.clone_from(&agents.next);
                    }
                    // The rows of the step were removed, or the step ended before a batch was stored.
                    self.cursor.in_step = true;
                    let started = AgentEventKind::StepStarted { step: said.step };
                    self.push(started, message, events);
                }
                self.last = (!is_paused(&said.message)).then_some(said.step);
                self.cursor.in_step = false;
                Some(AgentEventKind::message(&said.message))
            }
            Role::Tool => {
                let result: ToolMessage =
                    serde_json::from_str(&message.content).map_err(corrupt)?;
                Some(AgentEventKind::result(&result))
            }
        };
        self.cursor.message = message.seq;
        if message.role == Role::User {
            self.user = message.seq;
        }
        if let Some(kind) = kind {
            self.push(kind, message, events);
        }
        Ok(())
    }

    fn push(&self, kind: AgentEventKind, message: &Message, events: &mut Vec<FollowedEvent>) {
        let Some(agents) = &self.agents else {
            return;
        };
        events.push(FollowedEvent {
            cursor: self.cursor,
            event: AgentEvent {
                version: EVENT_VERSION,
                conversation: self.thread.conversation().to_owned(),
                parent: agents.parent.clone(),
                agent: agents.active.clone(),
                at: message.at,
                kind,
            },
            user: self.user,
        });
    }
}
