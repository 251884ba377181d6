//! Embeddings of memories.

use crate::store::long_term::weighted;
use crate::store::{
    MemoryHit, MemoryQuery, MemoryRow, MemoryScope, MemoryType, MemoryVector, NewMemory,
    StoreError, Timestamp, Workspace,
};

use crate::vectors::nearest;

use super::super::Step;
use super::super::columns::{Columns, SqlRow};
use super::super::statement::{SqlChange, SqlDatabase, SqlReader, Statement, Value};
use super::{
    COLUMNS, NAMED, TABLE as MEMORIES, locked, narrow_to_kept, narrow_to_readable, narrow_to_scope,
    number, one, read,
};

const TABLE: &str = "memory_vector";

/// The embeddings that a search compares with a vector: the embeddings of the same model, of the memories of these scopes and types.
pub(crate) struct VectorLookup<'a> {
    pub(crate) vector: &'a MemoryVector,
    /// The scopes, all of one workspace.
    pub(crate) scopes: &'a [MemoryScope],
    /// The types; empty for all types.
    pub(crate) types: &'a [MemoryType],
    /// The time of the search, at which a memory must not have expired; `None` to find expired memories as well.
    pub(crate) now: Option<Timestamp>,
    /// The maximum number of results.
    pub(crate) limit: usize,
}

impl VectorLookup<'_> {
    /// Narrows a query that ends in a condition to the rows of a table that belong to the scopes.
    pub(crate) fn narrow_to_scopes<DB: SqlDatabase>(&self, query: &mut Statement<DB>, table: &str) {
        let workspace = self.scopes.first().map(|scope| scope.workspace().as_str());
        query.narrow(&format!("{table}.workspace"), workspace);
        let agents = self.scopes.iter().map(MemoryScope::column);
        query.narrow_to_any(&format!("{table}.agent"), agents);
    }

    /// Narrows a query that ends in a condition to the rows of a table that have one of the types.
    pub(crate) fn narrow_to_types<DB: SqlDatabase>(&self, query: &mut Statement<DB>, table: &str) {
        if !self.types.is_empty() {
            let types = self.types.iter();
            query.narrow_to_any(&format!("{table}.type"), types.map(|kind| kind.as_str()));
        }
    }

    /// Narrows a query that ends in a condition to the memories `m` of the lookup.
    pub(crate) fn narrow_to_memories<DB: SqlDatabase>(&self, query: &mut Statement<DB>) {
        self.narrow_to_scopes(query, "m");
        self.narrow_to_types(query, "m");
        if let Some(now) = self.now {
            narrow_to_kept(query, now);
        }
    }
}

/// A connection on which embeddings are compared.
pub(crate) trait VectorReader: SqlReader {
    /// Returns the numbers of the memories with the nearest embeddings, and their cosines, best first. Of memories with equal cosines, the newest is
    /// the first.
    ///
    /// By default, reads and compares all embeddings of the lookup.
    fn nearest_vectors(
        &mut self,
        lookup: &VectorLookup<'_>,
    ) -> impl Step<Vec<(u64, f64)>, Self::Fault> {
        nearest_exactly(self, lookup)
    }
}

/// The connection of a transaction that stores embeddings.
pub(crate) trait VectorChange: SqlChange + VectorReader {
    /// Stores the embedding of a memory in place of its previous embedding.
    fn put_vector(
        &mut self,
        number: u64,
        scope: &MemoryScope,
        vector: &MemoryVector,
    ) -> impl Step<(), Self::Fault> {
        put_vector(self, number, scope, vector)
    }
}

/// Reads the number and the embedding of a memory, in the columns `seq` and `vector`.
pub(crate) fn read_vector(row: &impl SqlRow) -> Result<(u64, Vec<f32>), StoreError> {
    let columns = Columns::new(row, TABLE, "seq");
    let values = MemoryVector::values_of(columns.get("vector")?);
    let values = values
        .ok_or_else(|| columns.corrupt("vector", "the number of bytes is not a multiple of 4"))?;
    Ok((columns.number("seq")?, values))
}

/// Reads all embeddings of the lookup, and compares them.
async fn nearest_exactly<R: SqlReader + ?Sized>(
    db: &mut R,
    lookup: &VectorLookup<'_>,
) -> Result<Vec<(u64, f64)>, R::Fault> {
    let rows = db.read(|| {
        let schema = <R::Database as SqlDatabase>::SCHEMA;
        let mut query = Statement::part(format!(
            "SELECT m.seq, v.vector FROM {schema}{TABLE} v JOIN {schema}{NAMED} ON m.seq = v.seq WHERE v.model = "
        ));
        query.bind(lookup.vector.model());
        lookup.narrow_to_scopes(&mut query, "v");
        lookup.narrow_to_memories(&mut query);
        query.push(" ORDER BY m.seq DESC");
        query
    });
    let rows = rows.await?;
    let vectors = rows.iter().map(read_vector);
    let vectors = vectors.collect::<Result<Vec<_>, _>>()?;
    Ok(nearest(lookup.vector.values(), vectors, lookup.limit))
}

/// Returns the most similar memory of a scope that the new content may replace, and locks its row. Considers only the eight nearest memories.
pub(super) async fn similar<C: VectorChange>(
    db: &mut C,
    new: &NewMemory,
) -> Result<Option<MemoryRow>, C::Fault> {
    let Some(vector) = &new.vector else {
        return Ok(None);
    };
    let lookup = VectorLookup {
        vector,
        scopes: std::slice::from_ref(&new.scope),
        types: &[],
        now: None,
        limit: 8,
    };
    for (number, cosine) in db.nearest_vectors(&lookup).await? {
        if cosine <= MemoryRow::SAME {
            break;
        }
        let found = locked(db, || {
            let mut query = Statement::select_by_number(COLUMNS, NAMED);
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

/// Stores the embedding of a memory in place of its previous embedding.
pub(crate) async fn put_vector<C: SqlChange + ?Sized>(
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

/// Returns the query for the memories with these numbers that a reader may read and that have not expired.
pub(crate) fn hits<DB: SqlDatabase>(
    reader: &MemoryScope,
    now: Timestamp,
    numbers: &[u64],
) -> Statement<DB> {
    let mut query = Statement::select_by_number(COLUMNS, NAMED);
    narrow_to_readable(&mut query, reader, now);
    query.narrow_to_any("m.seq", numbers.iter().copied());
    query
}

/// Implements [`LongTermStore::nearest_memories`](crate::store::LongTermStore::nearest_memories).
pub(crate) async fn nearest_memories<R: VectorReader>(
    db: &mut R,
    reader: &MemoryScope,
    vector: &MemoryVector,
    query: &MemoryQuery,
) -> Result<Vec<MemoryHit>, R::Fault> {
    let lookup = VectorLookup {
        vector,
        scopes: &reader.readable(),
        types: &query.types,
        now: Some(query.now),
        limit: query.considered(),
    };
    let nearest = db.nearest_vectors(&lookup).await?;
    if nearest.is_empty() {
        return Ok(Vec::new());
    }
    let numbers: Vec<u64> = nearest.iter().map(|(number, _)| *number).collect();
    let rows = db.read(|| hits(reader, query.now, &numbers)).await?;
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
pub(crate) async fn embed<C: VectorChange>(
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
    db.put_vector(number, &row.scope, vector).await?;
    Ok(true)
}
