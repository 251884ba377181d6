//! In-memory changes by operators, and the responses to requests with an idempotency key.

use std::collections::BTreeMap;

use super::{MemoryStore, Tables, count, limited};
use crate::store::{
    Applied, ApprovalRow, Change, ChangeRequest, ChangeStore, Changed, Erasure, RequestKey, RunRow,
    StoreError, StoreFuture, Timestamp, Workspace,
};

/// The responses to requests with an idempotency key, by workspace, user and key.
#[derive(Default)]
pub(super) struct Requests(BTreeMap<(Workspace, String, String), Request>);

struct Request {
    fingerprint: String,
    response: String,
    thread: Option<String>,
    principal: Option<String>,
    expires: Timestamp,
}

impl Requests {
    /// Returns the response that is stored under a key, if the key has not expired.
    pub(super) fn find<T>(
        &self,
        workspace: &Workspace,
        key: &RequestKey<T>,
    ) -> Option<Result<String, StoreError>> {
        let place = (workspace.clone(), key.caller.clone(), key.key.clone());
        let known = self.0.get(&place).filter(|known| known.expires > key.at)?;
        Some(key.repeated(&known.fingerprint, known.response.clone()))
    }

    /// Stores the response of a change, and removes all expired keys. `contents` are the conversation and the user whose contents the response may
    /// contain.
    pub(super) fn insert<T>(
        &mut self,
        workspace: &Workspace,
        key: RequestKey<T>,
        changed: &T,
        contents: (Option<&str>, Option<&str>),
    ) {
        self.0.retain(|_, request| request.expires > key.at);
        let (thread, principal) = contents;
        let request = Request {
            fingerprint: key.fingerprint,
            response: (key.respond)(changed),
            thread: thread.map(str::to_owned),
            principal: principal.map(str::to_owned),
            expires: key.expires,
        };
        self.0
            .insert((workspace.clone(), key.caller, key.key), request);
    }

    /// Removes the responses that may contain erased contents, and the responses to requests of the erased user.
    pub(super) fn erase(&mut self, of: Erasure<'_>) -> u64 {
        let before = self.0.len();
        self.0.retain(|(own, caller, _), request| match of {
            Erasure::Thread(thread) => {
                own != thread.workspace()
                    || request.thread.as_deref() != Some(thread.conversation())
            }
            Erasure::Principal {
                workspace,
                principal,
            } => {
                own != workspace
                    || (caller != principal && request.principal.as_deref() != Some(principal))
            }
        });
        count(before - self.0.len())
    }

    /// Removes at most `most` expired keys.
    pub(super) fn expire(&mut self, now: Timestamp, most: u32) -> u64 {
        let before = self.0.len();
        let mut left = limited(Some(most));
        self.0.retain(|_, request| {
            let is_removed = request.expires <= now && left > 0;
            left -= usize::from(is_removed);
            !is_removed
        });
        count(before - self.0.len())
    }
}

impl Tables {
    fn apply_request(&mut self, request: ChangeRequest) -> Result<Applied, StoreError> {
        request.check()?;
        let workspace = request.workspace().clone();
        let ChangeRequest {
            change,
            mut audit,
            key,
        } = request;
        if let Some(key) = &key
            && let Some(repeated) = self.requests.find(&workspace, key)
        {
            return repeated.map(Applied::Repeated);
        }
        let changed = self.change(&workspace, change)?;
        changed.complete(&mut audit);
        self.audit.write(audit);
        if let Some(key) = key {
            let contents = changed.contents_of();
            self.requests.insert(&workspace, key, &changed, contents);
        }
        Ok(Applied::Changed(changed))
    }

    fn change(&mut self, workspace: &Workspace, change: Change) -> Result<Changed, StoreError> {
        match change {
            Change::Answer { ref id, .. }
            | Change::Assign { ref id, .. }
            | Change::Revoke { ref id } => {
                let id = id.clone();
                let row: ApprovalRow = self
                    .approvals
                    .settle(workspace, &id, |row| row.change(change))?;
                Ok(Changed::Approval(Box::new(row)))
            }
            Change::StopRun { ref id, .. } | Change::EndRun { ref id, .. } => {
                let id = id.clone();
                let step = self.runs.step(&id, |row| row.change(change));
                let (step, row) = step.ok_or_else(|| RunRow::missing(&id))?;
                step?;
                Ok(Changed::Run(Box::new(row)))
            }
            Change::Resolve {
                key,
                resolution,
                operator,
                at,
            } => self.ledger.change(&key, |claim| {
                claim.resolve(resolution, &operator, at)?;
                Ok(Changed::Effect(Box::new(claim.row.clone())))
            }),
            Change::SetSwitch { switch, expected } => {
                expected.check(self.switches.get(&switch.key))?;
                let flipped = self.switches.set(switch.clone())?;
                Ok(Changed::Switch { switch, flipped })
            }
            Change::Force {
                key,
                resolution,
                operator,
                at,
            } => self.ledger.change(&key, |claim| {
                claim.force(resolution, &operator, at)?;
                Ok(Changed::Effect(Box::new(claim.row.clone())))
            }),
            Change::Instance(change) => self.change_instance(change),
            Change::Vault(change) => self.change_vault(change),
            Change::Directory(change) => self.change_directory(change),
            Change::Record(change) => self.change_record(change),
            Change::Erase(contents) => Ok(Changed::Erased(self.erase_contents(contents.erasure()))),
            Change::Note => Ok(Changed::Noted),
        }
    }
}

impl ChangeStore for MemoryStore {
    fn apply(&self, request: ChangeRequest) -> StoreFuture<'_, Applied> {
        self.step(|tables| tables.apply_request(request))
    }
}
