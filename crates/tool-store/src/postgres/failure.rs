//! Errors of PostgreSQL and sqlx: their causes, which decide about retries, and advice for the operator.

use std::borrow::Cow;

use sqlx::error::DatabaseError;

use crate::store::StoreError;

/// An error of the database, with advice for the operator.
#[derive(Debug, thiserror::Error)]
#[error("{advice}: {cause}")]
pub(super) struct Failure {
    advice: &'static str,
    #[source]
    cause: sqlx::Error,
}

impl From<sqlx::Error> for Failure {
    fn from(cause: sqlx::Error) -> Self {
        Self {
            advice: advice(&cause),
            cause,
        }
    }
}

/// The cause of an error, which decides about a retry and about the connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Cause {
    /// The connection is unusable. It is unknown whether the server ran the last statement.
    Lost,
    /// A conflict with a different transaction, or a cached plan that is older than a migration. The transaction was rolled back. A retry may
    /// succeed.
    Contended,
    /// The values cannot be stored, so a retry would fail as well.
    Refused,
    /// Any other cause: the statement failed, or was not sent.
    Other,
}

/// Returns the SQLSTATE of an error (<https://www.postgresql.org/docs/current/errcodes-appendix.html>).
fn code(error: &sqlx::Error) -> Option<Cow<'_, str>> {
    error.as_database_error().and_then(DatabaseError::code)
}

impl Cause {
    pub(super) fn of(error: &sqlx::Error) -> Self {
        let Some(code) = code(error) else {
            return match error {
                sqlx::Error::Io(_)
                | sqlx::Error::Protocol(_)
                | sqlx::Error::Tls(_)
                | sqlx::Error::WorkerCrashed => Self::Lost,
                // For example, the pool has no free connection, or a column has an unexpected type.
                _ => Self::Other,
            };
        };
        match &*code {
            // A new transaction may succeed after a serialization failure, a deadlock, two inserts of the same key, the removal of a row while a reference to
            // it was added, or the use of a cached plan that is older than a migration.
            "40001" | "40P01" | "23505" | "23503" | "0A000" => Self::Contended,
            // PostgreSQL cannot store the character, or the entry is too large for an index.
            "22021" | "22P05" | "54000" => Self::Refused,
            // `idle_in_transaction_session_timeout`.
            "25P03" => Self::Lost,
            code if code.starts_with("08") || code.starts_with("57P") => Self::Lost,
            _ => Self::Other,
        }
    }
}

/// Converts the error of a statement to the error that the store returns.
pub(super) fn store_error(error: sqlx::Error) -> StoreError {
    if Cause::of(&error) == Cause::Refused {
        return StoreError::Conflict(format!(
            "PostgreSQL cannot store a value: {error}; names must not contain U+0000 and must be shorter than 2,000 bytes"
        ));
    }
    StoreError::Unavailable(Box::new(Failure::from(error)))
}

fn advice(error: &sqlx::Error) -> &'static str {
    let code = code(error);
    match (error, code.as_deref().unwrap_or_default()) {
        (sqlx::Error::PoolClosed, _) => "the store was closed",
        (sqlx::Error::PoolTimedOut, _) => {
            "no connection to PostgreSQL became free in time, raise the number of connections or send fewer calls at once"
        }
        (_, "25006") => {
            "the server is read-only, give the URL of the primary server instead of a standby"
        }
        (_, "42501") => {
            "the user of the URL lacks privileges, grant it all privileges on the schema `tool_store` and its tables"
        }
        (_, "42P01" | "3F000" | "42703") => {
            "a table or column of the schema `tool_store` is missing, restart the program, which creates it"
        }
        (_, "53100") => "the disk of the server is full, free space and repeat the call",
        (_, "53300") => {
            "the server has no connection left, lower the number of connections of each process or raise `max_connections`"
        }
        (_, "55P03") => "another transaction held a lock for too long, end it and repeat the call",
        _ if Cause::of(error) == Cause::Lost => {
            "the connection to PostgreSQL was lost, check that the server runs and repeat the call"
        }
        _ => "PostgreSQL failed",
    }
}
