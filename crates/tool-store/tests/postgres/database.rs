//! Databases of the test server.

use sqlx::ConnectOptions as _;
use sqlx::postgres::{PgConnectOptions, PgConnection};
use test_support::Missing;
use test_support::postgres::Server;
use tool_store::{PostgresOptions, PostgresStore};

/// A separate database for one test.
pub(crate) struct Database {
    pub(crate) url: String,
}

impl Database {
    /// Creates a database with the tables of the store.
    pub(crate) async fn create() -> Result<Self, Missing> {
        let url = test_support::postgres::migrated_database(migrate).await?;
        Ok(Self { url })
    }

    /// Creates a database without tables.
    pub(crate) async fn empty() -> Result<Self, Missing> {
        let url = test_support::postgres::database().await?;
        Ok(Self { url })
    }

    /// Creates an empty database on a server other than the usual one.
    pub(crate) async fn on(server: &Server) -> Result<Self, Missing> {
        let url = server.create_database().await;
        let url = url.map_err(|error| {
            Missing::new(format_args!("PostgreSQL cannot create a database: {error}"))
        })?;
        Ok(Self { url })
    }

    /// Returns options for a store in this database.
    pub(crate) fn options(&self) -> PostgresOptions {
        PostgresOptions::new(&self.url).unwrap().connections(8)
    }

    /// Opens a connection to this database, separate from the connections of the store.
    pub(crate) async fn connect(&self) -> PgConnection {
        let options: PgConnectOptions = self.url.parse().unwrap();
        options.disable_statement_logging().connect().await.unwrap()
    }

    /// Changes the database through a connection that does not belong to the store.
    pub(crate) async fn tamper(&self, sql: &'static str) {
        let mut connection = self.connect().await;
        sqlx::raw_sql(sql).execute(&mut connection).await.unwrap();
    }
}

/// Migrates the tables of a database.
async fn migrate(url: &str) {
    PostgresStore::open(url).await.unwrap().close().await;
}
