//! Calls that a person has to approve.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::hash::random_id;
use crate::args::{Issue, Repair};
use crate::context::ToolContext;
use crate::error::ToolError;
use crate::store::{
    Answer, ApprovalFilter, ApprovalKind, ApprovalRequest, ApprovalRow, ApprovalStore, CallId,
    Scope, StoreError, ThreadId, Timestamp, Verdict, Workspace,
};
use crate::toolset::Toolset;

mod builder;
mod keys;
mod state;
mod token;

pub use builder::ApprovalsBuilder;
pub use keys::{KeyError, KeyRing};
pub(crate) use state::{Approval, Grant, Granted, Loaded, Spent};

/// Where approvals are asked for, answered and used up.
///
/// A call that needs one ends with [`ErrorKind::Pending`](crate::ErrorKind::Pending) and a [`Ticket`] in its result. Whoever may
/// decide answers it, here or days later in another process, and [`Toolset::resume`](crate::Toolset::resume) then runs exactly what
/// was approved, once.
///
/// Who may answer is the host's to check: pass the name of somebody whom it has authenticated. That the approver differs from the
/// requester where a rule says `four_eyes` is checked here.
///
/// ```
/// use tool_core::{Approvals, KeyRing};
/// use tool_core::store::MemoryStore;
///
/// // Memory dies with the process, so a random key is enough; a durable store wants a key ring.
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

/// A question to a person, as a client may hold and show it.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Ticket {
    /// Id of the approval.
    pub id: String,
    /// What proves to this host that it has asked. Opaque, and worth nothing to another principal.
    pub token: String,
    /// Whether a call or a plan is asked about.
    pub kind: ApprovalKind,
    /// The tool that would run; empty for a plan.
    pub tool: String,
    /// The model's own id of the call.
    pub call: String,
    /// The conversation that goes on afterwards.
    pub thread: Option<String>,
    /// The model's own id of the outer call, where a tool has made this one.
    pub parent: Option<String>,
    /// What it would run with: canonical JSON.
    pub arguments: String,
    /// Why it is asked.
    pub reason: Option<String>,
    /// Somebody else than the requester has to answer.
    pub four_eyes: bool,
    /// Until when.
    pub expires: Timestamp,
}

/// Everything but the token, which proves a right, and the arguments, which no redactor has seen.
impl fmt::Debug for Ticket {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            id,
            token: _,
            kind,
            tool,
            call: _,
            thread,
            parent: _,
            arguments,
            reason,
            four_eyes,
            expires,
        } = self;
        f.debug_struct("Ticket")
            .field("id", id)
            .field("kind", kind)
            .field("tool", tool)
            .field("thread", thread)
            .field("arguments", &format_args!("{} bytes", arguments.len()))
            .field("reason", reason)
            .field("four_eyes", four_eyes)
            .field("expires", expires)
            .finish_non_exhaustive()
    }
}

/// Why an approval could not be answered.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ApprovalError {
    /// The store outlives the process and the keys would not.
    #[error(
        "the approval store is durable, so give `Approvals` the host's key ring: `.keys(KeyRing::new(…)?)`"
    )]
    NoKeys,
    /// The system gave no random bytes.
    #[error("the system gave no random bytes: {0}")]
    Random(String),
    /// No token of this host, or its row is gone.
    #[error("the approval token is invalid")]
    Invalid,
    /// The changed arguments do not fit the tool, or the tool cannot be seen.
    #[error("the changed arguments do not fit: {0}")]
    Edit(ToolError),
    /// As many approvals wait as may, so nobody was asked.
    #[error("too many approvals wait already, ask again when some are answered")]
    Full,
    /// The interface has shown other arguments than were asked about, so what it says about them counts for nothing.
    #[error("the interface shows other arguments than were asked about")]
    Tampered,
    /// The store refuses: answered before, expired, or the requester's own where four eyes are wanted.
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// What a person decides.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Reply {
    /// Run it.
    Approve,
    /// Run it with these arguments instead: JSON text.
    Edit(String),
    /// Do not run it.
    Deny,
}

/// What follows from an answer: the two kinds of approval never meet.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Route {
    /// Drive the conversation again: the call runs, or its denial goes to the model. A call outside of a conversation is resumed by its
    /// token.
    Call {
        /// The conversation.
        thread: Option<ThreadId>,
    },
    /// A plan was answered. The answer is stored; the conversation is not driven again.
    Plan,
}

impl Approvals {
    /// Starts from a store.
    pub fn builder(store: impl ApprovalStore) -> ApprovalsBuilder {
        Self::shared(Arc::new(store))
    }

    /// Starts from a store that others hold as well.
    pub fn shared(store: Arc<dyn ApprovalStore>) -> ApprovalsBuilder {
        ApprovalsBuilder::new(store)
    }

    pub(crate) fn store(&self) -> &dyn ApprovalStore {
        &*self.0.store
    }

    /// A question of this caller's, about no tool and under no policy. Fails where the system gives no random bytes.
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

    /// Whether one more approval may be open in a conversation, or of a user outside of conversations.
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

    /// Open approvals that count together with those of a context, up to the limit: those of its conversation, or those that its user
    /// has asked for outside of conversations.
    async fn open_beside(&self, cx: &ToolContext) -> Result<Vec<ApprovalRow>, StoreError> {
        let (workspace, most) = (cx.own_workspace(), self.0.most_open);
        let thread = cx.conversation();
        // No filter means rows without a conversation alone.
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

    /// Stores a question, and gives what stands for it.
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

    /// Asks about a plan. Its answer is stored and nothing is run again: see [`Route::Plan`].
    ///
    /// `plan` is JSON text, in which no object has a key twice: [`ApprovalError::Edit`] otherwise. `cx` names who asks and in which
    /// conversation. [`ApprovalError::Full`] where as many approvals wait as [`most_open`](ApprovalsBuilder::most_open) allows.
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

    /// The row that a token of this host stands for, if token and row say the same.
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

    /// Answers by token, in the workspace of whoever answers. Gives what follows from it.
    ///
    /// Changed arguments are checked by the tool's schema first; the policy judges them when the call is resumed.
    /// [`ApprovalError::Invalid`] where the token is not of this host or of another workspace.
    pub async fn answer(
        &self,
        workspace: &Workspace,
        tools: &Toolset,
        token: &str,
        reply: Reply,
        approver: &str,
        reason: Option<&str>,
    ) -> Result<Route, ApprovalError> {
        let row = self.verify(token).await?;
        if row.request.identity.workspace() != workspace {
            tracing::warn!(
                approval = row.request.id,
                "an approval was answered from another workspace"
            );
            return Err(ApprovalError::Invalid);
        }
        self.decide(tools, row, reply, approver, reason).await
    }

    /// Answers by id, for a console whose users the host has authenticated. [`ApprovalError::Invalid`] where the workspace has no such
    /// approval.
    pub async fn answer_id(
        &self,
        workspace: &Workspace,
        tools: &Toolset,
        id: &str,
        reply: Reply,
        approver: &str,
        reason: Option<&str>,
    ) -> Result<Route, ApprovalError> {
        let row = self.stored(workspace, id).await?;
        self.decide(tools, row, reply, approver, reason).await
    }

    async fn decide(
        &self,
        tools: &Toolset,
        row: ApprovalRow,
        reply: Reply,
        approver: &str,
        reason: Option<&str>,
    ) -> Result<Route, ApprovalError> {
        let verdict = match reply {
            Reply::Approve => Verdict::Approve,
            Reply::Deny => Verdict::Deny,
            Reply::Edit(arguments) => Verdict::Edit(edited(tools, &row.request, &arguments)?),
        };
        let answer = Answer {
            verdict,
            approver: approver.to_owned(),
            reason: reason.map(str::to_owned),
            at: Timestamp::now(),
        };
        let ApprovalRequest { identity, id, .. } = &row.request;
        let row = self
            .0
            .store
            .answer(identity.workspace(), id, answer)
            .await?;
        let request = row.request;
        Ok(match request.kind {
            ApprovalKind::Call => Route::Call {
                thread: request
                    .thread
                    .and_then(|thread| ThreadId::new(request.identity.workspace(), thread).ok()),
            },
            ApprovalKind::Plan => Route::Plan,
        })
    }

    /// The unanswered tickets of a conversation. Its calls go on when there is none.
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

    /// The ticket of a stored approval, for a client that has lost it. [`ApprovalError::Invalid`] where the workspace has no such
    /// approval.
    pub async fn ticket_of(
        &self,
        workspace: &Workspace,
        id: &str,
    ) -> Result<Ticket, ApprovalError> {
        Ok(self.ticket(&self.stored(workspace, id).await?.request)?)
    }

    /// An approval by its id. `None` where the workspace has no such approval.
    pub async fn get(
        &self,
        workspace: &Workspace,
        id: &str,
    ) -> Result<Option<ApprovalRow>, ApprovalError> {
        Ok(self.0.store.get(workspace, id).await?)
    }

    async fn stored(&self, workspace: &Workspace, id: &str) -> Result<ApprovalRow, ApprovalError> {
        let row = self.get(workspace, id).await?;
        row.ok_or(ApprovalError::Invalid)
    }

    /// The approvals of a scope that a filter names, oldest first: an inbox.
    pub async fn list(
        &self,
        scope: Scope<'_>,
        filter: &ApprovalFilter,
    ) -> Result<Vec<ApprovalRow>, ApprovalError> {
        Ok(self.0.store.list(scope, filter).await?)
    }

    /// Assigns a pending approval to a user, or to none.
    pub async fn assign(
        &self,
        workspace: &Workspace,
        id: &str,
        assignee: Option<&str>,
    ) -> Result<ApprovalRow, ApprovalError> {
        let assignee = assignee.map(str::to_owned);
        Ok(self.0.store.assign(workspace, id, assignee).await?)
    }

    /// Revokes an approval that is pending, or given and not used yet. Returns whether there was something to revoke: a call that has
    /// begun on an approval is not undone.
    ///
    /// For an operator. A requester who takes the question back calls [`withdraw`](Self::withdraw).
    pub async fn revoke(&self, workspace: &Workspace, id: &str) -> Result<bool, ApprovalError> {
        Ok(self.0.store.withdraw(workspace, id).await?)
    }

    /// Withdraws a request by its requester, also under four eyes. Returns whether there was something to withdraw.
    ///
    /// [`ApprovalError::Invalid`] where `cx` is not the requester's: another workspace or another user.
    pub async fn withdraw(&self, id: &str, cx: &ToolContext) -> Result<bool, ApprovalError> {
        let workspace = cx.own_workspace();
        let row = self.stored(&workspace, id).await?;
        if row.request.principal != cx.principal() {
            return Err(ApprovalError::Invalid);
        }
        self.revoke(&workspace, id).await
    }

    /// Denies every pending approval of a workspace that a filter names; returns how many.
    pub async fn deny_all(
        &self,
        workspace: &Workspace,
        filter: &ApprovalFilter,
        approver: &str,
        reason: Option<&str>,
    ) -> Result<u64, ApprovalError> {
        let answer = Answer {
            verdict: Verdict::Deny,
            approver: approver.to_owned(),
            reason: reason.map(str::to_owned),
            at: Timestamp::now(),
        };
        Ok(self.0.store.deny_all(workspace, filter, answer).await?)
    }

    /// Marks the approvals of a scope that have waited too long; returns how many. Tokens expire without it too.
    pub async fn expire(&self, scope: Scope<'_>) -> Result<u64, ApprovalError> {
        Ok(self.0.store.expire(scope, Timestamp::now()).await?)
    }
}

/// The canonical text of a plan. A key that occurs twice is refused: a person would be shown another plan than a program reads.
fn plan_text(plan: &str) -> Result<String, ApprovalError> {
    let refused = |why: String| ApprovalError::Edit(ToolError::new(why));
    let text = super::canonical::canonical(plan)
        .ok_or_else(|| refused("the plan is no JSON text".to_owned()))?;
    match super::canonical::repeated_key(plan) {
        None => Ok(text),
        Some(key) => Err(refused(format!(
            "the plan has the key `{key}` twice in one object, write each key once"
        ))),
    }
}

/// Arguments that an approver has written: checked like a model's, without repair.
fn edited(
    tools: &Toolset,
    request: &ApprovalRequest,
    arguments: &str,
) -> Result<String, ApprovalError> {
    let invalid = |issues: Vec<Issue>| ApprovalError::Edit(ToolError::invalid_arguments(issues));
    if request.kind == ApprovalKind::Plan {
        return plan_text(arguments);
    }
    let found = tools
        .find_approved(&request.tool, &request.contract)
        .ok_or_else(|| ApprovalError::Edit(tools.unknown(&request.tool)))?;
    let admitted = found
        .tool()
        .admit(arguments, Repair::Off)
        .map_err(invalid)?;
    super::canonical::canonical(&admitted.text).ok_or(ApprovalError::Invalid)
}

impl fmt::Debug for Approvals {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Approvals")
            .field("keys", &self.0.ring)
            .finish_non_exhaustive()
    }
}
