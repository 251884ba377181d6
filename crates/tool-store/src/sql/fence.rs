//! The check that the driver of a run still drives its thread.

use crate::store::RunFence;

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

/// Refuses a batch whose driver no longer drives the thread. No other transaction begins a run of the thread at the same time.
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
