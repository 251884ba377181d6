//! Calls of tools that the client runs, and their results.

use serde_json::value::RawValue;

use super::{Turn, TurnError, Turns};
use crate::call::CallResult;
use crate::context::ToolContext;
use crate::error::ToolError;
use crate::output::Output;
use crate::run::{fits, within_limit};
use crate::tool::ToolDef;
use crate::toolset::Toolset;

/// The result of a call that the client has run, for [`Turns::supply`].
///
/// ```
/// use serde_json::{json, value::to_raw_value};
/// use tool_core::turn::ClientResult;
///
/// let answer = ClientResult::output("call_0", to_raw_value(&json!({"color": "red"}))?);
/// let failure = ClientResult::failed("call_1", "the user closed the window");
/// # let _ = (answer, failure);
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct ClientResult {
    /// The provider's id of the call.
    pub(super) call: String,
    outcome: Result<Box<RawValue>, String>,
}

impl ClientResult {
    /// Creates the result of a call that succeeded.
    pub fn output(call: impl Into<String>, output: Box<RawValue>) -> Self {
        Self {
            call: call.into(),
            outcome: Ok(output),
        }
    }

    /// Creates the result of a call that failed. The model reads the text.
    pub fn failed(call: impl Into<String>, text: impl Into<String>) -> Self {
        Self {
            call: call.into(),
            outcome: Err(text.into()),
        }
    }

    /// Returns the provider's id of the call.
    pub fn call(&self) -> &str {
        &self.call
    }

    /// Replaces the id of the call.
    #[must_use]
    pub fn for_call(mut self, call: impl Into<String>) -> Self {
        self.call = call.into();
        self
    }

    /// Replaces the result of a client call with the client's result. If the output does not match the tool's output schema, exceeds the tool's limit
    /// or fails the tool's check, the result is an error, so that the turn continues.
    pub(super) fn complete(&self, tools: &Toolset, result: &mut CallResult, cx: &ToolContext) {
        let outcome = match &self.outcome {
            Err(text) => Err(ToolError::new(text.clone())),
            Ok(output) => match tools.get(&result.name) {
                Some(tool) => checked(tool, result.output(), output, cx).map(|()| Output {
                    payload: output.clone(),
                    model: None,
                }),
                None => Err(ToolError::new("the tool of this call no longer exists")),
            },
        };
        result.outcome = cx.redactor().clean(outcome);
    }
}

/// Checks the output of a client against the tool's output schema, its limit, and its check against the arguments of the call.
fn checked(
    tool: &ToolDef,
    arguments: Option<&RawValue>,
    output: &RawValue,
    cx: &ToolContext,
) -> Result<(), ToolError> {
    if let Some(promise) = tool.client_promise() {
        let text = "the client returned an output that does not match the schema of the tool";
        fits(promise, output.get(), cx, text)?;
    }
    within_limit(tool, output.get().len())?;
    match (tool.client_check(), arguments) {
        (Some(check), Some(arguments)) => check.check_result(
            &serde_json::from_str(arguments.get())?,
            &serde_json::from_str(output.get())?,
        ),
        _ => Ok(()),
    }
}

/// Replaces the result of a client call by an error if the tool's own check refuses its arguments, so that the call is not passed to the client.
pub(super) fn check_arguments(tools: &Toolset, result: &mut CallResult, cx: &ToolContext) {
    let check = tools.get(&result.name).and_then(ToolDef::client_check);
    let (Some(check), Some(arguments)) = (check, result.output()) else {
        return;
    };
    let arguments = serde_json::from_str(arguments.get()).map_err(ToolError::from);
    if let Err(error) = arguments.and_then(|arguments| check.check_arguments(&arguments)) {
        result.outcome = cx.redactor().clean(Err(error));
    }
}

/// Returns the arguments of a call that passed the gate and is for the client: with defaults, repairs and the changes of an approver.
pub(super) fn passed_on(tools: &Toolset, result: &CallResult) -> Option<String> {
    let tool = tools.get(result.name())?;
    let arguments = result.output().filter(|_| tool.is_client())?;
    Some(arguments.get().to_owned())
}

impl Turns {
    /// Continues a turn that returned [`Turn::Client`], with the results of the client. The conversation of the context names the thread.
    ///
    /// Each result is stored as the result of its call, and the model reads it in the next [`drive`](Self::drive). If an output does not match the
    /// output schema of the tool, exceeds its limit or fails its [check](crate::DynamicTool::client_check), an error is stored instead. A call that
    /// waits for an approval gets no result before it is approved. A result is ignored if its call already has a stored result.
    ///
    /// ```
    /// use serde_json::{json, value::to_raw_value};
    /// use tool_core::store::MemoryStore;
    /// use tool_core::turn::{ClientResult, ModelMessage, Turn, Turns};
    /// use tool_core::{DynamicTool, Registry, ToolCall, ToolContext};
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// let empty = json!({"type": "object", "properties": {}, "additionalProperties": false});
    /// let color = json!({"type": "object", "properties": {"color": {"type": "string"}}, "required": ["color"]});
    /// let ask = DynamicTool::client("ask_color", "Asks the user for a color.", empty, &color);
    /// let tools = Registry::builder().dynamic(ask).build()?.open();
    ///
    /// let turns = Turns::new(MemoryStore::default());
    /// let cx = ToolContext::builder().workspace("acme").conversation("main").build();
    /// let message = ModelMessage::calls([ToolCall::new("call_0", "ask_color", "{}")]);
    /// let message = turns.record(message, &cx).await?;
    /// let Turn::Client(calls) = turns.run(&tools, &message, &cx).await? else { unreachable!() };
    ///
    /// let answer = ClientResult::output(&*calls[0].id, to_raw_value(&json!({"color": "red"}))?);
    /// let Turn::Complete(results) = turns.supply(&tools, [answer], &cx).await? else { unreachable!() };
    /// assert_eq!(results[0].text, r#"{"color":"red"}"#);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// Fails if a result is not for a call of a client tool in the last message of the model; no result is stored then. Also fails in the same cases
    /// as [`run`](Self::run).
    pub async fn supply(
        &self,
        tools: &Toolset,
        results: impl IntoIterator<Item = ClientResult>,
        cx: &ToolContext,
    ) -> Result<Turn, TurnError> {
        let supplied: Vec<ClientResult> = results.into_iter().collect();
        let message = self.last(cx).await?;
        for result in &supplied {
            let calls = message.iter().flat_map(|message| &message.message().calls);
            let mut own = calls.filter(|call| call.id == result.call);
            let is_client = own.any(|call| {
                let tool = tools.get(&tools.continued(call).name);
                tool.is_some_and(ToolDef::is_client)
            });
            if !is_client {
                return Err(TurnError::NotForClient(result.call.clone()));
            }
        }
        match message {
            Some(message) => self.run_with(tools, &message, cx, &supplied).await,
            None => Ok(Turn::Complete(Vec::new())),
        }
    }
}
