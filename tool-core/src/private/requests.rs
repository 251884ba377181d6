//! Functions that the crate `tool-wire` uses.

use crate::gate::approval::{ApprovalError, Approvals};
use crate::schema::dialect::Dialect;
use crate::schema::rules::Fault;
use crate::store::{ApprovalRow, Message};
use crate::tool::ToolDef;
use crate::{toolset, turn};

/// Returns the approval row of a token. Fails if this host did not issue the token, if the row is absent or does not match the token, or if the store
/// fails.
pub async fn approval_row(
    approvals: &Approvals,
    token: &str,
) -> Result<ApprovalRow, ApprovalError> {
    approvals.verify(token).await
}

/// Returns messages in the order in which the model read and wrote them. Takes messages sorted by sequence number.
pub fn in_reading_order(messages: &[Message]) -> Vec<&Message> {
    turn::in_reading_order(messages.iter().collect())
}

/// Returns whether the host allows the tool to be offered as not strict.
pub fn may_be_non_strict(def: &ToolDef) -> bool {
    def.may_be_non_strict()
}

/// Returns the reasons why a provider would refuse these tools in one request. The list is empty if there are no such reasons.
pub fn request_faults<'a>(
    tools: impl Iterator<Item = &'a ToolDef>,
    dialect: Dialect,
) -> Vec<Fault> {
    toolset::request_faults(tools, dialect)
}
