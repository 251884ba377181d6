//! Sync tools.

use crate::context::ToolContext;
use crate::error::ToolError;

#[cfg(feature = "host")]
pub use pool::BlockingPool;

/// Runs the body of a sync tool where it may block: on the host's [`BlockingPool`] under the feature `host`, else in place.
///
/// A run that is dropped cannot stop it; the body sees [`ToolContext::is_cancelled`] then, and the result says that it was left
/// behind.
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
    use crate::gate;
    use crate::sync::Start;

    /// Bodies at once, where a host gives no pool.
    const SLOTS: usize = 64;

    static COMMON: LazyLock<BlockingPool> = LazyLock::new(|| BlockingPool::new(SLOTS));

    /// How many bodies of sync tools run at once.
    ///
    /// A body that is left behind, because its deadline passed or its call was dropped, keeps its slot until it really ends: bodies
    /// that hang cannot pile up. Calls that find no slot wait, in order, and their deadline goes on. A host gives the pool to the
    /// contexts of all its turns; where there is none, one of 64 slots serves the process.
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
    /// A sync tool that waits for another sync tool holds its slot meanwhile: in a pool of one slot, that waits for ever.
    #[derive(Clone, Debug)]
    pub struct BlockingPool(Arc<Slots>);

    #[derive(Debug)]
    struct Slots {
        free: Arc<Semaphore>,
        all: usize,
        waiting: AtomicUsize,
    }

    impl BlockingPool {
        /// At most so many bodies at once; one at least.
        pub fn new(slots: usize) -> Self {
            let slots = slots.clamp(1, Semaphore::MAX_PERMITS);
            Self(Arc::new(Slots {
                free: Arc::new(Semaphore::new(slots)),
                all: slots,
                waiting: AtomicUsize::new(0),
            }))
        }

        /// How many bodies run, those left behind included.
        pub fn running(&self) -> usize {
            self.0.all - self.0.free.available_permits()
        }

        /// How many calls wait for a slot.
        pub fn waiting(&self) -> usize {
            self.0.waiting.load(Ordering::Relaxed)
        }
    }

    /// The run's side of a body.
    struct Body {
        start: Arc<Start>,
        /// None after its end.
        cx: Option<ToolContext>,
    }

    /// The run went away: the body must not begin any more, or it is left behind.
    impl Drop for Body {
        fn drop(&mut self) {
            if !self.start.leave()
                && let Some(cx) = &self.cx
            {
                // It may have begun this very moment.
                cx.set_inside(true);
                if let Some(scope) = cx.scope() {
                    scope.detached.store(true, Ordering::Relaxed);
                }
            }
        }
    }

    /// Counts a call that waits, also where it is dropped.
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
        // The body begins in its slot, not in the queue.
        cx.set_inside(false);
        pool.0.waiting.fetch_add(1, Ordering::Relaxed);
        let waiting = Waiting(&pool.0.waiting);
        let slot = Arc::clone(&pool.0.free).acquire_owned().await;
        drop(waiting);
        let gone = || {
            ToolError::new("the host is shutting down")
                .operator("the runtime dropped the tool's blocking work")
        };
        // Nobody closes the semaphore.
        let slot = slot.map_err(|_| gone())?;
        let mut body = Body {
            start: Arc::new(Start::new()),
            cx: Some(cx.clone()),
        };
        let (start, own) = (Arc::clone(&body.start), cx.clone());
        let done = env::spawn_blocking(move || {
            // Goes with the body, not with the call.
            let _slot = slot;
            if !start.begin() {
                return None;
            }
            Some(gate::still_allowed(&own).map(|()| {
                own.set_inside(true);
                work()
            }))
        })
        .await;
        body.cx = None;
        match done {
            Ok(output) => output.ok_or_else(gone)?,
            // The guard makes a result of it, as of any other panic.
            Err(Lost::Panicked(payload)) => std::panic::resume_unwind(payload),
            Err(Lost::Dropped) => Err(gone()),
        }
    }
}
