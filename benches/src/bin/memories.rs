//! Searches in 100,000 memories with embeddings of 768 dimensions on SQLite, next to a scope of 10 memories: by words, by vectors, and both.
//!
//! `memories [number] [dimensions]`. The vectors are clustered: see [`Data`].

use std::hint::black_box;
use std::time::{Duration, Instant};

use futures::future::{join, join_all};
use tool_store::text_search::fuse;
use tool_store::{
    Durability, Importance, LongTermStore as _, MemoryFilter, MemoryHit, MemoryQuery, MemoryScope, MemorySource, MemoryType, MemoryVector, NewMemory, Scope,
    SqliteStore, Timestamp, Workspace,
};

/// The number of measured searches of a row, each with a different query.
const QUERIES: u64 = 101;

/// The number of results of a search: the limit that `search_memory` passes to the store with its default settings.
const LIMIT: u32 = 20;

/// The number of clusters.
const CLUSTERS: u64 = 2_000;

fn main() {
    let numbers: Vec<u64> = std::env::args().skip(1).filter_map(|word| word.parse().ok()).collect();
    let (number, dimensions) = (numbers.first().copied().unwrap_or(100_000), numbers.get(1).copied().unwrap_or(768));
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build().expect("a runtime");
    let folder = tempfile::Builder::new().prefix("memories-").tempdir_in(".").expect("a folder");
    runtime.block_on(async {
        let file = folder.path().join("state.db");
        let store = SqliteStore::open(&file).await.expect("a store");
        let data = Data { number, dimensions };
        let start = Instant::now();
        data.store(&store).await;
        println!("stored {number} memories of {dimensions} dimensions in {:.0?}, {:.1} MB", start.elapsed(), megabytes(&file));
        store.close().await;
        let store = SqliteStore::open(&file).await.expect("a store");
        searches(&store, &data).await;
    });
}

fn megabytes(file: &std::path::Path) -> f64 {
    std::fs::metadata(file).map_or(0.0, |data| data.len() as f64 / 1e6)
}

/// A generator of pseudo-random numbers, SplitMix64.
struct Random(u64);

impl Random {
    fn of(seed: u64) -> Self {
        Self(seed.wrapping_mul(0xD605_BBB5_8C8A_BC03))
    }

    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        mixed ^ (mixed >> 31)
    }

    /// Returns a number that is distributed nearly normally: a sum of four uniform numbers.
    fn normal(&mut self) -> f32 {
        let parts = self.next();
        let sum: f32 = (0..4).map(|part| f32::from((parts >> (16 * part)) as u16) - 32_767.5).sum();
        sum / 37_837.0
    }

    fn vector(&mut self, dimensions: u64) -> Vec<f32> {
        unit((0..dimensions).map(|_| self.normal()).collect())
    }
}

fn unit(values: Vec<f32>) -> Vec<f32> {
    let length = values.iter().map(|value| value * value).sum::<f32>().sqrt();
    values.into_iter().map(|value| value / length).collect()
}

fn sum(one: &[f32], other: &[f32], factor: f32) -> Vec<f32> {
    unit(one.iter().zip(other).map(|(one, other)| one + factor * other).collect())
}

/// The memories: memory `n` belongs to cluster `n % 2,000`. Its vector is the centre of the cluster plus noise that is 1.5 times as long, so the
/// cosine of two memories of a cluster is about 0.31. A query is a memory plus noise of the same length, so its cosine to this memory is about 0.71.
struct Data {
    number: u64,
    dimensions: u64,
}

impl Data {
    fn vector(&self, number: u64) -> Vec<f32> {
        let centre = Random::of(number % CLUSTERS + 1_000_000_000).vector(self.dimensions);
        sum(&centre, &Random::of(number).vector(self.dimensions), 1.5)
    }

    fn query(&self, query: u64) -> Vec<f32> {
        let number = Random::of(query + 2_000_000_000).next() % self.number;
        let noise = Random::of(query + 3_000_000_000).vector(self.dimensions);
        sum(&self.vector(number), &noise, 1.0)
    }

    /// Stores the memories of the large scope, 64 at the same time, and 10 memories of the small scope.
    async fn store(&self, store: &SqliteStore) {
        let workspace = Workspace::new("acme");
        for (agent, number) in [("large", self.number), ("small", 10)] {
            let numbers: Vec<u64> = (0..number).collect();
            for numbers in numbers.chunks(64) {
                let stored = numbers.iter().map(async |number| {
                    let row = store.remember(memory(agent, *number)).await.expect("stored").memory;
                    let vector = MemoryVector::new("m", self.vector(*number)).expect("a vector");
                    let embedded = store.embed_memory(&workspace, &row.id, &row.hash, &vector);
                    assert!(embedded.await.expect("embedded"));
                });
                join_all(stored).await;
            }
        }
    }
}

fn scope(agent: &str) -> MemoryScope {
    MemoryScope::agent(&Workspace::new("acme"), agent).expect("a scope")
}

/// Returns a memory of about 100 characters. Every memory contains `customer`, half of them contain `prefers`, one in 1,000 contains the same
/// `topic…`, and each has its own `order…`.
fn memory(agent: &str, number: u64) -> NewMemory {
    let verb = if number % 2 == 0 { "prefers" } else { "declines" };
    let (topic, place) = (number % 1_000, number % 37);
    NewMemory {
        scope: scope(agent),
        content: format!("The customer of order{number} {verb} a delivery of topic{topic} to branch{place}, in the morning and by bicycle."),
        memory_type: MemoryType::Fact,
        durability: Durability::Core,
        importance: Importance::new(0.5).expect("a number"),
        source: MemorySource::Model,
        principal: None,
        conversation: None,
        vector: None,
        at: Timestamp::from_millis(100),
    }
}

fn query(text: String) -> MemoryQuery {
    MemoryQuery { text, types: Vec::new(), limit: LIMIT, now: Timestamp::from_millis(200) }
}

/// Prints the median and the 95th percentile of the times of a search.
async fn measure(name: &str, search: impl AsyncFn(u64) -> usize) {
    let mut times: Vec<Duration> = Vec::new();
    let mut found = 0;
    for number in 0..QUERIES {
        let start = Instant::now();
        found += search(number).await;
        times.push(start.elapsed());
    }
    times.sort();
    let at = |share: usize| times[times.len() * share / 100].as_secs_f64() * 1e3;
    println!("| {name} | {:.1} | {:.1} | {:.1} |", at(50), at(95), found as f64 / QUERIES as f64);
}

async fn searches(store: &SqliteStore, data: &Data) {
    let (large, small) = (scope("large"), scope("small"));
    let by_words = async |reader: &MemoryScope, text: String| store.search_memories(reader, &query(text)).await.expect("found");
    let by_vector = async |reader: &MemoryScope, number: u64| -> Vec<MemoryHit> {
        let vector = MemoryVector::new("m", data.query(number)).expect("a vector");
        store.nearest_memories(reader, &vector, &query(String::new())).await.expect("found")
    };
    let topic = |number: u64| number * 7 % 1_000;
    let question = |number: u64| format!("which delivery of topic{} does the customer want in the morning?", topic(number));
    println!("| search | median, ms | 95th percentile, ms | results |\n|---|---|---|---|");
    measure("a word of one memory", async |number| by_words(&large, format!("order{}", number * 997 % data.number)).await.len()).await;
    measure("a word of 100 memories", async |number| by_words(&large, format!("topic{}", topic(number))).await.len()).await;
    measure("a word of every second memory", async |_| by_words(&large, "prefers".to_owned()).await.len()).await;
    measure("a word of every memory", async |_| by_words(&large, "customer".to_owned()).await.len()).await;
    measure("a question of 10 words", async |number| by_words(&large, question(number)).await.len()).await;
    measure("vector", async |number| by_vector(&large, number).await.len()).await;
    let hybrid = async |reader: &MemoryScope, number: u64| {
        let (words, vectors) = join(by_words(reader, question(number)), by_vector(reader, number)).await;
        let ids = [words, vectors].map(|hits| hits.into_iter().map(|hit| hit.memory.id).collect());
        black_box(fuse::<String>(&ids)).len()
    };
    measure("hybrid: question and vector", async |number| hybrid(&large, number).await).await;
    measure("vector, in the scope of 10", async |number| by_vector(&small, number).await.len()).await;
    measure("hybrid, in the scope of 10", async |number| hybrid(&small, number).await).await;
    recall(store, data, &large).await;
}

/// Prints the share of the 10 nearest memories that a search by vector finds.
async fn recall(store: &SqliteStore, data: &Data, large: &MemoryScope) {
    let workspace = Workspace::new("acme");
    let filter = MemoryFilter { scope: Some(scope("small")), ..MemoryFilter::default() };
    assert_eq!(store.list_memories(Scope::Workspace(&workspace), &filter).await.expect("listed").len(), 10);
    let queries: Vec<Vec<f32>> = (0..QUERIES).map(|number| data.query(number)).collect();
    let mut best: Vec<Vec<(f32, u64)>> = vec![Vec::new(); queries.len()];
    for number in 0..data.number {
        let vector = data.vector(number);
        for (query, best) in queries.iter().zip(&mut best) {
            let cosine = query.iter().zip(&vector).map(|(one, other)| one * other).sum::<f32>();
            if best.len() < 10 || cosine > best[9].0 {
                best.push((cosine, number));
                best.sort_by(|one, other| other.0.total_cmp(&one.0));
                best.truncate(10);
            }
        }
    }
    let mut found = 0;
    for (query_values, best) in queries.iter().zip(&best) {
        let vector = MemoryVector::new("m", query_values.clone()).expect("a vector");
        let hits = store.nearest_memories(large, &vector, &query(String::new())).await.expect("found");
        let best: Vec<String> = best.iter().map(|(_, number)| memory("large", *number).content).collect();
        found += hits.iter().take(10).filter(|hit| best.contains(&hit.memory.content)).count();
    }
    println!("recall of the 10 nearest: {:.3}", found as f64 / (10.0 * QUERIES as f64));
}
