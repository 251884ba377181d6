//! The states of an approval cannot be named outside, and an answer is no permit.

use tool_core::store::{Answer, ApprovalRow};
use tool_core::{Approvals, Permit};

fn skip(approvals: &Approvals, row: ApprovalRow, answer: Answer) -> Permit {
    let _ = tool_core::gate::approval::Approval { request: row.request, state: answer };
    approvals.spend(row)
}

fn main() {}
