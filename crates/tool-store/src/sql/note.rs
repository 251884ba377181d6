//! Rows and statements of the notes of threads.

use crate::store::{NewNote, NoteBlock, StoreError, ThreadId};

use super::columns::{Columns, SqlRow};
use super::statement::{SqlChange, SqlDatabase, SqlReader, Statement, Value};

const TABLE: &str = "thread_note";

fn read(row: &impl SqlRow) -> Result<NoteBlock, StoreError> {
    Columns::new(row, TABLE, "conversation").json("block")
}

/// Returns the query for the notes of a thread.
pub(crate) fn one<DB: SqlDatabase>(thread: &ThreadId) -> Statement<DB> {
    let mut query = Statement::select("conversation, block", TABLE);
    query.narrow_to_thread(thread);
    query
}

/// Implements [`LongTermStore::notes`](crate::store::LongTermStore::notes).
pub(crate) async fn notes<R: SqlReader>(
    db: &mut R,
    thread: &ThreadId,
) -> Result<NoteBlock, R::Fault> {
    let rows = db.read(|| one(thread)).await?;
    Ok(rows.first().map(read).transpose()?.unwrap_or_default())
}

/// Implements [`LongTermStore::append_note`](crate::store::LongTermStore::append_note), after [`NewNote::check`]. No other transaction appends a note
/// to the thread at the same time.
pub(crate) async fn append<C: SqlChange>(
    db: &mut C,
    note: &NewNote,
) -> Result<NoteBlock, C::Fault> {
    let thread = &note.thread;
    let mut block = notes(db, thread).await?;
    block.append(note.clone());
    let text = serde_json::to_string(&block);
    let text = text.map_err(|error| StoreError::Unavailable(error.into()))?;
    let values: [(_, Value); 3] = [
        ("workspace", thread.workspace().as_str().into()),
        ("conversation", thread.conversation().into()),
        ("block", text.into()),
    ];
    let put = Statement::insert(TABLE, values).or_update("workspace, conversation", &["block"]);
    db.write(put).await?;
    Ok(block)
}

/// Removes the notes of a thread.
pub(crate) async fn remove<C: SqlChange>(db: &mut C, thread: &ThreadId) -> Result<(), C::Fault> {
    let mut removal = Statement::delete(TABLE);
    removal.narrow_to_thread(thread);
    db.write(removal).await?;
    Ok(())
}
