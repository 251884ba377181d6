//! The check that the driver of a run still drives its thread, and the end of the runs that an erasure covers.

use crate::env;
use crate::store::{Erasure, RunCause, RunFence, RunState, Timestamp};

use super::columns::Columns;
use super::statement::{SqlChange, SqlDatabase, Statement};

/// Returns the query for the last run of a thread.
pub(crate) fn last_run<DB: SqlDatabase>(fence: &RunFence) -> Statement<DB> {
    let thread = fence.id.thread();
    let mut query = Statement::select("number, owner", "run");
    query.push("workspace = ").bind(thread.workspace().as_str());
    query.narrow("conversation", Some(thread.conversation()));
    query.push(" ORDER BY number DESC").limit(Some(1));
    query
}

/// Refuses a batch or events of a driver that no longer drives the thread. No other transaction begins a run of the thread at the same time.
pub(crate) async fn check<C: SqlChange>(db: &mut C, fence: &RunFence) -> Result<(), C::Fault> {
    let rows = db.read(|| last_run(fence)).await?;
    let last = match rows.first() {
        None => None,
        Some(row) => {
            let columns = Columns::new(row, "run", "owner");
            Some((columns.number("number")?, columns.get("owner")?))
        }
    };
    Ok(fence.check(last)?)
}

/// Narrows a query to the running runs that an erasure covers.
fn narrow_to_erased<DB: SqlDatabase>(query: &mut Statement<DB>, of: Erasure<'_>) {
    match of {
        Erasure::Thread(thread) => {
            query.narrow_to_thread(thread);
        }
        Erasure::Principal {
            workspace,
            principal,
        } => {
            query.push("workspace = ").bind(workspace.as_str());
            query.narrow("principal", Some(principal));
        }
    }
    // The word is a literal in the statement, because the index contains only the rows of running runs.
    query.push(format_args!(" AND state = '{}'", RunState::Running));
}

/// Returns the query for the threads of the running runs that an erasure covers.
pub(crate) fn erased_threads<DB: SqlDatabase>(of: Erasure<'_>) -> Statement<DB> {
    let mut query = Statement::select("conversation", "thread");
    query
        .push("workspace = ")
        .bind(of.workspace().as_str())
        .push(" AND conversation IN (");
    let schema = DB::SCHEMA;
    query.push(format_args!("SELECT conversation FROM {schema}run WHERE "));
    narrow_to_erased(&mut query, of);
    query.push(") ORDER BY conversation");
    query
}

/// Returns the statement that applies [`RunRow::erase`](crate::store::RunRow::erase) to the running runs that an erasure covers.
pub(crate) fn erasure<DB: SqlDatabase>(of: Erasure<'_>, at: Timestamp) -> Statement<DB> {
    let schema = DB::SCHEMA;
    let mut update = Statement::part(format!("UPDATE {schema}run SET state = "));
    update.bind(RunState::Ended.as_str());
    update.push(", cause = ").bind(RunCause::Cancelled.as_str());
    update.push(", ended = ").bind(at);
    update.push(", owner = ").bind(env::token());
    update.push(" WHERE ");
    narrow_to_erased(&mut update, of);
    update
}

/// Ends the running runs that an erasure covers, so that their drivers write no more messages.
pub(crate) async fn erase<C: SqlChange>(db: &mut C, of: Erasure<'_>) -> Result<(), C::Fault> {
    // A driver that writes a message has locked the row of its thread, so its message is stored before the runs end or is refused.
    db.read_locked(|| erased_threads(of)).await?;
    let at = db.deciding(Timestamp::now());
    db.write(erasure(of, at)).await?;
    Ok(())
}
