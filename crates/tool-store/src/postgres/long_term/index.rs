//! Indexes of pgvector for searches of large scopes.

use std::collections::BTreeMap;

use sqlx::postgres::PgConnection;
use sqlx::{AssertSqlSafe, ConnectOptions as _, Connection as _, Executor as _, Row as _};

use crate::digest::sha256;
use crate::sql::columns::Columns;
use crate::sql::statement::{SqlReader as _, Statement};
use crate::store::{MemoryVector, StoreError};
use tokio::time::timeout;

use super::super::change::too_slow;
use super::super::failure::store_error;
use super::super::{Fault, PostgresStore};

/// If one scope has more embeddings of a model than this number, [`PostgresStore::index_memories`] creates an index for the model. A search uses the
/// index if its scopes together have more. Comparing the codes of this number of embeddings takes about 10 ms.
pub(super) const LARGE: u32 = 20_000;

/// The prefix of the names of the indexes.
const PREFIX: &str = "memory_vector_hnsw_";

/// The statement that tries to take the lock for the creation of indexes, until the transaction ends. It returns false if another process has the
/// lock.
const LOCK: &str =
    "SELECT pg_try_advisory_xact_lock(hashtextextended('tool_store.memory_index', 0))";

/// The first version of pgvector that continues the scan of an index until enough rows match the other conditions of a query (`hnsw.iterative_scan`).
const ITERATIVE: (u32, u32) = (0, 8);

/// The result of [`PostgresStore::index_memories`]: how the store searches memories by their embeddings.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum MemoryIndexing {
    /// Every search compares the bit codes of all embeddings of its scopes, because the extension `vector` cannot be used: the database does not have
    /// it and this user cannot create it, or its version is earlier than 0.8. The text is the reason.
    Unavailable(String),
    /// Another process creates the indexes now.
    Busy,
    /// Searches of scopes with more than 20,000 embeddings of one of these models use an index.
    Indexed(Vec<MemoryIndex>),
}

/// An index for the embeddings of a model.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct MemoryIndex {
    /// The name of the model.
    pub model: String,
    /// The number of dimensions of the embeddings.
    pub dimensions: u32,
}

impl MemoryIndex {
    /// Returns the index for the model and the dimensions of a vector.
    pub(super) fn of(vector: &MemoryVector) -> Self {
        Self {
            model: vector.model().to_owned(),
            dimensions: u32::try_from(vector.values().len()).unwrap_or(u32::MAX),
        }
    }

    /// Returns the name of the index in the schema `tool_store`.
    pub(super) fn name(&self) -> String {
        let hash = sha256(&[&self.model, &self.dimensions.to_string()]);
        format!("{PREFIX}{}", hash.get(..16).unwrap_or_default())
    }
}

impl PostgresStore {
    /// Creates the missing indexes for searches by embeddings ([`LongTermStore::nearest_memories`](crate::LongTermStore::nearest_memories)), and
    /// removes the indexes that are no longer needed. Call it regularly, for example once a day. Without an index, a search of a scope of 100,000
    /// memories takes about 50 ms instead of 15 ms. An index (HNSW) is approximate: a search with it may miss a few of the nearest memories. In the
    /// benchmarks, it found 99.5 % or more of the memories that an exact search found.
    ///
    /// An index is created for each model with more than 20,000 embeddings in one scope. It is removed when no scope has more than 10,000, for
    /// example after all memories were embedded with a different model. The indexes need the extension `vector` (pgvector) of version 0.8 or later.
    /// If the database does not have it, this method creates it, which requires that the extension is installed on the server and that the user may
    /// create it.
    ///
    /// The statements run on a connection of [`PostgresOptions::migrator`](crate::PostgresOptions::migrator), whose user must own the tables. They do not
    /// block other statements (`CREATE INDEX CONCURRENTLY`). An index of 100,000 embeddings takes about half a minute, for which a `statement_timeout` of the user must
    /// be long enough. It can be interrupted: the next call removes an unfinished index and creates it again.
    ///
    /// # Errors
    ///
    /// Fails with [`StoreError::Unavailable`] if the server cannot be reached, or if it refuses a statement, for example because the user does not
    /// own the tables.
    ///
    /// ```no_run
    /// use tool_store::{MemoryIndexing, PostgresStore};
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// let store = PostgresStore::open("postgres://tools@db.example/tools").await?;
    /// match store.index_memories().await? {
    ///     MemoryIndexing::Indexed(indexes) => println!("{} models have an index", indexes.len()),
    ///     MemoryIndexing::Unavailable(reason) => println!("no index is used: {reason}"),
    ///     _ => println!("another process creates the indexes"),
    /// }
    /// # Ok(())
    /// # }
    /// ```
    pub async fn index_memories(&self) -> Result<MemoryIndexing, StoreError> {
        self.add_codes().await?;
        self.index_with_lock().await.map_err(store_error)
    }

    /// Logs the version of pgvector and the number of its indexes that searches of large scopes use.
    pub(in crate::postgres) async fn log_indexes(&self) -> Result<(), Fault> {
        let mut reader: &Self = self;
        let rows = reader.read(|| {
            let mut query = Statement::part(
                "SELECT (SELECT extversion FROM pg_extension WHERE extname = 'vector') AS version, count(*) AS indexes \
                 FROM pg_index i JOIN pg_class c ON c.oid = i.indexrelid \
                 WHERE i.indisvalid AND i.indrelid = 'tool_store.memory_vector'::regclass AND starts_with(c.relname::text, ",
            );
            query.bind(PREFIX).push(")");
            query
        });
        for row in rows.await? {
            let columns = Columns::new(&row, "pg_index", "indexes");
            let (version, indexes): (Option<String>, i64) =
                (columns.maybe("version")?, columns.get("indexes")?);
            let extension = version.as_deref().unwrap_or("none");
            tracing::debug!(
                extension,
                indexes,
                "searches by embeddings use these indexes of pgvector, and compare codes in other scopes"
            );
        }
        Ok(())
    }

    /// Opens a connection of the user who may change tables.
    async fn migrator(&self) -> Result<PgConnection, sqlx::Error> {
        let patience = self.patience();
        let connected = timeout(patience, self.0.migrator.connect()).await;
        connected.unwrap_or_else(|_| Err(too_slow(patience)))
    }

    /// Creates the indexes while a transaction of a second connection holds the lock. A lock of the session would remain on a connection of a pooler, and
    /// `CREATE INDEX CONCURRENTLY` cannot run in a transaction.
    async fn index_with_lock(&self) -> Result<MemoryIndexing, sqlx::Error> {
        let mut lock = self.migrator().await?;
        let mut transaction = lock.begin().await?;
        let is_locked: bool = sqlx::query_scalar(LOCK)
            .persistent(false)
            .fetch_one(&mut *transaction)
            .await?;
        if !is_locked {
            return Ok(MemoryIndexing::Busy);
        }
        let mut connection = self.migrator().await?;
        let indexing = match extension(&mut connection).await? {
            Ok(schema) => MemoryIndexing::Indexed(index(&mut connection, &schema).await?),
            Err(reason) => MemoryIndexing::Unavailable(reason),
        };
        transaction.rollback().await?;
        // Errors are ignored: the connections are closed in any case.
        let _ = lock.close().await;
        let _ = connection.close().await;
        Ok(indexing)
    }
}

/// Returns the schema of the extension `vector`, quoted, and creates the extension if it is missing. If the extension cannot be used, returns the
/// reason.
async fn extension(connection: &mut PgConnection) -> Result<Result<String, String>, sqlx::Error> {
    let mut found = installed(connection).await?;
    if found.is_none() {
        if let Err(error) = connection
            .execute("CREATE EXTENSION IF NOT EXISTS vector")
            .await
        {
            if error.as_database_error().is_none() {
                return Err(error);
            }
            return Ok(Err(format!(
                "the database has no extension `vector`, install pgvector on the server and run `CREATE EXTENSION vector` as a user who may create it: {error}"
            )));
        }
        found = installed(connection).await?;
    }
    let Some((schema, version)) = found else {
        return Ok(Err(
            "the extension `vector` was removed meanwhile".to_owned()
        ));
    };
    if version_of(&version).is_none_or(|version| version < ITERATIVE) {
        return Ok(Err(format!(
            "the extension `vector` has version {version}, install pgvector 0.8 or later on the server and run `ALTER EXTENSION vector UPDATE`"
        )));
    }
    Ok(Ok(schema))
}

/// Returns the schema of the extension `vector`, quoted, and the version of the extension; `None` if the database does not have it.
async fn installed(connection: &mut PgConnection) -> Result<Option<(String, String)>, sqlx::Error> {
    let row = sqlx::query(
        "SELECT quote_ident(n.nspname) AS home, e.extversion FROM pg_extension e JOIN pg_namespace n ON n.oid = e.extnamespace WHERE e.extname = 'vector'",
    );
    let row = row.persistent(false).fetch_optional(connection).await?;
    row.map(|row| Ok((row.try_get(0)?, row.try_get(1)?)))
        .transpose()
}

/// Returns the first two numbers of a version.
fn version_of(text: &str) -> Option<(u32, u32)> {
    let mut numbers = text.split('.');
    let mut next = || numbers.next()?.parse().ok();
    Some((next()?, next()?))
}

/// Creates the missing indexes, removes indexes that are not needed, and returns all indexes that exist afterwards.
async fn index(
    connection: &mut PgConnection,
    schema: &str,
) -> Result<Vec<MemoryIndex>, sqlx::Error> {
    let existing = sqlx::query(
        "SELECT c.relname::text, i.indisvalid FROM pg_index i JOIN pg_class c ON c.oid = i.indexrelid \
         WHERE i.indrelid = 'tool_store.memory_vector'::regclass AND starts_with(c.relname::text, $1)",
    );
    let existing = existing.bind(PREFIX).persistent(false);
    let existing = existing.fetch_all(&mut *connection).await?;
    let mut unused = BTreeMap::new();
    for row in existing {
        unused.insert(row.try_get::<String, _>(0)?, row.try_get::<bool, _>(1)?);
    }
    let mut indexes = Vec::new();
    for (index, largest) in models(connection).await? {
        let name = index.name();
        match unused.remove(&name) {
            Some(true) => {}
            None if largest <= i64::from(LARGE) => continue,
            unfinished => {
                if unfinished.is_some() {
                    drop_index(connection, &name).await?;
                }
                create_index(connection, schema, &index).await?;
            }
        }
        indexes.push(index);
    }
    for name in unused.into_keys() {
        drop_index(connection, &name).await?;
    }
    Ok(indexes)
}

/// Returns the models for which one scope has more than `LARGE / 2` embeddings, each with the number of embeddings in its largest scope.
async fn models(connection: &mut PgConnection) -> Result<Vec<(MemoryIndex, i64)>, sqlx::Error> {
    let rows = sqlx::query(
        "SELECT model, dimensions, max(size) FROM \
         (SELECT model, dimensions, count(*) AS size FROM tool_store.memory_vector WHERE code IS NOT NULL GROUP BY workspace, agent, model, dimensions) scope \
         GROUP BY model, dimensions HAVING max(size) > $1 ORDER BY model, dimensions",
    );
    let rows = rows.bind(i64::from(LARGE / 2)).persistent(false);
    let rows = rows.fetch_all(connection).await?;
    let models = rows.iter().map(|row| {
        let dimensions = u32::try_from(row.try_get::<i32, _>(1)?).unwrap_or_default();
        let model = row.try_get(0)?;
        Ok((MemoryIndex { model, dimensions }, row.try_get(2)?))
    });
    models.collect()
}

async fn create_index(
    connection: &mut PgConnection,
    schema: &str,
    index: &MemoryIndex,
) -> Result<(), sqlx::Error> {
    // The server quotes the name of the model.
    let statement: String = sqlx::query_scalar(
        "SELECT format('CREATE INDEX CONCURRENTLY %I ON tool_store.memory_vector USING hnsw ((code::bit(%s)) %s.bit_hamming_ops) \
         WHERE model = %L AND dimensions = %s', $1, $2, $3, $4, $2)",
    )
    .bind(index.name())
    .bind(i64::from(index.dimensions))
    .bind(schema)
    .bind(&index.model)
    .persistent(false)
    .fetch_one(&mut *connection)
    .await?;
    connection.execute(AssertSqlSafe(statement)).await.map(drop)
}

/// Drops one of the indexes, whose name contains only letters, digits and underscores.
async fn drop_index(connection: &mut PgConnection, name: &str) -> Result<(), sqlx::Error> {
    let statement = format!("DROP INDEX CONCURRENTLY IF EXISTS tool_store.{name}");
    connection.execute(AssertSqlSafe(statement)).await.map(drop)
}
