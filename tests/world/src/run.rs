//! From a plan to what came of it.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::atomic::Ordering;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use tokio::time::{Instant, sleep_until};
use tool_core::CancellationToken;

use crate::executor::Executor;
use crate::facts::{Violation, World, sentinel};
use crate::host::{Drive, End, Host, hidden};
use crate::plan::{Fault, Plan, What, Who};
use crate::process::{Machine, Process, ProcessEnv};
use crate::store::Shared;
use crate::{check, settle};

/// Which store the hosts share.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum StoreKind {
    /// In memory.
    #[default]
    Memory,
    /// SQLite.
    Sqlite,
}

/// What came of a run.
#[derive(Clone, Debug)]
pub struct Report {
    /// Invariants that do not hold.
    pub violations: Vec<Violation>,
    /// Everything that happened, in order.
    pub lines: Vec<String>,
    /// A number that is the same for the same run.
    pub hash: u64,
}

impl Report {
    /// Whether an invariant of this name fired.
    pub fn fires(&self, invariant: &str) -> bool {
        let mut fired = self.violations.iter();
        fired.any(|violation| violation.invariant == invariant)
    }

    /// Whether an invariant of this name fired and says something that holds a text.
    pub fn says(&self, invariant: &str, text: &str) -> bool {
        let mut fired = self.violations.iter();
        fired.any(|violation| violation.invariant == invariant && violation.what.contains(text))
    }

    /// Names of the invariants that fired.
    pub fn names(&self) -> BTreeSet<&'static str> {
        let fired = self.violations.iter();
        fired.map(|violation| violation.invariant).collect()
    }
}

/// Runs a plan and checks the invariants.
///
/// # Errors
///
/// Where a host or a store cannot be made.
pub fn run(plan: &Plan, kind: StoreKind) -> Result<Report, String> {
    let second = match kind {
        StoreKind::Memory => None,
        StoreKind::Sqlite => Some(
            tokio::runtime::Builder::new_multi_thread()
                .worker_threads(1)
                .enable_all()
                .build()
                .map_err(|error| error.to_string())?,
        ),
    };
    let shared = match &second {
        None => Shared::memory(),
        Some(runtime) => Shared::sqlite(runtime)?,
    };
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_time()
        .start_paused(true)
        .build()
        .map_err(|error| error.to_string())?;
    let executor = Executor::new(plan.schedule);
    let world = World::default();
    runtime.block_on(tokio::task::unconstrained(async {
        let mut state = Running::new(plan, &shared, &executor, &world)?;
        let ran = executor.run(async {
            state.act().await;
            settle::settle(&mut state).await;
            check::check(&state).await;
        });
        if ran.await.is_none() {
            world.violated("no_progress", "tasks wake each other for ever");
        }
        state.end();
        Ok::<_, String>(())
    }))?;
    for text in executor.panics() {
        world.violated("panic_escaped", format!("a call unwinds with: {text}"));
    }
    let hash = world.hash();
    let facts = world.facts();
    Ok(Report {
        violations: facts.violations.iter().cloned().collect(),
        lines: facts.lines.clone(),
        hash,
    })
}

/// A run under way.
pub(crate) struct Running<'a> {
    pub(crate) plan: &'a Plan,
    pub(crate) shared: Shared,
    pub(crate) executor: Executor,
    pub(crate) world: World,
    pub(crate) start: Instant,
    machines: Vec<Arc<Machine>>,
    pub(crate) hosts: Vec<Option<Arc<Host>>>,
    processes: u64,
    /// Cancels all drives of a run.
    stops: BTreeMap<usize, CancellationToken>,
    pub(crate) progress: Arc<Mutex<Progress>>,
}

/// What drives have come to.
#[derive(Default)]
pub(crate) struct Progress {
    /// Runs whose user message is stored.
    pub(crate) asked: BTreeSet<usize>,
    /// Runs that are over.
    pub(crate) done: BTreeSet<usize>,
    /// Drives under way, by run.
    pub(crate) active: BTreeMap<usize, usize>,
    /// How the last drive of each run ended.
    pub(crate) last: BTreeMap<usize, End>,
}

/// Counts a drive as under way while it lives.
struct Active(Arc<Mutex<Progress>>, usize);

impl Drop for Active {
    fn drop(&mut self) {
        let mut progress = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(active) = progress.active.get_mut(&self.1) {
            *active -= 1;
        }
    }
}

impl<'a> Running<'a> {
    fn new(
        plan: &'a Plan,
        shared: &Shared,
        executor: &Executor,
        world: &World,
    ) -> Result<Self, String> {
        let hosts = plan.settings.hosts.clamp(1, 4);
        let mut state = Self {
            plan,
            shared: shared.clone(),
            executor: executor.clone(),
            world: world.clone(),
            start: Instant::now(),
            machines: (0..hosts).map(|_| Arc::default()).collect(),
            hosts: (0..hosts).map(|_| None).collect(),
            processes: 0,
            stops: BTreeMap::new(),
            progress: Arc::default(),
        };
        let tenants: BTreeSet<&str> = plan.runs.iter().map(|run| &*run.who.tenant).collect();
        world.facts().secrets = tenants.into_iter().flat_map(hidden).collect();
        for host in 0..hosts {
            state.boot(host)?;
        }
        Ok(state)
    }

    /// Starts a process of a host.
    pub(crate) fn boot(&mut self, host: usize) -> Result<(), String> {
        self.processes += 1;
        let process = Process::new(
            self.processes,
            host,
            &self.world,
            &self.executor,
            &self.machines[host],
            self.start,
            self.plan.schedule,
        );
        let _entered = tool_core::env::enter(Arc::new(ProcessEnv(Arc::clone(&process))));
        let host_now = Host::start(&self.shared, &process, &self.plan.settings)?;
        self.hosts[host] = Some(Arc::new(host_now));
        process.note("starts");
        Ok(())
    }

    /// Ends the process of a host.
    pub(crate) fn kill(&mut self, host: usize) {
        if let Some(host) = self.hosts[host].take() {
            host.process.note("dies");
            host.process.die();
        }
    }

    /// Sets every wall clock right.
    pub(crate) fn set_clocks(&self) {
        for machine in &self.machines {
            machine.skew.store(0, Ordering::Relaxed);
        }
    }

    /// Drops everything that still runs, so that nothing keeps itself alive.
    fn end(&mut self) {
        for host in 0..self.hosts.len() {
            self.kill(host);
        }
        self.executor.kill(0);
    }

    pub(crate) fn progress(&self) -> std::sync::MutexGuard<'_, Progress> {
        self.progress.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Runs that were driven at least once.
    pub(crate) fn driven(&self) -> BTreeSet<usize> {
        self.progress().last.keys().copied().collect()
    }

    /// Users whose conversations may hold messages.
    pub(crate) fn whose(&self) -> BTreeSet<Who> {
        self.plan.runs.iter().map(|run| run.who.clone()).collect()
    }

    fn host(&self, host: usize) -> Option<Arc<Host>> {
        self.hosts.get(host % self.hosts.len()).cloned().flatten()
    }

    /// Starts a task in the process of a host.
    pub(crate) fn spawn(
        &self,
        host: &Arc<Host>,
        polls: Option<u32>,
        task: impl Future<Output = ()> + Send + 'static,
    ) {
        let env = Arc::new(ProcessEnv(Arc::clone(&host.process)));
        self.executor.spawn(host.process.id, Some(env), polls, task);
    }

    /// Everything that the plan says, each at its time.
    async fn act(&mut self) {
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
            } => self.start_drive(run, host, dropped_after, deadline),
            What::Stop { run } => {
                if let Some(stop) = self.stops.get(&run) {
                    self.world.facts().disturbed.insert(run);
                    stop.cancel();
                }
            }
            What::Write { run } if run < runs => {
                let run = &self.plan.runs[run];
                let (who, turn) = (run.who.clone(), run.turn.clone());
                if let Some(host) = self.host(0) {
                    let task = Arc::clone(&host);
                    self.spawn(&host, None, async move {
                        let text = format!("more of {}", sentinel(&who.tenant, &who.conversation));
                        let _ = task.write(&who, &format!("{turn}+"), &text).await;
                    });
                }
            }
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
            What::Resume { token_of, by, host } if token_of < runs && by < runs => {
                let (of, by) = (self.plan.runs[token_of].clone(), self.plan.runs[by].clone());
                self.serve(host, move |host| async move { host.resume(&of, &by).await });
            }
            What::Resolve { host, rerun } => {
                self.serve(host, move |host| async move {
                    host.resolve(rerun).await;
                });
            }
            What::Kill { host, tool } => self.switch(host, &tool, |host, tool| host.kill(tool)),
            What::Disable { host, tool } => {
                self.switch(host, &tool, |host, tool| host.disable(tool));
            }
            What::Deny { host, tool } => self.switch(host, &tool, |host, tool| host.deny(tool)),
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
            } => {
                if let Some(host) = self.host(host) {
                    for _ in 0..times {
                        host.process.arm(&op, fault);
                    }
                    if !matches!(fault, Fault::SlowBefore(_) | Fault::SlowAfter(_)) {
                        self.world.facts().faults = true;
                    }
                }
            }
            What::Hook { host, fault } => {
                if let Some(host) = self.host(host) {
                    host.process.arm_hook(fault);
                }
            }
            // A run that shrinking has taken away.
            _ => {}
        }
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
            // Once to let calls end, once to let them write, and a moment.
            let most = patience + patience.max(Duration::from_secs(1)) + Duration::from_secs(1);
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
    ) {
        let (Some(run), Some(host)) = (self.plan.runs.get(index).cloned(), self.host(host)) else {
            return;
        };
        let stop = CancellationToken::new();
        // Stop reaches the newest request; a later one of a stopped run is a new wish.
        self.stops.insert(index, stop.clone());
        if dropped_after.is_some() || deadline.is_some() {
            self.world.facts().disturbed.insert(index);
        }
        let drive = Drive {
            index,
            run,
            stop,
            deadline,
        };
        self.spawn_drive(&host, drive, dropped_after, None);
    }

    /// Drives a run in the background; `done` is told how that ended.
    pub(crate) fn spawn_drive(
        &self,
        host: &Arc<Host>,
        drive: Drive,
        polls: Option<u32>,
        done: Option<futures::channel::oneshot::Sender<End>>,
    ) {
        let progress = Arc::clone(&self.progress);
        let (index, task) = (drive.index, Arc::clone(host));
        let first = {
            let mut progress = self.progress();
            *progress.active.entry(index).or_default() += 1;
            progress.last.entry(index).or_insert(End::Waiting);
            progress.asked.insert(index)
        };
        let active = Active(Arc::clone(&progress), index);
        self.spawn(host, polls, async move {
            let _active = active;
            if first {
                let who = &drive.run.who;
                let text = format!("hello from {}", sentinel(&who.tenant, &who.conversation));
                let _ = task.write(who, &drive.run.turn, &text).await;
            }
            let end = task.drive(drive).await;
            let mut progress = progress.lock().unwrap_or_else(PoisonError::into_inner);
            if end == End::Done {
                progress.done.insert(index);
            }
            progress.last.insert(index, end.clone());
            drop(progress);
            if let Some(done) = done {
                let _ = done.send(end);
            }
        });
    }
}
