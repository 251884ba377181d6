//! Rows and statements of documents and their chunks.

use std::collections::BTreeMap;
use std::time::Duration;

use crate::digest::sha256;
use crate::store::{
    ChunkHit, ChunkSearch, Document, DocumentFilter, DocumentName, DocumentRow, DocumentStatus,
    DocumentWrite, DocumentWriteMode, DocumentWritten, IndexClaim, IndexOutcome, Scope, StoreError,
    Timestamp, Workspace, best_chunks,
};
use crate::text_search::{Candidate, index_text, query_terms};

use super::columns::{Columns, SqlRow};
use super::statement::{SqlChange, SqlDatabase, SqlReader, Statement, Value};

const DOCUMENTS: &str = "knowledge_document";

const CONTENTS: &str = "knowledge_content";

const CHUNKS: &str = "knowledge_chunk";

const COLUMNS: &str = "workspace, file, id, mime, size, source, principal, status, fault, chunks, ready, token, worker, recoveries, created, updated, indexed";

/// The maximum number of chunks that are ranked for a query. Each term gets an equal share of them, so that the chunks of a rare term are ranked even if
/// another term is frequent.
const MOST_CANDIDATES: u32 = 1_000;

/// The minimum number of chunks that are ranked for each term.
const FEWEST_CANDIDATES: u32 = 50;

/// The full-text search of a database.
pub(crate) trait TextIndex: SqlDatabase {
    /// Adds a condition that selects the chunks of a workspace that contain all of these terms. The condition is that the column `id` is in the result of a
    /// subquery.
    fn push_matches(query: &mut Statement<Self>, scope: &str, terms: &[String], limit: u32);
}

fn read(row: &impl SqlRow) -> Result<DocumentRow, StoreError> {
    let columns = Columns::new(row, DOCUMENTS, "file");
    let name = DocumentName::new(&columns.workspace()?, columns.get::<&str>("file")?);
    let name = name.map_err(|error| columns.corrupt("file", error))?;
    Ok(DocumentRow {
        name,
        id: columns.get("id")?,
        mime: columns.get("mime")?,
        size: columns.number("size")?,
        source: columns.get("source")?,
        principal: columns.maybe("principal")?,
        status: columns.word("status", DocumentStatus::from_word)?,
        fault: columns.maybe("fault")?,
        chunks: columns.number("chunks")?,
        ready: columns.maybe_time("ready")?,
        token: columns.maybe("token")?,
        worker: columns.maybe("worker")?,
        recoveries: columns.number("recoveries")?,
        created: columns.time("created")?,
        updated: columns.time("updated")?,
        indexed: columns.maybe_time("indexed")?,
    })
}

fn narrow_to<DB: SqlDatabase>(statement: &mut Statement<DB>, name: &DocumentName) {
    statement
        .push("workspace = ")
        .bind(name.workspace().as_str());
    statement.narrow("file", Some(name.file()));
}

fn one<DB: SqlDatabase>(columns: &str, table: &str, name: &DocumentName) -> Statement<DB> {
    let mut query = Statement::select(columns, table);
    narrow_to(&mut query, name);
    query
}

fn removal<DB: SqlDatabase>(table: &str, name: &DocumentName) -> Statement<DB> {
    let mut removal = Statement::delete(table);
    narrow_to(&mut removal, name);
    removal
}

/// Returns the query for a page of rows.
pub(crate) fn listing<DB: SqlDatabase>(scope: Scope<'_>, filter: &DocumentFilter) -> Statement<DB> {
    let own = scope.workspace().map(Workspace::as_str);
    let mut query = Statement::select(COLUMNS, DOCUMENTS);
    query.push("TRUE").narrow("workspace", own);
    query.narrow("status", filter.status.map(DocumentStatus::as_str));
    let after = filter.after.as_ref();
    let after = after.map(|after| (after.workspace(), after.file()));
    query.after(own, "file", after);
    query.limit(filter.limit);
    query
}

/// Returns the query for the document that has waited longest.
pub(crate) fn ready<DB: SqlDatabase>(scope: Scope<'_>, now: Timestamp) -> Statement<DB> {
    let mut query = Statement::select(COLUMNS, DOCUMENTS);
    query.push("ready <= ").bind(now);
    query.narrow("workspace", scope.workspace().map(Workspace::as_str));
    query.push(" ORDER BY ready").limit(Some(1));
    query
}

async fn save<C: SqlChange>(db: &mut C, row: &DocumentRow) -> Result<(), C::Fault> {
    let values: [(_, Value); 17] = [
        ("workspace", row.workspace().as_str().into()),
        ("file", row.name.file().into()),
        ("id", (&row.id).into()),
        ("mime", (&row.mime).into()),
        ("size", row.size.into()),
        ("source", (&row.source).into()),
        ("principal", (&row.principal).into()),
        ("status", row.status.as_str().into()),
        ("fault", (&row.fault).into()),
        ("chunks", row.chunks.into()),
        ("ready", row.ready.into()),
        ("token", (&row.token).into()),
        ("worker", (&row.worker).into()),
        ("recoveries", row.recoveries.into()),
        ("created", row.created.into()),
        ("updated", row.updated.into()),
        ("indexed", row.indexed.into()),
    ];
    let changed = [
        "mime",
        "size",
        "source",
        "principal",
        "status",
        "fault",
        "chunks",
        "ready",
        "token",
        "worker",
        "recoveries",
        "updated",
        "indexed",
    ];
    let save = Statement::insert(DOCUMENTS, values).or_update("workspace, file", &changed);
    db.write(save).await?;
    Ok(())
}

/// Returns the row of a document, and locks the row for a change.
async fn locked<C: SqlChange>(
    db: &mut C,
    name: &DocumentName,
) -> Result<Option<DocumentRow>, C::Fault> {
    let rows = db.read_locked(|| one(COLUMNS, DOCUMENTS, name)).await?;
    Ok(rows.first().map(read).transpose()?)
}

/// Returns the content of a document, and the text that was extracted from it.
async fn content<R: SqlReader>(
    db: &mut R,
    name: &DocumentName,
) -> Result<(Vec<u8>, Option<String>), R::Fault> {
    let rows = db.read(|| one("file, content, text", CONTENTS, name));
    let rows = rows.await?;
    let Some(row) = rows.first() else {
        return Ok((Vec::new(), None));
    };
    let columns = Columns::new(row, CONTENTS, "file");
    let content: &[u8] = columns.get("content")?;
    Ok((content.to_vec(), columns.maybe_text("text")?))
}

/// Implements [`KnowledgeStore::write_document`](crate::store::KnowledgeStore::write_document), after [`DocumentWrite::check`]. No other transaction creates
/// the row of the document at the same time.
pub(crate) async fn write<C: SqlChange>(
    db: &mut C,
    new: &DocumentWrite,
) -> Result<DocumentWritten, C::Fault> {
    let name = &new.name;
    let stored = match locked(db, name).await? {
        // Only an append needs the previous content, which may be long.
        Some(row) if new.mode == DocumentWriteMode::Append => {
            let (before, _) = content(db, name).await?;
            Some((row, before))
        }
        stored => stored.map(|row| (row, Vec::new())),
    };
    let ready = db.deciding(new.at);
    let (written, content) = DocumentRow::write(stored, new.clone(), ready)?;
    if let DocumentWritten::Stored { row, .. } = &written {
        save(db, row).await?;
        let values: [(_, Value); 4] = [
            ("workspace", name.workspace().as_str().into()),
            ("file", name.file().into()),
            ("content", Value::Bytes(Some(content))),
            ("text", Value::Text(None)),
        ];
        let save = Statement::insert(CONTENTS, values);
        db.write(save.or_update("workspace, file", &["content", "text"]))
            .await?;
    }
    Ok(written)
}

/// Implements [`KnowledgeStore::document`](crate::store::KnowledgeStore::document).
pub(crate) async fn document<R: SqlReader>(
    db: &mut R,
    name: &DocumentName,
) -> Result<Option<Document>, R::Fault> {
    // One statement, so that the content belongs to the row.
    let rows = db.read(|| {
        let (schema, columns) = (<R::Database as SqlDatabase>::SCHEMA, COLUMNS);
        let mut query = Statement::part(format!(
            "SELECT {columns}, content, text FROM {schema}{DOCUMENTS} JOIN {schema}{CONTENTS} USING (workspace, file) WHERE "
        ));
        narrow_to(&mut query, name);
        query
    });
    let rows = rows.await?;
    let Some(row) = rows.first() else {
        return Ok(None);
    };
    let columns = Columns::new(row, CONTENTS, "file");
    let content: &[u8] = columns.get("content")?;
    Ok(Some(Document {
        row: read(row)?,
        content: content.to_vec(),
        text: columns.maybe_text("text")?,
    }))
}

/// Implements [`KnowledgeStore::list_documents`](crate::store::KnowledgeStore::list_documents).
pub(crate) async fn list<R: SqlReader>(
    db: &mut R,
    scope: Scope<'_>,
    filter: &DocumentFilter,
) -> Result<Vec<DocumentRow>, R::Fault> {
    let rows = db.read(|| listing(scope, filter)).await?;
    Ok(rows.iter().map(read).collect::<Result<_, _>>()?)
}

/// Implements [`KnowledgeStore::remove_document`](crate::store::KnowledgeStore::remove_document).
pub(crate) async fn remove<C: SqlChange>(
    db: &mut C,
    name: &DocumentName,
) -> Result<bool, C::Fault> {
    Ok(db.write(removal(DOCUMENTS, name)).await? > 0)
}

/// Implements [`KnowledgeStore::claim_document`](crate::store::KnowledgeStore::claim_document).
pub(crate) async fn claim<C: SqlChange>(
    db: &mut C,
    scope: Scope<'_>,
    claim: &IndexClaim,
) -> Result<Option<Document>, C::Fault> {
    let claim = IndexClaim {
        at: db.deciding(claim.at),
        ..claim.clone()
    };
    loop {
        let rows = db.read(|| {
            let mut query = ready(scope, claim.at);
            query.push(<C::Database as SqlDatabase>::CLAIM);
            query
        });
        let Some(mut row) = rows.await?.first().map(read).transpose()? else {
            return Ok(None);
        };
        let claimed = row.claim(&claim, IndexClaim::token());
        save(db, &row).await?;
        if claimed {
            let (content, text) = content(db, &row.name).await?;
            return Ok(Some(Document { row, content, text }));
        }
        db.write(removal(CHUNKS, &row.name)).await?;
    }
}

/// Implements [`KnowledgeStore::extend_index`](crate::store::KnowledgeStore::extend_index).
pub(crate) async fn extend<C: SqlChange>(
    db: &mut C,
    name: &DocumentName,
    token: &str,
    lease: Duration,
    at: Timestamp,
) -> Result<bool, C::Fault> {
    let now = db.deciding(at);
    let Some(mut row) = locked(db, name).await? else {
        return Ok(false);
    };
    if !row.extend(token, lease, now) {
        return Ok(false);
    }
    save(db, &row).await?;
    Ok(true)
}

/// Returns a word that identifies a workspace in the index.
fn scope_word(workspace: &Workspace) -> String {
    let mut hash = sha256(&["knowledge scope", workspace.as_str()]);
    hash.truncate(32);
    format!("w{hash}")
}

/// Implements [`KnowledgeStore::finish_index`](crate::store::KnowledgeStore::finish_index).
pub(crate) async fn finish<C: SqlChange>(
    db: &mut C,
    name: &DocumentName,
    token: &str,
    outcome: &IndexOutcome,
    at: Timestamp,
) -> Result<bool, C::Fault> {
    let now = db.deciding(at);
    let Some(mut row) = locked(db, name).await? else {
        return Ok(false);
    };
    if !row.finish(token, outcome, now, at) {
        return Ok(false);
    }
    save(db, &row).await?;
    let (text, chunks) = match outcome {
        IndexOutcome::Indexed { text, chunks } => (text, chunks.as_slice()),
        IndexOutcome::Failed(_) => (&None, [].as_slice()),
        IndexOutcome::Retry(_) => return Ok(true),
    };
    let schema = <C::Database as SqlDatabase>::SCHEMA;
    let mut update = Statement::part(format!("UPDATE {schema}{CONTENTS} SET text = "));
    update.bind(Value::free(text.as_ref())).push(" WHERE ");
    narrow_to(&mut update, name);
    db.write(update).await?;
    db.write(removal(CHUNKS, name)).await?;
    let scope = scope_word(name.workspace());
    for (chunk, seq) in chunks.iter().zip(0_u32..) {
        let mut terms = index_text(chunk);
        if terms.is_empty() {
            // PostgreSQL refuses an empty term. No query has this one.
            terms.push('-');
        }
        let values: [(_, Value); 6] = [
            ("workspace", name.workspace().as_str().into()),
            ("file", name.file().into()),
            ("seq", seq.into()),
            ("content", Value::free(Some(chunk))),
            ("scope", (&scope).into()),
            ("terms", terms.into()),
        ];
        db.write(Statement::insert(CHUNKS, values)).await?;
    }
    Ok(true)
}

/// Returns the query for the chunks that may match a query: those that contain every term, and those that contain one of them.
pub(crate) fn candidates<DB: TextIndex>(workspace: &Workspace, terms: &[String]) -> Statement<DB> {
    let scope = scope_word(workspace);
    let amount = u32::try_from(terms.len()).unwrap_or(u32::MAX).max(1);
    let limit = (MOST_CANDIDATES / amount).max(FEWEST_CANDIDATES);
    let mut query = Statement::select("id, file, terms", CHUNKS);
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
fn texts<DB: SqlDatabase>(workspace: &Workspace, best: &[(u64, f64)]) -> Statement<DB> {
    let mut query = Statement::select("id, file, seq, content", CHUNKS);
    query.push("workspace = ").bind(workspace.as_str());
    query.narrow_to_any("id", best.iter().map(|(id, _)| *id));
    query
}

/// Returns the number of chunks of a workspace.
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
    if best.is_empty() {
        return Ok(Vec::new());
    }
    let rows = db.read(|| texts(workspace, &best)).await?;
    let mut texts = BTreeMap::new();
    for row in &rows {
        let columns = Columns::new(row, CHUNKS, "file");
        texts.insert(columns.number::<u64>("id")?, columns);
    }
    let mut hits = Vec::with_capacity(best.len());
    for (id, score) in &best {
        // A chunk that was removed since is left out.
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

/// Returns the statement that removes the name of a user from the documents of a workspace.
pub(crate) fn erasure<DB: SqlDatabase>(workspace: &Workspace, user: &str) -> Statement<DB> {
    let schema = DB::SCHEMA;
    let mut update = Statement::part(format!(
        "UPDATE {schema}{DOCUMENTS} SET principal = NULL WHERE workspace = "
    ));
    update.bind(workspace.as_str());
    update.narrow("principal", Some(user));
    update
}

/// Removes the name of a user, for the erasure of the user.
pub(crate) async fn erase_user<C: SqlChange>(
    db: &mut C,
    workspace: &Workspace,
    user: &str,
) -> Result<(), C::Fault> {
    db.write(erasure(workspace, user)).await?;
    Ok(())
}
