//! Tests of threads and their messages.

use crate::*;

use super::records::{at, message, thread};
use super::{at_once, conflict, tests};

async fn sequence(store: &impl ThreadStore, conversation: &str) -> Vec<u64> {
    let messages = store.read(&thread(conversation), None).await.unwrap();
    messages.into_iter().map(|message| message.seq).collect()
}

tests! {
    ($) __suite_thread in thread for Store;

    #[test]
    async fn messages_round_trip_in_order(store: impl ThreadStore) {
        let said = [
            message("t", Role::System, None),
            message("t", Role::User, None),
            message("t", Role::Assistant, None),
            message("t", Role::Tool, Some(1)),
            message("t", Role::Assistant, None),
        ];
        for (seq, message) in (1..).zip(&said) {
            assert_eq!(store.append(message.clone()).await.unwrap(), seq);
        }
        assert_eq!(store.append(message("u", Role::User, None)).await.unwrap(), 1);
        let expected: Vec<Message> = (1..).zip(said).map(|(seq, message)| message.numbered(seq)).collect();
        assert_eq!(store.read(&thread("t"), None).await.unwrap(), expected);
        assert_eq!(store.read(&thread("t"), Some(0)).await.unwrap(), expected);
        assert_eq!(store.read(&thread("t"), Some(3)).await.unwrap(), expected[3..]);
        assert_eq!(store.read(&thread("t"), Some(5)).await.unwrap(), []);
        assert_eq!(store.read(&thread("t"), Some(u64::MAX)).await.unwrap(), []);
        assert_eq!(store.read(&thread("nobody's"), None).await.unwrap(), []);
    }

    // The first message of a role and a time is found, also in a thread of several pages, and only in this thread.
    #[test]
    async fn message_of_a_time_is_found(store: impl ThreadStore) {
        let said = |role, time| NewMessage { role, at: at(time), ..message("t", Role::User, None) };
        for time in 0..250 {
            store.append(said(Role::User, time / 2)).await.unwrap();
        }
        store.append(said(Role::Assistant, 500)).await.unwrap();
        let find = async |thread: &ThreadId, role, time| store.message_at(thread, role, at(time)).await.unwrap();
        let main = thread("t");
        for (time, seq) in [(0, Some(1)), (1, Some(3)), (124, Some(249)), (125, None)] {
            assert_eq!(find(&main, Role::User, time).await, seq, "{time}");
        }
        assert_eq!((find(&main, Role::User, 500).await, find(&main, Role::Assistant, 500).await), (None, Some(251)));
        for other in [thread("u"), ThreadId::new("umbrella", "t").unwrap()] {
            assert_eq!(find(&other, Role::User, 1).await, None);
        }
    }

    // A call has one stored result; a call at a different position, or of a different message or thread, has a separate result.
    #[test]
    async fn a_call_has_one_result(store: impl ThreadStore) {
        let result = message("t", Role::Tool, Some(1));
        let place = |message, position| Some(CallPlace { message, position });
        store.append(result.clone()).await.unwrap();
        conflict(store.append(NewMessage { content: "7".into(), ..result.clone() }).await, "call 1 of message 1");
        store.append(NewMessage { answers: place(2, 1), ..result.clone() }).await.unwrap();
        store.append(NewMessage { thread: thread("u"), ..result.clone() }).await.unwrap();
        store.append(NewMessage { thread: ThreadId::new("umbrella", "t").unwrap(), ..result.clone() }).await.unwrap();
        store.append(NewMessage { answers: place(1, 2), ..result }).await.unwrap();
        conflict(store.append(message("t", Role::Tool, None)).await, "call");
        for role in [Role::System, Role::User, Role::Assistant] {
            conflict(store.append(message("t", role, Some(7))).await, "cannot answer a call");
        }
        assert_eq!(sequence(&store, "t").await, [1, 2, 3]);
    }

    // A message with `follows` is stored only if it follows the model's last message, so only one of two runs in a thread continues. A message
    // without `follows` is stored in any case.
    #[test]
    async fn a_message_of_the_model_follows_the_last_one(store: impl ThreadStore) {
        let said = |follows| NewMessage { follows, ..message("t", Role::Assistant, None) };
        store.append(message("t", Role::User, None)).await.unwrap();
        assert_eq!(store.append(said(Some(0))).await.unwrap(), 2);
        conflict(store.append(said(Some(0))).await, "newer message of the model");
        store.append(message("t", Role::User, None)).await.unwrap();
        assert_eq!(store.append(said(Some(2))).await.unwrap(), 4);
        conflict(store.append(said(Some(3))).await, "newer message of the model");
        assert_eq!(store.append(said(None)).await.unwrap(), 5);
        // A thread with the same name in a different workspace is a different thread.
        let other = NewMessage { thread: ThreadId::new("umbrella", "t").unwrap(), ..said(Some(0)) };
        assert_eq!(store.append(other).await.unwrap(), 1);
        store.erase(&thread("t")).await.unwrap();
        assert_eq!(store.append(said(Some(0))).await.unwrap(), 6);
    }

    #[test]
    async fn one_of_many_results_of_a_call_is_stored(store: impl ThreadStore + Clone) {
        let stored = at_once(|task| {
            let store = store.clone();
            async move {
                store.append(message("t", Role::Tool, Some(task + 1))).await.unwrap();
                store.append(message("t", Role::Tool, Some(0))).await.is_ok()
            }
        }).await;
        assert_eq!(stored.into_iter().filter(|stored| *stored).count(), 1);
        assert_eq!(sequence(&store, "t").await, (1..=33).collect::<Vec<u64>>());
    }

    // Sequence numbers are not used again after a thread was erased, so that a new call has a new identity.
    #[test]
    async fn erased_thread_does_not_reuse_sequence_numbers(store: impl ThreadStore) {
        store.append(message("t", Role::User, None)).await.unwrap();
        store.append(message("t", Role::Tool, Some(1))).await.unwrap();
        store.append(message("u", Role::User, None)).await.unwrap();
        assert_eq!(store.erase(&thread("t")).await.unwrap(), 2);
        assert_eq!(store.erase(&thread("t")).await.unwrap(), 0);
        assert_eq!(store.read(&thread("t"), None).await.unwrap(), []);
        assert_eq!(store.read(&thread("u"), None).await.unwrap().len(), 1);
        assert_eq!(store.append(message("t", Role::Tool, Some(1))).await.unwrap(), 3);
        assert_eq!(store.append(message("t", Role::User, None)).await.unwrap(), 4);
        assert_eq!(store.erase(&thread("t")).await.unwrap(), 2);
        assert_eq!(store.append(message("t", Role::User, None)).await.unwrap(), 5);
        assert_eq!(store.erase(&thread("unknown")).await.unwrap(), 0);
        assert_eq!(store.append(message("unknown", Role::User, None)).await.unwrap(), 1);
    }
}
