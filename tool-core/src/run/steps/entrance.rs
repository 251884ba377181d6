//! Opening the scope of a call: the tool reads the arguments first, and the scope opens only for arguments that match the schema.

use std::borrow::Cow;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};

use super::found::Ungated;
use crate::args::RepairNote;
use crate::call::ToolCall;
use crate::context::ToolContext;
use crate::error::ToolError;
use crate::run::prepared::{Opening, check_call, check_secrets, enter};
use crate::run::{Prepared, guard};
use crate::tool::{DecodeError, Entry, Job, NotBegun, ToolDef, misread};
use crate::toolset::Toolset;

#[cfg(feature = "host")]
use super::found::AtGate;
#[cfg(feature = "host")]
use crate::gate::Gate;
#[cfg(feature = "host")]
use crate::run::gated::MakeJob;
#[cfg(feature = "host")]
use crate::store::Timestamp;

/// A call that has arrived, with or without a gate, and has no scope yet.
pub(super) trait Arrived {
    /// The parts of the call that its scope does not take.
    type Rest;

    fn call(&self) -> &ToolCall;

    /// Splits the call into the parts of its scope, with unchanged arguments, and the rest.
    fn open(self) -> (Opening, Self::Rest);
}

impl Arrived for Ungated {
    type Rest = ();

    fn call(&self) -> &ToolCall {
        &self.call
    }

    #[inline]
    fn open(self) -> (Opening, ()) {
        let opening = Opening {
            call: self.call,
            corrected: None,
            repairs: Vec::new(),
            progress: self.progress,
            since: self.since,
            #[cfg(feature = "host")]
            gated: None,
            #[cfg(feature = "host")]
            gate: None,
        };
        (opening, ())
    }
}

#[cfg(feature = "host")]
impl<'t> Arrived for AtGate<'t> {
    type Rest = (&'t Gate, Timestamp);

    fn call(&self) -> &ToolCall {
        &self.call
    }

    #[inline]
    fn open(self) -> (Opening, Self::Rest) {
        let opening = Opening {
            call: self.call,
            corrected: None,
            repairs: Vec::new(),
            progress: self.progress,
            since: self.since,
            gated: Some(self.gated),
            gate: Some(self.gate.erased()),
        };
        (opening, (self.gate, self.started))
    }
}

/// A call whose scope is being opened.
pub(super) struct Entrance<'t, A: Arrived> {
    toolset: &'t Toolset,
    at: usize,
    def: &'t ToolDef,
    cx: &'t ToolContext,
    /// The call; `None` after its scope has taken it.
    arrived: Option<A>,
    inside: Option<(Prepared, A::Rest)>,
    /// The corrected arguments; `None` if they equal the arguments of the call.
    corrected: Option<String>,
    repairs: Vec<RepairNote>,
}

/// The reason why a call did not begin, with the call itself.
pub(super) enum Stopped<A: Arrived> {
    /// The scope was not opened.
    Outside(A, ToolError),
    Inside(Prepared, A::Rest, ToolError),
}

impl<A: Arrived> Entry for Entrance<'_, A> {
    #[inline]
    fn text(&self) -> &str {
        match (&self.corrected, &self.arrived, &self.inside) {
            (Some(text), _, _) => text,
            (None, Some(arrived), _) => &arrived.call().arguments,
            (None, None, Some((prepared, _))) => prepared.arguments(),
            (None, None, None) => "",
        }
    }

    #[inline]
    fn enter(&mut self, exact: bool) -> Result<ToolContext, ToolError> {
        if !exact {
            self.correct()?;
        }
        let Some(arrived) = self.arrived.take() else {
            return Err(misread(None));
        };
        let (mut opening, rest) = arrived.open();
        opening.corrected = self.corrected.take();
        opening.repairs = std::mem::take(&mut self.repairs);
        let prepared = enter(self.toolset, self.at, self.def, self.cx, opening);
        let cx = prepared.context().clone();
        self.inside = Some((prepared, rest));
        check_secrets(self.def, self.cx)?;
        Ok(cx)
    }
}

impl<'t, A: Arrived> Entrance<'t, A> {
    pub(super) fn new(
        toolset: &'t Toolset,
        at: usize,
        def: &'t ToolDef,
        cx: &'t ToolContext,
        arrived: A,
    ) -> Self {
        Self {
            toolset,
            at,
            def,
            cx,
            arrived: Some(arrived),
            inside: None,
            corrected: None,
            repairs: Vec::new(),
        }
    }

    /// Reads the arguments, opens the scope and creates the body.
    #[inline]
    pub(super) fn begin(mut self) -> Result<(Prepared, A::Rest, Job), Stopped<A>> {
        // Nearly every call is to a compiled tool. Calls to dynamic tools are checked against the schema first.
        let begun = if self.def.is_dynamic() {
            Err(NotBegun::Unfit(None))
        } else {
            self.start()
        };
        let begun = match begun {
            Err(NotBegun::Unfit(reason)) => self.begin_corrected(reason),
            begun => begun,
        };
        self.end(begun)
    }

    /// Reads the repaired arguments, or reports their faults.
    #[cold]
    fn begin_corrected(&mut self, reason: Option<DecodeError>) -> Result<Job, NotBegun> {
        let changed = self.correct().map_err(NotBegun::Refused)?;
        if changed || self.def.is_dynamic() {
            return match self.start() {
                Err(NotBegun::Unfit(reason)) => Err(self.stopped_inside(misread(reason))),
                begun => begun,
            };
        }
        // The arguments match the schema, but a custom `Deserialize` impl rejects them.
        Err(self.stopped_inside(misread(reason)))
    }

    /// Opens the scope for a fault of the tool's own code, so that the call has a span.
    #[cold]
    fn stopped_inside(&mut self, error: ToolError) -> NotBegun {
        let entered = self.arrived.is_some().then(|| self.enter(true));
        let refused = entered.and_then(Result::err);
        NotBegun::Refused(refused.unwrap_or(error))
    }

    /// Opens the scope for a body that the host has created; the arguments only have to match the schema.
    #[cfg(feature = "host")]
    pub(super) fn begin_made(
        mut self,
        made: MakeJob,
    ) -> Result<(Prepared, A::Rest, Job), Stopped<A>> {
        let begun = self
            .correct()
            .and_then(|_| self.enter(true))
            .map(made)
            .map_err(NotBegun::Refused);
        self.end(begun)
    }

    fn start(&mut self) -> Result<Job, NotBegun> {
        // A custom `Deserialize` impl may panic.
        let def = self.def;
        let begun = catch_unwind(AssertUnwindSafe(|| def.start(self)));
        match begun {
            Ok(begun) => begun,
            Err(payload) if self.arrived.is_none() && self.inside.is_none() => {
                resume_unwind(payload)
            }
            Err(payload) => {
                // An argument error is more helpful than the panic of a conversion that the arguments have caused.
                if self.corrected.is_none() {
                    self.correct().map_err(NotBegun::Refused)?;
                }
                Err(self.stopped_inside(guard::panicked(&*payload)))
            }
        }
    }

    /// Lets the guard correct the arguments. Returns whether it changed them.
    #[cold]
    fn correct(&mut self) -> Result<bool, ToolError> {
        let Some(arrived) = &self.arrived else {
            return Ok(false);
        };
        let written = &*arrived.call().arguments;
        let admitted = check_call(self.def, written, self.toolset.repair_mode(), self.cx)?;
        let corrected = match admitted.text {
            // Empty text is read as `{}`, which is borrowed but is not `written`.
            Cow::Borrowed(text) if std::ptr::eq(text, written) => None,
            text => Some(text.into_owned()),
        };
        let changed = corrected.is_some();
        self.corrected = corrected;
        self.repairs = admitted.repairs;
        Ok(changed)
    }

    #[inline]
    fn end(self, begun: Result<Job, NotBegun>) -> Result<(Prepared, A::Rest, Job), Stopped<A>> {
        let begun = begun.map_err(NotBegun::into_tool_error);
        match (self.inside, self.arrived, begun) {
            (Some((prepared, rest)), _, Ok(job)) => Ok((prepared, rest, job)),
            (Some((prepared, rest)), _, Err(error)) => Err(Stopped::Inside(prepared, rest, error)),
            (None, Some(arrived), begun) => {
                let error = begun.err().unwrap_or_else(|| misread(None));
                Err(Stopped::Outside(arrived, error))
            }
            (None, None, _) => {
                unreachable!("a call has either not entered its scope or entered it")
            }
        }
    }
}
