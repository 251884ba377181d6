//! Threads.

use tool_core::store::*;

use crate::records::message;
use crate::{at_once, both, conflict};

both! {
    #[test]
    async fn messages_come_back_whole_and_in_order(store: impl ThreadStore) {
        let said = [
            message("t", Role::User, None),
            message("t", Role::Assistant, Some("c1")),
            message("t", Role::Tool, Some("c1")),
            message("t", Role::Assistant, Some("c1")),
        ];
        for (seq, message) in (1..).zip(&said) {
            assert_eq!(store.append(message.clone()).await.unwrap(), seq);
        }
        assert_eq!(store.append(message("u", Role::User, None)).await.unwrap(), 1);
        let expected: Vec<Message> = (1..).zip(said).map(|(seq, message)| message.at_place(seq)).collect();
        assert_eq!(store.read("t", None).await.unwrap(), expected);
        assert_eq!(store.read("t", Some(0)).await.unwrap(), expected);
        assert_eq!(store.read("t", Some(3)).await.unwrap(), expected[3..]);
        assert_eq!(store.read("t", Some(4)).await.unwrap(), []);
        assert_eq!(store.read("t", Some(u64::MAX)).await.unwrap(), []);
        assert_eq!(store.read("nobody's", None).await.unwrap(), []);
    }

    // A call's result is stored once; a twin call of another turn or thread has its own.
    #[test]
    async fn a_call_has_one_result(store: impl ThreadStore) {
        let result = message("t", Role::Tool, Some("c1"));
        store.append(result.clone()).await.unwrap();
        conflict(store.append(NewMessage { content: "7".into(), ..result.clone() }).await, "c1");
        store.append(NewMessage { turn: "turn 2".into(), ..result.clone() }).await.unwrap();
        store.append(NewMessage { thread: "u".into(), ..result.clone() }).await.unwrap();
        store.append(message("t", Role::Tool, Some("c2"))).await.unwrap();
        conflict(store.append(message("t", Role::Tool, None)).await, "call");
        let places: Vec<_> = store.read("t", None).await.unwrap().into_iter().map(|message| message.seq).collect();
        assert_eq!(places, [1, 2, 3]);
    }

    #[test]
    async fn of_many_results_of_a_call_one_is_stored(store: impl ThreadStore + Clone) {
        let stored = at_once(|task| {
            let store = store.clone();
            async move {
                let own = format!("own {task}");
                store.append(message("t", Role::Tool, Some(&own))).await.unwrap();
                store.append(message("t", Role::Tool, Some("shared"))).await.is_ok()
            }
        }).await;
        assert_eq!(stored.into_iter().filter(|stored| *stored).count(), 1);
        let places: Vec<_> = store.read("t", None).await.unwrap().into_iter().map(|message| message.seq).collect();
        assert_eq!(places, (1..=33).collect::<Vec<u64>>());
    }

    #[test]
    async fn an_erased_thread_is_new(store: impl ThreadStore) {
        store.append(message("t", Role::User, None)).await.unwrap();
        store.append(message("t", Role::Tool, Some("c1"))).await.unwrap();
        store.append(message("u", Role::User, None)).await.unwrap();
        assert_eq!(store.erase("t").await.unwrap(), 2);
        assert_eq!(store.erase("t").await.unwrap(), 0);
        assert_eq!(store.read("u", None).await.unwrap().len(), 1);
        assert_eq!(store.append(message("t", Role::Tool, Some("c1"))).await.unwrap(), 1);
    }
}
