//! Recovery after the last action: one process finishes the plans and the runs of tasks.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

use crate::plan::User;

use super::Running;
use super::host::Host;

/// The maximum number of rounds in which one process finishes a plan.
const ROUNDS: usize = 12;

impl Running<'_> {
    /// Lets the last work end, kills every process, and finishes all work in a new process.
    pub(super) async fn settle(&mut self) {
        tokio::time::sleep(Duration::from_mins(2)).await;
        for host in 0..self.hosts.len() {
            self.kill(host);
        }
        self.set_clocks();
        // Every lease expires.
        tokio::time::sleep(Duration::from_hours(1)).await;
        self.boot(0);
        let Some(host) = self.hosts[0].clone() else {
            return;
        };
        let of_plans: BTreeSet<User> = self.users();
        let finisher = Arc::clone(&host);
        self.spawn(&host, async move {
            for who in of_plans {
                finish(&finisher, &who).await;
            }
        });
        // Failed attempts of runs are repeated, and a run takes up to 20 seconds.
        tokio::time::sleep(Duration::from_mins(20)).await;
        host.stop.cancel();
        tokio::time::sleep(Duration::from_mins(5)).await;
        self.kill(0);
    }

    /// Returns the user `olga` in each conversation.
    pub(super) fn users(&self) -> BTreeSet<User> {
        let users = self
            .plan
            .actions
            .iter()
            .filter_map(|action| action.what.who());
        let users = users.map(|who| User {
            user: "olga".to_owned(),
            ..who.clone()
        });
        users.collect()
    }
}

/// Finishes the plan of a conversation.
async fn finish(host: &Host, who: &User) {
    for _ in 0..ROUNDS {
        if host.active_plan(who).await.is_none() {
            return;
        }
        host.resume_plan(who).await;
        host.work(who, 0, true).await;
    }
    let what = format!("the plan of {who} never ends");
    host.seen.world.violated("stuck", what);
}
