//! A process of a simulated host: its clock, random numbers, tasks, faults and crash.

use std::io;
use std::sync::atomic::{AtomicBool, AtomicI64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use tool_core::env::{Env, Task, Work};
use tool_core::store::Timestamp;

use crate::executor::Executor;
use crate::facts::World;
use crate::plan::{Fault, HookFault};
use crate::random::Random;

/// The wall-clock time at the start of a run, in milliseconds.
pub(crate) const START: i64 = 1_700_000_000_000;

/// The state of a machine that outlives the processes on it.
#[derive(Default)]
pub struct Machine {
    /// The offset of the wall clock in milliseconds.
    pub skew: AtomicI64,
}

/// One process of a host.
pub struct Process {
    /// The id of the process, unique in the run.
    pub id: u64,
    /// The index of the host.
    pub host: usize,
    /// The world that the process belongs to.
    pub world: World,
    /// The executor of its tasks.
    pub executor: Executor,
    alive: AtomicBool,
    machine: Arc<Machine>,
    start: tokio::time::Instant,
    random: Mutex<Random>,
    faults: Mutex<Vec<(String, Fault)>>,
    hooks: Mutex<Vec<HookFault>>,
    latency: Mutex<Random>,
}

impl Process {
    /// Starts a process on a machine.
    pub fn new(
        id: u64,
        host: usize,
        world: &World,
        executor: &Executor,
        machine: &Arc<Machine>,
        start: tokio::time::Instant,
        seed: u64,
    ) -> Arc<Self> {
        Arc::new(Self {
            id,
            host,
            world: world.clone(),
            executor: executor.clone(),
            alive: AtomicBool::new(true),
            machine: Arc::clone(machine),
            start,
            random: Mutex::new(Random::new(seed ^ id.wrapping_mul(0x9e37_79b9))),
            faults: Mutex::default(),
            hooks: Mutex::default(),
            latency: Mutex::new(Random::new(!seed ^ id)),
        })
    }

    /// Returns whether the process is alive.
    pub fn is_alive(&self) -> bool {
        self.alive.load(Ordering::Acquire)
    }

    /// Disconnects the process from the stores and the receiver and then drops its tasks, so that destructors have no
    /// effect outside of the process.
    pub fn die(&self) {
        self.alive.store(false, Ordering::Release);
        self.executor.kill(self.id);
    }

    /// Arms a fault for the next operation with this name.
    pub fn arm(&self, op: &str, fault: Fault) {
        let mut faults = self.faults.lock().unwrap_or_else(PoisonError::into_inner);
        faults.push((op.to_owned(), fault));
    }

    /// Removes and returns the armed fault of this operation, if there is one.
    pub fn fault(&self, op: &str) -> Option<Fault> {
        let mut faults = self.faults.lock().unwrap_or_else(PoisonError::into_inner);
        let at = faults.iter().position(|(armed, _)| armed == op)?;
        Some(faults.remove(at).1)
    }

    /// Returns a random delay of 0 to 4 ms, for example before or after an operation of a store.
    pub fn latency(&self) -> Duration {
        let mut latency = self.latency.lock().unwrap_or_else(PoisonError::into_inner);
        let millis = if latency.percent(40) {
            1 + latency.below(4)
        } else {
            0
        };
        Duration::from_millis(u64::try_from(millis).unwrap_or(0))
    }

    /// Arms a fault of the layer around the next run of a body.
    pub fn arm_hook(&self, fault: HookFault) {
        let mut hooks = self.hooks.lock().unwrap_or_else(PoisonError::into_inner);
        hooks.push(fault);
    }

    /// Removes and returns the armed fault of the layer, if there is one.
    pub fn hook(&self) -> Option<HookFault> {
        let mut hooks = self.hooks.lock().unwrap_or_else(PoisonError::into_inner);
        (!hooks.is_empty()).then(|| hooks.remove(0))
    }

    /// Returns the milliseconds since the start of the run.
    pub fn at(&self) -> u128 {
        self.start.elapsed().as_millis()
    }

    /// Adds a line to the trace.
    pub fn note(&self, line: &str) {
        let (at, host, id) = (self.at(), self.host, self.id);
        self.world.note(format!("{at:>6} host {host}.{id}: {line}"));
    }
}

/// The environment of a process. It is a separate type, because the executor refers to environments and a process refers to the executor.
pub struct ProcessEnv(pub Arc<Process>);

impl Env for ProcessEnv {
    fn now(&self) -> Timestamp {
        let skew = self.0.machine.skew.load(Ordering::Relaxed);
        let passed = i64::try_from(self.0.at()).unwrap_or(i64::MAX);
        Timestamp::from_millis(START + passed + skew)
    }

    fn monotonic(&self) -> Instant {
        tokio::time::Instant::now().into_std()
    }

    fn random(&self, bytes: &mut [u8]) -> io::Result<()> {
        let mut random = self.0.random.lock().unwrap_or_else(PoisonError::into_inner);
        random.fill(bytes);
        Ok(())
    }

    fn spawn(&self, task: Task) {
        if self.0.is_alive() {
            let env = Arc::new(Self(Arc::clone(&self.0)));
            self.0.executor.spawn(self.0.id, Some(env), None, task);
        }
    }

    fn spawn_blocking(&self, work: Work) {
        self.spawn(Box::pin(async move {
            // A real thread takes some time to start.
            tokio::time::sleep(Duration::from_millis(1)).await;
            work();
        }));
    }
}
