//! State that a gate adds to a running call.

use std::any::Any;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};

use serde::Serialize;
use tokio_util::sync::CancellationToken;

use super::{CallScope, ToolContext};
use crate::call::Ticket;
use crate::call::ToolCall;
use crate::error::{ErrorKind, ToolError};
use crate::store::{ApprovalRequest, AuditNote, CallId, CallKey, EarlierCall, EffectRow};

/// Maximum number of notes that are kept for one call.
const NOTES: usize = 100;

/// The output of a typed call as a value, in addition to the JSON text that is stored.
#[derive(Clone, Default)]
pub(crate) struct TypedOutput(Arc<Mutex<Option<Box<dyn Any + Send>>>>);

impl TypedOutput {
    /// Stores the output of the latest attempt.
    pub(crate) fn put(&self, output: Box<dyn Any + Send>) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = Some(output);
    }

    /// Removes the value, and returns it if it is of this type.
    pub(crate) fn take<T: 'static>(&self) -> Option<T> {
        let kept = self.0.lock().unwrap_or_else(PoisonError::into_inner).take();
        kept?.downcast().ok().map(|value| *value)
    }
}

/// The numbers of the calls that a body makes.
///
/// A body that runs again makes the same calls under the same numbers, so that the ledger returns the results of the calls that have run. A call that
/// is over and had no effect gets a new number in the next run, because it is made again and its audit row already has an outcome.
#[derive(Default)]
struct Children(Mutex<Numbers>);

#[derive(Default)]
struct Numbers {
    /// The numbers of the body's calls, in order; `None` for a call that is over and had no effect.
    of: Vec<Option<u32>>,
    /// Number of calls that this run of the body has made.
    made: usize,
    given: u32,
}

impl Children {
    fn numbers(&self) -> MutexGuard<'_, Numbers> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns the number of the next call.
    fn next(&self) -> u32 {
        let numbers = &mut *self.numbers();
        if numbers.made == numbers.of.len() {
            numbers.of.push(None);
        }
        let number = &mut numbers.of[numbers.made];
        numbers.made += 1;
        *number.get_or_insert_with(|| {
            numbers.given += 1;
            numbers.given - 1
        })
    }

    fn forget(&self, number: u32) {
        let numbers = &mut *self.numbers();
        for own in &mut numbers.of {
            own.take_if(|own| *own == number);
        }
    }

    /// Starts counting from the first call, because the body runs again.
    fn again(&self) {
        self.numbers().made = 0;
    }
}

/// The origin of a call's identity. It decides which records may exist for the identity.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Source {
    /// The identity is new, so nothing is stored under it.
    New,
    /// The host set the identity, so an earlier call may have used it.
    Host,
    /// A turn derived the identity from the place of the call in the thread.
    Turn,
}

/// The state that a gate adds to a call.
pub(crate) struct Gated {
    identity: CallId,
    /// The numbers of the outer call's nested calls, and the number of this call.
    number: Option<(Arc<Children>, u32)>,
    source: Source,
    /// The name of the call in earlier versions of this crate, which had no call identities.
    earlier: Option<EarlierCall>,
    /// The model's own id of the outer call.
    parent: Option<Box<str>>,
    /// Stops this call, but not its turn. Created with a nested call, otherwise when it is first used, because most bodies
    /// never wait.
    stop: OnceLock<CancellationToken>,
    /// Whether the body was polled and has not returned.
    inside: AtomicBool,
    /// Whether the body was cut off in an earlier attempt.
    cut: AtomicBool,
    /// Whether the body has returned an output. A later failure does not undo it.
    returned: AtomicBool,
    /// The numbers of nested calls. They are created with the first call that the body makes.
    children: OnceLock<Arc<Children>>,
    /// Number of nested calls that returned an output, not counting calls that only read.
    made: AtomicU32,
    notes: Mutex<Vec<AuditNote>>,
    /// Approvals that this call waits for, for example the approvals of nested calls.
    asked: Mutex<Vec<Ticket>>,
    /// The row of a call on which this call depends, for example of a nested call, that was begun before and has no known outcome.
    doubt: Mutex<Option<Box<EffectRow>>>,
    /// `None` if the caller requested only the JSON text of the output.
    output: Option<TypedOutput>,
}

impl Gated {
    /// Opens the state of a call at the gate that received it. `resumed` is the approval request of a resumed call.
    ///
    /// Fails if the context's identity belongs to a different workspace or conversation, or if the system provides no random bytes.
    pub(crate) fn open(
        cx: &ToolContext,
        call: &ToolCall,
        resumed: Option<&ApprovalRequest>,
    ) -> Result<Self, ToolError> {
        let outer = cx
            .scope()
            .and_then(|scope| Some((scope.gated.as_deref()?, &scope.call)));
        let mut parent = None;
        let mut earlier = None;
        let mut own_number = None;
        let mut source = Source::Host;
        let identity = match (resumed, outer, &cx.host().next) {
            (Some(request), ..) => {
                parent = request.parent.as_deref().map(Box::from);
                // A turn may make its call again with the arguments of an approver.
                let of_turn = match outer {
                    Some((outer, _)) => outer.is_of_turn(),
                    None => cx.host().in_turn && cx.host().next.as_ref() == Some(&request.identity),
                };
                if of_turn {
                    source = Source::Turn;
                }
                request.identity.clone()
            }
            (None, Some((outer, made_by)), _) => {
                parent = Some(Box::from(made_by.id.as_str()));
                let children = outer.children.get_or_init(Arc::default);
                let number = children.next();
                own_number = Some((Arc::clone(children), number));
                let outer_call = outer.earlier.as_ref();
                earlier = outer_call.map(|outer| outer.nested(number, &call.id));
                source = outer.source;
                outer.identity.nested(number)
            }
            (None, None, Some(next)) => {
                earlier.clone_from(&cx.host().earlier);
                cx.owns(next)?;
                if cx.host().in_turn {
                    source = Source::Turn;
                }
                next.clone()
            }
            (None, None, None) => {
                source = Source::New;
                CallId::alone(cx.own_workspace()).map_err(|error| {
                    ToolError::foreign(error).operator("the call has no identity")
                })?
            }
        };
        Ok(Self {
            identity,
            number: own_number,
            source,
            earlier,
            parent,
            // The token that `CallScope::stop` creates is a child of the turn's token, so it would not be cancelled with the outer call.
            stop: outer
                .and_then(|_| cx.cancellation())
                .map_or_else(OnceLock::new, |outer| OnceLock::from(outer.child_token())),
            inside: AtomicBool::new(false),
            cut: AtomicBool::new(false),
            returned: AtomicBool::new(false),
            children: OnceLock::new(),
            made: AtomicU32::new(0),
            notes: Mutex::default(),
            asked: Mutex::default(),
            doubt: Mutex::default(),
            output: None,
        })
    }

    /// Requests the output as a value, in addition to its JSON text.
    pub(crate) fn keep_in(&mut self, output: TypedOutput) {
        self.output = Some(output);
    }

    /// Returns the slot for the output as a value.
    pub(crate) fn typed_output(&self) -> Option<&TypedOutput> {
        self.output.as_ref()
    }

    pub(crate) fn identity(&self) -> &CallId {
        &self.identity
    }

    /// Records that the call is over and had no effect, so that a later run of the outer call's body makes a new call.
    pub(crate) fn has_left_nothing(&self) {
        if let Some((outer, number)) = &self.number {
            outer.forget(*number);
        }
    }

    /// Returns the name of the call in earlier versions of this crate, which had no call identities.
    pub(crate) fn earlier_call(&self) -> Option<&EarlierCall> {
        self.earlier.as_ref()
    }

    /// Returns whether the identity is new, so that the call cannot have run before.
    pub(crate) fn is_new(&self) -> bool {
        self.source == Source::New
    }

    /// Returns whether a body made this call during a call of a turn.
    pub(crate) fn is_made_in_turn(&self) -> bool {
        self.number.is_some() && self.is_of_turn()
    }

    /// Returns whether the call, or its outer call, was taken from the thread of the conversation.
    pub(crate) fn is_of_turn(&self) -> bool {
        self.source == Source::Turn
    }
}

/// Returns the identity that the host has set for the next call of a context.
pub fn next_identity(cx: &ToolContext) -> Option<&CallId> {
    cx.host().next.as_ref()
}

impl CallScope {
    /// Returns the token that stops this call and its nested calls, but not the turn; `None` without a gate.
    pub(super) fn stop(&self) -> Option<&CancellationToken> {
        let turn = self.host.cancellation.as_ref();
        let child = || turn.map_or_else(CancellationToken::new, CancellationToken::child_token);
        Some(self.gated.as_deref()?.stop.get_or_init(child))
    }

    /// Returns whether [`stop`](Self::stop) was cancelled.
    pub(super) fn is_stopped(&self) -> bool {
        let stop = self.gated.as_deref().and_then(|gated| gated.stop.get());
        stop.is_some_and(CancellationToken::is_cancelled)
    }
}

impl ToolContext {
    fn gated(&self) -> Option<&Gated> {
        self.scope()?.gated.as_deref()
    }

    /// Returns the identity of this call among all calls of the host; `None` outside of a call and without a [`Gate`](crate::Gate).
    ///
    /// If a turn makes the call or its outer call, or if the host has set their identity with [`for_call`](Self::for_call), the identity stays the
    /// same when the call is dispatched again. Any other call gets a new identity when it is dispatched, except when it is resumed after an approval.
    pub fn identity(&self) -> Option<&CallId> {
        self.gated().map(Gated::identity)
    }

    /// Returns the key of this call's [`identity`](Self::identity), to pass to services that take an idempotency key. `None` if the call
    /// has no identity.
    pub fn idempotency_key(&self) -> Option<CallKey> {
        self.identity().map(CallId::key)
    }

    /// Returns [`Gated::is_of_turn`] of the running call.
    pub(crate) fn is_of_turn(&self) -> bool {
        self.gated().is_some_and(Gated::is_of_turn)
    }

    /// Returns whether the running call was taken from the thread of the conversation, and not made by the body of another call.
    pub(crate) fn is_call_of_turn(&self) -> bool {
        let gated = self.gated();
        gated.is_some_and(|gated| gated.is_of_turn() && !gated.is_made_in_turn())
    }

    /// Returns the key of this call in earlier versions of this crate, which had no call identities.
    pub(crate) fn earlier_key(&self) -> Option<CallKey> {
        let earlier = self.gated()?.earlier.as_ref()?;
        Some(earlier.key(&self.own_workspace()))
    }

    /// Refuses an identity of a different workspace or conversation.
    fn owns(&self, identity: &CallId) -> Result<(), ToolError> {
        let conversation = identity.conversation();
        let own = identity.workspace().as_str() == self.tenant()
            && conversation.is_none_or(|own| Some(own) == self.conversation());
        if own {
            return Ok(());
        }
        Err(ToolError::of(ErrorKind::Denied, "the call does not belong to this conversation").operator(
            "the identity given to `ToolContext::for_call` belongs to a different workspace or conversation than the context",
        ))
    }

    /// Adds a note to the audit row of this call. The row already names tool, caller and conversation. Secrets in the note are redacted; the tool has
    /// to omit other private text.
    ///
    /// Does nothing outside of a call and without a [`Gate`](crate::Gate). Only the first 100 notes of a call are kept. If the details cannot be
    /// serialized, a warning is logged and the note is dropped.
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

    /// Returns the model's own id of the outer call.
    pub(crate) fn parent_call(&self) -> Option<&str> {
        self.gated()?.parent.as_deref()
    }

    /// Calls [`Gated::has_left_nothing`] for the running call.
    pub(crate) fn has_left_nothing(&self) {
        if let Some(gated) = self.gated() {
            gated.has_left_nothing();
        }
    }

    /// Cancels this call, but not its turn.
    pub(crate) fn cancel(&self) {
        if let Some(stop) = self.scope().and_then(|scope| scope.stop()) {
            stop.cancel();
        }
    }

    /// Prepares the scope of a call for another run after a run has ended. Returns false if the call was cancelled or its deadline has passed.
    pub(crate) fn runs_again(&self) -> bool {
        let Some(scope) = self.scope() else {
            return false;
        };
        scope.ended.store(false, Ordering::Relaxed);
        if let Some(gated) = self.gated() {
            // A hook can cut off a body and report a failure in its place.
            if gated.inside.swap(false, Ordering::Relaxed) {
                gated.cut.store(true, Ordering::Relaxed);
            }
            if let Some(children) = gated.children.get() {
                children.again();
            }
        }
        !self.is_cancelled()
    }

    /// Returns whether the body was polled and has not returned: it was cut off, or still runs.
    pub(crate) fn is_inside(&self) -> bool {
        self.gated()
            .is_some_and(|gated| gated.inside.load(Ordering::Relaxed))
    }

    /// Returns whether the body was cut off, in this attempt or an earlier attempt. The body may then have had an effect, regardless of the result of
    /// the call.
    pub(crate) fn was_cut(&self) -> bool {
        self.is_inside()
            || self
                .gated()
                .is_some_and(|gated| gated.cut.load(Ordering::Relaxed))
    }

    pub(crate) fn set_inside(&self, inside: bool) {
        if let Some(gated) = self.gated() {
            gated.inside.store(inside, Ordering::Relaxed);
        }
    }

    /// Returns whether the body has returned an output, even if something failed after it.
    pub(crate) fn has_returned(&self) -> bool {
        self.gated()
            .is_some_and(|gated| gated.returned.load(Ordering::Relaxed))
    }

    /// Records that the body has returned an output. This decides the ledger's entry, even if a later step fails.
    pub(crate) fn set_returned(&self) {
        if let Some(gated) = self.gated() {
            gated.returned.store(true, Ordering::Relaxed);
        }
    }

    /// Returns the slot for the output as a value; `None` if the caller requested only the text.
    pub(crate) fn typed_output(&self) -> Option<&TypedOutput> {
        self.gated()?.typed_output()
    }

    /// Adds approvals that the running call waits for, such as the approvals of a sub-agent's calls. Nested calls add their approvals themselves.
    ///
    /// If the body then returns an error, and the tool is read-only, idempotent or makes [only calls](crate::DynamicTool::only_calls), the result of
    /// the call is pending with these tickets, and the turn waits for them. When they are answered, the body runs again. Does nothing outside of a
    /// call and without a [`Gate`](crate::Gate).
    pub fn wait_for(&self, tickets: &[Ticket]) {
        if tickets.is_empty() {
            return;
        }
        if let Some(gated) = self.gated() {
            let mut asked = gated.asked.lock().unwrap_or_else(PoisonError::into_inner);
            for ticket in tickets {
                // A body that runs again waits for the same approval.
                if asked.iter().all(|known| known.id != ticket.id) {
                    asked.push(ticket.clone());
                }
            }
        }
    }

    /// Records that a nested call has returned an output. Callers leave out calls that only read.
    pub(crate) fn count_made(&self) {
        if let Some(gated) = self.gated() {
            gated.made.fetch_add(1, Ordering::Relaxed);
        }
    }

    /// Returns whether the body has made calls.
    pub(crate) fn has_called(&self) -> bool {
        self.gated()
            .is_some_and(|gated| gated.children.get().is_some())
    }

    /// Returns the number of nested calls that returned an output, not counting calls that only read.
    pub(crate) fn made(&self) -> u32 {
        self.gated()
            .map_or(0, |gated| gated.made.load(Ordering::Relaxed))
    }

    /// Records that a call on which the running call depends, such as a call of a sub-agent, was begun before and that its outcome is unknown. A nested
    /// call records this itself.
    ///
    /// If the body then returns an error, and the tool may run again as described for [`wait_for`](Self::wait_for), the turn is unsettled until an
    /// operator has settled the row. Then the body runs again.
    pub fn wait_for_effect(&self, row: &EffectRow) {
        self.doubt(row);
    }

    pub(crate) fn doubt(&self, row: &EffectRow) {
        if let Some(gated) = self.gated() {
            let mut doubt = gated.doubt.lock().unwrap_or_else(PoisonError::into_inner);
            *doubt = Some(Box::new(row.clone()));
        }
    }

    /// Returns whether the body can run again once its nested call no longer waits: the body was not cut off and returned no output, and the tool
    /// may run again.
    pub(crate) fn may_go_on(&self) -> bool {
        let may_run_again = self.scope().is_some_and(|scope| scope.tool.may_run_again());
        may_run_again && !self.is_inside() && !self.has_returned()
    }

    /// Removes and returns the row that [`doubt`](Self::doubt) recorded, if the body returned no output and can run again when the
    /// outcome is known.
    pub(crate) fn take_doubt(&self) -> Option<Box<EffectRow>> {
        if !self.may_go_on() {
            return None;
        }
        let doubt = self.gated()?.doubt.lock();
        doubt.unwrap_or_else(PoisonError::into_inner).take()
    }

    pub(crate) fn take_asked(&self) -> Vec<Ticket> {
        self.gated().map_or_else(Vec::new, |gated| {
            std::mem::take(&mut *gated.asked.lock().unwrap_or_else(PoisonError::into_inner))
        })
    }
}
