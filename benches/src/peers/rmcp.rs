//! The benchmarked tool with rmcp: its macros and its router, which are called without a transport.

use rmcp::{
    handler::server::{tool::ToolCallContext, wrapper::{Json, Parameters}, router::tool::ToolRouter},
    model::{CallToolRequestParams, CallToolResponse, NumberOrString},
    service::{RequestContext, RoleServer, RunningService, serve_directly},
    tool, tool_router, ServerHandler,
};

use crate::work::{self, Arguments, Hits};

/// The server of the tool.
#[derive(Clone)]
pub struct Server;

#[tool_router]
impl Server {
    /// Searches an index of repositories.
    #[tool]
    async fn search(&self, Parameters(arguments): Parameters<Arguments>) -> Json<Hits> {
        Json(Hits { hits: work::search(&arguments.query, arguments.limit, arguments.filter.and_then(|filter| filter.min_stars)) })
    }
}

impl ServerHandler for Server {}

/// A router that is built once, and a peer for building requests.
pub struct Host {
    router: ToolRouter<Server>,
    service: RunningService<RoleServer, Server>,
    _client: tokio::io::DuplexStream,
}

impl Host {
    /// Creates a server with one tool. Must be called within a runtime.
    #[must_use]
    pub fn new() -> Self {
        let (client, server) = tokio::io::duplex(1024);
        let service = serve_directly(Server, tokio::io::split(server), None);
        Self { router: Server::tool_router(), service, _client: client }
    }

    /// Calls the tool with JSON arguments, and returns JSON. `rebuild` builds the router for this call, as rmcp's default handler does.
    ///
    /// # Panics
    ///
    /// Panics if the text is not a JSON object or the call fails.
    pub async fn call(&self, arguments: &str, rebuild: bool) -> String {
        let mut params = CallToolRequestParams::new("search");
        params.arguments = Some(serde_json::from_str(arguments).expect("object"));
        let context = RequestContext::new(NumberOrString::Number(1), self.service.peer().clone());
        let context = ToolCallContext::new(self.service.service(), params, context);
        let result = if rebuild {
            Server::tool_router().call(context).await
        } else {
            self.router.call(context).await
        };
        let CallToolResponse::Complete(result) = result.expect("result") else {
            unreachable!("the tool returns a complete result")
        };
        serde_json::to_string(&result).expect("json")
    }
}

impl Default for Host {
    fn default() -> Self {
        Self::new()
    }
}
