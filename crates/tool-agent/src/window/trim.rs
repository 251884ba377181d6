//! Removal of the oldest rounds.

use super::config::Limits;
use super::count::Count;
use super::layout::{Kind, Layout};

/// Returns how many steps are removed from the view of a thread, and the count of the view.
///
/// This function repeats the removal for all earlier requests of the thread: a request above the trigger removes steps until the target, and the next
/// requests begin at the same place until one is above the trigger again. The place depends only on the thread, the tools and the limits, so runs
/// with the same limits send the same prefix.
pub(super) fn replay(
    layout: &Layout<'_>,
    fixed: u64,
    limits: &Limits,
    keep_rounds: usize,
) -> (usize, Count) {
    let mut count = Count::new(fixed);
    let mut removed = 0;
    for (at, unit) in layout.units.iter().enumerate() {
        if let Kind::Round { reported, .. } = unit.kind {
            if count.total() > limits.trigger {
                let boundary = layout.boundary(at, keep_rounds);
                remove(layout, &mut removed, &mut count, boundary, limits.target);
            }
            if let Some(tokens) = reported.filter(|tokens| *tokens > 0) {
                count.report(tokens, at);
            }
        }
        count.add(at, unit.tokens);
    }
    if count.total() > limits.trigger {
        let boundary = layout.boundary(layout.units.len(), keep_rounds);
        remove(layout, &mut removed, &mut count, boundary, limits.target);
    }
    (removed, count)
}

/// Removes steps before the boundary until the count is at the target.
pub(super) fn remove(
    layout: &Layout<'_>,
    removed: &mut usize,
    count: &mut Count,
    boundary: usize,
    target: u64,
) {
    while count.total() > target
        && let Some(step) = layout.steps.get(*removed)
        && step.key < boundary
    {
        layout.subtract(count, *removed);
        *removed += 1;
    }
}
