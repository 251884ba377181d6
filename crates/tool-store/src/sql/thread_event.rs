//! Rows and statements of the events of threads.

use crate::store::{NewThreadEvent, NewThreadEvents, StoreError, ThreadEvent, ThreadId};

use super::columns::{Columns, SqlRow};
use super::contents::{Reader, Sealer};
use super::fence;
use super::sealed::place;
use super::statement::{RowOf, SqlChange, SqlDatabase, SqlReader, Statement, Value};

const TABLE: &str = "thread_event";

const COLUMNS: &str =
    "workspace, conversation, seq, message, kind, version, body, transient, at, sealed";

fn read(row: &impl SqlRow, reader: &Reader) -> Result<ThreadEvent, StoreError> {
    let columns = Columns::new(row, TABLE, "conversation");
    let thread = ThreadId::new(columns.workspace()?, columns.get::<&str>("conversation")?)
        .map_err(|error| columns.corrupt("conversation", error))?;
    let seq = columns.number("seq")?;
    let place = || place::thread_event(&thread, seq);
    let body = columns.content("body", "sealed", reader, place)?;
    Ok(ThreadEvent {
        seq,
        message: columns.number("message")?,
        kind: columns.get("kind")?,
        version: columns.number("version")?,
        body,
        transient: columns.get("transient")?,
        at: columns.time("at")?,
        thread,
    })
}

/// Reads the rows of [`listing`].
pub(crate) fn read_all<R: SqlReader>(
    rows: &[RowOf<R>],
    reader: &Reader,
) -> Result<Vec<ThreadEvent>, StoreError> {
    rows.iter().map(|row| read(row, reader)).collect()
}

/// Returns the query for a page of events.
pub(crate) fn listing<DB: SqlDatabase>(thread: &ThreadId, after: u64, limit: u32) -> Statement<DB> {
    let mut query = Statement::select(COLUMNS, TABLE);
    query.narrow_to_thread(thread);
    query.push(" AND seq > ").bind(after);
    query.push(" ORDER BY seq").limit(Some(limit));
    query
}

/// Returns the statement that removes the events of a thread.
pub(crate) fn removal<DB: SqlDatabase>(thread: &ThreadId) -> Statement<DB> {
    let mut removal = Statement::delete(TABLE);
    removal.narrow_to_thread(thread);
    removal
}

/// Returns the statement that removes the transient events of a thread.
pub(crate) fn end_of_step<DB: SqlDatabase>(thread: &ThreadId) -> Statement<DB> {
    let mut removal = removal(thread);
    removal.push(" AND transient");
    removal
}

/// Returns the statement that assigns sequence numbers to `amount` events of a thread. It also locks the row of the thread, so that no message is
/// appended and no run is begun until the transaction ends.
fn numbers<DB: SqlDatabase>(thread: &ThreadId, amount: u64) -> Statement<DB> {
    let values: [(_, Value); 4] = [
        ("workspace", thread.workspace().as_str().into()),
        ("conversation", thread.conversation().into()),
        ("last", 0_u64.into()),
        ("last_event", amount.into()),
    ];
    let mut statement = Statement::insert("thread", values);
    statement.push(" ON CONFLICT (workspace, conversation) DO UPDATE SET last_event = ");
    statement.push("thread.last_event + excluded.last_event RETURNING last, last_event");
    statement
}

fn insertion<DB: SqlDatabase>(
    thread: &ThreadId,
    event: &NewThreadEvent,
    seq: u64,
    message: u64,
    sealer: &Sealer,
) -> Result<Statement<DB>, StoreError> {
    let body = sealer.seal(&event.body, || place::thread_event(thread, seq))?;
    let values: [(_, Value); 11] = [
        ("workspace", thread.workspace().as_str().into()),
        ("conversation", thread.conversation().into()),
        ("seq", seq.into()),
        ("message", message.into()),
        ("kind", (&event.kind).into()),
        ("version", event.version.into()),
        ("body", Value::free(Some(&body.text.to_owned()))),
        ("transient", event.transient.into()),
        ("at", event.at.into()),
        ("sealed", Value::Bytes(body.sealed().map(<[u8]>::to_vec))),
        ("seal_key", body.key().map(str::to_owned).into()),
    ];
    Ok(Statement::insert(TABLE, values))
}

/// Implements [`ThreadEventStore::append_events`](crate::store::ThreadEventStore::append_events), after [`NewThreadEvents::check`] and after the
/// check of the key of `sealer`.
pub(crate) async fn append<C: SqlChange>(
    db: &mut C,
    new: &NewThreadEvents,
    sealer: &Sealer,
) -> Result<u64, C::Fault> {
    let amount = u64::try_from(new.events.len()).unwrap_or(u64::MAX);
    let rows = db.read(|| numbers(&new.thread, amount)).await?;
    let (message, last) = match rows.first() {
        Some(row) => {
            let columns = Columns::new(row, "thread", "conversation");
            (columns.number("last")?, columns.number("last_event")?)
        }
        None => (0, amount),
    };
    if let Some(fence) = &new.fence {
        fence::check(db, fence).await?;
    }
    if new.ends_step {
        db.write(end_of_step(&new.thread)).await?;
    }
    for (event, seq) in new.events.iter().zip((last + 1).saturating_sub(amount)..) {
        let insertion = insertion(&new.thread, event, seq, message, sealer)?;
        db.write(insertion).await?;
    }
    Ok(last)
}

/// Removes the events of a thread. Returns their number.
pub(crate) async fn erase<C: SqlChange>(db: &mut C, thread: &ThreadId) -> Result<u64, C::Fault> {
    db.write(removal(thread)).await
}
