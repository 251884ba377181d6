//! [`Ran`]: a call whose body has ended, or that a hook has ended.

#[cfg(feature = "host")]
use std::fmt;
use std::future::Future;

use futures::FutureExt as _;

use super::Permitted;
#[cfg(feature = "host")]
use super::claimed::{Claimed, Record};
#[cfg(feature = "host")]
use super::{Flight, Held, Running};
#[cfg(feature = "host")]
use crate::error::ErrorKind;
use crate::error::ToolError;
use crate::tool::Finished;

/// The outcome of a run, as a hook sees it.
pub struct Ran {
    outcome: Result<Finished, ToolError>,
}

impl Permitted {
    /// Runs the body, inside all hooks.
    pub(in crate::run) fn run(self) -> impl Future<Output = Ran> + Send {
        let (permit, body) = self.take();
        permit.run(body).map(|outcome| Ran {
            outcome: outcome.into_inner(),
        })
    }
}

impl Ran {
    /// Creates the outcome of a run that has failed.
    #[cfg(feature = "host")]
    #[inline]
    pub(in crate::run) fn failed(error: ToolError) -> Self {
        Self {
            outcome: Err(error),
        }
    }

    #[inline]
    pub(super) fn into_outcome(self) -> Result<Finished, ToolError> {
        self.outcome
    }
}

#[cfg(feature = "host")]
impl Ran {
    /// Returns the error, if there is no output. The turn's secrets are redacted after the hooks, so the error may contain
    /// secrets.
    pub fn error(&self) -> Option<&ToolError> {
        self.outcome.as_ref().err()
    }

    /// Returns the output as JSON text. The turn's secrets are redacted after the hooks, so the output may contain secrets.
    pub fn output(&self) -> Option<&str> {
        self.outcome
            .as_ref()
            .ok()
            .map(|finished| finished.0.payload.get())
    }
}

/// Shows only the kind of an error, because its texts are not redacted yet.
#[cfg(feature = "host")]
impl fmt::Debug for Ran {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Ran")
            .field("error", &self.error().map(ToolError::kind))
            .finish_non_exhaustive()
    }
}

/// A call of an idempotent tool whose run has failed, before the call returns to [`Claimed`]. Only this file creates it.
#[cfg(feature = "host")]
pub(super) struct Failed<H: Held>(Running<H>);

#[cfg(feature = "host")]
impl<H: Held> Failed<H> {
    #[inline]
    pub(super) fn into_parts(self) -> (H, H::Guards, Record) {
        self.0.take()
    }
}

#[cfg(feature = "host")]
impl Running<Flight> {
    /// Returns whether the tool may be run again: it is idempotent, the run ended with an error of the kind [`ErrorKind::Failed`] before the body
    /// returned an output, and the call is neither cancelled nor past its deadline. If so, prepares the scope of the call for the next run.
    pub(in crate::run) fn may_repeat(&self, ran: &Ran) -> bool {
        self.has_failed(ran) && self.held().context().runs_again()
    }

    fn has_failed(&self, ran: &Ran) -> bool {
        self.held().prepared().tool().hints().idempotent
            && ran.error().map(ToolError::kind) == Some(ErrorKind::Failed)
            && !self.held().context().has_returned()
    }

    /// Returns the claim for another run, if this run has failed and its tool may run again.
    #[inline]
    pub(in crate::run) fn again(self, ran: Ran) -> Result<Claimed<Flight>, (Self, Ran)> {
        if self.has_failed(&ran) {
            Ok(Claimed::back(Failed(self)))
        } else {
            Err((self, ran))
        }
    }
}
