//! Tests of long-term memories and of notes.

use std::time::Duration;

use crate::*;

use super::records::{acme, at, message, thread};
use super::{at_once, conflict, missing, tests};

/// The traits of a store whose memories are erased and purged.
#[doc(hidden)]
pub trait Memories: LongTermStore + Maintenance {}
impl<T: LongTermStore + Maintenance> Memories for T {}

fn shared() -> MemoryScope {
    MemoryScope::shared(&acme())
}

fn agent(name: &str) -> MemoryScope {
    MemoryScope::agent(&acme(), name).unwrap()
}

/// Returns a fact of a scope, stored at 100.
fn fact(scope: &MemoryScope, content: &str) -> NewMemory {
    NewMemory {
        scope: scope.clone(),
        content: content.to_owned(),
        memory_type: MemoryType::Fact,
        durability: Durability::Standard,
        importance: Importance::new(0.5).unwrap(),
        source: MemorySource::Model,
        principal: Some("ann".to_owned()),
        conversation: Some("main".to_owned()),
        vector: None,
        at: at(100),
    }
}

fn vector(values: [f32; 3]) -> MemoryVector {
    MemoryVector::new("model", values.to_vec()).unwrap()
}

fn with_vector(scope: &MemoryScope, content: &str, values: [f32; 3]) -> NewMemory {
    NewMemory {
        vector: Some(vector(values)),
        ..fact(scope, content)
    }
}

fn query(text: &str) -> MemoryQuery {
    MemoryQuery {
        text: text.to_owned(),
        types: Vec::new(),
        limit: 10,
        now: at(200),
    }
}

async fn add(store: &impl LongTermStore, new: NewMemory) -> MemoryRow {
    let remembered = store.remember(new).await.unwrap();
    assert_eq!(remembered.event, MemoryEvent::Add);
    remembered.memory
}

fn contents(hits: &[MemoryHit]) -> Vec<&str> {
    hits.iter().map(|hit| &*hit.memory.content).collect()
}

async fn found(store: &impl LongTermStore, reader: &MemoryScope, text: &str) -> Vec<String> {
    let hits = store.search_memories(reader, &query(text)).await.unwrap();
    let contents = contents(&hits).into_iter();
    contents.map(str::to_owned).collect()
}

async fn near(store: &impl LongTermStore, reader: &MemoryScope, values: [f32; 3]) -> Vec<String> {
    let (vector, query) = (vector(values), query(""));
    let hits = store.nearest_memories(reader, &vector, &query).await;
    let hits = hits.unwrap();
    contents(&hits).into_iter().map(str::to_owned).collect()
}

async fn all(store: &impl LongTermStore) -> Vec<MemoryRow> {
    let filter = MemoryFilter::default();
    store.list_memories(Scope::All, &filter).await.unwrap()
}

fn note(conversation: &str, author: &str, text: &str) -> NewNote {
    NewNote {
        thread: thread(conversation),
        author: author.to_owned(),
        text: text.to_owned(),
        at: at(100),
    }
}

tests! {
    ($) __suite_long_term in long_term for Memories;

    // S2-46: the same content twice is one row, and the second time is an update of it.
    #[test]
    async fn same_content_is_stored_once(store: impl Memories) {
        let store = &store;
        let first = add(store, fact(&shared(), "Ada likes tea.")).await;
        let again = NewMemory {
            importance: Importance::new(0.75).unwrap(),
            durability: Durability::Core,
            principal: None,
            at: at(300),
            ..fact(&shared(), "  ada likes\nTEA ")
        };
        let again = store.remember(again).await.unwrap();
        assert_eq!((again.event, &again.memory.id), (MemoryEvent::Update, &first.id));
        let expected = MemoryRow {
            importance: Importance::new(0.75).unwrap(), durability: Durability::Core, principal: None, updated: at(300), ..first.clone()
        };
        assert_eq!(again.memory, expected);
        // A weaker repetition does not weaken the memory.
        store.remember(fact(&shared(), "Ada likes tea")).await.unwrap();
        let stored = store.memory(&acme(), &first.id).await.unwrap().unwrap();
        assert_eq!((stored.importance.value(), stored.durability, stored.updated), (0.75, Durability::Core, at(300)));
        assert_eq!(all(store).await.len(), 1);
        // Each scope has its own memory.
        add(store, fact(&agent("a"), "Ada likes tea.")).await;
        assert_eq!(all(store).await.len(), 2);
    }

    // S2-29, S2-47: a search returns memories of the workspace and of the own agent, and none of another agent or workspace.
    #[test]
    async fn reader_finds_shared_and_own_memories_only(store: impl Memories) {
        let store = &store;
        let umbrella = MemoryScope::shared(&Workspace::new("umbrella"));
        // Names that look like the scopes of others.
        let odd = MemoryScope::agent(&Workspace::new("acme:agent"), "a").unwrap();
        for (scope, content) in [
            (&shared(), "tea is shared"), (&agent("a"), "tea of a"), (&agent("b"), "tea of b"), (&umbrella, "tea of umbrella"), (&odd, "odd tea"),
            (&MemoryScope::shared(&Workspace::new("acme:agent:a")), "other tea"),
        ] {
            add(store, with_vector(scope, content, [1.0, 0.0, 0.0])).await;
        }
        for (reader, expected) in [
            (agent("a"), vec!["tea is shared", "tea of a"]),
            (agent("b"), vec!["tea is shared", "tea of b"]),
            (agent("c"), vec!["tea is shared"]),
            (shared(), vec!["tea is shared"]),
            (umbrella, vec!["tea of umbrella"]),
            (odd, vec!["odd tea"]),
        ] {
            let mut words = found(store, &reader, "tea").await;
            let mut vectors = near(store, &reader, [1.0, 0.0, 0.0]).await;
            words.sort();
            vectors.sort();
            assert_eq!(words, expected, "{reader}");
            assert_eq!(vectors, expected, "{reader}");
        }
    }

    // The scope and the types are applied before the limit: newer memories of others do not hide the own ones, on a connection that served the others before.
    #[test]
    async fn scope_and_types_are_applied_before_the_limit(store: impl Memories) {
        let store = &store;
        for number in 0..3 {
            add(store, fact(&agent("b"), &format!("tea {number}"))).await;
            let preference = NewMemory { memory_type: MemoryType::Preference, ..fact(&agent("a"), &format!("tea with milk {number}")) };
            add(store, preference).await;
        }
        for number in 0..300 {
            add(store, fact(&agent("a"), &format!("more tea {number}"))).await;
        }
        for _ in 0..10 {
            assert_eq!(found(store, &agent("a"), "tea").await.len(), 10);
        }
        assert_eq!(found(store, &agent("b"), "tea").await.len(), 3);
        let preferences = MemoryQuery { types: vec![MemoryType::Preference, MemoryType::UserRequest], ..query("tea") };
        let hits = store.search_memories(&agent("a"), &preferences).await.unwrap();
        assert_eq!(hits.len(), 3);
        assert!(hits.iter().all(|hit| hit.memory.memory_type == MemoryType::Preference));
        let hits = store.search_memories(&agent("a"), &MemoryQuery { limit: 2, ..query("tea") }).await.unwrap();
        assert_eq!(hits.len(), 2);
    }

    // The best memory is the one with the rare word, in every script, whatever the syntax of the query.
    #[test]
    async fn memories_are_found_by_their_words(store: impl Memories) {
        let store = &store;
        for content in ["The user drinks coffee", "The user drinks marmalade tea in the morning", "The user works in Berlin", "我在上海喝咖啡", "ฉันชอบกาแฟ"] {
            add(store, fact(&shared(), content)).await;
        }
        let best = async |text: &str| found(store, &shared(), text).await.first().cloned().unwrap_or_default();
        assert_eq!(best("where does the user drink MARMALADE?").await, "The user drinks marmalade tea in the morning");
        assert_eq!(best("咖啡").await, "我在上海喝咖啡");
        assert_eq!(best("กาแฟ").await, "ฉันชอบกาแฟ");
        assert_eq!(best("berlin\" OR 'x' NEAR(").await, "The user works in Berlin");
        for nothing in ["", "*", "\"", "-- ", "unknown", "labels:fact", "NEAR(", "'\\"] {
            assert_eq!(best(nothing).await, "", "{nothing}");
        }
        let hits = store.search_memories(&shared(), &query("user tea")).await.unwrap();
        assert!(hits.windows(2).all(|pair| pair[0].score >= pair[1].score) && hits.len() == 3);
    }

    // A similar content updates the nearest memory, which the cosine decides.
    #[test]
    async fn similar_content_updates_the_nearest_memory(store: impl Memories) {
        let store = &store;
        let tea = add(store, with_vector(&shared(), "Ada likes tea", [1.0, 0.0, 0.0])).await;
        add(store, with_vector(&shared(), "Ada lives in Rome", [0.7, 0.7, 0.0])).await;
        let green = with_vector(&shared(), "Ada likes green tea", [0.99, 0.1, 0.0]);
        let updated = store.remember(green).await.unwrap();
        assert_eq!((updated.event, &updated.memory.id), (MemoryEvent::Update, &tea.id));
        assert_eq!(found(store, &shared(), "green").await, ["Ada likes green tea"]);
        // The words and the vector of the memory are the new ones.
        assert_eq!(found(store, &shared(), "tea").await.len(), 1);
        assert_eq!(near(store, &shared(), [0.99, 0.1, 0.0]).await.first().unwrap(), "Ada likes green tea");
        // A cosine of 0.9 or less, a different scope, and a vector of a different model are different memories.
        add(store, with_vector(&shared(), "Ada likes cake", [0.9, -0.6, 0.0])).await;
        add(store, with_vector(&agent("a"), "Ada likes green teas", [0.99, 0.1, 0.0])).await;
        let other = MemoryVector::new("other", vec![0.99, 0.1, 0.0]).unwrap();
        add(store, NewMemory { vector: Some(other), ..fact(&shared(), "Ada likes black tea") }).await;
        assert_eq!(all(store).await.len(), 5);
    }

    // The output of a tool does not replace what a model or a user said.
    #[test]
    async fn less_trusted_content_replaces_nothing(store: impl Memories) {
        let store = &store;
        let said = NewMemory { source: MemorySource::User, ..with_vector(&shared(), "Pay to account 1", [1.0, 0.0, 0.0]) };
        let said = add(store, said).await;
        let page = NewMemory { source: MemorySource::Tool, ..with_vector(&shared(), "Pay to account 2", [1.0, 0.01, 0.0]) };
        let page = add(store, page).await;
        assert_eq!((said.source, page.source), (MemorySource::User, MemorySource::Tool));
        // The same content keeps its best source.
        let same = NewMemory { source: MemorySource::Tool, ..fact(&shared(), "Pay to account 1") };
        assert_eq!(store.remember(same).await.unwrap().memory.source, MemorySource::User);
    }

    // Results are ordered by cosine, have a limit, and only have the wanted types.
    #[test]
    async fn nearest_memories_are_ordered_by_cosine(store: impl Memories) {
        let store = &store;
        for (content, values) in [("east", [1.0, 0.0, 0.0]), ("north", [0.0, 1.0, 0.0]), ("northeast", [0.7, 0.7, 0.0]), ("west", [-1.0, 0.0, 0.0])] {
            add(store, with_vector(&shared(), content, values)).await;
        }
        add(store, fact(&shared(), "no vector")).await;
        assert_eq!(near(store, &shared(), [1.0, 0.1, 0.0]).await, ["east", "northeast", "north", "west"]);
        let limited = MemoryQuery { limit: 1, ..query("") };
        let hits = store.nearest_memories(&shared(), &vector([0.0, 1.0, 0.0]), &limited).await.unwrap();
        assert_eq!(contents(&hits), ["north"]);
        assert!((hits[0].score - hits[0].memory.weight(at(200))).abs() < 1e-6);
        let typed = MemoryQuery { types: vec![MemoryType::Summary], ..query("") };
        assert!(store.nearest_memories(&shared(), &vector([0.0, 1.0, 0.0]), &typed).await.unwrap().is_empty());
        // Vectors with a different number of dimensions are not compared.
        let flat = MemoryVector::new("model", vec![1.0, 0.0]).unwrap();
        assert!(store.nearest_memories(&shared(), &flat, &query("")).await.unwrap().is_empty());
    }

    // S2-46: core memories keep their weight, others lose it, and ephemeral memories are not found after 30 days and then purged.
    #[test]
    async fn memories_decay_by_their_durability(store: impl Memories) {
        let store = &store;
        let of = |durability, content: &str| NewMemory { durability, ..with_vector(&shared(), content, [1.0, 0.0, 0.0]) };
        add(store, NewMemory { vector: None, ..of(Durability::Core, "tea core") }).await;
        add(store, NewMemory { vector: None, ..of(Durability::Standard, "tea standard") }).await;
        add(store, of(Durability::Ephemeral, "tea ephemeral")).await;
        let (day, retention) = (Duration::from_hours(24), Retention::default());
        let later = |days: u32| MemoryQuery { now: at(100).plus(day * days), ..query("tea") };
        let hits = store.search_memories(&shared(), &later(7)).await.unwrap();
        assert_eq!(contents(&hits), ["tea core", "tea standard", "tea ephemeral"]);
        assert!((hits[2].score / hits[0].score - 0.5).abs() < 0.01);
        let near = store.nearest_memories(&shared(), &vector([1.0, 0.0, 0.0]), &later(30)).await.unwrap();
        assert_eq!(contents(&near), ["tea ephemeral"]);
        assert_eq!(store.purge(&retention, later(30).now, 10).await.unwrap().memories, 0);
        for text in [true, false] {
            let hits = if text {
                store.search_memories(&shared(), &later(31)).await.unwrap()
            } else {
                store.nearest_memories(&shared(), &vector([1.0, 0.0, 0.0]), &later(31)).await.unwrap()
            };
            assert_eq!(hits.len(), if text { 2 } else { 0 });
        }
        let purged = store.purge(&retention, later(31).now, 10).await.unwrap();
        assert_eq!((purged.memories, purged.more), (1, false));
        assert_eq!(all(store).await.len(), 2);
        let old = store.search_memories(&shared(), &later(4_000)).await.unwrap();
        assert!((old[1].score / old[0].score - 0.5).abs() < 0.01, "a standard memory keeps one half");
    }

    // An operator corrects a memory of the own workspace.
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

    // A removal names its scope, and removes nothing else.
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

    // The embeddings of a new model replace the old ones, one memory after the other; a content that changed meanwhile keeps its own.
    #[test]
    async fn embeddings_are_replaced_step_by_step(store: impl Memories) {
        let store = &store;
        let first = add(store, with_vector(&shared(), "east", [1.0, 0.0, 0.0])).await;
        let second = add(store, fact(&agent("a"), "north")).await;
        add(store, fact(&MemoryScope::shared(&Workspace::new("umbrella")), "south")).await;
        let (acme, new) = (acme(), |values: [f32; 2]| MemoryVector::new("new", values.to_vec()).unwrap());
        let left = async |limit| store.memories_to_embed(&acme, "new", limit).await.unwrap();
        assert_eq!((left(10).await.len(), left(1).await.len()), (2, 1));
        assert!(store.embed_memory(&acme, &first.id, &first.hash, &new([1.0, 0.0])).await.unwrap());
        assert_eq!(left(10).await, std::slice::from_ref(&second));
        assert!(!store.embed_memory(&acme, &second.id, &first.hash, &new([0.0, 1.0])).await.unwrap());
        assert!(!store.embed_memory(&Workspace::new("umbrella"), &second.id, &second.hash, &new([0.0, 1.0])).await.unwrap());
        assert!(store.embed_memory(&acme, &second.id, &second.hash, &new([0.0, 1.0])).await.unwrap());
        assert!(left(10).await.is_empty());
        let hits = store.nearest_memories(&agent("a"), &new([0.1, 1.0]), &query("")).await.unwrap();
        assert_eq!(contents(&hits), ["north", "east"]);
        assert!(near(store, &agent("a"), [1.0, 0.0, 0.0]).await.is_empty());
        // A repeated content without an embedding keeps the one it has.
        store.remember(fact(&agent("a"), "north")).await.unwrap();
        assert!(left(10).await.is_empty());
    }

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
            // Short notes are older than long ones, and no note is missing between two others.
            assert!(block.notes.is_sorted_by_key(|note| !note.shortened));
            let numbers: Vec<u64> = block.notes.iter().map(|note| note.text[..3].parse().unwrap()).collect();
            assert_eq!(numbers, (block.removed..=number).collect::<Vec<_>>());
        }
        let block = store.notes(&thread("main")).await.unwrap();
        assert!(block.removed > 0 && block.notes.iter().any(|note| note.shortened));
        assert!(block.to_string().starts_with(&format!("({} older notes were removed)\n[a] ", block.removed)));
    }

    // The erasure of a thread or a user removes its memories and notes, and nothing else.
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

    // The retention of a thread removes its notes, and keeps what was learned in it.
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

    // Faulty memories are refused, and odd texts are stored unchanged.
    #[test]
    async fn contents_are_checked_and_kept(store: impl Memories) {
        let store = &store;
        conflict(store.remember(fact(&shared(), " \n")).await, "is blank");
        let long = "x".repeat(NewMemory::MOST_BYTES + 1);
        conflict(store.remember(fact(&shared(), &long)).await, "write at most 16384");
        conflict(store.remember(NewMemory { principal: Some("a\0".to_owned()), ..fact(&shared(), "x") }).await, "NUL");
        conflict(MemoryScope::agent(&acme(), ""), "the agent's name");
        for value in [-0.1, 1.1, f64::NAN, f64::INFINITY] {
            conflict(Importance::new(value), "from 0 to 1");
        }
        for values in [vec![], vec![0.0], vec![f32::NAN], vec![0.0; 9_000]] {
            conflict(MemoryVector::new("m", values), "use the vector of the model");
        }
        for content in ["tea 'x' \"y\" \\ % _", "tea\0tea", "🙂", "tea \u{202e}", &"tea ".repeat(4_000)] {
            let row = add(store, fact(&shared(), content)).await;
            assert_eq!(store.memory(&acme(), &row.id).await.unwrap().unwrap(), row);
            assert_eq!(row.content, content);
        }
        assert_eq!(found(store, &shared(), "tea").await.len(), 4);
    }
}

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
