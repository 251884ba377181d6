//! Accessors for the caller of a tool: agent, user, workspace, session, conversation and provider.

use std::sync::Arc;

use super::ToolContext;
use crate::schema::dialect::Dialect;
use crate::store::{ThreadId, Workspace};

impl ToolContext {
    /// Returns the agent that makes the calls.
    pub fn agent(&self) -> Option<&str> {
        self.host().agent.as_deref()
    }

    /// Returns the user on whose behalf the agent acts.
    pub fn user(&self) -> Option<&str> {
        self.host().user.as_deref()
    }

    /// Returns the user on whose behalf the tool calls other systems: the caller's runtime user, else the workspace's service user.
    ///
    /// This may differ from the user who made the request, which [`user`](ToolContext::user) returns. The audit row names both.
    pub fn runtime_user(&self) -> Option<&str> {
        self.host()
            .runtime_user
            .as_deref()
            .or(self.host().service_user.as_deref())
    }

    /// Returns the name of the workspace (the tenant).
    pub fn workspace(&self) -> Option<&str> {
        self.host().workspace.as_ref().map(Workspace::as_str)
    }

    /// Returns the id of the session.
    pub fn session(&self) -> Option<&str> {
        self.host().session.as_deref()
    }

    /// Returns the id of the conversation.
    pub fn conversation(&self) -> Option<&str> {
        self.host().conversation.as_deref()
    }

    /// Returns the id of the conversation, for a result that outlives the context.
    pub(crate) fn shared_conversation(&self) -> Option<Arc<str>> {
        self.host().conversation.clone()
    }

    /// Returns the name of the AI provider that the workspace uses, for tools that call a model themselves.
    pub fn model_provider(&self) -> Option<&str> {
        self.host().model_provider.as_deref()
    }

    /// Returns the provider whose model makes the calls.
    pub fn provider(&self) -> Option<Dialect> {
        self.host().provider
    }

    /// Returns the workspace as stores and policies name it; empty if the host set none.
    pub(crate) fn tenant(&self) -> &str {
        self.workspace().unwrap_or_default()
    }

    /// Returns the user as stores and policies name it; empty if the host set none.
    pub(crate) fn principal(&self) -> &str {
        self.user().unwrap_or_default()
    }

    /// Returns the workspace whose records this caller reads and writes; [`Workspace::single`] if the host set none.
    pub fn own_workspace(&self) -> Workspace {
        self.host().workspace.clone().unwrap_or_default()
    }

    /// Returns the thread of the conversation; `None` if the host set no conversation, or an empty id.
    pub fn thread(&self) -> Option<ThreadId> {
        ThreadId::new(self.own_workspace(), self.conversation()?).ok()
    }
}
