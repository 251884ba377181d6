//! Blocking bodies of sync tools, on a bounded pool.

use crate::context::ToolContext;
use crate::error::ToolError;

#[cfg(feature = "host")]
pub use pool::BlockingPool;

/// Runs the body of a sync tool where it may block: on a [`BlockingPool`] with the feature `host` and a runtime, else in place.
///
/// Dropping the run cannot stop a body that has begun: the body then sees [`ToolContext::is_cancelled`], and the call's error reports that the work
/// continues in the background.
#[doc(hidden)]
pub async fn blocking<R: Send + 'static>(
    cx: &ToolContext,
    work: impl FnOnce() -> R + Send + 'static,
) -> Result<R, ToolError> {
    #[cfg(feature = "host")]
    if tokio::runtime::Handle::try_current().is_ok() {
        return pool::run(cx, work).await;
    }
    let _ = cx;
    Ok(work())
}

#[cfg(feature = "host")]
mod pool {
    use std::sync::atomic::{AtomicUsize, Ordering};
    use std::sync::{Arc, LazyLock};

    use tokio::sync::Semaphore;

    use crate::context::ToolContext;
    use crate::env::{self, Lost};
    use crate::error::ToolError;
    use crate::run::judge;
    use crate::sync::Start;

    /// Slots of the common pool, for hosts that provide no pool.
    const SLOTS: usize = 64;

    static COMMON: LazyLock<BlockingPool> = LazyLock::new(|| BlockingPool::new(SLOTS));

    /// A pool that limits how many bodies of sync tools run at once.
    ///
    /// A body whose deadline passed or whose call was dropped keeps its slot until it has ended, so bodies that hang never use more threads than the
    /// pool has slots. Calls that find no free slot wait in order, while their deadlines keep running. A host adds one pool to the contexts of all
    /// its turns; without a pool in the context, the process uses a common pool of 64 slots.
    ///
    /// ```
    /// use tool_core::{BlockingPool, ToolContext};
    ///
    /// let pool = BlockingPool::new(8);
    /// let cx = ToolContext::builder().with(pool.clone()).build();
    /// # let _ = cx;
    /// assert_eq!((pool.running(), pool.waiting()), (0, 0));
    /// ```
    ///
    /// A sync tool keeps its slot while it waits for another sync tool. In a pool with one slot, the other tool therefore cannot begin.
    #[derive(Clone, Debug)]
    pub struct BlockingPool(Arc<Slots>);

    #[derive(Debug)]
    struct Slots {
        free: Arc<Semaphore>,
        all: usize,
        waiting: AtomicUsize,
    }

    impl BlockingPool {
        /// Creates a pool of `slots` slots, at least one. Each running body uses a slot.
        pub fn new(slots: usize) -> Self {
            let slots = slots.clamp(1, Semaphore::MAX_PERMITS);
            Self(Arc::new(Slots {
                free: Arc::new(Semaphore::new(slots)),
                all: slots,
                waiting: AtomicUsize::new(0),
            }))
        }

        /// Returns the number of running bodies, including bodies whose call is already over.
        pub fn running(&self) -> usize {
            self.0.all - self.0.free.available_permits()
        }

        /// Returns the number of calls that wait for a slot.
        pub fn waiting(&self) -> usize {
            self.0.waiting.load(Ordering::Relaxed)
        }
    }

    /// The run's handle on a blocking body.
    struct Body {
        start: Arc<Start>,
        /// `None` after the body has ended.
        cx: Option<ToolContext>,
    }

    /// The run was dropped: a body that has not begun must not begin, and a body that has begun is marked as detached.
    impl Drop for Body {
        fn drop(&mut self) {
            if !self.start.leave()
                && let Some(cx) = &self.cx
            {
                // The body may be beginning at the same time.
                cx.set_inside(true);
                if let Some(scope) = cx.scope() {
                    scope.detached.store(true, Ordering::Relaxed);
                }
            }
        }
    }

    /// Counts a waiting call until it gets a slot or is dropped.
    struct Waiting<'a>(&'a AtomicUsize);

    impl Drop for Waiting<'_> {
        fn drop(&mut self) {
            self.0.fetch_sub(1, Ordering::Relaxed);
        }
    }

    pub(super) async fn run<R: Send + 'static>(
        cx: &ToolContext,
        work: impl FnOnce() -> R + Send + 'static,
    ) -> Result<R, ToolError> {
        let pool = cx
            .service::<BlockingPool>()
            .unwrap_or_else(|| COMMON.clone());
        // The body begins in its slot, not while its call waits in the queue.
        cx.set_inside(false);
        pool.0.waiting.fetch_add(1, Ordering::Relaxed);
        let waiting = Waiting(&pool.0.waiting);
        let slot = Arc::clone(&pool.0.free).acquire_owned().await;
        drop(waiting);
        let gone = || {
            ToolError::new("the host is shutting down")
                .operator("the runtime dropped the tool's blocking work")
        };
        // This cannot fail, because the semaphore is never closed.
        let slot = slot.map_err(|_| gone())?;
        let mut body = Body {
            start: Arc::new(Start::new()),
            cx: Some(cx.clone()),
        };
        let (start, own) = (Arc::clone(&body.start), cx.clone());
        let done = env::spawn_blocking(move || {
            // The slot is released when the body ends, not when the call ends.
            let _slot = slot;
            if !start.begin() {
                return None;
            }
            Some(judge::still_allowed(&own).map(|()| {
                own.set_inside(true);
                work()
            }))
        })
        .await;
        body.cx = None;
        match done {
            Ok(output) => output.ok_or_else(gone)?,
            // The guard converts the panic into a result, like any other panic.
            Err(Lost::Panicked(payload)) => std::panic::resume_unwind(payload),
            Err(Lost::Dropped) => Err(gone()),
        }
    }
}
