//! Builder of a [`ToolContext`].

use std::any::TypeId;
use std::sync::Arc;
use std::time::Duration;

use secrecy::{ExposeSecret, SecretString};
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use super::services::{
    ApiKeys, Attachment, Attachments, History, HistoryMessage, StateStore, States, TokenSource,
    Tokens,
};
use super::variables::{Resolved, Value};
use super::{Host, InstanceSlug, ResolveInstance, ToolContext, TraceContext};
use crate::redact::SharedRedactor;
use crate::schema::dialect::Dialect;
use crate::store::Workspace;

/// A point in time, for [`ToolContextBuilder::deadline`].
pub struct Deadline(Option<Instant>);

impl From<Duration> for Deadline {
    fn from(left: Duration) -> Self {
        // A time beyond the range of the clock means no deadline.
        Self(Instant::now().checked_add(left))
    }
}

impl From<Instant> for Deadline {
    fn from(end: Instant) -> Self {
        Self(Some(end))
    }
}

impl From<std::time::Instant> for Deadline {
    fn from(end: std::time::Instant) -> Self {
        Self(Some(end.into()))
    }
}

/// Builds a [`ToolContext`]. All settings are optional.
#[derive(Default)]
#[must_use]
pub struct ToolContextBuilder(pub(super) Host, Option<SharedRedactor>);

impl ToolContextBuilder {
    /// Creates a builder with the values of a context. The secrets of the context to build are added to `shared`.
    pub(super) fn of(host: Host, shared: Option<SharedRedactor>) -> Self {
        Self(host, shared)
    }

    /// Sets the agent that makes the calls.
    pub fn agent(mut self, agent: impl Into<String>) -> Self {
        self.0.agent = Some(agent.into());
        self
    }

    /// Sets the user on whose behalf the agent acts.
    pub fn user(mut self, user: impl Into<String>) -> Self {
        self.0.user = Some(user.into());
        self
    }

    /// Sets the user on whose behalf tools call other systems, in place of the workspace's service user.
    pub fn runtime_user(mut self, user: impl Into<String>) -> Self {
        self.0.runtime_user = Some(user.into());
        self
    }

    /// Sets the workspace's own user, on whose behalf tools act if there is no runtime user.
    pub fn service_user(mut self, user: impl Into<String>) -> Self {
        self.0.service_user = Some(user.into());
        self
    }

    /// Sets the workspace by a slug that is already validated.
    pub fn instance(self, slug: &InstanceSlug) -> Self {
        self.workspace(slug.as_str())
    }

    /// Sets the resolver for the UUIDs of workspaces; see [`Instances`](crate::Instances).
    pub fn instances(self, resolver: impl ResolveInstance) -> Self {
        self.with(super::slug::Resolver(Arc::new(resolver)))
    }

    /// Sets the name of the workspace (the tenant), such as its slug.
    pub fn workspace(mut self, workspace: impl Into<String>) -> Self {
        self.0.workspace = Some(Workspace::new(workspace.into()));
        self
    }

    /// Sets the id of the session.
    pub fn session(mut self, session: impl Into<String>) -> Self {
        self.0.session = Some(session.into());
        self
    }

    /// Sets the id of the conversation.
    pub fn conversation(mut self, conversation: impl Into<String>) -> Self {
        self.0.conversation = Some(conversation.into().into());
        self
    }

    /// Sets the name of the AI provider that the workspace uses.
    pub fn model_provider(mut self, name: impl Into<String>) -> Self {
        self.0.model_provider = Some(name.into());
        self
    }

    /// Adds the workspace's key for an AI provider; see [`ApiKeys`]. The key is redacted like a secret.
    pub fn api_key(mut self, provider: impl Into<String>, key: impl Into<SecretString>) -> Self {
        let ApiKeys(mut keys) = self.take::<ApiKeys>().unwrap_or_default();
        Arc::make_mut(&mut keys).insert(provider.into(), key.into());
        self.with(ApiKeys(keys))
    }

    /// Sets the files of the user's message of this turn; see [`Attachments`].
    pub fn attachments(self, files: Vec<Attachment>) -> Self {
        self.with(Attachments::new(files))
    }

    /// Sets the conversation so far, including the user's message of this turn; see [`History`].
    pub fn history(self, messages: Vec<HistoryMessage>) -> Self {
        self.with(History::new(messages))
    }

    /// Sets the store for the state of conversations; see [`ConversationState`](crate::ConversationState).
    pub fn state(self, store: Arc<dyn StateStore>) -> Self {
        self.with(States(store))
    }

    /// Sets the source of tokens for other services; see [`OAuth`](crate::OAuth). A token is redacted from the time at which a tool gets it.
    pub fn oauth(mut self, source: Arc<dyn TokenSource>) -> Self {
        self.0.learned = Some(Arc::default());
        self.with(Tokens(source))
    }

    /// Sets the provider whose model makes the calls.
    pub fn provider(mut self, provider: Dialect) -> Self {
        self.0.provider = Some(provider);
        self
    }

    /// Sets the token that cancels every call of the turn.
    pub fn cancellation(mut self, token: CancellationToken) -> Self {
        self.0.cancellation = Some(token);
        self
    }

    /// Sets the deadline of every call of the turn: an `Instant`, or a `Duration` from now.
    pub fn deadline(mut self, deadline: impl Into<Deadline>) -> Self {
        self.0.deadline = deadline.into().0;
        self
    }

    /// Adds a secret. Only tools that declare the key can read it.
    pub fn secret(mut self, key: impl Into<String>, secret: impl Into<SecretString>) -> Self {
        self.0.secrets.insert(key.into(), secret.into());
        self
    }

    /// Adds a plain variable. Only tools that declare the name can read it.
    pub fn variable(mut self, name: impl Into<String>, value: impl Into<String>) -> Self {
        let value = Value::Text(value.into());
        self.0.variables.insert(name.into(), value);
        self
    }

    /// Removes a variable, for example a variable that the agent of a [derived](ToolContext::derive) context must not inherit.
    pub fn without_variable(mut self, name: &str) -> Self {
        self.0.variables.remove(name);
        self
    }

    /// Adds a variable whose value is a plain text or a secret, for example a value that was resolved in a tree of threads.
    pub fn variable_value(mut self, name: impl Into<String>, value: Value) -> Self {
        self.0.variables.insert(name.into(), value);
        self
    }

    /// Removes the host value of a type, for example a value that the agent of a [derived](ToolContext::derive) context must not inherit.
    pub fn without<T: 'static>(mut self) -> Self {
        self.0.extensions.remove(&TypeId::of::<T>());
        self
    }

    /// Removes the deadline, for work that outlives the turn.
    pub fn without_deadline(mut self) -> Self {
        self.0.deadline = None;
        self
    }

    /// Adds a secret variable, which is redacted in all output of a call. An empty value is ignored.
    pub fn secret_variable(
        mut self,
        name: impl Into<String>,
        value: impl Into<SecretString>,
    ) -> Self {
        let value: SecretString = value.into();
        if !value.expose_secret().is_empty() {
            self.0.variables.insert(name.into(), Value::Secret(value));
        }
        self
    }

    /// Sets the trace context that the host was called with. If the host exports spans (feature `otel`), the spans of the turn's calls
    /// become its children.
    pub fn trace(mut self, trace: TraceContext) -> Self {
        self.0.trace = Some(trace);
        self
    }

    /// Adds the variables of the turn, as resolved in the tree of threads.
    pub fn variables(mut self, resolved: Resolved) -> Self {
        self.0.variables.extend(resolved.values);
        self
    }

    /// Adds a host value. It replaces an earlier value of the same type. [`FromContext`](crate::FromContext) returns it. See
    /// [`host_value!`](crate::host_value).
    pub fn with<T: Clone + Send + Sync + 'static>(mut self, value: T) -> Self {
        self.0.extensions.insert(TypeId::of::<T>(), Arc::new(value));
        self
    }

    /// Removes and returns the host value of a type.
    fn take<T: Clone + Send + Sync + 'static>(&mut self) -> Option<T> {
        let value = self.0.extensions.remove(&TypeId::of::<T>())?;
        value.downcast_ref::<T>().cloned()
    }

    /// Adds the secrets of the context to `shared`, including tokens that tools get later, until the last copy of the context is dropped. A
    /// [derived](ToolContext::derive) context adds its own secrets to `shared`. This covers the host's own output, such as panics, logs and spans:
    /// see [`redact`](crate::redact).
    ///
    /// ```
    /// use tool_core::{SecretString, ToolContext};
    /// use tool_core::redact::{SharedRedactor, install_panic_hook};
    ///
    /// let shared = SharedRedactor::default();
    /// install_panic_hook(&shared); // once
    /// let key = SecretString::from("sk-rates-4711");
    /// let cx = ToolContext::builder().secret("rates_key", key).redact_in(&shared).build();
    /// assert_eq!(shared.current().redact("sk-rates-4711"), "[secret:rates_key]");
    /// drop(cx);
    /// assert_eq!(shared.current().redact("sk-rates-4711"), "sk-rates-4711");
    /// ```
    pub fn redact_in(mut self, shared: &SharedRedactor) -> Self {
        self.1 = Some(shared.clone());
        self
    }

    /// Builds the context from these settings.
    pub fn build(self) -> ToolContext {
        let Self(mut host, shared) = self;
        // `secrets` leaves out secrets that are too short, so `add` does not fail.
        let lease = shared.and_then(|shared| shared.add(host.secrets()).ok());
        host.lease = lease.map(Arc::new);
        ToolContext::of(host)
    }
}
