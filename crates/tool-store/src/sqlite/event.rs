//! Events in SQLite. The triggers of migration 12 write them.

use crate::sql::columns::Columns;
use crate::store::{
    Event, EventPage, EventStore, StoreFuture, Timestamp, Workspace, kept_since, read_event,
};
use sqlx::{QueryBuilder, Row as _, Sqlite};

use super::{Fault, SqliteStore, step};

/// Returns the statement that removes events whose retention period has ended. The newest event is kept, because it is the position of readers.
///
/// The oldest events have the lowest numbers, so the search needs no index of times, which would write one more page for each event.
pub(super) fn expiry(now: Timestamp, most: u32) -> QueryBuilder<Sqlite> {
    let mut query =
        QueryBuilder::new("DELETE FROM event WHERE seq < (SELECT min(seq) FROM event) + ");
    query.push_bind(most);
    query.push(" AND seq < (SELECT max(seq) FROM event) AND at < ");
    query.push_bind(kept_since(now).as_millis());
    query
}

/// The query for the newest event.
const NEWEST: &str = "SELECT seq, tag FROM event ORDER BY seq DESC LIMIT 1";

/// The query for whether an event is stored.
const KNOWN: &str = "SELECT EXISTS (SELECT 1 FROM event WHERE seq = ? AND tag = ?)";

/// The query for the events of a workspace after a number, merged with the events that concern every workspace.
///
/// The query searches the index twice, each time with the limit, because one search with `OR` would read and sort every later event.
const AFTER: &str = "SELECT * FROM (SELECT seq, resource, key, at, tag FROM event WHERE seq > ?1 AND workspace = ?2 ORDER BY seq LIMIT ?3)
     UNION ALL
     SELECT * FROM (SELECT seq, resource, key, at, tag FROM event WHERE seq > ?1 AND workspace IS NULL ORDER BY seq LIMIT ?3)
     ORDER BY seq LIMIT ?3";

fn position(seq: i64, tag: &str) -> String {
    format!("{seq}.{tag}")
}

fn parse(position: &str) -> Option<(i64, &str)> {
    let (seq, tag) = position.split_once('.')?;
    Some((seq.parse().ok()?, tag))
}

impl SqliteStore {
    async fn events_after(
        &self,
        workspace: &Workspace,
        after: Option<&str>,
        limit: u32,
    ) -> Result<EventPage, Fault> {
        // All statements run in one transaction, so that they read the same state.
        let mut db = self.readers.begin().await?;
        let newest = sqlx::query(NEWEST).fetch_one(&mut *db).await?;
        let mut page = EventPage {
            next: position(newest.try_get("seq")?, newest.try_get("tag")?),
            ..EventPage::default()
        };
        let Some(after) = after else { return Ok(page) };
        let known = match parse(after) {
            None => None,
            Some((seq, tag)) => {
                let known = sqlx::query_scalar(KNOWN).bind(seq).bind(tag);
                let known: bool = known.fetch_one(&mut *db).await?;
                known.then_some(seq)
            }
        };
        let Some(seq) = known else {
            page.is_reset = true;
            return Ok(page);
        };
        let rows = sqlx::query(AFTER)
            .bind(seq)
            .bind(workspace.as_str())
            .bind(limit)
            .fetch_all(&mut *db)
            .await?;
        db.rollback().await?;
        let is_full = rows.len() >= usize::try_from(limit).unwrap_or(usize::MAX);
        for row in &rows {
            let columns = Columns::new(row, "event", "seq");
            let position = position(row.try_get("seq")?, row.try_get("tag")?);
            if is_full {
                page.next.clone_from(&position);
            }
            let (resource, key): (&str, &str) = (row.try_get("resource")?, row.try_get("key")?);
            let Some((resource, key)) = read_event(resource, key) else {
                continue;
            };
            page.events.push(Event {
                position,
                resource,
                key,
                at: columns.time("at")?,
            });
        }
        Ok(page)
    }
}

impl EventStore for SqliteStore {
    fn events<'a>(
        &'a self,
        workspace: &'a Workspace,
        after: Option<&'a str>,
        limit: u32,
    ) -> StoreFuture<'a, EventPage> {
        step(self.events_after(workspace, after, limit))
    }
}
