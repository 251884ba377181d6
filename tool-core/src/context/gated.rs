//! What a gate adds to a call.

use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::sync::{Mutex, OnceLock, PoisonError};

use serde::Serialize;
use tokio_util::sync::CancellationToken;

use super::ToolContext;
use crate::call::{ToolCall, ToolEvent};
use crate::error::ToolError;
use crate::gate::Gate;
use crate::gate::approval::Ticket;
use crate::gate::hash::{random_id, sha256};
use crate::store::{ApprovalRequest, AuditNote};

/// Most notes that one call may leave.
const NOTES: usize = 100;

/// What a gate adds to a call.
pub(crate) struct Gated {
    /// The turn, where it is not the context's.
    turn: Option<Box<str>>,
    /// The call within its turn, where that is not its id: that of the call which made it stands before it.
    path: Option<Box<str>>,
    parent: Option<Box<str>>,
    key: OnceLock<String>,
    /// The gate that the call has come to; calls that it makes pass it, too.
    gate: Option<Gate>,
    stop: CancellationToken,
    /// The body was polled, and has not returned.
    inside: AtomicBool,
    children: AtomicU32,
    notes: Mutex<Vec<AuditNote>>,
    /// Approvals that calls of this call wait for.
    asked: Mutex<Vec<Ticket>>,
}

impl Gated {
    /// For a call, or for one that is resumed by its approval.
    pub(crate) fn open(
        cx: &ToolContext,
        call: &ToolCall,
        resumed: Option<&ApprovalRequest>,
    ) -> Result<Self, ToolError> {
        let outer = cx
            .call
            .as_ref()
            .and_then(|scope| Some((scope.gated.as_deref()?, &scope.call)));
        let boxed = |text: &str| Some(Box::from(text));
        let (turn, path, parent) = match (resumed, outer) {
            (Some(request), _) => (
                boxed(&request.turn),
                boxed(&request.call),
                request.parent.as_deref().map(Box::from),
            ),
            (None, Some((outer, made_by))) => {
                // Counted, so that a body that is run again makes the same calls under the same names.
                let at = outer.children.fetch_add(1, Ordering::Relaxed);
                let parent = outer.path(made_by);
                (
                    outer.turn.clone(),
                    boxed(&format!("{parent}/{at}:{}", call.id)),
                    boxed(parent),
                )
            }
            // Ids of calls repeat from turn to turn, so a call without a turn is one of its own.
            (None, None) if cx.host.turn.is_none() => (boxed(&random_id()?), None, None),
            (None, None) => (None, None, None),
        };
        Ok(Self {
            turn,
            path,
            parent,
            key: OnceLock::new(),
            gate: None,
            stop: cx
                .cancellation()
                .map_or_else(CancellationToken::new, CancellationToken::child_token),
            inside: AtomicBool::new(false),
            children: AtomicU32::new(0),
            notes: Mutex::default(),
            asked: Mutex::default(),
        })
    }

    /// The same, at a gate.
    pub(crate) fn at(mut self, gate: &Gate) -> Self {
        self.gate = Some(gate.clone());
        self
    }

    /// The turn of a call that is made in this context.
    pub(crate) fn turn<'a>(&'a self, cx: &'a ToolContext) -> &'a str {
        self.turn
            .as_deref()
            .or(cx.host.turn.as_deref())
            .unwrap_or_default()
    }

    fn path<'a>(&'a self, call: &'a ToolCall) -> &'a str {
        self.path.as_deref().unwrap_or(&call.id)
    }

    /// Names the call among all calls of the host.
    pub(crate) fn key(&self, cx: &ToolContext, call: &ToolCall) -> &str {
        self.key
            .get_or_init(|| sha256(&[cx.tenant(), self.turn(cx), self.path(call)]))
    }
}

impl ToolContext {
    fn gated(&self) -> Option<&Gated> {
        self.call.as_ref()?.gated.as_deref()
    }

    /// Names this call among all calls of the host, the same whenever it is tried again: pass it to services that take an idempotency
    /// key. `None` outside of a call and where the host has no [`Gate`](crate::Gate).
    pub fn idempotency_key(&self) -> Option<&str> {
        let scope = self.call.as_ref()?;
        Some(scope.gated.as_deref()?.key(self, &scope.call))
    }

    /// Leaves a note in the audit row of this call, which names tool, caller and conversation already. Secrets are masked in it;
    /// other private text is the tool's to leave out.
    ///
    /// Does nothing where the host has no [`Gate`](crate::Gate). At most 100 notes of a call are kept.
    pub fn audit<T: Serialize + ?Sized>(&self, action: &str, details: &T) {
        let Some(gated) = self.gated() else { return };
        let Ok(details) = serde_json::to_string(details) else {
            tracing::warn!(
                action = %self.redactor().redact(action),
                "the details of an audit note cannot be written as JSON"
            );
            return;
        };
        let mut notes = gated.notes.lock().unwrap_or_else(PoisonError::into_inner);
        if notes.len() < NOTES {
            notes.push(AuditNote {
                action: action.to_owned(),
                details,
            });
        }
    }

    pub(crate) fn notes(&self) -> Vec<AuditNote> {
        self.gated().map_or_else(Vec::new, |gated| {
            gated
                .notes
                .lock()
                .unwrap_or_else(PoisonError::into_inner)
                .clone()
        })
    }

    pub(crate) fn turn_of_call(&self) -> Option<&str> {
        self.gated()?.turn.as_deref()
    }

    /// The gate that the running call has come to.
    pub(crate) fn outer_gate(&self) -> Option<&Gate> {
        self.gated()?.gate.as_ref()
    }

    /// The call within its turn.
    pub(crate) fn call_path(&self) -> String {
        let path = self
            .call
            .as_ref()
            .and_then(|scope| Some(scope.gated.as_deref()?.path(&scope.call)));
        path.unwrap_or_default().to_owned()
    }

    /// The call that has made this one.
    pub(crate) fn parent_call(&self) -> Option<&str> {
        self.gated()?.parent.as_deref()
    }

    /// Stops this call alone.
    pub(crate) fn stop(&self) -> Option<&CancellationToken> {
        self.gated().map(|gated| &gated.stop)
    }

    /// Cancels this call alone.
    pub(crate) fn cancel(&self) {
        if let Some(stop) = self.stop() {
            stop.cancel();
        }
    }

    /// Tells whoever listens that the gate has let the call through.
    pub(crate) fn tell_started(&self) {
        if let Some(sender) = self.call.as_ref().and_then(|scope| scope.progress.as_ref()) {
            let _ = sender.unbounded_send(ToolEvent::Started);
        }
    }

    /// Opens the scope of a call whose run has ended for another run; false where the call was cancelled.
    pub(crate) fn runs_again(&self) -> bool {
        let Some(scope) = &self.call else {
            return false;
        };
        scope.ended.store(false, Ordering::Relaxed);
        !self.is_cancelled()
    }

    /// Whether the body was polled and has not returned: it was cut in between, or still runs.
    pub(crate) fn is_inside(&self) -> bool {
        self.gated()
            .is_some_and(|gated| gated.inside.load(Ordering::Relaxed))
    }

    pub(crate) fn set_inside(&self, inside: bool) {
        if let Some(gated) = self.gated() {
            gated.inside.store(inside, Ordering::Relaxed);
        }
    }

    /// Notes what a call of this call waits for.
    pub(crate) fn wait_for(&self, tickets: &[Ticket]) {
        if tickets.is_empty() {
            return;
        }
        if let Some(gated) = self.gated() {
            gated
                .asked
                .lock()
                .unwrap_or_else(PoisonError::into_inner)
                .extend_from_slice(tickets);
        }
    }

    pub(crate) fn take_asked(&self) -> Vec<Ticket> {
        self.gated().map_or_else(Vec::new, |gated| {
            std::mem::take(&mut *gated.asked.lock().unwrap_or_else(PoisonError::into_inner))
        })
    }
}
