//! The host's wall clock, monotonic clock, random bytes and task spawning. This module is hidden, and semver does not cover it.
//!
//! In a host, the code of `tool-core` and `tool-store` reads the system clocks, draws random bytes and spawns tasks with this module. By default, its
//! functions call the operating system and tokio. `tests/world` gives each simulated host its own [`Env`], so that
//! several hosts in one process have different clocks and a run can be repeated exactly. Timers and the deadlines of
//! calls (`tokio::time`) belong to the runtime and not to this module: tokio can pause them.
//!
//! In a process that never calls [`enter`], this module adds one relaxed atomic load to each call.

#![expect(
    clippy::disallowed_methods,
    reason = "the only module that calls the operating system and tokio for these"
)]

use std::cell::RefCell;
use std::fmt;
use std::hash::{BuildHasher as _, RandomState};
use std::io;
use std::marker::PhantomData;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, LazyLock};
use std::time::{Duration, Instant, SystemTime};

use futures::future::BoxFuture;

mod time;

pub use time::Timestamp;

/// A task without an output.
pub type Task = BoxFuture<'static, ()>;

/// Blocking work without an output.
pub type Work = Box<dyn FnOnce() + Send>;

/// The clocks, random bytes and background tasks of a host.
pub trait Env: Send + Sync + 'static {
    /// Returns the time of the wall clock, which may jump forward and back.
    fn now(&self) -> Timestamp;

    /// Returns the time of the monotonic clock, for durations.
    fn monotonic(&self) -> Instant;

    /// Fills the slice with unpredictable bytes.
    fn random(&self, bytes: &mut [u8]) -> io::Result<()>;

    /// Runs a task in the background.
    fn spawn(&self, task: Task);

    /// Runs work on a thread that may block.
    fn spawn_blocking(&self, work: Work);
}

/// Whether any thread has ever entered an environment.
static ENTERED: AtomicBool = AtomicBool::new(false);

thread_local! {
    static CURRENT: RefCell<Option<Arc<dyn Env>>> = const { RefCell::new(None) };
}

/// Makes `env` the environment of this thread until the guard is dropped.
#[must_use]
pub fn enter(env: Arc<dyn Env>) -> Entered {
    ENTERED.store(true, Ordering::Relaxed);
    let before = CURRENT.with_borrow_mut(|current| current.replace(env));
    Entered {
        before,
        here: PhantomData,
    }
}

/// Restores the previous environment of the thread when it is dropped.
pub struct Entered {
    before: Option<Arc<dyn Env>>,
    /// Makes the guard `!Send`, because it belongs to its thread.
    here: PhantomData<*const ()>,
}

impl Drop for Entered {
    fn drop(&mut self) {
        let before = self.before.take();
        let own = CURRENT.with_borrow_mut(|current| std::mem::replace(current, before));
        // Drop `own` after the borrow ends, because its destructor may use the environment.
        drop(own);
    }
}

impl fmt::Debug for Entered {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Entered")
    }
}

/// Returns the environment that this thread has entered.
#[inline]
fn current() -> Option<Arc<dyn Env>> {
    if ENTERED.load(Ordering::Relaxed) {
        entered()
    } else {
        None
    }
}

#[cold]
fn entered() -> Option<Arc<dyn Env>> {
    CURRENT.with_borrow(Clone::clone)
}

/// Returns the time of the wall clock, in milliseconds, for stored records.
#[inline]
pub fn now() -> Timestamp {
    match current() {
        None => SystemTime::now().into(),
        Some(env) => env.now(),
    }
}

/// Returns the time of the wall clock, as a [`SystemTime`].
pub fn system_time() -> SystemTime {
    match current() {
        None => SystemTime::now(),
        Some(env) => {
            let millis = u64::try_from(env.now().as_millis()).unwrap_or_default();
            SystemTime::UNIX_EPOCH + Duration::from_millis(millis)
        }
    }
}

/// Returns the time of the monotonic clock, for durations.
#[inline]
pub fn monotonic() -> Instant {
    match current() {
        None => Instant::now(),
        Some(env) => env.monotonic(),
    }
}

/// Returns the time since an earlier result of [`monotonic`].
#[inline]
pub fn elapsed(since: Instant) -> Duration {
    monotonic().saturating_duration_since(since)
}

/// Fills the slice with unpredictable bytes, for nonces and keys.
#[cfg(feature = "host")]
pub fn random(bytes: &mut [u8]) -> io::Result<()> {
    match current() {
        None => getrandom::fill(bytes).map_err(|error| io::Error::other(error.to_string())),
        Some(env) => env.random(bytes),
    }
}

/// Number of random bytes that a thread draws at once for [`distinct`].
#[cfg(feature = "host")]
const DRAWN: usize = 64 * 16;

#[cfg(feature = "host")]
thread_local! {
    /// A block of random bytes, and the index of the first unused byte.
    static POOL: RefCell<([u8; DRAWN], usize)> = const { RefCell::new(([0; DRAWN], DRAWN)) };
}

/// Returns random bytes for ids, which are not secrets. Each call returns different bytes. A thread draws them in blocks, because the system call
/// takes several times as long as the other work for a call id. After a fork, both processes return
/// the same bytes until their blocks are used up.
#[cfg(feature = "host")]
pub fn distinct() -> io::Result<[u8; 16]> {
    let mut own = [0; 16];
    if let Some(env) = current() {
        env.random(&mut own)?;
        return Ok(own);
    }
    POOL.with_borrow_mut(|(bytes, used)| {
        if *used == DRAWN {
            random(bytes)?;
            *used = 0;
        }
        own.copy_from_slice(&bytes[*used..*used + 16]);
        *used += 16;
        Ok(own)
    })
}

/// Returns an id that differs for each call with the same counter, and between processes. It is not a secret.
pub fn unique(count: &AtomicU64) -> u64 {
    let count = count.fetch_add(1, Ordering::Relaxed);
    match current() {
        None => SEED.hash_one(count),
        Some(env) => number(&*env),
    }
}

/// Returns a number for this process and a number for this call. Together they form an id, which is not a secret.
pub fn serial() -> (u64, u64) {
    static PROCESS: LazyLock<u64> = LazyLock::new(|| SEED.hash_one(std::process::id()));
    static SERIAL: AtomicU64 = AtomicU64::new(0);
    match current() {
        None => (*PROCESS, SERIAL.fetch_add(1, Ordering::Relaxed)),
        Some(env) => (number(&*env), number(&*env)),
    }
}

/// Random hash keys from the operating system.
static SEED: LazyLock<RandomState> = LazyLock::new(RandomState::new);

fn number(env: &dyn Env) -> u64 {
    let mut bytes = [0; 8];
    // If no random bytes are available, the numbers repeat. A simulation can provoke this.
    if env.random(&mut bytes).is_err() {
        bytes = [0; 8];
    }
    u64::from_le_bytes(bytes)
}

/// Returns a text that differs for each call and between processes, such as the token of a claim. It is not a secret.
pub fn token() -> String {
    let (process, serial) = serial();
    format!("{process:016x}{serial:016x}")
}

/// Runs a task in the background. Without a runtime, it drops the task and returns false.
#[cfg(feature = "host")]
pub fn spawn(task: impl Future<Output = ()> + Send + 'static) -> bool {
    if let Some(env) = current() {
        env.spawn(Box::pin(task));
        return true;
    }
    match tokio::runtime::Handle::try_current() {
        Ok(runtime) => {
            runtime.spawn(task);
            true
        }
        Err(_) => false,
    }
}

/// Runs a task in the background. Without a runtime, it returns the task.
#[cfg(feature = "host")]
pub fn spawn_or_return<T: Future<Output = ()> + Send + 'static>(task: T) -> Result<(), T> {
    if let Some(env) = current() {
        env.spawn(Box::pin(task));
        return Ok(());
    }
    match tokio::runtime::Handle::try_current() {
        Ok(runtime) => {
            runtime.spawn(task);
            Ok(())
        }
        Err(_) => Err(task),
    }
}

/// Why blocking work returned no output.
#[cfg(feature = "host")]
pub enum Lost {
    /// The work ended with a panic; this is its payload.
    Panicked(Box<dyn std::any::Any + Send>),
    /// The runtime was shut down before the work began.
    Dropped,
}

/// Runs work on a blocking thread and returns its output.
#[cfg(feature = "host")]
pub async fn spawn_blocking<R: Send + 'static>(
    work: impl FnOnce() -> R + Send + 'static,
) -> Result<R, Lost> {
    if let Some(env) = current() {
        let (sender, done) = futures::channel::oneshot::channel();
        env.spawn_blocking(Box::new(move || {
            let ended = std::panic::catch_unwind(std::panic::AssertUnwindSafe(work));
            // Sending fails if the caller has dropped its future; the output is not needed then.
            let _ = sender.send(ended);
        }));
        return match done.await {
            Ok(Ok(output)) => Ok(output),
            Ok(Err(payload)) => Err(Lost::Panicked(payload)),
            Err(_) => Err(Lost::Dropped),
        };
    }
    match tokio::task::spawn_blocking(work).await {
        Ok(output) => Ok(output),
        Err(error) if error.is_panic() => Err(Lost::Panicked(error.into_panic())),
        Err(_) => Err(Lost::Dropped),
    }
}

#[cfg(test)]
mod tests {
    use std::io;
    use std::sync::Arc;
    use std::sync::atomic::AtomicU64;
    use std::time::Instant;

    use super::{Env, Task, Timestamp, Work, enter, now, unique};

    struct Fixed(i64);

    impl Env for Fixed {
        fn now(&self) -> Timestamp {
            Timestamp::from_millis(self.0)
        }

        fn monotonic(&self) -> Instant {
            Instant::now()
        }

        fn random(&self, bytes: &mut [u8]) -> io::Result<()> {
            bytes.fill(1);
            Ok(())
        }

        fn spawn(&self, _: Task) {}

        fn spawn_blocking(&self, work: Work) {
            work();
        }
    }

    #[test]
    fn nested_environments_restore_the_outer_one() {
        let outer = enter(Arc::new(Fixed(1)));
        assert_eq!(now().as_millis(), 1);
        let inner = enter(Arc::new(Fixed(2)));
        assert_eq!(Timestamp::now().as_millis(), 2);
        drop(inner);
        assert_eq!(now().as_millis(), 1);
        drop(outer);
        assert!(now().as_millis() > 2);
    }

    #[test]
    fn an_environment_belongs_to_its_thread() {
        let _entered = enter(Arc::new(Fixed(1)));
        let elsewhere = std::thread::spawn(|| now().as_millis()).join().unwrap();
        assert!(elsewhere > 1);
    }

    #[test]
    fn unique_numbers_differ_without_an_environment() {
        let count = AtomicU64::new(0);
        assert_ne!(unique(&count), unique(&count));
    }
}
