//! The tables of threads in SQLite.

use crate::sql::columns::Columns;
use crate::sql::contents::{Reader, Sealer};
use crate::sql::records::message;
use crate::sql::sealed::place;
use crate::store::{
    CallPlace, Journal, Message, NewMessage, Role, StoreError, StoreFuture, ThreadId, ThreadStore,
    Timestamp,
};
use sqlx::sqlite::{SqliteConnection, SqliteRow};

use super::sealed::check_sealer;
use super::{Fault, SqliteStore, step};

fn read(row: &SqliteRow, reader: &Reader) -> Result<Message, StoreError> {
    let columns = Columns::new(row, "message", "conversation");
    Ok(Message {
        turn: columns.maybe("turn")?,
        ..message(row, reader)?
    })
}

/// Appends a message to its thread. The caller has [checked](NewMessage::check) the message.
pub(super) async fn append(
    db: &mut SqliteConnection,
    message: &NewMessage,
    sealer: &Sealer,
) -> Result<u64, Fault> {
    check_sealer(db, sealer).await?;
    let (workspace, conversation) = (
        message.thread.workspace().as_str(),
        message.thread.conversation(),
    );
    if let Some(read) = message.follows {
        let newer: Option<i64> = sqlx::query_scalar(
                "SELECT seq FROM message
                 WHERE workspace = ? AND conversation = ? AND seq > ? AND role = 'assistant' LIMIT 1",
            )
            .bind(workspace)
            .bind(conversation)
            .bind(i64::try_from(read).unwrap_or(i64::MAX))
            .fetch_optional(&mut *db)
            .await?;
        if newer.is_some() {
            return Err(message.overtaken().into());
        }
    }
    let place = sqlx::query(
        "INSERT INTO thread (workspace, conversation, last) VALUES (?, ?, 1)
             ON CONFLICT (workspace, conversation) DO UPDATE SET last = last + 1
             RETURNING conversation, last",
    )
    .bind(workspace)
    .bind(conversation)
    .fetch_one(&mut *db)
    .await?;
    let seq: i64 = Columns::new(&place, "thread", "conversation").get("last")?;
    let (call_message, position) = match message.answers {
        Some(CallPlace { message, position }) => (Some(message.cast_signed()), Some(position)),
        None => (None, None),
    };
    let place = || place::message(&message.thread, seq.cast_unsigned());
    let content = sealer.seal(&message.content, place)?;
    let done = sqlx::query(
            "INSERT INTO message (workspace, conversation, seq, role, call_message, call_position, content, at, sealed, seal_key)
             VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
             ON CONFLICT (workspace, conversation, call_message, call_position) WHERE call_message IS NOT NULL DO NOTHING",
        )
        .bind(workspace)
        .bind(conversation)
        .bind(seq)
        .bind(message.role.as_str())
        .bind(call_message)
        .bind(position)
        .bind(content.text)
        .bind(message.at.as_millis())
        .bind(content.sealed())
        .bind(content.key())
        .execute(&mut *db)
        .await?;
    if done.rows_affected() == 0 {
        return Err(message.answered().into());
    }
    Ok(seq.cast_unsigned())
}

impl SqliteStore {
    /// Returns the messages of a thread after a sequence number. A negative limit reads all of them.
    async fn messages(
        &self,
        thread: &ThreadId,
        after: u64,
        limit: i64,
    ) -> Result<Vec<Message>, Fault> {
        // No sequence number is larger than `i64::MAX`.
        let after = i64::try_from(after).unwrap_or(i64::MAX);
        let rows = sqlx::query(
            "SELECT workspace, conversation, seq, role, call_message, call_position, turn, content, at, sealed
             FROM message WHERE workspace = ? AND conversation = ? AND seq > ? ORDER BY seq LIMIT ?",
        );
        let rows = rows.bind(thread.workspace().as_str());
        let rows = rows.bind(thread.conversation()).bind(after).bind(limit);
        let rows = rows.fetch_all(&self.readers).await?;
        let read = |reader: &Reader| rows.iter().map(|row| read(row, reader)).collect();
        Ok(self.contents.read(read).await?)
    }
}

impl ThreadStore for SqliteStore {
    fn journal(&self) -> Option<Journal> {
        Some(self.as_journal())
    }

    fn append(&self, message: NewMessage) -> StoreFuture<'_, u64> {
        step(async move {
            // The check does not need the write lock.
            message.check()?;
            let sealer = self.contents.sealer().await?;
            self.change(|db| Box::pin(async move { append(db, &message, &sealer).await }))
                .await
        })
    }

    fn read<'a>(
        &'a self,
        thread: &'a ThreadId,
        after: Option<u64>,
    ) -> StoreFuture<'a, Vec<Message>> {
        step(self.messages(thread, after.unwrap_or(0), -1))
    }

    fn read_page<'a>(
        &'a self,
        thread: &'a ThreadId,
        after: u64,
        limit: u32,
    ) -> StoreFuture<'a, Vec<Message>> {
        step(self.messages(thread, after, i64::from(limit)))
    }

    fn message_at<'a>(
        &'a self,
        thread: &'a ThreadId,
        role: Role,
        at: Timestamp,
    ) -> StoreFuture<'a, Option<u64>> {
        step(async move {
            let found = sqlx::query_scalar(
                "SELECT seq FROM message WHERE workspace = ? AND conversation = ? AND role = ? AND at = ? ORDER BY seq LIMIT 1",
            );
            let found = found.bind(thread.workspace().as_str());
            let found = found.bind(thread.conversation()).bind(role.as_str());
            let found: Option<i64> = found
                .bind(at.as_millis())
                .fetch_optional(&self.readers)
                .await?;
            Ok(found.map(i64::cast_unsigned))
        })
    }

    fn erase<'a>(&'a self, thread: &'a ThreadId) -> StoreFuture<'a, u64> {
        step(async move {
            let erased =
                sqlx::query("DELETE FROM message WHERE workspace = ? AND conversation = ?");
            let erased = erased.bind(thread.workspace().as_str());
            let erased = self.update(erased.bind(thread.conversation())).await?;
            self.forget().await?;
            Ok(erased)
        })
    }
}
