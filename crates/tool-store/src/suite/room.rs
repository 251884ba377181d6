//! Tests of rooms.

use crate::*;

use super::records::at;
use super::{at_once, conflict, tests};

/// The traits that these tests need.
pub trait Rooms: RoomStore + Maintenance {}
impl<T: RoomStore + Maintenance> Rooms for T {}

fn room(name: &str) -> ThreadId {
    ThreadId::new("acme", name).unwrap()
}

fn event(room: &ThreadId, id: &str) -> NewRoomEvent {
    NewRoomEvent {
        room: room.clone(),
        id: id.to_owned(),
        author: Some("ann".to_owned()),
        text: format!("text of {id}"),
        at: at(100),
    }
}

fn message(room: &ThreadId, key: &str) -> NewRoomMessage {
    NewRoomMessage {
        room: room.clone(),
        key: key.to_owned(),
        author: (key != "reply").then(|| "ann".to_owned()),
        text: format!("text of {key}"),
        at: at(100),
    }
}

fn compaction(room: &ThreadId, through: u64, messages: u64) -> RoomCompaction {
    RoomCompaction {
        room: room.clone(),
        through,
        messages,
        summary: format!("summary through {through}"),
        at: at(300),
    }
}

fn ids(ids: &[&str]) -> Vec<String> {
    ids.iter().map(ToString::to_string).collect()
}

/// Returns the ids of the events of a room in a state, in order.
async fn in_state(store: &impl RoomStore, room: &ThreadId, state: RoomEventState) -> Vec<String> {
    let filter = RoomEventFilter {
        state: Some(state),
        ..RoomEventFilter::default()
    };
    let events = store.room_events(room, &filter).await.unwrap();
    events.into_iter().map(|event| event.id).collect()
}

async fn history(store: &impl RoomStore, room: &ThreadId) -> Vec<(u64, String)> {
    let messages = store.room_messages(room).await.unwrap();
    messages
        .into_iter()
        .map(|message| (message.seq, message.text))
        .collect()
}

tests! {
    ($) __suite_room in room for Rooms;

    // Events are taken once and in order, and an event that is delivered twice is stored once.
    #[test]
    async fn events_are_taken_in_order(store: impl Rooms) {
        let (store, main) = (&store, &room("main"));
        for id in ["c", "a", "b"] {
            assert!(store.add_room_event(event(main, id)).await.unwrap());
        }
        let again = NewRoomEvent { text: "changed".to_owned(), ..event(main, "a") };
        assert!(!store.add_room_event(again).await.unwrap());
        let taken = store.take_room_events(main, 2, at(200)).await.unwrap();
        let [first, second] = &taken[..] else { panic!("{taken:?}") };
        assert_eq!((&*first.id, &*second.id, first.seq, second.seq), ("c", "a", 1, 2));
        assert_eq!((second.state, &*second.text), (RoomEventState::Processing, "text of a"));
        assert_eq!((second.created, second.updated, &second.author), (at(100), at(200), &Some("ann".to_owned())));
        let left = store.take_room_events(main, 2, at(200)).await.unwrap();
        assert_eq!((left.len(), &*left[0].id), (1, "b"));
        assert_eq!(store.take_room_events(main, 2, at(200)).await.unwrap(), []);
        let page = RoomEventFilter { after: 1, limit: Some(1), ..RoomEventFilter::default() };
        assert_eq!(store.room_events(main, &page).await.unwrap(), std::slice::from_ref(second));
        for id in ["", "a\0"] {
            conflict(store.add_room_event(event(main, id)).await, "the id of an event of room");
        }
    }

    // An author with a NUL character is refused, and an id with a NUL character matches no event: PostgreSQL cannot store the character.
    #[test]
    async fn null_characters_are_refused(store: impl Rooms) {
        let (store, main) = (&store, &room("main"));
        let author = || Some("a\0b".to_owned());
        let refused = NewRoomEvent { author: author(), ..event(main, "a") };
        conflict(store.add_room_event(refused).await, "the author of an event of room");
        let refused = NewRoomMessage { author: author(), ..message(main, "a") };
        conflict(store.add_room_message(refused).await, "the author of a message of room");
        store.add_room_event(event(main, "a")).await.unwrap();
        store.take_room_events(main, 9, at(200)).await.unwrap();
        for ids in [ids(&["a\0"]), ids(&["b\0", "\0"])] {
            assert_eq!(store.return_room_events(main, &ids, at(300)).await.unwrap(), 0);
            assert_eq!(store.complete_room_events(main, &ids, None, at(300)).await.unwrap(), 0);
        }
        assert_eq!(store.return_room_events(main, &ids(&["a\0", "a"]), at(300)).await.unwrap(), 1);
    }

    // Only events that are processing, in the room and the workspace of the caller, are completed or returned, and the count is the number of changed
    // rows.
    #[test]
    async fn only_events_in_processing_are_completed(store: impl Rooms) {
        let store = &store;
        let (main, side, foreign) = (&room("main"), &room("side"), &ThreadId::new("umbrella", "main").unwrap());
        for room in [main, side, foreign] {
            for id in ["a", "b", "c"] {
                store.add_room_event(event(room, id)).await.unwrap();
            }
            store.take_room_events(room, 2, at(200)).await.unwrap();
        }
        let all = ids(&["a", "a", "c", "d"]);
        assert_eq!(store.complete_room_events(main, &all, Some("sent\0 it"), at(300)).await.unwrap(), 1);
        assert_eq!(store.complete_room_events(main, &all, None, at(400)).await.unwrap(), 0);
        assert_eq!(store.complete_room_events(main, &[], None, at(400)).await.unwrap(), 0);
        let filter = RoomEventFilter { state: Some(RoomEventState::Completed), ..RoomEventFilter::default() };
        let completed = store.room_events(main, &filter).await.unwrap();
        assert_eq!((completed.len(), completed[0].updated), (1, at(300)));
        assert_eq!(completed[0].notes.as_deref(), Some("sent\0 it"));
        for room in [side, foreign] {
            assert_eq!(in_state(store, room, RoomEventState::Processing).await, ["a", "b"]);
        }
        // A turn that took the event "c" returns only this event.
        assert_eq!(store.take_room_events(main, 2, at(450)).await.unwrap().len(), 1);
        assert_eq!(store.return_room_events(main, &[], at(500)).await.unwrap(), 0);
        assert_eq!(store.return_room_events(main, &ids(&["a", "c"]), at(500)).await.unwrap(), 1);
        assert_eq!(in_state(store, main, RoomEventState::Processing).await, ["b"]);
        assert_eq!(in_state(store, main, RoomEventState::Pending).await, ["c"]);
        assert_eq!(in_state(store, main, RoomEventState::Completed).await, ["a"]);
        assert_eq!(in_state(store, foreign, RoomEventState::Processing).await, ["a", "b"]);
    }

    // A message with a known key is stored once. A summary replaces exactly the messages that its author has read.
    #[test]
    async fn history_is_replaced_by_a_summary(store: impl Rooms) {
        let (store, main, side) = (&store, &room("main"), &room("side"));
        for (seq, key) in (1..).zip(["m1", "m2", "reply", "m3"]) {
            assert_eq!(store.add_room_message(message(main, key)).await.unwrap(), seq);
        }
        assert_eq!(store.add_room_message(message(main, "m2")).await.unwrap(), 2);
        assert_eq!(store.add_room_message(message(side, "m2")).await.unwrap(), 1);
        let stored = store.room_messages(main).await.unwrap();
        assert_eq!((stored.len(), &stored[2].author, stored[2].is_summary), (4, &None, false));

        store.compact_room(compaction(main, 2, 2)).await.unwrap();
        let text = |text: &str| text.to_owned();
        let compacted = [(2, text("summary through 2")), (3, text("text of reply")), (4, text("text of m3"))];
        assert_eq!(history(store, main).await, compacted);
        let summary = &store.room_messages(main).await.unwrap()[0];
        assert_eq!((summary.is_summary, &summary.key, summary.at), (true, &None, at(300)));
        for (through, messages) in [(2, 2), (3, 1), (1, 1), (1, 0)] {
            let stale = store.compact_room(compaction(main, through, messages)).await;
            assert!(matches!(stale, Err(StoreError::Stale(_))), "{stale:?}");
        }
        assert_eq!(history(store, main).await, compacted);
        store.compact_room(compaction(main, 4, 3)).await.unwrap();
        assert_eq!(history(store, main).await, [(4, text("summary through 4"))]);
        assert_eq!(store.add_room_message(message(main, "m4")).await.unwrap(), 5);
        assert_eq!(history(store, side).await.len(), 1);
        conflict(store.add_room_message(message(main, "")).await, "the key of a message of room");
    }

    // The erasure of a conversation removes its room, and the erasure of a user removes the events and messages of the user in the rooms of the
    // workspace.
    #[test]
    async fn erasure_covers_rooms(store: impl Rooms) {
        let store = &store;
        let (main, side, foreign) = (&room("main"), &room("side"), &ThreadId::new("umbrella", "main").unwrap());
        for room in [main, side, foreign] {
            store.add_room_event(event(room, "a")).await.unwrap();
            store.add_room_event(NewRoomEvent { author: None, ..event(room, "b") }).await.unwrap();
            store.add_room_message(message(room, "m1")).await.unwrap();
            store.add_room_message(message(room, "reply")).await.unwrap();
        }
        let left = async |room| {
            let events = in_state(store, room, RoomEventState::Pending).await;
            (events, history(store, room).await.len())
        };
        store.erase_contents(Erasure::Thread(main)).await.unwrap();
        assert_eq!(left(main).await, (ids(&[]), 0));
        assert_eq!(left(side).await, (ids(&["a", "b"]), 2));
        let workspace = &Workspace::new("acme");
        store.erase_contents(Erasure::Principal { workspace, principal: "ann" }).await.unwrap();
        assert_eq!(left(side).await, (ids(&["b"]), 1));
        assert_eq!(left(foreign).await, (ids(&["a", "b"]), 2));
    }
}

tests! {
    ($) __suite_room_races in room for Rooms;

    // If 32 tasks of two processes deliver, take and complete events at the same time, each event is taken once.
    #[test]
    fn concurrent_turns_share_no_event(opener) {
        opener.test(async |place| {
            let stores = [place.open().await, place.open().await];
            let store = move |task: u32| stores[usize::from(task % 2 == 1)].clone();
            let deliver = store.clone();
            let added = at_once(|task| {
                let store = deliver(task);
                async move { store.add_room_event(event(&room("main"), &format!("e{}", task % 16))).await.unwrap() }
            }).await;
            assert_eq!(added.iter().filter(|added| **added).count(), 16);
            let take = store.clone();
            let taken = at_once(|task| {
                let store = take(task);
                async move { store.take_room_events(&room("main"), 3, at(200)).await.unwrap() }
            }).await;
            let mut taken: Vec<_> = taken.into_iter().flatten().map(|event| event.seq).collect();
            taken.sort_unstable();
            assert!(taken.iter().copied().eq(1..=16), "{taken:?}");
            let completed = at_once(|task| {
                let store = store(task);
                async move { store.complete_room_events(&room("main"), &ids(&["e1", "e2"]), None, at(300)).await.unwrap() }
            }).await;
            assert_eq!(completed.iter().sum::<u64>(), 2);
        });
    }

    // Of 32 tasks of two processes that replace the same messages with a summary, one succeeds.
    #[test]
    fn concurrent_compactions_replace_messages_once(opener) {
        opener.test(async |place| {
            let stores = [place.open().await, place.open().await];
            for key in ["a", "b", "c"] {
                stores[0].add_room_message(message(&room("main"), key)).await.unwrap();
            }
            let done = at_once(|task| {
                let store = stores[usize::from(task % 2 == 1)].clone();
                async move { store.compact_room(compaction(&room("main"), 2, 2)).await.is_ok() }
            }).await;
            assert_eq!(done.iter().filter(|done| **done).count(), 1);
            assert_eq!(history(&stores[1], &room("main")).await.len(), 2);
        });
    }
}
