//! Tests of the embeddings of documents: their claims, and the search for similar chunks.

use std::collections::BTreeSet;
use std::time::Duration;

use crate::*;

use super::knowledge::{Documents, LEASE, append, files, index, name, replace, write};
use super::records::at;
use super::{at_once, tests};

fn vector(model: &str, values: &[f32]) -> MemoryVector {
    MemoryVector::new(model, values.to_vec()).unwrap()
}

/// Returns the vector of a text: one dimension for each subject.
fn meaning(model: &str, text: &str) -> MemoryVector {
    let count = |words: &[&str]| {
        let count = words.iter().filter(|word| text.contains(**word)).count();
        f32::from(u8::try_from(count).unwrap()) + 0.01
    };
    let values = [
        count(&["tea", "beverage"]),
        count(&["car", "vehicle"]),
        count(&["x"]),
    ];
    vector(model, &values)
}

fn claim(model: &str, most_chunks: u32, now: i64) -> EmbeddingClaim {
    EmbeddingClaim {
        model: model.to_owned(),
        lease: LEASE,
        most_chunks,
        at: at(now),
    }
}

async fn claimed(
    store: &impl KnowledgeStore,
    model: &str,
    most_chunks: u32,
    now: i64,
) -> Option<EmbeddingWork> {
    let claim = claim(model, most_chunks, now);
    store.claim_embedding(Scope::All, claim).await.unwrap()
}

async fn finish(
    store: &impl KnowledgeStore,
    work: &EmbeddingWork,
    outcome: EmbeddingOutcome,
    now: i64,
) -> bool {
    let token = work.row.embedding.token.as_deref().unwrap();
    let finished = store.finish_embedding(&work.row.name, token, outcome, at(now));
    finished.await.unwrap()
}

fn embedded(work: &EmbeddingWork, model: &str) -> EmbeddingOutcome {
    let chunks = work.chunks.iter();
    let embeddings = chunks.map(|chunk| ChunkEmbedding {
        index: chunk.index,
        vector: meaning(model, &chunk.content),
    });
    EmbeddingOutcome::Embedded(embeddings.collect())
}

fn failed(fault: &str, retry: u64) -> EmbeddingOutcome {
    EmbeddingOutcome::Failed {
        fault: fault.to_owned(),
        retry: Duration::from_millis(retry),
    }
}

/// Computes all embeddings that are ready. Returns the number of chunks.
async fn embed(store: &impl KnowledgeStore, model: &str, now: i64) -> usize {
    let mut chunks = 0;
    while let Some(work) = claimed(store, model, 2, now).await {
        assert!(finish(store, &work, embedded(&work, model), now).await);
        chunks += work.chunks.len();
    }
    chunks
}

async fn nearest(
    store: &impl KnowledgeStore,
    workspace: &str,
    vector: &MemoryVector,
    limit: u32,
) -> Vec<ChunkHit> {
    let workspace = Workspace::new(workspace);
    let search = ChunkVectorSearch {
        workspace: &workspace,
        vector,
        limit,
    };
    store.nearest_chunks(search).await.unwrap()
}

/// Returns the documents with chunks about a subject, best first.
async fn about(store: &impl KnowledgeStore, model: &str, text: &str) -> Vec<String> {
    let hits = nearest(store, "acme", &meaning(model, text), 10).await;
    let hits = hits.into_iter().filter(|hit| hit.score > 0.9);
    hits.map(|hit| hit.file).collect()
}

async fn row(store: &impl KnowledgeStore, file: &str) -> DocumentRow {
    store.document(&name(file)).await.unwrap().unwrap().row
}

tests! {
    ($) __suite_knowledge_embeddings in knowledge_embeddings for Documents;

    // Hybrid search: indexed chunks wait for their embeddings, a claim returns a batch of them in order, and a search returns the most similar
    // chunks.
    #[test]
    async fn chunks_are_found_by_their_embeddings(store: impl KnowledgeStore) {
        let text = ["tea ".repeat(500), "car ".repeat(450), "x ".repeat(100)].concat();
        write(&store, replace("a.md", text)).await;
        assert!(claimed(&store, "m", 9, 100).await.is_none(), "nothing is indexed yet");
        index(&store, 100).await;
        assert_eq!(row(&store, "a.md").await.embedding.ready, Some(at(100)));
        let work = claimed(&store, "m", 2, 100).await.unwrap();
        assert_eq!((work.row.embedding.ready, work.row.status), (Some(at(400)), DocumentStatus::Indexed));
        assert_eq!(work.chunks.iter().map(|chunk| chunk.index).collect::<Vec<_>>(), [0, 1]);
        assert!(work.chunks[0].content.starts_with("tea ") && work.chunks[0].content.chars().count() == 2_000);
        assert!(claimed(&store, "m", 2, 100).await.is_none(), "the document is claimed");
        assert!(finish(&store, &work, embedded(&work, "m"), 100).await);
        let read = row(&store, "a.md").await.embedding;
        assert_eq!((read.model, read.ready, read.token), (None, Some(at(100)), None));
        let work = claimed(&store, "m", 2, 100).await.unwrap();
        assert_eq!(work.chunks.iter().map(|chunk| chunk.index).collect::<Vec<_>>(), [2]);
        assert!(finish(&store, &work, embedded(&work, "m"), 100).await);
        let read = row(&store, "a.md").await.embedding;
        assert_eq!((read.model.as_deref(), read.ready, read.failures), (Some("m"), None, 0));
        assert!(claimed(&store, "m", 2, 900).await.is_none());
        let hits = nearest(&store, "acme", &meaning("m", "vehicle"), 2).await;
        assert_eq!(hits.iter().map(|hit| hit.index).collect::<Vec<_>>(), [1, 2]);
        assert!(hits[0].score >= hits[1].score && hits[0].score <= 1.0 && hits[0].content.contains("car"));
        assert_eq!(nearest(&store, "acme", &meaning("m", "tea"), 9).await.len(), 3);
        assert_eq!(nearest(&store, "acme", &meaning("m", "tea"), 0).await, []);
    }

    // Vectors of different models, or with different numbers of dimensions, are never compared.
    #[test]
    async fn embeddings_of_other_models_and_dimensions_are_not_compared(store: impl KnowledgeStore) {
        for file in ["one.md", "two.md"] {
            write(&store, replace(file, "tea")).await;
        }
        index(&store, 100).await;
        embed(&store, "m", 100).await;
        assert_eq!(nearest(&store, "acme", &meaning("m", "tea"), 9).await.len(), 2);
        assert_eq!(nearest(&store, "acme", &meaning("other", "tea"), 9).await, []);
        assert_eq!(nearest(&store, "acme", &vector("m", &[1.0, 0.0]), 9).await, []);
    }

    // An embedder that fails leaves the document searchable by text, and the document waits for the next attempt. The stored fault has at most 500
    // characters.
    #[test]
    async fn failed_embeddings_are_tried_again(store: impl KnowledgeStore) {
        write(&store, replace("a.md", "tea")).await;
        index(&store, 100).await;
        for (number, now) in [(1, 100), (2, 150)] {
            let work = claimed(&store, "m", 9, now).await.unwrap();
            assert!(finish(&store, &work, failed(&format!("down\0{}", "ü".repeat(600)), 50), now).await);
            let read = row(&store, "a.md").await;
            assert_eq!((read.status, read.embedding.failures, read.embedding.ready), (DocumentStatus::Indexed, number, Some(at(now + 50))));
            let fault = read.embedding.fault.unwrap();
            assert!(fault.starts_with("down\0ü") && fault.chars().count() == 500, "{fault}");
            assert!(claimed(&store, "m", 9, now + 49).await.is_none());
            assert_eq!(files(&store, "tea").await.len(), 1);
        }
        assert_eq!(embed(&store, "m", 200).await, 1);
        let read = row(&store, "a.md").await.embedding;
        assert_eq!((read.failures, read.fault, read.ready), (0, None, None));
        assert_eq!(about(&store, "m", "beverage").await, ["a.md"]);
    }

    // A batch of a worker that died is claimed again when the lease expires, and the worker changes nothing.
    #[test]
    async fn batch_of_a_dead_worker_is_taken_over(store: impl KnowledgeStore) {
        write(&store, replace("a.md", "tea ".repeat(2_000))).await;
        index(&store, 100).await;
        let first = claimed(&store, "m", 2, 100).await.unwrap();
        assert!(finish(&store, &first, embedded(&first, "m"), 100).await);
        assert!(!finish(&store, &first, embedded(&first, "m"), 100).await, "the claim has ended");
        let lost = claimed(&store, "m", 2, 100).await.unwrap();
        assert!(claimed(&store, "m", 2, 399).await.is_none());
        // Embeddings that were stored before are not computed again.
        let work = claimed(&store, "m", 9, 400).await.unwrap();
        assert_eq!(work.chunks, [lost.chunks.clone(), work.chunks[2..].to_vec()].concat());
        assert_eq!(work.chunks[0].index, 2);
        assert!(!finish(&store, &lost, failed("late", 0), 400).await);
        assert!(finish(&store, &work, embedded(&work, "m"), 400).await);
        assert_eq!(row(&store, "a.md").await.embedding.failures, 0);
        assert_eq!(about(&store, "m", "tea").await.len(), 5);
    }

    // After an append, only the chunks that have changed need new embeddings.
    #[test]
    async fn append_embeds_only_changed_chunks(store: impl KnowledgeStore) {
        write(&store, replace("a.md", "tea ".repeat(1_000))).await;
        index(&store, 100).await;
        assert_eq!(embed(&store, "m", 100).await, 3);
        write(&store, append("a.md", "a car")).await;
        // Until the document is indexed again, its previous chunks are found.
        assert_eq!(about(&store, "m", "tea").await.len(), 3);
        index(&store, 100).await;
        let work = claimed(&store, "m", 9, 100).await.unwrap();
        assert_eq!(work.chunks.iter().map(|chunk| chunk.index).collect::<Vec<_>>(), [2]);
        assert!(work.chunks[0].content.ends_with("\n\na car"));
        assert_eq!(about(&store, "m", "tea").await.len(), 2, "the changed chunk has no embedding");
        assert!(finish(&store, &work, embedded(&work, "m"), 100).await);
        assert_eq!(nearest(&store, "acme", &meaning("m", "tea car"), 1).await[0].index, 2);
        // An unchanged text needs no new embedding.
        write(&store, replace("a.md", ["tea ".repeat(1_000), "\n\na car".to_owned()].concat())).await;
        index(&store, 100).await;
        assert_eq!(embed(&store, "m", 100).await, 0);
        // If the new text is shorter, the embeddings of the removed chunks are removed.
        write(&store, replace("a.md", "tea ".repeat(500))).await;
        index(&store, 100).await;
        assert_eq!(embed(&store, "m", 100).await, 0);
        assert_eq!(nearest(&store, "acme", &meaning("m", "car"), 9).await.len(), 1);
    }

    // A document that is indexed again or removed during a claim gets no embeddings of its previous text.
    #[test]
    async fn index_during_a_claim_ends_the_claim(store: impl KnowledgeStore) {
        write(&store, replace("a.md", "tea")).await;
        index(&store, 100).await;
        let work = claimed(&store, "m", 9, 100).await.unwrap();
        write(&store, replace("a.md", "a car")).await;
        index(&store, 100).await;
        assert!(!finish(&store, &work, embedded(&work, "m"), 100).await);
        assert_eq!(embed(&store, "m", 100).await, 1);
        assert_eq!((about(&store, "m", "tea").await, about(&store, "m", "vehicle").await), (vec![], vec!["a.md".to_owned()]));
        let work = {
            write(&store, replace("a.md", "tea")).await;
            index(&store, 100).await;
            claimed(&store, "m", 9, 100).await.unwrap()
        };
        assert!(store.remove_document(&name("a.md")).await.unwrap());
        assert!(!finish(&store, &work, embedded(&work, "m"), 100).await);
        assert_eq!(nearest(&store, "acme", &meaning("m", "tea"), 9).await, []);
        // A later document with this name has no embeddings of the removed document.
        write(&store, replace("a.md", "x")).await;
        index(&store, 100).await;
        assert_eq!((row(&store, "a.md").await.embedding.model, embed(&store, "m", 100).await), (None, 1));
    }

    // A document that cannot be indexed, and a blank document, have no embeddings and do not wait for them.
    #[test]
    async fn documents_without_chunks_do_not_wait(store: impl KnowledgeStore) {
        for file in ["failed.md", "blank.md"] {
            write(&store, replace(file, "tea")).await;
        }
        index(&store, 100).await;
        embed(&store, "m", 100).await;
        write(&store, replace("blank.md", " ")).await;
        index(&store, 100).await;
        write(&store, replace("failed.md", "tea")).await;
        let claim = IndexClaim { worker: "one".to_owned(), lease: LEASE, most_recoveries: 2, at: at(100) };
        let work = store.claim_document(Scope::All, claim).await.unwrap().unwrap().row;
        let outcome = IndexOutcome::Failed("X".to_owned());
        assert!(store.finish_index(&work.name, work.token.as_deref().unwrap(), outcome, at(100)).await.unwrap());
        assert!(claimed(&store, "m", 9, 900).await.is_none());
        assert_eq!(nearest(&store, "acme", &meaning("m", "tea"), 9).await, []);
        assert_eq!(store.renew_embeddings(Scope::All, "other", 9, at(100)).await.unwrap(), 0);
    }

    // After a change of the model, all embeddings are computed again. The work can be interrupted between two chunks, and continues.
    #[test]
    async fn renewal_of_embeddings_can_be_interrupted(store: impl KnowledgeStore) {
        let acme = Workspace::new("acme");
        let foreign = DocumentName::new(&Workspace::new("umbrella"), "a.md").unwrap();
        for file in ["a.md", "b.md", "c.md"] {
            write(&store, replace(file, "tea ".repeat(600))).await;
        }
        write(&store, DocumentWrite { name: foreign.clone(), ..replace("a.md", "tea") }).await;
        index(&store, 100).await;
        assert_eq!(embed(&store, "old", 100).await, 7);
        assert_eq!(store.renew_embeddings(Scope::Workspace(&acme), "old", 9, at(100)).await.unwrap(), 0);
        assert_eq!(store.renew_embeddings(Scope::Workspace(&acme), "new", 2, at(100)).await.unwrap(), 2);
        assert_eq!(store.renew_embeddings(Scope::Workspace(&acme), "new", 2, at(100)).await.unwrap(), 1);
        assert_eq!(store.renew_embeddings(Scope::Workspace(&acme), "new", 2, at(100)).await.unwrap(), 0);
        // The embedding of one chunk is stored, and a worker dies after it has claimed the next chunk.
        let work = claimed(&store, "new", 1, 100).await.unwrap();
        assert!(finish(&store, &work, embedded(&work, "new"), 100).await);
        claimed(&store, "new", 1, 100).await.unwrap();
        let found = |model: &'static str| { let store = &store; async move { about(store, model, "tea").await.len() } };
        assert_eq!((found("new").await, found("old").await), (1, 5));
        // Documents that already wait are not renewed again.
        assert_eq!(store.renew_embeddings(Scope::Workspace(&acme), "new", 9, at(400)).await.unwrap(), 0);
        assert_eq!(embed(&store, "new", 400).await, 5);
        assert_eq!((found("new").await, found("old").await), (6, 0));
        assert_eq!(store.renew_embeddings(Scope::Workspace(&acme), "new", 9, at(400)).await.unwrap(), 0);
        let read = store.document(&foreign).await.unwrap().unwrap().row;
        assert_eq!(read.embedding.model.as_deref(), Some("old"), "the other workspace was not renewed");
        assert_eq!(store.renew_embeddings(Scope::All, "new", 9, at(400)).await.unwrap(), 1);
    }

    // A search applies the workspace before the limit, so similar chunks of a large workspace do not hide chunks of a small workspace.
    #[test]
    async fn similar_chunks_of_other_workspaces_hide_nothing(store: impl KnowledgeStore + Maintenance) {
        // This text has 1,223 chunks, which is more than a search compares exactly.
        write(&store, replace("large.md", "tea ".repeat(550_000))).await;
        index(&store, 100).await;
        while let Some(work) = claimed(&store, "m", 500, 100).await {
            assert!(finish(&store, &work, embedded(&work, "m"), 100).await);
        }
        let small = Workspace::new("umbrella");
        for file in ["a.md", "b.md", "c.md"] {
            write(&store, DocumentWrite { name: DocumentName::new(&small, file).unwrap(), ..replace(file, "tea in a car") }).await;
        }
        index(&store, 100).await;
        // A claim in one workspace does not take a document of a different workspace.
        let other = Workspace::new("acme");
        assert!(store.claim_embedding(Scope::Workspace(&other), claim("m", 9, 100)).await.unwrap().is_none());
        assert_eq!(embed(&store, "m", 100).await, 3);
        // Before the search in the small workspace, the connection runs ten searches in the large workspace.
        for _ in 0..10 {
            assert_eq!(nearest(&store, "acme", &meaning("m", "tea"), 5).await.len(), 5);
        }
        let hits = nearest(&store, "umbrella", &meaning("m", "tea"), 5).await;
        assert_eq!(hits.iter().map(|hit| hit.file.as_str()).collect::<BTreeSet<_>>(), BTreeSet::from(["a.md", "b.md", "c.md"]));
        assert_eq!(nearest(&store, "nobody", &meaning("m", "tea"), 5).await, []);
        // The erasure of a user keeps the embeddings, which belong to the documents of the workspace.
        store.erase_contents(Erasure::Principal { workspace: &small, principal: "ann" }).await.unwrap();
        assert_eq!(nearest(&store, "umbrella", &meaning("m", "tea"), 5).await.len(), 3);
        assert!(store.remove_document(&DocumentName::new(&small, "b.md").unwrap()).await.unwrap());
        assert_eq!(nearest(&store, "umbrella", &meaning("m", "tea"), 5).await.len(), 2);
        assert_eq!(nearest(&store, "acme", &meaning("m", "tea"), 2_000).await.len(), 1_223);
    }

    // In a large workspace, embeddings are compared by their codes first. The codes change with the chunks and their embeddings.
    #[test]
    async fn similar_chunk_of_a_large_workspace_is_found(store: impl KnowledgeStore) {
        write(&store, replace("large.md", "tea ".repeat(550_000))).await;
        write(&store, replace("needle.md", "a car")).await;
        index(&store, 100).await;
        while let Some(work) = claimed(&store, "m", 500, 100).await {
            assert!(finish(&store, &work, embedded(&work, "m"), 100).await);
        }
        let best = |text: &'static str| {
            let store = &store;
            async move {
                let hits = nearest(store, "acme", &meaning("m", text), 2).await;
                assert_eq!(hits.len(), 2);
                hits.into_iter().filter(|hit| hit.score > 0.9).map(|hit| hit.file).collect::<Vec<_>>()
            }
        };
        assert_eq!(best("vehicle").await, ["needle.md"]);
        assert_eq!(best("tea").await, ["large.md", "large.md"]);
        // A different text has a different code.
        write(&store, replace("needle.md", "x")).await;
        index(&store, 100).await;
        assert_eq!(best("vehicle").await, [""; 0]);
        assert_eq!(embed(&store, "m", 100).await, 1);
        assert_eq!((best("vehicle").await, best("x").await), (vec![], vec!["needle.md".to_owned()]));
        // The embeddings of a different model have different codes, and a removed document has no codes.
        assert_eq!(store.renew_embeddings(Scope::All, "new", 1, at(100)).await.unwrap(), 1);
        assert!(store.remove_document(&name("needle.md")).await.unwrap());
        assert_eq!(best("x").await, [""; 0]);
    }
}

tests! {
    ($) __suite_knowledge_embeddings_races in knowledge_embeddings for Documents;

    // 32 tasks of two processes compute the embeddings of 20 documents: each batch is claimed once.
    #[test]
    fn batch_is_claimed_once(opener) {
        opener.test(async |place| {
            let stores = [place.open().await, place.open().await];
            for number in 0..20 {
                write(&stores[0], replace(&format!("{number}.md"), "tea")).await;
            }
            index(&stores[0], 100).await;
            let done = at_once(|task| {
                let store = stores[usize::from(task % 2 == 1)].clone();
                async move {
                    let work = claimed(&store, "m", 1, 100).await?;
                    assert!(finish(&store, &work, embedded(&work, "m"), 100).await);
                    Some(work.row.name)
                }
            }).await;
            let done: Vec<DocumentName> = done.into_iter().flatten().collect();
            let distinct: BTreeSet<&DocumentName> = done.iter().collect();
            assert_eq!(distinct.len(), done.len());
            // A claim may find nothing while another transaction has locked the last row. A later claim finds the row.
            assert_eq!(embed(&stores[1], "m", 100).await, 20 - done.len());
        });
    }
}
