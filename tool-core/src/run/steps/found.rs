//! [`Found`]: a call whose tool is found, and the parts of the gate that it needs.

use std::time::Instant;

#[cfg(feature = "host")]
use std::sync::Arc;

#[cfg(feature = "host")]
use super::Flight;
use super::{Held, Left};
#[cfg(feature = "host")]
use crate::audit::Audit;
use crate::call::ToolCall;
use crate::context::ToolContext;
#[cfg(feature = "host")]
use crate::context::{Gated, TypedOutput};
use crate::env;
#[cfg(feature = "host")]
use crate::gate::{Gate, approval::Approvals, host::Ledger};
use crate::run::{Prepared, Progress};
#[cfg(feature = "host")]
use crate::store::{ApprovalRequest, AuditSink, Timestamp};
#[cfg(feature = "host")]
use crate::tool::Origin;
use crate::tool::{Tool, ToolDef};
use crate::toolset::Toolset;

/// A call that has arrived at a toolset without a gate.
pub(in crate::run) struct Ungated {
    pub(super) call: ToolCall,
    pub(super) progress: Progress,
    pub(super) since: Instant,
}

/// A call that has arrived at a gate.
#[cfg(feature = "host")]
pub(in crate::run) struct AtGate<'t> {
    pub(super) gate: &'t Gate,
    pub(super) call: ToolCall,
    pub(super) progress: Progress,
    pub(super) gated: Box<Gated>,
    pub(super) since: Instant,
    pub(super) started: Timestamp,
    /// The origin of a typed call's tool.
    typed: Option<Origin>,
}

#[cfg(feature = "host")]
impl<'t> AtGate<'t> {
    /// Assigns an identity to the call. A resumed call has the identity of its approval.
    #[inline]
    pub(in crate::run) fn new(
        gate: &'t Gate,
        call: ToolCall,
        cx: &ToolContext,
        progress: Progress,
        resumed: Option<&ApprovalRequest>,
    ) -> Result<Self, Left<Flight>> {
        let (since, started) = (env::monotonic(), Timestamp::now());
        match Gated::open(cx, &call, resumed) {
            Ok(gated) => Ok(Self {
                gate,
                call,
                progress,
                gated: Box::new(gated),
                since,
                started,
                typed: None,
            }),
            Err(error) => Err(Left::unidentified(gate, call, started, error)),
        }
    }
}

#[cfg(feature = "host")]
impl AtGate<'_> {
    /// Turns this into a typed call: no other tool of the same name is called, and the output stays a Rust value.
    #[inline]
    pub(in crate::run) fn typed(mut self, tool: Option<Origin>, output: TypedOutput) -> Self {
        self.typed = tool;
        self.gated.keep_in(output);
        self
    }
}

/// The parts of a gate that a call may need before its body runs.
#[cfg(feature = "host")]
#[derive(Clone, Copy)]
pub(in crate::run) struct Parts<'t> {
    pub(super) gate: &'t Gate,
    pub(super) asking: Asking<'t>,
    pub(super) books: RecordStores<'t>,
}

/// The approvals through which a person can be asked about a call.
#[cfg(feature = "host")]
#[derive(Clone, Copy)]
pub(super) enum Asking<'t> {
    Nobody,
    Approvals(&'t Approvals),
}

/// The stores in which a host records a call before its body runs.
#[cfg(feature = "host")]
#[derive(Clone, Copy)]
pub(super) enum RecordStores<'t> {
    Nothing,
    Audit(&'t Arc<dyn AuditSink>),
    Ledger(&'t Ledger),
    Both(&'t Ledger, &'t Arc<dyn AuditSink>),
}

#[cfg(feature = "host")]
impl<'t> Parts<'t> {
    #[inline]
    fn of(gate: &'t Gate) -> Self {
        Self {
            gate,
            asking: gate.approvals().map_or(Asking::Nobody, Asking::Approvals),
            books: match (gate.ledger(), gate.audit()) {
                (None, Audit::Off | Audit::BestEffort(_)) => RecordStores::Nothing,
                (None, Audit::Required(sink)) => RecordStores::Audit(sink),
                (Some(ledger), Audit::Off | Audit::BestEffort(_)) => RecordStores::Ledger(ledger),
                (Some(ledger), Audit::Required(sink)) => RecordStores::Both(ledger, sink),
            },
        }
    }
}

/// A call whose tool the turn may use.
pub(in crate::run) struct Found<'t, H: Held> {
    toolset: &'t Toolset,
    at: usize,
    def: &'t ToolDef,
    parts: H::Parts<'t>,
    arrived: H::Arrived<'t>,
}

impl<'t> Found<'t, Prepared> {
    /// Looks up the tool that the call names.
    #[inline]
    pub(in crate::run) fn ungated(
        toolset: &'t Toolset,
        call: ToolCall,
        cx: &ToolContext,
        progress: Progress,
    ) -> Result<Self, Left<Prepared>> {
        let since = env::monotonic();
        let (at, def) = match toolset.dispatch(&call.name) {
            Ok(found) => found,
            Err(layer) => {
                let error = toolset.uncallable(&cx.redactor().redact(&call.name), layer);
                return Err(Left::early(call, error));
            }
        };
        Ok(Self {
            toolset,
            at,
            def,
            parts: (),
            arrived: Ungated {
                call,
                progress,
                since,
            },
        })
    }

    /// Looks up the tool of typed arguments; `arguments` is their JSON text, if it exists.
    #[inline]
    pub(in crate::run) fn typed<T: Tool>(
        toolset: &'t Toolset,
        arguments: Option<String>,
    ) -> Result<Self, Left<Prepared>> {
        let since = env::monotonic();
        let call = ToolCall::new("", T::NAME, arguments.unwrap_or_default());
        match toolset.find_typed::<T>() {
            Ok((at, def)) => Ok(Self {
                toolset,
                at,
                def,
                parts: (),
                arrived: Ungated {
                    call,
                    progress: None,
                    since,
                },
            }),
            Err(layer) => Err(Left::early(call, toolset.uncallable(T::NAME, layer))),
        }
    }
}

#[cfg(feature = "host")]
impl<'t> Found<'t, Flight> {
    /// Looks up the tool that the call names.
    #[inline]
    pub(in crate::run) fn gated(
        toolset: &'t Toolset,
        arrived: AtGate<'t>,
        cx: &ToolContext,
    ) -> Result<Self, Left<Flight>> {
        // Without this check, the rules would be applied to a different tool of the same name and not to the tool that runs.
        let is_meant = |def: &ToolDef| {
            arrived
                .typed
                .is_none_or(|typed| def.origin() == Some(typed))
        };
        match toolset.dispatch(&arrived.call.name) {
            Ok((at, def)) if is_meant(def) => Ok(Self {
                toolset,
                at,
                def,
                parts: Parts::of(arrived.gate),
                arrived,
            }),
            other => {
                let layer = other.err().flatten();
                let error = toolset.uncallable(&cx.redactor().redact(&arrived.call.name), layer);
                Err(Left::at_gate(arrived, error, layer))
            }
        }
    }
}

/// The fields of [`Found`], for the next state.
pub(super) struct FoundParts<'t, H: Held> {
    pub(super) toolset: &'t Toolset,
    pub(super) at: usize,
    pub(super) def: &'t ToolDef,
    pub(super) parts: H::Parts<'t>,
    pub(super) arrived: H::Arrived<'t>,
}

impl<'t, H: Held> Found<'t, H> {
    #[inline]
    pub(super) fn take(self) -> FoundParts<'t, H> {
        FoundParts {
            toolset: self.toolset,
            at: self.at,
            def: self.def,
            parts: self.parts,
            arrived: self.arrived,
        }
    }
}
