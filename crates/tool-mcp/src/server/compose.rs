//! The rmcp server handler: serves tools itself and forwards the other methods to the host's handler.

use std::borrow::Cow;
use std::future::Future;

use rmcp::ErrorData;
use rmcp::handler::server::ServerHandler;
use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CancelTaskParams, CancelledNotificationParam,
    CompleteRequestParams, CompleteResult, CustomNotification, CustomRequest, CustomResult,
    DiscoverResult, GetPromptRequestParams, GetPromptResponse, GetSkillRequestParams,
    GetSkillResult, GetTaskParams, GetTaskResult, InitializeRequestParams, InitializeResult,
    ListPromptsResult, ListResourceTemplatesResult, ListResourcesResult, ListSkillsResult,
    ListToolsResult, PaginatedRequestParams, ProgressNotificationParam, ProtocolVersion,
    ReadResourceDirectoryRequestParams, ReadResourceDirectoryResult, ReadResourceRequestParams,
    ReadResourceResponse, ServerCapabilities, ServerConfig, SubscribeRequestParams,
    SubscriptionFilter, Tool, UnsubscribeRequestParams, UpdateTaskParams,
};
use rmcp::service::{NotificationContext, RequestContext, RoleServer, SubscriptionContext};
use tool_core::{CallResult, Gate, ToolCall, ToolContext, Toolset};

use super::call::Start;
use super::{Composed, Core, Wire, ask, call, content, list};

impl Core {
    /// Sets the tools capability, implementation (name, title and version) and instructions of this server in the information that the host's handler
    /// reports.
    fn introduce(&self, info: &mut ServerConfig) {
        capable(&mut info.capabilities);
        info.server_info = self.implementation.clone();
        if let Some(text) = &self.instructions {
            info.instructions = Some(text.clone());
        }
    }
}

fn capable(capabilities: &mut ServerCapabilities) {
    let tools = capabilities.tools.get_or_insert_default();
    tools.list_changed = Some(true);
}

impl<H: ServerHandler> Composed<H> {
    async fn list(
        &self,
        request: Option<PaginatedRequestParams>,
        context: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        let core = &self.core;
        let cx = core.context(&context).await?;
        let tools = core.toolset(&cx);
        let cursor = request
            .as_ref()
            .and_then(|request| request.cursor.as_deref());
        let wire = Wire::of(&context);
        let (mut page, of_host) = match list::Place::read(cursor)? {
            list::Place::Host(cursor) => (ListToolsResult::default(), Some(Some(cursor))),
            list::Place::After(name) => {
                let page = list::page(&tools, &core.outlets, core.page, name.as_deref(), wire)?;
                let last = page.next_cursor.is_none();
                (page, last.then_some(None))
            }
        };
        let Some(cursor) = of_host.filter(|_| core.host_tools) else {
            return Ok(page);
        };
        let mut asked = request.unwrap_or_default();
        asked.cursor = cursor;
        let more = self.host.list_tools(Some(asked), context).await?;
        let others = more
            .tools
            .into_iter()
            .filter(|tool| !knows(&tools, &tool.name));
        page.tools.extend(others);
        page.next_cursor = more
            .next_cursor
            .map(|cursor| list::Place::Host(cursor).write());
        Ok(page)
    }

    async fn call(
        &self,
        request: CallToolRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let core = &self.core;
        let _running = core.calls.token();
        let mut cx = core.context(&context).await?;
        let tools = core.toolset(&cx);
        if core.host_tools && !knows(&tools, &request.name) {
            // Rare cases are boxed, here and below, because the largest case determines the size of the future of every call.
            return Box::pin(self.host.call_tool(request, context)).await;
        }
        let arguments = call::arguments(&request, &context)?;
        let name = request.name.into_owned();
        let wire = Wire::of(&context);
        let outlet = tools.get(&name).and_then(|def| core.outlets.of(def));
        let call = ToolCall::new(context.id.to_string(), name, arguments);
        let can_ask = ask::can_ask(&context);
        if !cx.has_tools() {
            cx = cx.with_tools(&tools);
        }
        if core.approves && tools.gate().and_then(Gate::approvals).is_some() {
            cx = ask::identified(&cx)?;
        }
        let result = if !wire.legacy && (can_ask || request.request_state.is_some()) {
            let asking = ask::Asking {
                parking: &core.parking,
                tools: &tools,
                call,
                cx: &cx,
                context: &context,
                approves: core.approves,
            };
            let (state, answers) = (request.request_state, request.input_responses);
            match Box::pin(ask::run(asking, state.as_deref(), answers.as_ref())).await? {
                ask::Round::Done(result) => result,
                ask::Round::Asks(question) => return Ok(question.into()),
            }
        } else if can_ask {
            Box::pin(self.call_of_asked(&tools, call, &cx, &context)).await?
        } else {
            call::run(&tools, Start::Call(call), &cx, &context).await?
        };
        call::known(&result)?;
        Ok(content::result(result, outlet.as_deref(), wire).into())
    }
}

impl<H> Composed<H> {
    /// Runs a call of a legacy-protocol client that can show questions to its user.
    async fn call_of_asked(
        &self,
        tools: &Toolset,
        call: ToolCall,
        cx: &ToolContext,
        context: &RequestContext<RoleServer>,
    ) -> Result<CallResult, ErrorData> {
        let patience = self.core.parking.patience();
        let cx = ask::live(cx, context, patience);
        let result = call::run(tools, Start::Call(call.clone()), &cx, context).await?;
        if !self.core.approves {
            return Ok(result);
        }
        ask::approved_live(tools, &call, result, &cx, context, patience).await
    }
}

/// Returns whether a toolset contains a tool of this name, hidden tools included.
fn knows(tools: &Toolset, name: &str) -> bool {
    let explanation = tools.explain(name);
    tools.get(name).is_some() || explanation.layer().is_some() && explanation.name() == name
}

#[expect(
    deprecated,
    reason = "deprecated methods are forwarded as long as rmcp has them"
)]
impl<H: ServerHandler> ServerHandler for Composed<H> {
    fn get_info(&self) -> ServerConfig {
        let mut info = self.host.get_info();
        self.core.introduce(&mut info);
        info
    }

    fn supported_protocol_versions(&self) -> Cow<'static, [ProtocolVersion]> {
        self.host.supported_protocol_versions()
    }

    fn negotiate_initialize(
        &self,
        request: &InitializeRequestParams,
    ) -> Result<InitializeResult, ErrorData> {
        let mut info = self.host.negotiate_initialize(request)?;
        self.core.introduce(&mut info);
        Ok(info)
    }

    async fn initialize(
        &self,
        request: InitializeRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<InitializeResult, ErrorData> {
        let mut info = self.host.initialize(request, context).await?;
        self.core.introduce(&mut info);
        Ok(info)
    }

    async fn discover(
        &self,
        context: RequestContext<RoleServer>,
    ) -> Result<DiscoverResult, ErrorData> {
        let mut found = self.host.discover(context).await?;
        capable(&mut found.capabilities);
        found.set_server_info(self.core.implementation.clone());
        if let Some(text) = &self.core.instructions {
            found.instructions = Some(text.clone());
        }
        Ok(found)
    }

    fn list_tools(
        &self,
        request: Option<PaginatedRequestParams>,
        context: RequestContext<RoleServer>,
    ) -> impl Future<Output = Result<ListToolsResult, ErrorData>> + Send + '_ {
        self.list(request, context)
    }

    fn call_tool(
        &self,
        request: CallToolRequestParams,
        context: RequestContext<RoleServer>,
    ) -> impl Future<Output = Result<CallToolResponse, ErrorData>> + Send + '_ {
        self.call(request, context)
    }

    /// rmcp calls this for the schemas of tools whose parameters are sent in headers; `#[tool]` does not support such parameters.
    fn get_tool(&self, name: &str) -> Option<Tool> {
        self.host.get_tool(name).filter(|_| self.core.host_tools)
    }

    fn accepted_subscription_filter(
        &self,
        requested: &SubscriptionFilter,
    ) -> Option<SubscriptionFilter> {
        let mut accepted = self
            .host
            .accepted_subscription_filter(requested)
            .unwrap_or_default();
        accepted.tools_list_changed = requested.tools_list_changed;
        Some(accepted)
    }

    async fn listen(&self, context: SubscriptionContext) -> Result<(), ErrorData> {
        let tools = context.accepted().tools_list_changed == Some(true);
        let _listed = tools.then(|| self.core.listeners.subscription(context.sink().clone()));
        self.host.listen(context).await
    }

    async fn on_initialized(&self, context: NotificationContext<RoleServer>) {
        self.core.listeners.session(context.peer.clone());
        self.host.on_initialized(context).await;
    }

    async fn ping(&self, context: RequestContext<RoleServer>) -> Result<(), ErrorData> {
        self.host.ping(context).await
    }

    async fn complete(
        &self,
        request: CompleteRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CompleteResult, ErrorData> {
        self.host.complete(request, context).await
    }

    async fn set_level(
        &self,
        request: rmcp::model::SetLevelRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<(), ErrorData> {
        self.host.set_level(request, context).await
    }

    async fn get_prompt(
        &self,
        request: GetPromptRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<GetPromptResponse, ErrorData> {
        self.host.get_prompt(request, context).await
    }

    async fn list_prompts(
        &self,
        request: Option<PaginatedRequestParams>,
        context: RequestContext<RoleServer>,
    ) -> Result<ListPromptsResult, ErrorData> {
        self.host.list_prompts(request, context).await
    }

    async fn list_resources(
        &self,
        request: Option<PaginatedRequestParams>,
        context: RequestContext<RoleServer>,
    ) -> Result<ListResourcesResult, ErrorData> {
        self.host.list_resources(request, context).await
    }

    async fn list_resource_templates(
        &self,
        request: Option<PaginatedRequestParams>,
        context: RequestContext<RoleServer>,
    ) -> Result<ListResourceTemplatesResult, ErrorData> {
        self.host.list_resource_templates(request, context).await
    }

    async fn read_resource(
        &self,
        request: ReadResourceRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<ReadResourceResponse, ErrorData> {
        self.host.read_resource(request, context).await
    }

    async fn subscribe(
        &self,
        request: SubscribeRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<(), ErrorData> {
        self.host.subscribe(request, context).await
    }

    async fn unsubscribe(
        &self,
        request: UnsubscribeRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<(), ErrorData> {
        self.host.unsubscribe(request, context).await
    }

    async fn on_custom_request(
        &self,
        request: CustomRequest,
        context: RequestContext<RoleServer>,
    ) -> Result<CustomResult, ErrorData> {
        self.host.on_custom_request(request, context).await
    }

    async fn on_cancelled(
        &self,
        notification: CancelledNotificationParam,
        context: NotificationContext<RoleServer>,
    ) {
        self.host.on_cancelled(notification, context).await;
    }

    async fn on_progress(
        &self,
        notification: ProgressNotificationParam,
        context: NotificationContext<RoleServer>,
    ) {
        self.host.on_progress(notification, context).await;
    }

    async fn on_roots_list_changed(&self, context: NotificationContext<RoleServer>) {
        self.host.on_roots_list_changed(context).await;
    }

    async fn on_custom_notification(
        &self,
        notification: CustomNotification,
        context: NotificationContext<RoleServer>,
    ) {
        self.host
            .on_custom_notification(notification, context)
            .await;
    }

    async fn get_task(
        &self,
        request: GetTaskParams,
        context: RequestContext<RoleServer>,
    ) -> Result<GetTaskResult, ErrorData> {
        self.host.get_task(request, context).await
    }

    async fn update_task(
        &self,
        request: UpdateTaskParams,
        context: RequestContext<RoleServer>,
    ) -> Result<(), ErrorData> {
        self.host.update_task(request, context).await
    }

    async fn cancel_task(
        &self,
        request: CancelTaskParams,
        context: RequestContext<RoleServer>,
    ) -> Result<(), ErrorData> {
        self.host.cancel_task(request, context).await
    }

    async fn list_skills(
        &self,
        request: Option<PaginatedRequestParams>,
        context: RequestContext<RoleServer>,
    ) -> Result<ListSkillsResult, ErrorData> {
        self.host.list_skills(request, context).await
    }

    async fn get_skill(
        &self,
        request: GetSkillRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<GetSkillResult, ErrorData> {
        self.host.get_skill(request, context).await
    }

    async fn read_resource_directory(
        &self,
        request: ReadResourceDirectoryRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<ReadResourceDirectoryResult, ErrorData> {
        self.host.read_resource_directory(request, context).await
    }
}
