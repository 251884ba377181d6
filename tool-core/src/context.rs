//! Context of a tool call: its caller, its deadline, and the values that the host supplies.

use std::any::{Any, TypeId, type_name};
use std::collections::{BTreeMap, HashMap};
use std::fmt;
use std::sync::atomic::Ordering;
use std::sync::{Arc, OnceLock, PoisonError};
use std::time::Duration;

use secrecy::{ExposeSecret, SecretString};
use serde::Serialize;
use serde_json::value::RawValue;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use crate::call::{CallResult, ToolCall};
use crate::error::{ErrorKind, ToolError};
use crate::output::Citation;
use crate::redact::{Lease, Redactor};
use crate::schema::dialect::Dialect;
use crate::store::{CallId, EarlierCall, Workspace};
use progress::Reporter;
use variables::Value;

mod access;
mod arguments;
mod ask;
mod builder;
mod caller;
mod env;
mod extract;
#[cfg(feature = "host")]
mod filing;
#[cfg(feature = "host")]
mod gated;
pub(crate) mod progress;
mod scope;
mod secrets;
mod services;
mod slug;
#[cfg(feature = "seal")]
mod stored;
mod trace;
pub mod variables;

pub use access::{Reads, Writes};
pub(crate) use arguments::{check, misfit, unfit};
pub use ask::{Answer, Asker, Question};
pub use builder::{Deadline, ToolContextBuilder};
pub use extract::{FromContext, FromSecret, FromVariable};
#[cfg(feature = "host")]
pub(crate) use filing::{Behind, Deferred, Filing};
#[cfg(feature = "host")]
pub use gated::next_identity;
#[cfg(feature = "host")]
pub(crate) use gated::{Gated, TypedOutput};
pub(crate) use scope::{CallScope, RunningTool, Standing, StandingRules, ToolFacts};
pub use services::{
    ApiKeys, Attachment, AttachmentBody, AttachmentKind, Attachments, ConversationState, History,
    HistoryMessage, HistoryRole, OAuth, OAuthToken, StatePlace, StateStore, TokenSource,
};
pub use slug::{InstanceSlug, Instances, ResolveInstance, SlugError};
pub use trace::{TraceContext, TraceContextError};

/// The caller, the deadline and the host's values of one turn. Cheap to clone.
///
/// A host builds one context per turn and passes it to every call of the turn. Inside a call, the context also describes that call.
///
/// ```
/// use std::time::Duration;
/// use tool_core::{SecretString, ToolContext};
///
/// let cx = ToolContext::builder()
///     .agent("support")
///     .user("u-17")
///     .workspace("acme")
///     .deadline(Duration::from_secs(30))
///     .secret("docs_api_key", SecretString::from("sk-…"))
///     .build();
/// assert_eq!(cx.user(), Some("u-17"));
/// assert!(cx.remaining().is_some_and(|left| left <= Duration::from_secs(30)));
/// assert_eq!(cx.session(), None);
/// ```
#[derive(Clone)]
#[doc(alias("RunContext", "Context", "dependency injection", "deps"))]
pub struct ToolContext {
    place: Place,
    /// Whether host values may be read: true while `FromContext` runs, and outside of a call.
    open: bool,
}

/// The turn or the call that a context belongs to. A clone of `Turn` or `Call` increments only one reference count, because the scope of a call
/// contains the host.
#[derive(Clone)]
enum Place {
    Turn(Arc<Host>),
    Call(Arc<CallScope>),
    /// A call, with a different host for the calls that it makes.
    Within(Arc<CallScope>, Arc<Host>),
}

/// Context service that marks a call that its turn passes on to the client.
#[cfg(feature = "host")]
struct PassedToClient;

/// The values of a whole turn, and the identity of the call that is made next.
#[derive(Clone, Default)]
pub(crate) struct Host {
    agent: Option<String>,
    user: Option<String>,
    runtime_user: Option<String>,
    service_user: Option<String>,
    workspace: Option<Workspace>,
    session: Option<String>,
    conversation: Option<Arc<str>>,
    /// The identity of the call that is made next. A call without an identity does not belong to a thread.
    next: Option<CallId>,
    /// The name of that call in earlier versions of this crate, which had no call identities.
    earlier: Option<EarlierCall>,
    /// Whether a turn has taken that call from the thread of the conversation.
    #[cfg(feature = "host")]
    in_turn: bool,
    provider: Option<Dialect>,
    model_provider: Option<String>,
    cancellation: Option<CancellationToken>,
    deadline: Option<Instant>,
    secrets: BTreeMap<String, SecretString>,
    variables: BTreeMap<String, Value>,
    extensions: HashMap<TypeId, Arc<dyn Any + Send + Sync>>,
    /// Redacts the secrets that the host supplied.
    redactor: OnceLock<Redactor>,
    /// The tokens that tools got from the host's `TokenSource`, if the host has one.
    learned: Option<Arc<secrets::RequestedTokens>>,
    /// Adds the secrets to the host's shared redactor, until the last copy of the context is dropped.
    lease: Option<Arc<Lease>>,
    trace: Option<TraceContext>,
    /// The request to store the result of the call that is made next.
    #[cfg(feature = "host")]
    filing: Option<Arc<Filing>>,
}

impl Host {
    /// Sets the identity of the next call of the model.
    fn next_call(&mut self, call: CallId, earlier: Option<EarlierCall>) {
        (self.next, self.earlier) = (Some(call), earlier);
        #[cfg(feature = "host")]
        {
            self.filing = None;
            self.in_turn = false;
        }
    }

    /// Returns the host value of a type.
    fn value<T: 'static>(&self) -> Option<&T> {
        self.extensions.get(&TypeId::of::<T>())?.downcast_ref()
    }
}

impl ToolContext {
    /// Returns a builder for a context.
    pub fn builder() -> ToolContextBuilder {
        ToolContextBuilder::default()
    }

    /// Creates a context without a caller and without values.
    pub fn anonymous() -> Self {
        Self::builder().build()
    }

    fn of(host: Host) -> Self {
        Self {
            place: Place::Turn(Arc::new(host)),
            open: true,
        }
    }

    fn host(&self) -> &Arc<Host> {
        match &self.place {
            Place::Turn(host) | Place::Within(_, host) => host,
            Place::Call(scope) => &scope.host,
        }
    }

    /// Returns the same context with a changed host. The new host gets the cancellation token of the running call, so that nested calls are cancelled
    /// with it.
    fn with_host(&self, change: impl FnOnce(&mut Host)) -> Self {
        let mut host = Host::clone(self.host());
        host.cancellation = self.cancellation().cloned();
        change(&mut host);
        let host = Arc::new(host);
        let place = match self.scope() {
            None => Place::Turn(host),
            Some(scope) => Place::Within(Arc::clone(scope), host),
        };
        Self {
            place,
            open: self.open,
        }
    }

    /// Returns a builder that has the values of this turn, for a turn of a different conversation or agent, such as the turn of a sub-agent. Set the
    /// conversation and the agent on it; the calls of the new turn have their own identities.
    ///
    /// A body reads only the values that its tool declares. So inside of a call, the builder has only the caller (workspace, users, session, agent
    /// and conversation), the provider, the trace, the deadline and the cancellation of the call, and neither secrets nor variables nor host values.
    ///
    /// ```
    /// use tool_core::ToolContext;
    ///
    /// let cx = ToolContext::builder().workspace("acme").user("ann").conversation("main").variable("REGION", "eu").build();
    /// let below = cx.derive().conversation("research-1").agent("researcher").without_variable("REGION").build();
    /// assert_eq!((below.workspace(), below.user(), below.conversation()), (Some("acme"), Some("ann"), Some("research-1")));
    /// assert_eq!(below.variable("REGION"), None);
    /// ```
    pub fn derive(&self) -> ToolContextBuilder {
        let mut host = Host::clone(self.host());
        host.cancellation = self.cancellation().cloned();
        host.deadline = self.deadline();
        (host.next, host.earlier) = (None, None);
        #[cfg(feature = "host")]
        {
            host.filing = None;
            host.in_turn = false;
        }
        // The new turn may have other secrets.
        host.redactor = OnceLock::new();
        let shared = host.lease.take().map(|lease| lease.shared().clone());
        if self.scope().is_some() {
            host.secrets.clear();
            host.variables.clear();
            host.extensions.clear();
            host.learned = None;
        }
        ToolContextBuilder::of(host, shared)
    }

    /// Returns the same context for the call of the model that has this identity. Hosts with their own loop pass it to
    /// [`Toolset::call`](crate::Toolset::call), so that the gate recognizes the call when it is dispatched again; [`Turns`](crate::turn::Turns) does this
    /// itself.
    ///
    /// A call with an identity that was used before is refused if it differs from the earlier call. A call is also refused if its identity
    /// belongs to a different workspace or conversation than the context.
    ///
    /// ```
    /// use tool_core::ToolContext;
    /// use tool_core::store::{CallId, ThreadId};
    ///
    /// let cx = ToolContext::builder().workspace("acme").conversation("main").build();
    /// let thread = ThreadId::new("acme", "main")?;
    /// // The second call of the assistant's message that the host has stored as the fourth of the thread.
    /// let cx = cx.for_call(CallId::in_thread(&thread, 4, 1));
    /// # Ok::<(), tool_core::store::StoreError>(())
    /// ```
    #[must_use]
    pub fn for_call(&self, call: CallId) -> Self {
        self.with_host(|host| host.next_call(call, None))
    }

    /// Does the same as [`for_call`](Self::for_call), for a call that a turn has taken from the thread of the conversation: a run with this identity
    /// is an earlier run of the call, regardless of its user and agent. `earlier` is the name of the call in earlier versions of this crate, which
    /// had no call identities and may have written a row for it.
    #[cfg(feature = "host")]
    pub(crate) fn for_call_of(&self, call: CallId, earlier: Option<EarlierCall>) -> Self {
        self.with_host(|host| {
            host.next_call(call, earlier);
            host.in_turn = true;
        })
    }

    /// Returns the same context with a different cancellation token.
    #[cfg(feature = "host")]
    pub(crate) fn with_cancellation(&self, cancellation: CancellationToken) -> Self {
        self.with_host(|host| host.cancellation = Some(cancellation))
    }

    /// Returns the same context with one more host value.
    pub(crate) fn with_service<T: Send + Sync + 'static>(&self, value: T) -> Self {
        self.with_host(|host| {
            host.extensions.insert(TypeId::of::<T>(), Arc::new(value));
        })
    }

    /// Returns the same context for calls that act as a user. If `is_default`, a runtime user that the host set has priority.
    pub(crate) fn acting_as(&self, user: &str, is_default: bool) -> Self {
        self.with_host(|host| {
            let place = if is_default {
                &mut host.service_user
            } else {
                &mut host.runtime_user
            };
            *place = Some(user.to_owned());
        })
    }

    /// Returns the same context for calls that an agent makes.
    #[cfg(feature = "host")]
    pub(crate) fn of_agent(&self, agent: &str) -> Self {
        self.with_host(|host| host.agent = Some(agent.to_owned()))
    }

    /// Returns the same context for a call that its turn passes on to the client.
    #[cfg(feature = "host")]
    pub(crate) fn handing_over_client_calls(&self) -> Self {
        self.with_service(PassedToClient)
    }

    /// Returns whether a turn passes the running call on to the client.
    #[cfg(feature = "host")]
    pub(crate) fn hands_over_client_calls(&self) -> bool {
        self.has_service::<PassedToClient>()
    }

    /// Returns the same context without the host value of a type.
    fn without_service<T: 'static>(&self) -> Self {
        self.with_host(|host| {
            host.extensions.remove(&TypeId::of::<T>());
        })
    }

    /// Creates the context of a call. `open` creates the call's scope from the caller's host.
    pub(crate) fn enter(&self, open: impl FnOnce(Arc<Host>) -> CallScope) -> Self {
        let scope = open(Arc::clone(self.host()));
        Self {
            place: Place::Call(Arc::new(scope)),
            open: false,
        }
    }

    /// Returns the scope of the running call; `None` outside of a call.
    pub(crate) fn scope(&self) -> Option<&Arc<CallScope>> {
        match &self.place {
            Place::Turn(_) => None,
            Place::Call(scope) | Place::Within(scope, _) => Some(scope),
        }
    }

    /// Returns the scope of the running call. Panics outside of a call; the steps of a call always have a scope.
    pub(crate) fn served(&self) -> &CallScope {
        match self.scope() {
            Some(scope) => scope,
            None => unreachable!("the context of a call is made from its scope"),
        }
    }

    /// Returns the scope of a call, if this context is its only owner.
    pub(crate) fn served_mut(&mut self) -> Option<&mut CallScope> {
        match &mut self.place {
            Place::Turn(_) => None,
            Place::Call(scope) | Place::Within(scope, _) => Arc::get_mut(scope),
        }
    }

    /// Returns the token that stops the calls of this context: the token of the call if it passes a gate, else the token of the turn.
    pub(crate) fn cancellation(&self) -> Option<&CancellationToken> {
        #[cfg(feature = "host")]
        if let Place::Call(scope) = &self.place
            && let Some(stop) = scope.stop()
        {
            return Some(stop);
        }
        self.host().cancellation.as_ref()
    }

    /// Returns whether [`cancellation`](Self::cancellation) was cancelled. Creates no token.
    pub(crate) fn is_stopped(&self) -> bool {
        #[cfg(feature = "host")]
        if let Place::Call(scope) = &self.place
            && scope.is_stopped()
        {
            return true;
        }
        let turn = self.host().cancellation.as_ref();
        turn.is_some_and(CancellationToken::is_cancelled)
    }

    /// Returns whether [`cancellation`](Self::cancellation) returns a token. Creates no token.
    pub(crate) fn can_be_stopped(&self) -> bool {
        #[cfg(feature = "host")]
        if let Place::Call(scope) = &self.place
            && scope.gated.is_some()
        {
            return true;
        }
        self.host().cancellation.is_some()
    }

    /// Returns the model's own id of the running call; `None` outside of a call. Models repeat ids: among all calls of the host, a call is
    /// identified by its [`identity`](Self::identity).
    pub fn call_id(&self) -> Option<&str> {
        self.scope().map(|scope| scope.call.id.as_str())
    }

    /// Returns the name of the running tool; `None` outside of a call.
    pub fn tool_name(&self) -> Option<&str> {
        self.scope().map(|scope| scope.tool.name())
    }

    /// Returns a secret of the host; `None` if the host does not have it, or if the running tool does not declare it.
    pub fn secret(&self, key: &str) -> Option<&SecretString> {
        let declared = self
            .scope()
            .is_none_or(|scope| scope.tool.secrets().iter().any(|need| need.key == key));
        declared.then(|| self.host().secrets.get(key)).flatten()
    }

    /// Returns whether the host has a secret with this key that is not empty.
    pub(crate) fn holds_secret(&self, key: &str) -> bool {
        let secret = self.host().secrets.get(key);
        secret.is_some_and(|secret| !secret.expose_secret().is_empty())
    }

    /// Returns a host value. Inside a call, fails with `Denied` if the effect of the running tool does not cover the effect of the value. Also fails
    /// if [`FromContext::from_context`] fails, for example because the host has not added the value.
    pub fn get<T: FromContext>(&self) -> Result<T, ToolError> {
        if let Some(scope) = self.scope() {
            let missing = T::EFFECT.beyond(scope.tool.effect());
            if !missing.is_none() {
                return Err(ToolError::of(ErrorKind::Denied, "the tool asked for a value that it does not declare").operator(format!(
                    "`{}` asked for `{}`, whose effect `{missing}` it does not declare: take it as a parameter, or declare the effect",
                    scope.tool.name(),
                    type_name::<T>()
                )));
            }
        }
        self.extract(T::from_context)
    }

    /// Runs `FromContext::from_context` with access to the host's values.
    pub(crate) fn extract<T>(
        &self,
        take: fn(&Self) -> Result<T, ToolError>,
    ) -> Result<T, ToolError> {
        take(&Self {
            open: true,
            ..self.clone()
        })
    }

    /// Returns a value that the host added with [`ToolContextBuilder::with`].
    ///
    /// This is for implementations of [`FromContext`]. In the body of a tool it returns `None`, because a value taken here would
    /// not count towards the tool's effect. Use [`get`](ToolContext::get) or a parameter there.
    pub fn extension<T: Clone + Send + Sync + 'static>(&self) -> Option<T> {
        if !self.open {
            return None;
        }
        self.service()
    }

    /// Returns a host value for this crate's own use, also inside a call.
    pub(crate) fn service<T: Clone + 'static>(&self) -> Option<T> {
        self.host().value().cloned()
    }

    /// Returns whether the context has a host value of a type.
    pub(crate) fn has_service<T: 'static>(&self) -> bool {
        self.host().value::<T>().is_some()
    }

    /// Reports progress to the client; it is never sent to the model. Does nothing outside of a call, if no client listens, or if the step cannot be
    /// serialized.
    ///
    /// This never waits. If the client reads more slowly than the tool reports, at most 256 steps of at most 1 MiB in total are kept, or one longer
    /// step: the oldest steps are dropped. A [`ToolStream`](crate::ToolStream) waits for its reader instead, and loses no step.
    pub fn progress<T: Serialize + ?Sized>(&self, step: &T) {
        if self.scope().is_some_and(|scope| scope.progress.is_some())
            && let Ok(json) = serde_json::value::to_raw_value(step)
        {
            self.send_progress(json);
        }
    }

    /// Sends `Started` when the call's body begins. A body that runs several times sends it only once.
    pub(crate) fn tell_started(&self) {
        if let Some(scope) = self.scope()
            && let Some(sender) = &scope.progress
            && !scope.begun.swap(true, Ordering::Relaxed)
        {
            sender.started();
        }
    }

    /// Does nothing, because gates need the feature `host`.
    #[cfg(not(feature = "host"))]
    #[expect(
        clippy::unused_self,
        reason = "same signature as with the feature `host`"
    )]
    pub(crate) fn set_returned(&self) {}

    /// Does nothing, because gates need the feature `host`.
    #[cfg(not(feature = "host"))]
    #[expect(
        clippy::unused_self,
        reason = "same signature as with the feature `host`"
    )]
    pub(crate) fn set_inside(&self, _: bool) {}

    fn send_progress(&self, step: Box<RawValue>) -> Option<&Reporter> {
        let step = self.redactor().clean(step).into_inner();
        let reporter = self.scope()?.progress.as_ref()?;
        reporter.step(step).then_some(reporter)
    }

    /// Adds a step of a stream and waits until it is read, so that a stream that never waits cannot fill the memory.
    pub(crate) async fn yield_progress(&self, step: Box<RawValue>) {
        if let Some(reporter) = self.send_progress(step) {
            reporter.read().await;
        }
    }

    /// Adds a source of the output. The result contains it separately from the output, for the client. Does nothing outside of a call.
    pub fn cite(&self, citation: Citation) {
        if let Some(scope) = self.scope() {
            scope
                .citations
                .lock()
                .unwrap_or_else(PoisonError::into_inner)
                .push(citation);
        }
    }

    /// Returns the time that is left until the deadline of the call, or of the turn outside of a call; `None` without a deadline.
    pub fn remaining(&self) -> Option<Duration> {
        self.deadline()
            .map(|deadline| deadline.saturating_duration_since(Instant::now()))
    }

    pub(crate) fn deadline(&self) -> Option<Instant> {
        self.scope()
            .map_or(self.host().deadline, |scope| scope.deadline)
    }

    /// Returns whether the work should stop: the call was cancelled, is past its deadline, or was dropped by its caller.
    ///
    /// Async code is dropped and need not check this. Blocking code cannot be dropped and should check it.
    pub fn is_cancelled(&self) -> bool {
        self.is_stopped()
            || self
                .scope()
                .is_some_and(|scope| scope.ended.load(Ordering::Relaxed))
            || self
                .deadline()
                .is_some_and(|deadline| deadline <= Instant::now())
    }

    /// Waits until the call is cancelled or the deadline passes; never completes if there is neither a token nor a deadline.
    pub async fn cancelled(&self) {
        let cancelled = async {
            match self.cancellation() {
                Some(token) => token.cancelled().await,
                None => std::future::pending().await,
            }
        };
        match self.deadline() {
            Some(deadline) => {
                let _ = tokio::time::timeout_at(deadline, cancelled).await;
            }
            None => cancelled.await,
        }
    }
}

/// Prints the caller and the call, never secrets or other values.
impl fmt::Debug for ToolContext {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ToolContext")
            .field("agent", &self.host().agent)
            .field("user", &self.host().user)
            .field("workspace", &self.host().workspace)
            .field("call_id", &self.call_id())
            .field("tool", &self.tool_name())
            .finish_non_exhaustive()
    }
}

impl CallResult {
    /// Creates the result of a call that did not run, with the secrets of the context's turn redacted.
    pub(crate) fn refused_in(cx: &ToolContext, call: ToolCall, error: ToolError) -> Self {
        Self::masked(&cx.redactor(), cx.shared_conversation(), call, error)
    }
}
