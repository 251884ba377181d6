//! Codes of the embeddings of chunks, in blocks.
//!
//! A search reads the codes, which have one bit for each dimension, and compares only the embeddings of the best candidates exactly. In a small
//! workspace, all embeddings are candidates. A row for each code would take several times as long to read, so a row contains the codes of up to
//! [`BLOCK`] chunks of a document. The transaction that changes chunks or embeddings writes their blocks again.

use std::collections::{BTreeMap, BTreeSet};

use crate::store::{ChunkVectorSearch, DocumentName, MemoryVector, StoreError, Workspace};
use crate::vectors::{Candidates, code_size};

use super::super::columns::Columns;
use super::super::statement::{SqlChange, SqlDatabase, SqlReader, Statement, Value};
use super::{CHUNKS, CODES, VECTORS, removal};

/// The maximum number of codes in a block.
const BLOCK: u32 = 256;

/// The number of bytes of an entry before its code: the id of the chunk.
const HEADER: usize = 8;

fn dimensions(vector: &MemoryVector) -> u64 {
    u64::try_from(vector.values().len()).unwrap_or(u64::MAX)
}

/// Returns the query for the codes of the chunks of a block.
fn codes<DB: SqlDatabase>(name: &DocumentName, block: u32) -> Statement<DB> {
    let schema = DB::SCHEMA;
    let mut query = Statement::part(format!(
        "SELECT c.file, v.chunk, v.model, v.dimensions, v.code FROM {schema}{CHUNKS} c JOIN {schema}{VECTORS} v ON v.chunk = c.id WHERE c.workspace = "
    ));
    query.bind(name.workspace().as_str());
    query.narrow("c.file", Some(name.file()));
    let first = block.saturating_mul(BLOCK);
    query.push(" AND c.seq >= ").bind(first);
    query
        .push(" AND c.seq < ")
        .bind(first.saturating_add(BLOCK));
    query.push(" ORDER BY c.seq");
    query
}

/// Writes the blocks of these chunks of a document again, after a change of the chunks or of their embeddings.
pub(super) async fn write_blocks<C: SqlChange>(
    db: &mut C,
    name: &DocumentName,
    chunks: impl IntoIterator<Item = u32>,
) -> Result<(), C::Fault> {
    let blocks: BTreeSet<u32> = chunks.into_iter().map(|seq| seq / BLOCK).collect();
    for block in blocks {
        let rows = db.read(|| codes(name, block)).await?;
        let mut entries: BTreeMap<(String, u64), Vec<u8>> = BTreeMap::new();
        for row in &rows {
            let columns = Columns::new(row, VECTORS, "file");
            let key = (columns.get("model")?, columns.number("dimensions")?);
            let entry = entries.entry(key).or_default();
            entry.extend(columns.number::<u64>("chunk")?.to_le_bytes());
            entry.extend_from_slice(columns.get("code")?);
        }
        drop(rows);
        let mut removal = removal(CODES, name);
        removal.narrow("block", Some(block));
        db.write(removal).await?;
        for ((model, dimensions), entries) in entries {
            let values: [(_, Value); 6] = [
                ("workspace", name.workspace().as_str().into()),
                ("model", model.into()),
                ("dimensions", dimensions.into()),
                ("file", name.file().into()),
                ("block", block.into()),
                ("entries", Value::Bytes(Some(entries))),
            ];
            db.write(Statement::insert(CODES, values)).await?;
        }
    }
    Ok(())
}

/// Returns the query for the blocks of a workspace whose model and number of dimensions are those of a vector.
pub(crate) fn blocks<DB: SqlDatabase>(
    workspace: &Workspace,
    vector: &MemoryVector,
) -> Statement<DB> {
    let mut query = Statement::select("file, entries", CODES);
    query.push("workspace = ").bind(workspace.as_str());
    query.narrow("model", Some(vector.model()));
    query.narrow("dimensions", Some(dimensions(vector)));
    query
}

/// Returns the ids of the chunks that are compared exactly.
pub(super) async fn candidates<R: SqlReader>(
    db: &mut R,
    search: &ChunkVectorSearch<'_>,
) -> Result<Vec<u64>, R::Fault> {
    let (values, limit) = (search.vector.values(), search.limit);
    let limit = usize::try_from(limit).unwrap_or(usize::MAX);
    let mut candidates = Candidates::new(values, limit);
    let rows = db.read(|| blocks(search.workspace, search.vector));
    for row in &rows.await? {
        let columns = Columns::new(row, CODES, "file");
        let entries: &[u8] = columns.get("entries")?;
        for entry in entries.chunks_exact(HEADER + code_size(values.len())) {
            let (id, code) = entry
                .split_first_chunk()
                .ok_or_else(|| columns.corrupt("entries", "an entry is too short"))?;
            candidates.add_bytes(u64::from_le_bytes(*id), code);
        }
    }
    Ok(candidates.keys())
}

/// Returns the query for the embeddings of these chunks. `ids` must not be empty.
pub(crate) fn embeddings<DB: SqlDatabase>(
    search: &ChunkVectorSearch<'_>,
    ids: &[u64],
) -> Statement<DB> {
    let mut query = Statement::select_by_number("chunk, vector", VECTORS);
    query.push("workspace = ").bind(search.workspace.as_str());
    query.narrow("model", Some(search.vector.model()));
    query.narrow("dimensions", Some(dimensions(search.vector)));
    // The number of ids is padded to a power of two, because each number of ids is a different statement in the cache of a connection.
    let padding = ids.len().next_power_of_two() - ids.len();
    let padding = ids.iter().copied().cycle().take(padding);
    query.narrow_to_any("chunk", ids.iter().copied().chain(padding));
    query.push(" ORDER BY chunk");
    query
}

/// Returns the embeddings of these chunks. Chunks without an embedding of the model are left out.
pub(super) async fn vectors<R: SqlReader>(
    db: &mut R,
    search: &ChunkVectorSearch<'_>,
    ids: &[u64],
) -> Result<Vec<(u64, Vec<f32>)>, R::Fault> {
    let rows = db.read(|| embeddings(search, ids)).await?;
    let vectors = rows.iter().map(|row| {
        let columns = Columns::new(row, VECTORS, "chunk");
        let values = MemoryVector::values_of(columns.get("vector")?);
        let values = values.ok_or_else(|| {
            columns.corrupt("vector", "the number of bytes is not a multiple of 4")
        })?;
        Ok((columns.number("chunk")?, values))
    });
    Ok(vectors.collect::<Result<_, StoreError>>()?)
}
