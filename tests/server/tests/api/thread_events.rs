//! Tests of the stream of the events of a conversation.

use serde_json::{Value, json};
use server_tests::{Site, StoreKind, document, tokens};
use tool_core::store::{NewMessage, NewThreadEvent, NewThreadEvents, Role, ThreadId, Timestamp};

use crate::event_stream::{Block, EventStream};

/// Writes a message of a conversation as an `AgentRuntime` does.
async fn say(site: &Site, thread: &ThreadId, role: Role, content: Value) {
    let message = NewMessage {
        thread: thread.clone(),
        role,
        answers: None,
        follows: None,
        content: content.to_string(),
        at: Timestamp::now(),
    };
    site.store.append(message).await.unwrap();
}

/// Writes events of a conversation as an `AgentRuntime` does.
async fn emit(site: &Site, thread: &ThreadId, ends_step: bool, kinds: &[Value]) {
    let event = |kind: &Value| {
        let mut body = json!({
            "version": 1, "conversation": thread.conversation(), "agent": "chief", "at": 1,
        });
        body.as_object_mut()
            .unwrap()
            .extend(kind.as_object().unwrap().clone());
        let kind = kind["type"].as_str().unwrap();
        NewThreadEvent {
            kind: kind.to_owned(),
            version: 1,
            body: body.to_string(),
            transient: matches!(kind, "step_started" | "text"),
            at: Timestamp::from_millis(1),
        }
    };
    let events = NewThreadEvents {
        thread: thread.clone(),
        fence: None,
        ends_step,
        events: kinds.iter().map(event).collect(),
    };
    site.store.append_events(events).await.unwrap();
}

/// A client of the stream.
struct Stream(EventStream);

impl Stream {
    async fn open(site: &Site, path: &str, last: Option<&str>) -> Self {
        Self(EventStream::open(site, path, "viewer-of-acme", last).await)
    }

    /// Waits for the next event. Returns its id, and its name with its text.
    async fn next(&mut self) -> (String, String) {
        let Block { name, id, data } = self.0.next().await;
        let data: Value = serde_json::from_str(&data).unwrap();
        assert_eq!(data["type"], *name);
        let text = data["delta"].as_str().or(data["text"].as_str());
        let line = format!("{name} {}", text.unwrap_or_default());
        (id, line.trim_end().to_owned())
    }

    async fn lines(&mut self, count: usize) -> Vec<String> {
        let mut lines = Vec::new();
        for _ in 0..count {
            lines.push(self.next().await.1);
        }
        lines
    }
}

const PATH: &str = "/v1/threads/main/events";

// A client that joins during a run gets the steps so far and then the new events, of its own workspace only. It continues after each event, and may
// begin with the last run.
pub(crate) async fn runs_are_streamed_to_their_workspace(kind: StoreKind) {
    let site = Site::start(kind).await;
    let main = ThreadId::new("acme", "main").unwrap();
    let foreign = ThreadId::new("globex", "main").unwrap();
    let run = |kind: &str| json!({"type": kind, "cause": "replied"});
    let piece = |delta: &str| json!({"type": "text", "delta": delta});
    let step = json!({"type": "step_started", "step": 1});
    let answer = |text: &str| json!({"text": text, "step": 1});
    emit(&site, &foreign, false, &[run("run_started")]).await;
    say(&site, &main, Role::User, json!("Go.")).await;
    emit(
        &site,
        &main,
        true,
        &[run("run_started"), step.clone(), piece("One")],
    )
    .await;

    let mut first = Stream::open(&site, PATH, None).await;
    assert_eq!(
        first.lines(3).await,
        ["run_started", "step_started", "text One"]
    );
    say(&site, &main, Role::Assistant, answer("One.")).await;
    emit(&site, &main, true, &[run("run_ended")]).await;
    assert_eq!(first.lines(2).await, ["message One.", "run_ended"]);
    say(&site, &main, Role::User, json!("Again.")).await;
    emit(
        &site,
        &main,
        true,
        &[run("run_started"), step, piece("Two")],
    )
    .await;
    let rest = ["run_started", "step_started", "text Two"];
    assert_eq!(first.lines(3).await, rest);

    let all = [
        "run_started",
        "step_started",
        "message One.",
        "run_ended",
        "run_started",
        "step_started",
        "text Two",
    ];
    let mut whole = Stream::open(&site, PATH, None).await;
    let mut ids = Vec::new();
    for line in all {
        let (id, read) = whole.next().await;
        assert_eq!(read, line);
        ids.push(id);
    }
    for (at, id) in ids.iter().enumerate().take(6) {
        let mut again = Stream::open(&site, PATH, Some(id)).await;
        assert_eq!(
            again.next().await,
            (ids[at + 1].clone(), all[at + 1].to_owned()),
            "after {id}"
        );
    }
    let path = format!("{PATH}?last_event_id={}", ids[3]);
    assert_eq!(Stream::open(&site, &path, None).await.lines(3).await, rest);
    let path = format!("{PATH}?last_run=true");
    assert_eq!(Stream::open(&site, &path, None).await.lines(3).await, rest);
}

// The stream requires a token of the workspace, and its parameters are checked. A store that cannot be used gets the status 503.
pub(crate) async fn streams_of_conversations_are_refused_without_access(kind: StoreKind) {
    let site = Site::with(kind, |server| server.authenticator(tokens(&["acme"]))).await;
    for token in [None, Some("wrong")] {
        assert_eq!(site.send("get", PATH, token, &[], None).await.status, 401);
    }
    let viewer = Some("viewer-of-acme");
    let header = [("tool-workspace", "globex")];
    assert_eq!(
        site.send("get", PATH, viewer, &header, None).await.status,
        403
    );
    for (path, status) in [
        ("?since=1", 400),
        ("?last_event_id=5.f2", 422),
        ("?last_event_id=", 422),
    ] {
        let refused = site
            .send("get", &format!("{PATH}{path}"), viewer, &[], None)
            .await;
        assert_eq!(refused.status, status, "{path}: {}", refused.text);
    }
    let header = [("last-event-id", "12")];
    assert_eq!(
        site.send("get", PATH, viewer, &header, None).await.status,
        422
    );
    site.close_store().await;
    let failed = site.send("get", PATH, viewer, &[], None).await;
    assert_eq!(failed.status, 503, "{}", failed.text);
    let operation = &document()["paths"]["/v1/threads/{conversation}/events"]["get"];
    assert_eq!(operation["x-required-role"], "viewer");
    assert!(operation["responses"]["200"]["content"]["text/event-stream"].is_object());
}
