//! Who calls, and by what way.

use rmcp::model::Implementation;
use rmcp::service::{RequestContext, RoleServer};
use tool_core::ToolContext;

/// Somebody whom the host has recognised.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Principal {
    /// Who it is: the `sub` of an access token.
    pub subject: String,
    /// What the token may be used for.
    pub scopes: Vec<String>,
    /// For whom the token was issued: the `aud` of an access token.
    pub audience: Vec<String>,
    /// The workspace that the host keeps for them, where it has such.
    pub workspace: Option<String>,
}

impl Principal {
    /// Somebody, without scopes.
    pub fn new(subject: impl Into<String>) -> Self {
        Self {
            subject: subject.into(),
            scopes: Vec::new(),
            audience: Vec::new(),
            workspace: None,
        }
    }

    /// What the token may be used for.
    #[must_use]
    pub fn scopes<S: Into<String>>(mut self, scopes: impl IntoIterator<Item = S>) -> Self {
        self.scopes = scopes.into_iter().map(Into::into).collect();
        self
    }

    /// For whom the token was issued.
    #[must_use]
    pub fn audience<S: Into<String>>(mut self, audience: impl IntoIterator<Item = S>) -> Self {
        self.audience = audience.into_iter().map(Into::into).collect();
        self
    }

    /// The workspace.
    #[must_use]
    pub fn workspace(mut self, workspace: impl Into<String>) -> Self {
        self.workspace = Some(workspace.into());
        self
    }
}

/// Who makes a request, for [`McpServerBuilder::context`](super::McpServerBuilder::context).
#[derive(Clone, Copy, Debug)]
pub struct Caller<'a>(&'a RequestContext<RoleServer>);

impl<'a> Caller<'a> {
    pub(crate) fn new(request: &'a RequestContext<RoleServer>) -> Self {
        Self(request)
    }

    /// Whom the host has recognised by the request's token; `None` over stdio, and where the host asks for none.
    pub fn principal(&self) -> Option<&'a Principal> {
        #[cfg(feature = "http")]
        if let Some(parts) = self.http() {
            return parts.extensions.get();
        }
        None
    }

    /// The principal's subject.
    pub fn subject(&self) -> Option<&'a str> {
        self.principal().map(|principal| principal.subject.as_str())
    }

    /// The client's name and version, as it says itself: nothing to trust.
    pub fn client(&self) -> Option<Implementation> {
        self.0.client_info()
    }

    /// The version of the protocol that the request speaks, such as `2025-11-25`.
    pub fn protocol(&self) -> Option<String> {
        let version = self.0.protocol_version();
        version.map(|version| version.as_str().to_owned())
    }

    /// The session of the older wire over HTTP.
    pub fn session(&self) -> Option<&'a str> {
        #[cfg(feature = "http")]
        if let Some(parts) = self.http() {
            let id = parts.headers.get("mcp-session-id")?;
            return id.to_str().ok();
        }
        None
    }

    /// A W3C trace context's `traceparent` and `tracestate`, where the client sends one in `_meta`.
    pub fn trace(&self) -> Option<(&'a str, Option<&'a str>)> {
        let meta = &self.0.meta;
        Some((meta.get_traceparent()?, meta.get_tracestate()))
    }

    /// The HTTP request without its body; `None` over stdio.
    #[cfg(feature = "http")]
    pub fn http(&self) -> Option<&'a http::request::Parts> {
        self.0.extensions.get()
    }

    /// The request as rmcp has it.
    pub fn request(&self) -> &'a RequestContext<RoleServer> {
        self.0
    }

    /// The context where the host makes none.
    pub(crate) fn default_context(self, anonymous: &ToolContext) -> ToolContext {
        let (principal, session) = (self.principal(), self.session());
        if principal.is_none() && session.is_none() {
            return anonymous.clone();
        }
        let mut cx = ToolContext::builder();
        if let Some(principal) = principal {
            cx = cx.user(principal.subject.as_str());
            if let Some(workspace) = &principal.workspace {
                cx = cx.workspace(workspace.as_str());
            }
        }
        if let Some(session) = session {
            cx = cx.session(session);
        }
        cx.build()
    }
}
