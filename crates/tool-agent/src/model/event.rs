//! What happens during a request.

use std::time::Duration;

use tool_wire::Delta;

use super::ModelError;

/// What happens during a request, in order, for an interface that shows the reply as it arrives and for logs.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum ModelEvent<'a> {
    /// A request is sent.
    Request {
        /// The name of the model.
        model: &'a str,
        /// The number of the request to this model in this step; the first is 1.
        attempt: u32,
    },
    /// A piece of the reply arrived.
    Delta(&'a Delta),
    /// The attempt failed after pieces of its reply were passed on: all pieces since the last [`Request`](Self::Request) are withdrawn.
    /// [`Failed`](Self::Failed) follows and states whether the request is sent again.
    StepRestarted,
    /// The attempt failed.
    Failed {
        /// Why it failed.
        error: &'a ModelError,
        /// The wait until the request is sent to this model again; `None` if this model is not tried again in this step.
        retry_in: Option<Duration>,
    },
}
