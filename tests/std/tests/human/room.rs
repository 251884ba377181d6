//! Tests of the tools of rooms.

use futures::future::BoxFuture;
use serde_json::{Value, json};
use tool_core::prelude::*;
use tool_core::store::{
    MemoryStore, NewRoomMessage, RoomEventFilter, RoomEventState, RoomMessage, RoomStore, ThreadId,
    Timestamp,
};
use tool_core::{ErrorKind, Rules, Runtime};
use tool_std::human::{
    Outbound, Room, Summarizer, compact_room_history, mark_room_event_completed,
    send_message_to_human,
};

use crate::support::{Joined, Mailbox, call, event};

fn tools() -> Toolset {
    let registry = Registry::builder()
        .tool::<send_message_to_human>()
        .tool::<mark_room_event_completed>()
        .tool::<compact_room_history>();
    let rules = Rules::default().runtime(Runtime::Room);
    registry
        .build()
        .unwrap()
        .toolset(&ToolContext::anonymous(), &rules)
}

fn cx(workspace: &str, conversation: &str, room: Room) -> ToolContext {
    let cx = ToolContext::builder()
        .workspace(workspace)
        .conversation(conversation);
    cx.with(room).build()
}

async fn run(cx: &ToolContext, name: &str, arguments: Value) -> Result<Value, ToolError> {
    let result = tools().call(call(name, &arguments), cx).await;
    let (output, _) = result.into_parts()?;
    Ok(serde_json::from_str(output.get()).unwrap())
}

async fn say(store: &MemoryStore, room: &ThreadId, texts: &[&str]) {
    for text in texts {
        let message = NewRoomMessage {
            room: room.clone(),
            key: format!("key of {text}"),
            author: Some("ann".to_owned()),
            text: (*text).to_owned(),
            at: Timestamp::now(),
        };
        store.add_room_message(message).await.unwrap();
    }
}

async fn history(store: &MemoryStore, room: &ThreadId) -> Vec<String> {
    let messages = store.room_messages(room).await.unwrap();
    messages.into_iter().map(|message| message.text).collect()
}

// S1-55: a message to the people of a room is sent through the room's channel, is in the history of the room, and names its channel and target.
#[tokio::test]
async fn message_is_sent_and_kept() {
    let (store, mailbox) = (MemoryStore::default(), Mailbox::default());
    let room = Room::new(store.clone()).outbound(Outbound::new(mailbox.clone(), "slack", "C17"));
    let cx = cx("acme", "support", room);
    let arguments = json!({"message": "May I restart?"});
    let sent = run(&cx, "send_message_to_human", arguments.clone())
        .await
        .unwrap();
    assert_eq!(sent, json!({"channel": "slack", "target": "C17"}));
    let expected = (
        "slack".to_owned(),
        "C17".to_owned(),
        "May I restart?".to_owned(),
    );
    assert_eq!(mailbox.sent(), [expected]);
    let thread = cx.thread().unwrap();
    let messages = store.room_messages(&thread).await.unwrap();
    assert_eq!(
        (messages.len(), &messages[0].author, &*messages[0].text),
        (1, &None, "May I restart?")
    );

    // A message that the channel refuses is not in the history.
    mailbox.fail(true);
    let error = run(&cx, "send_message_to_human", arguments)
        .await
        .unwrap_err();
    assert_eq!(error.model_text(), "the number is unknown");
    assert_eq!(store.room_messages(&thread).await.unwrap().len(), 1);
}

// S1-55: if a room has no outbound channel or no summarizer, the tool that needs it is unavailable, and the error for the operator names the missing
// setting.
#[tokio::test]
async fn room_without_services_is_reported() {
    let room = Room::new(MemoryStore::default());
    let cx = cx("acme", "support", room);
    for (name, arguments, words) in [
        (
            "send_message_to_human",
            json!({"message": "Hello"}),
            "Room::outbound",
        ),
        ("compact_room_history", json!({}), "Room::summarizer"),
    ] {
        let error = run(&cx, name, arguments).await.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Unavailable);
        assert!(error.operator_text().contains(words), "{error:?}");
    }
    let nowhere = ToolContext::builder()
        .workspace("acme")
        .conversation("support")
        .build();
    let ids = json!({"event_ids": ["a"]});
    let error = run(&nowhere, "mark_room_event_completed", ids)
        .await
        .unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Unavailable);
}

// S1-55: only events that are in processing and belong to the caller's own workspace and room are completed, and the result contains their number.
#[tokio::test]
async fn only_own_events_in_processing_are_completed() {
    let store = MemoryStore::default();
    let own = ThreadId::new("acme", "support").unwrap();
    let foreign = ThreadId::new("umbrella", "support").unwrap();
    let side = ThreadId::new("acme", "side").unwrap();
    for room in [&own, &foreign, &side] {
        for id in ["a", "b", "c"] {
            store.add_room_event(event(room, id)).await.unwrap();
        }
    }
    for room in [&foreign, &side] {
        store
            .take_room_events(room, 3, Timestamp::now())
            .await
            .unwrap();
    }
    let cx = cx("acme", "support", Room::new(store.clone()));
    let mark = async |ids: Value| {
        let arguments = json!({"event_ids": ids, "notes": "done"});
        run(&cx, "mark_room_event_completed", arguments)
            .await
            .unwrap()["completed_count"]
            .clone()
    };
    assert_eq!(mark(json!(["a", "b"])).await, 0, "the events are pending");
    store
        .take_room_events(&own, 2, Timestamp::now())
        .await
        .unwrap();
    assert_eq!(mark(json!(["a", "a", "c", "x"])).await, 1);
    assert_eq!(
        mark(json!(["a"])).await,
        0,
        "the event is completed already"
    );
    for (room, count) in [(&own, 1), (&foreign, 3), (&side, 3)] {
        let filter = RoomEventFilter {
            state: Some(RoomEventState::Processing),
            ..RoomEventFilter::default()
        };
        assert_eq!(store.room_events(room, &filter).await.unwrap().len(), count);
    }
}

// S1-55: a summary replaces all messages except the latest ones, by default the latest 10. A summary alone is not summarized again, and other rooms
// do not change.
#[tokio::test]
async fn history_is_compacted() {
    let store = MemoryStore::default();
    let [own, side] = ["support", "side"].map(|name| ThreadId::new("acme", name).unwrap());
    let texts = [
        "1", "2", "3", "4", "5", "6", "7", "8", "9", "10", "11", "12",
    ];
    for room in [&own, &side] {
        say(&store, room, &texts).await;
    }
    let cx = cx(
        "acme",
        "support",
        Room::new(store.clone()).summarizer(Joined),
    );
    let compact =
        async |arguments: Value| run(&cx, "compact_room_history", arguments).await.unwrap();
    assert_eq!(
        compact(json!({})).await,
        json!({"compacted_messages": 2, "kept_messages": 10})
    );
    assert_eq!(history(&store, &own).await[..2], ["1+2", "3"]);
    assert_eq!(
        compact(json!({})).await,
        json!({"compacted_messages": 0, "kept_messages": 10})
    );
    assert_eq!(
        compact(json!({"keep_recent": 1})).await,
        json!({"compacted_messages": 10, "kept_messages": 1})
    );
    assert_eq!(
        history(&store, &own).await,
        ["1+2+3+4+5+6+7+8+9+10+11", "12"]
    );
    assert_eq!(
        compact(json!({"keep_recent": 0})).await["compacted_messages"],
        2
    );
    assert_eq!(history(&store, &side).await, texts);
}

/// A summarizer that writes a message while it works, or returns an empty text.
struct Late(MemoryStore, ThreadId, bool);

impl Summarizer for Late {
    fn summarize<'a>(&'a self, _: &'a [RoomMessage]) -> BoxFuture<'a, Result<String, ToolError>> {
        Box::pin(async move {
            say(&self.0, &self.1, &["late"]).await;
            Ok(if self.2 {
                String::new()
            } else {
                "summary".to_owned()
            })
        })
    }
}

// S1-55: a message that arrives during the compaction is kept. If the summarizer returns an empty summary, no message is removed.
#[tokio::test]
async fn compaction_loses_no_message() {
    for is_empty in [false, true] {
        let store = MemoryStore::default();
        let own = ThreadId::new("acme", "support").unwrap();
        say(&store, &own, &["1", "2", "3"]).await;
        let room = Room::new(store.clone()).summarizer(Late(store.clone(), own.clone(), is_empty));
        let cx = cx("acme", "support", room);
        let done = run(&cx, "compact_room_history", json!({"keep_recent": 1})).await;
        if is_empty {
            assert!(
                done.unwrap_err()
                    .model_text()
                    .contains("no message was removed")
            );
            assert_eq!(history(&store, &own).await, ["1", "2", "3", "late"]);
        } else {
            assert_eq!(
                done.unwrap(),
                json!({"compacted_messages": 2, "kept_messages": 1})
            );
            assert_eq!(history(&store, &own).await, ["summary", "3", "late"]);
        }
    }
}
