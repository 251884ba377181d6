//! Tests of lists, corrections, removals and erasures.

use std::time::Duration;

use crate::*;

use super::super::records::{acme, at, message, thread};
use super::super::{conflict, missing, tests};
use super::{Memories, add, agent, all, fact, found, near, note, query, shared, with_vector};

tests! {
    ($) __suite_long_term_administration in long_term for Memories;

    // An operator can correct and remove a memory of the workspace, and no memory of a different workspace. A correction to a blank content or to the
    // content of a different memory is refused.
    #[test]
    async fn memory_is_corrected_and_removed(store: impl Memories) {
        let store = &store;
        let row = add(store, with_vector(&agent("a"), "Ada likes tea", [1.0, 0.0, 0.0])).await;
        let other = add(store, fact(&agent("a"), "Ada likes milk")).await;
        let correction = MemoryCorrection {
            content: Some("Ada likes coffee".to_owned()), memory_type: Some(MemoryType::Preference), durability: Some(Durability::Core),
            importance: Some(Importance::new(1.0).unwrap()), at: at(300),
        };
        let corrected = store.correct_memory(&acme(), &row.id, &correction).await.unwrap();
        assert_eq!(store.memory(&acme(), &row.id).await.unwrap(), Some(corrected.clone()));
        assert_eq!((corrected.source, corrected.model, corrected.updated, corrected.created), (MemorySource::User, None, at(300), at(100)));
        assert_eq!((corrected.memory_type, corrected.durability, corrected.importance.value()), (MemoryType::Preference, Durability::Core, 1.0));
        assert_eq!(found(store, &agent("a"), "coffee").await, ["Ada likes coffee"]);
        assert!(found(store, &agent("a"), "tea").await.is_empty() && near(store, &agent("a"), [1.0, 0.0, 0.0]).await.is_empty());
        let preference = MemoryQuery { types: vec![MemoryType::Preference], ..query("coffee") };
        assert_eq!(store.search_memories(&agent("a"), &preference).await.unwrap().len(), 1);

        let same = MemoryCorrection { content: Some("ada likes MILK.".to_owned()), ..MemoryCorrection::default() };
        conflict(store.correct_memory(&acme(), &row.id, &same).await, "a memory with this content");
        store.correct_memory(&acme(), &other.id, &same).await.unwrap();
        let blank = MemoryCorrection { content: Some(" ".to_owned()), ..MemoryCorrection::default() };
        conflict(store.correct_memory(&acme(), &row.id, &blank).await, "is blank");
        let umbrella = Workspace::new("umbrella");
        missing(store.correct_memory(&umbrella, &row.id, &correction).await);
        assert_eq!(store.memory(&umbrella, &row.id).await.unwrap(), None);
        assert!(!store.remove_memory(&umbrella, &row.id).await.unwrap());
        assert!(store.remove_memory(&acme(), &row.id).await.unwrap());
        assert!(!store.remove_memory(&acme(), &row.id).await.unwrap());
        assert!(found(store, &agent("a"), "coffee").await.is_empty());
        // The removed content can be stored again.
        add(store, fact(&agent("a"), "Ada likes coffee")).await;
    }

    // A removal removes only the memories of its scope.
    #[test]
    async fn memories_of_one_scope_are_removed(store: impl Memories) {
        let store = &store;
        for scope in [shared(), agent("a"), agent("b"), MemoryScope::agent(&Workspace::new("umbrella"), "a").unwrap()] {
            add(store, with_vector(&scope, "tea", [1.0, 0.0, 0.0])).await;
            add(store, fact(&scope, "milk")).await;
        }
        assert_eq!(store.remove_memories(&agent("a")).await.unwrap(), 2);
        assert_eq!(store.remove_memories(&agent("a")).await.unwrap(), 0);
        assert_eq!(all(store).await.len(), 6);
        assert_eq!(store.remove_memories(&shared()).await.unwrap(), 2);
        assert_eq!((found(store, &agent("b"), "tea").await.len(), all(store).await.len()), (1, 4));
    }

    // Lists are ordered, have pages, and contain only the rows of their scope and filter.
    #[test]
    async fn memories_are_listed(store: impl Memories) {
        let store = &store;
        let umbrella = MemoryScope::shared(&Workspace::new("umbrella"));
        for (scope, principal) in [(&shared(), Some("ann")), (&agent("a"), Some("bob")), (&agent("a"), None), (&umbrella, Some("ann"))] {
            let content = format!("tea of {principal:?}");
            add(store, NewMemory { principal: principal.map(str::to_owned), ..fact(scope, &content) }).await;
        }
        let acme = acme();
        let list = async |scope: Scope<'_>, filter: MemoryFilter| store.list_memories(scope, &filter).await.unwrap();
        let (own, everything) = (Scope::Workspace(&acme), MemoryFilter::default());
        let rows = list(own, everything.clone()).await;
        assert!(rows.len() == 3 && rows.is_sorted_by_key(|row| row.id.clone()));
        let of_a = MemoryFilter { scope: Some(agent("a")), ..everything.clone() };
        assert_eq!(list(own, of_a.clone()).await.len(), 2);
        assert_eq!(list(Scope::All, of_a.clone()).await.len(), 2);
        let other = Workspace::new("umbrella");
        assert_eq!(list(Scope::Workspace(&other), of_a).await.len(), 0);
        let of_ann = MemoryFilter { principal: Some("ann".to_owned()), ..everything.clone() };
        assert_eq!((list(own, of_ann.clone()).await.len(), list(Scope::All, of_ann).await.len()), (1, 2));
        let mut filter = MemoryFilter { limit: Some(1), ..everything };
        let mut seen = Vec::new();
        while let [row] = &*list(Scope::All, filter.clone()).await {
            filter.after = Some((row.scope.workspace().clone(), row.id.clone()));
            seen.push(row.clone());
        }
        assert_eq!(seen, all(store).await);
        assert_eq!(seen.len(), 4);
    }

    // The erasure of a thread removes its memories and notes, and the erasure of a user removes the memories of the user. All other memories and
    // notes are kept.
    #[test]
    async fn erasure_removes_memories_and_notes(store: impl Memories) {
        let store = &store;
        let of = |principal: &str, conversation: &str| NewMemory {
            principal: Some(principal.to_owned()), conversation: Some(conversation.to_owned()),
            ..fact(&shared(), &format!("tea of {principal} in {conversation}"))
        };
        for (principal, conversation) in [("ann", "main"), ("ann", "side"), ("bob", "main"), ("bob", "side")] {
            add(store, of(principal, conversation)).await;
        }
        let umbrella = MemoryScope::shared(&Workspace::new("umbrella"));
        add(store, NewMemory { scope: umbrella.clone(), ..of("ann", "main") }).await;
        for conversation in ["main", "side"] {
            store.append_note(note(conversation, "a", "x")).await.unwrap();
        }
        let erased = store.erase_contents(Erasure::Thread(&thread("main"))).await.unwrap();
        assert_eq!(erased, Erased { memories: 2, ..Erased::default() });
        assert_eq!((store.notes(&thread("main")).await.unwrap().total(), store.notes(&thread("side")).await.unwrap().total()), (0, 1));
        let acme = acme();
        let erased = store.erase_contents(Erasure::Principal { workspace: &acme, principal: "ann" }).await.unwrap();
        assert_eq!(erased, Erased { memories: 1, ..Erased::default() });
        assert_eq!(found(store, &shared(), "tea").await, ["tea of bob in side"]);
        assert_eq!(found(store, &umbrella, "tea").await, ["tea of ann in main"]);
        assert_eq!(store.notes(&thread("side")).await.unwrap().total(), 1);
    }

    // The retention of a thread removes its notes, and keeps the memories that were stored in it.
    #[test]
    async fn retention_of_a_thread_keeps_its_memories(store: impl Memories + Store) {
        let store = &store;
        store.append(message("main", Role::User, None)).await.unwrap();
        store.append_note(note("main", "a", "x")).await.unwrap();
        add(store, fact(&shared(), "tea")).await;
        let retention = Retention { threads: Some(Duration::ZERO), ..Retention::default() };
        let purged = store.purge(&retention, at(1_000_000_000), 10).await.unwrap();
        assert_eq!((purged.threads, purged.memories), (1, 0));
        assert_eq!(store.notes(&thread("main")).await.unwrap(), NoteBlock::default());
        assert_eq!(found(store, &shared(), "tea").await.len(), 1);
    }
}
