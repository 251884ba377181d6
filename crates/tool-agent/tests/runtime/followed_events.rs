//! Readers of stored events: pages, places from which a reader continues, and rows that a reader skips.

use std::time::Duration;

use futures::StreamExt as _;
use serde_json::{Value, json};
use tool_agent::runtime::{EVENT_VERSION, EventCursor, FollowedEvent, StoredEvents};
use tool_core::store::{
    MemoryStore, NewMessage, NewThreadEvent, NewThreadEvents, Role, StoreError,
    ThreadEventStore as _, ThreadId, ThreadStore as _, Timestamp,
};
use tool_core::turn::{ModelMessage, StopReason};

fn main_thread() -> ThreadId {
    ThreadId::new("acme", "main").unwrap()
}

/// A thread whose messages and rows a test writes one by one.
#[derive(Default)]
struct Written(MemoryStore);

impl Written {
    /// Adds a row after the last message.
    async fn row(&self, kind: Value) {
        self.row_of(kind, EVENT_VERSION).await;
    }

    async fn row_of(&self, kind: Value, version: u32) {
        let mut body =
            json!({"version": version, "conversation": "main", "agent": "chief", "at": 1});
        let fields = kind.as_object().unwrap().clone();
        body.as_object_mut().unwrap().extend(fields);
        let name = kind["type"].as_str().unwrap().to_owned();
        let event = NewThreadEvent {
            transient: ["step_started", "text"].contains(&&*name),
            kind: name,
            version,
            body: body.to_string(),
            at: Timestamp::from_millis(1),
        };
        let events = NewThreadEvents {
            thread: main_thread(),
            fence: None,
            ends_step: false,
            events: vec![event],
        };
        self.0.append_events(events).await.unwrap();
    }

    async fn message(&self, role: Role, content: String) {
        let message = NewMessage {
            thread: main_thread(),
            role,
            answers: None,
            follows: None,
            content,
            at: Timestamp::from_millis(1),
        };
        self.0.append(message).await.unwrap();
    }

    async fn user(&self) {
        self.message(Role::User, json!("Go.").to_string()).await;
    }

    /// Adds the message of a step.
    async fn said(&self, message: &ModelMessage, step: u32) {
        let mut content = serde_json::to_value(message).unwrap();
        content["step"] = step.into();
        self.message(Role::Assistant, content.to_string()).await;
    }

    async fn text(&self, text: &str, step: u32) {
        self.said(&ModelMessage::text(text), step).await;
    }

    fn events(&self) -> StoredEvents {
        StoredEvents::new(self.0.clone())
    }

    /// Reads all events after a place.
    async fn after(&self, cursor: EventCursor) -> Vec<FollowedEvent> {
        let mut reader = self.events().reader(&main_thread(), cursor);
        let mut all = Vec::new();
        loop {
            let events = reader.read().await.unwrap();
            if events.is_empty() {
                return all;
            }
            all.extend(events);
        }
    }

    /// Returns all events as lines. Checks that a reader that joins after any event gets the rest of them.
    async fn lines(&self) -> Vec<String> {
        let all = self.after(EventCursor::START).await;
        let lines = lines(&all);
        for (at, event) in all.iter().enumerate() {
            let text = event.cursor.to_string();
            let rest = self.after(text.parse().unwrap()).await;
            assert_eq!(self::lines(&rest), lines[at + 1..], "after {text}");
        }
        lines
    }
}

fn started() -> Value {
    json!({"type": "run_started"})
}

fn step(step: u32) -> Value {
    json!({"type": "step_started", "step": step})
}

fn piece(delta: &str) -> Value {
    json!({"type": "text", "delta": delta})
}

fn handoff(to: &str) -> Value {
    json!({"type": "handoff", "to": to})
}

fn ended() -> Value {
    json!({"type": "run_ended", "cause": "replied"})
}

/// Returns events as lines: the agent, the kind and the main value.
fn lines(events: &[FollowedEvent]) -> Vec<String> {
    let line = |followed: &FollowedEvent| {
        let event = serde_json::to_value(&followed.event).unwrap();
        let values = ["step", "delta", "text", "to"];
        let value = values.into_iter().find_map(|key| event.get(key));
        let value = value.map(Value::to_string).unwrap_or_default();
        let (agent, kind) = (&followed.event.agent, followed.event.kind.name());
        format!("{agent} {kind} {}", value.trim_matches('"'))
            .trim_end()
            .to_owned()
    };
    events.iter().map(line).collect()
}

// A reader gets messages and rows in their order, also if they need several pages, and if a page has no event.
#[tokio::test]
async fn long_threads_are_read_in_order() {
    let thread = Written::default();
    thread.user().await;
    thread.row(started()).await;
    for _ in 0..150 {
        thread.text("Yes.", 1).await;
        thread.user().await;
    }
    thread.row(handoff("clerk")).await;
    for _ in 0..450 {
        thread.user().await;
    }
    for _ in 0..450 {
        thread.row(handoff("clerk")).await;
    }
    thread.text("Done.", 1).await;
    thread.row(ended()).await;
    let read = lines(&thread.after(EventCursor::START).await);
    let mut expected = vec!["chief run_started".to_owned()];
    for _ in 0..150 {
        expected.extend(["chief step_started 1", "chief message Yes."].map(str::to_owned));
    }
    expected.extend(vec!["chief handoff clerk".to_owned(); 451]);
    let last = [
        "clerk step_started 1",
        "clerk message Done.",
        "chief run_ended",
    ];
    expected.extend(last.map(str::to_owned));
    assert_eq!(read, expected);
}

// A reader knows the agent that is active at its place, and not a later one. Each event names the last message of the user before it.
#[tokio::test]
async fn reader_knows_the_agent_and_the_message_of_its_place() {
    let thread = Written::default();
    thread.user().await;
    thread.row(started()).await;
    thread.text("One.", 1).await;
    thread.row(handoff("clerk")).await;
    thread.text("Two.", 2).await;
    thread.row(ended()).await;
    thread.user().await;
    thread.row(started()).await;
    let expected = [
        "chief run_started",
        "chief step_started 1",
        "chief message One.",
        "chief handoff clerk",
        "clerk step_started 2",
        "clerk message Two.",
        "chief run_ended",
        "chief run_started",
    ];
    assert_eq!(thread.lines().await, expected);
    let users = thread.after(EventCursor::START).await.into_iter();
    let users: Vec<u64> = users.map(|event| event.user).collect();
    assert_eq!(users, [1, 1, 1, 1, 1, 1, 1, 4]);
    // The place before the last run is after the messages that the run found.
    let last = thread.events().last_run(&main_thread()).await.unwrap();
    assert_eq!(last.message(), 4);
    assert_eq!(lines(&thread.after(last).await), ["chief run_started"]);
}

// Rows of a step whose message was read are skipped, even if they were stored late. The same step of the next run, and a step that continues a paused one, are read.
#[tokio::test]
async fn late_rows_of_a_step_are_skipped() {
    let thread = Written::default();
    thread.user().await;
    thread.row(started()).await;
    thread.row(step(1)).await;
    thread.row(piece("Hel")).await;
    let mut paused = ModelMessage::text("Hello,");
    paused.stop = Some(StopReason::Paused);
    thread.said(&paused, 1).await;
    thread.row(piece("lo,")).await;
    thread.row(step(1)).await;
    thread.row(piece("Ann")).await;
    thread.text("Ann.", 1).await;
    thread.row(step(1)).await;
    thread.row(piece("Ann.")).await;
    thread.row(ended()).await;
    thread.user().await;
    thread.row(started()).await;
    thread.row(step(1)).await;
    let expected = [
        "chief run_started",
        "chief step_started 1",
        "chief text Hel",
        "chief message Hello,",
        "chief step_started 1",
        "chief text Ann",
        "chief message Ann.",
        "chief run_ended",
        "chief run_started",
        "chief step_started 1",
    ];
    let all = thread.after(EventCursor::START).await;
    assert_eq!(lines(&all), expected);
    // A client that has read the first message and the first row gets none of the pieces before the message.
    let rest = thread.after("2-1".parse().unwrap()).await;
    assert_eq!(lines(&rest), expected[4..]);
}

// A row of a later version is an error, and an error ends the stream, so that a reader skips no event.
#[tokio::test]
async fn row_of_a_later_version_ends_the_stream() {
    let thread = Written::default();
    thread.user().await;
    thread.row(started()).await;
    thread.row_of(handoff("clerk"), EVENT_VERSION + 1).await;
    let events = thread.events();
    let read = events.read(&main_thread(), EventCursor::START).await;
    assert!(matches!(read, Err(StoreError::Corrupt(_))), "{read:?}");
    let mut following = events.follow(&main_thread(), EventCursor::START);
    let read = async { [following.next().await, following.next().await] };
    let read = tokio::time::timeout(Duration::from_secs(9), read).await;
    assert!(matches!(&read, Ok([Some(Err(_)), None])), "{read:?}");
}

// The number of a place that no store can have is refused before a store gets it.
#[test]
fn cursor_beyond_the_numbers_of_a_store_is_refused() {
    assert!("0-9223372036854775807".parse::<EventCursor>().is_ok());
    for text in [
        "0-9223372036854775808",
        "9223372036854775808-0",
        "+1-0",
        "1-",
    ] {
        assert!(text.parse::<EventCursor>().is_err(), "{text}");
    }
}
