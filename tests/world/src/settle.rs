//! Recovery after the last action: a host starts again, operators approve calls and settle ambiguous effects, and every run is driven to its end.

use std::time::Duration;

use tool_core::CancellationToken;

use crate::check;
use crate::host::{Drive, End};
use crate::plan::PlannedReply;
use crate::run::Running;

/// The maximum number of rounds in which the test answers, settles and drives.
const ROUNDS: usize = 24;

pub(crate) async fn settle(state: &mut Running<'_>) {
    // After 30 s, every task that can end has ended, including the audit's background writes.
    tokio::time::sleep(Duration::from_secs(30)).await;
    let hangs = state.progress().active.values().any(|active| *active > 0);
    if hangs {
        let mut facts = state.world.facts();
        facts.deaths = true;
        facts.disturbed.extend(0..state.plan.runs.len());
    }
    count_unwritten(state);
    for host in 0..state.hosts.len() {
        state.kill(host);
    }
    state.set_clocks();
    // After three hours, every lease has expired, even if a clock was fast, and no approval has expired.
    tokio::time::sleep(Duration::from_hours(3)).await;
    if let Err(error) = state.boot(0) {
        state.world.violated("no_progress", error);
        return;
    }
    check::ambiguous(state).await;
    for _ in 0..ROUNDS {
        let open: Vec<usize> = {
            let progress = state.progress();
            let driven = progress.last.keys();
            driven
                .filter(|run| !progress.done.contains(run))
                .copied()
                .collect()
        };
        if open.is_empty() {
            // Wait for the last rows of the audit.
            tokio::time::sleep(Duration::from_secs(30)).await;
            count_unwritten(state);
            return;
        }
        for run in open {
            help(state).await;
            drive(state, run).await;
        }
    }
    let stuck: Vec<(usize, End)> = {
        let progress = state.progress();
        let last = progress.last.iter();
        last.filter(|(run, _)| !progress.done.contains(run))
            .map(|(run, end)| (*run, end.clone()))
            .collect()
    };
    for (index, end) in stuck {
        let run = &state.plan.runs[index];
        let what = format!(
            "{} run {index} never ends; the last drive returned {end:?}",
            run.who
        );
        state.world.violated("stuck", what);
    }
}

/// Adds the audit rows that hosts report as lost or not yet written.
fn count_unwritten(state: &Running<'_>) {
    let hosts = state.hosts.iter().flatten();
    let unwritten: u64 = hosts.map(|host| host.unwritten()).sum();
    state.world.facts().uncounted += unwritten;
}

/// Makes operators approve calls and settle ambiguous effects.
async fn help(state: &Running<'_>) {
    let Some(host) = state.hosts[0].clone() else {
        return;
    };
    let tenants: Vec<String> = state.users().into_iter().map(|who| who.tenant).collect();
    let (sender, done) = futures::channel::oneshot::channel();
    let task = std::sync::Arc::clone(&host);
    state.spawn(&host, None, async move {
        for tenant in tenants {
            task.answer(&tenant, PlannedReply::Approve, 1).await;
        }
        task.resolve(false).await;
        let _ = sender.send(());
    });
    let _ = tokio::time::timeout(Duration::from_mins(10), done).await;
}

async fn drive(state: &Running<'_>, index: usize) {
    let Some(host) = state.hosts[0].clone() else {
        return;
    };
    let (sender, done) = futures::channel::oneshot::channel();
    let drive = Drive {
        index,
        runs: std::sync::Arc::clone(&state.runs),
        stop: CancellationToken::new(),
        deadline: None,
        message: None,
    };
    state.spawn_drive(&host, drive, None, Some(sender));
    let _ = tokio::time::timeout(Duration::from_mins(10), done).await;
}
