//! Elicitation: questions of tools, asked through the MCP client. The legacy protocol
//! sends a server request, the 2026-07-28 protocol returns an input-required result.

use std::sync::Arc;
use std::time::Duration;

use futures::FutureExt as _;
use futures::future::BoxFuture;
use rmcp::ErrorData;
use rmcp::model::{
    ClientResult, ElicitRequest, ElicitRequestParams, ElicitResult, ElicitationAction,
    ElicitationSchema, InputRequest, ServerRequest,
};
use rmcp::service::{Peer, RequestContext, RoleServer};
use serde_json::value::RawValue;
use tool_core::{
    Answer, Asker, CallResult, ErrorKind, Question, ToolCall, ToolContext, ToolError, Toolset,
};

mod approve;
mod parking;
mod rounds;

pub(crate) use approve::identified;
pub(crate) use parking::Parking;
pub use parking::{StateKey, StateKeyError, Waiting};
pub(crate) use rounds::{Asking, Round, run};

/// An answer from the user, as JSON text.
pub(crate) type Given = Answer<Box<RawValue>>;

/// Returns whether the client can show forms to its user.
pub(crate) fn can_ask(context: &RequestContext<RoleServer>) -> bool {
    let capabilities = context.client_capabilities();
    let elicitation = capabilities.and_then(|capabilities| capabilities.elicitation);
    // A client that lists neither `form` nor `url` supports forms.
    elicitation.is_some_and(|how| how.form.is_some() || how.url.is_none())
}

/// Converts a question to MCP elicitation parameters.
fn form(question: &Question) -> Result<ElicitRequestParams, ToolError> {
    let requested_schema: ElicitationSchema =
        serde_json::from_str(&question.schema).map_err(|error| {
            ToolError::of(
                ErrorKind::Unavailable,
                "the tool asks a question that this client cannot show",
            )
            .operator(format!(
                "the properties of an MCP form must be strings, numbers, booleans or choices: {error}"
            ))
        })?;
    Ok(ElicitRequestParams::FormElicitationParams {
        meta: None,
        message: question.message.clone(),
        requested_schema,
    })
}

fn input_request(question: &Question) -> Result<InputRequest, ToolError> {
    Ok(InputRequest::Elicitation(ElicitRequest::new(form(
        question,
    )?)))
}

/// Converts an elicitation result to the tool's answer.
fn given(result: ElicitResult) -> Result<Given, ToolError> {
    match result.action {
        ElicitationAction::Accept => {
            let content = result.content.unwrap_or_else(|| serde_json::json!({}));
            let text = serde_json::value::to_raw_value(&content).map_err(ToolError::foreign)?;
            Ok(Answer::Given(text))
        }
        ElicitationAction::Decline => Ok(Answer::Declined),
        // `Cancel`, and any action that a later protocol version adds, count as dismissed.
        _ => Ok(Answer::Dismissed),
    }
}

/// Asks the user of a legacy-protocol client while the call runs.
struct Live {
    peer: Peer<RoleServer>,
    patience: Duration,
}

impl Asker for Live {
    fn ask(&self, question: Question) -> BoxFuture<'_, Result<Given, ToolError>> {
        async move {
            let request = ServerRequest::ElicitRequest(ElicitRequest::new(form(&question)?));
            let asked = tokio::time::timeout(self.patience, self.peer.send_request(request));
            match asked.await {
                Ok(Ok(ClientResult::ElicitResult(result))) => given(result),
                Ok(Ok(_)) => Err(unasked(
                    "the client's response is not a result of `elicitation/create`",
                )),
                Ok(Err(error)) => Err(unasked(error)),
                Err(_) => Err(ToolError::of(
                    ErrorKind::TimedOut,
                    "the user did not answer the tool's question in time",
                )),
            }
        }
        .boxed()
    }
}

fn unasked(why: impl std::fmt::Display) -> ToolError {
    ToolError::of(ErrorKind::Unavailable, "the user could not be asked").operator(why.to_string())
}

/// Asks the user of a legacy-protocol client to approve a call, or the nested calls that its tool makes, and continues the call after each answer.
/// `cx` contains the identity of the call.
pub(crate) async fn approved_live(
    tools: &Toolset,
    call: &ToolCall,
    mut result: CallResult,
    cx: &ToolContext,
    context: &RequestContext<RoleServer>,
    patience: Duration,
) -> Result<CallResult, ErrorData> {
    let live = Live {
        peer: context.peer.clone(),
        patience,
    };
    let mut answered: Option<String> = None;
    loop {
        // If a ticket is still open after its answer, the answer could not be stored; asking again would not help.
        let open = approve::ticket(&result).filter(|ticket| answered.as_ref() != Some(&ticket.id));
        let Some(ticket) = open.cloned() else {
            return Ok(result);
        };
        let answer = match live.ask(approve::question(&ticket)).await {
            Ok(answer) => answer,
            Err(error) => {
                tracing::debug!(error = %error.operator_text(), "the question whether to approve a call was not answered");
                return Ok(result);
            }
        };
        if !approve::decide(tools, &ticket.token, &answer, cx).await {
            return Ok(result);
        }
        let next = approve::next(call.clone(), ticket.token, ticket.parent.is_some());
        result = super::call::run(tools, next, cx, context).await?;
        answered = Some(ticket.id);
    }
}

/// Returns the context with an asker, so that tools can ask the user of a legacy-protocol client.
pub(crate) fn live(
    cx: &ToolContext,
    context: &RequestContext<RoleServer>,
    patience: Duration,
) -> ToolContext {
    cx.with_asker(Arc::new(Live {
        peer: context.peer.clone(),
        patience,
    }))
}
