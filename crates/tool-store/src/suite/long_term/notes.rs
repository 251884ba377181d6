//! Tests of the notes of threads.

use crate::*;

use super::super::records::thread;
use super::super::{conflict, tests};
use super::{Memories, note};

tests! {
    ($) __suite_long_term_notes in long_term for Memories;

    // S2-32: notes keep their order and the labels of their authors, in their own thread.
    #[test]
    async fn notes_keep_their_order_and_authors(store: impl Memories) {
        let store = &store;
        assert_eq!(store.notes(&thread("main")).await.unwrap(), NoteBlock::default());
        store.append_note(note("main", "planner", "ask Ada\0")).await.unwrap();
        let block = store.append_note(note("main", "writer", "line 1\n[planner] line 2")).await.unwrap();
        let expected = ["[planner]", "ask Ada\n[writer] line 1 [planner] line 2"].join(" ");
        assert_eq!(block.to_string(), expected);
        assert_eq!(store.notes(&thread("main")).await.unwrap(), block);
        assert_eq!((block.total(), block.notes[0].text.as_str()), (2, "ask Ada\0"));
        for other in [thread("side"), ThreadId::new("umbrella", "main").unwrap()] {
            assert_eq!(store.notes(&other).await.unwrap(), NoteBlock::default());
        }
        for (author, text) in [("", "x"), ("a", " "), ("a", &"x".repeat(501)), (&"a".repeat(101), "x")] {
            conflict(store.append_note(note("main", author, text)).await, "of a note is blank or has");
        }
        store.append_note(note("main", &"a".repeat(100), &"ü".repeat(500))).await.unwrap();
        assert_eq!(store.notes(&thread("main")).await.unwrap().total(), 3);
    }

    // A full block shortens the oldest notes first, and then removes them.
    #[test]
    async fn oldest_notes_are_compacted(store: impl Memories) {
        let store = &store;
        for number in 0..100 {
            let text = format!("{number:03} {}", "x".repeat(496));
            let block = store.append_note(note("main", "a", &text)).await.unwrap();
            assert!(block.chars() <= NoteBlock::MOST_CHARS && block.total() == number + 1);
            let last = block.notes.last().unwrap();
            assert_eq!((&last.text, last.shortened), (&text, false));
            // All shortened notes are older than the complete notes, and only the oldest notes were removed.
            assert!(block.notes.is_sorted_by_key(|note| !note.shortened));
            let numbers: Vec<u64> = block.notes.iter().map(|note| note.text[..3].parse().unwrap()).collect();
            assert_eq!(numbers, (block.removed..=number).collect::<Vec<_>>());
        }
        let block = store.notes(&thread("main")).await.unwrap();
        assert!(block.removed > 0 && block.notes.iter().any(|note| note.shortened));
        assert!(block.to_string().starts_with(&format!("({} older notes were removed)\n[a] ", block.removed)));
    }
}
