//! Simulation of hosts that have the packs `memory`, `plan` and `schedule`, and whose processes die at random times.
//!
//! A seed becomes a [`Plan`] of actions: agents remember and search, several processes work on one plan, and several schedulers share the scheduled
//! tasks. A run executes the actions, lets one process finish the work, and checks the invariants of `docs/world.md`.

mod actions;
mod check;
mod facts;
mod generate;
mod host;
mod plan;
mod runner;
mod settle;

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::Ordering;

use tokio::time::Instant;

use crate::executor::Executor;
use crate::facts::World;
use crate::process::{Machine, Process, ProcessEnv};
use crate::run::{Report, StoreKind};
use crate::store::Shared;

use self::facts::Seen;
pub use self::generate::plan;
use self::host::Host;
pub use self::plan::{Action, Plan, What};

/// A run in progress.
struct Running<'a> {
    plan: &'a Plan,
    shared: &'a Shared,
    executor: &'a Executor,
    world: &'a World,
    seen: Seen,
    start: Instant,
    machines: Vec<Arc<Machine>>,
    hosts: Vec<Option<Arc<Host>>>,
    processes: u64,
}

impl Running<'_> {
    /// Starts a process of a host, and its scheduler.
    fn boot(&mut self, host: usize) {
        self.processes += 1;
        let process = Process::new(
            self.processes,
            host,
            self.world,
            self.executor,
            &self.machines[host],
            self.start,
            self.plan.schedule,
        );
        let _entered = tool_core::env::enter(Arc::new(ProcessEnv(Arc::clone(&process))));
        process.note("starts");
        let started = Arc::new(Host::start(self.shared, &process, &self.seen));
        let (scheduler, stop) = (started.scheduler(), started.stop.clone());
        self.spawn(&started, async move {
            scheduler.run(stop).await;
        });
        self.hosts[host] = Some(started);
    }

    /// Returns the host with this index, if its process is alive.
    fn alive(&self, host: usize) -> Option<&Arc<Host>> {
        let host = self.hosts[host].as_ref();
        host.filter(|host| host.process.is_alive())
    }

    fn kill(&mut self, host: usize) {
        if let Some(alive) = self.alive(host) {
            alive.process.note("dies");
            alive.process.die();
        }
        self.hosts[host] = None;
    }

    /// Starts a task in the process of a host.
    fn spawn(&self, host: &Arc<Host>, task: impl Future<Output = ()> + Send + 'static) {
        let env = Arc::new(ProcessEnv(Arc::clone(&host.process)));
        self.executor.spawn(host.process.id, Some(env), None, task);
    }

    /// Corrects every wall clock.
    fn set_clocks(&self) {
        for machine in &self.machines {
            machine.skew.store(0, Ordering::Relaxed);
        }
    }
}

/// Runs a plan and checks the invariants.
///
/// # Errors
///
/// Returns an error if the store or the async runtime cannot be created.
pub fn run(plan: &Plan, kind: StoreKind) -> Result<Report, String> {
    let shared = Shared::open(kind, false)?;
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_time()
        .start_paused(true)
        .build()
        .map_err(|error| error.to_string())?;
    let executor = Executor::new(plan.schedule);
    let world = World::default();
    let hosts = plan.hosts.clamp(1, 4);
    runtime.block_on(tokio::task::unconstrained(async {
        let mut running = Running {
            plan,
            shared: &shared,
            executor: &executor,
            world: &world,
            seen: Seen::new(plan, &world),
            start: Instant::now(),
            machines: (0..hosts).map(|_| Arc::default()).collect(),
            hosts: (0..hosts).map(|_| None).collect(),
            processes: 0,
        };
        for host in 0..hosts {
            running.boot(host);
        }
        let ran = executor.run(async {
            running.act().await;
            running.settle().await;
            running.check().await;
        });
        if ran.await.is_none() {
            world.violated("no_progress", "tasks wake each other for ever");
        }
        for host in 0..hosts {
            running.kill(host);
        }
        executor.kill(0);
        Ok::<_, String>(())
    }))?;
    for text in executor.panics() {
        world.violated("panic_escaped", format!("a task panicked: {text}"));
    }
    let hash = world.hash();
    let facts = world.facts();
    Ok(Report {
        violations: facts.violations.iter().cloned().collect(),
        lines: facts.lines.clone(),
        hash,
    })
}

/// Returns the smallest plan that was found by removing actions, and for which the invariant fires.
///
/// # Errors
///
/// Returns an error if the store or the async runtime cannot be created.
pub fn shrink(plan: &Plan, invariant: &str, kind: StoreKind) -> Result<Plan, String> {
    let mut best = plan.clone();
    let mut at = 0;
    while at < best.actions.len() {
        let mut smaller = best.clone();
        smaller.actions.remove(at);
        if run(&smaller, kind)?.violates(invariant) {
            // A removed action may make an earlier one superfluous.
            (best, at) = (smaller, 0);
        } else {
            at += 1;
        }
    }
    Ok(best)
}

/// A map with one value for each user of a workspace.
type ByUser<T> = BTreeMap<(String, String), T>;
