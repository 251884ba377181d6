//! Events in PostgreSQL. Triggers write them.
//!
//! The position of a reader is a snapshot: the text of `pg_current_snapshot()` of its last read. The next read returns the events whose transaction
//! was not visible in this snapshot. So the events of a transaction that commits late are read late and exactly once, and no reader waits for open
//! transactions, including transactions of other databases on the server. If a read is not complete, the position also contains the number of the
//! last event and the snapshot of this read, which determines the remaining events.

use crate::store::{
    Event, EventPage, EventStore, StoreFuture, Timestamp, Workspace, kept_since, read_event,
};
use sqlx::postgres::PgRow;
use sqlx::{Postgres, QueryBuilder, Row as _};

use super::change::fetch;
use super::text::storable;
use super::{Fault, PostgresStore, step};

/// The longest text that is read as a position. A snapshot has about 10 bytes for each transaction that was running.
const LONGEST: usize = 100_000;

/// Returns the statement that removes events whose retention period has ended. The newest event is kept, because it is the position of readers.
pub(super) fn expiry(now: Timestamp, most: u32) -> QueryBuilder<Postgres> {
    let mut query = QueryBuilder::new(
        "DELETE FROM tool_store.event WHERE ctid = ANY(ARRAY(SELECT ctid FROM tool_store.event WHERE at < ",
    );
    query.push_bind(kept_since(now).as_millis());
    query.push(" AND seq < (SELECT max(seq) FROM tool_store.event) LIMIT ");
    query.push_bind(i64::from(most));
    query.push(" FOR UPDATE SKIP LOCKED))");
    query
}

/// The current position: the identity of the database, its snapshot, and the newest event. Each server assigns its own transaction ids, so the
/// identity changes when a dump is restored.
macro_rules! now {
    () => {
        "(SELECT (SELECT system_identifier FROM pg_control_system()) || '-' || (SELECT oid FROM pg_database WHERE datname = current_database()) \
            || '-' || 'tool_store.event'::regclass::oid AS epoch, pg_current_snapshot()::text AS snapshot) now \
         CROSS JOIN LATERAL (SELECT seq, tag FROM tool_store.event ORDER BY seq DESC LIMIT 1) newest"
    };
}

/// The query for the current position in the stream of events.
pub(super) const NOW: &str = concat!(
    "SELECT epoch, snapshot, newest.seq AS newest, newest.tag AS newest_tag FROM ",
    now!()
);

/// The query for the current position and for the events of a workspace ($1) whose number is greater than $4. The events were not visible in the
/// snapshot $2, and are visible in the later snapshot $3 if it is not null. `known` is whether the event $6 with the tag $7 is stored.
pub(super) const AFTER: &str = concat!(
    "SELECT epoch, snapshot, newest.seq AS newest, newest.tag AS newest_tag, \
        EXISTS (SELECT FROM tool_store.event WHERE seq = $6 AND tag = $7) AS known, new.seq, resource, key, at, new.tag FROM ",
    now!(),
    " LEFT JOIN LATERAL (SELECT seq, resource, key, at, tag FROM tool_store.event \
        WHERE (workspace = $1 OR workspace IS NULL) AND x >= pg_snapshot_xmin($2::pg_snapshot) \
        AND NOT pg_visible_in_snapshot(x, $2::pg_snapshot) AND ($3::text IS NULL OR pg_visible_in_snapshot(x, $3::pg_snapshot)) \
        AND seq > $4 ORDER BY seq LIMIT $5) new ON TRUE ORDER BY new.seq"
);

/// The position of a reader in the stream of events.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Position {
    epoch: String,
    /// The snapshot of the last complete read.
    from: String,
    /// The snapshot of a read that is not complete; `None` after a complete read.
    to: Option<String>,
    /// The number of an event that was stored at this position. Within a read that is not complete, it is the last event that was read.
    seq: i64,
    tag: String,
}

impl Position {
    fn parse(text: &str) -> Option<Self> {
        if text.len() > LONGEST {
            return None;
        }
        let mut parts = text.split('.');
        let mut next = || parts.next().map(str::to_owned);
        let (epoch, from, to, seq, tag) = (next()?, next()?, next()?, next()?, next()?);
        let to = (!to.is_empty()).then_some(to);
        let is_valid =
            parts.next().is_none() && is_snapshot(&from) && to.as_deref().is_none_or(is_snapshot);
        let seq = seq.parse().ok()?;
        is_valid.then_some(Self {
            epoch,
            from,
            to,
            seq,
            tag,
        })
    }

    fn text(&self) -> String {
        let Self {
            epoch,
            from,
            to,
            seq,
            tag,
        } = self;
        format!(
            "{epoch}.{from}.{}.{seq}.{tag}",
            to.as_deref().unwrap_or_default()
        )
    }

    /// Returns the current position, from a row of [`NOW`] or [`AFTER`].
    fn now(row: &PgRow) -> Result<Self, Fault> {
        Ok(Self {
            epoch: row.try_get("epoch")?,
            from: row.try_get("snapshot")?,
            to: None,
            seq: row.try_get("newest")?,
            tag: row.try_get("newest_tag")?,
        })
    }
}

/// Returns whether PostgreSQL reads a text as a `pg_snapshot`: `xmin:xmax:ids`, with ascending ids between both.
fn is_snapshot(text: &str) -> bool {
    let mut parts = text.split(':');
    let (Some(xmin), Some(xmax), Some(ids), None) =
        (parts.next(), parts.next(), parts.next(), parts.next())
    else {
        return false;
    };
    let number = |text: &str| {
        let is_plain = text.bytes().all(|byte| byte.is_ascii_digit());
        text.parse::<u64>().ok().filter(|_| is_plain)
    };
    let (Some(xmin), Some(xmax)) = (number(xmin), number(xmax)) else {
        return false;
    };
    let mut last = xmin;
    let mut is_first = true;
    let are_ascending = ids.split(',').filter(|_| !ids.is_empty()).all(|id| {
        let Some(id) = number(id) else { return false };
        let follows = id > last || (is_first && id == last);
        (last, is_first) = (id, false);
        follows && id < xmax
    });
    xmin > 0 && xmin <= xmax && are_ascending
}

impl PostgresStore {
    async fn events_after(
        &self,
        workspace: &Workspace,
        after: Option<&str>,
        limit: u32,
    ) -> Result<EventPage, Fault> {
        let Some(mut position) = after.and_then(Position::parse) else {
            let row = fetch!(self, fetch_one, sqlx::query(NOW));
            return Ok(EventPage {
                next: Position::now(&row)?.text(),
                is_reset: after.is_some(),
                ..EventPage::default()
            });
        };
        let most = usize::try_from(limit).unwrap_or(usize::MAX);
        let mut events = Vec::new();
        loop {
            let left = i64::try_from(most - events.len()).unwrap_or(i64::MAX);
            // The number selects rows only within a read that is not complete: a transaction that commits later may have lower numbers.
            let passed = position.to.as_ref().map_or(0, |_| position.seq);
            let rows = fetch!(
                self,
                fetch_all,
                sqlx::query(AFTER)
                    .bind(workspace.as_str())
                    .bind(&position.from)
                    .bind(&position.to)
                    .bind(passed)
                    .bind(left)
                    .bind(position.seq)
                    .bind(storable(&position.tag))
            );
            let Some(first) = rows.first() else {
                return Err(sqlx::Error::RowNotFound.into());
            };
            let now = Position::now(first)?;
            if position.epoch != now.epoch || !first.try_get::<bool, _>("known")? {
                return Ok(EventPage {
                    next: now.text(),
                    is_reset: true,
                    ..EventPage::default()
                });
            }
            let to = position.to.clone().unwrap_or_else(|| now.from.clone());
            for row in &rows {
                let Some(seq) = row.try_get::<Option<i64>, _>("seq")? else {
                    // The left join returns one row without an event if there are no events.
                    break;
                };
                let place = Position {
                    to: Some(to.clone()),
                    seq,
                    tag: row.try_get("tag")?,
                    ..position.clone()
                };
                let (resource, key): (&str, &str) = (row.try_get("resource")?, row.try_get("key")?);
                if let Some((resource, key)) = read_event(resource, key) {
                    events.push(Event {
                        position: place.text(),
                        resource,
                        key,
                        at: Timestamp::from_millis(row.try_get("at")?),
                    });
                }
                if events.len() >= most {
                    return Ok(EventPage {
                        next: place.text(),
                        events,
                        is_reset: false,
                    });
                }
            }
            if position.to.is_none() {
                return Ok(EventPage {
                    next: now.text(),
                    events,
                    is_reset: false,
                });
            }
            // All rows of this read were returned, so its snapshot is the beginning of the next read.
            (position.from, position.to) = (to, None);
        }
    }
}

impl EventStore for PostgresStore {
    fn events<'a>(
        &'a self,
        workspace: &'a Workspace,
        after: Option<&'a str>,
        limit: u32,
    ) -> StoreFuture<'a, EventPage> {
        step(self.events_after(workspace, after, limit))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn position_is_read_back() {
        for to in [None, Some("10:12:10,11".to_owned())] {
            let position = Position {
                epoch: "7-1-2".to_owned(),
                from: "10:10:".to_owned(),
                to,
                seq: 3,
                tag: "ab".to_owned(),
            };
            assert_eq!(Position::parse(&position.text()), Some(position));
        }
    }

    #[test]
    fn invalid_positions_are_refused() {
        for text in [
            "",
            "1",
            "e.1:1:.x.1.t",
            "e.1:1:..x.t",
            "e.1:1:..1.t.u",
            "e.2:1:..1.t",
            "e.1:3:3..1.t",
            "e.1:9:4,2..1.t",
            "e.1:9:2,2..1.t",
            "e.0:1:..1.t",
            "e.+1:2:..1.t",
        ] {
            assert_eq!(Position::parse(text), None, "{text}");
        }
        assert!(Position::parse("e.1:9:1,2,8..1.t").is_some());
    }
}
