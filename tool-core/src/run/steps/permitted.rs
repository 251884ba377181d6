//! [`Permit`] and [`Permitted`]: the right to run a body once. [`Running`]: the rest of the call during the run.

#[cfg(feature = "host")]
use std::fmt;
use std::future::Future;
use std::pin::pin;
use std::sync::atomic::Ordering;

use super::Held;
use super::claimed::{Claimed, Record};
#[cfg(feature = "host")]
use super::{Flight, Ran};
use crate::call::ToolCall;
use crate::context::{CallScope, ToolContext};
use crate::error::ToolError;
use crate::run::telemetry::CallSpan;
use crate::run::{guard, judge};
use crate::tool::{Job, ToolDef};

/// The right to run one call, once. It cannot be cloned, and only the checks of a call create it.
pub struct Permit {
    cx: ToolContext,
    def: ToolDef,
    span: CallSpan,
}

impl Permit {
    /// Returns the tool that runs.
    pub fn tool(&self) -> &ToolDef {
        &self.def
    }

    /// Returns the call, with its arguments before they were repaired.
    pub fn call(&self) -> &ToolCall {
        &self.cx.served().call
    }

    /// Returns the context that the tool sees.
    pub fn context(&self) -> &ToolContext {
        &self.cx
    }

    /// Returns the arguments as the tool reads them: JSON text.
    pub fn arguments(&self) -> &str {
        self.cx.served().arguments()
    }

    /// Adds the body that this permit allows to run.
    #[inline]
    pub(in crate::run) fn with(self, body: Body<Job>) -> Permitted {
        Permitted { permit: self, body }
    }

    /// Runs a body, and turns a panic, a cancellation or an exceeded deadline into an error. First checks again whether the tool is still allowed,
    /// because earlier steps may have waited.
    pub(in crate::run) async fn run<R>(
        self,
        body: Body<impl Future<Output = Result<R, ToolError>> + Send>,
    ) -> Outcome<R> {
        /// Signals to blocking code that its caller no longer waits, also when the run is dropped.
        struct Ended<'a>(&'a CallScope);
        impl Drop for Ended<'_> {
            fn drop(&mut self) {
                self.0.ended.store(true, Ordering::Relaxed);
            }
        }
        let cx = &self.cx;
        let ended = Ended(cx.served());
        #[cfg(feature = "otel")]
        crate::run::otel::announce(&self.span, cx.served());
        let outcome = {
            let body = async {
                judge::still_allowed(cx)?;
                cx.tell_started();
                cx.set_inside(true);
                let outcome = body.0.await;
                cx.set_inside(false);
                outcome
            };
            let body = pin!(guard::guarded(body, cx));
            self.span.run(body).await
        };
        drop(ended);
        Outcome(outcome)
    }
}

/// A body that has not begun. Only a [`Permit`] runs it.
pub(in crate::run) struct Body<J>(J);

impl<J> Body<J> {
    #[inline]
    pub(in crate::run) fn new(job: J) -> Self {
        Self(job)
    }
}

/// The outcome of a body. Only a used [`Permit`] creates it.
pub(in crate::run) struct Outcome<R>(Result<R, ToolError>);

impl<R> Outcome<R> {
    #[inline]
    pub(in crate::run) fn into_inner(self) -> Result<R, ToolError> {
        self.0
    }
}

/// A call that has passed all checks and that has not run yet. It cannot be cloned, and only the checks of a call create it.
pub struct Permitted {
    permit: Permit,
    body: Body<Job>,
}

impl Permitted {
    #[inline]
    pub(super) fn take(self) -> (Permit, Body<Job>) {
        (self.permit, self.body)
    }
}

#[cfg(feature = "host")]
impl Permitted {
    /// Returns the tool that runs.
    pub fn tool(&self) -> &ToolDef {
        self.permit.tool()
    }

    /// Returns the call, with its arguments before they were repaired.
    pub fn call(&self) -> &ToolCall {
        self.permit.call()
    }

    /// Returns the arguments as the tool reads them: JSON text.
    pub fn arguments(&self) -> &str {
        self.permit.arguments()
    }

    /// Returns the context that the tool sees.
    pub fn context(&self) -> &ToolContext {
        self.permit.context()
    }

    /// Ends the call without running it.
    pub fn refuse(self, error: ToolError) -> Ran {
        Ran::failed(error)
    }
}

#[cfg(feature = "host")]
impl fmt::Debug for Permitted {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Permitted")
            .field("tool", &self.tool().name())
            .finish_non_exhaustive()
    }
}

/// The data that completes a call, stored while its [`Permit`] passes through the hooks, which may drop the permit.
pub(in crate::run) struct Running<H: Held> {
    held: H,
    guards: H::Guards,
    record: Record,
}

impl<H: Held> Claimed<H> {
    /// Splits the call into the right to run the body and the rest.
    #[inline]
    pub(in crate::run) fn permit(self) -> (Permit, Running<H>) {
        let (held, guards, record) = self.take();
        let prepared = held.prepared();
        let permit = Permit {
            cx: prepared.cx.clone(),
            def: prepared.def.clone(),
            span: prepared.span.clone(),
        };
        let running = Running {
            held,
            guards,
            record,
        };
        (permit, running)
    }
}

impl<H: Held> Running<H> {
    #[inline]
    pub(super) fn take(self) -> (H, H::Guards, Record) {
        (self.held, self.guards, self.record)
    }

    #[cfg(feature = "host")]
    pub(in crate::run) fn held(&self) -> &H {
        &self.held
    }

    #[cfg(feature = "host")]
    pub(in crate::run) fn record(&self) -> &Record {
        &self.record
    }
}

#[cfg(feature = "host")]
impl Running<Flight> {
    /// Returns whether a row was written for the call.
    pub(in crate::run) fn is_recorded(&self) -> bool {
        !matches!(self.record, Record::Nothing(_))
    }

    /// Returns whether the call has a row in the ledger.
    pub(in crate::run) fn is_claimed(&self) -> bool {
        matches!(self.record, Record::Row(_))
    }

    pub(in crate::run) fn counts_run(&mut self) {
        self.held.counts_run();
    }
}
