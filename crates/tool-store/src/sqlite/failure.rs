//! Errors of SQLite and sqlx, with advice for the operator.

use sqlx::error::DatabaseError;

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

/// Returns the primary result code of a SQLite error (<https://www.sqlite.org/rescode.html>): the low byte of an extended code.
pub(super) fn primary_code(error: &sqlx::Error) -> Option<u32> {
    let code = error.as_database_error().and_then(DatabaseError::code)?;
    Some(code.parse::<u32>().ok()? & 0xff)
}

/// Returns whether the error is `SQLITE_BUSY` or one of its extended codes.
pub(super) fn is_busy(error: &sqlx::Error) -> bool {
    primary_code(error) == Some(5)
}

fn advice(error: &sqlx::Error) -> &'static str {
    match (error, primary_code(error)) {
        (sqlx::Error::PoolClosed, _) => "the store was closed",
        (sqlx::Error::PoolTimedOut, _) => {
            "all connections to the database stayed in use, send fewer calls at once"
        }
        (_, Some(5 | 6)) => {
            "another connection holds the lock of the database, end its transaction and repeat the call"
        }
        (_, Some(7)) => "SQLite is out of memory, raise the limit and repeat the call",
        (_, Some(8)) => {
            "the database cannot be written, check the permissions of the file and whether its file system is mounted read-only"
        }
        (_, Some(10)) => "the disk of the database reports an I/O error, check the disk",
        (_, Some(11 | 26)) => {
            "the database file is damaged or is not a database, restore it from a copy"
        }
        (_, Some(13)) => "the disk of the database is full, free space and repeat the call",
        (_, Some(14)) => {
            "the database file cannot be opened, check that the file and its folder exist and may be read and written"
        }
        _ => "the database failed",
    }
}
