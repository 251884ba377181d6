//! A single-threaded executor that polls tasks in an order that depends on a seed.
//!
//! Each task belongs to a process of the world. When a process dies, its tasks and the tasks that their destructors spawn are dropped.

use std::collections::BTreeMap;
use std::future::Future;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, Wake, Waker};

use tool_core::env::{self, Env, Task};

use crate::random::Random;

/// The maximum number of polls in one run. If a run exceeds this number, tasks probably wake each other forever.
const MOST_POLLS: u64 = 400_000;

/// The id of the process to which a task belongs. 0 is the world itself.
pub type Process = u64;

/// A handle on the executor. Clones are cheap and refer to the same executor.
#[derive(Clone)]
pub struct Executor(Arc<Inner>);

struct Inner {
    state: Mutex<State>,
    main: Mutex<Option<Waker>>,
}

struct State {
    tasks: BTreeMap<u64, Slot>,
    ready: Vec<u64>,
    next: u64,
    random: Random,
    polls: u64,
    panics: Vec<String>,
}

struct Slot {
    /// The task. `None` while it is polled.
    task: Option<Task>,
    process: Process,
    env: Option<Arc<dyn Env>>,
    /// The task is dropped after this many more polls.
    polls_left: Option<u32>,
}

struct TaskWaker {
    id: u64,
    executor: Executor,
}

impl Wake for TaskWaker {
    fn wake(self: Arc<Self>) {
        let mut state = self.executor.state();
        if state.tasks.contains_key(&self.id) && !state.ready.contains(&self.id) {
            state.ready.push(self.id);
        }
        drop(state);
        let main = self.executor.0.main.lock();
        let main = main.unwrap_or_else(PoisonError::into_inner).clone();
        if let Some(main) = main {
            main.wake();
        }
    }
}

impl Executor {
    /// Creates an executor whose order depends on the seed.
    pub fn new(seed: u64) -> Self {
        Self(Arc::new(Inner {
            state: Mutex::new(State {
                tasks: BTreeMap::new(),
                ready: Vec::new(),
                next: 0,
                random: Random::new(seed),
                polls: 0,
                panics: Vec::new(),
            }),
            main: Mutex::new(None),
        }))
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.0.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Starts a task of a process and returns its id. The task is dropped after `polls` polls, if given.
    pub fn spawn(
        &self,
        process: Process,
        env: Option<Arc<dyn Env>>,
        polls: Option<u32>,
        task: impl Future<Output = ()> + Send + 'static,
    ) -> u64 {
        let mut state = self.state();
        let id = state.next;
        state.next += 1;
        state.tasks.insert(
            id,
            Slot {
                task: Some(Box::pin(task)),
                process,
                env,
                polls_left: polls,
            },
        );
        state.ready.push(id);
        drop(state);
        let main = self.0.main.lock();
        if let Some(main) = &*main.unwrap_or_else(PoisonError::into_inner) {
            main.wake_by_ref();
        }
        id
    }

    /// Drops one task, within its environment.
    pub fn cancel(&self, id: u64) {
        let mut state = self.state();
        let slot = state.tasks.remove(&id);
        state.ready.retain(|other| *other != id);
        drop(state);
        if let Some(slot) = slot {
            Self::discard(slot);
        }
    }

    /// Drops every task of a process.
    pub fn kill(&self, process: Process) {
        let mut state = self.state();
        let dead: Vec<u64> = state
            .tasks
            .iter()
            .filter(|(_, slot)| slot.process == process)
            .map(|(id, _)| *id)
            .collect();
        let slots: Vec<Slot> = dead
            .iter()
            .filter_map(|id| state.tasks.remove(id))
            .collect();
        state.ready.retain(|id| !dead.contains(id));
        drop(state);
        for slot in slots {
            Self::discard(slot);
        }
    }

    fn discard(slot: Slot) {
        let _entered = slot.env.map(env::enter);
        let dropped = catch_unwind(AssertUnwindSafe(|| drop(slot.task)));
        // A panic in a destructor is a fault of the SDK only if the panic reaches a caller.
        drop(dropped);
    }

    /// Returns the panics that escaped from tasks.
    pub fn panics(&self) -> Vec<String> {
        self.state().panics.clone()
    }

    /// Returns whether the run was aborted because it took too many polls.
    pub fn is_exhausted(&self) -> bool {
        self.state().polls >= MOST_POLLS
    }

    /// Runs tasks until `main` is done. Returns `None` if the limit of polls is reached.
    pub async fn run<T>(&self, main: impl Future<Output = T>) -> Option<T> {
        let mut main = std::pin::pin!(main);
        let main_ready = Arc::new(MainWaker::new(self.clone()));
        std::future::poll_fn(move |cx| {
            *self.0.main.lock().unwrap_or_else(PoisonError::into_inner) = Some(cx.waker().clone());
            loop {
                if self.is_exhausted() {
                    return Poll::Ready(None);
                }
                // The world is polled first, so that its actions precede the tasks' work at the same time.
                if main_ready.take() {
                    let waker = Waker::from(Arc::clone(&main_ready));
                    if let Poll::Ready(done) = main.as_mut().poll(&mut Context::from_waker(&waker))
                    {
                        return Poll::Ready(Some(done));
                    }
                    continue;
                }
                if !self.step() {
                    return Poll::Pending;
                }
            }
        })
        .await
    }

    /// Polls one ready task. Returns false if no task is ready.
    fn step(&self) -> bool {
        let mut state = self.state();
        if state.ready.is_empty() {
            return false;
        }
        let ready = state.ready.len();
        let at = state.random.below(ready);
        let id = state.ready.swap_remove(at);
        state.polls += 1;
        let Some(slot) = state.tasks.get_mut(&id) else {
            return true;
        };
        let Some(mut task) = slot.task.take() else {
            return true;
        };
        let env = slot.env.clone();
        let last = slot.polls_left.as_mut().is_some_and(|left| {
            *left = left.saturating_sub(1);
            *left == 0
        });
        drop(state);
        let waker = Waker::from(Arc::new(TaskWaker {
            id,
            executor: self.clone(),
        }));
        let entered = env.map(env::enter);
        let polled = catch_unwind(AssertUnwindSafe(|| {
            Pin::new(&mut task).poll(&mut Context::from_waker(&waker))
        }));
        let goes_on = matches!(polled, Ok(Poll::Pending)) && !last;
        let mut state = self.state();
        if let Err(payload) = polled {
            let text = payload
                .downcast_ref::<&str>()
                .map(|text| (*text).to_owned());
            let text = text.or_else(|| payload.downcast_ref::<String>().cloned());
            state.panics.push(text.unwrap_or_default());
        }
        match state.tasks.get_mut(&id) {
            Some(slot) if goes_on => slot.task = Some(task),
            _ => {
                state.tasks.remove(&id);
                state.ready.retain(|other| *other != id);
                drop(state);
                // The task is dropped within its environment, because a dropped call spawns its remaining writes.
                let _ = catch_unwind(AssertUnwindSafe(|| drop(task)));
            }
        }
        drop(entered);
        true
    }
}

/// The waker of the world's own task.
struct MainWaker {
    ready: std::sync::atomic::AtomicBool,
    executor: Executor,
}

impl MainWaker {
    fn new(executor: Executor) -> Self {
        Self {
            ready: std::sync::atomic::AtomicBool::new(true),
            executor,
        }
    }

    fn take(&self) -> bool {
        self.ready.swap(false, std::sync::atomic::Ordering::AcqRel)
    }
}

impl Wake for MainWaker {
    fn wake(self: Arc<Self>) {
        self.ready.store(true, std::sync::atomic::Ordering::Release);
        let main = self.executor.0.main.lock();
        let main = main.unwrap_or_else(PoisonError::into_inner).clone();
        if let Some(main) = main {
            main.wake();
        }
    }
}

/// Yields once, so that other tasks run.
pub async fn yield_now() {
    let mut yielded = false;
    std::future::poll_fn(|cx| {
        if yielded {
            return Poll::Ready(());
        }
        yielded = true;
        cx.waker().wake_by_ref();
        Poll::Pending
    })
    .await;
}
