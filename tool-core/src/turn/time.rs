//! The limit on the time of a run.

use std::time::Duration;

use tokio::time::Instant;

use super::held::Held;
use super::thread::Thread;
use super::{Outcome, TurnError, Turns};
use crate::context::ToolContext;
use crate::store::{Role, RunFilter, Scope, Timestamp};

/// The number of runs that one request to the store reads.
const PAGE: u32 = 50;

/// The end of the time that a run may take.
#[derive(Clone, Copy, Debug)]
pub(super) struct TimeLimit(Instant);

impl TimeLimit {
    /// Returns the context of the run, whose calls and requests end with the time of the run.
    pub(super) fn context(self, cx: &ToolContext) -> ToolContext {
        let own = cx.deadline();
        let until = own.map_or(self.0, |own| own.min(self.0));
        cx.derive().deadline(until).build()
    }

    /// Returns the outcome of a run. If the run ended at this limit and not at the deadline of the context, the outcome is [`Outcome::TimeLimit`].
    pub(super) fn outcome(self, outcome: Outcome, cx: &ToolContext) -> Outcome {
        let is_first = cx.deadline().is_none_or(|own| self.0 <= own);
        match outcome {
            Outcome::Deadline if is_first => Outcome::TimeLimit,
            outcome => outcome,
        }
    }
}

impl Turns {
    /// Returns the end of the time of a run, if it has a limit on its time.
    pub(super) async fn time_limit(
        &self,
        thread: &Thread<'_>,
        held: &Held,
    ) -> Result<Option<TimeLimit>, TurnError> {
        let Some(most) = self.time else {
            return Ok(None);
        };
        let used = self.time_used(thread, held).await?;
        let until = Instant::now().checked_add(most.saturating_sub(used));
        Ok(until.map(TimeLimit))
    }

    /// Returns the total time of the thread's runs since the last message of the user. It is computed from the stored rows, so it includes runs of
    /// other processes, even of processes that died.
    async fn time_used(&self, thread: &Thread<'_>, held: &Held) -> Result<Duration, TurnError> {
        let of_user = thread.messages().iter().rev();
        let of_user = of_user.filter(|message| message.role == Role::User);
        let since = of_user.map(|message| message.at).max();
        let id = held.id().thread();
        let (now, scope) = (Timestamp::now(), Scope::Workspace(id.workspace()));
        let mut filter = RunFilter {
            conversation: Some(id.conversation().to_owned()),
            limit: Some(PAGE),
            ..RunFilter::default()
        };
        let mut used = 0;
        loop {
            let rows = self.runs.list_runs(scope, &filter).await?;
            for row in &rows {
                let end = row.ended.unwrap_or(now);
                if since.is_some_and(|since| end < since) {
                    return Ok(Duration::from_millis(used));
                }
                let begin = since.map_or(row.started, |since| row.started.max(since));
                let time = end.as_millis().saturating_sub(begin.as_millis());
                // The time is rounded up, because the stored times are rounded down.
                used = used.saturating_add(u64::try_from(time).unwrap_or_default() + 1);
            }
            match rows.last() {
                Some(last) if rows.len() >= PAGE as usize => filter.after = Some(last.cursor()),
                _ => return Ok(Duration::from_millis(used)),
            }
        }
    }
}
