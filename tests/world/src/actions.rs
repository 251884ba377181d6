//! Execution of a plan's actions.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use tokio::time::sleep_until;
use tool_core::CancellationToken;

use crate::facts::sentinel;
use crate::host::{Drive, Host};
use crate::plan::{Fault, What};
use crate::run::Running;

impl Running<'_> {
    /// Performs every action of the plan at its time.
    pub(crate) async fn act(&mut self) {
        let mut actions: Vec<_> = self.plan.actions.iter().collect();
        actions.sort_by_key(|action| action.at);
        for action in actions {
            sleep_until(self.start + Duration::from_millis(action.at)).await;
            self.world
                .note(format!("{:>6} {:?}", action.at, action.what));
            self.perform(&action.what);
        }
    }

    fn perform(&mut self, what: &What) {
        let runs = self.plan.runs.len();
        match what.clone() {
            What::Drive {
                run,
                host,
                dropped_after,
                deadline,
                stopped,
            } => self.start_drive(run, host, dropped_after, deadline, stopped),
            What::Stop { run } => self.stop(run),
            What::Leave { run } => self.leave(run),
            What::Write { run } if run < runs => self.write(run),
            What::Inbox { run, host } if run < runs => {
                let run = self.plan.runs[run].clone();
                self.serve(host, move |host| async move { host.inbox(&run).await });
            }
            What::Answer {
                run,
                host,
                reply,
                times,
            } if run < runs => {
                let tenant = self.plan.runs[run].who.tenant.clone();
                self.serve(host, move |host| async move {
                    host.answer(&tenant, reply, times).await;
                });
            }
            What::Revoke { run, host } if run < runs => {
                let tenant = self.plan.runs[run].who.tenant.clone();
                self.serve(host, move |host| async move { host.revoke(&tenant).await });
            }
            What::Enable { host, tool } => {
                self.serve(host, move |host| async move { host.enable(&tool).await });
            }
            What::Resume { token_of, by, host } if token_of < runs && by < runs => {
                let (of, by) = (self.plan.runs[token_of].clone(), self.plan.runs[by].clone());
                self.serve(host, move |host| async move { host.resume(&of, &by).await });
            }
            What::Resolve { host, rerun } => {
                self.serve(host, move |host| async move {
                    host.resolve(rerun).await;
                });
            }
            What::Kill { host, tool } => self.switch(host, &tool, Host::kill),
            What::StoreKill { host, tool } => {
                self.world.facts().switched.insert(tool.clone());
                self.serve(
                    host,
                    move |host| async move { host.store_kill(&tool).await },
                );
            }
            What::Disable { host, tool } => {
                self.switch(host, &tool, Host::disable);
            }
            What::Deny { host, tool } => self.switch(host, &tool, Host::deny),
            What::Crash { host } => {
                let host = host % self.hosts.len();
                self.world.facts().deaths = true;
                self.disturb_active();
                self.kill(host);
            }
            What::Start { host } => {
                let host = host % self.hosts.len();
                if self.hosts[host].is_none()
                    && let Err(error) = self.boot(host)
                {
                    self.world.note(error);
                }
            }
            What::Drain { host, patience } => self.drain(host, patience),
            What::Clock { host, by } => {
                let machine = &self.machines[host % self.machines.len()];
                machine.skew.fetch_add(by, Ordering::Relaxed);
            }
            What::Store {
                host,
                op,
                fault,
                times,
            } => self.arm(host, &op, fault, times),
            What::Full { millis } => {
                let mut facts = self.world.facts();
                facts.full_until = self.start.elapsed().as_millis() + u128::from(millis);
                facts.faults = true;
            }
            What::Hook { host, fault } => {
                if let Some(host) = self.host(host) {
                    host.process.arm_hook(fault);
                }
            }
            // The action names a run that was removed when the plan was shrunk.
            _ => {}
        }
    }

    fn arm(&self, host: usize, op: &str, fault: Fault, times: u32) {
        let Some(host) = self.host(host) else { return };
        for _ in 0..times {
            host.process.arm(op, fault);
        }
        if !matches!(fault, Fault::SlowBefore(_) | Fault::SlowAfter(_)) {
            self.world.facts().faults = true;
        }
    }

    fn stop(&self, run: usize) {
        if let Some(stop) = self.stops.get(&run) {
            self.world.facts().disturbed.insert(run);
            stop.cancel();
        }
    }

    fn leave(&mut self, run: usize) {
        self.world.facts().disturbed.insert(run);
        for request in self.requests.remove(&run).unwrap_or_default() {
            self.executor.cancel(request);
        }
    }

    /// Stores another message of the user of a run.
    fn write(&self, run: usize) {
        let who = self.plan.runs[run].who.clone();
        self.serve(0, move |host| async move {
            let text = format!("more of {}", sentinel(&who.tenant, &who.conversation));
            let _ = host.write(&who, &text).await;
        });
    }

    fn serve<F>(&self, host: usize, task: impl FnOnce(Arc<Host>) -> F)
    where
        F: Future<Output = ()> + Send + 'static,
    {
        if let Some(host) = self.host(host) {
            self.spawn(&host, None, task(Arc::clone(&host)));
        }
    }

    fn switch(&self, host: usize, tool: &str, switch: impl FnOnce(&Host, &str)) {
        if let Some(host) = self.host(host) {
            self.world.facts().switched.insert(tool.to_owned());
            switch(&host, tool);
        }
    }

    fn disturb_active(&self) {
        let progress = self.progress();
        let active = progress.active.iter().filter(|(_, count)| **count > 0);
        let active: Vec<usize> = active.map(|(run, _)| *run).collect();
        drop(progress);
        self.world.facts().disturbed.extend(active);
    }

    fn drain(&self, host: usize, patience: u64) {
        self.world.facts().deaths = true;
        self.disturb_active();
        self.serve(host, move |host| async move {
            let patience = Duration::from_millis(patience);
            // Besides the patience, a drain may take one second for the last writes and 100 ms for its tasks.
            let most = patience + Duration::from_millis(1_100);
            let ended = tokio::time::timeout(most, host.drain(patience)).await;
            if ended.is_err() {
                let what = format!("drain({patience:?}) has not ended after {most:?}");
                host.process.world.violated("drain_late", what);
            }
        });
    }

    fn start_drive(
        &mut self,
        index: usize,
        host: usize,
        dropped_after: Option<u32>,
        deadline: Option<u64>,
        stopped: bool,
    ) {
        let (Some(_), Some(host)) = (self.plan.runs.get(index), self.host(host)) else {
            return;
        };
        let stop = CancellationToken::new();
        // A stop cancels only the newest request. A later request for a stopped run is a new decision of the user.
        self.stops.insert(index, stop.clone());
        if stopped {
            stop.cancel();
        }
        if dropped_after.is_some() || deadline.is_some() || stopped {
            self.world.facts().disturbed.insert(index);
        }
        let drive = Drive {
            index,
            runs: Arc::clone(&self.runs),
            stop,
            deadline,
            message: None,
        };
        let request = self.spawn_drive(&host, drive, dropped_after, None);
        self.requests.entry(index).or_default().push(request);
    }
}
