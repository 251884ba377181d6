//! Tests of the routes `/v1/rooms`: lists, events, messages and deletion.

use std::time::Duration;

use serde_json::{Value, json};
use server_tests::{Site, StoreKind, write_to_room};
use tool_core::store::{
    CallId, EffectLedger, Intent, NewRoomMessage, RoomCompaction, ThreadId, Timestamp,
};

use crate::administration::note;

const VIEWER: &str = "viewer-of-acme";
const OPERATOR: &str = "operator-of-acme";
const ADMIN: &str = "admin-of-acme";

fn room(workspace: &str, conversation: &str) -> ThreadId {
    ThreadId::new(workspace, conversation).unwrap()
}

/// Returns one field of each item of a list.
async fn items(site: &Site, path: &str, key: &str) -> Vec<Value> {
    let page = site.get(path, VIEWER).await;
    let items = page["items"].as_array().unwrap().iter();
    items.map(|item| item[key].clone()).collect()
}

/// Adds a message that a call of the agent has sent. The key of the message is the key of the call's effect.
async fn send(site: &Site, room: &ThreadId, identity: &CallId) {
    let message = NewRoomMessage {
        room: room.clone(),
        key: identity.key().as_str().to_owned(),
        author: None,
        text: "May I restart the server?".to_owned(),
        at: Timestamp::now(),
    };
    site.store.add_room_message(message).await.unwrap();
}

// Rooms are listed with the counts of their events and messages, page by page, even if rooms are added between two pages.
pub(crate) async fn rooms_are_listed_with_their_counts(kind: StoreKind) {
    let site = Site::start(kind).await;
    let (store, support) = (&*site.store, room("acme", "support"));
    for id in ["m-1", "m-2", "m-3"] {
        write_to_room(store, &support, id).await;
    }
    let taken = store.take_room_events(&support, 2, Timestamp::now()).await;
    assert_eq!(taken.unwrap().len(), 2);
    let first = ["m-1".to_owned()];
    let notes = Some("Answered.");
    let completed = store.complete_room_events(&support, &first, notes, Timestamp::now());
    assert_eq!(completed.await.unwrap(), 1);
    // This room has messages and no events.
    send(
        &site,
        &room("acme", "b"),
        &CallId::in_thread(&room("acme", "b"), 1, 0),
    )
    .await;
    write_to_room(store, &room("acme", "a"), "m-1").await;
    write_to_room(store, &room("globex", "c"), "m-1").await;

    let page = site.get("/v1/rooms?limit=2", VIEWER).await;
    let cursor = page["next"].as_str().unwrap();
    for conversation in ["a0", "x"] {
        write_to_room(store, &room("acme", conversation), "m-1").await;
    }
    let rest = format!("/v1/rooms?limit=2&cursor={cursor}");
    assert_eq!(
        items(&site, "/v1/rooms?limit=2", "conversation").await,
        ["a", "a0"]
    );
    assert_eq!(items(&site, &rest, "conversation").await, ["support", "x"]);
    let read = site.get(&rest, VIEWER).await["items"][0].clone();
    for (key, number) in [
        ("pending", 1),
        ("processing", 1),
        ("completed", 1),
        ("messages", 3),
    ] {
        assert_eq!(read[key], json!(number), "{key}");
    }

    let events = "/v1/rooms/support/events";
    assert_eq!(items(&site, events, "id").await, ["m-1", "m-2", "m-3"]);
    let completed = format!("{events}?state=completed");
    assert_eq!(items(&site, &completed, "notes").await, ["Answered."]);
    let page = site.get(&format!("{events}?limit=1"), VIEWER).await;
    let cursor = page["next"].as_str().unwrap();
    let next = format!("{events}?limit=2&cursor={cursor}");
    assert_eq!(items(&site, &next, "number").await, [2, 3]);
    for path in ["/v1/rooms?limit=0", "/v1/rooms/support/events?state=lost"] {
        let answer = site.send("get", path, Some(VIEWER), &[], None).await;
        assert_eq!(answer.status, 400, "{path}: {}", answer.text);
    }
}

// Messages are listed with their direction, and the messages of the agent with the state of the effect that sent them. A summary replaces compacted
// messages.
pub(crate) async fn outbound_messages_have_the_state_of_their_effect(kind: StoreKind) {
    let site = Site::start(kind).await;
    let support = room("acme", "support");
    write_to_room(&*site.store, &support, "m-1").await;
    let sent = CallId::in_thread(&support, 2, 0);
    let now = Timestamp::now();
    let intent = Intent {
        identity: sent.clone(),
        earlier: None,
        call: "call_0".to_owned(),
        thread: Some("support".to_owned()),
        agent: None,
        tool: "send_message_to_human".to_owned(),
        contract: "9f".to_owned(),
        principal: "ann".to_owned(),
        arguments_hash: "00".to_owned(),
        owner: "one".to_owned(),
        at: now,
        lease_until: now.plus(Duration::from_hours(1)),
    };
    EffectLedger::begin(&*site.store, intent, None)
        .await
        .unwrap();
    send(&site, &support, &sent).await;
    send(&site, &support, &CallId::in_thread(&support, 4, 0)).await;
    let path = "/v1/rooms/support/messages";
    assert_eq!(
        items(&site, path, "direction").await,
        ["inbound", "outbound", "outbound"]
    );
    assert_eq!(
        items(&site, path, "effect_state").await,
        [Value::Null, json!("running"), Value::Null]
    );
    let key = sent.key();
    assert_eq!(
        items(&site, path, "effect").await,
        [Value::Null, json!(key.as_str()), Value::Null]
    );
    let page = site.get(&format!("{path}?limit=2"), VIEWER).await;
    let cursor = page["next"].as_str().unwrap();
    write_to_room(&*site.store, &support, "m-2").await;
    let rest = format!("{path}?limit=2&cursor={cursor}");
    assert_eq!(items(&site, &rest, "number").await, [3, 4]);
    let compaction = RoomCompaction {
        room: support,
        through: 2,
        messages: 2,
        summary: "Ann asked.".to_owned(),
        at: now,
    };
    site.store.compact_room(compaction).await.unwrap();
    assert_eq!(
        items(&site, path, "direction").await,
        ["summary", "outbound", "inbound"]
    );
    let foreign = site.get(path, "viewer-of-globex").await;
    assert_eq!(foreign["items"], json!([]));
}

// An admin deletes a room. The response for a room of a different workspace is the same as for an unknown room, and that room is kept.
pub(crate) async fn room_is_deleted_by_an_admin(kind: StoreKind) {
    let site = Site::start(kind).await;
    for (workspace, conversation) in [("acme", "a"), ("acme", "b"), ("globex", "c")] {
        write_to_room(&*site.store, &room(workspace, conversation), "m-1").await;
    }
    let delete = async |conversation: &str, token: &str| {
        let path = format!("/v1/rooms/{conversation}");
        let sent = site.send("delete", &path, Some(token), &[], None).await;
        (sent.status, sent.text)
    };
    assert_eq!(delete("a", OPERATOR).await.0, 403);
    let foreign = delete("c", ADMIN).await;
    assert_eq!(foreign.0, 404);
    assert_eq!(delete("nothing", ADMIN).await, foreign);
    assert_eq!(delete("a", ADMIN).await.0, 200);
    assert_eq!(delete("a", ADMIN).await.0, 404);
    assert_eq!(items(&site, "/v1/rooms", "conversation").await, ["b"]);
    for list in ["events", "messages"] {
        let path = format!("/v1/rooms/a/{list}");
        assert_eq!(items(&site, &path, "number").await, [0; 0]);
    }
    let kept = site.get("/v1/rooms/c/events", "viewer-of-globex").await;
    assert_eq!(kept["items"].as_array().unwrap().len(), 1);
    let (operator, details) = note(&site, "room.delete").await;
    assert_eq!(
        (&*operator, &details),
        (ADMIN, &json!({ "conversation": "a" }))
    );
}
