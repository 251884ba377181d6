//! Sync tools.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use crate::context::{CallScope, ToolContext};
use crate::error::ToolError;

/// Runs the body of a sync tool where it may block: on tokio's pool under the feature `host`, else in place.
///
/// A run that is dropped cannot stop it; the body sees [`ToolContext::is_cancelled`] then, and the result says that it was left
/// behind.
#[doc(hidden)]
pub async fn blocking<R: Send + 'static>(
    cx: &ToolContext,
    work: impl FnOnce() -> R + Send + 'static,
) -> Result<R, ToolError> {
    /// Notes that the run went away before the work was done.
    struct Left(Option<Arc<CallScope>>);
    impl Drop for Left {
        fn drop(&mut self) {
            if let Some(scope) = &self.0 {
                scope.detached.store(true, Ordering::Relaxed);
            }
        }
    }

    #[cfg(feature = "host")]
    if tokio::runtime::Handle::try_current().is_ok() {
        let mut left = Left(cx.scope().cloned());
        let done = tokio::task::spawn_blocking(work).await;
        left.0 = None;
        return match done {
            Ok(output) => Ok(output),
            // The guard makes a result of it, as of any other panic.
            Err(error) if error.is_panic() => std::panic::resume_unwind(error.into_panic()),
            Err(_) => Err(ToolError::new("the host is shutting down")
                .operator("the runtime dropped the tool's blocking work")),
        };
    }
    let _ = (cx, Left(None));
    Ok(work())
}
