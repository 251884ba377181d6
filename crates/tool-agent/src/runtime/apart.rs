//! Futures that run in separate tasks.

use futures::channel::oneshot;
use futures::future::{AbortHandle, Abortable, BoxFuture, FutureExt as _};
use tool_core::ToolError;
use tool_store::env;
use tracing::Instrument as _;

/// Stops a task when it is dropped.
struct Stop(AbortHandle);

impl Drop for Stop {
    fn drop(&mut self) {
        self.0.abort();
    }
}

/// Runs a future in a separate task, which is stopped when the returned future is dropped. Without separate tasks, agents that call each other would be
/// polled within each other, and the stack would grow with their number.
pub(super) async fn apart<T: Send + 'static>(work: BoxFuture<'static, T>) -> Result<T, ToolError> {
    let (sender, receiver) = oneshot::channel();
    let (handle, registration) = AbortHandle::new_pair();
    let work = work.map(|output| {
        // The call may have been dropped, and the receiver with it.
        let _ = sender.send(output);
    });
    let task = Abortable::new(work, registration).map(drop);
    let stop = Stop(handle);
    if let Err(task) = env::spawn_or_return(task.in_current_span()) {
        // Without a Tokio runtime, the future runs in this task.
        task.await;
    }
    let output = receiver.await;
    drop(stop);
    output.map_err(|_| {
        ToolError::unavailable("the agent")
            .operator("the task of the agent panicked or was stopped")
    })
}
