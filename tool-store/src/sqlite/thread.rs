//! Threads in SQLite.

use sqlx::sqlite::SqliteRow;
use tool_core::store::{Message, NewMessage, Role, StoreError, StoreFuture, ThreadStore};

use super::columns::Columns;
use super::{Fault, SqliteStore, step};

fn read(row: &SqliteRow) -> Result<Message, StoreError> {
    let columns = Columns::new(row, "message", "thread");
    Ok(Message {
        seq: columns.number("seq")?,
        thread: columns.get("thread")?,
        turn: columns.get("turn")?,
        role: columns.word("role", Role::from_word)?,
        call: columns.maybe("call")?,
        content: columns.get("content")?,
        at: columns.time("at")?,
    })
}

impl SqliteStore {
    async fn append_message(&self, message: NewMessage) -> Result<u64, Fault> {
        message.check()?;
        let mut change = self.change().await?;
        let placed = sqlx::query(
            "INSERT INTO message (thread, seq, turn, role, call, content, at)
             VALUES (?1, 1 + coalesce((SELECT max(seq) FROM message WHERE thread = ?1), 0), ?2, ?3, ?4, ?5, ?6)
             ON CONFLICT (thread, turn, call) WHERE role = 'tool' DO NOTHING
             RETURNING thread, seq",
        )
        .bind(&message.thread)
        .bind(&message.turn)
        .bind(message.role.as_str())
        .bind(&message.call)
        .bind(&message.content)
        .bind(message.at.as_millis())
        .fetch_optional(&mut *change)
        .await?;
        let Some(placed) = placed else {
            return Err(message.answered().into());
        };
        let seq = Columns::new(&placed, "message", "thread").number("seq")?;
        change.commit().await?;
        Ok(seq)
    }
}

impl ThreadStore for SqliteStore {
    fn append(&self, message: NewMessage) -> StoreFuture<'_, u64> {
        step(self.append_message(message))
    }

    fn read<'a>(&'a self, thread: &'a str, after: Option<u64>) -> StoreFuture<'a, Vec<Message>> {
        step(async move {
            // No thread is longer than this.
            let after = i64::try_from(after.unwrap_or(0)).unwrap_or(i64::MAX);
            let rows = sqlx::query(
                "SELECT thread, seq, turn, role, call, content, at FROM message WHERE thread = ? AND seq > ? ORDER BY seq",
            );
            let rows = rows.bind(thread).bind(after).fetch_all(&self.readers);
            Ok(rows.await?.iter().map(read).collect::<Result<_, _>>()?)
        })
    }

    fn erase<'a>(&'a self, thread: &'a str) -> StoreFuture<'a, u64> {
        step(async move {
            let erased = sqlx::query("DELETE FROM message WHERE thread = ?").bind(thread);
            let erased = self.update(erased).await?;
            self.forget().await?;
            Ok(erased)
        })
    }
}
