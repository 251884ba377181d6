//! Rows and statements of memories.

use crate::store::long_term::{
    CANDIDATES, Lookup, best, kept_since, labels_of, ranked, wanted_labels,
};
use crate::store::{
    Durability, Importance, MemoryCorrection, MemoryEvent, MemoryFilter, MemoryHit, MemoryQuery,
    MemoryRow, MemoryScope, MemorySource, MemoryType, NewMemory, Remembered, Scope, StoreError,
    ThreadId, Timestamp, Workspace, new_row_id,
};
use crate::text_search::{index_text, query_terms};

use super::columns::{Columns, SqlRow};
use super::statement::{SqlChange, SqlDatabase, SqlReader, Statement, Value};

mod vector;

#[cfg(test)]
pub(crate) use vector::hits;
#[cfg(feature = "sqlite")]
pub(crate) use vector::put_vector;
use vector::similar;
#[cfg(all(feature = "postgres", feature = "suite"))]
pub(crate) use vector::unembedded_listing;
pub(crate) use vector::{
    VectorChange, VectorLookup, VectorReader, embed, nearest_memories, read_vector, unembedded,
};

const TABLE: &str = "memory";

/// The table with the alias that [`COLUMNS`] uses.
const NAMED: &str = "memory m";

const COLUMNS: &str = "m.seq, m.id, m.workspace, m.agent, m.hash, m.content, m.type, m.durability, m.importance, m.source, m.principal, m.conversation, m.model, m.created, m.updated";

const TEXT: &str = "memory_text";

fn read(row: &impl SqlRow) -> Result<MemoryRow, StoreError> {
    let columns = Columns::new(row, TABLE, "id");
    let importance = Importance::of_parts(columns.number("importance")?);
    Ok(MemoryRow {
        id: columns.get("id")?,
        scope: MemoryScope::of_columns(columns.workspace()?, columns.get("agent")?),
        content: columns.text("content")?,
        hash: columns.get("hash")?,
        memory_type: columns.word("type", MemoryType::from_word)?,
        durability: columns.word("durability", Durability::from_word)?,
        importance: importance
            .ok_or_else(|| columns.corrupt("importance", "the value is larger than 1,000,000"))?,
        source: columns.word("source", MemorySource::from_word)?,
        principal: columns.maybe("principal")?,
        conversation: columns.maybe("conversation")?,
        model: columns.maybe("model")?,
        created: columns.time("created")?,
        updated: columns.time("updated")?,
    })
}

fn number(row: &impl SqlRow) -> Result<u64, StoreError> {
    Columns::new(row, TABLE, "seq").number("seq")
}

fn narrow_to_scope<DB: SqlDatabase>(statement: &mut Statement<DB>, scope: &MemoryScope) {
    statement.push("m.workspace = ");
    statement.bind(scope.workspace().as_str());
    statement.narrow("m.agent", Some(scope.column()));
}

/// Returns the query for the row of an id.
pub(crate) fn one<DB: SqlDatabase>(workspace: &Workspace, id: &str) -> Statement<DB> {
    let mut query = Statement::select(COLUMNS, NAMED);
    query.push("m.workspace = ").bind(workspace.as_str());
    query.narrow("m.id", Some(id));
    query
}

/// Returns the query for the memory of a scope whose content has this hash.
pub(crate) fn of_hash<DB: SqlDatabase>(scope: &MemoryScope, hash: &str) -> Statement<DB> {
    let mut query = Statement::select(COLUMNS, NAMED);
    narrow_to_scope(&mut query, scope);
    query.narrow("m.hash", Some(hash));
    query
}

/// Returns the query for a page of rows.
pub(crate) fn listing<DB: SqlDatabase>(scope: Scope<'_>, filter: &MemoryFilter) -> Statement<DB> {
    let own = scope.workspace().map(Workspace::as_str);
    let mut query = Statement::select(COLUMNS, NAMED);
    query.push("TRUE").narrow("workspace", own);
    if let Some(owner) = &filter.scope {
        query.push(" AND ");
        narrow_to_scope(&mut query, owner);
    }
    query.narrow("principal", filter.principal.as_deref());
    if let Some(text) = &filter.text {
        query.push(format_args!(" AND {}(content, ", DB::POSITION));
        query.bind(Value::free(Some(text))).push(") > 0");
    }
    let after = filter.after.as_ref();
    let after = after.map(|(workspace, id)| (workspace, id.as_str()));
    query.after(own, "id", after);
    query.limit(filter.limit);
    query
}

/// Returns the query for the numbers of the newest memories of one scope that have a label and the term of a lookup and that have not expired. A
/// query for two scopes could not read an index in the order of the numbers.
pub(crate) fn lookup<DB: SqlDatabase>(
    scope: &MemoryScope,
    lookup: &Lookup<'_>,
    query: &MemoryQuery,
) -> Statement<DB> {
    let (schema, join) = (DB::SCHEMA, DB::TEXT_JOIN);
    let mut found = Statement::part(format!(
        "SELECT m.seq FROM {schema}{TEXT} t {join} {schema}{NAMED} ON m.seq = t.rowid WHERE "
    ));
    DB::match_text(&mut found.query, lookup);
    found.push(" AND ");
    narrow_to_scope(&mut found, scope);
    narrow_to_kept(&mut found, query.now);
    found.push(format_args!(" ORDER BY {} DESC", DB::TEXT_ORDER));
    found.limit(u32::try_from(CANDIDATES).ok());
    found
}

/// Narrows a query to the memories that a reader may read and that have not expired. An index has already selected candidates, but only the columns
/// of the row are authoritative.
fn narrow_to_readable<DB: SqlDatabase>(
    query: &mut Statement<DB>,
    reader: &MemoryScope,
    now: Timestamp,
) {
    query.push("m.workspace = ");
    query.bind(reader.workspace().as_str());
    query.push(" AND m.agent IN ('', ").bind(reader.column());
    query.push(")");
    narrow_to_kept(query, now);
}

/// Narrows a query that ends in a condition to memories that have not expired.
fn narrow_to_kept<DB: SqlDatabase>(query: &mut Statement<DB>, now: Timestamp) {
    query.push(" AND (m.durability <> 'ephemeral' OR m.updated >= ");
    query.bind(kept_since(now)).push(")");
}

fn values(row: &MemoryRow) -> Vec<(&'static str, Value)> {
    vec![
        ("id", (&row.id).into()),
        ("workspace", row.scope.workspace().as_str().into()),
        ("agent", row.scope.column().into()),
        ("hash", (&row.hash).into()),
        ("content", Value::free(Some(&row.content))),
        ("type", row.memory_type.as_str().into()),
        ("durability", row.durability.as_str().into()),
        ("importance", row.importance.parts().into()),
        ("source", row.source.as_str().into()),
        ("principal", (&row.principal).into()),
        ("conversation", (&row.conversation).into()),
        ("model", (&row.model).into()),
        ("created", row.created.into()),
        ("updated", row.updated.into()),
    ]
}

/// Inserts or updates a row and its words, and returns its number.
async fn save<C: SqlChange>(db: &mut C, row: &MemoryRow) -> Result<u64, C::Fault> {
    let changed = [
        "hash",
        "content",
        "type",
        "durability",
        "importance",
        "source",
        "principal",
        "conversation",
        "model",
        "updated",
    ];
    let saved = db.read(|| {
        let mut saved = Statement::insert(TABLE, values(row)).or_update("workspace, id", &changed);
        saved.push(" RETURNING seq");
        saved
    });
    let saved = saved.await?;
    let Some(saved) = saved.first() else {
        return Err(StoreError::Corrupt("a stored memory has no number".to_owned()).into());
    };
    let number = number(saved)?;
    let mut removal = Statement::delete(TEXT);
    removal.push("rowid = ").bind(number);
    db.write(removal).await?;
    let words: [(_, Value); 3] = [
        ("rowid", number.into()),
        ("labels", labels_of(row).join(" ").into()),
        ("terms", index_text(&row.content).into()),
    ];
    db.write(Statement::insert(TEXT, words)).await?;
    Ok(number)
}

/// Returns the number and the row that a query finds, and locks the row for a change.
async fn locked<C: SqlChange>(
    db: &mut C,
    query: impl Fn() -> Statement<C::Database> + Send + Sync,
) -> Result<Option<(u64, MemoryRow)>, C::Fault> {
    let rows = db.read_locked(query).await?;
    let Some(row) = rows.first() else {
        return Ok(None);
    };
    Ok(Some((number(row)?, read(row)?)))
}

/// Returns a memory, and locks its row for a change.
pub(crate) async fn locked_memory<C: SqlChange>(
    db: &mut C,
    workspace: &Workspace,
    id: &str,
) -> Result<Option<MemoryRow>, C::Fault> {
    let found = locked(db, || one(workspace, id)).await?;
    Ok(found.map(|(_, row)| row))
}

/// Implements [`LongTermStore::remember`](crate::store::LongTermStore::remember), after [`NewMemory::check`]. No other transaction stores a memory in
/// the scope at the same time.
pub(crate) async fn remember<C: VectorChange>(
    db: &mut C,
    new: &NewMemory,
) -> Result<Remembered, C::Fault> {
    let row = new.clone().row(new_row_id()?);
    let equal = locked(db, || of_hash(&new.scope, &row.hash)).await?;
    let (event, row) = match equal {
        Some((_, mut stored)) => {
            stored.repeat(new);
            (MemoryEvent::Update, stored)
        }
        None => match similar(db, new).await? {
            Some(mut stored) => {
                stored.replace(new);
                (MemoryEvent::Update, stored)
            }
            None => (MemoryEvent::Add, row),
        },
    };
    let number = save(db, &row).await?;
    if let Some(vector) = &new.vector {
        db.put_vector(number, &row.scope, vector).await?;
    }
    Ok(Remembered { event, memory: row })
}

/// Returns the query for the memories with these numbers that a reader may read and that have not expired, with their words.
pub(crate) fn candidates<DB: SqlDatabase>(
    reader: &MemoryScope,
    now: Timestamp,
    numbers: &[u64],
) -> Statement<DB> {
    let (schema, by_number) = (DB::SCHEMA, DB::BY_NUMBER);
    let mut query = Statement::part(format!(
        "SELECT {COLUMNS}, t.terms FROM {schema}{NAMED}{by_number} JOIN {schema}{TEXT} t ON t.rowid = m.seq WHERE "
    ));
    narrow_to_readable(&mut query, reader, now);
    query.narrow_to_any("m.seq", numbers.iter().copied());
    query.push(" ORDER BY m.seq DESC");
    query
}

/// Implements [`LongTermStore::search_memories`](crate::store::LongTermStore::search_memories). `db` plans each query with the values of its
/// parameters.
pub(crate) async fn search<R: SqlReader>(
    db: &mut R,
    reader: &MemoryScope,
    query: &MemoryQuery,
) -> Result<Vec<MemoryHit>, R::Fault> {
    let terms = query_terms(&query.text);
    let mut found = vec![Vec::new(); terms.len()];
    for scope in reader.readable() {
        let labels = wanted_labels(&scope, &query.types);
        for (term, found) in terms.iter().zip(&mut found) {
            let wanted = Lookup {
                labels: &labels,
                term,
            };
            let rows = db.read(|| lookup(&scope, &wanted, query)).await?;
            let numbers = rows.iter().map(number);
            found.extend(numbers.collect::<Result<Vec<u64>, _>>()?);
        }
    }
    let best = best(&found);
    if best.is_empty() {
        return Ok(Vec::new());
    }
    let rows = db.read(|| candidates(reader, query.now, &best)).await?;
    let candidates = rows.iter().map(|row| {
        let terms = Columns::new(row, TEXT, "id").get("terms")?;
        Ok((read(row)?, terms))
    });
    let candidates = candidates.collect::<Result<Vec<_>, StoreError>>()?;
    Ok(ranked(&terms, &candidates, query))
}

/// Implements [`LongTermStore::memory`](crate::store::LongTermStore::memory).
pub(crate) async fn memory<R: SqlReader>(
    db: &mut R,
    workspace: &Workspace,
    id: &str,
) -> Result<Option<MemoryRow>, R::Fault> {
    let rows = db.read(|| one(workspace, id)).await?;
    Ok(rows.first().map(read).transpose()?)
}

/// Implements [`LongTermStore::list_memories`](crate::store::LongTermStore::list_memories).
pub(crate) async fn list<R: SqlReader>(
    db: &mut R,
    scope: Scope<'_>,
    filter: &MemoryFilter,
) -> Result<Vec<MemoryRow>, R::Fault> {
    let rows = db.read(|| listing(scope, filter)).await?;
    Ok(rows.iter().map(read).collect::<Result<_, _>>()?)
}

/// Implements [`LongTermStore::correct_memory`](crate::store::LongTermStore::correct_memory), after [`MemoryCorrection::check`].
pub(crate) async fn correct<C: SqlChange>(
    db: &mut C,
    workspace: &Workspace,
    id: &str,
    correction: &MemoryCorrection,
) -> Result<MemoryRow, C::Fault> {
    let Some((number, mut row)) = locked(db, || one(workspace, id)).await? else {
        return Err(MemoryRow::missing(id).into());
    };
    row.correct(correction);
    let equal = locked(db, || of_hash(&row.scope, &row.hash)).await?;
    if equal.is_some_and(|(other, _)| other != number) {
        return Err(row.duplicate().into());
    }
    save(db, &row).await?;
    if row.model.is_none() {
        vector::remove_vector(db, number).await?;
    }
    Ok(row)
}

/// Returns the statement that removes the memories of a workspace whose `column` contains `value`. The column is `id`, `agent`, `conversation` or
/// `principal`.
pub(crate) fn removal<DB: SqlDatabase>(
    workspace: &Workspace,
    column: &str,
    value: &str,
) -> Statement<DB> {
    let mut removal = Statement::delete(TABLE);
    removal.push("workspace = ").bind(workspace.as_str());
    removal.narrow(column, Some(value));
    removal
}

/// Returns the statement that removes the memories of a scope.
pub(crate) fn removal_of_scope<DB: SqlDatabase>(scope: &MemoryScope) -> Statement<DB> {
    removal(scope.workspace(), "agent", scope.column())
}

/// Removes the memories that were last stored in a thread, and the notes of the thread. Returns the number of memories.
pub(crate) async fn erase_thread<C: SqlChange>(
    db: &mut C,
    thread: &ThreadId,
) -> Result<u64, C::Fault> {
    super::note::remove(db, thread).await?;
    let (workspace, conversation) = (thread.workspace(), thread.conversation());
    db.write(removal(workspace, "conversation", conversation))
        .await
}

/// Removes the memories that were last stored for a user, and returns their number.
pub(crate) async fn erase_user<C: SqlChange>(
    db: &mut C,
    workspace: &Workspace,
    principal: &str,
) -> Result<u64, C::Fault> {
    db.write(removal(workspace, "principal", principal)).await
}

/// Returns the statement that removes at most `most` expired memories.
pub(crate) fn expiry<DB: SqlDatabase>(now: Timestamp, most: u32) -> Statement<DB> {
    let mut removal = Statement::delete(TABLE);
    let schema = DB::SCHEMA;
    removal.push(format_args!(
        "seq IN (SELECT seq FROM {schema}{TABLE} WHERE durability = 'ephemeral' AND updated < "
    ));
    removal.bind(kept_since(now)).limit(Some(most));
    removal.push(DB::CLAIM).push(")");
    removal
}
