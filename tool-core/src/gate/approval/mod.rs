//! Calls that a person has to approve.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::hash::random_id;
use crate::args::{self, Issue, Repair};
use crate::context::ToolContext;
use crate::error::ToolError;
use crate::store::{
    Answer, ApprovalFilter, ApprovalKind, ApprovalRequest, ApprovalRow, ApprovalStore, StoreError,
    Timestamp, Verdict,
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
pub struct Approvals(Arc<Inner>);

struct Inner {
    store: Arc<dyn ApprovalStore>,
    ring: KeyRing,
    wait: Duration,
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
    /// The provider's id of the call.
    pub call: String,
    /// The turn that goes on afterwards.
    pub turn: String,
    /// The outer call, where a tool has made this one.
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
            turn,
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
            .field("turn", turn)
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
    #[error("this is no valid approval")]
    Invalid,
    /// The changed arguments do not fit the tool, or the tool cannot be seen.
    #[error("the changed arguments do not fit: {0}")]
    Edit(ToolError),
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
    /// Resume the turn: the call runs, or its denial goes to the model.
    Call {
        /// The turn to resume.
        turn: String,
    },
    /// A plan was answered. The answer is stored; the turn is not run again.
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
        arguments: String,
        cx: &ToolContext,
        now: Timestamp,
    ) -> Result<ApprovalRequest, ToolError> {
        Ok(ApprovalRequest {
            id: random_id()?,
            kind,
            thread: cx.conversation().map(str::to_owned),
            turn: cx.turn_name().to_owned(),
            call: String::new(),
            tool: String::new(),
            tenant: cx.tenant().to_owned(),
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

    /// Stores a question, and gives what stands for it.
    pub(crate) async fn ask(&self, request: ApprovalRequest) -> Result<Ticket, StoreError> {
        let ticket = self.ticket(&request)?;
        self.0.store.open(request).await?;
        Ok(ticket)
    }

    fn ticket(&self, request: &ApprovalRequest) -> Result<Ticket, StoreError> {
        let token = token::issue(&self.0.ring, request)
            .ok_or_else(|| StoreError::Corrupt("the approval cannot be signed".to_owned()))?;
        Ok(Ticket {
            id: request.id.clone(),
            token,
            kind: request.kind,
            tool: request.tool.clone(),
            call: request.call.clone(),
            turn: request.turn.clone(),
            parent: request.parent.clone(),
            arguments: request.arguments.clone(),
            reason: request.reason.clone(),
            four_eyes: request.four_eyes,
            expires: request.expires,
        })
    }

    /// Asks about a plan. Its answer is stored and nothing is run again: see [`Route::Plan`].
    ///
    /// `plan` is JSON text; `cx` names who asks and in which turn.
    pub async fn ask_plan(&self, plan: &str, cx: &ToolContext) -> Result<Ticket, ApprovalError> {
        let arguments = super::canonical::canonical(plan)
            .ok_or_else(|| ApprovalError::Edit(ToolError::new("the plan is no JSON text")))?;
        let request = self
            .question(ApprovalKind::Plan, arguments, cx, Timestamp::now())
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
            .get(&claims.approval)
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

    /// Answers by token. Gives what follows from it.
    ///
    /// Changed arguments are checked by the tool's schema first; the policy judges them when the call is resumed.
    pub async fn answer(
        &self,
        tools: &Toolset,
        token: &str,
        reply: Reply,
        approver: &str,
        reason: Option<&str>,
    ) -> Result<Route, ApprovalError> {
        let row = self.verify(token).await?;
        self.decide(tools, row, reply, approver, reason).await
    }

    /// Answers by id, for a console whose users the host has authenticated.
    pub async fn answer_id(
        &self,
        tools: &Toolset,
        id: &str,
        reply: Reply,
        approver: &str,
        reason: Option<&str>,
    ) -> Result<Route, ApprovalError> {
        let row = self.0.store.get(id).await?.ok_or(ApprovalError::Invalid)?;
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
        let row = self.0.store.answer(&row.request.id, answer).await?;
        Ok(match row.request.kind {
            ApprovalKind::Call => Route::Call {
                turn: row.request.turn,
            },
            ApprovalKind::Plan => Route::Plan,
        })
    }

    /// The tickets of a turn that nobody has answered. A turn goes on when there is none.
    pub async fn waiting(&self, tenant: &str, turn: &str) -> Result<Vec<Ticket>, ApprovalError> {
        let filter = ApprovalFilter {
            tenant: Some(tenant.to_owned()),
            turn: Some(turn.to_owned()),
            status: Some(crate::store::ApprovalStatus::Pending),
            kind: Some(ApprovalKind::Call),
            ..ApprovalFilter::default()
        };
        let now = Timestamp::now();
        let rows = self.0.store.list(&filter).await?;
        let alive = rows.iter().filter(|row| row.request.expires > now);
        Ok(alive
            .map(|row| self.ticket(&row.request))
            .collect::<Result<_, _>>()?)
    }

    /// The ticket of a stored approval, for a client that has lost it.
    pub async fn ticket_of(&self, id: &str) -> Result<Ticket, ApprovalError> {
        let row = self.0.store.get(id).await?.ok_or(ApprovalError::Invalid)?;
        Ok(self.ticket(&row.request)?)
    }

    /// Approvals that a filter names, oldest first: an inbox.
    pub async fn list(&self, filter: &ApprovalFilter) -> Result<Vec<ApprovalRow>, ApprovalError> {
        Ok(self.0.store.list(filter).await?)
    }

    /// Gives a pending approval to somebody, or to nobody.
    pub async fn assign(
        &self,
        id: &str,
        assignee: Option<&str>,
    ) -> Result<ApprovalRow, ApprovalError> {
        Ok(self.0.store.assign(id, assignee.map(str::to_owned)).await?)
    }

    /// Denies every pending approval that a filter names; gives how many.
    pub async fn deny_all(
        &self,
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
        Ok(self.0.store.deny_all(filter, answer).await?)
    }

    /// Marks what has waited too long; gives how many. Tokens expire without it too.
    pub async fn expire(&self) -> Result<u64, ApprovalError> {
        Ok(self.0.store.expire(Timestamp::now()).await?)
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
        return super::canonical::canonical(arguments)
            .ok_or_else(|| ApprovalError::Edit(ToolError::new("the plan is no JSON text")));
    }
    let def = tools
        .get(&request.tool)
        .ok_or_else(|| ApprovalError::Edit(tools.unknown(&request.tool)))?;
    let admitted = args::admit(def.input(), arguments, Repair::Off).map_err(invalid)?;
    super::canonical::canonical(&admitted.text).ok_or(ApprovalError::Invalid)
}

impl fmt::Debug for Approvals {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Approvals")
            .field("keys", &self.0.ring)
            .finish_non_exhaustive()
    }
}
