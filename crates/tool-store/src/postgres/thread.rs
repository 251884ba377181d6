//! The tables of threads in PostgreSQL.

use crate::sql::contents::{Reader, Sealer};
use crate::sql::records::message as read;
use crate::sql::sealed::place;
use crate::store::{
    CallPlace, Journal, Message, NewMessage, Role, StoreFuture, ThreadId, ThreadStore, Timestamp,
};

use super::change::{Change, change, fetch};
use super::sealed::check_sealer;
use super::text::storable;
use super::{Fault, PostgresStore, step, stored};

/// Appends a message to its thread. The caller has [checked](NewMessage::check) the message.
pub(super) async fn append(
    db: &mut Change<'_>,
    message: &NewMessage,
    sealer: &Sealer,
) -> Result<u64, Fault> {
    check_sealer(db, sealer).await?;
    let (workspace, conversation) = (
        message.thread.workspace().as_str(),
        message.thread.conversation(),
    );
    // This locks the row of the thread, so that appends to it run one after the other.
    let seq: i64 = db
        .scalar(
            "INSERT INTO tool_store.thread AS t (workspace, conversation, last) VALUES ($1, $2, 1)
         ON CONFLICT (workspace, conversation) DO UPDATE SET last = t.last + 1 RETURNING last",
        )
        .bind(workspace)
        .bind(conversation)
        .fetch_one(&mut **db)
        .await?;
    if let Some(read) = message.follows {
        let newer = db.query(
            "SELECT FROM tool_store.message
             WHERE workspace = $1 AND conversation = $2 AND seq > $3 AND role = 'assistant' LIMIT 1",
        )
        .bind(workspace)
        .bind(conversation)
        .bind(stored(read))
        .fetch_optional(&mut **db)
        .await?;
        if newer.is_some() {
            return Err(message.overtaken().into());
        }
    }
    let (call_message, position) = match message.answers {
        Some(CallPlace { message, position }) => (Some(stored(message)), Some(i64::from(position))),
        None => (None, None),
    };
    let place = || place::message(&message.thread, seq.cast_unsigned());
    let content = sealer.seal(&message.content, place)?;
    let done = db.query(
        "INSERT INTO tool_store.message (workspace, conversation, seq, role, call_message, call_position, content, at, sealed, seal_key)
         VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)
         ON CONFLICT (workspace, conversation, call_message, call_position) WHERE call_message IS NOT NULL DO NOTHING",
    )
        .bind(workspace)
        .bind(conversation)
        .bind(seq)
        .bind(message.role.as_str())
        .bind(call_message)
        .bind(position)
        .bind(storable(content.text))
        .bind(message.at.as_millis())
        .bind(content.sealed())
        .bind(content.key())
        .execute(&mut **db)
        .await?;
    if done.rows_affected() == 0 {
        return Err(message.answered().into());
    }
    Ok(seq.cast_unsigned())
}

impl PostgresStore {
    async fn messages(
        &self,
        thread: &ThreadId,
        after: u64,
        limit: Option<i64>,
    ) -> Result<Vec<Message>, Fault> {
        let rows = fetch!(
            self,
            fetch_all,
            sqlx::query(
                "SELECT workspace, conversation, seq, role, call_message, call_position, content, at, sealed
                 FROM tool_store.message
                 WHERE workspace = $1 AND conversation = $2 AND seq > $3 ORDER BY seq LIMIT $4",
            )
            .bind(thread.workspace().as_str())
            .bind(thread.conversation())
            .bind(stored(after))
            .bind(limit)
        );
        let read = |reader: &Reader| rows.iter().map(|row| read(row, reader)).collect();
        Ok(self.contents().read(read).await?)
    }
}

impl ThreadStore for PostgresStore {
    fn journal(&self) -> Option<Journal> {
        Some(self.as_journal())
    }

    fn append(&self, message: NewMessage) -> StoreFuture<'_, u64> {
        step(async move {
            message.check()?;
            let sealer = self.contents().sealer().await?;
            change!(self, Vec::new(), db => append(db, &message, &sealer).await)
        })
    }

    fn read<'a>(
        &'a self,
        thread: &'a ThreadId,
        after: Option<u64>,
    ) -> StoreFuture<'a, Vec<Message>> {
        // In PostgreSQL, `LIMIT NULL` returns all rows.
        step(self.messages(thread, after.unwrap_or(0), None))
    }

    fn read_page<'a>(
        &'a self,
        thread: &'a ThreadId,
        after: u64,
        limit: u32,
    ) -> StoreFuture<'a, Vec<Message>> {
        step(self.messages(thread, after, Some(i64::from(limit))))
    }

    fn message_at<'a>(
        &'a self,
        thread: &'a ThreadId,
        role: Role,
        at: Timestamp,
    ) -> StoreFuture<'a, Option<u64>> {
        step(async move {
            let found: Option<i64> = fetch!(
                self,
                fetch_optional,
                sqlx::query_scalar(
                    "SELECT seq FROM tool_store.message
                     WHERE workspace = $1 AND conversation = $2 AND role = $3 AND at = $4 ORDER BY seq LIMIT 1",
                )
                .bind(thread.workspace().as_str())
                .bind(thread.conversation())
                .bind(role.as_str())
                .bind(at.as_millis())
            );
            Ok(found.map(i64::cast_unsigned))
        })
    }

    fn erase<'a>(&'a self, thread: &'a ThreadId) -> StoreFuture<'a, u64> {
        step(async move {
            change!(self, Vec::new(), db => {
                let erased = db.query(
                    "DELETE FROM tool_store.message WHERE workspace = $1 AND conversation = $2",
                );
                let erased = erased.bind(thread.workspace().as_str());
                let erased = erased.bind(thread.conversation()).execute(&mut **db).await?;
                Ok(erased.rows_affected())
            })
        })
    }
}
