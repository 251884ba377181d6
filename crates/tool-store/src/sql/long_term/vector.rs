//! Embeddings of memories.

use crate::store::long_term::{nearest, weighted};
use crate::store::{
    MemoryHit, MemoryQuery, MemoryRow, MemoryScope, MemoryVector, NewMemory, StoreError, Workspace,
};

use super::super::columns::{Columns, SqlRow};
use super::super::statement::{SqlChange, SqlDatabase, SqlReader, Statement, Value};
use super::{
    COLUMNS, NAMED, TABLE as MEMORIES, locked, narrow_to_readable, narrow_to_scope, number, one,
    read,
};

const TABLE: &str = "memory_vector";

/// Returns the query for the embeddings of a model, with the rows of their memories.
fn vectors<DB: SqlDatabase>(model: &str) -> Statement<DB> {
    let schema = DB::SCHEMA;
    let mut query = Statement::part(format!(
        "SELECT m.seq, v.vector FROM {schema}{TABLE} v JOIN {schema}{NAMED} ON m.seq = v.seq WHERE v.model = "
    ));
    query.bind(model);
    query
}

fn read_vector(row: &impl SqlRow) -> Result<(u64, Vec<f32>), StoreError> {
    let columns = Columns::new(row, TABLE, "seq");
    let values = MemoryVector::values_of(columns.get("vector")?);
    let values = values
        .ok_or_else(|| columns.corrupt("vector", "the number of bytes is not a multiple of 4"))?;
    Ok((columns.number("seq")?, values))
}

/// Returns the most similar memory of a scope that the new content may replace, and locks its row.
pub(super) async fn similar<C: SqlChange>(
    db: &mut C,
    new: &NewMemory,
) -> Result<Option<MemoryRow>, C::Fault> {
    let Some(vector) = &new.vector else {
        return Ok(None);
    };
    let rows = db.read(|| {
        let mut query = vectors(vector.model());
        query.push(" AND v.workspace = ");
        query.bind(new.scope.workspace().as_str());
        query.narrow("v.agent", Some(new.scope.column()));
        query
    });
    let rows = rows.await?;
    let vectors = rows.iter().map(read_vector);
    let vectors = vectors.collect::<Result<Vec<_>, _>>()?;
    for (number, cosine) in nearest(vector, vectors, 8) {
        if cosine <= MemoryRow::SAME {
            break;
        }
        let found = locked(db, || {
            let mut query = Statement::select(COLUMNS, NAMED);
            narrow_to_scope(&mut query, &new.scope);
            query.narrow("m.seq", Some(number));
            query
        });
        if let Some((_, row)) = found.await?
            && row.admits(new)
        {
            return Ok(Some(row));
        }
    }
    Ok(None)
}

/// Stores the embedding of a memory in place of its previous one.
pub(super) async fn put_vector<C: SqlChange>(
    db: &mut C,
    number: u64,
    scope: &MemoryScope,
    vector: &MemoryVector,
) -> Result<(), C::Fault> {
    let values: [(_, Value); 5] = [
        ("seq", number.into()),
        ("workspace", scope.workspace().as_str().into()),
        ("agent", scope.column().into()),
        ("model", vector.model().into()),
        ("vector", Value::Bytes(Some(vector.bytes()))),
    ];
    let put = Statement::insert(TABLE, values).or_update("seq", &["model", "vector"]);
    db.write(put).await?;
    Ok(())
}

pub(super) async fn remove_vector<C: SqlChange>(db: &mut C, number: u64) -> Result<(), C::Fault> {
    let mut removal = Statement::delete(TABLE);
    removal.push("seq = ").bind(number);
    db.write(removal).await?;
    Ok(())
}

/// Implements [`LongTermStore::nearest_memories`](crate::store::LongTermStore::nearest_memories).
pub(crate) async fn nearest_memories<R: SqlReader>(
    db: &mut R,
    reader: &MemoryScope,
    vector: &MemoryVector,
    query: &MemoryQuery,
) -> Result<Vec<MemoryHit>, R::Fault> {
    let rows = db.read(|| {
        let mut rows = vectors(vector.model());
        rows.push(" AND v.workspace = ");
        rows.bind(reader.workspace().as_str());
        rows.push(" AND v.agent IN ('', ").bind(reader.column());
        rows.push(") AND ");
        narrow_to_readable(&mut rows, reader, query.now);
        if !query.types.is_empty() {
            let types = query.types.iter();
            rows.narrow_to_any("m.type", types.map(|kind| kind.as_str()));
        }
        rows.push(" ORDER BY m.seq DESC");
        rows
    });
    let rows = rows.await?;
    let vectors = rows.iter().map(read_vector);
    let vectors = vectors.collect::<Result<Vec<_>, _>>()?;
    let nearest = nearest(vector, vectors, query.considered());
    if nearest.is_empty() {
        return Ok(Vec::new());
    }
    let numbers: Vec<u64> = nearest.iter().map(|(number, _)| *number).collect();
    let rows = db.read(|| {
        let mut rows = Statement::select(COLUMNS, NAMED);
        narrow_to_readable(&mut rows, reader, query.now);
        rows.narrow_to_any("m.seq", numbers.iter().copied());
        rows
    });
    let rows = rows.await?;
    let memories = rows.iter().map(|row| Ok((number(row)?, read(row)?)));
    let mut memories =
        memories.collect::<Result<std::collections::BTreeMap<_, _>, StoreError>>()?;
    let hits = nearest
        .into_iter()
        .filter_map(|(number, cosine)| Some((memories.remove(&number)?, cosine)));
    Ok(weighted(hits, query))
}

/// Returns the query for memories whose embedding is missing or of a different model.
pub(crate) fn unembedded_listing<DB: SqlDatabase>(
    workspace: &Workspace,
    model: &str,
    limit: u32,
) -> Statement<DB> {
    let mut query = Statement::select(COLUMNS, NAMED);
    query.push("m.workspace = ").bind(workspace.as_str());
    query
        .push(" AND (m.model IS NULL OR m.model <> ")
        .bind(model);
    query.push(")").limit(Some(limit));
    query
}

/// Implements [`LongTermStore::memories_to_embed`](crate::store::LongTermStore::memories_to_embed).
pub(crate) async fn unembedded<R: SqlReader>(
    db: &mut R,
    workspace: &Workspace,
    model: &str,
    limit: u32,
) -> Result<Vec<MemoryRow>, R::Fault> {
    let rows = db.read(|| unembedded_listing(workspace, model, limit));
    Ok(rows.await?.iter().map(read).collect::<Result<_, _>>()?)
}

/// Implements [`LongTermStore::embed_memory`](crate::store::LongTermStore::embed_memory).
pub(crate) async fn embed<C: SqlChange>(
    db: &mut C,
    workspace: &Workspace,
    id: &str,
    hash: &str,
    vector: &MemoryVector,
) -> Result<bool, C::Fault> {
    let found = locked(db, || one(workspace, id)).await?;
    let Some((number, row)) = found.filter(|(_, row)| row.hash == hash) else {
        return Ok(false);
    };
    // The words of the content do not change, so the full-text index is not written.
    let schema = <C::Database as SqlDatabase>::SCHEMA;
    let mut update = Statement::part(format!("UPDATE {schema}{MEMORIES} SET model = "));
    update.bind(vector.model());
    update.push(" WHERE seq = ").bind(number);
    db.write(update).await?;
    put_vector(db, number, &row.scope, vector).await?;
    Ok(true)
}
