//! Approvals in SQLite.

use sqlx::sqlite::{SqliteConnection, SqliteRow};
use sqlx::{QueryBuilder, Sqlite};
use tool_core::store::{
    Answer, ApprovalFilter, ApprovalKind, ApprovalRequest, ApprovalRow, ApprovalStatus,
    ApprovalStore, StoreError, StoreFuture, Timestamp, Verdict,
};

use super::columns::Columns;
use super::{Fault, SqliteStore, narrow, step};

macro_rules! columns {
    () => {
        "id, kind, thread, turn, call, tool, tenant, principal, agent, contract, arguments, policy, decision, four_eyes, reason, \
         nonce, created, expires, parent, status, assignee, verdict, edited, approver, answer_reason, answered"
    };
}

/// Expires what is open and whose time has passed.
pub(super) const EXPIRE: &str = "UPDATE approval SET status = 'expired' WHERE status IN ('pending', 'approved') AND expires <= ?";

/// The query for the rows that a filter means.
pub(super) fn listing(filter: &ApprovalFilter) -> QueryBuilder<Sqlite> {
    let mut query = QueryBuilder::new(concat!("SELECT ", columns!(), " FROM approval WHERE TRUE"));
    narrow_to(&mut query, filter);
    query
}

fn read(row: &SqliteRow) -> Result<ApprovalRow, StoreError> {
    let columns = Columns::new(row, "approval", "id");
    Ok(ApprovalRow {
        request: ApprovalRequest {
            id: columns.get("id")?,
            kind: columns.word("kind", ApprovalKind::from_word)?,
            thread: columns.maybe("thread")?,
            turn: columns.get("turn")?,
            call: columns.get("call")?,
            tool: columns.get("tool")?,
            tenant: columns.get("tenant")?,
            principal: columns.get("principal")?,
            agent: columns.maybe("agent")?,
            contract: columns.get("contract")?,
            arguments: columns.get("arguments")?,
            policy: columns.get("policy")?,
            decision: columns.get("decision")?,
            four_eyes: columns.get("four_eyes")?,
            reason: columns.maybe("reason")?,
            nonce: columns.get("nonce")?,
            created: columns.time("created")?,
            expires: columns.time("expires")?,
            parent: columns.maybe("parent")?,
        },
        status: columns.word("status", ApprovalStatus::from_word)?,
        assignee: columns.maybe("assignee")?,
        answer: answer(columns)?,
    })
}

fn answer(columns: Columns<'_>) -> Result<Option<Answer>, StoreError> {
    if columns.maybe::<&str>("verdict")?.is_none() {
        return Ok(None);
    }
    let edited: Option<String> = columns.maybe("edited")?;
    let verdict = columns.word("verdict", |word| Verdict::from_columns(word, edited))?;
    Ok(Some(Answer {
        verdict,
        approver: columns.get("approver")?,
        reason: columns.maybe("answer_reason")?,
        at: columns.time("answered")?,
    }))
}

async fn find(db: &mut SqliteConnection, id: &str) -> Result<Option<ApprovalRow>, Fault> {
    let row = sqlx::query(concat!(
        "SELECT ",
        columns!(),
        " FROM approval WHERE id = ?"
    ))
    .bind(id)
    .fetch_optional(db)
    .await?;
    Ok(row.as_ref().map(read).transpose()?)
}

/// Writes what a step has made of a pending row.
async fn save(db: &mut SqliteConnection, row: &ApprovalRow) -> Result<(), Fault> {
    let answer = row.answer.as_ref();
    let (verdict, edited) = answer.map(|answer| answer.verdict.columns()).unzip();
    sqlx::query(
        "UPDATE approval SET status = ?, assignee = ?, verdict = ?, edited = ?, approver = ?, answer_reason = ?, answered = ?
         WHERE id = ? AND status = 'pending'",
    )
    .bind(row.status.as_str())
    .bind(&row.assignee)
    .bind(verdict)
    .bind(edited.flatten())
    .bind(answer.map(|answer| &answer.approver))
    .bind(answer.and_then(|answer| answer.reason.as_ref()))
    .bind(answer.map(|answer| answer.at.as_millis()))
    .bind(&row.request.id)
    .execute(db)
    .await?;
    Ok(())
}

/// Adds the conditions of a filter to a query that ends in a condition.
fn narrow_to(query: &mut QueryBuilder<Sqlite>, filter: &ApprovalFilter) {
    narrow(query, "tenant", filter.tenant.as_deref());
    narrow(query, "principal", filter.principal.as_deref());
    narrow(query, "assignee", filter.assignee.as_deref());
    narrow(query, "tool", filter.tool.as_deref());
    narrow(query, "turn", filter.turn.as_deref());
    narrow(query, "thread", filter.thread.as_deref());
    narrow(query, "status", filter.status.map(ApprovalStatus::as_str));
    narrow(query, "kind", filter.kind.map(ApprovalKind::as_str));
    if let Some((created, id)) = &filter.after {
        query.push(" AND (created, id) > (");
        query.push_bind(created.as_millis()).push(", ");
        query.push_bind(id.clone()).push(")");
    }
    query.push(" ORDER BY created, id");
    if let Some(limit) = filter.limit {
        query.push(" LIMIT ").push_bind(limit);
    }
}

impl SqliteStore {
    async fn open_request(&self, request: ApprovalRequest) -> Result<(), Fault> {
        let mut change = self.change().await?;
        let done = sqlx::query(concat!(
            "INSERT INTO approval (",
            columns!(),
            ") VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, 'pending', NULL, NULL, NULL, NULL, NULL, NULL)
             ON CONFLICT (id) DO NOTHING"
        ))
        .bind(&request.id)
        .bind(request.kind.as_str())
        .bind(&request.thread)
        .bind(&request.turn)
        .bind(&request.call)
        .bind(&request.tool)
        .bind(&request.tenant)
        .bind(&request.principal)
        .bind(&request.agent)
        .bind(&request.contract)
        .bind(&request.arguments)
        .bind(&request.policy)
        .bind(&request.decision)
        .bind(request.four_eyes)
        .bind(&request.reason)
        .bind(&request.nonce)
        .bind(request.created.as_millis())
        .bind(request.expires.as_millis())
        .bind(&request.parent)
        .execute(&mut *change)
        .await?;
        if done.rows_affected() == 0 {
            return Err(request.exists().into());
        }
        Ok(change.commit().await?)
    }

    /// Lets a row take a step that can fail, and gives what it has become.
    async fn settle(
        &self,
        id: &str,
        step: impl FnOnce(&mut ApprovalRow) -> Result<(), StoreError>,
    ) -> Result<ApprovalRow, Fault> {
        let mut change = self.change().await?;
        let before = find(&mut change, id).await?;
        let before = before.ok_or_else(|| ApprovalRow::missing(id))?;
        let mut row = before.clone();
        let done = step(&mut row);
        // An answer that comes too late fails and changes the row.
        if row != before {
            save(&mut change, &row).await?;
            change.commit().await?;
        }
        Ok(done.map(|()| row)?)
    }

    async fn deny_requests(&self, filter: &ApprovalFilter, answer: Answer) -> Result<u64, Fault> {
        answer.only_denies()?;
        let at = answer.at.as_millis();
        // One statement, so that the filter's limit counts what is expired, too.
        let mut denial = QueryBuilder::new(
            "UPDATE approval SET (status, verdict, approver, answer_reason, answered) = \
             (SELECT 'expired', NULL, NULL, NULL, NULL WHERE expires <= ",
        );
        denial.push_bind(at);
        denial.push(" UNION ALL SELECT 'denied', 'deny', ");
        denial.push_bind(answer.approver.clone()).push(", ");
        denial.push_bind(answer.reason).push(", ");
        denial.push_bind(at).push(" WHERE expires > ");
        denial.push_bind(at);
        denial.push(") WHERE id IN (SELECT id FROM approval WHERE status = 'pending'");
        narrow_to(&mut denial, filter);
        denial.push(") AND (expires <= ").push_bind(at);
        denial.push(" OR NOT four_eyes OR principal <> ");
        denial.push_bind(answer.approver).push(") RETURNING status");

        let mut change = self.change().await?;
        let rows = denial.build().fetch_all(&mut *change).await?;
        change.commit().await?;
        let mut denied = 0;
        for row in &rows {
            let columns = Columns::new(row, "approval", "id");
            if columns.word("status", ApprovalStatus::from_word)? == ApprovalStatus::Denied {
                denied += 1;
            }
        }
        Ok(denied)
    }
}

impl ApprovalStore for SqliteStore {
    fn is_durable(&self) -> bool {
        self.durable
    }

    fn open(&self, request: ApprovalRequest) -> StoreFuture<'_, ()> {
        step(self.open_request(request))
    }

    fn get<'a>(&'a self, id: &'a str) -> StoreFuture<'a, Option<ApprovalRow>> {
        step(async move {
            let mut reader = self.readers.acquire().await?;
            find(&mut reader, id).await
        })
    }

    fn answer<'a>(&'a self, id: &'a str, answer: Answer) -> StoreFuture<'a, ApprovalRow> {
        step(self.settle(id, |row| row.answer(answer)))
    }

    fn spend<'a>(&'a self, id: &'a str, nonce: &'a str, now: Timestamp) -> StoreFuture<'a, bool> {
        step(async move {
            let spent = sqlx::query(
                "UPDATE approval SET status = 'spent'
                 WHERE id = ? AND status = 'approved' AND nonce = ? AND expires > ?",
            );
            let spent = spent.bind(id).bind(nonce).bind(now.as_millis());
            Ok(self.update(spent).await? == 1)
        })
    }

    fn withdraw<'a>(&'a self, id: &'a str) -> StoreFuture<'a, bool> {
        step(async move {
            let withdrawn = sqlx::query(
                "UPDATE approval SET status = 'withdrawn' WHERE id = ? AND status IN ('pending', 'approved')",
            );
            Ok(self.update(withdrawn.bind(id)).await? == 1)
        })
    }

    fn assign<'a>(&'a self, id: &'a str, assignee: Option<String>) -> StoreFuture<'a, ApprovalRow> {
        step(self.settle(id, |row| row.assign(assignee)))
    }

    fn list<'a>(&'a self, filter: &'a ApprovalFilter) -> StoreFuture<'a, Vec<ApprovalRow>> {
        step(async move {
            let rows = listing(filter).build().fetch_all(&self.readers).await?;
            Ok(rows.iter().map(read).collect::<Result<_, _>>()?)
        })
    }

    fn deny_all<'a>(&'a self, filter: &'a ApprovalFilter, answer: Answer) -> StoreFuture<'a, u64> {
        step(self.deny_requests(filter, answer))
    }

    fn expire(&self, now: Timestamp) -> StoreFuture<'_, u64> {
        step(async move {
            let expired = sqlx::query(EXPIRE);
            self.update(expired.bind(now.as_millis())).await
        })
    }
}
