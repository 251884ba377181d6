//! Changes of operators in SQLite.

use crate::sql::administration as shared;
use crate::sql::directory;
use crate::sql::records::stored_response;
use crate::store::{
    Applied, ApprovalRow, Change, ChangeRequest, ChangeStore, Changed, Erasure, RequestKey, RunRow,
    StoreError, StoreFuture, Timestamp, Workspace,
};
use sqlx::sqlite::SqliteConnection;
use sqlx::{Executor, QueryBuilder, Sqlite};

use super::{
    Fault, SqliteStore, administration, approval, audit, ledger, maintenance, run, step, switch,
};

/// A refusal is part of the output, because an answer after the deadline is refused, but changes its row.
type Answer<T> = Result<Result<T, StoreError>, Fault>;

/// Maximum number of expired responses that a request with a key removes.
const SWEPT: u32 = 100;

/// Returns the response that is stored under an idempotency key.
pub(super) async fn find_request<T>(
    db: impl Executor<'_, Database = Sqlite>,
    workspace: &Workspace,
    key: &RequestKey<T>,
) -> Result<Option<String>, Fault> {
    let row = sqlx::query(
        "SELECT key, fingerprint, response FROM request
         WHERE workspace = ? AND caller = ? AND key = ? AND expires > ?",
    )
    .bind(workspace.as_str())
    .bind(&key.caller)
    .bind(&key.key)
    .bind(key.at.as_millis())
    .fetch_optional(db)
    .await?;
    let stored = row.as_ref().map(stored_response).transpose()?;
    let stored = stored.map(|(fingerprint, response)| key.repeated(&fingerprint, response));
    Ok(stored.transpose()?)
}

/// Removes at most `most` expired responses.
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

/// Removes the responses with contents that an erasure covers, and the responses to requests of the erased user.
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
) -> Result<(), Fault> {
    let (thread, principal) = contents;
    expiry(key.at, SWEPT).build().execute(&mut *db).await?;
    sqlx::query(
        "INSERT INTO request (workspace, caller, key, fingerprint, response, thread, principal, expires) VALUES (?, ?, ?, ?, ?, ?, ?, ?)
         ON CONFLICT (workspace, caller, key) DO UPDATE SET fingerprint = excluded.fingerprint, response = excluded.response,
         thread = excluded.thread, principal = excluded.principal, expires = excluded.expires",
    )
    .bind(workspace.as_str())
    .bind(&key.caller)
    .bind(&key.key)
    .bind(&key.fingerprint)
    .bind((key.respond)(changed))
    .bind(thread)
    .bind(principal)
    .bind(key.expires.as_millis())
    .execute(db)
    .await?;
    Ok(())
}

async fn change(
    db: &mut SqliteConnection,
    workspace: &Workspace,
    change: Change,
) -> Answer<Changed> {
    Ok(match change {
        Change::Answer { ref id, .. }
        | Change::Assign { ref id, .. }
        | Change::Revoke { ref id } => {
            let before = approval::find(&mut *db, workspace, id).await?;
            let Some(before) = before else {
                return Ok(Err(ApprovalRow::missing(id)));
            };
            let mut row = before.clone();
            let done = row.change(change);
            if row != before {
                approval::save(db, &row).await?;
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
        // A refusal of these changes rolls back, because a part of the change may have been written before it.
        Change::Instance(change) => Ok(shared::change_instance(db, change).await?),
        Change::Vault(change) => Ok(administration::change_vault(db, change).await?),
        Change::Directory(change) => Ok(directory::change(db, change).await?),
        Change::Erase(contents) => Ok(Changed::Erased(
            maintenance::erase(db, contents.erasure()).await?,
        )),
        Change::Note => Ok(Changed::Noted),
    })
}

async fn apply(db: &mut SqliteConnection, request: ChangeRequest) -> Answer<Applied> {
    let workspace = request.workspace().clone();
    let ChangeRequest {
        change: wanted,
        audit: mut row,
        key,
    } = request;
    if let Some(key) = &key
        && let Some(response) = find_request(&mut *db, &workspace, key).await?
    {
        return Ok(Ok(Applied::Repeated(response)));
    }
    let changed = match change(&mut *db, &workspace, wanted).await? {
        Ok(changed) => changed,
        Err(refused) => return Ok(Err(refused)),
    };
    changed.complete(&mut row);
    audit::save(&mut *db, &row).await?;
    if let Some(key) = &key {
        save_request(db, &workspace, key, &changed, changed.contents_of()).await?;
    }
    Ok(Ok(Applied::Changed(changed)))
}

impl ChangeStore for SqliteStore {
    fn apply(&self, request: ChangeRequest) -> StoreFuture<'_, Applied> {
        step(async move {
            request.check()?;
            let applied = self.change(|db| Box::pin(apply(db, request)));
            let applied = applied.await??;
            if let Applied::Changed(Changed::Erased(_)) = &applied {
                self.forget().await?;
            }
            Ok(applied)
        })
    }
}
