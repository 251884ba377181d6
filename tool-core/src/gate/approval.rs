//! Approvals by a person: requesting, answering and using them.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use super::random::random_id;
use crate::call::Ticket;
use crate::context::ToolContext;
use crate::error::ToolError;
use crate::store::{
    ApprovalAnswer, ApprovalFilter, ApprovalKind, ApprovalRequest, ApprovalRow, ApprovalStore,
    CallId, Scope, StoreError, ThreadId, Timestamp, Verdict, Workspace,
};

mod builder;
mod keys;
mod state;
mod token;

pub use builder::ApprovalsBuilder;
pub use keys::{KeyError, KeyRing};
pub(crate) use state::{Approval, Grant, Granted, Loaded, Spent};

/// Requests, answers and uses approvals.
///
/// A call that needs an approval ends with [`ErrorKind::Pending`](crate::ErrorKind::Pending) and a [`Ticket`] in its result. An approver answers the
/// ticket before it expires, possibly in a different process. If the approver approves, [`Toolset::resume`](crate::Toolset::resume) runs the call
/// with the approved arguments, once.
///
/// The host has to authenticate the approver and check that this user may answer. If a rule requires `four_eyes`, an answer of the requester is
/// refused.
///
/// ```
/// use tool_core::{Approvals, KeyRing};
/// use tool_core::store::MemoryStore;
///
/// // The memory store is lost when the process ends, so a random key is enough; a durable store needs a key ring.
/// let approvals = Approvals::builder(MemoryStore::default()).build()?;
/// # Ok::<(), tool_core::ApprovalError>(())
/// ```
#[derive(Clone)]
#[doc(alias("human in the loop", "confirmation", "interrupt"))]
pub struct Approvals(Arc<Inner>);

struct Inner {
    store: Arc<dyn ApprovalStore>,
    ring: KeyRing,
    wait: Duration,
    most_open: u32,
}

/// Error of [`Approvals`] and their builder.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ApprovalError {
    /// The store is durable, but no keys were given, and random keys would be lost when the process ends.
    #[error(
        "the approval store is durable, so pass the host's key ring to `Approvals`: `.keys(KeyRing::new(…)?)`"
    )]
    NoKeys,
    /// The system returned no random bytes.
    #[error("the operating system returned no random bytes: {0}")]
    Random(String),
    /// The token is malformed or cannot be verified with the keys of this host, or no approval of the workspace and user matches the token or the id.
    #[error("the approval token is invalid")]
    Invalid,
    /// The edited arguments do not match the tool's schema, or no tool has its name. A plan is invalid if its text is not valid JSON or if an object
    /// has a key twice.
    #[error("the edit or the plan is invalid: {0}")]
    Edit(ToolError),
    /// The limit of open approvals is reached, so no approval was requested.
    #[error("too many approvals are pending: request the approval again after some are answered")]
    Full,
    /// The interface showed arguments that differ from the requested ones, so its answer is not trusted.
    #[error("the interface shows different arguments than the approval request")]
    Tampered,
    /// The store failed, or it refused the operation: for example, the request was answered before or has expired, or the requester answered although
    /// four eyes are required.
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// The decision of an approver on a pending call.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Reply {
    /// Run the call with the requested arguments.
    Approve,
    /// Run the call with these arguments instead (JSON text).
    Edit(String),
    /// Do not run the call.
    Deny,
}

/// The next step of the host after an answer. It depends on the kind of the approval.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Route {
    /// Drive the conversation again: the call runs, or the model gets the denial. A call outside of a conversation is resumed with its token.
    Call {
        /// The conversation to continue; `None` for a call outside of conversations.
        thread: Option<ThreadId>,
    },
    /// A plan was answered. The answer is stored; the conversation is not driven again.
    Plan,
}

impl Approvals {
    /// Starts a builder from a store.
    pub fn builder(store: impl ApprovalStore) -> ApprovalsBuilder {
        Self::shared(Arc::new(store))
    }

    /// Starts a builder from a store that is shared with other owners.
    pub fn shared(store: Arc<dyn ApprovalStore>) -> ApprovalsBuilder {
        ApprovalsBuilder::new(store)
    }

    pub(crate) fn store(&self) -> &dyn ApprovalStore {
        &*self.0.store
    }

    /// Creates an approval request of this caller without a tool or a policy. Fails if the system has no random bytes.
    pub(crate) fn question(
        &self,
        kind: ApprovalKind,
        identity: CallId,
        arguments: String,
        cx: &ToolContext,
        now: Timestamp,
    ) -> Result<ApprovalRequest, ToolError> {
        Ok(ApprovalRequest {
            id: random_id()?,
            kind,
            identity,
            thread: cx.conversation().map(str::to_owned),
            call: String::new(),
            tool: String::new(),
            principal: cx.principal().to_owned(),
            agent: cx.agent().map(str::to_owned),
            contract: String::new(),
            arguments,
            policy: String::new(),
            decision: String::new(),
            four_eyes: false,
            reason: None,
            nonce: random_id()?,
            created: now,
            expires: now.plus(self.0.wait),
            parent: None,
        })
    }

    /// Returns whether the limit permits one more open approval in a conversation, or for a user outside of conversations.
    pub(crate) async fn has_room(
        &self,
        cx: &ToolContext,
        now: Timestamp,
    ) -> Result<bool, StoreError> {
        let most = usize::try_from(self.0.most_open).unwrap_or(usize::MAX);
        let mut open = self.open_beside(cx).await?;
        if open.len() >= most && open.iter().any(|row| row.request.expires <= now) {
            let workspace = cx.own_workspace();
            let scope = Scope::Workspace(&workspace);
            self.0.store.expire(scope, now).await?;
            open = self.open_beside(cx).await?;
        }
        Ok(open.len() < most)
    }

    /// Returns the open approvals that count towards the limit of a context: the open approvals of its conversation. If the context has no
    /// conversation, returns the open approvals that its user has requested outside of conversations. Reads no further page when the limit is
    /// reached.
    async fn open_beside(&self, cx: &ToolContext) -> Result<Vec<ApprovalRow>, StoreError> {
        let (workspace, most) = (cx.own_workspace(), self.0.most_open);
        let thread = cx.conversation();
        // The filter cannot select rows without a conversation, so the loop below does.
        let page = if thread.is_some() {
            most
        } else {
            most.max(100)
        };
        let mut filter = ApprovalFilter {
            thread: thread.map(str::to_owned),
            principal: thread.is_none().then(|| cx.principal().to_owned()),
            status: Some(crate::store::ApprovalStatus::Pending),
            limit: Some(page),
            ..ApprovalFilter::default()
        };
        let mut open = Vec::new();
        loop {
            let scope = Scope::Workspace(&workspace);
            let rows = self.0.store.list(scope, &filter).await?;
            let is_last = rows.len() < page as usize;
            let last = rows.last().map(|row| &row.request);
            filter.after = last.map(|last| (last.created, last.id.clone()));
            open.extend(
                rows.into_iter()
                    .filter(|row| row.request.thread.as_deref() == thread),
            );
            if is_last || open.len() >= most as usize {
                return Ok(open);
            }
        }
    }

    /// Stores a request and returns its ticket.
    pub(crate) async fn ask(&self, request: ApprovalRequest) -> Result<Ticket, StoreError> {
        let ticket = self.ticket(&request)?;
        self.0.store.open(request).await?;
        Ok(ticket)
    }

    pub(crate) fn ticket(&self, request: &ApprovalRequest) -> Result<Ticket, StoreError> {
        let token = token::issue(&self.0.ring, request)
            .ok_or_else(|| StoreError::Corrupt("the approval cannot be signed".to_owned()))?;
        Ok(Ticket {
            id: request.id.clone(),
            token,
            kind: request.kind,
            tool: request.tool.clone(),
            call: request.call.clone(),
            thread: request.thread.clone(),
            parent: request.parent.clone(),
            arguments: request.arguments.clone(),
            reason: request.reason.clone(),
            four_eyes: request.four_eyes,
            expires: request.expires,
        })
    }

    /// Requests an approval of a plan. The answer is stored, and nothing is run again: see [`Route::Plan`].
    ///
    /// `plan` is JSON text; `cx` identifies the requester and the conversation. Fails with [`ApprovalError::Edit`] if the text is not valid
    /// JSON or an object has a key twice, and with [`ApprovalError::Full`] if the limit of [`most_open`](ApprovalsBuilder::most_open) is reached.
    /// Also fails if the store fails, or if the system has no random bytes.
    pub async fn ask_plan(&self, plan: &str, cx: &ToolContext) -> Result<Ticket, ApprovalError> {
        let arguments = plan_text(plan)?;
        let now = Timestamp::now();
        if !self.has_room(cx, now).await? {
            return Err(ApprovalError::Full);
        }
        let identity = CallId::alone(cx.own_workspace())?;
        let request = self
            .question(ApprovalKind::Plan, identity, arguments, cx, now)
            .map_err(|error| ApprovalError::Random(error.operator_text()))?;
        Ok(self.ask(request).await?)
    }

    /// Returns the row of a token of this host, if the token matches the row.
    pub(crate) async fn verify(&self, token: &str) -> Result<ApprovalRow, ApprovalError> {
        let claims = token::read(&self.0.ring, token).map_err(|forged| {
            tracing::warn!(?forged, "an approval token was refused");
            ApprovalError::Invalid
        })?;
        let row = self
            .0
            .store
            .get(&Workspace::new(claims.tenant.as_str()), &claims.approval)
            .await?
            .ok_or(ApprovalError::Invalid)?;
        if token::Claims::of(&row.request) != claims {
            tracing::warn!(
                approval = claims.approval,
                "an approval's row differs from its token"
            );
            return Err(ApprovalError::Invalid);
        }
        Ok(row)
    }

    /// Returns the tickets for calls of a conversation that are still open: neither answered, withdrawn nor expired. If there are none, the calls can
    /// continue.
    pub async fn waiting(&self, thread: &ThreadId) -> Result<Vec<Ticket>, ApprovalError> {
        let filter = ApprovalFilter {
            thread: Some(thread.conversation().to_owned()),
            status: Some(crate::store::ApprovalStatus::Pending),
            kind: Some(ApprovalKind::Call),
            ..ApprovalFilter::default()
        };
        let now = Timestamp::now();
        let scope = Scope::Workspace(thread.workspace());
        let rows = self.0.store.list(scope, &filter).await?;
        let alive = rows.iter().filter(|row| row.request.expires > now);
        Ok(alive
            .map(|row| self.ticket(&row.request))
            .collect::<Result<_, _>>()?)
    }

    /// Returns the ticket of a stored approval, for a client that has lost it. Fails with [`ApprovalError::Invalid`] if the workspace has no such
    /// approval.
    pub async fn ticket_of(
        &self,
        workspace: &Workspace,
        id: &str,
    ) -> Result<Ticket, ApprovalError> {
        Ok(self.ticket(&self.stored(workspace, id).await?.request)?)
    }

    /// Returns an approval by its id; `None` if the workspace has no such approval.
    pub async fn get(
        &self,
        workspace: &Workspace,
        id: &str,
    ) -> Result<Option<ApprovalRow>, ApprovalError> {
        Ok(self.0.store.get(workspace, id).await?)
    }

    pub(crate) async fn stored(
        &self,
        workspace: &Workspace,
        id: &str,
    ) -> Result<ApprovalRow, ApprovalError> {
        let row = self.get(workspace, id).await?;
        row.ok_or(ApprovalError::Invalid)
    }

    /// Returns the approvals of a scope that match a filter, oldest first unless the filter sets a different order.
    pub async fn list(
        &self,
        scope: Scope<'_>,
        filter: &ApprovalFilter,
    ) -> Result<Vec<ApprovalRow>, ApprovalError> {
        Ok(self.0.store.list(scope, filter).await?)
    }

    /// Assigns a pending approval to a user; `None` removes the assignee.
    pub async fn assign(
        &self,
        workspace: &Workspace,
        id: &str,
        assignee: Option<&str>,
    ) -> Result<ApprovalRow, ApprovalError> {
        let assignee = assignee.map(str::to_owned);
        Ok(self.0.store.assign(workspace, id, assignee).await?)
    }

    /// Revokes an approval that is pending, or that is approved and not used yet. Returns whether it was revoked. A call that has begun on an
    /// approval is not undone.
    ///
    /// This is for operators. A requester calls [`withdraw`](Self::withdraw).
    pub async fn revoke(&self, workspace: &Workspace, id: &str) -> Result<bool, ApprovalError> {
        Ok(self.0.store.withdraw(workspace, id).await?)
    }

    /// Withdraws a request on behalf of its requester, even if it requires four eyes. Returns whether it was withdrawn.
    ///
    /// Fails with [`ApprovalError::Invalid`] if there is no such request, or if `cx` has a different workspace or user than the request.
    pub async fn withdraw(&self, id: &str, cx: &ToolContext) -> Result<bool, ApprovalError> {
        let workspace = cx.own_workspace();
        let row = self.stored(&workspace, id).await?;
        if row.request.principal != cx.principal() {
            return Err(ApprovalError::Invalid);
        }
        self.revoke(&workspace, id).await
    }

    /// Denies every pending approval of a workspace that matches a filter. Returns the number of denied approvals.
    pub async fn deny_all(
        &self,
        workspace: &Workspace,
        filter: &ApprovalFilter,
        approver: &str,
        reason: Option<&str>,
    ) -> Result<u64, ApprovalError> {
        let answer = ApprovalAnswer {
            verdict: Verdict::Deny,
            approver: approver.to_owned(),
            reason: reason.map(str::to_owned),
            at: Timestamp::now(),
        };
        Ok(self.0.store.deny_all(workspace, filter, answer).await?)
    }

    /// Marks the overdue approvals of a scope as expired and returns their number. Tokens expire even without this call.
    pub async fn expire(&self, scope: Scope<'_>) -> Result<u64, ApprovalError> {
        Ok(self.0.store.expire(scope, Timestamp::now()).await?)
    }
}

/// Returns the canonical text of a plan. A repeated key is refused, because a person could be shown a different value than a program reads.
pub(crate) fn plan_text(plan: &str) -> Result<String, ApprovalError> {
    let refused = |why: String| ApprovalError::Edit(ToolError::new(why));
    let text =
        crate::args::canonical(plan).ok_or_else(|| refused("the plan is not JSON".to_owned()))?;
    match crate::args::repeated_key(plan) {
        None => Ok(text),
        Some(key) => Err(refused(format!(
            "the plan has the key `{key}` twice in one object: write each key once"
        ))),
    }
}

impl fmt::Debug for Approvals {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Approvals")
            .field("keys", &self.0.ring)
            .finish_non_exhaustive()
    }
}
