//! Answers of approvers: edited arguments are validated against the tools of the turn.

use super::Toolset;
use crate::args::{Issue, Repair};
use crate::error::ToolError;
use crate::gate::approval::{ApprovalError, Approvals, Reply, Route, plan_text};
use crate::store::{
    ApprovalAnswer, ApprovalKind, ApprovalRequest, ApprovalRow, ThreadId, Timestamp, Verdict,
    Workspace,
};

impl Approvals {
    /// Answers the approval with this token, in the approver's workspace, and returns the next step of the host.
    ///
    /// Edited arguments are validated against the tool's schema now; the policy decides on them when the call is resumed.
    ///
    /// Fails with [`ApprovalError::Invalid`] if the token is invalid, has no row in the store, or belongs to a different workspace. Also fails if
    /// [`Toolset::edited_arguments`] refuses an edit, and if the store fails or refuses the answer.
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
                "an approval was answered from a different workspace"
            );
            return Err(ApprovalError::Invalid);
        }
        self.decide(tools, row, reply, approver, reason).await
    }

    /// Answers the approval with this id, for a console whose users the host has authenticated. Fails with [`ApprovalError::Invalid`] if
    /// the workspace has no approval with this id. The other errors are the same as for [`answer`](Self::answer).
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
            Reply::Edit(arguments) => {
                Verdict::Edit(tools.edited_arguments(&row.request, &arguments)?)
            }
        };
        let answer = ApprovalAnswer {
            verdict,
            approver: approver.to_owned(),
            reason: reason.map(str::to_owned),
            at: Timestamp::now(),
        };
        let ApprovalRequest { identity, id, .. } = &row.request;
        let row = self
            .store()
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
}

impl Toolset {
    /// Validates arguments that an approver has edited, like a model's arguments but without repair, and returns the text that
    /// [`Verdict::Edit`] stores. [`Approvals::answer`] and [`Approvals::answer_id`] call it.
    ///
    /// An edited plan has no schema: it only has to be JSON without repeated keys.
    ///
    /// Fails with [`ApprovalError::Edit`] if the arguments do not match the schema, if no tool has the name of the request as its name or alias, or
    /// if the plan is invalid. If the tool's contract has changed since the request, its present schema applies, and the call needs a new approval.
    pub fn edited_arguments(
        &self,
        request: &ApprovalRequest,
        arguments: &str,
    ) -> Result<String, ApprovalError> {
        let invalid =
            |issues: Vec<Issue>| ApprovalError::Edit(ToolError::invalid_arguments(issues));
        if request.kind == ApprovalKind::Plan {
            return plan_text(arguments);
        }
        let found = self
            .find_approved(&request.tool, &request.contract)
            .ok_or_else(|| ApprovalError::Edit(self.unknown(&request.tool)))?;
        let admitted = found
            .tool()
            .admit(arguments, Repair::Off)
            .map_err(invalid)?;
        crate::args::canonical(&admitted.text).ok_or(ApprovalError::Invalid)
    }
}
