//! Rows and statements of plans.

use serde::de::DeserializeOwned;

use crate::store::{
    Erasure, NewPlanRun, PlanChange, PlanChanged, PlanCreated, PlanEvent, PlanEventKind,
    PlanFilter, PlanRow, PlanRunId, PlanSpec, PlanState, PlanStatus, SealedPlace, StoreError,
    ThreadId, Timestamp, Workspace,
};

use super::columns::{Columns, SqlRow};
use super::contents::{Reader, Sealer};
use super::sealed::place;
use super::statement::{RowOf, SqlChange, SqlDatabase, SqlReader, Statement, Value};

const TABLE: &str = "plan_run";

const EVENTS: &str = "plan_event";

const COLUMNS: &str = "workspace, conversation, number, principal, status, replaces, replaced_by, spec, spec_sealed, state, sealed, events, created, updated";

fn read(row: &impl SqlRow, reader: &Reader) -> Result<PlanRow, StoreError> {
    let columns = Columns::new(row, TABLE, "conversation");
    let thread = ThreadId::new(columns.workspace()?, columns.get::<&str>("conversation")?)
        .map_err(|error| columns.corrupt("conversation", error))?;
    let id = PlanRunId::new(thread, columns.number("number")?);
    let spec_place = || place::plan_spec(&id);
    let spec: PlanSpec = document(columns, ("spec", "spec_sealed"), reader, spec_place)?;
    let state_place = || place::plan_state(&id);
    let state: PlanState = document(columns, ("state", "sealed"), reader, state_place)?;
    let new = NewPlanRun {
        thread: id.thread().clone(),
        principal: columns.maybe("principal")?,
        spec,
        at: columns.time("created")?,
    };
    let mut row = PlanRow::before_first_step(id.number(), new);
    row.status = columns.word("status", PlanStatus::from_word)?;
    row.replaces = columns.maybe_number("replaces")?;
    row.replaced_by = columns.maybe_number("replaced_by")?;
    row.events = columns.number("events")?;
    row.updated = columns.time("updated")?;
    let restored = row.restore(state);
    restored.map_err(|why| columns.corrupt("state", why))?;
    Ok(row)
}

/// Reads a JSON document, which may be sealed.
fn document<T: DeserializeOwned>(
    columns: Columns<'_>,
    (text, sealed): (&str, &str),
    reader: &Reader,
    place: impl FnOnce() -> SealedPlace,
) -> Result<T, StoreError> {
    let json = columns.content(text, sealed, reader, place)?;
    serde_json::from_str(&json).map_err(|error| columns.corrupt(text, error))
}

/// Reads the rows of [`one`], [`active`], [`listing`] and [`finding`].
pub(crate) fn read_all<R: SqlReader>(
    rows: &[RowOf<R>],
    reader: &Reader,
) -> Result<Vec<PlanRow>, StoreError> {
    rows.iter().map(|row| read(row, reader)).collect()
}

fn read_event(row: &impl SqlRow) -> Result<PlanEvent, StoreError> {
    let columns = Columns::new(row, EVENTS, "conversation");
    let kind = columns.word("kind", PlanEventKind::from_word)?;
    let mut event = PlanEvent::new(columns.number("seq")?, kind, columns.time("at")?);
    event.node = columns.maybe("node")?;
    event.attempt = columns.maybe_number("attempt")?;
    event.status = columns.maybe("status")?;
    Ok(event)
}

/// Returns the query for a run.
pub(crate) fn one<DB: SqlDatabase>(id: &PlanRunId) -> Statement<DB> {
    let mut query = Statement::select(COLUMNS, TABLE);
    query.narrow_to_thread(id.thread());
    query.narrow("number", Some(id.number()));
    query
}

/// Returns the query for the active run of a conversation.
pub(crate) fn active<DB: SqlDatabase>(thread: &ThreadId) -> Statement<DB> {
    let mut query = Statement::select(COLUMNS, TABLE);
    query.narrow_to_thread(thread);
    query.push(" AND active");
    query
}

/// Returns the query for a page of the runs of a conversation.
pub(crate) fn listing<DB: SqlDatabase>(
    thread: &ThreadId,
    before: Option<u64>,
    limit: u32,
) -> Statement<DB> {
    let mut query = Statement::select(COLUMNS, TABLE);
    query.narrow_to_thread(thread);
    if let Some(before) = before {
        query.push(" AND number < ").bind(before);
    }
    query.push(" ORDER BY number DESC").limit(Some(limit));
    query
}

/// Returns the query for a page of the runs of a workspace.
pub(crate) fn finding<DB: SqlDatabase>(
    workspace: &Workspace,
    filter: &PlanFilter,
) -> Statement<DB> {
    let mut query = Statement::select(COLUMNS, TABLE);
    query.push("workspace = ").bind(workspace.as_str());
    query.narrow("conversation", filter.conversation.as_deref());
    query.narrow("principal", filter.principal.as_deref());
    query.narrow("status", filter.status.map(PlanStatus::as_str));
    if let Some((conversation, number)) = &filter.after {
        query.push(" AND (conversation, number) > (");
        query.bind(conversation).push(", ").bind(*number).push(")");
    }
    query.push(" ORDER BY conversation, number");
    query.limit(filter.limit);
    query
}

/// Returns the query for a page of events.
pub(crate) fn events<DB: SqlDatabase>(id: &PlanRunId, after: u64, limit: u32) -> Statement<DB> {
    let mut query = Statement::select("conversation, seq, kind, node, attempt, status, at", EVENTS);
    query.narrow_to_thread(id.thread());
    query.narrow("run", Some(id.number()));
    query.push(" AND seq > ").bind(after);
    query.push(" ORDER BY seq").limit(Some(limit));
    query
}

/// Returns the statement that removes the runs that an erasure covers. Their events are removed with them.
pub(crate) fn removal<DB: SqlDatabase>(of: Erasure<'_>) -> Statement<DB> {
    let mut removal = Statement::delete(TABLE);
    match of {
        Erasure::Thread(thread) => {
            removal.narrow_to_thread(thread);
        }
        Erasure::Principal {
            workspace,
            principal,
        } => {
            removal.push("workspace = ").bind(workspace.as_str());
            removal.narrow("principal", Some(principal));
        }
    }
    removal
}

/// Returns the statement that locks the row of a thread, so that no other run of the conversation is created until the transaction ends, and that
/// assigns `amount` numbers of runs.
fn number<DB: SqlDatabase>(thread: &ThreadId, amount: u64) -> Statement<DB> {
    let values: [(_, Value); 4] = [
        ("workspace", thread.workspace().as_str().into()),
        ("conversation", thread.conversation().into()),
        ("last", 0_u64.into()),
        ("last_plan", amount.into()),
    ];
    let mut statement = Statement::insert("thread", values);
    statement.push(" ON CONFLICT (workspace, conversation) DO UPDATE SET last_plan = ");
    statement.push("thread.last_plan + excluded.last_plan RETURNING last_plan");
    statement
}

fn json<T: serde::Serialize>(value: &T) -> Result<String, StoreError> {
    let unwritable = |error: serde_json::Error| StoreError::Unavailable(error.into());
    serde_json::to_string(value).map_err(unwritable)
}

/// Returns the columns of a run that a change writes.
fn changed(row: &PlanRow, sealer: &Sealer) -> Result<[(&'static str, Value); 8], StoreError> {
    let state = json(&row.state())?;
    let state = sealer.seal(&state, || place::plan_state(&row.id))?;
    Ok([
        ("status", row.status.as_str().into()),
        ("active", row.status.is_active().into()),
        (
            "replaced_by",
            Value::Number(row.replaced_by.map(u64::cast_signed)),
        ),
        ("state", Value::free(Some(&state.text.to_owned()))),
        ("sealed", Value::Bytes(state.sealed().map(<[u8]>::to_vec))),
        ("seal_key", state.key().map(str::to_owned).into()),
        ("events", row.events.into()),
        ("updated", row.updated.into()),
    ])
}

async fn insert<C: SqlChange>(
    db: &mut C,
    row: &PlanRow,
    new: &[PlanEvent],
    sealer: &Sealer,
) -> Result<(), C::Fault> {
    let spec = json(&row.spec)?;
    let spec = sealer.seal(&spec, || place::plan_spec(&row.id))?;
    let thread = row.id.thread();
    let values: [(_, Value); 9] = [
        ("workspace", thread.workspace().as_str().into()),
        ("conversation", thread.conversation().into()),
        ("number", row.id.number().into()),
        ("principal", (&row.principal).into()),
        (
            "replaces",
            Value::Number(row.replaces.map(u64::cast_signed)),
        ),
        ("spec", Value::free(Some(&spec.text.to_owned()))),
        (
            "spec_sealed",
            Value::Bytes(spec.sealed().map(<[u8]>::to_vec)),
        ),
        ("spec_key", spec.key().map(str::to_owned).into()),
        ("created", row.created.into()),
    ];
    let insertion = Statement::insert(TABLE, values.into_iter().chain(changed(row, sealer)?));
    db.write(insertion).await?;
    log(db, &row.id, new).await
}

/// Writes the columns of a run that change, and new events.
async fn save<C: SqlChange>(
    db: &mut C,
    row: &PlanRow,
    new: &[PlanEvent],
    sealer: &Sealer,
) -> Result<(), C::Fault> {
    let schema = <C::Database as SqlDatabase>::SCHEMA;
    let mut update = Statement::part(format!("UPDATE {schema}{TABLE} SET "));
    for (at, (column, value)) in changed(row, sealer)?.into_iter().enumerate() {
        let comma = if at > 0 { ", " } else { "" };
        update.push(format_args!("{comma}{column} = ")).bind(value);
    }
    update.push(" WHERE ");
    update.narrow_to_thread(row.id.thread());
    update.narrow("number", Some(row.id.number()));
    db.write(update).await?;
    log(db, &row.id, new).await
}

async fn log<C: SqlChange>(db: &mut C, id: &PlanRunId, new: &[PlanEvent]) -> Result<(), C::Fault> {
    for event in new {
        let values: [(_, Value); 9] = [
            ("workspace", id.workspace().as_str().into()),
            ("conversation", id.thread().conversation().into()),
            ("run", id.number().into()),
            ("seq", event.seq.into()),
            ("kind", event.kind.as_str().into()),
            ("node", (&event.node).into()),
            ("attempt", Value::Number(event.attempt.map(i64::from))),
            ("status", (&event.status).into()),
            ("at", event.at.into()),
        ];
        db.write(Statement::insert(EVENTS, values)).await?;
    }
    Ok(())
}

/// Returns the run that a query finds, and locks its row for a change.
async fn locked<C: SqlChange>(
    db: &mut C,
    query: impl Fn() -> Statement<C::Database> + Send + Sync,
    reader: &Reader,
) -> Result<Option<PlanRow>, C::Fault> {
    let rows = db.read_locked(query).await?;
    Ok(rows.first().map(|row| read(row, reader)).transpose()?)
}

/// Assigns `amount` numbers of runs, and returns the last number. Also locks the row of the thread.
async fn next<C: SqlChange>(db: &mut C, thread: &ThreadId, amount: u64) -> Result<u64, C::Fault> {
    let rows = db.read(|| number(thread, amount)).await?;
    let row = rows
        .first()
        .map(|row| Columns::new(row, "thread", "conversation"));
    Ok(row.map_or(Ok(amount), |columns| columns.number("last_plan"))?)
}

/// Implements [`PlanStore::create_plan`](crate::store::PlanStore::create_plan), after the check of the key of `sealer`.
pub(crate) async fn create<C: SqlChange>(
    db: &mut C,
    new: &NewPlanRun,
    sealer: &Sealer,
    reader: &Reader,
) -> Result<PlanCreated, C::Fault> {
    next(db, &new.thread, 0).await?;
    if let Some(active) = locked(db, || active(&new.thread), reader).await? {
        return Ok(PlanCreated::Active(Box::new(active)));
    }
    let number = next(db, &new.thread, 1).await?;
    let (row, events) = PlanRow::create(number, new.clone());
    insert(db, &row, &events, sealer).await?;
    Ok(PlanCreated::Created(Box::new(row)))
}

/// Implements [`PlanStore::replace_plan`](crate::store::PlanStore::replace_plan), after the check of the key of `sealer`.
pub(crate) async fn replace<C: SqlChange>(
    db: &mut C,
    new: &NewPlanRun,
    reason: &str,
    sealer: &Sealer,
    reader: &Reader,
) -> Result<Option<PlanRow>, C::Fault> {
    next(db, &new.thread, 0).await?;
    let Some(mut old) = locked(db, || active(&new.thread), reader).await? else {
        return Ok(None);
    };
    let number = next(db, &new.thread, 1).await?;
    let (mut row, events) = PlanRow::create(number, new.clone());
    let ended = old.replace(&mut row, reason.to_owned());
    // The old run is saved first: the index on the active run is checked after each statement.
    save(db, &old, &ended, sealer).await?;
    insert(db, &row, &events, sealer).await?;
    Ok(Some(row))
}

/// Implements [`PlanStore::change_plan`](crate::store::PlanStore::change_plan), after the check of the key of `sealer`.
pub(crate) async fn change<C: SqlChange>(
    db: &mut C,
    id: &PlanRunId,
    change: &PlanChange,
    at: Timestamp,
    sealer: &Sealer,
    reader: &Reader,
) -> Result<PlanChanged, C::Fault> {
    let row = locked(db, || one(id), reader).await?;
    let mut row = row.ok_or_else(|| id.missing())?;
    let before = row.clone();
    match row.apply(change, at) {
        Ok(events) => {
            if row != before {
                save(db, &row, &events, sealer).await?;
            }
            Ok(PlanChanged::Changed(Box::new(row)))
        }
        Err(refusal) => Ok(PlanChanged::Refused(refusal, Box::new(row))),
    }
}

/// Implements [`PlanStore::plan_events`](crate::store::PlanStore::plan_events).
pub(crate) async fn list_events<R: SqlReader>(
    db: &mut R,
    id: &PlanRunId,
    after: u64,
    limit: u32,
) -> Result<Vec<PlanEvent>, R::Fault> {
    let rows = db.read(|| events(id, after, limit)).await?;
    Ok(rows.iter().map(read_event).collect::<Result<_, _>>()?)
}

/// Removes the runs that an erasure covers.
pub(crate) async fn erase<C: SqlChange>(db: &mut C, of: Erasure<'_>) -> Result<(), C::Fault> {
    db.write(removal(of)).await?;
    Ok(())
}
