//! Who calls, and from where.

use std::sync::Arc;

use super::ToolContext;
use crate::schema::dialect::Dialect;
use crate::store::{ThreadId, Workspace};

impl ToolContext {
    /// The agent that asks.
    pub fn agent(&self) -> Option<&str> {
        self.host().agent.as_deref()
    }

    /// The user on whose behalf it asks.
    pub fn user(&self) -> Option<&str> {
        self.host().user.as_deref()
    }

    /// Whom the tool acts as towards other systems: the caller's runtime user, else the workspace's service user.
    ///
    /// Not the one who asked: that is [`user`](ToolContext::user), and the audit names both.
    pub fn runtime_user(&self) -> Option<&str> {
        self.host()
            .runtime_user
            .as_deref()
            .or(self.host().service_user.as_deref())
    }

    /// The workspace: the slug of the instance.
    pub fn workspace(&self) -> Option<&str> {
        self.host().workspace.as_ref().map(Workspace::as_str)
    }

    /// The session.
    pub fn session(&self) -> Option<&str> {
        self.host().session.as_deref()
    }

    /// The conversation.
    pub fn conversation(&self) -> Option<&str> {
        self.host().conversation.as_deref()
    }

    /// The conversation, for a result that outlives the context.
    pub(crate) fn shared_conversation(&self) -> Option<Arc<str>> {
        self.host().conversation.clone()
    }

    /// Name of the AI provider that the instance uses, for tools that call a model themselves.
    pub fn model_provider(&self) -> Option<&str> {
        self.host().model_provider.as_deref()
    }

    /// The provider whose model asks.
    pub fn provider(&self) -> Option<Dialect> {
        self.host().provider
    }

    /// The workspace as stores and policies name it: empty where the host named none.
    pub(crate) fn tenant(&self) -> &str {
        self.workspace().unwrap_or_default()
    }

    /// The user as stores and policies name it: empty where the host named none.
    pub(crate) fn principal(&self) -> &str {
        self.user().unwrap_or_default()
    }

    /// The workspace whose records this caller reads and writes: [`Workspace::single`] where the host named none.
    pub fn own_workspace(&self) -> Workspace {
        self.host().workspace.clone().unwrap_or_default()
    }

    /// The thread of the conversation. `None` where the host named no conversation.
    pub fn thread(&self) -> Option<ThreadId> {
        ThreadId::new(self.own_workspace(), self.conversation()?).ok()
    }
}
