//! The search by words and by meaning, and the indexer that computes the embeddings, with faults at each step.

use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use futures::FutureExt as _;
use futures::future::BoxFuture;
use serde_json::{Value, json};
use tokio::time::timeout;
use tool_core::ToolError;
use tool_core::store::{DocumentName, MemoryStore, Scope, Workspace};
use tool_std::embedding::Embedder;
use tool_std::knowledge::Knowledge;
use tool_store::SqliteStore;

use crate::faults::{Fault, FaultyStore};
use crate::support::Desk;

const LEASE: Duration = Duration::from_millis(200);

/// The behaviour of the embedder.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Mood {
    Works,
    Fails,
    Hangs,
    LeavesOutAText,
    ReturnsZeros,
    MixesDimensions,
}

/// An embedder with one dimension for each subject. It maps synonyms to one subject, and records the texts and the times of its calls.
#[derive(Clone)]
pub(crate) struct Subjects {
    model: &'static str,
    mood: Arc<Mutex<Mood>>,
    texts: Arc<Mutex<Vec<String>>>,
    calls: Arc<Mutex<Vec<Instant>>>,
}

const SUBJECTS: [&[&str]; 3] = [
    &["tea", "beverage"],
    &["car", "vehicle"],
    &["refund", "money back"],
];

impl Subjects {
    pub(crate) fn new(model: &'static str) -> Self {
        Self {
            model,
            mood: Arc::new(Mutex::new(Mood::Works)),
            texts: Arc::default(),
            calls: Arc::default(),
        }
    }

    pub(crate) fn set(&self, mood: Mood) {
        *self.mood.lock().unwrap() = mood;
    }

    /// Returns the texts that were sent to the embedder since the last call of this function.
    pub(crate) fn taken(&self) -> Vec<String> {
        std::mem::take(&mut *self.texts.lock().unwrap())
    }

    /// Returns the times of all calls.
    pub(crate) fn calls(&self) -> Vec<Instant> {
        self.calls.lock().unwrap().clone()
    }
}

fn vector(text: &str) -> Vec<f32> {
    let text = text.to_lowercase();
    let values = SUBJECTS.iter().map(|words| {
        let is_about = words.iter().any(|word| text.contains(word));
        if is_about { 1.0 } else { 0.01 }
    });
    values.collect()
}

impl Embedder for Subjects {
    fn model(&self) -> &str {
        self.model
    }

    fn embed<'a>(&'a self, texts: &'a [String]) -> BoxFuture<'a, Result<Vec<Vec<f32>>, ToolError>> {
        let mood = *self.mood.lock().unwrap();
        self.calls.lock().unwrap().push(Instant::now());
        self.texts.lock().unwrap().extend_from_slice(texts);
        async move {
            let mut vectors: Vec<Vec<f32>> = texts.iter().map(|text| vector(text)).collect();
            match mood {
                Mood::Works => {}
                Mood::Fails => {
                    let error = ToolError::unavailable("the embedder");
                    return Err(error.operator("status 503 of the model, key sk-1"));
                }
                Mood::Hangs => std::future::pending().await,
                Mood::LeavesOutAText => drop(vectors.pop()),
                Mood::ReturnsZeros => {
                    for vector in &mut vectors {
                        vector.fill(0.0);
                    }
                }
                Mood::MixesDimensions => vectors[0].push(1.0),
            }
            Ok(vectors)
        }
        .boxed()
    }
}

fn desk() -> (Subjects, Desk) {
    let embedder = Subjects::new("m");
    let knowledge = Knowledge::new(MemoryStore::default()).embedder(embedder.clone());
    (embedder, Desk::of(knowledge, "acme"))
}

async fn notes(desk: &Desk, query: &str) -> (Vec<String>, Value) {
    let found = desk.ok("search_knowledge", json!({"query": query})).await;
    let results = found["results"].as_array().unwrap().iter();
    let files = results.map(|result| result["file"].as_str().unwrap().to_owned());
    (files.collect(), found["note"].clone())
}

pub(crate) async fn eventually(done: impl AsyncFn() -> bool) {
    let wait = timeout(Duration::from_secs(10), async {
        while !done().await {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    });
    wait.await.unwrap();
}

// searchKnowledge: hybrid: a query finds chunks with its words and chunks with its meaning, and a chunk with both is the first. The fusion is by
// reciprocal rank with k = 60 and 4 decimals.
#[tokio::test]
async fn search_fuses_words_and_meanings() {
    let (embedder, desk) = desk();
    desk.write("words.md", "The vehicle inspection is in May.")
        .await;
    desk.write("both.md", "Each vehicle has a parking place.")
        .await;
    desk.write("meaning.md", "A car is parked in the yard.")
        .await;
    desk.write("other.md", "Tea is served at noon.").await;
    assert_eq!(
        desk.index().await,
        4,
        "batches of embeddings are not documents"
    );
    embedder.taken();
    let found = desk
        .ok("search_knowledge", json!({"query": "vehicle parking"}))
        .await;
    assert_eq!(embedder.taken(), ["vehicle parking"]);
    let results = found["results"].as_array().unwrap();
    assert_eq!(
        (&results[0]["file"], &results[0]["score"]),
        (&json!("both.md"), &json!(0.0328))
    );
    assert_eq!((results.len(), &found["note"]), (4, &Value::Null));
    assert_eq!(
        results[3]["file"], "other.md",
        "the least similar chunk is the last"
    );
    // No word of the query is in the document.
    assert_eq!(desk.search("beverage").await[0], "other.md");
    let found = desk
        .ok(
            "search_knowledge",
            json!({"query": "a vehicle", "limit": 1}),
        )
        .await;
    assert_eq!(found["results"].as_array().unwrap().len(), 1);
    assert_eq!(notes(&desk, "?!").await.1, Value::Null);
}

// searchKnowledge: if one backend fails, the results of the other are returned with a note. If both fail, the call fails.
#[tokio::test]
async fn one_search_may_fail() {
    let store = FaultyStore::default();
    let embedder = Subjects::new("m");
    let knowledge = Knowledge::new(store.clone()).embedder(embedder.clone());
    let desk = Desk::of(knowledge, "acme");
    desk.write("words.md", "vehicle").await;
    desk.write("meaning.md", "car").await;
    desk.index().await;
    let all = vec!["words.md".to_owned(), "meaning.md".to_owned()];
    assert_eq!(notes(&desk, "vehicle").await, (all.clone(), Value::Null));

    store.set(Some(Fault::SearchByMeaningFails));
    let (files, note) = notes(&desk, "vehicle").await;
    assert_eq!(files, ["words.md"]);
    assert!(
        note.as_str().unwrap().contains("by meaning failed"),
        "{note}"
    );
    store.set(Some(Fault::SearchByWordsFails));
    let (files, note) = notes(&desk, "vehicle").await;
    assert_eq!(files.len(), 2);
    assert!(note.as_str().unwrap().contains("by words failed"), "{note}");
    store.set(Some(Fault::BothSearchesFail));
    desk.fails("search_knowledge", json!({"query": "vehicle"}))
        .await;

    store.set(None);
    for mood in [Mood::Fails, Mood::LeavesOutAText, Mood::ReturnsZeros] {
        embedder.set(mood);
        let (files, note) = notes(&desk, "vehicle").await;
        assert_eq!(files, ["words.md"], "{mood:?}");
        assert!(
            note.as_str().unwrap().contains("by meaning failed"),
            "{note}"
        );
        assert!(!note.as_str().unwrap().contains("sk-1"), "{note}");
    }
    store.set(Some(Fault::SearchByWordsFails));
    desk.fails("search_knowledge", json!({"query": "vehicle"}))
        .await;
    store.set(None);
    embedder.set(Mood::Works);
    assert_eq!(notes(&desk, "vehicle").await, (all, Value::Null));
}

// If the embedder fails, the documents are found by their words, the document that failed has a note, and the embedder is not called for other
// documents during the pause.
#[tokio::test]
async fn failed_embedder_leaves_documents_searchable_by_words() {
    let moods = [
        Mood::Fails,
        Mood::LeavesOutAText,
        Mood::ReturnsZeros,
        Mood::MixesDimensions,
    ];
    for mood in moods {
        let (embedder, desk) = desk();
        embedder.set(mood);
        desk.write("a.md", &"A car. ".repeat(400)).await;
        desk.write("b.md", &"A cart. ".repeat(400)).await;
        let indexer = desk.knowledge.indexer();
        assert_eq!(indexer.run_until_idle().await.unwrap(), 2, "{mood:?}");
        assert_eq!(embedder.taken().len(), 2, "the chunks of one document");
        indexer.run_until_idle().await.unwrap();
        assert_eq!(embedder.taken(), [""; 0]);
        let (files, _) = notes(&desk, "cart").await;
        assert_eq!(files.first().map(String::as_str), Some("b.md"));
        let mut noted = 0;
        for file in ["a.md", "b.md"] {
            let read = desk.get(file).await;
            assert_eq!(
                (&read["status"], &read["error"]),
                (&json!("indexed"), &Value::Null)
            );
            if let Some(note) = read["note"].as_str() {
                assert!(note.contains("by their words only"), "{note}");
                assert!(!note.contains("sk-1"), "{note}");
                noted += 1;
            }
        }
        assert_eq!(noted, 1);
    }
}

// An embedder that fails is called again after a pause that doubles up to a maximum, and the note is removed after a success.
#[tokio::test]
async fn failed_embedder_is_called_again_after_a_pause() {
    let (embedder, desk) = desk();
    embedder.set(Mood::Fails);
    desk.write("a.md", "a car").await;
    let pause = Duration::from_millis(40);
    let indexer = desk.knowledge.indexer().poll(Duration::from_millis(1));
    let indexer = indexer.embedding_retry(pause, pause * 4);
    let task = tokio::spawn(indexer.run());
    eventually(async || embedder.calls().len() >= 5).await;
    let calls = embedder.calls();
    for (place, expected) in [1, 2, 4, 4].into_iter().enumerate() {
        let gap = calls[place + 1] - calls[place];
        assert!(gap >= pause * expected, "{place}: {gap:?}");
    }
    assert!(desk.get("a.md").await["note"].is_string());
    embedder.set(Mood::Works);
    eventually(async || notes(&desk, "vehicle").await.0 == ["a.md"]).await;
    assert_eq!(desk.get("a.md").await["note"], Value::Null);
    task.abort();
}

// While the embedder does not respond, new documents are indexed. After the lease has expired, the call counts as failed.
#[tokio::test]
async fn embedder_that_hangs_does_not_stop_the_index() {
    let (embedder, desk) = desk();
    embedder.set(Mood::Hangs);
    desk.write("a.md", "apples").await;
    let indexer = desk.knowledge.indexer().poll(Duration::from_millis(5));
    let task = tokio::spawn(indexer.run());
    eventually(async || !embedder.taken().is_empty()).await;
    desk.write("b.md", "pears").await;
    eventually(async || desk.get("b.md").await["status"] == "indexed").await;
    task.abort();
    assert!(task.await.unwrap_err().is_cancelled());

    desk.write("c.md", "plums").await;
    let indexer = desk.knowledge.indexer().lease(LEASE);
    indexer.run_until_idle().await.unwrap();
    assert!(
        desk.get("c.md").await["note"].is_string() || desk.get("b.md").await["note"].is_string()
    );
}

// If the store fails to claim a document or to store its embeddings, or if it stores them but its response is lost, a later run completes the work,
// and each chunk is found once. Embeddings are computed again only if they were not stored.
#[tokio::test]
async fn failed_steps_of_the_embedding_are_repeated() {
    for fault in [
        Fault::EmbeddingClaimFails,
        Fault::EmbeddingFinishFails,
        Fault::EmbeddingFinishLosesItsResult,
    ] {
        let store = FaultyStore::default();
        let embedder = Subjects::new("m");
        let desk = Desk::of(
            Knowledge::new(store.clone()).embedder(embedder.clone()),
            "acme",
        );
        desk.write("a.md", "a car").await;
        store.set(Some(fault));
        let indexer = desk.knowledge.indexer().lease(LEASE);
        assert!(indexer.run_once().await.unwrap(), "the words are indexed");
        assert!(indexer.run_once().await.is_err(), "{fault:?}");
        store.set(None);
        eventually(async || {
            indexer.run_until_idle().await.unwrap();
            notes(&desk, "vehicle").await.0 == ["a.md"]
        })
        .await;
        let lost = fault == Fault::EmbeddingFinishFails;
        let texts = embedder.taken();
        let calls = texts.iter().filter(|text| *text == "a car").count();
        assert_eq!(calls, if lost { 2 } else { 1 }, "{fault:?}");
    }
}

// A worker that stops in the middle of a document, here by a dropped future, is replaced when its lease expires. Embeddings that it has stored are
// not computed again.
#[tokio::test]
async fn embeddings_of_a_stopped_worker_are_continued() {
    let (embedder, desk) = desk();
    // The document has 70 chunks, which are two batches.
    desk.write("a.md", &"tea ".repeat(31_550)).await;
    let indexer = desk.knowledge.indexer().lease(LEASE);
    assert!(indexer.run_once().await.unwrap());
    assert!(indexer.run_once().await.unwrap());
    assert_eq!(embedder.taken().len(), 64);
    embedder.set(Mood::Hangs);
    assert!(timeout(LEASE / 4, indexer.run_once()).await.is_err());
    assert_eq!(embedder.taken().len(), 6);
    embedder.set(Mood::Works);
    let other = desk.knowledge.indexer().lease(LEASE);
    assert!(
        !other.run_once().await.unwrap(),
        "the lease has not expired"
    );
    tokio::time::sleep(LEASE).await;
    assert!(other.run_once().await.unwrap());
    assert_eq!(embedder.taken().len(), 6);
    assert!(!other.run_once().await.unwrap());
}

// After an append, only the chunks that changed are sent to the model.
#[tokio::test]
async fn append_embeds_only_changed_chunks() {
    let (embedder, desk) = desk();
    desk.write("a.md", &"tea ".repeat(1_000)).await;
    desk.index().await;
    assert_eq!(embedder.taken().len(), 3);
    let append =
        json!({"action": "append", "file": "a.md", "content": "A refund is paid in June."});
    desk.ok("write_knowledge", append).await;
    desk.index().await;
    let texts = embedder.taken();
    assert_eq!(texts.len(), 1);
    assert!(texts[0].ends_with("A refund is paid in June."));
    let found = desk
        .ok(
            "search_knowledge",
            json!({"query": "money back", "limit": 1}),
        )
        .await;
    assert_eq!(found["results"][0]["chunk_index"], 2);
}

// After a change of the model, the documents are found by their words until their embeddings are computed again. The work can be interrupted, and
// another worker continues it.
#[tokio::test]
async fn embeddings_are_computed_again_for_a_new_model() {
    let folder = tempfile::tempdir().unwrap();
    let store = SqliteStore::open(folder.path().join("state.db"))
        .await
        .unwrap();
    let knowledge = |model| Knowledge::new(store.clone()).embedder(Subjects::new(model));
    let old = Desk::of(knowledge("old"), "acme");
    for number in 0..3 {
        old.write(&format!("{number}.md"), &format!("Car {number}."))
            .await;
    }
    old.index().await;
    assert_eq!(old.search("vehicle").await.len(), 3);

    let embedder = Subjects::new("new");
    let new = Desk::of(
        Knowledge::new(store.clone()).embedder(embedder.clone()),
        "acme",
    );
    assert_eq!(new.index().await, 0);
    assert_eq!(
        (
            new.search("vehicle").await.len(),
            new.search("car").await.len()
        ),
        (0, 3)
    );
    assert_eq!(new.knowledge.renew_embeddings(Scope::All).await.unwrap(), 3);
    assert!(new.knowledge.indexer().run_once().await.unwrap());
    assert_eq!(new.search("vehicle").await.len(), 1);
    let again = SqliteStore::open(folder.path().join("state.db"))
        .await
        .unwrap();
    let again = Desk::of(Knowledge::new(again).embedder(embedder.clone()), "acme");
    assert_eq!(
        again.knowledge.renew_embeddings(Scope::All).await.unwrap(),
        0
    );
    embedder.taken();
    again.index().await;
    assert_eq!(embedder.taken().len(), 2);
    assert_eq!(
        (
            new.search("vehicle").await.len(),
            old.search("vehicle").await.len()
        ),
        (3, 0)
    );

    let without = Knowledge::new(MemoryStore::default());
    let error = without.renew_embeddings(Scope::All).await.unwrap_err();
    assert_eq!(error.kind(), tool_core::ErrorKind::Unavailable);
}

// Documents that were indexed before the host had an embedder get their embeddings without a new write.
#[tokio::test]
async fn documents_of_a_host_without_an_embedder_are_embedded_later() {
    let store = MemoryStore::default();
    let plain = Desk::of(Knowledge::new(store.clone()), "acme");
    plain.write("a.md", "a car").await;
    plain.index().await;
    assert_eq!(plain.search("vehicle").await, [""; 0]);
    let desk = Desk::of(Knowledge::new(store).embedder(Subjects::new("m")), "acme");
    assert_eq!(desk.index().await, 0);
    assert_eq!(desk.search("vehicle").await, ["a.md"]);
}

// A search by meaning finds only documents of its workspace, and nothing of a removed document.
#[tokio::test]
async fn workspaces_do_not_share_meanings() {
    let (_, desk) = desk();
    let other = Desk::of(desk.knowledge.clone(), "umbrella");
    for number in 0..100 {
        desk.write(&format!("{number}.md"), "a car").await;
    }
    other.write("a.md", "their car").await;
    other.write("b.md", "their tea").await;
    desk.index().await;
    assert_eq!(desk.search("vehicle").await.len(), 5);
    assert_eq!(other.search("vehicle").await, ["a.md", "b.md"]);
    let third = Desk::of(desk.knowledge.clone(), "third");
    assert_eq!(third.search("vehicle").await, [""; 0]);
    let name = DocumentName::new(&Workspace::new("umbrella"), "a.md").unwrap();
    desk.knowledge.store().remove_document(&name).await.unwrap();
    assert_eq!(other.search("vehicle").await, ["b.md"]);
}
