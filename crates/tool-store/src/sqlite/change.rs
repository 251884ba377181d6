//! Changes by operators, and the responses to requests with an idempotency key, in SQLite.

use crate::sql::administration as shared;
use crate::sql::contents::{Reader, Sealer};
use crate::sql::directory;
use crate::sql::record_change;
use crate::sql::records::stored_response;
use crate::sql::sealed::place;
use crate::store::{
    Applied, ApprovalRow, Change, ChangeRequest, ChangeStore, Changed, Erasure, RequestKey, RunRow,
    StoreError, StoreFuture, Timestamp, Workspace,
};
use sqlx::sqlite::SqliteConnection;
use sqlx::{Executor, QueryBuilder, Sqlite};

use super::sealed::check_sealer;
use super::{
    Fault, SqliteStore, administration, approval, audit, ledger, maintenance, run, step, switch,
};

/// The result of a change. A refusal is part of the output, because a late answer to an approval request is refused but marks the request as
/// expired.
type Answer<T> = Result<Result<T, StoreError>, Fault>;

/// Maximum number of expired responses that a request with a key removes.
const SWEPT: u32 = 100;

/// Returns the response that is stored under an idempotency key, if the key has not expired. Fails if the key was used for a different request.
pub(super) async fn find_request<T>(
    db: impl Executor<'_, Database = Sqlite>,
    workspace: &Workspace,
    key: &RequestKey<T>,
    reader: &Reader,
) -> Result<Option<String>, Fault> {
    let row = sqlx::query(
        "SELECT key, fingerprint, response, sealed FROM request
         WHERE workspace = ? AND caller = ? AND key = ? AND expires > ?",
    )
    .bind(workspace.as_str())
    .bind(&key.caller)
    .bind(&key.key)
    .bind(key.at.as_millis())
    .fetch_optional(db)
    .await?;
    let read = |row| stored_response(&row, workspace, key, reader);
    Ok(row.map(read).transpose()?)
}

/// Returns the statement that removes at most `most` expired responses.
pub(super) fn expiry(now: Timestamp, most: u32) -> QueryBuilder<Sqlite> {
    let mut query = QueryBuilder::new(
        "DELETE FROM request WHERE (workspace, caller, key) IN
         (SELECT workspace, caller, key FROM request WHERE expires <= ",
    );
    query.push_bind(now.as_millis());
    query.push(" ORDER BY expires LIMIT ");
    query.push_bind(most).push(")");
    query
}

/// Returns the statement that removes the responses with contents that an erasure covers, and the responses to requests of the erased user.
pub(super) fn erasure(of: Erasure<'_>) -> QueryBuilder<Sqlite> {
    let mut query = QueryBuilder::new("DELETE FROM request WHERE workspace = ");
    match of {
        Erasure::Thread(thread) => {
            query.push_bind(thread.workspace().as_str().to_owned());
            query.push(" AND thread = ");
            query.push_bind(thread.conversation().to_owned());
        }
        Erasure::Principal {
            workspace,
            principal,
        } => {
            query.push_bind(workspace.as_str().to_owned());
            query.push(" AND (caller = ");
            query.push_bind(principal.to_owned());
            query.push(" OR principal = ");
            query.push_bind(principal.to_owned()).push(")");
        }
    }
    query
}

/// Stores a response, and removes some expired responses. `contents` are the conversation and the user whose contents the response may contain.
pub(super) async fn save_request<T>(
    db: &mut SqliteConnection,
    workspace: &Workspace,
    key: &RequestKey<T>,
    changed: &T,
    contents: (Option<&str>, Option<&str>),
    sealer: &Sealer,
) -> Result<(), Fault> {
    let response = (key.respond)(changed);
    let place = || place::response(workspace, &key.caller, &key.key);
    let response = sealer.seal(&response, place)?;
    let (thread, principal) = contents;
    expiry(key.at, SWEPT).build().execute(&mut *db).await?;
    sqlx::query(
        "INSERT INTO request (workspace, caller, key, fingerprint, response, thread, principal, expires, sealed, seal_key)
         VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
         ON CONFLICT (workspace, caller, key) DO UPDATE SET fingerprint = excluded.fingerprint, response = excluded.response,
         thread = excluded.thread, principal = excluded.principal, expires = excluded.expires, sealed = excluded.sealed, seal_key = excluded.seal_key",
    )
    .bind(workspace.as_str())
    .bind(&key.caller)
    .bind(&key.key)
    .bind(&key.fingerprint)
    .bind(response.text)
    .bind(thread)
    .bind(principal)
    .bind(key.expires.as_millis())
    .bind(response.sealed())
    .bind(response.key())
    .execute(db)
    .await?;
    Ok(())
}

async fn change(
    db: &mut SqliteConnection,
    workspace: &Workspace,
    change: Change,
    sealer: &Sealer,
    reader: &Reader,
) -> Answer<Changed> {
    Ok(match change {
        Change::Answer { ref id, .. }
        | Change::Assign { ref id, .. }
        | Change::Revoke { ref id } => {
            let before = approval::find(&mut *db, workspace, id, reader).await?;
            let Some(before) = before else {
                return Ok(Err(ApprovalRow::missing(id)));
            };
            let mut row = before.clone();
            let done = row.change(change);
            if row != before {
                approval::save(db, &before, &row, sealer).await?;
            }
            done.map(|()| Changed::Approval(Box::new(row)))
        }
        Change::StopRun { ref id, .. } | Change::EndRun { ref id, .. } => {
            let id = id.clone();
            let mut refused = None;
            let step = run::change_row(db, &id, |row| {
                row.change(change).unwrap_or_else(|error| {
                    refused = Some(error);
                    false
                })
            });
            match (step.await?, refused) {
                (None, _) => Err(RunRow::missing(&id)),
                (Some(_), Some(refused)) => Err(refused),
                (Some((_, row)), None) => Ok(Changed::Run(Box::new(row))),
            }
        }
        Change::Resolve {
            key,
            resolution,
            operator,
            at,
        } => {
            let settled =
                ledger::step_claim(db, &key, |claim| claim.resolve(resolution, &operator, at));
            settled
                .await?
                .map(|((), row)| Changed::Effect(Box::new(row)))
        }
        Change::SetSwitch { switch, expected } => {
            let stored = switch::find(&mut *db, &switch.key).await?;
            if let Err(stale) = expected.check(stored.as_ref()) {
                Err(stale)
            } else {
                let flipped = switch::set(db, switch.clone()).await?;
                Ok(Changed::Switch { switch, flipped })
            }
        }
        Change::Force {
            key,
            resolution,
            operator,
            at,
        } => {
            let settled =
                ledger::step_claim(db, &key, |claim| claim.force(resolution, &operator, at));
            settled
                .await?
                .map(|((), row)| Changed::Effect(Box::new(row)))
        }
        // A refusal of these changes rolls the transaction back, because a part of the change may already be written.
        Change::Instance(change) => Ok(shared::change_instance(db, change).await?),
        Change::Vault(change) => Ok(administration::change_vault(db, change).await?),
        Change::Directory(change) => Ok(directory::change(db, change).await?),
        Change::Record(change) => Ok(record_change::change(db, &change, (sealer, reader)).await?),
        Change::Erase(contents) => Ok(Changed::Erased(
            maintenance::erase(db, contents.erasure()).await?,
        )),
        Change::Note => Ok(Changed::Noted),
    })
}

async fn apply(
    db: &mut SqliteConnection,
    request: ChangeRequest,
    sealer: &Sealer,
    reader: &Reader,
) -> Answer<Applied> {
    check_sealer(db, sealer).await?;
    let workspace = request.workspace().clone();
    let ChangeRequest {
        change: wanted,
        audit: mut row,
        key,
    } = request;
    if let Some(key) = &key
        && let Some(response) = find_request(&mut *db, &workspace, key, reader).await?
    {
        return Ok(Ok(Applied::Repeated(response)));
    }
    let changed = match change(&mut *db, &workspace, wanted, sealer, reader).await? {
        Ok(changed) => changed,
        Err(refused) => return Ok(Err(refused)),
    };
    changed.complete(&mut row);
    audit::save(&mut *db, &row).await?;
    if let Some(key) = &key {
        let contents = changed.contents_of();
        save_request(db, &workspace, key, &changed, contents, sealer).await?;
    }
    Ok(Ok(Applied::Changed(changed)))
}

impl SqliteStore {
    /// Applies a request. If its rows need a key that was not fetched, fetches the key and applies the request again.
    async fn apply_request(&self, request: ChangeRequest) -> Result<Applied, Fault> {
        let sealer = self.contents.sealer_if(request.has_contents()).await?;
        let reader = self.contents.reader();
        loop {
            let (request, sealer, rows) = (request.clone(), sealer.clone(), reader.clone());
            let applied = self.change(move |db| {
                Box::pin(async move { apply(db, request, &sealer, &rows).await })
            });
            match applied.await {
                Ok(applied) => return Ok(applied?),
                Err(fault) => reader.fetch_after(fault).await?,
            }
        }
    }
}

impl ChangeStore for SqliteStore {
    fn apply(&self, request: ChangeRequest) -> StoreFuture<'_, Applied> {
        step(async move {
            request.check()?;
            let removes_contents = match &request.change {
                Change::Erase(_) => true,
                Change::Record(change) => change.removes_contents(),
                _ => false,
            };
            if let Change::Record(change) = &request.change
                && change.writes_clear_text()
            {
                self.contents.check_unsealed()?;
            }
            let applied = self.apply_request(request).await?;
            if removes_contents && matches!(applied, Applied::Changed(_)) {
                self.forget().await?;
            }
            Ok(applied)
        })
    }
}
