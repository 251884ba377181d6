//! Rows and statements of the queue of threads.

use std::time::Duration;

use crate::store::{
    ClaimedWork, NewMessage, NewWork, RunCause, RunState, SUSPECT, Scope, StoreError, ThreadId,
    Timestamp, WorkAgent, WorkCause, WorkClaim, WorkFilter, WorkOutcome, WorkRow, WorkState,
    Workspace,
};

use super::columns::{Columns, SqlRow};
use super::contents::Sealer;
use super::statement::{SqlChange, SqlDatabase, SqlReader, Statement, Value};

const TABLE: &str = "work";

const COLUMNS: &str = "workspace, conversation, agent, definition, principal, facts, state, cause, ready, again, token, worker, recoveries, attempts, \
     created, updated";

fn read(row: &impl SqlRow) -> Result<WorkRow, StoreError> {
    let columns = Columns::new(row, TABLE, "conversation");
    let workspace = columns.workspace()?;
    let thread = ThreadId::new(&workspace, columns.get::<&str>("conversation")?);
    let thread = thread.map_err(|error| columns.corrupt("conversation", error))?;
    let cause = match columns.maybe::<&str>("cause")? {
        None => None,
        Some(_) => Some(columns.word("cause", WorkCause::from_word)?),
    };
    let new = NewWork {
        thread,
        agent: WorkAgent {
            agent: columns.get("agent")?,
            definition: columns.get("definition")?,
        },
        principal: columns.maybe("principal")?,
        facts: columns.maybe_text("facts")?,
        delay: Duration::ZERO,
        at: columns.time("created")?,
    };
    Ok(WorkRow {
        state: columns.word("state", WorkState::from_word)?,
        cause,
        ready: columns.maybe_time("ready")?,
        again: columns.maybe_time("again")?,
        token: columns.maybe("token")?,
        worker: columns.maybe("worker")?,
        recoveries: columns.number("recoveries")?,
        attempts: columns.number("attempts")?,
        updated: columns.time("updated")?,
        ..WorkRow::queue(None, new)
    })
}

/// Returns the query for the row of a thread.
fn one<DB: SqlDatabase>(thread: &ThreadId) -> Statement<DB> {
    let mut query = Statement::select(COLUMNS, TABLE);
    query.narrow_to_thread(thread);
    query
}

/// Returns the query for the rows of an agent that a worker may claim: only the rows that become suspects, or only the other rows.
pub(crate) fn ready<DB: SqlDatabase>(
    columns: &str,
    agent: &WorkAgent,
    now: Timestamp,
    suspects: bool,
    limit: u32,
) -> Statement<DB> {
    let mut query = Statement::select(columns, TABLE);
    query.push("agent = ").bind(&agent.agent);
    query.narrow("definition", Some(&agent.definition));
    query.push(" AND ready <= ").bind(now);
    let is = if suspects { ">=" } else { "<" };
    let claimed = WorkState::Claimed;
    query.push(format_args!(
        " AND recoveries + CASE state WHEN '{claimed}' THEN 1 ELSE 0 END {is} {SUSPECT}"
    ));
    query.push(" ORDER BY ready").limit(Some(limit));
    query
}

/// Returns the query for a page of rows.
pub(crate) fn listing<DB: SqlDatabase>(scope: Scope<'_>, filter: &WorkFilter) -> Statement<DB> {
    let own = scope.workspace().map(Workspace::as_str);
    let mut query = Statement::select(COLUMNS, TABLE);
    query.push("TRUE").narrow("workspace", own);
    query.narrow("agent", filter.agent.as_ref());
    query.narrow("state", filter.state.map(WorkState::as_str));
    let after = filter.after.as_ref();
    let after = after.map(|after| (after.workspace(), after.conversation()));
    query.after(own, "conversation", after);
    query.limit(filter.limit);
    query
}

/// Returns the statement that removes the row of a thread.
pub(crate) fn removal<DB: SqlDatabase>(thread: &ThreadId) -> Statement<DB> {
    let mut removal = Statement::delete(TABLE);
    removal.narrow_to_thread(thread);
    removal
}

/// Returns the statement that ends the run of a thread whose processes died too often. A run whose lease ends later than `lease / 3` after `now` has
/// a driver, and does not end.
///
/// The leases of the claim and of the run do not end at the same time, because they are extended separately, each after a third of its length.
pub(crate) fn end_of_run<DB: SqlDatabase>(
    thread: &ThreadId,
    now: Timestamp,
    lease: Duration,
) -> Statement<DB> {
    let held = now.plus(lease / 3);
    let (schema, lease) = (DB::SCHEMA, DB::RUN_LEASE);
    let mut update = Statement::part(format!("UPDATE {schema}run SET state = "));
    update.bind(RunState::Ended.as_str());
    update
        .push(", cause = ")
        .bind(RunCause::CrashLimit.as_str());
    update
        .push(", ended = ")
        .bind(now)
        .push(" WHERE workspace = ");
    update.bind(thread.workspace().as_str());
    update.narrow("conversation", Some(thread.conversation()));
    // The word is a literal in the statement, because the index contains only the rows of running runs.
    update.push(format_args!(" AND state = '{}'", RunState::Running));
    update.push(format_args!(" AND {lease} <= ")).bind(held);
    update
}

fn insertion<DB: SqlDatabase>(row: &WorkRow) -> Statement<DB> {
    let values: [(_, Value); 16] = [
        ("workspace", row.workspace().as_str().into()),
        ("conversation", row.thread.conversation().into()),
        ("agent", (&row.agent.agent).into()),
        ("definition", (&row.agent.definition).into()),
        ("principal", (&row.principal).into()),
        ("facts", Value::free(row.facts.as_ref())),
        ("state", row.state.as_str().into()),
        (
            "cause",
            Value::Text(row.cause.map(|cause| cause.as_str().to_owned())),
        ),
        ("ready", row.ready.into()),
        ("again", row.again.into()),
        ("token", (&row.token).into()),
        ("worker", (&row.worker).into()),
        ("recoveries", row.recoveries.into()),
        ("attempts", row.attempts.into()),
        ("created", row.created.into()),
        ("updated", row.updated.into()),
    ];
    Statement::insert(TABLE, values)
}

/// Inserts a row, or writes the columns that a step changes.
async fn save<C: SqlChange>(db: &mut C, row: &WorkRow) -> Result<(), C::Fault> {
    let changed = [
        "agent",
        "definition",
        "principal",
        "facts",
        "state",
        "cause",
        "ready",
        "again",
        "token",
        "worker",
        "recoveries",
        "attempts",
        "updated",
    ];
    let save = insertion(row).or_update("workspace, conversation", &changed);
    db.write(save).await?;
    Ok(())
}

/// Returns the row of a thread, and locks the row for a change.
async fn locked<C: SqlChange>(db: &mut C, thread: &ThreadId) -> Result<Option<WorkRow>, C::Fault> {
    let rows = db.read_locked(|| one(thread)).await?;
    Ok(rows.first().map(read).transpose()?)
}

/// Applies a step to the row of a thread. Returns the row after the step; `None` if the row does not exist or the step returns false.
async fn change<C: SqlChange>(
    db: &mut C,
    thread: &ThreadId,
    step: impl FnOnce(&mut WorkRow) -> bool + Send,
) -> Result<Option<WorkRow>, C::Fault> {
    let Some(mut row) = locked(db, thread).await? else {
        return Ok(None);
    };
    if !step(&mut row) {
        return Ok(None);
    }
    save(db, &row).await?;
    Ok(Some(row))
}

/// Implements [`WorkStore::work`](crate::store::WorkStore::work).
pub(crate) async fn work<R: SqlReader>(
    db: &mut R,
    thread: &ThreadId,
) -> Result<Option<WorkRow>, R::Fault> {
    let rows = db.read(|| one(thread)).await?;
    Ok(rows.first().map(read).transpose()?)
}

/// Implements [`WorkStore::list_work`](crate::store::WorkStore::list_work).
pub(crate) async fn list<R: SqlReader>(
    db: &mut R,
    scope: Scope<'_>,
    filter: &WorkFilter,
) -> Result<Vec<WorkRow>, R::Fault> {
    let rows = db.read(|| listing(scope, filter)).await?;
    Ok(rows.iter().map(read).collect::<Result<_, _>>()?)
}

/// Implements [`WorkStore::queue_work`](crate::store::WorkStore::queue_work), after [`NewWork::check`]. No other transaction queues the same thread
/// at the same time.
pub(crate) async fn queue<C: SqlChange>(
    db: &mut C,
    work: &NewWork,
    message: Option<&NewMessage>,
    sealer: &Sealer,
) -> Result<(WorkRow, Option<u64>), C::Fault> {
    let work = NewWork {
        at: db.deciding(work.at),
        ..work.clone()
    };
    let stored = locked(db, &work.thread).await?;
    let row = WorkRow::queue(stored, work);
    save(db, &row).await?;
    let seq = match message {
        Some(message) => Some(db.append_message(message, sealer).await?),
        None => None,
    };
    Ok((row, seq))
}

/// Implements [`WorkStore::wake_work`](crate::store::WorkStore::wake_work).
pub(crate) async fn wake<C: SqlChange>(
    db: &mut C,
    thread: &ThreadId,
    delay: Duration,
    at: Timestamp,
) -> Result<Option<WorkRow>, C::Fault> {
    let at = db.deciding(at);
    let woken = change(db, thread, |row| {
        row.wake(at.plus(delay), at);
        true
    });
    woken.await
}

/// Implements [`WorkStore::claim_work`](crate::store::WorkStore::claim_work).
pub(crate) async fn claim<C: SqlChange>(
    db: &mut C,
    claim: &WorkClaim,
) -> Result<ClaimedWork, C::Fault> {
    let claim = WorkClaim {
        at: db.deciding(claim.at),
        ..claim.clone()
    };
    let mut done = ClaimedWork::default();
    let (mut left, mut suspects) = (claim.limit, claim.suspects);
    let agents = claim.agents.iter();
    for (agent, is_suspect) in agents.flat_map(|agent| [(agent, false), (agent, true)]) {
        let limit = if is_suspect { left.min(suspects) } else { left };
        if limit == 0 {
            continue;
        }
        let rows = db.read(|| {
            let mut query = ready(COLUMNS, agent, claim.at, is_suspect, limit);
            query.push(<C::Database as SqlDatabase>::CLAIM);
            query
        });
        let rows: Vec<WorkRow> = rows.await?.iter().map(read).collect::<Result<_, _>>()?;
        for row in rows {
            left = left.saturating_sub(1);
            suspects = suspects.saturating_sub(u32::from(is_suspect));
            claim_row(db, &claim, row, &mut done).await?;
        }
    }
    Ok(done)
}

/// Implements [`WorkStore::claim_thread`](crate::store::WorkStore::claim_thread).
pub(crate) async fn claim_thread<C: SqlChange>(
    db: &mut C,
    thread: &ThreadId,
    claim: &WorkClaim,
) -> Result<ClaimedWork, C::Fault> {
    let claim = WorkClaim {
        at: db.deciding(claim.at),
        ..claim.clone()
    };
    let mut done = ClaimedWork::default();
    let row = locked(db, thread).await?;
    if let Some(row) = row.filter(|row| row.is_claimable(&claim)) {
        claim_row(db, &claim, row, &mut done).await?;
    }
    Ok(done)
}

/// Claims a row that is ready and locked, or ends its work.
async fn claim_row<C: SqlChange>(
    db: &mut C,
    claim: &WorkClaim,
    mut row: WorkRow,
    done: &mut ClaimedWork,
) -> Result<(), C::Fault> {
    let claimed = row.claim(claim, WorkClaim::token());
    save(db, &row).await?;
    if claimed {
        done.claimed.push(row);
    } else {
        db.write(end_of_run(&row.thread, claim.at, claim.lease))
            .await?;
        done.ended.push(row);
    }
    Ok(())
}

/// Implements [`WorkStore::extend_work`](crate::store::WorkStore::extend_work).
pub(crate) async fn extend<C: SqlChange>(
    db: &mut C,
    thread: &ThreadId,
    token: &str,
    lease: Duration,
    at: Timestamp,
) -> Result<Option<WorkRow>, C::Fault> {
    let at = db.deciding(at);
    change(db, thread, |row| row.extend(token, lease, at)).await
}

/// Implements [`WorkStore::release_work`](crate::store::WorkStore::release_work).
pub(crate) async fn release<C: SqlChange>(
    db: &mut C,
    thread: &ThreadId,
    token: &str,
    outcome: WorkOutcome,
    at: Timestamp,
) -> Result<Option<WorkRow>, C::Fault> {
    let at = db.deciding(at);
    change(db, thread, |row| row.release(token, outcome, at)).await
}

/// Removes the rows of a user, for the erasure of the user.
pub(crate) async fn erase_user<C: SqlChange>(
    db: &mut C,
    workspace: &Workspace,
    user: &str,
) -> Result<(), C::Fault> {
    let mut removal = Statement::delete(TABLE);
    removal.push("workspace = ").bind(workspace.as_str());
    removal.narrow("principal", Some(user));
    db.write(removal).await?;
    Ok(())
}

/// Removes the row of a thread. Returns whether the row existed.
pub(crate) async fn remove<C: SqlChange>(db: &mut C, thread: &ThreadId) -> Result<bool, C::Fault> {
    Ok(db.write(removal(thread)).await? > 0)
}
