//! The host handler of a server that serves tools only.

use rmcp::ErrorData;
use rmcp::handler::server::ServerHandler;
use rmcp::model::{
    CompleteRequestParams, CompleteResult, ErrorCode, ListPromptsResult,
    ListResourceTemplatesResult, ListResourcesResult, PaginatedRequestParams,
};
use rmcp::service::{RequestContext, RoleServer};

/// A handler without prompts, resources and completions: the response to their methods is "method not found".
#[derive(Clone, Copy, Debug, Default)]
pub struct NoHandler;

fn not_here<T>(method: &'static str) -> Result<T, ErrorData> {
    Err(ErrorData::new(ErrorCode::METHOD_NOT_FOUND, method, None))
}

// By default rmcp answers these methods with empty results, although the capabilities are not declared.
impl ServerHandler for NoHandler {
    async fn complete(
        &self,
        _: CompleteRequestParams,
        _: RequestContext<RoleServer>,
    ) -> Result<CompleteResult, ErrorData> {
        not_here("completion/complete")
    }

    async fn list_prompts(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListPromptsResult, ErrorData> {
        not_here("prompts/list")
    }

    async fn list_resources(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListResourcesResult, ErrorData> {
        not_here("resources/list")
    }

    async fn list_resource_templates(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListResourceTemplatesResult, ErrorData> {
        not_here("resources/templates/list")
    }
}
