//! Columns as Rust values. Errors name the table, the row and the column.

use std::fmt::Display;

use crate::store::{
    CallId, Sealed, SealedPlace, StoreError, Timestamp, VariableLevel, VariableScope, Workspace,
};
use serde::de::DeserializeOwned;

use super::contents::Reader;

/// A row of a database. Null is read as `None`, because sqlx itself may read it as an empty text or zero.
pub(crate) trait SqlRow: Sync {
    fn text(&self, column: &str) -> Result<Option<&str>, sqlx::Error>;

    /// Returns a text of a tool, a model or a user, which the database may store in an escaped form.
    fn free_text(&self, column: &str) -> Result<Option<String>, sqlx::Error>;

    fn number(&self, column: &str) -> Result<Option<i64>, sqlx::Error>;

    fn flag(&self, column: &str) -> Result<Option<bool>, sqlx::Error>;

    fn bytes(&self, column: &str) -> Result<Option<&[u8]>, sqlx::Error>;
}

/// Implements [`SqlRow`] for the rows of a database of sqlx. `original` restores a free text from its stored form.
macro_rules! sql_row {
    ($row:ty, $original:expr) => {
        impl $crate::sql::columns::SqlRow for $row {
            fn text(&self, column: &str) -> Result<Option<&str>, sqlx::Error> {
                sqlx::Row::try_get(self, column)
            }

            fn free_text(&self, column: &str) -> Result<Option<String>, sqlx::Error> {
                Ok(self.text(column)?.map($original))
            }

            fn number(&self, column: &str) -> Result<Option<i64>, sqlx::Error> {
                sqlx::Row::try_get(self, column)
            }

            fn flag(&self, column: &str) -> Result<Option<bool>, sqlx::Error> {
                sqlx::Row::try_get(self, column)
            }

            fn bytes(&self, column: &str) -> Result<Option<&[u8]>, sqlx::Error> {
                sqlx::Row::try_get(self, column)
            }
        }
    };
}
pub(crate) use sql_row;

/// A type that can be read from a column.
pub(crate) trait FromColumn<'r>: Sized {
    fn read(row: &'r dyn SqlRow, column: &str) -> Result<Option<Self>, sqlx::Error>;
}

impl<'r> FromColumn<'r> for &'r str {
    fn read(row: &'r dyn SqlRow, column: &str) -> Result<Option<Self>, sqlx::Error> {
        row.text(column)
    }
}

impl FromColumn<'_> for String {
    fn read(row: &dyn SqlRow, column: &str) -> Result<Option<Self>, sqlx::Error> {
        Ok(row.text(column)?.map(str::to_owned))
    }
}

impl FromColumn<'_> for i64 {
    fn read(row: &dyn SqlRow, column: &str) -> Result<Option<Self>, sqlx::Error> {
        row.number(column)
    }
}

impl FromColumn<'_> for bool {
    fn read(row: &dyn SqlRow, column: &str) -> Result<Option<Self>, sqlx::Error> {
        row.flag(column)
    }
}

impl<'r> FromColumn<'r> for &'r [u8] {
    fn read(row: &'r dyn SqlRow, column: &str) -> Result<Option<Self>, sqlx::Error> {
        row.bytes(column)
    }
}

/// A row of a table.
#[derive(Clone, Copy)]
pub(crate) struct Columns<'r> {
    row: &'r dyn SqlRow,
    table: &'static str,
    /// The column that identifies the row.
    key: &'static str,
}

impl<'r> Columns<'r> {
    pub(crate) fn new(row: &'r dyn SqlRow, table: &'static str, key: &'static str) -> Self {
        Self { row, table, key }
    }

    /// Returns the value of a column that must not be null.
    pub(crate) fn get<T: FromColumn<'r>>(self, column: &str) -> Result<T, StoreError> {
        self.present(column, self.maybe(column)?)
    }

    /// Returns the value of a column that may be null.
    pub(crate) fn maybe<T: FromColumn<'r>>(self, column: &str) -> Result<Option<T>, StoreError> {
        T::read(self.row, column).map_err(|error| self.corrupt(column, error))
    }

    /// Returns the free text in a column that must not be null.
    pub(crate) fn text(self, column: &str) -> Result<String, StoreError> {
        self.present(column, self.maybe_text(column)?)
    }

    /// Returns the free text in a column that may be null.
    pub(crate) fn maybe_text(self, column: &str) -> Result<Option<String>, StoreError> {
        let text = self.row.free_text(column);
        text.map_err(|error| self.corrupt(column, error))
    }

    fn present<T>(self, column: &str, value: Option<T>) -> Result<T, StoreError> {
        value.ok_or_else(|| self.corrupt(column, "the value must not be null"))
    }

    /// Returns the timestamp in a column.
    pub(crate) fn time(self, column: &str) -> Result<Timestamp, StoreError> {
        self.get(column).map(Timestamp::from_millis)
    }

    /// Returns the timestamp in a column that may be null.
    pub(crate) fn maybe_time(self, column: &str) -> Result<Option<Timestamp>, StoreError> {
        let millis: Option<i64> = self.maybe(column)?;
        Ok(millis.map(Timestamp::from_millis))
    }

    /// Reads the JSON in a column.
    pub(crate) fn json<T: DeserializeOwned>(self, column: &str) -> Result<T, StoreError> {
        let text: &str = self.get(column)?;
        serde_json::from_str(text).map_err(|error| self.corrupt(column, error))
    }

    /// Reads the word in a column as a variant of an enum.
    pub(crate) fn word<T>(
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
    pub(crate) fn number<T: TryFrom<i64>>(self, column: &str) -> Result<T, StoreError> {
        let number: i64 = self.get(column)?;
        T::try_from(number)
            .map_err(|_| self.corrupt(column, format_args!("{number} is out of range")))
    }

    /// Reads the integer in a column that may be null.
    pub(crate) fn maybe_number<T: TryFrom<i64>>(
        self,
        column: &str,
    ) -> Result<Option<T>, StoreError> {
        let number = self.maybe::<i64>(column)?;
        number.map(|_| self.number(column)).transpose()
    }

    /// Returns the workspace in the column `workspace`.
    pub(crate) fn workspace(self) -> Result<Workspace, StoreError> {
        Ok(Workspace::new(self.get::<&str>("workspace")?))
    }

    /// Returns the identity of a call, in the columns `workspace`, `key` and `place`.
    pub(crate) fn identity(self) -> Result<CallId, StoreError> {
        let workspace: &str = self.get("workspace")?;
        match self.maybe("place")? {
            Some(place) => {
                CallId::from_column(workspace, place).map_err(|error| self.corrupt("place", error))
            }
            None => Ok(CallId::earlier(workspace, self.get::<&str>("key")?)),
        }
    }

    /// Returns the owner of variables, in the columns `workspace`, `level` and `owner`.
    pub(crate) fn variable_scope(self) -> Result<VariableScope, StoreError> {
        let level = self.word("level", VariableLevel::from_word)?;
        let scope = VariableScope::of(self.workspace()?, level, self.get("owner")?);
        scope.map_err(|error| self.corrupt("owner", error))
    }

    /// Returns the sealed value in a column.
    pub(crate) fn sealed(self, column: &str) -> Result<Sealed, StoreError> {
        let bytes: &[u8] = self.get(column)?;
        Sealed::from_bytes(bytes).map_err(|error| self.corrupt(column, error))
    }

    /// Opens the sealed value in a column that may be null.
    pub(crate) fn opened(
        self,
        column: &str,
        reader: &Reader,
        place: impl FnOnce() -> SealedPlace,
    ) -> Result<Option<String>, StoreError> {
        if self.maybe::<&[u8]>(column)?.is_none() {
            return Ok(None);
        }
        let opened = reader.open(&place(), &self.sealed(column)?);
        opened.map(Some).map_err(|why| self.corrupt(column, why))
    }

    /// Opens the value in the column `sealed`, which replaces the text. If it is null, returns the free text in the column `text`.
    pub(crate) fn content(
        self,
        text: &str,
        sealed: &str,
        reader: &Reader,
        place: impl FnOnce() -> SealedPlace,
    ) -> Result<String, StoreError> {
        match self.opened(sealed, reader, place)? {
            Some(opened) => Ok(opened),
            None => self.text(text),
        }
    }

    /// Creates the error for a column with an invalid value.
    pub(crate) fn corrupt(self, column: &str, why: impl Display) -> StoreError {
        let key = self.row.text(self.key).ok().flatten().unwrap_or("?");
        let table = self.table;
        StoreError::Corrupt(format!(
            "table `{table}`, row `{key}`, column `{column}`: {why}"
        ))
    }
}
