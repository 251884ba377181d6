//! The embeddings of chunks: their claims, and the search for similar chunks.

use std::collections::BTreeMap;

use crate::store::{
    ChunkEmbedding, ChunkHit, ChunkText, ChunkVectorSearch, DocumentEmbedding, DocumentName,
    EmbeddingClaim, EmbeddingOutcome, EmbeddingWork, IndexClaim, Scope, StoreError, Timestamp,
    Workspace, rounded_score,
};
use crate::vectors::{code, code_bytes, nearest as best};

use super::super::batches::few_sizes;
use super::super::columns::Columns;
use super::super::statement::{SqlChange, SqlDatabase, SqlReader, Statement, Value};
use super::codes::{candidates, vectors, write_blocks};
use super::search::hits;
use super::{CHUNKS, COLUMNS, DOCUMENTS, VECTORS, locked, one, read as read_row, save};

/// The columns of a chunk's embedding that are written. The first column is the key: a new embedding replaces the previous embedding of its chunk.
const PUT: [&str; 6] = [
    "chunk",
    "workspace",
    "model",
    "dimensions",
    "code",
    "vector",
];

pub(super) fn read(columns: Columns<'_>) -> Result<DocumentEmbedding, StoreError> {
    Ok(DocumentEmbedding {
        model: columns.maybe("embed_model")?,
        ready: columns.maybe_time("embed_ready")?,
        token: columns.maybe("embed_token")?,
        failures: columns.number("embed_failures")?,
        fault: columns.maybe_text("embed_fault")?,
    })
}

/// Returns the query for the document that has waited longest for embeddings.
pub(crate) fn ready_to_embed<DB: SqlDatabase>(scope: Scope<'_>, now: Timestamp) -> Statement<DB> {
    let mut query = Statement::select(COLUMNS, DOCUMENTS);
    query.push("embed_ready <= ").bind(now);
    query.narrow("workspace", scope.workspace().map(Workspace::as_str));
    query.push(" ORDER BY embed_ready").limit(Some(1));
    query
}

/// Returns the query for the chunks of a document without an embedding of a model.
fn unembedded<DB: SqlDatabase>(name: &DocumentName, model: &str, limit: u32) -> Statement<DB> {
    let schema = DB::SCHEMA;
    let mut query = Statement::part(format!(
        "SELECT c.file, c.seq, c.content FROM {schema}{CHUNKS} c LEFT JOIN {schema}{VECTORS} v ON v.chunk = c.id AND v.model = "
    ));
    query.bind(model).push(" WHERE c.workspace = ");
    query.bind(name.workspace().as_str());
    query.narrow("c.file", Some(name.file()));
    query.push(" AND v.chunk IS NULL ORDER BY c.seq");
    query.limit(Some(limit));
    query
}

/// Implements [`KnowledgeStore::claim_embedding`](crate::store::KnowledgeStore::claim_embedding).
pub(crate) async fn claim_embedding<C: SqlChange>(
    db: &mut C,
    scope: Scope<'_>,
    claim: &EmbeddingClaim,
) -> Result<Option<EmbeddingWork>, C::Fault> {
    let claim = EmbeddingClaim {
        at: db.deciding(claim.at),
        ..claim.clone()
    };
    loop {
        let rows = db.read(|| {
            let mut query = ready_to_embed(scope, claim.at);
            query.push(<C::Database as SqlDatabase>::CLAIM);
            query
        });
        let Some(mut row) = rows.await?.first().map(read_row).transpose()? else {
            return Ok(None);
        };
        let rows = db.read(|| unembedded(&row.name, &claim.model, claim.most_chunks));
        let chunks = rows.await?;
        let chunks = chunks.iter().map(|row| {
            let columns = Columns::new(row, CHUNKS, "file");
            Ok(ChunkText {
                index: columns.number("seq")?,
                content: columns.text("content")?,
            })
        });
        let chunks = chunks.collect::<Result<Vec<_>, StoreError>>()?;
        if chunks.is_empty() {
            row.embedding.complete(&claim.model);
            save(db, &row).await?;
            continue;
        }
        row.embedding.claim(&claim, IndexClaim::token());
        save(db, &row).await?;
        return Ok(Some(EmbeddingWork { row, chunks }));
    }
}

/// Implements [`KnowledgeStore::finish_embedding`](crate::store::KnowledgeStore::finish_embedding).
pub(crate) async fn finish_embedding<C: SqlChange>(
    db: &mut C,
    name: &DocumentName,
    token: &str,
    outcome: &EmbeddingOutcome,
    at: Timestamp,
) -> Result<bool, C::Fault> {
    let now = db.deciding(at);
    let Some(mut row) = locked(db, name).await? else {
        return Ok(false);
    };
    if !row.embedding.finish(token, outcome, now) {
        return Ok(false);
    }
    if let EmbeddingOutcome::Embedded(embeddings) = outcome {
        put_vectors(db, name, embeddings).await?;
    }
    if let Some(model) = outcome.model() {
        let left = db.read(|| unembedded(name, model, 1)).await?;
        if left.is_empty() {
            row.embedding.complete(model);
        }
    }
    save(db, &row).await?;
    Ok(true)
}

async fn put_vectors<C: SqlChange>(
    db: &mut C,
    name: &DocumentName,
    embeddings: &[ChunkEmbedding],
) -> Result<(), C::Fault> {
    for batch in few_sizes(embeddings) {
        let rows = db.read(|| {
            let mut query = one("id, file, seq", CHUNKS, name);
            query.narrow_to_any("seq", batch.iter().map(|embedding| embedding.index));
            query
        });
        let rows = rows.await?;
        let mut ids: BTreeMap<u32, u64> = BTreeMap::new();
        for row in &rows {
            let columns = Columns::new(row, CHUNKS, "file");
            ids.insert(columns.number("seq")?, columns.number("id")?);
        }
        drop(rows);
        let rows = batch.iter().filter_map(|ChunkEmbedding { index, vector }| {
            let dimensions = u64::try_from(vector.values().len()).unwrap_or(u64::MAX);
            // A second embedding of the same chunk in one statement would change a row twice, which PostgreSQL refuses.
            let id = ids.remove(index)?;
            let values: [Value; 6] = [
                id.into(),
                name.workspace().as_str().into(),
                vector.model().into(),
                dimensions.into(),
                Value::Bytes(Some(code_bytes(&code(vector.values())))),
                Value::Bytes(Some(vector.bytes())),
            ];
            Some(values)
        });
        let rows: Vec<_> = rows.collect();
        if !rows.is_empty() {
            let put = Statement::insert_rows(VECTORS, PUT, rows);
            db.write(put.or_update("chunk", &PUT[2..])).await?;
        }
    }
    let places = embeddings.iter().map(|embedding| embedding.index);
    write_blocks(db, name, places).await
}

/// Implements [`KnowledgeStore::renew_embeddings`](crate::store::KnowledgeStore::renew_embeddings).
pub(crate) async fn renew_embeddings<C: SqlChange>(
    db: &mut C,
    scope: Scope<'_>,
    model: &str,
    limit: u32,
    at: Timestamp,
) -> Result<u64, C::Fault> {
    let now = db.deciding(at);
    let rows = db.read(|| {
        let mut query = Statement::select(COLUMNS, DOCUMENTS);
        query
            .push("chunks > 0 AND embed_ready IS NULL AND (embed_model IS NULL OR embed_model <> ");
        query.bind(model).push(")");
        query.narrow("workspace", scope.workspace().map(Workspace::as_str));
        query.limit(Some(limit));
        query.push(<C::Database as SqlDatabase>::CLAIM);
        query
    });
    let rows = rows.await?;
    let rows = rows.iter().map(read_row).collect::<Result<Vec<_>, _>>()?;
    let mut renewed = 0;
    for mut row in rows {
        if row.embedding.renew(model, now) {
            save(db, &row).await?;
            renewed += 1;
        }
    }
    Ok(renewed)
}

/// Implements [`KnowledgeStore::nearest_chunks`](crate::store::KnowledgeStore::nearest_chunks).
pub(crate) async fn nearest<R: SqlReader>(
    db: &mut R,
    search: &ChunkVectorSearch<'_>,
) -> Result<Vec<ChunkHit>, R::Fault> {
    if search.limit == 0 {
        return Ok(Vec::new());
    }
    let ids = candidates(db, search).await?;
    if ids.is_empty() {
        return Ok(Vec::new());
    }
    let vectors = vectors(db, search, &ids).await?;
    let limit = usize::try_from(search.limit).unwrap_or(usize::MAX);
    let best = best(search.vector.values(), vectors, limit).into_iter();
    let best: Vec<(u64, f64)> = best
        .map(|(id, cosine)| (id, rounded_score(cosine)))
        .collect();
    hits(db, search.workspace, &best).await
}
