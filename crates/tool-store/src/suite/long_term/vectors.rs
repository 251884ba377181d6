//! Tests of embeddings and of the search for the nearest embeddings.

use futures::future::join_all;

use crate::*;

use super::super::records::{acme, at};
use super::super::tests;
use super::{Memories, add, agent, contents, fact, near, query, shared, vector, with_vector};

/// The number of dimensions of the vectors below, which is not a multiple of 64.
const DIMENSIONS: u64 = 70;

/// The number of embeddings up to which a store of this crate compares all embeddings of a search exactly.
const MOST_EXACT: u64 = 1_024;

/// Returns a pseudo-random vector, which is the same for the same seed.
fn random(seed: u64) -> Vec<f32> {
    let values = (0..DIMENSIONS).map(|place| {
        let mut mixed = (seed * DIMENSIONS + place + 1).wrapping_mul(0x9E37_79B9_7F4A_7C15);
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        f32::from(u16::try_from(mixed >> 48).unwrap()) - 32_768.0
    });
    let vector = MemoryVector::new("random", values.collect()).unwrap();
    vector.values().to_vec()
}

/// Returns a vector whose cosine with the vector of seed 0 is about 0.86. The cosine of two results of this function is about 0.73.
fn member(seed: u64) -> Vec<f32> {
    let values = random(0).into_iter().zip(random(seed));
    values.map(|(one, other)| one + 0.6 * other).collect()
}

fn of_model(model: &str, values: Vec<f32>) -> MemoryVector {
    MemoryVector::new(model, values).unwrap()
}

/// Stores memories with embeddings of `model`, each under its number. The memories with numbers below 20 are [members](member) of one cluster.
async fn fill(
    store: &impl LongTermStore,
    scope: &MemoryScope,
    model: &str,
    numbers: std::ops::Range<u64>,
) -> Vec<MemoryRow> {
    let stored = numbers.map(async |number| {
        let row = add(store, fact(scope, &format!("memory {number}"))).await;
        embed(store, &row, model, vector_of(number)).await;
        row
    });
    join_all(stored).await
}

/// Returns the vector that [`fill`] stores for a number.
fn vector_of(number: u64) -> Vec<f32> {
    match number {
        0..20 => member(number + 1),
        _ => random(number + 1),
    }
}

async fn embed(store: &impl LongTermStore, row: &MemoryRow, model: &str, values: Vec<f32>) {
    let vector = of_model(model, values);
    let workspace = row.scope.workspace();
    let embedded = store.embed_memory(workspace, &row.id, &row.hash, &vector);
    assert!(embedded.await.unwrap());
}

/// Returns the contents of the nearest memories.
async fn nearest(
    store: &impl LongTermStore,
    reader: &MemoryScope,
    vector: &MemoryVector,
    limit: u32,
) -> Vec<String> {
    let query = MemoryQuery { limit, ..query("") };
    let hits = store.nearest_memories(reader, vector, &query).await;
    let hits = hits.unwrap();
    contents(&hits).into_iter().map(str::to_owned).collect()
}

tests! {
    ($) __suite_long_term_vectors in long_term for Memories;

    // Results are ordered by cosine, have a limit, and only have the wanted types. Vectors with different numbers of dimensions are not compared.
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
        let flat = MemoryVector::new("model", vec![1.0, 0.0]).unwrap();
        assert!(store.nearest_memories(&shared(), &flat, &query("")).await.unwrap().is_empty());
    }

    // The embeddings of a new model replace the old embeddings, one memory after the other. The embedding of a content that has changed in between is
    // refused.
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
        // If the same content is stored again without an embedding, the memory keeps its embedding.
        store.remember(fact(&agent("a"), "north")).await.unwrap();
        assert!(left(10).await.is_empty());
    }

    // S2-29: a search in a large scope compares only the best candidates exactly, but has the same best results as the exact search in a smaller
    // scope. A similar content is found in the large scope, too, and a small scope next to it is searched completely.
    #[test]
    async fn search_in_a_large_scope_has_the_best_results_of_an_exact_search(store: impl Memories) {
        let store = &store;
        let centre = of_model("m", random(0));
        fill(store, &agent("a"), "m", 0..MOST_EXACT).await;
        let exact = nearest(store, &agent("a"), &centre, 20).await;
        let mut members: Vec<String> = (0..20).map(|number| format!("memory {number}")).collect();
        let mut best = exact.clone();
        best.sort();
        members.sort();
        assert_eq!(best, members);
        let umbrella = MemoryScope::agent(&Workspace::new("umbrella"), "a").unwrap();
        for scope in [&agent("b"), &umbrella] {
            fill(store, scope, "m", 15..25).await;
        }
        fill(store, &agent("a"), "m", MOST_EXACT..MOST_EXACT + 80).await;
        for _ in 0..10 {
            assert_eq!(nearest(store, &agent("a"), &centre, 20).await, exact);
        }
        for scope in [&agent("b"), &umbrella] {
            let found = nearest(store, scope, &centre, 20).await;
            assert_eq!(found.len(), 10);
            let known = exact.iter().filter(|content| found.contains(content));
            assert_eq!(known.collect::<Vec<_>>(), found[..5].iter().collect::<Vec<_>>());
        }
        let last = MOST_EXACT + 70;
        let similar = NewMemory { vector: Some(of_model("m", vector_of(last))), ..fact(&agent("a"), "a similar content") };
        let remembered = store.remember(similar).await.unwrap();
        assert_eq!(remembered.event, MemoryEvent::Update);
        assert_eq!(nearest(store, &agent("a"), &of_model("m", vector_of(last)), 1).await, ["a similar content"]);
    }

    // A search does not find an embedding that was replaced or removed, or whose memory was corrected or has expired. It finds an embedding only
    // under the current type of its memory.
    #[test]
    async fn changed_and_removed_embeddings_are_not_found(store: impl Memories) {
        let store = &store;
        let rows = fill(store, &agent("a"), "m", 0..150).await;
        let umbrella = MemoryScope::agent(&Workspace::new("umbrella"), "a").unwrap();
        fill(store, &umbrella, "m", 0..150).await;
        let first = async |reader: &MemoryScope, number: u64| {
            nearest(store, reader, &of_model("m", vector_of(number)), 1).await.remove(0)
        };
        assert_eq!(first(&agent("a"), 100).await, "memory 100");
        embed(store, &rows[100], "m", vector_of(1_000)).await;
        assert_ne!(first(&agent("a"), 100).await, "memory 100");
        assert_eq!(first(&agent("a"), 1_000).await, "memory 100");

        assert!(store.remove_memory(&acme(), &rows[101].id).await.unwrap());
        assert_ne!(first(&agent("a"), 101).await, "memory 101");

        let corrected = MemoryCorrection { content: Some("corrected".to_owned()), at: at(150), ..MemoryCorrection::default() };
        store.correct_memory(&acme(), &rows[102].id, &corrected).await.unwrap();
        assert_ne!(first(&agent("a"), 102).await, "corrected");

        let retyped = MemoryCorrection { memory_type: Some(MemoryType::Preference), at: at(150), ..MemoryCorrection::default() };
        store.correct_memory(&acme(), &rows[103].id, &retyped).await.unwrap();
        let typed = async |memory_type| {
            let query = MemoryQuery { types: vec![memory_type], limit: 200, ..query("") };
            let hits = store.nearest_memories(&agent("a"), &of_model("m", vector_of(103)), &query).await.unwrap();
            contents(&hits).into_iter().map(str::to_owned).collect::<Vec<_>>()
        };
        assert_eq!(typed(MemoryType::Preference).await, ["memory 103"]);
        assert_eq!(typed(MemoryType::Fact).await.len(), 147);

        let ephemeral = MemoryCorrection { durability: Some(Durability::Ephemeral), at: at(150), ..MemoryCorrection::default() };
        store.correct_memory(&acme(), &rows[104].id, &ephemeral).await.unwrap();
        assert_eq!(first(&agent("a"), 104).await, "memory 104");
        fill(store, &agent("a"), "m", 150..300).await;
        assert_eq!(first(&agent("a"), 104).await, "memory 104");
        let later = MemoryQuery { now: at(100_000_000_000), limit: 400, ..query("") };
        let hits = store.nearest_memories(&agent("a"), &of_model("m", vector_of(104)), &later).await.unwrap();
        assert_eq!((hits.len(), contents(&hits).contains(&"memory 104")), (297, false));

        assert_eq!(store.remove_memories(&agent("a")).await.unwrap(), 299);
        assert!(nearest(store, &agent("a"), &of_model("m", vector_of(1)), 10).await.is_empty());
        for number in 100..105 {
            assert_eq!(first(&umbrella, number).await, format!("memory {number}"));
        }
    }

    // The embeddings of a new model are stored for one memory after the other. Until all are stored, a search finds the memories that have an
    // embedding of the model of the search, and the work continues after an interruption.
    #[test]
    async fn new_model_is_complete_after_an_interruption(store: impl Memories) {
        let store = &store;
        fill(store, &agent("a"), "old", 0..150).await;
        let umbrella = MemoryScope::agent(&Workspace::new("umbrella"), "a").unwrap();
        fill(store, &umbrella, "old", 0..10).await;
        // The new model has a different number of dimensions.
        let new = |number: u64| [random(number), random(number + 500)].concat();
        let both = async |reader: &MemoryScope| {
            let old = nearest(store, reader, &of_model("old", random(0)), 400).await;
            let new = nearest(store, reader, &of_model("new", new(0)), 400).await;
            (old.len(), new.len())
        };
        let step = async |limit| {
            let rows = store.memories_to_embed(&acme(), "new", limit).await.unwrap();
            for row in &rows {
                let number = row.content.trim_start_matches("memory ").parse().unwrap();
                embed(store, row, "new", new(number)).await;
            }
            rows.len()
        };
        assert_eq!(both(&agent("a")).await, (150, 0));
        assert_eq!(step(70).await, 70);
        assert_eq!(both(&agent("a")).await, (80, 70));
        // A step that is dropped has changed each memory completely or not at all.
        let dropped = Box::pin(step(50));
        let pause = Box::pin(async { std::future::ready(()).await });
        drop(futures::future::select(dropped, pause).await);
        let (old_left, new_done) = both(&agent("a")).await;
        assert_eq!(old_left + new_done, 150);
        while step(40).await > 0 {}
        assert_eq!(both(&agent("a")).await, (0, 150));
        assert_eq!(nearest(store, &agent("a"), &of_model("new", new(140)), 1).await, ["memory 140"]);
        assert_eq!(both(&umbrella).await, (10, 0));
    }
}
