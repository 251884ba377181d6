//! Erasure and retention in PostgreSQL.

use crate::sql::{
    budget, child, fence, knowledge, long_term, note, plan, room, schedule, thread_event, work,
};
use crate::store::{
    ApprovalRequest, Erased, Erasure, Maintenance, Purged, Retention, Scope, StoreFuture, ThreadId,
    Timestamp,
};
use sqlx::{Postgres, QueryBuilder, Row as _};

use super::change::{Change, change, fetch};
use super::{
    Fault, PostgresStore, audit, event, request, step, switch, variable, variable_request,
};

/// Returns the statement that clears the results of the effects that an erasure covers.
pub(super) fn effects(of: Erasure<'_>) -> QueryBuilder<Postgres> {
    let mut query =
        QueryBuilder::new("UPDATE tool_store.effect SET result = NULL WHERE result IS NOT NULL");
    narrow_to_erased(&mut query, of);
    query
}

/// Returns the statement that clears the contents of the approvals that an erasure covers, and that withdraws the open approvals.
pub(super) fn approvals(of: Erasure<'_>) -> QueryBuilder<Postgres> {
    let mut query = QueryBuilder::new(
        "UPDATE tool_store.approval SET status = CASE WHEN status IN ('pending', 'approved') THEN 'withdrawn' ELSE status END, \
         reason = NULL, answer_reason = NULL, arguments = ",
    );
    query.push_bind(ApprovalRequest::BLANK);
    query
        .push(", edited = CASE WHEN edited IS NOT NULL THEN ")
        .push_bind(ApprovalRequest::BLANK);
    query.push(" END, sealed = NULL, seal_key = NULL, edited_sealed = NULL, edited_key = NULL WHERE (arguments <> ");
    query.push_bind(ApprovalRequest::BLANK);
    query.push(" OR reason IS NOT NULL OR answer_reason IS NOT NULL OR status IN ('pending', 'approved') OR edited <> ");
    query.push_bind(ApprovalRequest::BLANK);
    // A program of an earlier version, without sealing, may have blanked only the columns that it knows.
    query.push(" OR sealed IS NOT NULL OR edited_sealed IS NOT NULL)");
    narrow_to_erased(&mut query, of);
    query
}

fn narrow_to_erased(query: &mut QueryBuilder<Postgres>, of: Erasure<'_>) {
    let (workspace, column, value) = match of {
        Erasure::Thread(thread) => (thread.workspace(), "thread", thread.conversation()),
        Erasure::Principal {
            workspace,
            principal,
        } => (workspace, "principal", principal),
    };
    query.push(" AND workspace = ");
    query.push_bind(workspace.as_str().to_owned());
    query.push(format_args!(" AND {column} = "));
    query.push_bind(value.to_owned());
}

/// Returns the statement that removes at most `most` rows that match `condition`, to which `time` is appended. It skips rows that a different
/// transaction has locked.
fn removal(table: &str, condition: &str, time: i64, most: u32) -> QueryBuilder<Postgres> {
    let mut query = QueryBuilder::new("DELETE FROM tool_store.");
    query.push(format_args!(
        "{table} WHERE ctid = ANY(ARRAY(SELECT r.ctid FROM tool_store.{table} r WHERE {condition} "
    ));
    query.push_bind(time);
    query.push(" LIMIT ").push_bind(i64::from(most));
    query.push(" FOR UPDATE SKIP LOCKED))");
    query
}

/// Returns the statement that removes settled effects that ended before `since` and that no message and no approval can refer to.
pub(super) fn old_effects(since: Timestamp, most: u32) -> QueryBuilder<Postgres> {
    let condition = "NOT EXISTS (SELECT FROM tool_store.message m WHERE m.workspace = r.workspace AND m.conversation = r.thread) \
         AND NOT EXISTS (SELECT FROM tool_store.approval a WHERE a.workspace = r.workspace AND a.key = r.key) \
         AND NOT EXISTS (SELECT FROM tool_store.approval a WHERE a.workspace = r.workspace AND a.key = r.earlier) \
         AND r.state IN ('succeeded', 'failed') AND r.ended <";
    removal("effect", condition, since.as_millis(), most)
}

/// Returns the statement that removes closed approvals that were requested before `since`.
pub(super) fn old_approvals(since: Timestamp, most: u32) -> QueryBuilder<Postgres> {
    let condition = "r.status NOT IN ('pending', 'approved') AND r.created <";
    removal("approval", condition, since.as_millis(), most)
}

/// Returns the statement that removes expired spilled outputs and their chunks.
pub(super) fn old_spills(now: i64, most: u32) -> QueryBuilder<Postgres> {
    removal("spill", "r.lapses <=", now, most)
}

/// Returns the statement that removes expired idempotency keys with their responses.
pub(super) fn old_requests(now: i64, most: u32) -> QueryBuilder<Postgres> {
    removal("request", "r.lapses <=", now, most)
}

/// Returns the statement that removes runs that ended before `since`.
pub(super) fn old_runs(since: Timestamp, most: u32) -> QueryBuilder<Postgres> {
    removal("run", "r.ended <", since.as_millis(), most)
}

/// Returns the statement that removes budgets that have no reservation and were last changed before `since`. A reservation locks the row of its
/// budget.
pub(super) fn old_budgets(since: Timestamp, most: u32) -> QueryBuilder<Postgres> {
    let condition = "NOT EXISTS (SELECT FROM tool_store.budget_reservation v WHERE v.workspace = r.workspace AND v.name = r.name) AND r.updated <";
    removal("budget", condition, since.as_millis(), most)
}

/// Returns the statement that removes expired shared limits. A request locks the row of its limit.
fn old_limits(now: i64, most: u32) -> QueryBuilder<Postgres> {
    removal("shared_limit", "r.ends <=", now, most)
}

/// Returns the statement that removes runs of scheduled tasks that ended before `since`.
pub(super) fn old_task_runs(since: Timestamp, most: u32) -> QueryBuilder<Postgres> {
    removal("task_run", "r.ended <", since.as_millis(), most)
}

/// The query for threads whose last message is old. `thread.last` is the number of the last message.
pub(super) const OLD_THREADS: &str = "SELECT t.workspace, t.conversation, t.last FROM tool_store.thread t \
     JOIN tool_store.message m ON m.workspace = t.workspace AND m.conversation = t.conversation AND m.seq = t.last \
     WHERE m.at < $1 LIMIT $2";

/// The statement that removes the messages of a thread, unless a message was added since the thread was found. The lock prevents further appends.
const REMOVE_THREAD: &str =
    "WITH old AS MATERIALIZED (SELECT workspace AS w, conversation AS c FROM tool_store.thread
          WHERE workspace = $1 AND conversation = $2 AND last = $3 FOR UPDATE)
     DELETE FROM tool_store.message USING old WHERE workspace = w AND conversation = c";

async fn rows(db: &mut Change<'_>, mut query: QueryBuilder<Postgres>) -> Result<u64, Fault> {
    let done = query
        .build()
        .persistent(db.is_named())
        .execute(&mut **db)
        .await?;
    Ok(done.rows_affected())
}

/// Erases contents in a transaction.
pub(super) async fn erase(db: &mut Change<'_>, of: Erasure<'_>) -> Result<Erased, Fault> {
    let mut erased = Erased {
        effects: rows(db, effects(of)).await?,
        approvals: rows(db, approvals(of)).await?,
        requests: rows(db, request::erasure(of)).await?,
        variables: match of.variables() {
            Some(owner) => rows(db, variable::removal(&owner)).await?,
            None => 0,
        },
        ..Erased::default()
    };
    plan::erase(db, of).await?;
    match of {
        Erasure::Thread(thread) => {
            rows(db, variable_request::removal(thread)).await?;
            // Every change of a child locks its row before threads. The common order prevents deadlocks.
            child::erase(db, thread).await?;
            work::remove(db, thread).await?;
            thread_event::erase(db, thread).await?;
            budget::erase(db, thread).await?;
            room::remove(db, thread).await?;
            schedule::erase(db, thread).await?;
            erased.memories = long_term::erase_thread(db, thread).await?;
            // The runs end after the effects were changed and before the messages are removed: the common order of locks is effects, audit rows,
            // threads and runs.
            fence::erase(db, of).await?;
            let messages = db
                .query("DELETE FROM tool_store.message WHERE workspace = $1 AND conversation = $2");
            let messages = messages.bind(thread.workspace().as_str());
            let messages = messages.bind(thread.conversation());
            erased.messages = messages.execute(&mut **db).await?.rows_affected();
        }
        Erasure::Principal {
            workspace,
            principal,
        } => {
            work::erase_user(db, workspace, principal).await?;
            knowledge::erase_user(db, workspace, principal).await?;
            room::erase_user(db, workspace, principal).await?;
            schedule::erase_user(db, workspace, principal).await?;
            erased.memories = long_term::erase_user(db, workspace, principal).await?;
            let audit = db.query(audit::ERASE).bind(principal);
            let audit = audit.bind(workspace.as_str()).execute(&mut **db).await?;
            erased.audit = audit.rows_affected();
            let spills =
                db.query("DELETE FROM tool_store.spill WHERE workspace = $1 AND principal = $2");
            let spills = spills.bind(workspace.as_str()).bind(principal);
            erased.spills = spills.execute(&mut **db).await?.rows_affected();
            fence::erase(db, of).await?;
        }
    }
    Ok(erased)
}

impl PostgresStore {
    async fn erase_rows(&self, of: Erasure<'_>) -> Result<Erased, Fault> {
        change!(self, Vec::new(), db => erase(db, of).await)
    }

    /// Purges in several transactions, so that calls can write in between: one for spilled outputs, idempotency keys and limits, one
    /// for threads, and one for each other table.
    async fn purge_rows(
        &self,
        retention: &Retention,
        now: Timestamp,
        most: u32,
    ) -> Result<Purged, Fault> {
        let since = |age| Retention::since(age, now);
        let expired: Result<Purged, Fault> = change!(self, Vec::new(), db => {
            let now = db.clock.now(now);
            Ok(Purged {
                spills: rows(db, old_spills(now, most)).await?,
                requests: rows(db, old_requests(now, most)).await?,
                limits: rows(db, old_limits(now, most)).await?,
                ..Purged::default()
            })
        });
        let mut purged = expired?;
        purged.events = self.remove_rows(|| event::expiry(now, most)).await?;
        let memories = || long_term::expiry(now, most).query;
        purged.memories = self.remove_rows(memories).await?;
        if let Some(since) = since(retention.threads) {
            purged.threads = self.remove_threads(since, most).await?;
        }
        if let Some(since) = since(retention.runs) {
            purged.runs = self.remove_rows(|| old_runs(since, most)).await?;
            purged.task_runs = self.remove_rows(|| old_task_runs(since, most)).await?;
        }
        if let Some(since) = since(retention.budgets) {
            purged.budgets = self.remove_rows(|| old_budgets(since, most)).await?;
        }
        if let Some(since) = since(retention.approvals) {
            purged.approvals = self.remove_rows(|| old_approvals(since, most)).await?;
        }
        // Effects are removed after messages and approvals, which may refer to them.
        if let Some(since) = since(retention.effects) {
            purged.effects = self.remove_rows(|| old_effects(since, most)).await?;
        }
        if let Some(since) = since(retention.audit) {
            purged.audit = self
                .remove_rows(|| audit::retention(Scope::All, since, most))
                .await?;
        }
        if let Some(since) = since(retention.switches) {
            let switches = || switch::retirement(Scope::All, since, most);
            purged.switches = self.remove_rows(switches).await?;
        }
        purged.more = purged.reached(most);
        Ok(purged)
    }

    /// Runs a `DELETE` in a separate transaction, and returns the number of removed rows.
    pub(super) async fn remove_rows(
        &self,
        query: impl Fn() -> QueryBuilder<Postgres> + Send + Sync,
    ) -> Result<u64, Fault> {
        change!(self, Vec::new(), db => rows(db, query()).await)
    }

    async fn remove_threads(&self, since: Timestamp, most: u32) -> Result<u64, Fault> {
        // The search reads every thread, so it runs outside of the transaction. A thread is removed only if no message was added since.
        let found = fetch!(
            self,
            fetch_all,
            sqlx::query(OLD_THREADS)
                .bind(since.as_millis())
                .bind(i64::from(most))
        );
        if found.is_empty() {
            return Ok(0);
        }
        change!(self, Vec::new(), db => {
            let mut removed = 0;
            for row in &found {
                let (workspace, conversation): (&str, &str) =
                    (row.try_get("workspace")?, row.try_get("conversation")?);
                let done = db.query(REMOVE_THREAD)
                    .bind(workspace)
                    .bind(conversation)
                    .bind(row.try_get::<i64, _>("last")?)
                    .execute(&mut **db)
                    .await?;
                if done.rows_affected() > 0 {
                    removed += 1;
                    // A change of the child locks in the opposite order. The server resolves the deadlock, and the store retries the change.
                    let thread = ThreadId::new(workspace, conversation)?;
                    child::remove(db, &thread).await?;
                    work::remove(db, &thread).await?;
                    thread_event::erase(db, &thread).await?;
                    plan::erase(db, Erasure::Thread(&thread)).await?;
                    room::remove(db, &thread).await?;
                        note::remove(db, &thread).await?;
                }
            }
            Ok(removed)
        })
    }
}

impl Maintenance for PostgresStore {
    fn erase_contents<'a>(&'a self, of: Erasure<'a>) -> StoreFuture<'a, Erased> {
        step(self.erase_rows(of))
    }

    fn purge<'a>(
        &'a self,
        retention: &'a Retention,
        now: Timestamp,
        most: u32,
    ) -> StoreFuture<'a, Purged> {
        step(self.purge_rows(retention, now, most))
    }
}
