//! Changes by operators, and the responses to requests with an idempotency key, in PostgreSQL.

use crate::digest::sha256;
use crate::sql::administration as shared;
use crate::sql::contents::{Reader, Sealer};
use crate::sql::directory;
use crate::sql::record_change;
use crate::sql::records::stored_response;
use crate::sql::sealed::place;
use crate::store::{
    Applied, Change as Wanted, ChangeRequest, ChangeStore, Changed, Erasure, RecordChange,
    RequestKey, RunRow, StoreError, StoreFuture, Timestamp, Workspace,
};
use sqlx::{Postgres, QueryBuilder};

use super::change::{Change, change};
use super::sealed::check_sealer;
use super::text::storable;
use super::{
    Fault, PostgresStore, administration, approval, audit, enablement, ledger, lock_number,
    long_term, maintenance, run, step, stored_tool, switch,
};

/// The result of a change. A refusal is part of the output, because a late answer to an approval request is refused but marks the request as
/// expired.
type Answer<T> = Result<Result<T, StoreError>, Fault>;

/// The query for the stored response of an idempotency key.
pub(super) const FIND: &str = "SELECT key, fingerprint, response, sealed FROM tool_store.request \
     WHERE workspace = $1 AND caller = $2 AND key = $3 AND lapses > $4";

/// The statement that removes some expired responses. A request with a key removes at most 100, so that each request takes about the same time.
pub(super) const SWEEP: &str = "DELETE FROM tool_store.request WHERE ctid = ANY(ARRAY(SELECT ctid FROM tool_store.request \
     WHERE lapses <= $1 ORDER BY lapses LIMIT 100 FOR UPDATE SKIP LOCKED))";

/// Returns the statement that removes the responses with contents that an erasure covers, and the responses to requests of the erased user.
pub(super) fn erasure(of: Erasure<'_>) -> QueryBuilder<Postgres> {
    let mut query = QueryBuilder::new("DELETE FROM tool_store.request WHERE workspace = ");
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

/// Returns the response that is stored under an idempotency key, if the key has not expired. Fails if the key was used for a different request.
pub(super) async fn find<T>(
    db: &mut Change<'_>,
    workspace: &Workspace,
    key: &RequestKey<T>,
    reader: &Reader,
) -> Result<Option<String>, Fault> {
    let row = db
        .query(FIND)
        .bind(workspace.as_str())
        .bind(&key.caller)
        .bind(&key.key)
        .bind(db.clock.now(key.at))
        .fetch_optional(&mut **db)
        .await?;
    let read = |row| stored_response(&row, workspace, key, reader);
    Ok(row.map(read).transpose()?)
}

/// Stores a response, and removes some expired responses. `contents` are the conversation and the user whose contents the response may contain.
pub(super) async fn save<T>(
    db: &mut Change<'_>,
    workspace: &Workspace,
    key: &RequestKey<T>,
    changed: &T,
    contents: (Option<&str>, Option<&str>),
    sealer: &Sealer,
) -> Result<(), Fault> {
    db.query(SWEEP)
        .bind(db.clock.now(key.at))
        .execute(&mut **db)
        .await?;
    let response = (key.respond)(changed);
    let place = || place::response(workspace, &key.caller, &key.key);
    let response = sealer.seal(&response, place)?;
    let (thread, principal) = contents;
    db.query(
        "INSERT INTO tool_store.request (workspace, caller, key, fingerprint, response, thread, principal, lapses, sealed, seal_key)
         VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)
         ON CONFLICT (workspace, caller, key) DO UPDATE SET fingerprint = excluded.fingerprint, response = excluded.response,
         thread = excluded.thread, principal = excluded.principal, lapses = excluded.lapses, sealed = excluded.sealed, seal_key = excluded.seal_key",
    )
    .bind(workspace.as_str())
    .bind(&key.caller)
    .bind(&key.key)
    .bind(&key.fingerprint)
    .bind(storable(response.text))
    .bind(thread.map(ToOwned::to_owned))
    .bind(principal.map(ToOwned::to_owned))
    .bind(db.clock.lapses(key.expires, key.at))
    .bind(response.sealed())
    .bind(response.key())
    .execute(&mut **db)
    .await?;
    Ok(())
}

async fn make(
    db: &mut Change<'_>,
    workspace: &Workspace,
    wanted: Wanted,
    keys: (&Sealer, &Reader),
) -> Answer<Changed> {
    Ok(match wanted {
        Wanted::Answer { ref id, .. }
        | Wanted::Assign { ref id, .. }
        | Wanted::Revoke { ref id } => {
            let id = id.clone();
            let now = match &wanted {
                Wanted::Answer { answer, .. } => Some(answer.at),
                // An assignment compares its expected row with the stored row, so the deadline must not be converted.
                _ => None,
            };
            let step =
                approval::change_row(db, (workspace, &id), now, keys, |row| row.change(wanted));
            step.await?.map(|row| Changed::Approval(Box::new(row)))
        }
        Wanted::StopRun { ref id, .. } | Wanted::EndRun { ref id, .. } => {
            let id = id.clone();
            let now = match &wanted {
                Wanted::EndRun { at, .. } => *at,
                _ => Timestamp::now(),
            };
            let mut refused = None;
            let step = run::change_row(db, &id, now, |row| {
                row.change(wanted).unwrap_or_else(|error| {
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
        Wanted::Resolve {
            key,
            resolution,
            operator,
            at,
        } => {
            let settled = ledger::step_claim(db, &key, at, |claim| {
                claim.resolve(resolution, &operator, at)
            });
            settled
                .await?
                .map(|((), row)| Changed::Effect(Box::new(row)))
        }
        Wanted::SetSwitch { switch, expected } => {
            let flipped = switch::set(db, &switch, &expected).await?;
            Ok(Changed::Switch { switch, flipped })
        }
        Wanted::Force {
            key,
            resolution,
            operator,
            at,
        } => {
            let settled =
                ledger::step_claim(db, &key, at, |claim| claim.force(resolution, &operator, at));
            settled
                .await?
                .map(|((), row)| Changed::Effect(Box::new(row)))
        }
        // A refusal of these changes rolls the transaction back, because a part of the change may already be written.
        Wanted::Instance(change) => {
            enablement::lock(db).await?;
            Ok(shared::change_instance(db, change).await?)
        }
        Wanted::Vault(change) => Ok(administration::change_vault(db, &change).await?),
        Wanted::Directory(change) => Ok(directory::change(db, change).await?),
        Wanted::Record(change) => Ok(record_change::change(db, &change, keys).await?),
        Wanted::Erase(contents) => Ok(Changed::Erased(
            maintenance::erase(db, contents.erasure()).await?,
        )),
        Wanted::Note => Ok(Changed::Noted),
    })
}

async fn apply(
    db: &mut Change<'_>,
    request: ChangeRequest,
    (sealer, reader): (&Sealer, &Reader),
) -> Answer<Applied> {
    check_sealer(db, sealer).await?;
    let workspace = request.workspace().clone();
    let ChangeRequest {
        change: wanted,
        audit: mut row,
        key,
    } = request;
    if let Some(key) = &key
        && let Some(response) = find(db, &workspace, key, reader).await?
    {
        return Ok(Ok(Applied::Repeated(response)));
    }
    let changed = match make(db, &workspace, wanted, (sealer, reader)).await? {
        Ok(changed) => changed,
        Err(refused) => return Ok(Err(refused)),
    };
    changed.complete(&mut row);
    audit::save(db, &row).await?;
    if let Some(key) = &key {
        let contents = changed.contents_of();
        save(db, &workspace, key, &changed, contents, sealer).await?;
    }
    Ok(Ok(Applied::Changed(changed)))
}

/// Returns the advisory lock of an idempotency key. Of two requests with the same key, the second request finds the response of the first.
pub(super) fn lock<T>(workspace: &Workspace, key: &RequestKey<T>) -> i64 {
    let place = ["request", workspace.as_str(), &key.caller, &key.key];
    lock_number(&sha256(&place))
}

fn locks(request: &ChangeRequest) -> Vec<i64> {
    let keys = request.key.iter();
    let mut locks: Vec<i64> = keys.map(|key| lock(request.workspace(), key)).collect();
    match &request.change {
        // The change compares the stored row with the expected row before it writes, so it locks the workspace.
        Wanted::Directory(change) => locks.push(stored_tool::lock(Some(change.workspace()))),
        Wanted::Record(RecordChange::CorrectMemory { workspace, .. }) => {
            locks.push(long_term::lock(workspace));
        }
        _ => {}
    }
    locks
}

impl PostgresStore {
    /// Applies a request. If its rows need a key that was not fetched, fetches the key and applies the request again.
    async fn apply_request(&self, request: &ChangeRequest) -> Result<Applied, Fault> {
        let sealer = self.contents().sealer_if(request.has_contents()).await?;
        let reader = self.contents().reader();
        loop {
            match self.apply_with(request, (&sealer, &reader)).await {
                Ok(applied) => return Ok(applied?),
                Err(fault) => reader.fetch_after(fault).await?,
            }
        }
    }

    async fn apply_with(
        &self,
        request: &ChangeRequest,
        keys: (&Sealer, &Reader),
    ) -> Answer<Applied> {
        change!(self, locks(request), db => apply(db, request.clone(), keys).await)
    }
}

impl ChangeStore for PostgresStore {
    fn apply(&self, request: ChangeRequest) -> StoreFuture<'_, Applied> {
        step(async move {
            request.check()?;
            if let Wanted::Record(change) = &request.change
                && change.writes_clear_text()
            {
                self.contents().check_unsealed()?;
            }
            let is_enablement = matches!(request.change, Wanted::Instance(_));
            let applied = self.apply_request(&request).await?;
            let generation = match &applied {
                Applied::Changed(Changed::Switch { .. }) => Some(switch::GENERATION),
                Applied::Changed(_) if is_enablement => Some(enablement::GENERATION),
                _ => None,
            };
            if let Some(generation) = generation {
                self.notify(generation).await;
            }
            Ok(applied)
        })
    }
}
