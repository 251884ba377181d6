//! The states of an approval cannot be named outside of the crate, and an answer is not a permit.

use tool_core::store::{ApprovalAnswer, ApprovalRow};
use tool_core::{Approvals, Permit};

fn skip(approvals: &Approvals, row: ApprovalRow, answer: ApprovalAnswer) -> Permit {
    let _ = tool_core::gate::approval::Approval { request: row.request, state: answer };
    approvals.spend(row)
}

fn main() {}
