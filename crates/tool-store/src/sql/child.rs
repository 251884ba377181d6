//! Rows and statements of child threads.

use crate::store::{
    CallPlace, ChildChange, ChildFilter, ChildKind, ChildMessage, ChildOpened, ChildRow,
    ChildSender, ChildState, EndedSession, NewMessage, Receipt, Role, Scope, SessionEnd,
    StoreError, ThreadId, Workspace,
};

use super::columns::{Columns, SqlRow};
use super::contents::Sealer;
use super::statement::{RowOf, SqlChange, SqlDatabase, SqlReader, Statement, Value};

const TABLE: &str = "child_thread";

const COLUMNS: &str = "workspace, conversation, parent, caller, call_message, call_position, waits, begins, kind, agent, name, depth, resumable, state, session, \
     delivered, keys, request, created, updated";

fn read(row: &impl SqlRow) -> Result<ChildRow, StoreError> {
    let columns = Columns::new(row, TABLE, "conversation");
    let workspace = columns.workspace()?;
    let thread = |column| {
        let id = ThreadId::new(&workspace, columns.get::<&str>(column)?);
        id.map_err(|error| columns.corrupt(column, error))
    };
    let call = match columns.maybe::<i64>("call_message")? {
        None => None,
        Some(_) => Some(CallPlace {
            message: columns.number("call_message")?,
            position: columns.number("call_position")?,
        }),
    };
    let kind = columns.word("kind", ChildKind::from_word)?;
    let (agent, created): (&str, _) = (columns.get("agent")?, columns.time("created")?);
    Ok(ChildRow {
        call,
        name: columns.maybe_text("name")?,
        depth: columns.number("depth")?,
        resumable: columns.get("resumable")?,
        state: columns.word("state", ChildState::from_word)?,
        session: columns.number("session")?,
        delivered: columns.number("delivered")?,
        caller: columns.get::<&str>("caller")?.to_owned(),
        waits: columns.get("waits")?,
        begins: columns.number("begins")?,
        keys: serde_json::from_str(columns.get::<&str>("keys")?)
            .map_err(|error| columns.corrupt("keys", error))?,
        request: columns.maybe("request")?,
        updated: columns.time("updated")?,
        ..ChildRow::new(
            thread("conversation")?,
            thread("parent")?,
            kind,
            agent,
            created,
        )
    })
}

fn read_all<R: SqlReader>(rows: &[RowOf<R>]) -> Result<Vec<ChildRow>, R::Fault> {
    Ok(rows.iter().map(read).collect::<Result<_, _>>()?)
}

/// Returns the query for the row of a thread.
fn one<DB: SqlDatabase>(thread: &ThreadId) -> Statement<DB> {
    let mut query = Statement::select(COLUMNS, TABLE);
    query.push("workspace = ").bind(thread.workspace().as_str());
    query.narrow("conversation", Some(thread.conversation()));
    query
}

/// Returns the query for the rows that count toward a limit on live children.
pub(crate) fn siblings<DB: SqlDatabase>(row: &ChildRow) -> Statement<DB> {
    let mut query = Statement::select(COLUMNS, TABLE);
    query.push("workspace = ").bind(row.workspace().as_str());
    query.narrow("parent", Some(row.parent.conversation()));
    // The word is a literal in the statement, because the index contains only the rows of live children.
    query.push(format_args!(" AND state <> '{}'", ChildState::Terminated));
    query.narrow("kind", Some(row.kind.as_str()));
    query.narrow("agent", Some(&row.agent));
    query.push(" ORDER BY conversation");
    query
}

/// Returns the query for a page of rows.
pub(crate) fn listing<DB: SqlDatabase>(scope: Scope<'_>, filter: &ChildFilter) -> Statement<DB> {
    let parent = filter.parent.as_ref();
    let own = scope.workspace().map(Workspace::as_str);
    let of_parent = parent.map(|parent| parent.workspace().as_str());
    let mut query = Statement::select(COLUMNS, TABLE);
    query.push("TRUE").narrow("workspace", own);
    if own != of_parent {
        query.narrow("workspace", of_parent);
    }
    query.narrow("parent", parent.map(ThreadId::conversation));
    query.narrow("kind", filter.kind.map(ChildKind::as_str));
    query.narrow("agent", filter.agent.as_ref());
    query.narrow("state", filter.state.map(ChildState::as_str));
    // PostgreSQL uses the index for a cursor only if the cursor does not compare a column that has a fixed value.
    let workspace = own.or(of_parent);
    let after = filter.after.as_ref();
    let after = after.map(|after| (after.workspace(), after.conversation()));
    query.after(workspace, "conversation", after);
    query.limit(filter.limit);
    query
}

/// Returns the query for the sequence number of the user's last message after a given message of the thread; 0 if there is none.
pub(crate) fn last_of_user<DB: SqlDatabase>(thread: &ThreadId, after: u64) -> Statement<DB> {
    let mut query = Statement::select("coalesce(max(seq), 0) AS last", "message");
    query.push("workspace = ").bind(thread.workspace().as_str());
    query.narrow("conversation", Some(thread.conversation()));
    query.push(" AND seq > ").bind(after);
    query.narrow("role", Some(Role::User.as_str()));
    query
}

/// Returns the statement that removes the rows whose `column` contains a thread. The column is `conversation` or `parent`.
pub(crate) fn removal<DB: SqlDatabase>(column: &str, thread: &ThreadId) -> Statement<DB> {
    let mut removal = Statement::delete(TABLE);
    removal.push("workspace = ");
    removal.bind(thread.workspace().as_str());
    removal.narrow(column, Some(thread.conversation()));
    removal
}

fn insertion<DB: SqlDatabase>(row: &ChildRow) -> Statement<DB> {
    let call = |number: fn(CallPlace) -> u64| match row.call {
        Some(call) => number(call).into(),
        None => Value::Number(None),
    };
    let keys = serde_json::Value::from(row.keys.clone()).to_string();
    let values: [(_, Value); 20] = [
        ("workspace", row.workspace().as_str().into()),
        ("conversation", row.thread.conversation().into()),
        ("parent", row.parent.conversation().into()),
        ("caller", (&row.caller).into()),
        ("call_message", call(|call| call.message)),
        ("call_position", call(|call| call.position.into())),
        ("waits", row.waits.into()),
        ("begins", row.begins.into()),
        ("kind", row.kind.as_str().into()),
        ("agent", (&row.agent).into()),
        ("name", Value::free(row.name.as_ref())),
        ("depth", row.depth.into()),
        ("resumable", row.resumable.into()),
        ("state", row.state.as_str().into()),
        ("session", row.session.into()),
        ("delivered", row.delivered.into()),
        ("keys", keys.into()),
        ("request", (&row.request).into()),
        ("created", row.created.into()),
        ("updated", row.updated.into()),
    ];
    Statement::insert(TABLE, values)
}

/// Writes the columns that a message, a change or the end of a session can change.
async fn update<C: SqlChange>(db: &mut C, row: &ChildRow) -> Result<(), C::Fault> {
    let changed = [
        "state",
        "session",
        "delivered",
        "keys",
        "call_message",
        "call_position",
        "waits",
        "begins",
        "request",
        "updated",
    ];
    let update = insertion(row).or_update("workspace, conversation", &changed);
    db.write(update).await?;
    Ok(())
}

/// Returns the row of a thread, and locks the row for a change.
async fn locked<C: SqlChange>(db: &mut C, thread: &ThreadId) -> Result<Option<ChildRow>, C::Fault> {
    let rows = db.read_locked(|| one(thread)).await?;
    Ok(rows.first().map(read).transpose()?)
}

/// Implements [`ChildStore::child`](crate::store::ChildStore::child).
pub(crate) async fn child<R: SqlReader>(
    db: &mut R,
    thread: &ThreadId,
) -> Result<Option<ChildRow>, R::Fault> {
    let rows = db.read(|| one(thread)).await?;
    Ok(rows.first().map(read).transpose()?)
}

/// Implements [`ChildStore::children`](crate::store::ChildStore::children).
pub(crate) async fn children<R: SqlReader>(
    db: &mut R,
    scope: Scope<'_>,
    filter: &ChildFilter,
) -> Result<Vec<ChildRow>, R::Fault> {
    let rows = db.read(|| listing(scope, filter)).await?;
    read_all::<R>(&rows)
}

/// Implements [`ChildStore::open_child`](crate::store::ChildStore::open_child), after [`ChildRow::check`]. No other transaction opens the same thread
/// or a child of the same parent at the same time.
pub(crate) async fn open<C: SqlChange>(
    db: &mut C,
    row: &ChildRow,
    most: Option<u32>,
    messages: &[NewMessage],
    sealer: &Sealer,
) -> Result<ChildOpened, C::Fault> {
    if let Some(stored) = child(db, &row.thread).await? {
        return Ok(ChildOpened::Known(Box::new(stored)));
    }
    if let Some(most) = most {
        let rows = db.read(|| siblings(row)).await?;
        let live = read_all::<C>(&rows)?;
        if live.len() >= usize::try_from(most).unwrap_or(usize::MAX) {
            return Ok(ChildOpened::Full(live));
        }
    }
    db.write(insertion(row)).await?;
    let mut row = row.clone();
    for message in messages {
        let seq = db.append_message(message, sealer).await?;
        if row.begins == 0 {
            row.begins = seq;
        }
    }
    if row.begins > 0 {
        update(db, &row).await?;
    }
    Ok(ChildOpened::New(Box::new(row)))
}

/// Implements [`ChildStore::message_child`](crate::store::ChildStore::message_child), after [`NewMessage::check`].
pub(crate) async fn message<C: SqlChange>(
    db: &mut C,
    message: &NewMessage,
    sender: &ChildSender,
    sealer: &Sealer,
) -> Result<ChildMessage, C::Fault> {
    let row = locked(db, &message.thread).await?;
    let mut row = row.ok_or_else(|| ChildRow::missing(&message.thread))?;
    let receipt = row.receive(sender, message.at);
    let seq = match receipt {
        Receipt::Begun | Receipt::Queued => Some(db.append_message(message, sealer).await?),
        Receipt::Known | Receipt::Dead => None,
    };
    if let Some(seq) = seq {
        if receipt == Receipt::Begun {
            row.begins = seq;
        }
        update(db, &row).await?;
    }
    Ok(ChildMessage { row, receipt, seq })
}

/// Implements [`ChildStore::change_child`](crate::store::ChildStore::change_child).
pub(crate) async fn change<C: SqlChange>(
    db: &mut C,
    thread: &ThreadId,
    change: &ChildChange,
) -> Result<Option<ChildRow>, C::Fault> {
    let Some(mut row) = locked(db, thread).await? else {
        return Ok(None);
    };
    if !row.change(change) {
        return Ok(None);
    }
    update(db, &row).await?;
    Ok(Some(row))
}

/// Implements [`ChildStore::end_session`](crate::store::ChildStore::end_session).
pub(crate) async fn end<C: SqlChange>(
    db: &mut C,
    thread: &ThreadId,
    end: &EndedSession,
    sealer: &Sealer,
) -> Result<SessionEnd, C::Fault> {
    let row = locked(db, thread).await?;
    let mut row = row.ok_or_else(|| ChildRow::missing(thread))?;
    row.check_end(end)?;
    let last = match end.read {
        Some(read) => last_seq(db, thread, read).await?,
        None => 0,
    };
    let mut ended = row.end(end, last);
    if let SessionEnd::Ended(seq) = &mut ended {
        if let Some(message) = &end.message {
            *seq = Some(db.append_message(message, sealer).await?);
        }
        update(db, &row).await?;
    }
    Ok(ended)
}

async fn last_seq<R: SqlReader>(
    db: &mut R,
    thread: &ThreadId,
    after: u64,
) -> Result<u64, R::Fault> {
    let rows = db.read(|| last_of_user(thread, after)).await?;
    let last = rows.first();
    let last = last.map(|row| Columns::new(row, "message", "last").number("last"));
    Ok(last.transpose()?.unwrap_or_default())
}

/// Removes the row of a thread. Returns whether the row existed.
pub(crate) async fn remove<C: SqlChange>(db: &mut C, thread: &ThreadId) -> Result<bool, C::Fault> {
    Ok(db.write(removal("conversation", thread)).await? > 0)
}

/// Removes the row of a thread and the rows of its children.
pub(crate) async fn erase<C: SqlChange>(db: &mut C, thread: &ThreadId) -> Result<(), C::Fault> {
    for column in ["conversation", "parent"] {
        db.write(removal(column, thread)).await?;
    }
    Ok(())
}
