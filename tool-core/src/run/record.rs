//! Audit rows of a call through a gate.

use std::future::Future;
use std::sync::Arc;
use std::time::Duration;

use tokio::time::Instant;

use super::steps::{Early, EarlyGate};
use super::telemetry;
use crate::audit::{Audit, End, Entry, Late, arrived, blind};
use crate::call::CallResult;
use crate::context::ToolContext;
use crate::env;
use crate::error::{ErrorKind, ToolError};
use crate::gate::Gate;
use crate::store::{AuditRow, AuditSink, CallId};
use crate::visibility::Layer;

/// Proof that the row of a required audit is written. Only this file creates it.
pub(super) struct Audited(());

/// Minimum time for which a call waits for its last writes and lookups, even after its deadline.
const GRACE: Duration = Duration::from_millis(100);
/// Maximum time in which a write continues in the background after its call has ended. A write to the ledger has no such limit.
pub(super) const PATIENCE: Duration = Duration::from_secs(30);

/// Writes the row that must exist before the body runs. If the sink does not answer before the call's deadline, the call ends.
pub(super) async fn required(
    sink: &Arc<dyn AuditSink>,
    row: AuditRow,
    deadline: Option<Instant>,
) -> Result<Audited, ToolError> {
    required_all(sink, vec![row], deadline).await
}

/// Does the same as [`required`] for several rows.
pub(super) async fn required_all(
    sink: &Arc<dyn AuditSink>,
    rows: Vec<AuditRow>,
    deadline: Option<Instant>,
) -> Result<Audited, ToolError> {
    let write = sink.write(rows);
    let written = match deadline {
        None => Ok(write.await),
        Some(deadline) => tokio::time::timeout_at(deadline, write).await,
    };
    let Ok(written) = written else {
        let text = "the call was not made, because the host could not record it in time";
        return Err(ToolError::of(ErrorKind::TimedOut, text).operator(
            "the audit is required, and its sink did not answer before the deadline of the call",
        ));
    };
    written.map(Audited).map_err(|error| {
        unwritten(format!(
            "the audit is required and its row could not be written: {error}"
        ))
    })
}

/// Returns the error of a call that is not made because a row could not be written, or because the ledger could not be read.
pub(super) fn unwritten(why: String) -> ToolError {
    ToolError::of(
        ErrorKind::Unavailable,
        "the call was not made, because the host could not record it first",
    )
    .operator(why)
}

/// Waits for a store before the body of a call, until the deadline of the call. Work that is not finished by then is dropped and may or may not
/// have been done, so the call stays open.
pub(super) async fn in_time<T>(
    deadline: Option<Instant>,
    work: impl Future<Output = Result<T, ToolError>>,
) -> Result<T, ToolError> {
    // Without a runtime, there is no timer.
    match deadline.filter(|_| tokio::runtime::Handle::try_current().is_ok()) {
        None => work.await,
        Some(deadline) => tokio::time::timeout_at(deadline, work)
            .await
            .unwrap_or_else(|_| Err(not_in_time())),
    }
}

/// Does the same as [`in_time`], but waits at least [`GRACE`], even after the deadline of the call.
pub(super) async fn soon<T>(
    deadline: Option<Instant>,
    work: impl Future<Output = Result<T, ToolError>>,
) -> Result<T, ToolError> {
    in_time(
        deadline.map(|deadline| deadline.max(Instant::now() + GRACE)),
        work,
    )
    .await
}

/// Returns the error of a call that is not made because a store did not answer before the deadline.
pub(super) fn not_in_time() -> ToolError {
    let text = "the call was not made, because the host could not look it up or record it in time";
    ToolError::of(ErrorKind::TimedOut, text).operator(
        "the ledger, the approvals or the switches did not answer before the deadline of the call",
    )
}

/// Writes the row of a call that has ended. A failure of the sink is logged.
pub(super) async fn ended(gate: &Gate, sink: &Arc<dyn AuditSink>, late: Late) {
    let row = late.row();
    let call = row.call.clone();
    let deadline = late.cx.deadline();
    let sink = Arc::clone(sink);
    let write = async move {
        if let Err(error) = sink.write(vec![row]).await {
            tracing::error!(%error, call, "the end of a call could not be written to the audit; its start was written");
        }
    };
    within(gate, write, deadline, Some(PATIENCE)).await;
}

/// Waits for the last writes of a call until its deadline, at least for [`GRACE`]. After that the writes continue in the background, for at most `patience` if
/// that is set.
pub(super) async fn within(
    gate: &Gate,
    write: impl Future<Output = ()> + Send + 'static,
    deadline: Option<Instant>,
    patience: Option<Duration>,
) {
    let Some(deadline) = deadline else {
        return write.await;
    };
    let mut write = Box::pin(write);
    let deadline = deadline.max(Instant::now() + GRACE);
    if tokio::time::timeout_at(deadline, &mut write).await.is_err() {
        tracing::error!(
            "the stores did not answer before the deadline of a call; its end is written in the background"
        );
        let counted = gate.begin_write();
        env::spawn(async move {
            let _counted = counted;
            match patience {
                None => write.await,
                Some(patience) => {
                    if tokio::time::timeout(patience, write).await.is_err() {
                        tracing::error!(
                            "the write of a call's audit row was abandoned, because the audit did not answer"
                        );
                    }
                }
            }
        });
    }
}

/// Records in the audit a call whose scope was not opened, and returns its result. The model gets the same text for a hidden tool as for a tool that
/// does not exist.
pub(super) async fn refuse(early: Early, cx: &ToolContext) -> CallResult {
    let Early { call, error, gate } = early;
    let error = cx.redactor().error(error);
    telemetry::refused(&call, &error, cx);
    let Some(EarlyGate {
        gate,
        gated,
        layer,
        started,
    }) = gate.filter(|at| !at.gate.audit().is_off())
    else {
        return CallResult::refused_in(cx, call, error);
    };
    if let Some(gated) = &gated {
        gated.has_left_nothing();
    }
    let identity = match gated {
        Some(gated) => Ok(gated.identity().clone()),
        // A call with an invalid identity is recorded under a new identity.
        None => CallId::alone(cx.own_workspace()),
    };
    let Ok(identity) = identity else {
        tracing::error!(
            call = call.id,
            "a refused call has no identity, so it is not in the audit"
        );
        return CallResult::refused_in(cx, call, error);
    };
    // The arguments do not match a schema, or no schema applies to them, so only their size is stored.
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
            let (call, sink) = (row.call.clone(), Arc::clone(sink));
            let write = async move {
                if let Err(error) = sink.write(vec![row]).await {
                    tracing::error!(%error, call, "a refused call could not be written to the audit");
                }
            };
            // The call was never counted, so a drain would not wait for the write without this guard.
            let _counted = gate.begin_write();
            within(&gate, write, cx.deadline(), Some(PATIENCE)).await;
        }
    }
    CallResult::refused_in(cx, call, error)
}
