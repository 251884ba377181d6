//! Helpers of tests with many embeddings: they fill tables, and compare searches with an exact search.

use std::fmt::Write as _;
use std::time::{Duration, Instant};

use sqlx::postgres::PgConnection;
use sqlx::{AssertSqlSafe, Executor as _};
use test_support::Missing;
use test_support::postgres::server_with_vectors;
use tool_store::*;

use crate::database::Database;

/// The number of dimensions. More dimensions would only make the tests slower.
pub(crate) const DIMENSIONS: usize = 64;

/// The number of groups of similar vectors.
pub(crate) const GROUPS: usize = 500;

/// A number of embeddings that is large enough for a search to use an index.
pub(crate) const LARGE: usize = 20_500;

pub(crate) fn acme() -> Workspace {
    Workspace::new("acme")
}

pub(crate) fn agent(name: &str) -> MemoryScope {
    MemoryScope::agent(&acme(), name).unwrap()
}

/// A generator of pseudo-random numbers.
struct Random(u64);

impl Random {
    fn new(seed: usize) -> Self {
        Self((seed as u64 + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15))
    }

    /// Returns a number between -1 and 1.
    fn next(&mut self) -> f32 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        let number = u16::try_from(self.0 >> 48).unwrap();
        f32::from(number) / 32_768.0 - 1.0
    }
}

/// Returns the embedding with a number. Embeddings whose numbers have the same remainder are similar, like the embeddings of texts about one subject.
pub(crate) fn embedding(model: &str, number: usize, dimensions: usize) -> MemoryVector {
    let (mut group, mut own) = (Random::new(number % GROUPS), Random::new(1_000 + number));
    let values = (0..dimensions).map(|_| group.next() + 0.7 * own.next());
    MemoryVector::new(model, values.collect()).unwrap()
}

/// Returns the contents of the memories whose embeddings are most similar to a vector.
pub(crate) async fn nearest(
    store: &impl LongTermStore,
    reader: &MemoryScope,
    vector: &MemoryVector,
) -> Vec<String> {
    let query = MemoryQuery {
        text: String::new(),
        types: Vec::new(),
        limit: 10,
        now: Timestamp::from_millis(200),
    };
    let hits = store
        .nearest_memories(reader, vector, &query)
        .await
        .unwrap();
    assert!(hits.iter().all(|hit| reader.reads(&hit.memory.scope)));
    hits.into_iter().map(|hit| hit.memory.content).collect()
}

pub(crate) fn new(scope: MemoryScope, content: &str, vector: MemoryVector) -> NewMemory {
    NewMemory {
        scope,
        content: content.to_owned(),
        memory_type: MemoryType::Fact,
        durability: Durability::Core,
        importance: Importance::new(0.5).unwrap(),
        source: MemorySource::User,
        principal: None,
        conversation: None,
        vector: Some(vector),
        at: Timestamp::from_millis(100),
    }
}

/// The memories of a scope, which were stored at once.
pub(crate) struct Filled {
    agent: &'static str,
    pub(crate) vectors: Vec<MemoryVector>,
}

impl Filled {
    /// Stores memories with the embeddings of consecutive numbers from 0, through a connection that does not belong to the store. The next store that
    /// opens the database computes their codes.
    pub(crate) async fn new(
        connection: &mut PgConnection,
        agent: &'static str,
        model: &str,
        count: usize,
    ) -> Self {
        let rows = format!(
            "INSERT INTO tool_store.memory (id, workspace, agent, hash, content, type, durability, importance, source, model, created, updated)
             SELECT '{agent} ' || n, 'acme', '{agent}', '{agent} ' || n, '{agent} ' || n, 'fact', 'core', 500000, 'user', $1, 100, 100
             FROM generate_series(0, {count} - 1) n ORDER BY n RETURNING seq"
        );
        let seqs: Vec<i64> = sqlx::query_scalar(AssertSqlSafe(rows))
            .bind(model)
            .fetch_all(&mut *connection)
            .await
            .unwrap();
        let vectors: Vec<_> = (0..count)
            .map(|number| embedding(model, number, DIMENSIONS))
            .collect();
        let mut copy = connection
            .copy_in_raw(
                "COPY tool_store.memory_vector (seq, workspace, agent, model, vector) FROM STDIN",
            )
            .await
            .unwrap();
        let escaped = model.replace('\\', r"\\");
        for (seqs, vectors) in seqs.chunks(1_000).zip(vectors.chunks(1_000)) {
            let mut text = String::new();
            for (seq, vector) in seqs.iter().zip(vectors) {
                write!(text, "{seq}\tacme\t{agent}\t{escaped}\t\\\\x").unwrap();
                for byte in vector.values().iter().flat_map(|value| value.to_le_bytes()) {
                    write!(text, "{byte:02x}").unwrap();
                }
                text.push('\n');
            }
            copy.send(text.as_bytes()).await.unwrap();
        }
        copy.finish().await.unwrap();
        connection
            .execute("ANALYZE tool_store.memory, tool_store.memory_vector")
            .await
            .unwrap();
        Self { agent, vectors }
    }

    /// Returns the contents of the memories that are most similar to a vector, by comparing all embeddings exactly.
    pub(crate) fn exact(&self, vector: &MemoryVector) -> Vec<String> {
        let cosine = |other: &MemoryVector| -> f32 {
            vector
                .values()
                .iter()
                .zip(other.values())
                .map(|(one, other)| one * other)
                .sum()
        };
        let mut all: Vec<_> = self.vectors.iter().map(cosine).enumerate().collect();
        all.sort_by(|(_, one), (_, other)| other.total_cmp(one));
        all.iter()
            .take(10)
            .map(|(number, _)| format!("{} {number}", self.agent))
            .collect()
    }

    /// Fails unless a search has found at least eight of the ten memories that are most similar to a vector, as a search with an index does.
    pub(crate) fn check(&self, found: &[String], vector: &MemoryVector) {
        let exact = self.exact(vector);
        let both = found.iter().filter(|content| exact.contains(content));
        assert!(both.count() >= 8, "{found:?} {exact:?}");
    }

    /// Returns the share of the ten most similar memories that searches find.
    pub(crate) async fn recall(&self, store: &impl LongTermStore, model: &str) -> f64 {
        let mut found = 0;
        for number in 0..20 {
            let vector = embedding(model, 1_000_000 + number * 7, DIMENSIONS);
            let exact = self.exact(&vector);
            let nearest = nearest(store, &agent(self.agent), &vector).await;
            assert_eq!(nearest.len(), 10);
            found += nearest
                .iter()
                .filter(|content| exact.contains(content))
                .count();
        }
        f64::from(u32::try_from(found).unwrap()) / 200.0
    }
}

/// Returns how often the indexes of pgvector were used.
pub(crate) async fn scans(connection: &mut PgConnection) -> i64 {
    sqlx::query_scalar(
        "SELECT coalesce(sum(idx_scan), 0)::bigint FROM pg_stat_user_indexes WHERE indexrelname LIKE 'memory\\_vector\\_hnsw%'",
    )
    .fetch_one(connection)
    .await
    .unwrap()
}

/// Searches until the server reports that an index was used. It reports the use of a connection at most once per second.
pub(crate) async fn index_is_used(
    store: &impl LongTermStore,
    connection: &mut PgConnection,
    reader: &MemoryScope,
    vector: &MemoryVector,
) {
    let began = Instant::now();
    while scans(connection).await == 0 {
        assert!(
            began.elapsed() < Duration::from_secs(30),
            "no search used the index"
        );
        nearest(store, reader, vector).await;
        tokio::time::sleep(Duration::from_millis(200)).await;
    }
}

pub(crate) fn models(indexing: MemoryIndexing) -> Vec<(String, u32)> {
    let MemoryIndexing::Indexed(indexes) = indexing else {
        panic!("{indexing:?}");
    };
    indexes
        .into_iter()
        .map(|index| (index.model, index.dimensions))
        .collect()
}

/// Returns a database of a server with pgvector.
pub(crate) async fn database() -> Result<Database, Missing> {
    Database::on(server_with_vectors()?).await
}
