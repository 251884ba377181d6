//! Tests of concurrent changes by two processes.

use crate::*;

use super::super::records::thread;
use super::super::{at_once, tests};
use super::{Memories, all, fact, note, shared, with_vector};

tests! {
    ($) __suite_long_term_races in long_term for Memories;

    // S2-46: of 32 tasks of two processes that store the same content, one adds it and the others update it.
    #[test]
    fn concurrent_equal_contents_are_one_memory(opener) {
        opener.test(async |place| {
            let stores = [place.open().await, place.open().await];
            let events = at_once(|task| {
                let store = stores[usize::from(task % 2 == 1)].clone();
                async move { store.remember(fact(&shared(), "Ada likes tea")).await.unwrap().event }
            }).await;
            assert_eq!(events.iter().filter(|event| **event == MemoryEvent::Add).count(), 1);
            assert_eq!(all(&stores[0]).await.len(), 1);
        });
    }

    // Of 32 tasks of two processes that store similar contents, one adds it and the others update it.
    #[test]
    fn concurrent_similar_contents_are_one_memory(opener) {
        opener.test(async |place| {
            let stores = [place.open().await, place.open().await];
            let events = at_once(|task| {
                let store = stores[usize::from(task % 2 == 1)].clone();
                let new = with_vector(&shared(), &format!("Ada likes tea {task}"), [1.0, f32::from(u16::try_from(task).unwrap()) / 1_000.0, 0.0]);
                async move { store.remember(new).await.unwrap().event }
            }).await;
            assert_eq!(events.iter().filter(|event| **event == MemoryEvent::Add).count(), 1);
            assert_eq!(all(&stores[1]).await.len(), 1);
        });
    }

    // S2-32: no note of 32 tasks of two processes is lost.
    #[test]
    fn concurrent_notes_are_all_kept(opener) {
        opener.test(async |place| {
            let stores = [place.open().await, place.open().await];
            at_once(|task| {
                let store = stores[usize::from(task % 2 == 1)].clone();
                async move { store.append_note(note("main", &format!("a{task}"), "x")).await.unwrap(); }
            }).await;
            let block = stores[0].notes(&thread("main")).await.unwrap();
            let mut authors: Vec<_> = block.notes.iter().map(|note| note.author.clone()).collect();
            authors.sort();
            authors.dedup();
            assert_eq!((authors.len(), block.total()), (32, 32));
        });
    }
}
