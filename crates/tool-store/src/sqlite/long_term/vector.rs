//! Embeddings of memories in SQLite: a search reads blocks of codes, and compares only the best candidates exactly.
//!
//! A new embedding has no code at first. Searches compare such embeddings exactly, and when a scope has [`PACKED`] of them, the transaction that
//! stored the last one adds their codes to blocks. The triggers of the migration remove a code when its embedding is removed or changes, or when the
//! type or the expiry of its memory changes.

use std::collections::BTreeMap;

use futures::TryStreamExt as _;
use sqlx::Sqlite;
use sqlx::sqlite::SqliteConnection;

use crate::sql::columns::Columns;
use crate::sql::long_term::{VectorChange, VectorLookup, VectorReader, put_vector, read_vector};
use crate::sql::statement::Statement;
use crate::store::long_term::kept_since;
use crate::store::{Durability, MemoryScope, MemoryVector, Timestamp};
use crate::vectors::{Candidates, code, code_bytes, code_size, cosine};

use crate::sqlite::{Fault, SqliteStore};

/// The maximum number of entries of a block.
const BLOCK: u32 = 256;

/// The number of embeddings without a code that a scope must have before they are moved into blocks.
const PACKED: u32 = 64;

/// The maximum number of embeddings that one step moves into blocks, for example embeddings that an earlier version of the program stored.
const MOST_PACKED: u32 = 1_024;

/// The length of an entry before its code: the number of the memory, and the time of its last change (`i64::MAX` for a memory that does not expire).
const HEADER: usize = 16;

impl VectorReader for &SqliteStore {
    async fn nearest_vectors(
        &mut self,
        lookup: &VectorLookup<'_>,
    ) -> Result<Vec<(u64, f64)>, Fault> {
        let mut connection = self.readers.acquire().await?;
        nearest_vectors(&mut connection, lookup).await
    }
}

impl VectorReader for SqliteConnection {
    async fn nearest_vectors(
        &mut self,
        lookup: &VectorLookup<'_>,
    ) -> Result<Vec<(u64, f64)>, Fault> {
        nearest_vectors(self, lookup).await
    }
}

impl VectorChange for SqliteConnection {
    async fn put_vector(
        &mut self,
        number: u64,
        scope: &MemoryScope,
        vector: &MemoryVector,
    ) -> Result<(), Fault> {
        put_vector(self, number, scope, vector).await?;
        let scope = Scope {
            workspace: scope.workspace().to_string(),
            agent: scope.column().to_owned(),
            model: vector.model().to_owned(),
        };
        if scope.has_enough(self).await? {
            pack(self, &scope).await?;
        }
        Ok(())
    }
}

/// Returns the query for the blocks of a lookup, whose column `seq` is null, and for its embeddings without a code. One statement reads both, so that
/// no embedding can move from the embeddings without a code to a block between two reads.
fn blocks_and_uncoded(lookup: &VectorLookup<'_>) -> Statement<Sqlite> {
    let model = lookup.vector.model();
    let mut query = Statement::part(
        "SELECT NULL AS seq, c.agent, c.entries AS vector FROM memory_code c WHERE c.model = ",
    );
    query.bind(model);
    lookup.narrow_to_scopes(&mut query, "c");
    let dimensions = u64::try_from(lookup.vector.values().len()).unwrap_or(u64::MAX);
    query.narrow("c.dimensions", Some(dimensions));
    lookup.narrow_to_types(&mut query, "c");
    // The order of the joins is fixed, because the planner could begin with all memories of the scope.
    query.push(" UNION ALL SELECT v.seq, v.agent, v.vector FROM memory_uncoded u CROSS JOIN memory_vector v ON v.seq = u.seq CROSS JOIN memory m ON m.seq = u.seq WHERE u.model = ");
    query.bind(model);
    lookup.narrow_to_scopes(&mut query, "u");
    lookup.narrow_to_memories(&mut query);
    query
}

/// Returns the query for the embeddings of a model with these numbers.
fn embeddings(model: &str, mut numbers: Vec<u64>) -> Statement<Sqlite> {
    // Use the order of the table, so that each page is read once.
    numbers.sort_unstable();
    let numbers: Vec<String> = numbers.iter().map(u64::to_string).collect();
    let mut query = Statement::part("SELECT v.seq, v.vector FROM json_each(");
    query.bind(format!("[{}]", numbers.join(",")));
    query.push(") n CROSS JOIN memory_vector v ON v.seq = n.value WHERE v.model = ");
    query.bind(model);
    query
}

/// Returns the statement that removes the blocks of a scope. Without it, the removal of all memories of the scope would write its blocks once for
/// each memory.
pub(super) fn removal_of_blocks(scope: &MemoryScope) -> Statement<Sqlite> {
    let mut removal = Statement::delete("memory_code");
    removal.push("workspace = ");
    removal.bind(scope.workspace().as_str());
    removal.narrow("agent", Some(scope.column()));
    removal
}

/// Implements [`VectorReader::nearest_vectors`].
async fn nearest_vectors(
    db: &mut SqliteConnection,
    lookup: &VectorLookup<'_>,
) -> Result<Vec<(u64, f64)>, Fault> {
    let values = lookup.vector.values();
    let since = lookup.now.map(kept_since);
    // Each scope has separate candidates, so that a small scope is searched exactly even if the search also covers a large scope.
    let mut scopes: BTreeMap<String, Candidates<u64>> = BTreeMap::new();
    let mut found = Vec::new();
    let mut query = blocks_and_uncoded(lookup);
    let mut rows = query.query.build().fetch(&mut *db);
    while let Some(row) = rows.try_next().await? {
        let columns = Columns::new(&row, "memory_code", "seq");
        if columns.maybe::<i64>("seq")?.is_some() {
            let (number, stored) = read_vector(&row)?;
            found.extend(cosine(values, &stored).map(|cosine| (number, cosine)));
        } else {
            let entries: &[u8] = columns.get("vector")?;
            let scope = scopes.entry(columns.get("agent")?);
            let candidates = scope.or_insert_with(|| Candidates::new(values, lookup.limit));
            for entry in entries.chunks_exact(entry_size(values.len())) {
                let Some((number, updated, code)) = read_entry(entry) else {
                    return Err(columns.corrupt("entries", "an entry is too short").into());
                };
                if number > 0 && since.is_none_or(|since| updated >= since) {
                    candidates.add_bytes(number, code);
                }
            }
        }
    }
    drop(rows);
    let numbers: Vec<u64> = scopes.into_values().flat_map(Candidates::keys).collect();
    if !numbers.is_empty() {
        let mut query = embeddings(lookup.vector.model(), numbers);
        let mut rows = query.query.build().fetch(&mut *db);
        while let Some(row) = rows.try_next().await? {
            let (number, stored) = read_vector(&row)?;
            found.extend(cosine(values, &stored).map(|cosine| (number, cosine)));
        }
    }
    found.sort_by(|(one, cosine), (other, another)| {
        another.total_cmp(cosine).then_with(|| other.cmp(one))
    });
    found.truncate(lookup.limit);
    Ok(found)
}

/// Returns the number of bytes of an entry.
fn entry_size(dimensions: usize) -> usize {
    HEADER + code_size(dimensions)
}

/// Returns the number of the memory (0 in a removed entry), the time of its last change (the latest time for a memory that does not expire), and its
/// code.
fn read_entry(entry: &[u8]) -> Option<(u64, Timestamp, &[u8])> {
    let (number, rest) = entry.split_first_chunk()?;
    let (updated, code) = rest.split_first_chunk()?;
    let updated = Timestamp::from_millis(i64::from_le_bytes(*updated));
    Some((u64::from_le_bytes(*number), updated, code))
}

/// The number of a memory, and the bytes of its entry.
type Entry = (i64, Vec<u8>);

/// The scope and the model of embeddings that share blocks.
struct Scope {
    workspace: String,
    agent: String,
    model: String,
}

impl Scope {
    /// Returns whether the scope has enough embeddings without a code for a block.
    async fn has_enough(&self, db: &mut SqliteConnection) -> Result<bool, sqlx::Error> {
        let found: i64 = sqlx::query_scalar(
            "SELECT count(*) FROM (SELECT 1 FROM memory_uncoded WHERE workspace = ? AND agent = ? AND model = ? LIMIT ?)",
        )
        .bind(&self.workspace)
        .bind(&self.agent)
        .bind(&self.model)
        .bind(PACKED)
        .fetch_one(db)
        .await?;
        Ok(found >= i64::from(PACKED))
    }
}

/// Moves the embeddings without a code into blocks, in every scope that has enough of them.
pub(in crate::sqlite) async fn pack_all(db: &mut SqliteConnection) -> Result<(), sqlx::Error> {
    let scopes: Vec<(String, String, String)> = sqlx::query_as(
        "SELECT workspace, agent, model FROM memory_uncoded GROUP BY workspace, agent, model HAVING count(*) >= ?",
    )
    .bind(PACKED)
    .fetch_all(&mut *db)
    .await?;
    for (workspace, agent, model) in scopes {
        let scope = Scope {
            workspace,
            agent,
            model,
        };
        while pack(db, &scope).await? == MOST_PACKED {}
    }
    Ok(())
}

/// Moves at most [`MOST_PACKED`] embeddings of a scope into blocks, and returns their number.
async fn pack(db: &mut SqliteConnection, scope: &Scope) -> Result<u32, sqlx::Error> {
    let rows: Vec<(i64, String, String, i64, Vec<u8>)> = sqlx::query_as(
        "SELECT u.seq, m.type, m.durability, m.updated, v.vector FROM memory_uncoded u
         CROSS JOIN memory_vector v ON v.seq = u.seq CROSS JOIN memory m ON m.seq = u.seq
         WHERE u.workspace = ? AND u.agent = ? AND u.model = ? LIMIT ?",
    )
    .bind(&scope.workspace)
    .bind(&scope.agent)
    .bind(&scope.model)
    .bind(MOST_PACKED)
    .fetch_all(&mut *db)
    .await?;
    let mut moved = 0_u32;
    let mut groups: BTreeMap<(usize, String), Vec<Entry>> = BTreeMap::new();
    for (number, memory_type, durability, updated, vector) in rows {
        // A search reports an embedding that cannot be read.
        let Some(values) = MemoryVector::values_of(&vector) else {
            continue;
        };
        let is_ephemeral = durability == Durability::Ephemeral.as_str();
        let updated = if is_ephemeral { updated } else { i64::MAX };
        let header = [number.to_le_bytes(), updated.to_le_bytes()];
        let mut entry = header.concat();
        entry.extend(code_bytes(&code(&values)));
        moved += 1;
        let group = groups.entry((values.len(), memory_type));
        group.or_default().push((number, entry));
    }
    for ((dimensions, memory_type), entries) in groups {
        let block = Block {
            scope,
            dimensions,
            memory_type: &memory_type,
        };
        block.add(db, entries).await?;
    }
    Ok(moved)
}

/// The key of blocks: embeddings of one scope with this number of dimensions, of memories of this type.
struct Block<'a> {
    scope: &'a Scope,
    dimensions: usize,
    memory_type: &'a str,
}

impl Block<'_> {
    /// Adds entries to the block with the most space, and to new blocks.
    async fn add(&self, db: &mut SqliteConnection, mut new: Vec<Entry>) -> Result<(), sqlx::Error> {
        let added: Vec<i64> = new.iter().map(|(number, _)| *number).collect();
        let size = entry_size(self.dimensions);
        let bytes_of_entry = i64::try_from(size).unwrap_or(i64::MAX);
        let dimensions = i64::try_from(self.dimensions).unwrap_or(i64::MAX);
        let part: Option<(i64, Vec<u8>)> = sqlx::query_as(
            "SELECT id, entries FROM memory_code WHERE workspace = ? AND agent = ? AND model = ? AND dimensions = ? AND type = ? AND used < ? ORDER BY used LIMIT 1",
        )
        .bind(&self.scope.workspace)
        .bind(&self.scope.agent)
        .bind(&self.scope.model)
        .bind(dimensions)
        .bind(self.memory_type)
        .bind(BLOCK)
        .fetch_optional(&mut *db)
        .await?;
        if let Some((id, entries)) = part {
            let entries = entries.chunks_exact(size).filter_map(|entry| {
                let number = i64::from_le_bytes(*entry.first_chunk()?);
                (number > 0).then(|| (number, entry.to_vec()))
            });
            new.splice(0..0, entries.collect::<Vec<_>>());
            sqlx::query("DELETE FROM memory_code WHERE id = ?")
                .bind(id)
                .execute(&mut *db)
                .await?;
        }
        for entries in new.chunks(BLOCK as usize) {
            let (numbers, bytes): (Vec<i64>, Vec<&[u8]>) = entries
                .iter()
                .map(|(number, entry)| (*number, entry.as_slice()))
                .unzip();
            let id: i64 = sqlx::query_scalar(
                "INSERT INTO memory_code (workspace, agent, model, dimensions, type, used, size, entries) VALUES (?, ?, ?, ?, ?, ?, ?, ?) RETURNING id",
            )
            .bind(&self.scope.workspace)
            .bind(&self.scope.agent)
            .bind(&self.scope.model)
            .bind(dimensions)
            .bind(self.memory_type)
            .bind(i64::try_from(numbers.len()).unwrap_or(i64::MAX))
            .bind(bytes_of_entry)
            .bind(bytes.concat())
            .fetch_one(&mut *db)
            .await?;
            sqlx::query(
                "INSERT INTO memory_code_place (seq, code, position) SELECT value, ?, key * ? FROM json_each(?) WHERE TRUE
                 ON CONFLICT (seq) DO UPDATE SET code = excluded.code, position = excluded.position",
            )
            .bind(id)
            .bind(bytes_of_entry)
            .bind(array(&numbers))
            .execute(&mut *db)
            .await?;
        }
        sqlx::query("DELETE FROM memory_uncoded WHERE seq IN (SELECT value FROM json_each(?))")
            .bind(array(&added))
            .execute(&mut *db)
            .await?;
        Ok(())
    }
}

/// Returns numbers as a JSON array.
fn array(numbers: &[i64]) -> String {
    let numbers: Vec<String> = numbers.iter().map(i64::to_string).collect();
    format!("[{}]", numbers.join(","))
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test fails by panicking")]
mod tests {
    use super::*;
    use crate::sqlite::tests::plan;
    use crate::store::{MemoryType, Workspace};

    // A search reads the blocks and the embeddings of its scopes by an index, with every filter.
    #[tokio::test]
    async fn searches_use_the_indexes() {
        let store = SqliteStore::in_memory().await.unwrap();
        let vector = MemoryVector::new("m", vec![1.0, 2.0]).unwrap();
        let workspace = Workspace::new("acme");
        let agent = MemoryScope::agent(&workspace, "a").unwrap();
        let scopes = [MemoryScope::shared(&workspace), agent];
        for (scopes, types, now) in [
            (&scopes[..], &[][..], Some(Timestamp::from_millis(0))),
            (&scopes[1..], &[MemoryType::Fact][..], None),
        ] {
            let lookup = VectorLookup {
                vector: &vector,
                scopes,
                types,
                now,
                limit: 64,
            };
            for statement in [blocks_and_uncoded(&lookup), embeddings("m", vec![1, 2])] {
                let plan = plan(&store, statement.query.sql().as_str()).await;
                let mut steps = plan.split("; ");
                // The numbers of the candidates are a virtual table.
                let has_index = |step: &str| !step.contains("SCAN") || step.contains("SCAN n ");
                assert!(steps.all(has_index), "{plan}");
            }
        }
    }
}
