//! The caller of a request.

use rmcp::model::Implementation;
use rmcp::service::{RequestContext, RoleServer};
use tool_core::ToolContext;
use tool_http::Principal;

/// The caller of a request, for [`McpServerBuilder::context`](super::McpServerBuilder::context).
#[derive(Clone, Copy, Debug)]
pub struct Caller<'a>(&'a RequestContext<RoleServer>);

impl<'a> Caller<'a> {
    pub(crate) fn new(request: &'a RequestContext<RoleServer>) -> Self {
        Self(request)
    }

    /// Returns the principal that the request's token identifies, or `None` over stdio and without authorization.
    pub fn principal(&self) -> Option<&'a Principal> {
        #[cfg(feature = "http")]
        if let Some(parts) = self.http() {
            return parts.extensions.get();
        }
        None
    }

    /// Returns the subject of the principal, or `None` without a principal.
    pub fn subject(&self) -> Option<&'a str> {
        self.principal().map(|principal| principal.subject.as_str())
    }

    /// Returns the client's name and version, as the client reports them. Do not trust them: they are not authenticated.
    pub fn client(&self) -> Option<Implementation> {
        self.0.client_info()
    }

    /// Returns the protocol version of the request, such as `2025-11-25`.
    pub fn protocol(&self) -> Option<String> {
        let version = self.0.protocol_version();
        version.map(|version| version.as_str().to_owned())
    }

    /// Returns the session id of the legacy protocol over HTTP.
    pub fn session(&self) -> Option<&'a str> {
        #[cfg(feature = "http")]
        if let Some(parts) = self.http() {
            let id = parts.headers.get("mcp-session-id")?;
            return id.to_str().ok();
        }
        None
    }

    /// Returns the W3C trace context (`traceparent` and `tracestate`) that the client sends in `_meta`.
    pub fn trace(&self) -> Option<(&'a str, Option<&'a str>)> {
        let meta = &self.0.meta;
        Some((meta.get_traceparent()?, meta.get_tracestate()))
    }

    /// Returns the HTTP request without its body, or `None` over stdio.
    #[cfg(feature = "http")]
    pub fn http(&self) -> Option<&'a http::request::Parts> {
        self.0.extensions.get()
    }

    /// Returns the underlying request of rmcp.
    pub fn request(&self) -> &'a RequestContext<RoleServer> {
        self.0
    }

    /// Returns the context of a call if the host does not set [`McpServerBuilder::context`](super::McpServerBuilder::context).
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
