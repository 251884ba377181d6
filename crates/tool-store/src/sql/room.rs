//! Rows and statements of rooms.

use std::collections::BTreeMap;

use crate::store::{
    NewRoomEvent, NewRoomMessage, RoomCompaction, RoomEvent, RoomEventFilter, RoomEventState,
    RoomMessage, RoomSummary, StoreError, ThreadId, Timestamp, Workspace,
};

use super::columns::{Columns, SqlRow};
use super::statement::{SqlChange, SqlDatabase, SqlReader, Statement, Value};

const EVENTS: &str = "room_event";

const MESSAGES: &str = "room_message";

const EVENT_COLUMNS: &str =
    "workspace, conversation, seq, id, author, body, state, notes, created, updated";

const MESSAGE_COLUMNS: &str = "workspace, conversation, seq, key, author, body, is_summary, at";

fn room_of(columns: Columns<'_>) -> Result<ThreadId, StoreError> {
    let room = ThreadId::new(columns.workspace()?, columns.get::<&str>("conversation")?);
    room.map_err(|error| columns.corrupt("conversation", error))
}

fn read_event(row: &impl SqlRow) -> Result<RoomEvent, StoreError> {
    let columns = Columns::new(row, EVENTS, "conversation");
    let new = NewRoomEvent {
        room: room_of(columns)?,
        id: columns.get("id")?,
        author: columns.maybe("author")?,
        text: columns.text("body")?,
        at: columns.time("created")?,
    };
    let mut event = new.numbered(columns.number("seq")?);
    event.state = columns.word("state", RoomEventState::from_word)?;
    event.notes = columns.maybe_text("notes")?;
    event.updated = columns.time("updated")?;
    Ok(event)
}

fn read_message(row: &impl SqlRow) -> Result<RoomMessage, StoreError> {
    let columns = Columns::new(row, MESSAGES, "conversation");
    Ok(RoomMessage {
        room: room_of(columns)?,
        seq: columns.number("seq")?,
        key: columns.maybe("key")?,
        author: columns.maybe("author")?,
        text: columns.text("body")?,
        is_summary: columns.get("is_summary")?,
        at: columns.time("at")?,
    })
}

/// Narrows a statement that ends in `WHERE ` to the rows of a room.
fn narrow_to<DB: SqlDatabase>(mut statement: Statement<DB>, room: &ThreadId) -> Statement<DB> {
    statement.narrow_to_thread(room);
    statement
}

/// Returns the query for events of a room, in order.
pub(crate) fn events<DB: SqlDatabase>(room: &ThreadId, filter: &RoomEventFilter) -> Statement<DB> {
    let mut query = narrow_to(Statement::select(EVENT_COLUMNS, EVENTS), room);
    query.narrow("state", filter.state.map(RoomEventState::as_str));
    query.push(" AND seq > ").bind(filter.after);
    query.push(" ORDER BY seq").limit(filter.limit);
    query
}

/// Returns the query for the history of a room.
pub(crate) fn messages<DB: SqlDatabase>(room: &ThreadId) -> Statement<DB> {
    let mut query = narrow_to(Statement::select(MESSAGE_COLUMNS, MESSAGES), room);
    query.push(" ORDER BY seq");
    query
}

/// Returns the query for a page of the history of a room.
pub(crate) fn message_page<DB: SqlDatabase>(
    room: &ThreadId,
    after: u64,
    limit: u32,
) -> Statement<DB> {
    let mut query = narrow_to(Statement::select(MESSAGE_COLUMNS, MESSAGES), room);
    query.push(" AND seq > ").bind(after);
    query.push(" ORDER BY seq").limit(Some(limit));
    query
}

/// Returns the query for a page of the rooms of a workspace that have rows in a table.
pub(crate) fn names<DB: SqlDatabase>(
    table: &'static str,
    workspace: &Workspace,
    after: Option<&str>,
    limit: u32,
) -> Statement<DB> {
    let mut query = Statement::select("DISTINCT conversation", table);
    query.push("workspace = ").bind(workspace.as_str());
    if let Some(after) = after {
        query.push(" AND conversation > ").bind(after);
    }
    query.push(" ORDER BY conversation").limit(Some(limit));
    query
}

/// Returns the query for the numbers of rows of these rooms. `rooms` must not be empty.
fn counts<'a, DB: SqlDatabase>(
    (columns, table, groups): (&str, &'static str, &str),
    workspace: &Workspace,
    rooms: impl IntoIterator<Item = &'a String>,
) -> Statement<DB> {
    let mut query = Statement::select(columns, table);
    query.push("workspace = ").bind(workspace.as_str());
    query.narrow_to_any("conversation", rooms);
    query.push(format_args!(" GROUP BY {groups}"));
    query
}

/// Returns the query for the largest sequence number of a room in a table.
pub(crate) fn last<DB: SqlDatabase>(table: &'static str, room: &ThreadId) -> Statement<DB> {
    let mut query = narrow_to(Statement::select("seq, conversation", table), room);
    query.push(" ORDER BY seq DESC").limit(Some(1));
    query
}

/// Returns the ids that an event may have. No event has an id with a NUL character, and PostgreSQL refuses such a character in a text.
fn possible(ids: &[String]) -> Vec<String> {
    let ids = ids.iter().filter(|id| !id.contains('\0'));
    ids.cloned().collect()
}

/// Returns the statement that changes events from the state `from` to the state `to`. Events in a different state are unchanged. `ids` must not be
/// empty.
fn transition<DB: SqlDatabase>(
    room: &ThreadId,
    (from, to): (RoomEventState, RoomEventState),
    notes: Option<&str>,
    ids: &[String],
    at: Timestamp,
) -> Statement<DB> {
    let schema = DB::SCHEMA;
    let mut update = Statement::part(format!("UPDATE {schema}{EVENTS} SET state = "));
    update.bind(to.as_str()).push(", updated = ").bind(at);
    if let Some(notes) = notes {
        update.push(", notes = ");
        update.bind(Value::FreeText(Some(notes.to_owned())));
    }
    update.push(" WHERE ");
    let mut update = narrow_to(update, room);
    update.narrow("state", Some(from.as_str()));
    update.narrow_to_any("id", ids);
    update
}

async fn next<C: SqlChange>(
    db: &mut C,
    table: &'static str,
    room: &ThreadId,
) -> Result<u64, C::Fault> {
    let rows = db.read(|| last(table, room)).await?;
    let last = match rows.first() {
        Some(row) => Columns::new(row, table, "conversation").number::<u64>("seq")?,
        None => 0,
    };
    Ok(last + 1)
}

/// Implements [`RoomStore::add_room_event`](crate::store::RoomStore::add_room_event), after [`NewRoomEvent::check`]. No other transaction writes
/// events of the room at the same time.
pub(crate) async fn add_event<C: SqlChange>(
    db: &mut C,
    event: &NewRoomEvent,
) -> Result<bool, C::Fault> {
    let seq = next(db, EVENTS, &event.room).await?;
    let values: [(_, Value); 10] = [
        ("workspace", event.room.workspace().as_str().into()),
        ("conversation", event.room.conversation().into()),
        ("seq", seq.into()),
        ("id", (&event.id).into()),
        ("author", (&event.author).into()),
        ("body", Value::FreeText(Some(event.text.clone()))),
        ("state", RoomEventState::Pending.as_str().into()),
        ("notes", Value::Text(None)),
        ("created", event.at.into()),
        ("updated", event.at.into()),
    ];
    let mut insert = Statement::insert(EVENTS, values);
    insert.push(" ON CONFLICT (workspace, conversation, id) DO NOTHING");
    Ok(db.write(insert).await? > 0)
}

/// Implements [`RoomStore::take_room_events`](crate::store::RoomStore::take_room_events). No other transaction takes events of the room at the same
/// time.
pub(crate) async fn take_events<C: SqlChange>(
    db: &mut C,
    room: &ThreadId,
    limit: u32,
    at: Timestamp,
) -> Result<Vec<RoomEvent>, C::Fault> {
    let (from, to) = (RoomEventState::Pending, RoomEventState::Processing);
    let filter = RoomEventFilter {
        state: Some(from),
        after: 0,
        limit: Some(limit),
    };
    let rows = db.read(|| events(room, &filter)).await?;
    let mut taken: Vec<RoomEvent> = rows.iter().map(read_event).collect::<Result<_, _>>()?;
    if taken.is_empty() {
        return Ok(taken);
    }
    let ids: Vec<String> = taken.iter().map(|event| event.id.clone()).collect();
    db.write(transition(room, (from, to), None, &ids, at))
        .await?;
    for event in &mut taken {
        (event.state, event.updated) = (to, at);
    }
    Ok(taken)
}

/// Implements [`RoomStore::complete_room_events`](crate::store::RoomStore::complete_room_events).
pub(crate) async fn complete_events<C: SqlChange>(
    db: &mut C,
    room: &ThreadId,
    ids: &[String],
    notes: Option<&str>,
    at: Timestamp,
) -> Result<u64, C::Fault> {
    let ids = possible(ids);
    if ids.is_empty() {
        return Ok(0);
    }
    let step = (RoomEventState::Processing, RoomEventState::Completed);
    db.write(transition(room, step, notes, &ids, at)).await
}

/// Implements [`RoomStore::return_room_events`](crate::store::RoomStore::return_room_events).
pub(crate) async fn return_events<C: SqlChange>(
    db: &mut C,
    room: &ThreadId,
    ids: &[String],
    at: Timestamp,
) -> Result<u64, C::Fault> {
    let ids = possible(ids);
    if ids.is_empty() {
        return Ok(0);
    }
    let step = (RoomEventState::Processing, RoomEventState::Pending);
    db.write(transition(room, step, None, &ids, at)).await
}

/// Implements [`RoomStore::room_events`](crate::store::RoomStore::room_events).
pub(crate) async fn list_events<R: SqlReader>(
    db: &mut R,
    room: &ThreadId,
    filter: &RoomEventFilter,
) -> Result<Vec<RoomEvent>, R::Fault> {
    let rows = db.read(|| events(room, filter)).await?;
    Ok(rows.iter().map(read_event).collect::<Result<_, _>>()?)
}

/// Implements [`RoomStore::add_room_message`](crate::store::RoomStore::add_room_message), after [`NewRoomMessage::check`]. No other transaction
/// writes messages of the room at the same time.
pub(crate) async fn add_message<C: SqlChange>(
    db: &mut C,
    message: &NewRoomMessage,
) -> Result<u64, C::Fault> {
    let known = db.read(|| {
        let query = Statement::select("seq, conversation", MESSAGES);
        let mut query = narrow_to(query, &message.room);
        query.narrow("key", Some(&message.key));
        query
    });
    if let Some(row) = known.await?.first() {
        return Ok(Columns::new(row, MESSAGES, "conversation").number("seq")?);
    }
    let seq = next(db, MESSAGES, &message.room).await?;
    let message = message.clone().numbered(seq);
    db.write(insertion(&message)).await?;
    Ok(seq)
}

fn insertion<DB: SqlDatabase>(message: &RoomMessage) -> Statement<DB> {
    let values: [(_, Value); 8] = [
        ("workspace", message.room.workspace().as_str().into()),
        ("conversation", message.room.conversation().into()),
        ("seq", message.seq.into()),
        ("key", (&message.key).into()),
        ("author", (&message.author).into()),
        ("body", Value::FreeText(Some(message.text.clone()))),
        ("is_summary", message.is_summary.into()),
        ("at", message.at.into()),
    ];
    Statement::insert(MESSAGES, values)
}

/// Implements [`RoomStore::room_messages`](crate::store::RoomStore::room_messages).
pub(crate) async fn list_messages<R: SqlReader>(
    db: &mut R,
    room: &ThreadId,
) -> Result<Vec<RoomMessage>, R::Fault> {
    let rows = db.read(|| messages(room)).await?;
    Ok(rows.iter().map(read_message).collect::<Result<_, _>>()?)
}

/// Implements [`RoomStore::room_message_page`](crate::store::RoomStore::room_message_page).
pub(crate) async fn list_message_page<R: SqlReader>(
    db: &mut R,
    room: &ThreadId,
    after: u64,
    limit: u32,
) -> Result<Vec<RoomMessage>, R::Fault> {
    let rows = db.read(|| message_page(room, after, limit)).await?;
    Ok(rows.iter().map(read_message).collect::<Result<_, _>>()?)
}

/// Implements [`RoomStore::rooms`](crate::store::RoomStore::rooms). A room that is removed at the same time may be missing.
pub(crate) async fn list_rooms<R: SqlReader>(
    db: &mut R,
    workspace: &Workspace,
    after: Option<&str>,
    limit: u32,
) -> Result<Vec<RoomSummary>, R::Fault> {
    // The first `limit` rooms are among the first `limit` rooms of the two tables, so each query stops after `limit` rooms.
    let mut rooms: BTreeMap<String, Option<RoomSummary>> = BTreeMap::new();
    for table in [EVENTS, MESSAGES] {
        let rows = db.read(|| names(table, workspace, after, limit)).await?;
        for row in &rows {
            let name = Columns::new(row, table, "conversation").get("conversation")?;
            rooms.insert(name, None);
        }
    }
    while rooms.len() > usize::try_from(limit).unwrap_or(usize::MAX) {
        rooms.pop_last();
    }
    if rooms.is_empty() {
        return Ok(Vec::new());
    }
    let events = (
        "workspace, conversation, state, count(*) AS amount, max(updated) AS last",
        EVENTS,
        "workspace, conversation, state",
    );
    let messages = (
        "workspace, conversation, count(*) AS amount, max(at) AS last",
        MESSAGES,
        "workspace, conversation",
    );
    for query in [events, messages] {
        let rows = db.read(|| counts(query, workspace, rooms.keys())).await?;
        for row in &rows {
            let columns = Columns::new(row, query.1, "conversation");
            let room = room_of(columns)?;
            let Some(summary) = rooms.get_mut(room.conversation()) else {
                continue;
            };
            let summary = summary.get_or_insert_with(|| RoomSummary::new(room));
            let (amount, last) = (columns.number("amount")?, columns.time("last")?);
            if query.1 == EVENTS {
                let state = columns.word("state", RoomEventState::from_word)?;
                summary.add_events(state, amount, last);
            } else {
                summary.add_messages(amount, last);
            }
        }
    }
    Ok(rooms.into_values().flatten().collect())
}

/// Implements [`RoomStore::compact_room`](crate::store::RoomStore::compact_room). No other transaction writes messages of the room at the same time.
pub(crate) async fn compact<C: SqlChange>(
    db: &mut C,
    compaction: &RoomCompaction,
) -> Result<(), C::Fault> {
    let mut removal = narrow_to(Statement::delete(MESSAGES), &compaction.room);
    removal.push(" AND seq <= ").bind(compaction.through);
    let removed = db.write(removal).await?;
    // An error rolls the removal back.
    compaction.check(removed)?;
    db.write(insertion(&compaction.clone().into_message()))
        .await?;
    Ok(())
}

/// Removes the events and messages of a room. Returns whether there were any.
pub(crate) async fn remove<C: SqlChange>(db: &mut C, room: &ThreadId) -> Result<bool, C::Fault> {
    let mut removed = 0;
    for table in [EVENTS, MESSAGES] {
        removed += db.write(narrow_to(Statement::delete(table), room)).await?;
    }
    Ok(removed > 0)
}

/// Removes the events and messages of a user, for the erasure of the user.
pub(crate) async fn erase_user<C: SqlChange>(
    db: &mut C,
    workspace: &Workspace,
    user: &str,
) -> Result<(), C::Fault> {
    for table in [EVENTS, MESSAGES] {
        let mut removal = Statement::delete(table);
        removal.push("workspace = ").bind(workspace.as_str());
        removal.narrow("author", Some(user));
        db.write(removal).await?;
    }
    Ok(())
}
