//! Tests of spilled outputs.

use crate::*;

use super::records::{acme, at, spill};
use super::{conflict, tests};

async fn part(store: &impl SpillStore, handle: &str, from: u64, most: u64) -> SpillPart {
    store
        .read(&acme(), "ann", handle, from, most, at(200))
        .await
        .unwrap()
        .unwrap()
}

/// Returns the expected result of [`SpillStore::read`], computed from the complete text.
fn promised(text: &str, from: u64, most: u64) -> SpillPart {
    let starts: Vec<usize> = text
        .char_indices()
        .map(|(at, _)| at)
        .chain([text.len()])
        .collect();
    let from = usize::try_from(from).unwrap_or(usize::MAX);
    let most = usize::try_from(most).unwrap_or(usize::MAX);
    let start = *starts.iter().rev().find(|at| **at <= from).unwrap();
    let longest = *starts
        .iter()
        .rev()
        .find(|at| **at <= start.saturating_add(most))
        .unwrap();
    let shortest = *starts.iter().find(|at| **at > start).unwrap_or(&text.len());
    let end = longest.max(shortest);
    SpillPart {
        text: text[start..end].to_owned(),
        from: start as u64,
        total: text.len() as u64,
    }
}

tests! {
    ($) __suite_spill in spill for Store;

    // M17: a part consists of complete characters, wherever the read begins.
    #[test]
    async fn parts_are_cut_at_character_boundaries(store: impl SpillStore) {
        let text = "aäb€c😀d";
        store.put(spill("s", text)).await.unwrap();
        store.put(spill("empty", "")).await.unwrap();
        for from in (0..=16).chain([u64::MAX]) {
            for most in (0..=16).chain([u64::MAX]) {
                assert_eq!(part(&store, "s", from, most).await, promised(text, from, most), "{from} {most}");
                assert_eq!(part(&store, "empty", from, most).await, promised("", from, most));
            }
        }
    }

    // M17: a long output is read to its end, in parts of limited size.
    #[test]
    async fn long_text_is_read_to_its_end(store: impl SpillStore) {
        let text: String = (0..40_000).map(|n| ["a", "ä", "€", "😀"][n % 4]).chain(["\0", "end"]).collect();
        store.put(spill("s", &text)).await.unwrap();
        for most in [5, 4096, 70_000, 1_000_000] {
            let mut read = String::new();
            // Reading the complete text in parts of 5 bytes would be slow, so the test reads only the first 200 of these parts.
            let stop = if most == 5 { 0..200 } else { 0..usize::MAX };
            for _ in stop {
                let from = read.len() as u64;
                let part = part(&store, "s", from, most).await;
                assert_eq!((part.from, part.total), (from, text.len() as u64));
                assert!(part.text.len() as u64 <= most);
                if part.text.is_empty() {
                    assert_eq!(read, text);
                    break;
                }
                read.push_str(&part.text);
            }
            assert!(text.starts_with(&read));
        }
        for seam in (65_520..65_560).chain(131_050..131_080) {
            for most in [1, 4, 9, 70_000] {
                assert_eq!(part(&store, "s", seam, most).await, promised(&text, seam, most), "{seam} {most}");
            }
        }
    }

    // M17: a different tenant or user cannot read a text by its handle, and its owner cannot read it after it has expired.
    #[test]
    async fn spilled_text_is_readable_only_by_its_owner(store: impl SpillStore) {
        store.put(spill("s", "text")).await.unwrap();
        assert_eq!(part(&store, "s", 0, 9).await.text, "text");
        for (handle, workspace, principal, now) in [
            ("t", "acme", "ann", 200),
            ("s", "umbrella", "ann", 200),
            ("s", "acme", "bob", 200),
            ("s", "acme", "ann", 1000),
        ] {
            assert_eq!(store.read(&Workspace::new(workspace), principal, handle, 0, 9, at(now)).await.unwrap(), None);
        }
    }

    #[test]
    async fn handle_cannot_be_reused_for_a_different_text(store: impl SpillStore) {
        store.put(spill("s", "text")).await.unwrap();
        conflict(store.put(Spill { principal: "bob".into(), ..spill("s", "other") }).await, "exists");
        assert_eq!(part(&store, "s", 0, 9).await.text, "text");
    }

    #[test]
    async fn expired_texts_are_deleted(store: impl SpillStore) {
        store.put(spill("a", "text")).await.unwrap();
        store.put(Spill { expires: at(1001), ..spill("b", "text") }).await.unwrap();
        assert_eq!(store.expire(Scope::All, at(999)).await.unwrap(), 0);
        assert_eq!(store.expire(Scope::All, at(1000)).await.unwrap(), 1);
        assert_eq!(store.read(&acme(), "ann", "a", 0, 9, at(200)).await.unwrap(), None);
        assert_eq!(part(&store, "b", 0, 9).await.text, "text");
        store.put(spill("a", "again")).await.unwrap();
        assert_eq!(part(&store, "a", 0, 9).await.text, "again");
    }
}
