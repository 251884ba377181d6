//! Statements for all SQL databases, and the connections on which they run.

use std::fmt::Display;

use sqlx::{Database, QueryBuilder};

use crate::store::long_term::Lookup;
use crate::store::{
    AuditRow, NewMessage, RequestKey, StoreError, ThreadId, Timestamp, ToolEdited, Workspace,
};

use super::Step;
use super::columns::SqlRow;
use super::contents::Sealer;

/// A database of sqlx, with the SQL that differs between databases. [`sql_database!`] implements it.
pub(crate) trait SqlDatabase: Database<Row: SqlRow> {
    /// The prefix of table names.
    const SCHEMA: &'static str;

    /// The function that returns the position of a text in a longer text, or 0 if the longer text does not contain it.
    const POSITION: &'static str;

    /// The clause that ends a query for rows that the transaction claims, changes or removes. It skips rows that a different transaction has locked.
    const CLAIM: &'static str;

    /// The clause that ends a query for rows that the transaction changes. It waits for a different transaction that has locked the rows.
    const LOCK: &'static str;

    /// The column of the table `run` with the end of the lease, by the clock that decides about leases.
    const RUN_LEASE: &'static str;

    /// The join of a full-text index with the table of its rows. It reads the index first.
    const TEXT_JOIN: &'static str;

    /// The column with the number of a row in a full-text index that is joined by [`TEXT_JOIN`](Self::TEXT_JOIN). A search that is ordered by this
    /// column needs no sort.
    const TEXT_ORDER: &'static str;

    /// The clause after a table whose rows a query selects by their numbers. Without it, SQLite may read all rows of the workspace or the scope
    /// through an index on these columns, because SQLite has no statistics.
    const BY_NUMBER: &'static str;

    /// The rows `p` with the key and the value of each permit of a shared limit.
    const EACH_PERMIT: &'static str;

    /// The end of the lease of a permit `p`.
    const PERMIT_END: &'static str;

    /// The permits `q` of a shared limit as the text of their column.
    const PERMITS: &'static str;

    /// Adds the condition that the row `t` of a full-text index has a label and the term of a lookup.
    fn match_text(query: &mut QueryBuilder<Self>, lookup: &Lookup<'_>);

    /// Converts a [free text](SqlRow::free_text) to its stored form.
    fn storable(text: &str) -> String;

    fn bind_text(query: &mut QueryBuilder<Self>, text: Option<String>);

    fn bind_number(query: &mut QueryBuilder<Self>, number: Option<i64>);

    fn bind_flag(query: &mut QueryBuilder<Self>, flag: bool);

    fn bind_bytes(query: &mut QueryBuilder<Self>, bytes: Option<Vec<u8>>);
}

/// Implements [`SqlDatabase`]. The braces contain the items that differ between databases.
macro_rules! sql_database {
    ($database:ty { $($item:item)+ }) => {
        impl $crate::sql::statement::SqlDatabase for $database {
            $($item)+

            fn bind_text(query: &mut sqlx::QueryBuilder<Self>, text: Option<String>) {
                query.push_bind(text);
            }

            fn bind_number(query: &mut sqlx::QueryBuilder<Self>, number: Option<i64>) {
                query.push_bind(number);
            }

            fn bind_flag(query: &mut sqlx::QueryBuilder<Self>, flag: bool) {
                query.push_bind(flag);
            }

            fn bind_bytes(query: &mut sqlx::QueryBuilder<Self>, bytes: Option<Vec<u8>>) {
                query.push_bind(bytes);
            }
        }
    };
}
pub(crate) use sql_database;

/// A row of the database of a connection.
pub(crate) type RowOf<R> = <<R as SqlReader>::Database as Database>::Row;

/// A connection on which queries run.
pub(crate) trait SqlReader: Send {
    type Database: SqlDatabase;

    /// The error of a database.
    type Fault: From<StoreError> + Send;

    /// Runs a query. `query` builds it again for each retry.
    fn read(
        &mut self,
        query: impl Fn() -> Statement<Self::Database> + Send + Sync,
    ) -> impl Step<Vec<RowOf<Self>>, Self::Fault>;
}

/// The connection of a transaction.
pub(crate) trait SqlChange: SqlReader {
    /// Converts the time of a call from the caller's clock to the clock that decides about leases.
    fn deciding(&self, at: Timestamp) -> Timestamp;

    /// Runs a query for rows that the transaction changes, and locks them.
    fn read_locked(
        &mut self,
        query: impl Fn() -> Statement<Self::Database> + Send + Sync,
    ) -> impl Step<Vec<RowOf<Self>>, Self::Fault> {
        self.read(move || {
            let mut query = query();
            query.push(<Self::Database as SqlDatabase>::LOCK);
            query
        })
    }

    /// Runs a statement, and returns the number of rows that it has changed.
    fn write(&mut self, statement: Statement<Self::Database>) -> impl Step<u64, Self::Fault>;

    /// Writes an audit row.
    fn write_audit(&mut self, row: &AuditRow) -> impl Step<(), Self::Fault>;

    /// Appends a message to its thread, and returns its sequence number. The caller has [checked](NewMessage::check) the message.
    fn append_message(
        &mut self,
        message: &NewMessage,
        sealer: &Sealer,
    ) -> impl Step<u64, Self::Fault>;

    /// Returns the response that is stored under an idempotency key, if the key has not expired. Fails if the key was used for a different request.
    fn find_request(
        &mut self,
        workspace: &Workspace,
        key: &RequestKey<ToolEdited>,
    ) -> impl Step<Option<String>, Self::Fault>;

    /// Stores the response of an edit under its idempotency key.
    fn save_request(
        &mut self,
        workspace: &Workspace,
        key: &RequestKey<ToolEdited>,
        edited: &ToolEdited,
    ) -> impl Step<(), Self::Fault>;
}

/// A value of a column.
pub(crate) enum Value {
    Text(Option<String>),
    FreeText(Option<String>),
    Number(Option<i64>),
    Flag(bool),
    Bytes(Option<Vec<u8>>),
}

impl Value {
    /// Creates a value from a text of a person or a model.
    pub(crate) fn free(text: Option<&String>) -> Self {
        Self::FreeText(text.cloned())
    }
}

impl From<&str> for Value {
    fn from(text: &str) -> Self {
        Self::Text(Some(text.to_owned()))
    }
}

impl From<&String> for Value {
    fn from(text: &String) -> Self {
        Self::from(text.as_str())
    }
}

impl From<String> for Value {
    fn from(text: String) -> Self {
        Self::Text(Some(text))
    }
}

impl From<Option<String>> for Value {
    fn from(text: Option<String>) -> Self {
        Self::Text(text)
    }
}

impl From<&Option<String>> for Value {
    fn from(text: &Option<String>) -> Self {
        Self::Text(text.clone())
    }
}

impl From<Option<&Workspace>> for Value {
    fn from(workspace: Option<&Workspace>) -> Self {
        Self::Text(workspace.map(|workspace| workspace.as_str().to_owned()))
    }
}

impl From<u32> for Value {
    fn from(number: u32) -> Self {
        Self::Number(Some(i64::from(number)))
    }
}

impl From<u64> for Value {
    /// A number that a column cannot store becomes the largest number of the column.
    fn from(number: u64) -> Self {
        Self::Number(Some(i64::try_from(number).unwrap_or(i64::MAX)))
    }
}

impl From<Timestamp> for Value {
    fn from(time: Timestamp) -> Self {
        Self::Number(Some(time.as_millis()))
    }
}

impl From<Option<Timestamp>> for Value {
    fn from(time: Option<Timestamp>) -> Self {
        Self::Number(time.map(Timestamp::as_millis))
    }
}

impl From<bool> for Value {
    fn from(flag: bool) -> Self {
        Self::Flag(flag)
    }
}

/// A statement with its parameters.
pub(crate) struct Statement<DB: Database> {
    pub(crate) query: QueryBuilder<DB>,
}

impl<DB: SqlDatabase> Statement<DB> {
    /// Begins a statement with its first part.
    pub(crate) fn part(sql: impl Into<String>) -> Self {
        Self {
            query: QueryBuilder::new(sql),
        }
    }

    /// Begins a query for rows of a table. A condition follows.
    pub(crate) fn select(columns: &str, table: &str) -> Self {
        let schema = DB::SCHEMA;
        Self::part(format!("SELECT {columns} FROM {schema}{table} WHERE "))
    }

    /// Begins a query for rows of a table that are selected by their numbers. A condition follows.
    pub(crate) fn select_by_number(columns: &str, table: &str) -> Self {
        let (schema, by_number) = (DB::SCHEMA, DB::BY_NUMBER);
        Self::part(format!(
            "SELECT {columns} FROM {schema}{table}{by_number} WHERE "
        ))
    }

    /// Begins a statement that removes rows of a table. A condition follows.
    pub(crate) fn delete(table: &str) -> Self {
        let schema = DB::SCHEMA;
        Self::part(format!("DELETE FROM {schema}{table} WHERE "))
    }

    /// Begins a statement that inserts a row.
    pub(crate) fn insert(
        table: &str,
        values: impl IntoIterator<Item = (&'static str, Value)>,
    ) -> Self {
        let (names, values): (Vec<_>, Vec<_>) = values.into_iter().unzip();
        let (schema, names) = (DB::SCHEMA, names.join(", "));
        let mut statement = Self::part(format!("INSERT INTO {schema}{table} ({names}) VALUES ("));
        for (place, value) in values.into_iter().enumerate() {
            if place > 0 {
                statement.push(", ");
            }
            statement.bind(value);
        }
        statement.push(")");
        statement
    }

    /// Begins a statement that inserts rows. `rows` must not be empty.
    pub(crate) fn insert_rows<const N: usize>(
        table: &str,
        columns: [&str; N],
        rows: impl IntoIterator<Item = [Value; N]>,
    ) -> Self {
        let (schema, columns) = (DB::SCHEMA, columns.join(", "));
        let mut statement = Self::part(format!("INSERT INTO {schema}{table} ({columns}) VALUES "));
        for (number, row) in rows.into_iter().enumerate() {
            statement.push(if number == 0 { "(" } else { "), (" });
            for (place, value) in row.into_iter().enumerate() {
                statement.push(if place == 0 { "" } else { ", " });
                statement.bind(value);
            }
        }
        statement.push(")");
        statement
    }

    /// Adds a clause that changes these columns instead if the table has a row with the same key.
    pub(crate) fn or_update(mut self, key: &str, columns: &[&str]) -> Self {
        let columns = columns.iter();
        let columns: Vec<_> = columns
            .map(|name| format!("{name} = excluded.{name}"))
            .collect();
        let columns = columns.join(", ");
        self.push(format_args!(" ON CONFLICT ({key}) DO UPDATE SET {columns}"));
        self
    }

    pub(crate) fn push(&mut self, sql: impl Display) -> &mut Self {
        self.query.push(sql);
        self
    }

    pub(crate) fn bind(&mut self, value: impl Into<Value>) -> &mut Self {
        match value.into() {
            Value::Text(text) => DB::bind_text(&mut self.query, text),
            Value::FreeText(text) => {
                DB::bind_text(&mut self.query, text.as_deref().map(DB::storable));
            }
            Value::Number(number) => DB::bind_number(&mut self.query, number),
            Value::Flag(flag) => DB::bind_flag(&mut self.query, flag),
            Value::Bytes(bytes) => DB::bind_bytes(&mut self.query, bytes),
        }
        self
    }

    /// Narrows a statement that ends in a condition to rows whose column equals `wanted`. `None` does not narrow it.
    pub(crate) fn narrow(&mut self, column: &str, wanted: Option<impl Into<Value>>) -> &mut Self {
        if let Some(wanted) = wanted {
            self.push(format_args!(" AND {column} = ")).bind(wanted);
        }
        self
    }

    /// Narrows a statement that ends in a condition to rows whose column equals one of these values. `wanted` must not be empty.
    pub(crate) fn narrow_to_any(
        &mut self,
        column: &str,
        wanted: impl IntoIterator<Item = impl Into<Value>>,
    ) -> &mut Self {
        self.push(format_args!(" AND {column} IN ("));
        for (place, value) in wanted.into_iter().enumerate() {
            self.push(if place == 0 { "" } else { ", " }).bind(value);
        }
        self.push(")")
    }

    /// Narrows a statement that ends in `WHERE ` to the rows of a thread.
    pub(crate) fn narrow_to_thread(&mut self, thread: &ThreadId) -> &mut Self {
        self.push("workspace = ").bind(thread.workspace().as_str());
        self.narrow("conversation", Some(thread.conversation()))
    }

    /// Orders a query by `column`, which contains the name of a row, and narrows it to the rows after `last`. `own` is the workspace to which the
    /// query is narrowed; for `None`, the query is ordered by the workspace first.
    pub(crate) fn after(
        &mut self,
        own: Option<&str>,
        column: &str,
        last: Option<(&Workspace, &str)>,
    ) -> &mut Self {
        if let Some((workspace, name)) = last {
            let last = workspace.as_str();
            match own {
                None => {
                    self.push(format_args!(" AND (workspace, {column}) > ("));
                    self.bind(last).push(", ").bind(name).push(")");
                }
                Some(own) if own == last => {
                    self.push(format_args!(" AND {column} > ")).bind(name);
                }
                Some(own) if own < last => {
                    self.push(" AND FALSE");
                }
                Some(_) => {}
            }
        }
        match own {
            Some(_) => self.push(format_args!(" ORDER BY {column}")),
            None => self.push(format_args!(" ORDER BY workspace, {column}")),
        }
    }

    /// Limits a query to `most` rows. `None` does not limit it.
    pub(crate) fn limit(&mut self, most: Option<u32>) -> &mut Self {
        if let Some(most) = most {
            self.push(" LIMIT ").bind(most);
        }
        self
    }
}
