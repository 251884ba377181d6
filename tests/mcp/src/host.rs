//! The host's own rmcp handler, which is composed with the `#[tool]` functions.
#![expect(
    deprecated,
    reason = "the suite uses logging, sampling and roots as long as it tests the older protocol"
)]

use std::collections::HashSet;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use rmcp::model::{
    CacheScope, CallToolRequestParams, CallToolResponse, CallToolResult, ClientCapabilities,
    CompleteRequestParams, CompleteResult, ContentBlock, CreateMessageRequestParams,
    ElicitRequestParams, GetPromptRequestParams, GetPromptResponse, GetPromptResult,
    InputRequiredResult, ListPromptsResult, ListResourceTemplatesResult, ListResourcesResult,
    ListToolsResult, LoggingLevel, LoggingMessageNotificationParam, PaginatedRequestParams,
    ReadResourceRequestParams, ReadResourceResponse, RequestStateCodec, SamplingMessage,
    ServerCapabilities, ServerConfig, SetLevelRequestParams, SubscribeRequestParams,
    SubscriptionFilter, Tool, UnsubscribeRequestParams,
};
use rmcp::service::{RequestContext, RoleServer, SubscriptionContext, SubscriptionSink};
use rmcp::{ErrorData, ServerHandler};
use serde_json::{Value, json};

use crate::fixtures;
use crate::rounds::{Round, ask, form};

type Answer<T> = Result<T, ErrorData>;

/// The key that seals the state between rounds. It is public, because a test server does not need a secret.
const KEY: &[u8] = b"the key of a fixture, which is public";

/// The handler for prompts, resources and completion, and for the tools that `#[tool]` cannot express.
#[derive(Clone)]
pub struct Host {
    codec: RequestStateCodec,
    state: Arc<Mutex<State>>,
}

struct State {
    level: LoggingLevel,
    subscribed: HashSet<String>,
    listeners: Vec<SubscriptionSink>,
}

impl Default for Host {
    fn default() -> Self {
        Self {
            codec: RequestStateCodec::new_unchecked(KEY),
            state: Arc::new(Mutex::new(State {
                level: LoggingLevel::Debug,
                subscribed: HashSet::new(),
                listeners: Vec::new(),
            })),
        }
    }
}

fn text(text: impl Into<String>) -> CallToolResult {
    CallToolResult::success(vec![ContentBlock::text(text)])
}

fn failed(error: impl std::fmt::Display) -> ErrorData {
    ErrorData::internal_error(error.to_string(), None)
}

impl Host {
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Notifies clients that the prompts have changed.
    pub(crate) async fn prompts_changed(&self) {
        let listeners = self.state().listeners.clone();
        for listener in listeners {
            // The notification fails if the client did not subscribe to prompts.
            let _ = listener.notify_prompt_list_changed().await;
        }
    }

    async fn log(
        &self,
        cx: &RequestContext<RoleServer>,
        level: LoggingLevel,
        said: &str,
    ) -> Answer<()> {
        let message =
            LoggingMessageNotificationParam::new(level, json!(said)).with_logger("fixture");
        cx.peer
            .notify_logging_message(message)
            .await
            .map_err(failed)
    }

    async fn elicit(
        &self,
        cx: &RequestContext<RoleServer>,
        message: &str,
        schema: Value,
    ) -> Answer<CallToolResult> {
        let params = ElicitRequestParams::FormElicitationParams {
            meta: None,
            message: message.to_owned(),
            requested_schema: serde_json::from_value(schema).map_err(failed)?,
        };
        let answer = cx.peer.create_elicitation(params).await.map_err(failed)?;
        let action = serde_json::to_value(&answer.action).map_err(failed)?;
        let content = json!(answer.content);
        Ok(text(format!(
            "User response: action={}, content={content}",
            action.as_str().unwrap_or_default()
        )))
    }

    async fn sample(
        &self,
        cx: &RequestContext<RoleServer>,
        prompt: &str,
    ) -> Answer<CallToolResult> {
        let params = CreateMessageRequestParams::new(vec![SamplingMessage::user_text(prompt)], 100);
        let answer = cx.peer.create_message(params).await.map_err(failed)?;
        let content = answer.message.content.first();
        let said = content
            .and_then(|content| content.as_text())
            .map(|text| text.text.clone());
        Ok(text(format!("LLM response: {}", said.unwrap_or_default())))
    }
}

impl ServerHandler for Host {
    fn get_info(&self) -> ServerConfig {
        let capabilities = ServerCapabilities::builder()
            .enable_prompts()
            .enable_prompts_list_changed()
            .enable_resources()
            .enable_resources_subscribe()
            .enable_resources_list_changed()
            .enable_completions()
            .enable_logging()
            .build();
        ServerConfig::new(capabilities)
    }

    fn get_tool(&self, name: &str) -> Option<Tool> {
        (name == "test_custom_header").then(fixtures::custom_header)
    }

    fn accepted_subscription_filter(
        &self,
        requested: &SubscriptionFilter,
    ) -> Option<SubscriptionFilter> {
        Some(requested.clone())
    }

    async fn listen(&self, context: SubscriptionContext) -> Answer<()> {
        self.state().listeners.push(context.sink().clone());
        context.cancelled().await;
        let id = context.sink().id().clone();
        self.state()
            .listeners
            .retain(|listener| *listener.id() != id);
        Ok(())
    }

    async fn list_tools(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Answer<ListToolsResult> {
        Ok(ListToolsResult::with_all_items(fixtures::tools()))
    }

    async fn call_tool(
        &self,
        params: CallToolRequestParams,
        cx: RequestContext<RoleServer>,
    ) -> Answer<CallToolResponse> {
        if params.name.starts_with("test_input_required_result_") {
            let capabilities = cx.meta.client_capabilities().unwrap_or_default();
            return Round {
                codec: &self.codec,
                params,
                capabilities,
            }
            .run();
        }
        let arguments = params.arguments.unwrap_or_default();
        let argument = |name: &str| {
            arguments
                .get(name)
                .and_then(Value::as_str)
                .unwrap_or_default()
        };
        let result = match params.name.as_ref() {
            "test_tool_with_logging" => {
                for said in [
                    "Tool execution started",
                    "Tool processing data",
                    "Tool execution completed",
                ] {
                    self.log(&cx, LoggingLevel::Info, said).await?;
                    tokio::time::sleep(Duration::from_millis(50)).await;
                }
                text("Logging test completed")
            }
            "test_logging_tool" => {
                if let Some(level) = cx.meta.log_level() {
                    self.log(&cx, level, "the client requested this log")
                        .await?;
                }
                text("Logging tool completed")
            }
            "test_sampling" => self.sample(&cx, argument("prompt")).await?,
            "test_elicitation" => {
                let texts =
                    json!({ "username": { "type": "string" }, "email": { "type": "string" } });
                let schema = json!({ "type": "object", "properties": texts, "required": ["username", "email"] });
                self.elicit(&cx, argument("message"), schema).await?
            }
            "test_elicitation_sep1034_defaults" => {
                self.elicit(&cx, "All have defaults", fixtures::defaults())
                    .await?
            }
            "test_elicitation_sep1330_enums" => {
                self.elicit(&cx, "Choose", fixtures::choices()).await?
            }
            "json_schema_2020_12_tool" => text(format!("Hello, {}!", argument("name"))),
            "test_custom_header" => text(argument("value")),
            "test_missing_capability" => {
                if cx
                    .client_capabilities()
                    .is_none_or(|capabilities| capabilities.sampling.is_none())
                {
                    let needed = ClientCapabilities::builder().enable_sampling().build();
                    return Err(ErrorData::missing_required_client_capability(needed));
                }
                text("The client has the capability")
            }
            "test_streaming_elicitation" => {
                let asked = ask([(
                    "streaming_elicitation",
                    form("Provide a value", "value", "string")?,
                )]);
                return Ok(InputRequiredResult::from_input_requests(asked).into());
            }
            other => {
                return Err(ErrorData::invalid_params(
                    format!("there is no tool `{other}`"),
                    None,
                ));
            }
        };
        Ok(result.into())
    }

    async fn list_prompts(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Answer<ListPromptsResult> {
        Ok(ListPromptsResult::with_all_items(fixtures::prompts()))
    }

    async fn get_prompt(
        &self,
        params: GetPromptRequestParams,
        _: RequestContext<RoleServer>,
    ) -> Answer<GetPromptResponse> {
        if params.name == "test_input_required_result_prompt" {
            let answer = params
                .input_responses
                .as_ref()
                .and_then(|answers| answers.get("user_context"));
            let Some(answer) = answer.and_then(Value::as_object) else {
                let asked = ask([(
                    "user_context",
                    form("In which context?", "context", "string")?,
                )]);
                return Ok(InputRequiredResult::from_input_requests(asked).into());
            };
            let said = format!("Prompt with context: {:?}", answer.get("content"));
            let message = rmcp::model::PromptMessage::new_text(rmcp::model::Role::User, said);
            return Ok(GetPromptResult::new(vec![message]).into());
        }
        let arguments = params.arguments.unwrap_or_default();
        match fixtures::prompt(&params.name, &arguments) {
            Some(messages) => Ok(GetPromptResult::new(messages).into()),
            None => Err(ErrorData::invalid_params(
                format!("there is no prompt `{}`", params.name),
                None,
            )),
        }
    }

    async fn list_resources(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Answer<ListResourcesResult> {
        Ok(ListResourcesResult::with_all_items(fixtures::resources()))
    }

    async fn list_resource_templates(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Answer<ListResourceTemplatesResult> {
        Ok(ListResourceTemplatesResult::with_all_items(
            fixtures::templates(),
        ))
    }

    async fn read_resource(
        &self,
        params: ReadResourceRequestParams,
        _: RequestContext<RoleServer>,
    ) -> Answer<ReadResourceResponse> {
        let read = fixtures::resource(&params.uri)?;
        Ok(read
            .with_ttl_ms(60_000)
            .with_cache_scope(CacheScope::Public)
            .into())
    }

    async fn complete(
        &self,
        _: CompleteRequestParams,
        _: RequestContext<RoleServer>,
    ) -> Answer<CompleteResult> {
        Ok(CompleteResult::default())
    }

    async fn set_level(
        &self,
        params: SetLevelRequestParams,
        _: RequestContext<RoleServer>,
    ) -> Answer<()> {
        self.state().level = params.level;
        Ok(())
    }

    async fn subscribe(
        &self,
        params: SubscribeRequestParams,
        _: RequestContext<RoleServer>,
    ) -> Answer<()> {
        self.state().subscribed.insert(params.uri);
        Ok(())
    }

    async fn unsubscribe(
        &self,
        params: UnsubscribeRequestParams,
        _: RequestContext<RoleServer>,
    ) -> Answer<()> {
        self.state().subscribed.remove(&params.uri);
        Ok(())
    }
}
