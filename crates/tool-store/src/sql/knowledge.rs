//! Rows and statements of documents and their chunks.

use std::time::Duration;

use crate::store::{
    Document, DocumentFilter, DocumentName, DocumentRow, DocumentStatus, DocumentWrite,
    DocumentWriteMode, DocumentWritten, IndexClaim, Scope, StoreError, Timestamp, Workspace,
};

use super::columns::{Columns, SqlRow};
use super::statement::{SqlChange, SqlDatabase, SqlReader, Statement, Value};

mod chunks;
mod codes;
mod embedding;
mod search;

pub(crate) use chunks::finish;
#[cfg(all(feature = "postgres", feature = "suite"))]
pub(crate) use codes::blocks;
#[cfg(test)]
pub(crate) use codes::embeddings;
#[cfg(any(feature = "sqlite", all(feature = "postgres", feature = "suite")))]
pub(crate) use embedding::ready_to_embed;
pub(crate) use embedding::{claim_embedding, finish_embedding, nearest, renew_embeddings};
#[cfg(any(test, all(feature = "postgres", feature = "suite")))]
pub(crate) use search::candidates;
#[cfg(test)]
pub(crate) use search::texts;
pub(crate) use search::{TextIndex, search};

const DOCUMENTS: &str = "knowledge_document";

const CONTENTS: &str = "knowledge_content";

const CHUNKS: &str = "knowledge_chunk";

const VECTORS: &str = "knowledge_vector";

const CODES: &str = "knowledge_code";

const COLUMNS: &str = "workspace, file, id, mime, size, source, principal, status, fault, chunks, ready, token, worker, recoveries, created, updated, indexed, embed_model, embed_ready, embed_token, embed_failures, embed_fault";

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
        embedding: embedding::read(columns)?,
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
    let embedding = &row.embedding;
    let values: [(_, Value); 22] = [
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
        ("embed_model", (&embedding.model).into()),
        ("embed_ready", embedding.ready.into()),
        ("embed_token", (&embedding.token).into()),
        ("embed_failures", embedding.failures.into()),
        ("embed_fault", Value::free(embedding.fault.as_ref())),
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
        "embed_model",
        "embed_ready",
        "embed_token",
        "embed_failures",
        "embed_fault",
    ];
    let save = Statement::insert(DOCUMENTS, values).or_update("workspace, file", &changed);
    db.write(save).await?;
    Ok(())
}

/// Returns the row of a document, and locks the row for a change.
pub(crate) async fn locked<C: SqlChange>(
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

/// Implements [`KnowledgeStore::write_document`](crate::store::KnowledgeStore::write_document), after [`DocumentWrite::check`]. No other transaction
/// creates the row of the document at the same time.
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
    // One statement reads the row and the content, so that the content belongs to the row.
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
        db.write(removal(CODES, &row.name)).await?;
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
