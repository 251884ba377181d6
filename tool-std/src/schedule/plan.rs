//! Selection of the due time at which a ready task runs, and of the due times that it skips.

use std::collections::VecDeque;
use std::time::Duration;

use tool_core::store::{
    SkippedRun, TaskRow, TaskTiming, Timestamp, TimingError, next_due, write_time,
};

/// The maximum number of missed due times that run later, one after the other.
pub(super) const MOST_REPLAYED: usize = 5;

/// The maximum number of rows of skipped due times that one claim writes. The reason in the last row covers the later skipped due times.
const MOST_ROWS: usize = 100;

/// The due times that a claim of a ready task runs, skips and schedules next.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Plan {
    /// The due time that runs.
    pub(super) due: Timestamp,
    /// The due times before it that do not run.
    pub(super) skipped: Vec<SkippedRun>,
    /// The due time of the task after the claim.
    pub(super) next: Option<Timestamp>,
}

/// Computes the plan of a task for a time; `None` if nothing is due at this time.
pub(super) fn plan(row: &TaskRow, now: Timestamp) -> Result<Option<Plan>, TimingError> {
    let timing = &row.definition.timing;
    let alone = |due| Plan {
        due,
        skipped: Vec::new(),
        next: row.due,
    };
    if let Some(due) = row.running {
        return Ok(Some(alone(due)));
    }
    if let Some(requested) = row.requested.filter(|requested| *requested <= now) {
        return Ok(Some(alone(requested)));
    }
    let Some(first) = row.due.filter(|due| row.enabled && *due <= now) else {
        return Ok(None);
    };
    let last = latest(timing, first, now)?;
    let due = last.front().copied().unwrap_or(first);
    Ok(Some(Plan {
        due,
        skipped: skipped(timing, first, due)?,
        next: next_due(timing, due)?,
    }))
}

/// Returns the due times that still run: the last [`MOST_REPLAYED`] due times up to `now`, the earliest first. `first` is a due time.
fn latest(
    timing: &TaskTiming,
    first: Timestamp,
    now: Timestamp,
) -> Result<VecDeque<Timestamp>, TimingError> {
    let mut reach = Duration::from_hours(1);
    loop {
        let start = before(now, reach).max(first);
        let mut last = VecDeque::from([first]);
        if start > first {
            last.clear();
        }
        let mut at = start;
        while let Some(due) = next_due(timing, at)?.filter(|due| *due <= now) {
            last.push_back(due);
            if last.len() > MOST_REPLAYED {
                last.pop_front();
            }
            at = due;
        }
        if start == first || last.len() == MOST_REPLAYED {
            return Ok(last);
        }
        reach *= 8;
    }
}

fn before(time: Timestamp, wait: Duration) -> Timestamp {
    let wait = i64::try_from(wait.as_millis()).unwrap_or(i64::MAX);
    Timestamp::from_millis(time.as_millis().saturating_sub(wait))
}

/// Returns the due times from `first` to before `until`, which do not run, in at most [`MOST_ROWS`] rows.
fn skipped(
    timing: &TaskTiming,
    first: Timestamp,
    until: Timestamp,
) -> Result<Vec<SkippedRun>, TimingError> {
    let mut skipped = Vec::new();
    let mut due = Some(first);
    while let Some(at) = due.filter(|due| *due < until) {
        due = next_due(timing, at)?;
        let has_room = skipped.len() + 1 < MOST_ROWS || due.is_none_or(|due| due >= until);
        let reason = if has_room {
            format!("missed: only the last {MOST_REPLAYED} missed due times run later")
        } else {
            let until = write_time(until);
            format!(
                "missed, as all later due times before {until}: only the last {MOST_REPLAYED} missed due times run later"
            )
        };
        skipped.push(SkippedRun { due: at, reason });
        if !has_room {
            break;
        }
    }
    Ok(skipped)
}
