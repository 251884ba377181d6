//! A run of a plan as a drawing for a terminal.

use std::fmt::Write as _;

use anstyle::Style;
use tool_core::store::{PlanNodeStatus, PlanRow};

use super::super::printable;
use super::stages;
use crate::screen::{BAD, BOLD, DIM, GOOD, NAME, WARN, count, paint};

/// Returns the mark of a status, and its style.
fn mark(status: PlanNodeStatus) -> (&'static str, Style) {
    match status {
        PlanNodeStatus::Pending => ("·", DIM),
        PlanNodeStatus::Ready => ("○", NAME),
        PlanNodeStatus::Running => ("▶", WARN),
        PlanNodeStatus::Completed => ("✓", GOOD),
        PlanNodeStatus::Blocked => ("■", BAD),
        PlanNodeStatus::Skipped => ("–", DIM),
        PlanNodeStatus::Failed => ("✗", BAD),
    }
}

/// Draws the nodes in stages: each node is one stage after the latest of its predecessors.
pub(super) fn text(row: &PlanRow) -> String {
    let draft = row.spec.draft();
    let mut text = String::new();
    // Writing to a string does not fail.
    let title = paint(BOLD, printable(&draft.title));
    let _ = writeln!(text, "{title} (run {}, {})", row.id.number(), row.status);
    let _ = writeln!(text, "{}", printable(&draft.objective));
    let stages = stages(row);
    let width = draft
        .nodes
        .iter()
        .map(|node| node.id.len())
        .max()
        .unwrap_or(0);
    for stage in 1..=stages.iter().copied().max().unwrap_or(0) {
        let _ = writeln!(text, "\n{}", paint(DIM, format_args!("stage {stage}")));
        let places = (0..stages.len()).filter(|place| stages[*place] == stage);
        for place in places {
            let (node, run) = (&draft.nodes[place], &row.nodes[place]);
            let (mark, style) = mark(run.status);
            let status = paint(
                style,
                format_args!("{mark} {:<width$}  {:<9}", node.id, run.status.as_str()),
            );
            let owner = node
                .owner
                .as_ref()
                .map_or_else(|| node.kind.to_string(), ToString::to_string);
            let _ = write!(text, "  {status}  {}", printable(&owner));
            if run.attempts.len() > 1 {
                let _ = write!(text, ", {}", count(run.attempts.len(), "attempt"));
            }
            let next = draft
                .edges
                .iter()
                .enumerate()
                .filter(|(_, edge)| edge.from == node.id);
            let next: Vec<_> = next
                .map(|(at, edge)| {
                    if run.chosen == Some(at) {
                        format!("{} (chosen)", edge.to)
                    } else {
                        edge.to.clone()
                    }
                })
                .collect();
            if !next.is_empty() {
                let _ = write!(
                    text,
                    "  {}",
                    paint(DIM, format_args!("→ {}", next.join(", ")))
                );
            }
            text.push('\n');
        }
    }
    text.trim_end().to_owned()
}
