//! The search for chunks by their words.

use std::collections::BTreeMap;

use crate::digest::sha256;
use crate::store::{ChunkHit, ChunkSearch, Workspace, best_chunks};
use crate::text_search::{Candidate, query_terms};

use super::super::columns::Columns;
use super::super::statement::{SqlDatabase, SqlReader, Statement};
use super::{CHUNKS, DOCUMENTS};

/// The number of candidates that the terms of a query share. Each term selects an equal part of them, so that the chunks of a rare term are ranked
/// even if another term is frequent.
const MOST_CANDIDATES: u32 = 1_000;

/// The minimum number of candidates that each term may select, also in a query of many terms.
const FEWEST_CANDIDATES: u32 = 50;

/// The full-text search of a database.
pub(crate) trait TextIndex: SqlDatabase {
    /// Adds a subquery for the ids of at most `limit` chunks of a workspace that contain all of these terms.
    fn push_matches(query: &mut Statement<Self>, scope: &str, terms: &[String], limit: u32);
}

/// Returns a word that identifies a workspace in the index.
pub(super) fn scope_word(workspace: &Workspace) -> String {
    let mut hash = sha256(&["knowledge scope", workspace.as_str()]);
    hash.truncate(32);
    format!("w{hash}")
}

/// Returns the query for the chunks that may match a query: chunks that contain every term, and chunks that contain at least one of the terms.
pub(crate) fn candidates<DB: TextIndex>(workspace: &Workspace, terms: &[String]) -> Statement<DB> {
    let scope = scope_word(workspace);
    let amount = u32::try_from(terms.len()).unwrap_or(u32::MAX).max(1);
    let limit = (MOST_CANDIDATES / amount).max(FEWEST_CANDIDATES);
    let mut query = Statement::select_by_number("id, file, terms", CHUNKS);
    query.push("workspace = ").bind(workspace.as_str());
    query.push(" AND id IN (");
    DB::push_matches(&mut query, &scope, terms, limit);
    if terms.len() > 1 {
        for term in terms {
            query.push(" UNION ");
            DB::push_matches(&mut query, &scope, std::slice::from_ref(term), limit);
        }
    }
    query.push(") ORDER BY id");
    query
}

/// Returns the query for the texts of chunks.
pub(crate) fn texts<DB: SqlDatabase>(workspace: &Workspace, best: &[(u64, f64)]) -> Statement<DB> {
    let mut query = Statement::select_by_number("id, file, seq, content", CHUNKS);
    query.push("workspace = ").bind(workspace.as_str());
    query.narrow_to_any("id", best.iter().map(|(id, _)| *id));
    query
}

/// Returns the query for the number of chunks of a workspace.
fn amount<DB: SqlDatabase>(workspace: &Workspace) -> Statement<DB> {
    let columns = "'chunks' AS file, CAST(coalesce(sum(chunks), 0) AS bigint) AS chunks";
    let mut query = Statement::select(columns, DOCUMENTS);
    query.push("workspace = ").bind(workspace.as_str());
    query
}

/// Implements [`KnowledgeStore::search_chunks`](crate::store::KnowledgeStore::search_chunks).
pub(crate) async fn search<R: SqlReader<Database: TextIndex>>(
    db: &mut R,
    search: &ChunkSearch<'_>,
) -> Result<Vec<ChunkHit>, R::Fault> {
    let (workspace, terms) = (search.workspace, query_terms(search.query));
    if terms.is_empty() || search.limit == 0 {
        return Ok(Vec::new());
    }
    let rows = db.read(|| candidates(workspace, &terms)).await?;
    let mut found = Vec::with_capacity(rows.len());
    for row in &rows {
        let columns = Columns::new(row, CHUNKS, "file");
        found.push(Candidate {
            key: columns.number::<u64>("id")?,
            terms: columns.get("terms")?,
        });
    }
    drop(rows);
    let rows = db.read(|| amount(workspace)).await?;
    let total = rows
        .first()
        .map(|row| Columns::new(row, DOCUMENTS, "file").number("chunks"));
    let total = total.transpose()?.unwrap_or_default();
    let best = best_chunks(&terms, found, total, search.limit);
    hits(db, workspace, &best).await
}

/// Returns the chunks with these ids, in order, with their scores.
pub(super) async fn hits<R: SqlReader>(
    db: &mut R,
    workspace: &Workspace,
    best: &[(u64, f64)],
) -> Result<Vec<ChunkHit>, R::Fault> {
    if best.is_empty() {
        return Ok(Vec::new());
    }
    let rows = db.read(|| texts(workspace, best)).await?;
    let mut texts = BTreeMap::new();
    for row in &rows {
        let columns = Columns::new(row, CHUNKS, "file");
        texts.insert(columns.number::<u64>("id")?, columns);
    }
    let mut hits = Vec::with_capacity(best.len());
    for (id, score) in best {
        // A chunk that was removed in the meantime is left out.
        if let Some(columns) = texts.get(id) {
            hits.push(ChunkHit {
                file: columns.get("file")?,
                index: columns.number("seq")?,
                content: columns.text("content")?,
                score: *score,
            });
        }
    }
    Ok(hits)
}
