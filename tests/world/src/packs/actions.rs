//! Execution of a plan's actions.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use serde_json::json;
use tokio::time::sleep_until;

use crate::plan::User;

use super::host::Host;
use super::{Running, What, check};

impl Running<'_> {
    /// Performs every action of the plan at its time.
    pub(super) async fn act(&mut self) {
        let mut actions: Vec<_> = self.plan.actions.iter().collect();
        actions.sort_by_key(|action| action.at);
        for action in actions {
            sleep_until(self.start + Duration::from_millis(action.at)).await;
            let host = action.host % self.hosts.len();
            let (at, what) = (action.at, &action.what);
            self.world.note(format!("{at:>6} host {host} {what:?}"));
            self.perform(host, what);
        }
    }

    fn perform(&mut self, host: usize, what: &What) {
        match what {
            What::Crash => self.kill(host),
            What::CrashInRun { after } => self.seen.facts().deaths.push_back(*after),
            What::Start if self.alive(host).is_none() => self.boot(host),
            What::Clock { by } => {
                self.machines[host].skew.fetch_add(*by, Ordering::Relaxed);
            }
            What::Store { op, fault } => {
                if let Some(host) = self.alive(host) {
                    host.process.arm(op, *fault);
                }
            }
            What::Erase { who } => {
                let (who, shared) = (who.clone(), self.shared.clone());
                self.serve(host, move |host| async move {
                    let user = host.seen.user(&who.tenant, &who.user);
                    let _alone = user.write().await;
                    check::erase(&host, &shared, &who).await;
                });
            }
            what => {
                let Some(who) = what.who().cloned() else {
                    return;
                };
                let (what, shared) = (what.clone(), self.shared.clone());
                self.serve(host, move |host| async move {
                    let user = host.seen.user(&who.tenant, &who.user);
                    let _work = user.read().await;
                    serve(&host, &who, &what).await;
                    check::active_plans(&shared, &host.seen.world, &who).await;
                });
            }
        }
    }

    fn serve<F>(&self, host: usize, task: impl FnOnce(Arc<Host>) -> F)
    where
        F: Future<Output = ()> + Send + 'static,
    {
        if let Some(host) = self.alive(host) {
            self.spawn(host, task(Arc::clone(host)));
        }
    }
}

/// Performs an action of a user.
async fn serve(host: &Host, who: &User, what: &What) {
    match *what {
        What::Remember {
            topic,
            shared,
            respelled,
            ..
        } => host.remember(who, topic, shared, respelled).await,
        What::Search { topic, .. } => host.search(who, topic).await,
        What::Forget { shared, .. } => host.forget(who, shared).await,
        What::Create { .. } => host.create_plan(who).await,
        What::Replace { .. } => host.replace_plan(who).await,
        What::Work { node, fenced, .. } => host.work(who, node, fenced).await,
        What::Read { .. } => host.read_plan(who).await,
        What::Resume { .. } => host.resume_plan(who).await,
        What::Schedule {
            every,
            keep_history,
            ..
        } => host.schedule(who, every, keep_history).await,
        What::Rename { .. } => {
            let change = json!({"action": "update", "name": "Renamed"});
            host.change_task(who, change).await;
        }
        What::RunNow { .. } => host.change_task(who, json!({"action": "run"})).await,
        What::Delete { .. } => host.delete_task(who).await,
        What::Erase { .. }
        | What::Crash
        | What::CrashInRun { .. }
        | What::Start
        | What::Clock { .. }
        | What::Store { .. } => {}
    }
}
