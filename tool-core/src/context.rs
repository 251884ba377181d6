//! What a tool knows about the call it serves, and what the host gives it.

use std::any::{Any, TypeId, type_name};
use std::collections::{BTreeMap, HashMap};
use std::fmt;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::time::Duration;

use secrecy::{ExposeSecret, SecretString};
use serde::Serialize;
use serde_json::value::RawValue;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use crate::call::ToolCall;
use crate::error::{ErrorKind, ToolError};
use crate::gate::Standing;
use crate::output::Citation;
use crate::redact::{Lease, Redactor};
use crate::schema::dialect::Dialect;
use crate::store::{CallId, EarlierCall, Workspace};
use crate::tool::ToolDef;
use progress::Reporter;
use variables::Value;

mod access;
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
mod secrets;
mod services;
mod slug;
mod trace;
mod uses;
pub mod variables;

pub use access::{Reads, Writes};
pub use ask::{Answer, Asker, Question};
pub use builder::{Deadline, ToolContextBuilder};
pub use extract::{FromContext, FromSecret, FromVariable};
#[cfg(feature = "host")]
pub(crate) use filing::{Behind, Deferred, Filing};
#[cfg(feature = "host")]
pub use gated::next_identity;
#[cfg(feature = "host")]
pub(crate) use gated::{Gated, TypedOutput};
pub use services::{
    ApiKeys, Attachment, AttachmentBody, AttachmentKind, Attachments, ConversationState, History,
    OAuth, OAuthToken, Said, Speaker, StatePlace, StateStore, TokenSource,
};
pub use slug::{InstanceSlug, Instances, ResolveInstance, SlugError};
pub use trace::{TraceContext, TraceContextError};
pub use uses::{At, UsedTools, Uses, UsesTool};

/// Who is asking, for how long, and with what: one per turn, cheap to clone.
///
/// A host builds it once and passes it to every call of the turn; inside a call it also knows that call.
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
    /// Host values may be read: true where `FromContext` runs, and outside of a call.
    open: bool,
}

/// What a context is of. A clone inside of a call counts one holder, because the scope of the call holds the host.
#[derive(Clone)]
enum Place {
    Turn(Arc<Host>),
    Call(Arc<CallScope>),
    /// A call, with another host for the calls that it makes.
    Within(Arc<CallScope>, Arc<Host>),
}

/// What holds for the whole turn.
#[derive(Clone, Default)]
pub(crate) struct Host {
    agent: Option<String>,
    user: Option<String>,
    runtime_user: Option<String>,
    service_user: Option<String>,
    workspace: Option<Workspace>,
    session: Option<String>,
    conversation: Option<Arc<str>>,
    /// The identity of the call that is made next; a call without one is outside of a thread.
    next: Option<CallId>,
    /// What a version before 0.2 called that call.
    earlier: Option<EarlierCall>,
    /// A turn has taken that call from the thread of the conversation.
    #[cfg(feature = "host")]
    in_turn: bool,
    provider: Option<Dialect>,
    model_provider: Option<String>,
    cancellation: Option<CancellationToken>,
    deadline: Option<Instant>,
    secrets: BTreeMap<String, SecretString>,
    variables: BTreeMap<String, Value>,
    extensions: HashMap<TypeId, Arc<dyn Any + Send + Sync>>,
    /// Masks what the host gave.
    redactor: OnceLock<Redactor>,
    /// What tools got from the host's `TokenSource`, where there is one.
    learned: Option<Arc<secrets::Learned>>,
    /// What the host prints with knows the secrets as well, until the last context that is derived from this one is dropped.
    lease: Option<Arc<Lease>>,
    trace: Option<TraceContext>,
    /// Where the result of the call that is made next is stored.
    #[cfg(feature = "host")]
    filing: Option<Arc<Filing>>,
}

/// What holds for one call.
pub(crate) struct CallScope {
    /// What holds for the turn.
    pub(crate) host: Arc<Host>,
    pub(crate) call: ToolCall,
    /// What the tool reads, where it is not what the model wrote.
    pub(crate) corrected: Option<String>,
    /// What can still take the tool away.
    pub(crate) standing: Standing,
    pub(crate) def: ToolDef,
    pub(crate) deadline: Option<Instant>,
    pub(crate) progress: Option<Reporter>,
    #[cfg(feature = "host")]
    pub(crate) gated: Option<Box<Gated>>,
    pub(crate) citations: Mutex<Vec<Citation>>,
    /// Bytes that the output will have, if it is as long as those before it.
    pub(crate) room: usize,
    /// The run is over, or was dropped: what still works in the background should stop.
    pub(crate) ended: AtomicBool,
    /// Blocking work was left behind.
    pub(crate) detached: AtomicBool,
    /// The body has begun for the first time, and whoever listens knows it.
    pub(crate) begun: AtomicBool,
    /// The call's own place in a distributed trace.
    #[cfg(feature = "otel")]
    pub(crate) trace: OnceLock<TraceContext>,
}

impl CallScope {
    /// The arguments as the tool reads them.
    pub(crate) fn arguments(&self) -> &str {
        self.corrected.as_deref().unwrap_or(&self.call.arguments)
    }

    /// Whether a body that has ended with an error may run again later: its tool says that it is idempotent, or that it does nothing but
    /// by calls, which have rows of their own.
    #[cfg(feature = "host")]
    pub(crate) fn may_run_again(&self) -> bool {
        self.def.hints().idempotent || self.def.only_calls()
    }
}

impl Host {
    /// Makes it the host of one call of the model.
    fn next_call(&mut self, call: CallId, earlier: Option<EarlierCall>) {
        (self.next, self.earlier) = (Some(call), earlier);
        #[cfg(feature = "host")]
        {
            self.filing = None;
            self.in_turn = false;
        }
    }

    /// What was put in of a type.
    fn value<T: 'static>(&self) -> Option<&T> {
        self.extensions.get(&TypeId::of::<T>())?.downcast_ref()
    }
}

impl ToolContext {
    /// Starts a context.
    pub fn builder() -> ToolContextBuilder {
        ToolContextBuilder::default()
    }

    /// A context that knows nobody and holds nothing.
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

    /// The same place with another host. What stops a call stops the calls that are made with it.
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

    /// The same caller, for one call of the model: the one with this identity. Hosts with a loop of their own give it to
    /// [`Toolset::call`](crate::Toolset::call), so that the gate knows the call when it is dispatched again;
    /// [`Turns`](crate::turn::Turns) does so by itself.
    ///
    /// A call with the context of another call's identity is refused where it differs from that call, and a call whose identity belongs
    /// to another workspace or conversation than the context is refused.
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

    /// [`for_call`](Self::for_call) for a call that a turn has taken from the thread of the conversation: what has run at its place is
    /// an earlier run of it, whoever drove the conversation then. There may be a row of it that a version before 0.2 wrote.
    #[cfg(feature = "host")]
    pub(crate) fn for_call_of(&self, call: CallId, earlier: Option<EarlierCall>) -> Self {
        self.with_host(|host| {
            host.next_call(call, earlier);
            host.in_turn = true;
        })
    }

    /// The same caller, cancelled by another token.
    #[cfg(feature = "host")]
    pub(crate) fn with_cancellation(&self, cancellation: CancellationToken) -> Self {
        self.with_host(|host| host.cancellation = Some(cancellation))
    }

    /// The same caller, served with one value more.
    pub(crate) fn with_service<T: Send + Sync + 'static>(&self, value: T) -> Self {
        self.with_host(|host| {
            host.extensions.insert(TypeId::of::<T>(), Arc::new(value));
        })
    }

    /// The same caller, served with one value less.
    fn without_service<T: 'static>(&self) -> Self {
        self.with_host(|host| {
            host.extensions.remove(&TypeId::of::<T>());
        })
    }

    /// The context of a call, whose scope `open` makes with the host of the caller.
    pub(crate) fn enter(&self, open: impl FnOnce(Arc<Host>) -> CallScope) -> Self {
        let scope = open(Arc::clone(self.host()));
        Self {
            place: Place::Call(Arc::new(scope)),
            open: false,
        }
    }

    /// The call that is served; `None` outside of a call.
    pub(crate) fn scope(&self) -> Option<&Arc<CallScope>> {
        match &self.place {
            Place::Turn(_) => None,
            Place::Call(scope) | Place::Within(scope, _) => Some(scope),
        }
    }

    /// The call that is served. The steps of a call have a context of one.
    pub(crate) fn served(&self) -> &CallScope {
        match self.scope() {
            Some(scope) => scope,
            None => unreachable!("the context of a call is made from its scope"),
        }
    }

    /// The scope of a call, where this context is its only holder.
    pub(crate) fn served_mut(&mut self) -> Option<&mut CallScope> {
        match &mut self.place {
            Place::Turn(_) => None,
            Place::Call(scope) | Place::Within(scope, _) => Arc::get_mut(scope),
        }
    }

    /// What stops the calls of this context: the token of the call where a gate gave it one, else that of the turn.
    pub(crate) fn cancellation(&self) -> Option<&CancellationToken> {
        #[cfg(feature = "host")]
        if let Place::Call(scope) = &self.place
            && let Some(stop) = scope.stop()
        {
            return Some(stop);
        }
        self.host().cancellation.as_ref()
    }

    /// Whether [`cancellation`](Self::cancellation) was cancelled. Makes no token.
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

    /// Whether [`cancellation`](Self::cancellation) returns a token. Makes no token.
    pub(crate) fn can_be_stopped(&self) -> bool {
        #[cfg(feature = "host")]
        if let Place::Call(scope) = &self.place
            && scope.gated.is_some()
        {
            return true;
        }
        self.host().cancellation.is_some()
    }

    /// The model's own id of the call that is served; `None` outside of a call. Models repeat ids: what names a call among all calls of
    /// the host is its [`identity`](Self::identity).
    pub fn call_id(&self) -> Option<&str> {
        self.scope().map(|scope| scope.call.id.as_str())
    }

    /// The tool that is running; `None` outside of a call.
    pub fn tool_name(&self) -> Option<&str> {
        self.scope().map(|scope| scope.def.name())
    }

    /// A secret that the running tool has declared; `None` where it has not, or the host has none.
    pub fn secret(&self, key: &str) -> Option<&SecretString> {
        let declared = self
            .scope()
            .is_none_or(|scope| scope.def.secrets().iter().any(|need| need.key == key));
        declared.then(|| self.host().secrets.get(key)).flatten()
    }

    /// Whether the host has a secret that is not empty.
    pub(crate) fn holds_secret(&self, key: &str) -> bool {
        let secret = self.host().secrets.get(key);
        secret.is_some_and(|secret| !secret.expose_secret().is_empty())
    }

    /// A host value, if the running tool's effect covers that of the value.
    pub fn get<T: FromContext>(&self) -> Result<T, ToolError> {
        if let Some(scope) = self.scope() {
            let missing = T::EFFECT.beyond(scope.def.effect());
            if !missing.is_none() {
                return Err(ToolError::of(ErrorKind::Denied, "the tool asked for more than it may do").operator(format!(
                    "`{}` asked for `{}`, whose effect `{missing}` it does not have: take it as a parameter, or declare the effect",
                    scope.def.name(),
                    type_name::<T>()
                )));
            }
        }
        self.extract(T::from_context)
    }

    /// Runs a `FromContext::from_context` with the host's values open to it.
    pub(crate) fn extract<T>(
        &self,
        take: fn(&Self) -> Result<T, ToolError>,
    ) -> Result<T, ToolError> {
        take(&Self {
            open: true,
            ..self.clone()
        })
    }

    /// A value that the host put in with [`ToolContextBuilder::with`].
    ///
    /// This is for implementations of [`FromContext`]. In the body of a tool it gives `None`, because a value taken here would
    /// not count towards the tool's effect: there, say [`get`](ToolContext::get) or take a parameter.
    pub fn extension<T: Clone + Send + Sync + 'static>(&self) -> Option<T> {
        if !self.open {
            return None;
        }
        self.service()
    }

    /// A value that the host put in, for this crate: what a tool is served with, not what it holds.
    pub(crate) fn service<T: Clone + 'static>(&self) -> Option<T> {
        self.host().value().cloned()
    }

    /// Tells the client how far the call is; the model never sees it. Does nothing where nobody listens.
    ///
    /// It never waits. Where the client reads more slowly than the tool reports, at most 256 steps, or 1 MiB of them, are kept: the oldest
    /// one is dropped for the newest. A [`ToolStream`](crate::ToolStream) waits for its reader instead, and loses no step.
    pub fn progress<T: Serialize + ?Sized>(&self, step: &T) {
        if self.scope().is_some_and(|scope| scope.progress.is_some())
            && let Ok(json) = serde_json::value::to_raw_value(step)
        {
            self.send_progress(json);
        }
    }

    /// Tells whoever listens that the call's body begins; once, however often it runs.
    pub(crate) fn tell_started(&self) {
        if let Some(scope) = self.scope()
            && let Some(sender) = &scope.progress
            && !scope.begun.swap(true, Ordering::Relaxed)
        {
            sender.started();
        }
    }

    /// Notes that the body has returned an output. Without a gate, nothing is kept.
    #[cfg(not(feature = "host"))]
    #[expect(clippy::unused_self, reason = "as with the feature `host`")]
    pub(crate) fn set_returned(&self) {}

    /// Notes whether the body runs. Without a gate, nothing is kept.
    #[cfg(not(feature = "host"))]
    #[expect(clippy::unused_self, reason = "as with the feature `host`")]
    pub(crate) fn set_inside(&self, _: bool) {}

    fn send_progress(&self, step: Box<RawValue>) -> Option<&Reporter> {
        let step = self.redactor().clean(step).into_inner();
        let reporter = self.scope()?.progress.as_ref()?;
        reporter.step(step).then_some(reporter)
    }

    /// Adds a step of a stream, and waits until it was read: a stream that never waits itself must not pile up.
    pub(crate) async fn yield_progress(&self, step: Box<RawValue>) {
        if let Some(reporter) = self.send_progress(step) {
            reporter.read().await;
        }
    }

    /// Says where the output comes from. Kept beside the output, for the client.
    pub fn cite(&self, citation: Citation) {
        if let Some(scope) = self.scope() {
            scope
                .citations
                .lock()
                .unwrap_or_else(PoisonError::into_inner)
                .push(citation);
        }
    }

    /// When the call has to end, as what is left of it.
    pub fn remaining(&self) -> Option<Duration> {
        self.deadline()
            .map(|deadline| deadline.saturating_duration_since(Instant::now()))
    }

    pub(crate) fn deadline(&self) -> Option<Instant> {
        self.scope()
            .map_or(self.host().deadline, |scope| scope.deadline)
    }

    /// Whether the work should stop: cancelled, past its deadline, or given up by its caller.
    ///
    /// Async code is dropped and need not ask. Blocking code cannot be dropped and should.
    pub fn is_cancelled(&self) -> bool {
        self.is_stopped()
            || self
                .scope()
                .is_some_and(|scope| scope.ended.load(Ordering::Relaxed))
            || self
                .deadline()
                .is_some_and(|deadline| deadline <= Instant::now())
    }

    /// Waits until the turn is cancelled or the deadline passes; for ever where there is neither.
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

/// Names who asks; never what they hold.
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
