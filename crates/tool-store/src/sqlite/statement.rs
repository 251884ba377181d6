//! The statements of [`crate::sql::statement`] on SQLite.

use crate::sql::contents::{Reader, Sealer};
use crate::sql::statement::{SqlChange, SqlReader, Statement, sql_database};
use crate::store::long_term::Lookup;
use crate::store::{AuditRow, NewMessage, RequestKey, Timestamp, ToolEdited, Workspace};
use crate::text_search::fts5_string;
use sqlx::sqlite::{SqliteConnection, SqliteRow};
use sqlx::{QueryBuilder, Sqlite};

use super::{Fault, SqliteStore, audit, change, thread};

sql_database!(Sqlite {
    const SCHEMA: &'static str = "";
    const POSITION: &'static str = "instr";
    /// Empty, because the transaction holds the write lock.
    const CLAIM: &'static str = "";
    /// Empty, because the transaction holds the write lock.
    const LOCK: &'static str = "";
    const RUN_LEASE: &'static str = "lease_until";
    const TEXT_JOIN: &'static str = "CROSS JOIN";
    const TEXT_ORDER: &'static str = "t.rowid";
    const BY_NUMBER: &'static str = " NOT INDEXED";
    const EACH_PERMIT: &'static str = "json_each(shared_limit.permits) AS p";
    const PERMIT_END: &'static str = "p.value";
    const PERMITS: &'static str = "json_group_object(q.key, q.value)";

    fn match_text(query: &mut QueryBuilder<Self>, lookup: &Lookup<'_>) {
        let labels: Vec<String> = lookup.labels.iter().map(|label| fts5_string(label)).collect();
        let (labels, term) = (labels.join(" OR "), fts5_string(lookup.term));
        query.push("t.memory_text MATCH ");
        query.push_bind(format!("labels : ({labels}) AND terms : {term}"));
    }

    fn storable(text: &str) -> String {
        text.to_owned()
    }
});

impl SqlReader for SqliteConnection {
    type Database = Sqlite;
    type Fault = Fault;

    async fn read(
        &mut self,
        query: impl Fn() -> Statement<Sqlite> + Send + Sync,
    ) -> Result<Vec<SqliteRow>, Fault> {
        Ok(query().query.build().fetch_all(self).await?)
    }
}

impl SqlReader for &SqliteStore {
    type Database = Sqlite;
    type Fault = Fault;

    async fn read(
        &mut self,
        query: impl Fn() -> Statement<Sqlite> + Send + Sync,
    ) -> Result<Vec<SqliteRow>, Fault> {
        Ok(query().query.build().fetch_all(&self.readers).await?)
    }
}

impl SqlChange for SqliteConnection {
    fn deciding(&self, at: Timestamp) -> Timestamp {
        at
    }

    async fn write(&mut self, mut statement: Statement<Sqlite>) -> Result<u64, Fault> {
        let done = statement.query.build().execute(self).await?;
        Ok(done.rows_affected())
    }

    async fn write_audit(&mut self, row: &AuditRow) -> Result<(), Fault> {
        audit::save(self, row).await
    }

    async fn append_message(
        &mut self,
        message: &NewMessage,
        sealer: &Sealer,
    ) -> Result<u64, Fault> {
        thread::append(self, message, sealer).await
    }

    async fn find_request(
        &mut self,
        workspace: &Workspace,
        key: &RequestKey<ToolEdited>,
    ) -> Result<Option<String>, Fault> {
        change::find_request(self, workspace, key, &Reader::of_clear_texts()).await
    }

    async fn save_request(
        &mut self,
        workspace: &Workspace,
        key: &RequestKey<ToolEdited>,
        edited: &ToolEdited,
    ) -> Result<(), Fault> {
        let sealer = Sealer::default();
        change::save_request(self, workspace, key, edited, (None, None), &sealer).await
    }
}
