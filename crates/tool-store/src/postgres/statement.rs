//! The statements of [`crate::sql::statement`] on PostgreSQL.

use crate::sql::contents::{Reader, Sealer};
use crate::sql::statement::{SqlChange, SqlReader, Statement, sql_database};
use crate::store::long_term::Lookup;
use crate::store::{AuditRow, NewMessage, RequestKey, Timestamp, ToolEdited, Workspace};
use crate::text_search::tsquery_string;
use sqlx::postgres::{PgConnection, PgRow};
use sqlx::{Postgres, QueryBuilder};

use super::change::{Change, fetch};
use super::{Fault, PostgresStore, audit, request, text, thread};

sql_database!(Postgres {
    const SCHEMA: &'static str = "tool_store.";
    const POSITION: &'static str = "strpos";
    const CLAIM: &'static str = " FOR UPDATE SKIP LOCKED";
    const LOCK: &'static str = " FOR UPDATE";
    const RUN_LEASE: &'static str = "lapses";
    const TEXT_JOIN: &'static str = "JOIN";
    const TEXT_ORDER: &'static str = "m.seq";
    const BY_NUMBER: &'static str = "";
    const EACH_PERMIT: &'static str = "jsonb_each_text(shared_limit.permits::jsonb) AS p(key, value)";
    const PERMIT_END: &'static str = "p.value::bigint";
    const PERMITS: &'static str = "coalesce(jsonb_object_agg(q.key, q.value), '{}'::jsonb)::text";

    fn match_text(query: &mut QueryBuilder<Self>, lookup: &Lookup<'_>) {
        let labels: Vec<String> = lookup.labels.iter().map(|label| tsquery_string(label)).collect();
        let (labels, term) = (labels.join(" | "), tsquery_string(lookup.term));
        query.push("t.words @@ ");
        query.push_bind(format!("({labels}) & {term}"));
        query.push("::tsquery");
    }

    fn storable(text: &str) -> String {
        text::storable(text).into_owned()
    }
});

impl SqlReader for Change<'_> {
    type Database = Postgres;
    type Fault = Fault;

    async fn read(
        &mut self,
        query: impl Fn() -> Statement<Postgres> + Send + Sync,
    ) -> Result<Vec<PgRow>, Fault> {
        let mut query = query().query;
        let query = query.build().persistent(self.is_named());
        Ok(query.fetch_all(&mut **self).await?)
    }
}

/// The connection of a transaction, on which the server plans each query with the values of its parameters. From its sixth execution on, PostgreSQL
/// may use one plan of a prepared statement for all values, which is slow for some values: the search for a rare word needs the index on the words,
/// and the search for a frequent word needs the index on the scope. If such a plan reads an index of pgvector up to its limit, a search in a small
/// scope even misses results.
///
/// The statement has no name, so both of its steps, parsing and running, must be in a transaction: otherwise, a pooler may forward the steps to
/// different connections.
pub(super) struct Planned<'a>(pub(super) &'a mut PgConnection);

impl SqlReader for Planned<'_> {
    type Database = Postgres;
    type Fault = Fault;

    async fn read(
        &mut self,
        query: impl Fn() -> Statement<Postgres> + Send + Sync,
    ) -> Result<Vec<PgRow>, Fault> {
        let mut query = query().query;
        let query = query.build().persistent(false);
        Ok(query.fetch_all(&mut *self.0).await?)
    }
}

impl SqlReader for &PostgresStore {
    type Database = Postgres;
    type Fault = Fault;

    async fn read(
        &mut self,
        query: impl Fn() -> Statement<Postgres> + Send + Sync,
    ) -> Result<Vec<PgRow>, Fault> {
        Ok(fetch!(self, fetch_all, query().query.build()))
    }
}

impl SqlChange for Change<'_> {
    fn deciding(&self, at: Timestamp) -> Timestamp {
        Timestamp::from_millis(self.clock.now(at))
    }

    async fn write(&mut self, mut statement: Statement<Postgres>) -> Result<u64, Fault> {
        let statement = statement.query.build().persistent(self.is_named());
        Ok(statement.execute(&mut **self).await?.rows_affected())
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
        request::find(self, workspace, key, &Reader::of_clear_texts()).await
    }

    async fn save_request(
        &mut self,
        workspace: &Workspace,
        key: &RequestKey<ToolEdited>,
        edited: &ToolEdited,
    ) -> Result<(), Fault> {
        let sealer = Sealer::default();
        request::save(self, workspace, key, edited, (None, None), &sealer).await
    }
}
