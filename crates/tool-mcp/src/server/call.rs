//! The `tools/call` request: runs a call through the gate, reports its progress, and cancels it when the client cancels the request or disconnects.

use futures::future::BoxFuture;
use futures::stream::BoxStream;
use futures::{FutureExt as _, Stream, StreamExt as _};
use rmcp::ErrorData;
use rmcp::model::{CallToolRequestParams, ProgressNotificationParam, ProgressToken};
use rmcp::service::{RequestContext, RoleServer};
use serde::Deserialize;
use serde_json::value::RawValue;
use tool_core::{CallResult, ErrorKind, ToolCall, ToolContext, ToolEvent, Toolset};

use super::message::RawArguments;

/// Returns the JSON text of a call's arguments.
pub(crate) fn arguments(
    params: &CallToolRequestParams,
    context: &RequestContext<RoleServer>,
) -> Result<String, ErrorData> {
    if let Some(RawArguments(text)) = context.extensions.get() {
        return Ok(text.as_ref().to_owned());
    }
    #[cfg(feature = "http")]
    if let Some(parts) = context.extensions.get::<http::request::Parts>()
        && let Some(RawArguments(text)) = parts.extensions.get()
    {
        return Ok(text.as_ref().to_owned());
    }
    // The request has no arguments, or came over a transport of rmcp itself, which has parsed them.
    match &params.arguments {
        None => Ok("{}".to_owned()),
        Some(arguments) => serde_json::to_string(arguments)
            .map_err(|error| ErrorData::invalid_params(error.to_string(), None)),
    }
}

/// A call to run: from its beginning, or as the continuation of a call whose ticket was answered.
pub(crate) enum Start {
    /// A call from its beginning.
    Call(ToolCall),
    /// A call whose ticket a person has answered, with the token of the ticket.
    Resume(ToolCall, String),
}

impl Start {
    /// Runs the call. The future is boxed, because rmcp moves the future of a request several times before it runs.
    fn run<'a>(self, tools: &'a Toolset, cx: &'a ToolContext) -> BoxFuture<'a, CallResult> {
        match self {
            Self::Call(call) => tools.call(call, cx).boxed(),
            Self::Resume(_, token) => async move { tools.resume(&token, cx).await }.boxed(),
        }
    }

    pub(crate) fn stream(self, tools: &Toolset, cx: &ToolContext) -> BoxStream<'static, ToolEvent> {
        match self {
            Self::Call(call) => tools.stream(call, cx).boxed(),
            Self::Resume(_, token) => tools.resume_stream(&token, cx).boxed(),
        }
    }

    fn call(&self) -> &ToolCall {
        match self {
            Self::Call(call) | Self::Resume(call, _) => call,
        }
    }
}

/// Runs a call until it ends. The tool's future is dropped if the client cancels the call or disconnects.
pub(crate) async fn run(
    tools: &Toolset,
    start: Start,
    cx: &ToolContext,
    context: &RequestContext<RoleServer>,
) -> Result<CallResult, ErrorData> {
    let done = async {
        match context.meta.get_progress_token() {
            None => start.run(tools, cx).await,
            Some(token) => {
                let id = start.call().clone();
                let events = start.stream(tools, cx);
                Box::pin(told(events, token, context))
                    .await
                    .unwrap_or_else(|| {
                        let ended = tool_core::ToolError::of(
                            ErrorKind::Failed,
                            "the call ended without a result",
                        );
                        CallResult::refused(id, ended)
                    })
            }
        }
    };
    let result = tokio::select! {
        biased;
        result = done => result,
        // The client has cancelled the request, so it does not read this error.
        () = context.ct.cancelled() => return Err(ErrorData::internal_error("the call was cancelled", None)),
    };
    Ok(result)
}

/// Returns a protocol error if the tool is unknown. Every other error is part of the result, which the model reads.
pub(crate) fn known(result: &CallResult) -> Result<(), ErrorData> {
    match result.error() {
        Some(error) if error.kind() == ErrorKind::UnknownTool => {
            Err(ErrorData::invalid_params(error.model_text(), None))
        }
        _ => Ok(()),
    }
}

/// Reports each progress step to the client, and returns the result.
async fn told(
    events: impl Stream<Item = ToolEvent>,
    token: ProgressToken,
    context: &RequestContext<RoleServer>,
) -> Option<CallResult> {
    let mut events = std::pin::pin!(events);
    let mut steps = Steps::default();
    while let Some(event) = events.next().await {
        match event {
            ToolEvent::Started => {}
            ToolEvent::Progress(step) => {
                tell(&mut steps, &step, &token, context).await;
            }
            ToolEvent::Done(result) => return Some(result),
        }
    }
    None
}

/// Reports one progress step to the client.
pub(crate) async fn tell(
    steps: &mut Steps,
    step: &RawValue,
    token: &ProgressToken,
    context: &RequestContext<RoleServer>,
) {
    if let Some(step) = steps.next(step, token.clone())
        && let Err(error) = context.peer.notify_progress(step).await
    {
        tracing::debug!(%error, "a progress notification could not be sent");
    }
}

/// Progress reported so far. MCP requires that `progress` only increases.
#[derive(Default)]
pub(crate) struct Steps {
    last: Option<f64>,
}

/// A progress step that contains its own number.
#[derive(Deserialize)]
struct Measured {
    progress: f64,
    #[serde(default)]
    total: Option<f64>,
    #[serde(default)]
    message: Option<String>,
}

impl Steps {
    /// Converts a step to an MCP progress notification. The notification for an object with a number `progress`, and optionally `total` and
    /// `message`, has these values. Any other step is counted, and its text (the value of a JSON string, otherwise the JSON) is the message. A step
    /// whose `progress` does not increase is skipped, because the protocol requires it to increase.
    fn next(&mut self, step: &RawValue, token: ProgressToken) -> Option<ProgressNotificationParam> {
        let text = step.get();
        let measured = text
            .starts_with('{')
            .then(|| serde_json::from_str::<Measured>(text).ok())
            .flatten()
            .filter(|measured| measured.progress.is_finite());
        let Some(measured) = measured else {
            let at = self.last.map_or(1.0, |last| last.floor() + 1.0);
            self.last = Some(at);
            let message = serde_json::from_str::<String>(text).unwrap_or_else(|_| text.to_owned());
            return Some(ProgressNotificationParam::new(token, at).with_message(message));
        };
        if self.last.is_some_and(|last| measured.progress <= last) {
            return None;
        }
        self.last = Some(measured.progress);
        let mut told = ProgressNotificationParam::new(token, measured.progress);
        told.total = measured.total;
        told.message = measured.message;
        Some(told)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rmcp::model::NumberOrString;

    fn told(steps: &[&str]) -> Vec<(f64, Option<f64>, Option<String>)> {
        let mut all = Steps::default();
        let token = ProgressToken(NumberOrString::Number(1));
        let raw = |step: &&str| RawValue::from_string((*step).to_owned()).unwrap();
        let told = steps
            .iter()
            .map(raw)
            .filter_map(|step| all.next(&step, token.clone()));
        told.map(|step| (step.progress, step.total, step.message))
            .collect()
    }

    #[test]
    fn measured_progress_is_passed_on_and_other_steps_are_counted() {
        let steps = [
            r#"{"progress":0,"total":100}"#,
            r#"{"progress":50.5,"message":"half"}"#,
            r#"{"progress":50}"#,
        ];
        let expected = [
            (0.0, Some(100.0), None),
            (50.5, None, Some("half".to_owned())),
        ];
        assert_eq!(told(&steps), expected);
        let expected = [
            (1.0, None, Some("reading".to_owned())),
            (2.0, None, Some(r#"{"read":2}"#.to_owned())),
        ];
        assert_eq!(told(&[r#""reading""#, r#"{"read":2}"#]), expected);
        assert_eq!(
            told(&[r#"{"progress":7.5}"#, "3"])[1],
            (8.0, None, Some("3".to_owned()))
        );
    }
}
