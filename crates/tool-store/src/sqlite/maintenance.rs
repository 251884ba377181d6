//! Erasure and retention in SQLite.

use crate::sql::{
    budget, child, fence, knowledge, long_term, note, plan, room, schedule, thread_event, work,
};
use crate::store::{
    ApprovalRequest, Erased, ErasedContents, Erasure, Maintenance, Purged, Retention, Scope,
    StoreFuture, ThreadId, Timestamp,
};
use sqlx::sqlite::SqliteConnection;
use sqlx::{QueryBuilder, Row as _, Sqlite};

use super::{Fault, SqliteStore, audit, change, event, step, switch, variable, variable_request};

/// Returns the statement that clears the results of the effects that an erasure covers.
pub(super) fn effects(of: Erasure<'_>) -> QueryBuilder<Sqlite> {
    let mut query = QueryBuilder::new("UPDATE effect SET result = NULL WHERE result IS NOT NULL");
    narrow_to_erased(&mut query, of);
    query
}

/// Returns the statement that clears the contents of the approvals that an erasure covers, and that withdraws the open approvals.
pub(super) fn approvals(of: Erasure<'_>) -> QueryBuilder<Sqlite> {
    let mut query = QueryBuilder::new(
        "UPDATE approval SET status = iif(status IN ('pending', 'approved'), 'withdrawn', status), \
         reason = NULL, answer_reason = NULL, arguments = ",
    );
    query.push_bind(ApprovalRequest::BLANK);
    query.push(", edited = iif(edited IS NULL, NULL, ");
    query.push_bind(ApprovalRequest::BLANK);
    query.push("), sealed = NULL, seal_key = NULL, edited_sealed = NULL, edited_key = NULL WHERE (arguments <> ");
    query.push_bind(ApprovalRequest::BLANK);
    query.push(" OR reason IS NOT NULL OR answer_reason IS NOT NULL OR status IN ('pending', 'approved') OR edited <> ");
    query.push_bind(ApprovalRequest::BLANK);
    // A program of an earlier version, without sealing, may have blanked only the columns that it knows.
    query.push(" OR sealed IS NOT NULL OR edited_sealed IS NOT NULL)");
    narrow_to_erased(&mut query, of);
    query
}

fn narrow_to_erased(query: &mut QueryBuilder<Sqlite>, of: Erasure<'_>) {
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

/// Returns the statement that removes settled effects that ended before `since` and that no message and no approval can refer to.
pub(super) fn old_effects(since: Timestamp, most: u32) -> QueryBuilder<Sqlite> {
    let mut query = QueryBuilder::new(
        "DELETE FROM effect WHERE rowid IN (SELECT e.rowid FROM effect e \
         WHERE e.state IN ('succeeded', 'failed') AND e.ended < ",
    );
    query.push_bind(since.as_millis());
    query.push(
        " AND NOT EXISTS (SELECT 1 FROM message m WHERE m.workspace = e.workspace AND m.conversation = e.thread) \
          AND NOT EXISTS (SELECT 1 FROM approval a WHERE a.workspace = e.workspace AND a.key = e.key) \
          AND NOT EXISTS (SELECT 1 FROM approval a WHERE a.workspace = e.workspace AND a.key = e.earlier) LIMIT ",
    );
    query.push_bind(most).push(")");
    query
}

/// Returns the statement that removes closed approvals that were requested before `since`.
pub(super) fn old_approvals(since: Timestamp, most: u32) -> QueryBuilder<Sqlite> {
    let mut query = QueryBuilder::new(
        "DELETE FROM approval WHERE rowid IN (SELECT rowid FROM approval \
         WHERE status NOT IN ('pending', 'approved') AND created < ",
    );
    query.push_bind(since.as_millis());
    query.push(" LIMIT ").push_bind(most).push(")");
    query
}

/// Returns the statement that removes expired spilled outputs and their chunks.
pub(super) fn old_spills(now: Timestamp, most: u32) -> QueryBuilder<Sqlite> {
    let mut query = QueryBuilder::new(
        "DELETE FROM spill WHERE rowid IN (SELECT rowid FROM spill WHERE expires <= ",
    );
    query.push_bind(now.as_millis());
    query.push(" LIMIT ").push_bind(most).push(")");
    query
}

/// Returns the statement that removes runs that ended before `since`.
pub(super) fn old_runs(since: Timestamp, most: u32) -> QueryBuilder<Sqlite> {
    let mut query =
        QueryBuilder::new("DELETE FROM run WHERE rowid IN (SELECT rowid FROM run WHERE ended < ");
    query.push_bind(since.as_millis());
    query.push(" LIMIT ").push_bind(most).push(")");
    query
}

/// Returns the statement that removes budgets that have no reservation and were last changed before `since`.
pub(super) fn old_budgets(since: Timestamp, most: u32) -> QueryBuilder<Sqlite> {
    let mut query = QueryBuilder::new(
        "DELETE FROM budget WHERE rowid IN (SELECT b.rowid FROM budget b \
         WHERE NOT EXISTS (SELECT 1 FROM budget_reservation r WHERE r.workspace = b.workspace AND r.name = b.name) AND b.updated < ",
    );
    query.push_bind(since.as_millis());
    query.push(" LIMIT ").push_bind(most).push(")");
    query
}

/// Returns the statement that removes expired shared limits.
fn old_limits(now: Timestamp, most: u32) -> QueryBuilder<Sqlite> {
    let mut query = QueryBuilder::new(
        "DELETE FROM shared_limit WHERE rowid IN (SELECT rowid FROM shared_limit WHERE ends <= ",
    );
    query.push_bind(now.as_millis());
    query.push(" LIMIT ").push_bind(most).push(")");
    query
}

/// Returns the statement that removes runs of scheduled tasks that ended before `since`.
pub(super) fn old_task_runs(since: Timestamp, most: u32) -> QueryBuilder<Sqlite> {
    let mut query = QueryBuilder::new(
        "DELETE FROM task_run WHERE rowid IN (SELECT rowid FROM task_run WHERE ended < ",
    );
    query.push_bind(since.as_millis());
    query.push(" LIMIT ").push_bind(most).push(")");
    query
}

fn old_unassigned(since: Timestamp, most: u32) -> QueryBuilder<Sqlite> {
    let mut query = QueryBuilder::new(
        "DELETE FROM message_unassigned WHERE rowid IN (SELECT rowid FROM message_unassigned WHERE at < ",
    );
    query.push_bind(since.as_millis());
    query.push(" LIMIT ").push_bind(most).push(")");
    query
}

/// The query for threads whose last message is old. `thread.last` is the number of the last message.
const OLD_THREADS: &str = "SELECT t.workspace, t.conversation, t.last FROM thread t \
     JOIN message m ON m.workspace = t.workspace AND m.conversation = t.conversation AND m.seq = t.last \
     WHERE m.at < ? LIMIT ?";

/// The statement that removes the messages of a thread, unless a message was added since the thread was found.
const REMOVE_THREAD: &str = "DELETE FROM message WHERE workspace = ?1 AND conversation = ?2
     AND EXISTS (SELECT 1 FROM thread WHERE workspace = ?1 AND conversation = ?2 AND last = ?3)";

async fn rows(db: &mut SqliteConnection, mut query: QueryBuilder<Sqlite>) -> Result<u64, Fault> {
    let done = query.build().execute(db).await?;
    Ok(done.rows_affected())
}

/// Erases contents in the transaction of the connection. The caller must call [`SqliteStore::forget`] afterwards.
pub(super) async fn erase(db: &mut SqliteConnection, of: Erasure<'_>) -> Result<Erased, Fault> {
    let mut erased = Erased {
        effects: rows(&mut *db, effects(of)).await?,
        approvals: rows(&mut *db, approvals(of)).await?,
        requests: rows(&mut *db, change::erasure(of)).await?,
        variables: match of.variables() {
            Some(owner) => rows(&mut *db, variable::removal(&owner)).await?,
            None => 0,
        },
        ..Erased::default()
    };
    plan::erase(&mut *db, of).await?;
    fence::erase(&mut *db, of).await?;
    match of {
        Erasure::Thread(thread) => {
            rows(&mut *db, variable_request::removal(thread)).await?;
            child::erase(&mut *db, thread).await?;
            work::remove(&mut *db, thread).await?;
            thread_event::erase(&mut *db, thread).await?;
            budget::erase(&mut *db, thread).await?;
            room::remove(&mut *db, thread).await?;
            schedule::erase(&mut *db, thread).await?;
            erased.memories = long_term::erase_thread(&mut *db, thread).await?;
            let messages =
                sqlx::query("DELETE FROM message WHERE workspace = ? AND conversation = ?")
                    .bind(thread.workspace().as_str())
                    .bind(thread.conversation());
            erased.messages = messages.execute(db).await?.rows_affected();
        }
        Erasure::Principal {
            workspace,
            principal,
        } => {
            work::erase_user(&mut *db, workspace, principal).await?;
            knowledge::erase_user(&mut *db, workspace, principal).await?;
            room::erase_user(&mut *db, workspace, principal).await?;
            schedule::erase_user(&mut *db, workspace, principal).await?;
            erased.memories = long_term::erase_user(&mut *db, workspace, principal).await?;
            let audit = sqlx::query(audit::ERASE).bind(principal);
            let audit = audit.bind(workspace.as_str()).execute(&mut *db).await?;
            erased.audit = audit.rows_affected();
            let spills = sqlx::query("DELETE FROM spill WHERE workspace = ? AND principal = ?")
                .bind(workspace.as_str())
                .bind(principal);
            erased.spills = spills.execute(db).await?.rows_affected();
        }
    }
    Ok(erased)
}

impl SqliteStore {
    async fn erase_rows(&self, of: ErasedContents) -> Result<Erased, Fault> {
        let erased = self.change(|db| Box::pin(async move { erase(db, of.erasure()).await }));
        let erased = erased.await?;
        self.forget().await?;
        Ok(erased)
    }

    /// Purges each kind of row in a separate change, so that calls can write in between.
    async fn purge_rows(
        &self,
        retention: &Retention,
        now: Timestamp,
        most: u32,
    ) -> Result<Purged, Fault> {
        let since = |age| Retention::since(age, now);
        let mut purged = Purged {
            spills: self.remove(Some(old_spills(now, most))).await?,
            requests: self.remove(Some(change::expiry(now, most))).await?,
            events: self.remove(Some(event::expiry(now, most))).await?,
            limits: self.remove(Some(old_limits(now, most))).await?,
            memories: self
                .remove(Some(long_term::expiry(now, most).query))
                .await?,
            ..Purged::default()
        };
        if let Some(since) = since(retention.threads) {
            purged.threads = self.remove_threads(since, most).await?;
        }
        let runs = since(retention.runs).map(|since| old_runs(since, most));
        purged.runs = self.remove(runs).await?;
        let budgets = since(retention.budgets).map(|since| old_budgets(since, most));
        purged.budgets = self.remove(budgets).await?;
        let task_runs = since(retention.runs).map(|since| old_task_runs(since, most));
        purged.task_runs = self.remove(task_runs).await?;
        let approvals = since(retention.approvals).map(|since| old_approvals(since, most));
        purged.approvals = self.remove(approvals).await?;
        // Effects are removed after messages and approvals, which may refer to them.
        let effects = since(retention.effects).map(|since| old_effects(since, most));
        purged.effects = self.remove(effects).await?;
        let audit = since(retention.audit);
        let audit = audit.map(|since| audit::retention(Scope::All, since, most));
        purged.audit = self.remove(audit).await?;
        let unassigned = since(retention.unassigned).map(|since| old_unassigned(since, most));
        purged.unassigned = self.remove(unassigned).await?;
        let switches = since(retention.switches);
        let switches = switches.map(|since| switch::retirement(Scope::All, since, most));
        purged.switches = self.remove(switches).await?;
        purged.more = purged.reached(most);
        Ok(purged)
    }

    async fn remove(&self, query: Option<QueryBuilder<Sqlite>>) -> Result<u64, Fault> {
        match query {
            Some(query) => self.update_built(query).await,
            None => Ok(0),
        }
    }

    async fn remove_threads(&self, since: Timestamp, most: u32) -> Result<u64, Fault> {
        // The search reads every thread, so it runs on a reader. A thread is removed only if no message was added since.
        let found = sqlx::query(OLD_THREADS)
            .bind(since.as_millis())
            .bind(most)
            .fetch_all(&self.readers)
            .await?;
        if found.is_empty() {
            return Ok(0);
        }
        let removed = self.change(|db| {
            Box::pin(async move {
                let mut removed = 0;
                for row in &found {
                    let (workspace, conversation): (&str, &str) =
                        (row.try_get("workspace")?, row.try_get("conversation")?);
                    let done = sqlx::query(REMOVE_THREAD)
                        .bind(workspace)
                        .bind(conversation)
                        .bind(row.try_get::<i64, _>("last")?)
                        .execute(&mut *db)
                        .await?;
                    if done.rows_affected() > 0 {
                        removed += 1;
                        let thread = ThreadId::new(workspace, conversation)?;
                        child::remove(&mut *db, &thread).await?;
                        work::remove(&mut *db, &thread).await?;
                        thread_event::erase(&mut *db, &thread).await?;
                        plan::erase(&mut *db, Erasure::Thread(&thread)).await?;
                        room::remove(&mut *db, &thread).await?;
                        note::remove(&mut *db, &thread).await?;
                    }
                }
                Ok(removed)
            })
        });
        removed.await
    }
}

impl Maintenance for SqliteStore {
    fn erase_contents<'a>(&'a self, of: Erasure<'a>) -> StoreFuture<'a, Erased> {
        step(self.erase_rows(ErasedContents::from(of)))
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
