//! Events of a request to a model.

use std::time::Duration;

use tool_wire::Delta;

use super::ModelError;

/// A host's function that receives the events.
pub(super) type Observer = dyn Fn(&ModelEvent<'_>) + Send + Sync;

/// An event of a request to a model, for interfaces that show the reply as it arrives, and for logs.
/// [`HttpModel::observe`](super::HttpModel::observe) receives the events in order.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum ModelEvent<'a> {
    /// A request is sent.
    Request {
        /// The name of the model.
        model: &'a str,
        /// The number of the attempt at this model in this step; the first is 1.
        attempt: u32,
    },
    /// A piece of the reply arrived.
    Delta(&'a Delta),
    /// The attempt failed after pieces of its reply were passed on (not with [`Restart::Refuse`](super::Restart::Refuse)): all pieces since the last
    /// [`Request`](Self::Request) are withdrawn. [`Failed`](Self::Failed) follows and states whether the request is sent again.
    StepRestarted,
    /// The attempt failed.
    Failed {
        /// The error of this attempt. Its `usage` is the usage of the attempt, and `earlier` is empty.
        error: &'a ModelError,
        /// The wait until the request is sent to this model again; `None` if this model is not tried again in this step.
        retry_in: Option<Duration>,
    },
}
