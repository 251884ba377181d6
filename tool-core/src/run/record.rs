//! The audit rows of a call through a gate.

use std::sync::Arc;
use std::time::Duration;

use super::{guard, telemetry};
use crate::audit::{Audit, End, Entry, Late, arrived, blind};
use crate::call::{CallResult, ToolCall};
use crate::context::{Gated, ToolContext};
use crate::error::{ErrorKind, ToolError};
use crate::gate::{Gate, Layer};
use crate::store::{AuditRow, AuditSink, CallId, Timestamp};

/// Writes the row that has to be there before the body runs.
pub(super) async fn required(sink: &Arc<dyn AuditSink>, row: AuditRow) -> Result<(), ToolError> {
    let written = guard::store_step(|| sink.write(vec![row])).await;
    written.map_err(|error| {
        unwritten(format!(
            "the audit is required and its row could not be written: {error}"
        ))
    })
}

/// The error of a call that is not made, because it could not be written down.
pub(super) fn unwritten(why: String) -> ToolError {
    ToolError::of(
        ErrorKind::Unavailable,
        "the call was not made, because the host could not write it down first",
    )
    .operator(why)
}

/// Writes the row of a call that has ended. That it cannot be written is told to the operator.
pub(super) async fn ended(sink: &Arc<dyn AuditSink>, late: Late) {
    let row = late.row();
    let call = row.call.clone();
    if let Err(error) = guard::store_step(|| sink.write(vec![row])).await {
        tracing::error!(%error, call, "the end of a call could not be written into the audit; its beginning is there");
    }
}

/// A call that never reached its tool. The model learns of a hidden tool what it learns of one that does not exist.
pub(super) async fn refuse(
    gate: &Gate,
    gated: Option<&Gated>,
    call: ToolCall,
    cx: &ToolContext,
    error: ToolError,
    layer: Option<Layer>,
    started: Timestamp,
) -> CallResult {
    let error = super::redacted(error, cx);
    telemetry::refused(&call, &error, cx);
    if !gate.audit().is_off() {
        let Some(identity) = gated.map(Gated::identity).cloned().or_else(|| {
            // A call of a wrong identity is recorded under a fresh one.
            CallId::alone(cx.own_workspace()).ok()
        }) else {
            tracing::error!(
                call = call.id,
                "a refused call has no identity, so it is not in the audit"
            );
            return CallResult::refused(call, error);
        };
        // No schema applies to these arguments, so only their shape is stored.
        let form = blind(&call.arguments);
        let end = End::failed(&error, Duration::ZERO);
        let row = arrived(identity, &call, cx, started, form)
            .layer(layer.map(Layer::as_str))
            .end(&end)
            .row(&cx.redactor());
        match gate.audit() {
            Audit::Off => {}
            Audit::BestEffort(buffer) => buffer.push(Entry::Row(Box::new(row))),
            Audit::Required(sink) => {
                let call = row.call.clone();
                if let Err(error) = guard::store_step(|| sink.write(vec![row])).await {
                    tracing::error!(%error, call, "a refused call could not be written into the audit");
                }
            }
        }
    }
    CallResult::refused_by(&cx.redactor(), call, error)
}
