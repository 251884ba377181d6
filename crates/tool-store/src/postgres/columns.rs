//! Reading columns as Rust values. Errors name the row and the column.

use std::fmt::Display;

use crate::store::{CallId, StoreError, Timestamp};
use serde::de::DeserializeOwned;
use sqlx::postgres::PgRow;
use sqlx::{Decode, Postgres, Row as _, Type};

use super::text::original;

/// A row of a table.
#[derive(Clone, Copy)]
pub(super) struct Columns<'r> {
    row: &'r PgRow,
    table: &'static str,
    /// The column that identifies the row.
    key: &'static str,
}

impl<'r> Columns<'r> {
    pub(super) fn new(row: &'r PgRow, table: &'static str, key: &'static str) -> Self {
        Self { row, table, key }
    }

    /// The value of a column that must not be null.
    pub(super) fn get<T>(self, column: &str) -> Result<T, StoreError>
    where
        T: Decode<'r, Postgres> + Type<Postgres>,
    {
        self.maybe(column)?
            .ok_or_else(|| self.corrupt(column, "null, where there has to be a value"))
    }

    /// The value of a column that may be null.
    pub(super) fn maybe<T>(self, column: &str) -> Result<Option<T>, StoreError>
    where
        T: Decode<'r, Postgres> + Type<Postgres>,
    {
        self.row
            .try_get(column)
            .map_err(|error| self.corrupt(column, error))
    }

    /// A free text.
    pub(super) fn text(self, column: &str) -> Result<String, StoreError> {
        self.get(column).map(original)
    }

    /// A free text that may be null.
    pub(super) fn maybe_text(self, column: &str) -> Result<Option<String>, StoreError> {
        Ok(self.maybe::<&str>(column)?.map(original))
    }

    /// The timestamp in a column.
    pub(super) fn time(self, column: &str) -> Result<Timestamp, StoreError> {
        self.get(column).map(Timestamp::from_millis)
    }

    /// The timestamp in a column that may be null.
    pub(super) fn maybe_time(self, column: &str) -> Result<Option<Timestamp>, StoreError> {
        let millis: Option<i64> = self.maybe(column)?;
        Ok(millis.map(Timestamp::from_millis))
    }

    /// Reads the JSON in a column.
    pub(super) fn json<T: DeserializeOwned>(self, column: &str) -> Result<T, StoreError> {
        let text: &str = self.get(column)?;
        serde_json::from_str(text).map_err(|error| self.corrupt(column, error))
    }

    /// Reads the word in a column as an enum value.
    pub(super) fn word<T>(
        self,
        column: &str,
        read: impl FnOnce(&str) -> Option<T>,
    ) -> Result<T, StoreError> {
        let word: &str = self.get(column)?;
        read(word).ok_or_else(|| {
            self.corrupt(
                column,
                format_args!("`{word}` is not a value that this program knows"),
            )
        })
    }

    /// Reads the integer in a column as the type of its field.
    pub(super) fn number<T: TryFrom<i64>>(self, column: &str) -> Result<T, StoreError> {
        let number: i64 = self.get(column)?;
        T::try_from(number)
            .map_err(|_| self.corrupt(column, format_args!("{number} is out of range")))
    }

    /// The identity of a call, in the columns `workspace`, `key` and `place`.
    pub(super) fn identity(self) -> Result<CallId, StoreError> {
        let workspace: &str = self.get("workspace")?;
        match self.maybe("place")? {
            Some(place) => {
                CallId::from_column(workspace, place).map_err(|error| self.corrupt("place", error))
            }
            None => Ok(CallId::earlier(workspace, self.get::<&str>("key")?)),
        }
    }

    /// The error about a column with an invalid value.
    pub(super) fn corrupt(self, column: &str, why: impl Display) -> StoreError {
        let key = self.row.try_get(self.key).unwrap_or("?");
        let table = self.table;
        StoreError::Corrupt(format!(
            "table `{table}`, row `{key}`, column `{column}`: {why}"
        ))
    }
}
