//! Tests of the events of threads.

use std::collections::BTreeSet;
use std::time::Duration;

use crate::*;

use super::records::{at, message, thread};
use super::{at_once, conflict, tests};

/// The traits of a store whose events are erased and purged.
#[doc(hidden)]
pub trait Events: ThreadEventStore + Maintenance {}
impl<T: ThreadEventStore + Maintenance> Events for T {}

/// Returns an event whose body is a JSON object with the kind.
fn event(kind: &str) -> NewThreadEvent {
    NewThreadEvent {
        kind: kind.to_owned(),
        version: 1,
        body: format!(r#"{{"type":"{kind}"}}"#),
        transient: false,
        at: at(100),
    }
}

fn transient(kind: &str) -> NewThreadEvent {
    NewThreadEvent {
        transient: true,
        ..event(kind)
    }
}

/// Returns events of a conversation of `acme`, without a fence.
fn events(conversation: &str, events: impl IntoIterator<Item = NewThreadEvent>) -> NewThreadEvents {
    NewThreadEvents {
        thread: thread(conversation),
        fence: None,
        ends_step: false,
        events: events.into_iter().collect(),
    }
}

async fn read(store: &impl ThreadEventStore, conversation: &str) -> Vec<ThreadEvent> {
    let thread = thread(conversation);
    store.thread_events(&thread, 0, 100).await.unwrap()
}

/// Returns the number, the last message and the kind of each event.
fn places(events: &[ThreadEvent]) -> Vec<(u64, u64, &str)> {
    let places = events
        .iter()
        .map(|event| (event.seq, event.message, &*event.kind));
    places.collect()
}

async fn say(store: &impl ThreadStore, conversation: &str) -> u64 {
    let said = store.append(message(conversation, Role::User, None));
    said.await.unwrap()
}

fn new_run(owner: &str, now: i64) -> NewRun {
    NewRun {
        thread: thread("a"),
        principal: None,
        agent: None,
        owner: owner.to_owned(),
        at: at(now),
        lease_until: at(now + 300),
    }
}

tests! {
    ($) __suite_thread_event in thread_event for Events;

    #[test]
    async fn event_round_trips(store: impl ThreadEventStore) {
        let body = "{\"text\":\"grün\\u0000…\"}\0\u{f8ff}".to_owned();
        let full = NewThreadEvent { version: 7, body, at: at(i64::from(u32::MAX)), ..transient("text") };
        assert_eq!(store.append_events(events("a", [event("run_started"), full.clone()])).await.unwrap(), 2);
        let expected = [event("run_started").numbered(&thread("a"), 1, 0), full.numbered(&thread("a"), 2, 0)];
        assert_eq!(read(&store, "a").await, expected);
        assert_eq!(read(&store, "b").await, []);
    }

    // An event is stored with the last message of its thread at the time of the transaction.
    #[test]
    async fn events_are_ordered_among_the_messages(store: impl ThreadEventStore + ThreadStore) {
        store.append_events(events("a", [event("one")])).await.unwrap();
        assert_eq!(say(&store, "a").await, 1);
        store.append_events(events("a", [event("two"), event("three")])).await.unwrap();
        assert_eq!([say(&store, "a").await, say(&store, "a").await, say(&store, "b").await], [2, 3, 1]);
        store.append_events(events("a", [event("four")])).await.unwrap();
        let read = read(&store, "a").await;
        assert_eq!(places(&read), [(1, 0, "one"), (2, 1, "two"), (3, 1, "three"), (4, 3, "four")]);
    }

    #[test]
    async fn events_are_read_in_pages(store: impl ThreadEventStore) {
        let all = (0..5).map(|number| event(&format!("e{number}")));
        assert_eq!(store.append_events(events("a", all)).await.unwrap(), 5);
        let page = async |after, limit| {
            let page = store.thread_events(&thread("a"), after, limit).await.unwrap();
            page.into_iter().map(|event| event.seq).collect::<Vec<_>>()
        };
        assert_eq!(page(0, 2).await, [1, 2]);
        assert_eq!(page(2, 2).await, [3, 4]);
        assert_eq!(page(4, 2).await, [5]);
        assert_eq!(page(5, 2).await, [0; 0]);
        assert_eq!(page(0, 0).await, [0; 0]);
        assert_eq!(page(u64::MAX, 2).await, [0; 0]);
    }

    // The end of a step removes only the transient events of its own thread that were stored before, and their numbers are not used again.
    #[test]
    async fn end_of_a_step_removes_its_transient_events(store: impl ThreadEventStore) {
        for name in ["a", "b"] {
            store.append_events(events(name, [event("kept"), transient("text"), transient("text")])).await.unwrap();
        }
        let next = NewThreadEvents { ends_step: true, ..events("a", [transient("next"), event("end")]) };
        assert_eq!(store.append_events(next).await.unwrap(), 5);
        assert_eq!(places(&read(&store, "a").await), [(1, 0, "kept"), (4, 0, "next"), (5, 0, "end")]);
        assert_eq!(read(&store, "b").await.len(), 3);
        // Without new events, the last number is returned.
        let ends = NewThreadEvents { ends_step: true, ..events("a", []) };
        assert_eq!(store.append_events(ends.clone()).await.unwrap(), 5);
        assert_eq!(places(&read(&store, "a").await), [(1, 0, "kept"), (5, 0, "end")]);
        assert_eq!(store.append_events(NewThreadEvents { thread: thread("c"), ..ends }).await.unwrap(), 0);
    }

    // Long bodies, empty and long kinds, and a fence of a different thread are refused. If one event is refused, no event of the call is stored.
    #[test]
    async fn long_bodies_and_wrong_kinds_are_refused(store: impl ThreadEventStore) {
        let of = |length| NewThreadEvent { body: "x".repeat(length), ..event("long") };
        store.append_events(events("a", [of(ThreadEvent::MOST_BYTES)])).await.unwrap();
        conflict(store.append_events(events("a", [event("one"), of(ThreadEvent::MOST_BYTES + 1)])).await, "write at most 65536");
        conflict(store.append_events(events("a", [event("")])).await, "0 bytes");
        conflict(store.append_events(events("a", [event(&"k".repeat(65))])).await, "65 bytes");
        let id = RunId::new(thread("b"), 1);
        let foreign = RunFence { id, owner: "one".to_owned() };
        conflict(store.append_events(NewThreadEvents { fence: Some(foreign), ..events("a", [event("one")]) }).await, "use one thread");
        assert_eq!(places(&read(&store, "a").await), [(1, 0, "long")]);
    }

    // A driver whose run was taken over, or followed by a later run, stores no events and removes none. The numbers continue.
    #[test]
    async fn events_of_a_driver_that_was_replaced_are_refused(store: impl ThreadEventStore + RunStore) {
        let id = RunId::new(thread("a"), 1);
        let fenced = |id: &RunId, owner: &str| NewThreadEvents {
            fence: Some(RunFence { id: id.clone(), owner: owner.to_owned() }),
            ends_step: true,
            ..events("a", [transient(owner)])
        };
        conflict(store.append_events(fenced(&id, "first")).await, "has a new owner");
        assert!(matches!(store.begin_run(new_run("first", 100)).await.unwrap(), RunBegun::Begun(row) if row.id == id));
        assert_eq!(store.append_events(fenced(&id, "first")).await.unwrap(), 1);

        // The lease of `first` ends at 400.
        assert!(matches!(store.begin_run(new_run("second", 500)).await.unwrap(), RunBegun::Begun(row) if row.id == id));
        conflict(store.append_events(fenced(&id, "first")).await, "has a new owner");
        assert_eq!(places(&read(&store, "a").await), [(1, 0, "first")]);
        assert_eq!(store.append_events(fenced(&id, "second")).await.unwrap(), 2);

        // A driver can store the end of its run after the run has ended, until the next run begins.
        let ends = RunEnd { cause: RunCause::Replied, at: at(550), progress: RunProgress::default() };
        assert!(store.end_run(&id, "second", ends).await.unwrap());
        assert_eq!(store.append_events(fenced(&id, "second")).await.unwrap(), 3);
        assert!(matches!(store.begin_run(new_run("third", 600)).await.unwrap(), RunBegun::Begun(row) if row.id.number() == 2));
        conflict(store.append_events(fenced(&id, "second")).await, "has a new owner");
        assert_eq!(places(&read(&store, "a").await), [(3, 0, "second")]);
    }

    // Events of two workspaces are separate, even if the names of the conversations are equal.
    #[test]
    async fn events_of_two_workspaces_are_separate(store: impl ThreadEventStore + Maintenance) {
        let foreign = ThreadId::new("umbrella", "a").unwrap();
        store.append_events(events("a", [event("own"), transient("own")])).await.unwrap();
        let other = NewThreadEvents { thread: foreign.clone(), ends_step: true, ..events("a", [event("foreign")]) };
        assert_eq!(store.append_events(other).await.unwrap(), 1);
        assert_eq!(store.thread_events(&foreign, 0, 9).await.unwrap().len(), 1);
        store.erase_contents(Erasure::Thread(&foreign)).await.unwrap();
        assert_eq!(store.thread_events(&foreign, 0, 9).await.unwrap(), []);
        assert_eq!(read(&store, "a").await.len(), 2);
    }

    // Events are erased and purged with the messages of their thread, and the numbers continue.
    #[test]
    async fn erased_and_purged_threads_lose_their_events(store: impl ThreadEventStore + ThreadStore + Maintenance) {
        for (name, time) in [("a", 100), ("b", 100), ("c", 900)] {
            store.append(NewMessage { at: at(time), ..message(name, Role::User, None) }).await.unwrap();
            store.append_events(events(name, [event("kept"), transient("text")])).await.unwrap();
        }
        store.erase_contents(Erasure::Thread(&thread("a"))).await.unwrap();
        let retention = Retention { threads: Some(Duration::from_millis(500)), ..Retention::default() };
        assert_eq!(store.purge(&retention, at(1000), 9).await.unwrap().threads, 1);
        for (name, left) in [("a", 0), ("b", 0), ("c", 2)] {
            assert_eq!(read(&store, name).await.len(), left, "{name}");
        }
        assert_eq!(store.erase_events(&thread("c")).await.unwrap(), 2);
        assert_eq!(store.erase_events(&thread("d")).await.unwrap(), 0);
        assert_eq!(store.append_events(events("c", [event("next")])).await.unwrap(), 3);
        assert_eq!(places(&read(&store, "c").await), [(3, 1, "next")]);
    }
}

tests! {
    ($) __suite_thread_event_races in thread_event for Events;

    // 32 tasks of two processes that append events and messages get different numbers, and their order agrees with the order of the messages.
    #[test]
    fn concurrent_events_have_different_numbers(opener) {
        opener.test(async |place| {
            let stores = [place.open().await, place.open().await];
            let done = at_once(|task| {
                let store = stores[usize::from(task % 2 == 1)].clone();
                async move {
                    say(&store, "a").await;
                    let last = store.append_events(events("a", [event("one"), event("two")])).await.unwrap();
                    [last - 1, last]
                }
            }).await;
            let numbers: BTreeSet<u64> = done.into_iter().flatten().collect();
            assert_eq!(numbers, (1..=64).collect());
            let read = read(&stores[1], "a").await;
            assert_eq!(read.len(), 64);
            assert!(read.is_sorted_by_key(|event| event.message));
            assert!(read.iter().all(|event| (1..=32).contains(&event.message)));
        });
    }

    // A reader in another process that reads the new messages before the new events reads each event once, with the number of its message.
    #[test]
    fn reader_of_another_process_misses_no_event(opener) {
        opener.test(async |place| {
            let (writer, reader) = (place.open().await, place.open().await);
            let written = tokio::spawn(async move {
                for _ in 0..20 {
                    say(&writer, "a").await;
                    writer.append_events(events("a", [event("one")])).await.unwrap();
                }
            });
            let (mut order, mut last, mut after) = (Vec::new(), 0, 0);
            while after < 20 {
                let messages = ThreadStore::read(&reader, &thread("a"), Some(last)).await.unwrap();
                last = messages.last().map_or(last, |message| message.seq);
                order.extend(messages.into_iter().map(|message| (message.seq, 0)));
                for event in reader.thread_events(&thread("a"), after, 9).await.unwrap() {
                    if event.message > last {
                        break;
                    }
                    after = event.seq;
                    order.push((event.message, event.seq));
                }
            }
            written.await.unwrap();
            // Each message is followed by its event. A page may contain several messages before their events.
            order.sort_unstable();
            let expected: Vec<_> = (1..=20).flat_map(|number| [(number, 0), (number, number)]).collect();
            assert_eq!(order, expected);
        });
    }
}
