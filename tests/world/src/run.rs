//! Execution of a plan, and the report of the run.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::atomic::Ordering;
use std::sync::{Arc, Mutex, PoisonError};

use tokio::time::Instant;
use tool_core::CancellationToken;

use crate::executor::Executor;
use crate::facts::{Violation, World, hello};
use crate::host::{Drive, End, Host, hidden};
use crate::plan::{Plan, Run, User};
use crate::process::{Machine, Process, ProcessEnv};
use crate::store::Shared;
pub use crate::store::StoreKind;
use crate::{check, settle};

/// The result of a run.
#[derive(Clone, Debug)]
pub struct Report {
    /// The violations of invariants.
    pub violations: Vec<Violation>,
    /// The trace of all events, in order.
    pub lines: Vec<String>,
    /// The hash of the trace. Equal runs have the same hash.
    pub hash: u64,
}

impl Report {
    /// Returns whether the invariant with this name was violated.
    pub fn violates(&self, invariant: &str) -> bool {
        let mut fired = self.violations.iter();
        fired.any(|violation| violation.invariant == invariant)
    }

    /// Returns whether an invariant with this name was violated with a message that contains the text.
    pub fn reports(&self, invariant: &str, text: &str) -> bool {
        let mut fired = self.violations.iter();
        fired.any(|violation| violation.invariant == invariant && violation.what.contains(text))
    }

    /// Returns the names of the violated invariants.
    pub fn names(&self) -> BTreeSet<&'static str> {
        let fired = self.violations.iter();
        fired.map(|violation| violation.invariant).collect()
    }
}

/// Runs a plan and checks the invariants.
///
/// # Errors
///
/// Returns an error if a store, the runtime or a host cannot be created.
pub fn run(plan: &Plan, kind: StoreKind) -> Result<Report, String> {
    let shared = Shared::open(kind, plan.settings.apart)?;
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
            check::retention(&state).await;
        });
        if ran.await.is_none() {
            world.violated("no_progress", "tasks wake each other for ever");
        }
        state.end();
        Ok::<_, String>(())
    }))?;
    for text in executor.panics() {
        world.violated("panic_escaped", format!("a call panicked: {text}"));
    }
    let hash = world.hash();
    let facts = world.facts();
    Ok(Report {
        violations: facts.violations.iter().cloned().collect(),
        lines: facts.lines.clone(),
        hash,
    })
}

/// A run in progress.
pub(crate) struct Running<'a> {
    pub(crate) plan: &'a Plan,
    pub(crate) runs: Arc<[Run]>,
    pub(crate) shared: Shared,
    pub(crate) executor: Executor,
    pub(crate) world: World,
    pub(crate) start: Instant,
    pub(crate) machines: Vec<Arc<Machine>>,
    pub(crate) hosts: Vec<Option<Arc<Host>>>,
    processes: u64,
    /// The token that cancels the newest drive of each run.
    pub(crate) stops: BTreeMap<usize, CancellationToken>,
    /// The tasks that drive each run.
    pub(crate) requests: BTreeMap<usize, Vec<u64>>,
    pub(crate) progress: Arc<Mutex<Progress>>,
}

/// The state of the runs and their drives.
#[derive(Default)]
pub(crate) struct Progress {
    /// The runs whose first request is storing, or has stored, the user's message.
    pub(crate) asked: BTreeSet<usize>,
    /// The runs that have ended.
    pub(crate) done: BTreeSet<usize>,
    /// The number of drives in progress, by run.
    pub(crate) active: BTreeMap<usize, usize>,
    /// The result of the drive that ended last, by run. `Waiting` if a drive has begun and none has ended.
    pub(crate) last: BTreeMap<usize, End>,
}

/// The first request of a run, until the user's message is stored. If the request fails to store the message, a later request stores it.
struct FirstRequest {
    progress: Arc<Mutex<Progress>>,
    world: World,
    run: usize,
    /// Whether the message is stored together with the start of the run.
    responds: bool,
    is_written: bool,
}

impl Drop for FirstRequest {
    fn drop(&mut self) {
        let stored = self.responds && self.world.facts().greeted.contains(&self.run);
        if !self.is_written && !stored {
            let mut progress = self.progress.lock().unwrap_or_else(PoisonError::into_inner);
            progress.asked.remove(&self.run);
        }
    }
}

/// Counts a drive as in progress until it is dropped.
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
            runs: plan.runs.as_slice().into(),
            shared: shared.clone(),
            executor: executor.clone(),
            world: world.clone(),
            start: Instant::now(),
            machines: (0..hosts).map(|_| Arc::default()).collect(),
            hosts: (0..hosts).map(|_| None).collect(),
            processes: 0,
            stops: BTreeMap::new(),
            requests: BTreeMap::new(),
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

    /// Kills the process of a host.
    pub(crate) fn kill(&mut self, host: usize) {
        if let Some(host) = self.hosts[host].take() {
            host.process.note("dies");
            host.process.die();
        }
    }

    /// Sets the offset of every wall clock to zero.
    pub(crate) fn set_clocks(&self) {
        for machine in &self.machines {
            machine.skew.store(0, Ordering::Relaxed);
        }
    }

    /// Drops everything that still runs, so that no reference cycle keeps it alive.
    fn end(&mut self) {
        for host in 0..self.hosts.len() {
            self.kill(host);
        }
        self.executor.kill(0);
    }

    pub(crate) fn progress(&self) -> std::sync::MutexGuard<'_, Progress> {
        self.progress.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns the runs that were driven at least once.
    pub(crate) fn driven(&self) -> BTreeSet<usize> {
        self.progress().last.keys().copied().collect()
    }

    /// Returns the users of all runs.
    pub(crate) fn users(&self) -> BTreeSet<User> {
        self.plan.runs.iter().map(|run| run.who.clone()).collect()
    }

    pub(crate) fn host(&self, host: usize) -> Option<Arc<Host>> {
        self.hosts.get(host % self.hosts.len()).cloned().flatten()
    }

    /// Starts a task in the process of a host.
    pub(crate) fn spawn(
        &self,
        host: &Arc<Host>,
        polls: Option<u32>,
        task: impl Future<Output = ()> + Send + 'static,
    ) -> u64 {
        let env = Arc::new(ProcessEnv(Arc::clone(&host.process)));
        self.executor.spawn(host.process.id, Some(env), polls, task)
    }

    /// Drives a run in the background, and sends its end to `done`. The first drive of a run stores the user's message.
    pub(crate) fn spawn_drive(
        &self,
        host: &Arc<Host>,
        mut drive: Drive,
        polls: Option<u32>,
        done: Option<futures::channel::oneshot::Sender<End>>,
    ) -> u64 {
        let progress = Arc::clone(&self.progress);
        let (index, task) = (drive.index, Arc::clone(host));
        let first = {
            let mut progress = self.progress();
            *progress.active.entry(index).or_default() += 1;
            progress.last.entry(index).or_insert(End::Waiting);
            progress.asked.insert(index)
        };
        let active = Active(Arc::clone(&progress), index);
        let responds = self.plan.settings.respond;
        let asking = first.then(|| FirstRequest {
            progress: Arc::clone(&progress),
            world: self.world.clone(),
            run: index,
            responds,
            is_written: false,
        });
        let world = self.world.clone();
        self.spawn(host, polls, async move {
            let _active = active;
            let mut written = Ok(());
            // A request that began before the message was stored does not mark the run as done.
            let has_message = first || world.facts().greeted.contains(&index);
            let mut asking = asking;
            if let Some(asking) = &mut asking {
                let who = drive.who();
                let text = hello(who, index);
                if responds {
                    drive.message = Some(text);
                } else {
                    written = task.write(who, &text).await;
                    asking.is_written = written.is_ok();
                }
            }
            if !responds {
                asking = None;
            }
            let end = match written {
                Ok(()) => task.drive(drive).await,
                Err(error) => End::Failed(error),
            };
            drop(asking);
            let mut progress = progress.lock().unwrap_or_else(PoisonError::into_inner);
            if end == End::Done && has_message {
                progress.done.insert(index);
            }
            progress.last.insert(index, end.clone());
            drop(progress);
            if let Some(done) = done {
                let _ = done.send(end);
            }
        })
    }
}
