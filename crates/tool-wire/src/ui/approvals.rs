//! Answers to approval requests, read from the requests of a user interface.

use serde_json::Value;
use tool_core::__private0::approval_row;
use tool_core::store::{ApprovalKind, ApprovalRow, Workspace};
use tool_core::{ApprovalError, Approvals, Reply, Route, Toolset};

use super::UiError;

/// The answers to approval requests in an interface's message.
///
/// Read them from the body that `useChat` posts (an object with `messages`) or from the list of messages itself. Only the last message
/// counts: the parts of its last step, or the parts of a message with the role `tool`.
#[derive(Clone, Debug, Default)]
pub struct ApprovalResponses {
    message: Option<String>,
    responses: Vec<ApprovalResponse>,
    parts: Vec<Part>,
    ready: bool,
}

/// A part of the last step that is about a call.
#[derive(Clone, Debug)]
struct Part {
    call: String,
    tool: String,
    state: String,
    preliminary: bool,
    input: Value,
    approved: Option<bool>,
}

/// A person's answer to one approval request.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct ApprovalResponse {
    /// The approval that was requested: the token of the [`Ticket`](tool_core::Ticket).
    pub approval: String,
    /// The id of the call, if the interface sends it.
    pub call: Option<String>,
    /// Whether the person approved.
    pub approved: bool,
    /// The reason that the person gave.
    pub reason: Option<String>,
    /// The arguments that the person saw, if the interface sends them.
    pub input: Option<Value>,
}

impl ApprovalResponses {
    /// Reads the answers from the JSON body that an interface has sent.
    ///
    /// ```
    /// use tool_wire::ui::ApprovalResponses;
    ///
    /// let answers = ApprovalResponses::read(r#"{"id": "chat-1", "messages": [
    ///     {"id": "u-1", "role": "user", "parts": [{"type": "text", "text": "Mail Bob."}]},
    ///     {"id": "a-1", "role": "assistant", "parts": [
    ///         {"type": "step-start"},
    ///         {"type": "tool-send_mail", "toolCallId": "c-1", "state": "approval-responded", "input": {"to": "bob"},
    ///          "approval": {"id": "ta1.token", "approved": false, "reason": "not today"}}
    ///     ]}
    /// ]}"#)?;
    /// assert!(answers.is_ready());
    /// assert_eq!(answers.message(), Some("a-1"));
    /// let [response] = answers.responses() else { unreachable!() };
    /// assert_eq!((response.approved, response.reason.as_deref()), (false, Some("not today")));
    /// # Ok::<(), tool_wire::ui::UiError>(())
    /// ```
    pub fn read(body: &str) -> Result<Self, UiError> {
        let Some((last, place)) = last_message(body)? else {
            return Ok(Self::default());
        };
        match text(&last, "role", &place)?.as_str() {
            "assistant" => Self::interface(&last, &place),
            "tool" => Self::model(&last, &place),
            _ => Ok(Self::default()),
        }
    }

    /// Reads a message in the interface's own format.
    fn interface(message: &Value, place: &str) -> Result<Self, UiError> {
        let mut answers = Self {
            message: message.get("id").and_then(Value::as_str).map(str::to_owned),
            ..Self::default()
        };
        let Some(Value::Array(parts)) = message.get("parts") else {
            return Err(wrong(&format!("{place}/parts"), "a list of parts"));
        };
        let is_step = |part: &Value| part.get("type").is_some_and(|kind| kind == "step-start");
        let from = parts.iter().rposition(is_step).map_or(0, |at| at + 1);
        for (at, part) in parts.iter().enumerate().skip(from) {
            let place = format!("{place}/parts/{at}");
            let kind = text(part, "type", &place)?;
            let tool = match kind.strip_prefix("tool-") {
                Some(tool) => tool.to_owned(),
                None if kind == "dynamic-tool" => text(part, "toolName", &place)?,
                None => continue,
            };
            // The provider itself requests approvals for the tools that it runs.
            if part.get("providerExecuted") == Some(&Value::Bool(true)) {
                continue;
            }
            answers.part(tool, part, &place)?;
        }
        // Under the same condition (`lastAssistantMessageIsCompleteWithApprovalResponses` of the AI SDK), an interface sends automatically.
        let responded = |part: &Part| part.state == "approval-responded";
        answers.ready =
            answers.parts.iter().any(responded) && answers.parts.iter().all(Part::is_settled);
        Ok(answers)
    }

    fn part(&mut self, tool: String, part: &Value, place: &str) -> Result<(), UiError> {
        let (call, state) = (
            text(part, "toolCallId", place)?,
            text(part, "state", place)?,
        );
        let input = part.get("input").cloned().unwrap_or_default();
        let mut approved = None;
        if state == "approval-responded" {
            let place = format!("{place}/approval");
            let approval = part
                .get("approval")
                .ok_or_else(|| wrong(&place, "an answer"))?;
            let yes = boolean(approval, "approved", &place)?;
            approved = Some(yes);
            self.responses.push(ApprovalResponse {
                approval: text(approval, "id", &place)?,
                call: Some(call.clone()),
                approved: yes,
                reason: reason(approval),
                input: Some(input.clone()),
            });
        }
        self.parts.push(Part {
            call,
            tool,
            state,
            preliminary: part.get("preliminary") == Some(&Value::Bool(true)),
            input,
            approved,
        });
        Ok(())
    }

    /// Reads a message in the format for a model, with the role `tool`.
    fn model(message: &Value, place: &str) -> Result<Self, UiError> {
        let mut answers = Self::default();
        let Some(Value::Array(parts)) = message.get("content") else {
            return Err(wrong(&format!("{place}/content"), "a list of parts"));
        };
        for (at, part) in parts.iter().enumerate() {
            let place = format!("{place}/content/{at}");
            let own = part.get("providerExecuted") != Some(&Value::Bool(true));
            if text(part, "type", &place)? == "tool-approval-response" && own {
                answers.responses.push(ApprovalResponse {
                    approval: text(part, "approvalId", &place)?,
                    call: None,
                    approved: boolean(part, "approved", &place)?,
                    reason: reason(part),
                    input: None,
                });
            }
        }
        answers.ready = !answers.responses.is_empty();
        Ok(answers)
    }

    /// Returns the answers, in the order of their calls; empty if the last message contains none.
    pub fn responses(&self) -> &[ApprovalResponse] {
        &self.responses
    }

    /// Returns whether every call of the last step has an answer, an output, an error or a denial, and at least one has an answer: then the turn can
    /// continue. An interface sends automatically under the same condition. For a message with the role `tool`, returns whether it has an answer.
    pub fn is_ready(&self) -> bool {
        self.ready
    }

    /// Returns the id of the message that contains the answers; `None` if the message has the role `tool` or no id. The next stream continues this
    /// message.
    pub fn message(&self) -> Option<&str> {
        self.message.as_deref()
    }

    /// Returns the calls of the last step that have no result yet: id, tool, arguments, and the answer.
    pub(super) fn open(&self) -> impl Iterator<Item = (&str, &str, String, Option<bool>)> {
        let open = self.parts.iter().filter(|part| !part.is_over());
        open.map(|part| {
            (
                part.call.as_str(),
                part.tool.as_str(),
                part.input.to_string(),
                part.approved,
            )
        })
    }
}

impl Part {
    fn is_over(&self) -> bool {
        match self.state.as_str() {
            "output-available" => !self.preliminary,
            "output-error" | "output-denied" => true,
            _ => false,
        }
    }

    fn is_settled(&self) -> bool {
        self.is_over() || self.state == "approval-responded"
    }
}

impl ApprovalResponse {
    /// Returns the stored request that the answer is for. Fails with [`ApprovalError::Invalid`] if the host has not issued the token, or if the
    /// stored request is missing or differs from the token.
    ///
    /// Compare its workspace and its conversation with the workspace and the conversation of the request before you [submit](Self::submit) the
    /// answer.
    pub async fn row(&self, approvals: &Approvals) -> Result<ApprovalRow, ApprovalError> {
        approval_row(approvals, &self.approval).await
    }

    /// Submits the answer to its approval request. Fails with [`ApprovalError::Store`] if the request was answered before or has expired. `approver`
    /// is the user whom the host has authenticated. The returned [`Route`] is the host's next step.
    ///
    /// If the interface sends the arguments of a call, they must equal the arguments of the request. Otherwise the interface has shown the person
    /// different arguments than the call would run with, and the error is [`ApprovalError::Tampered`].
    pub async fn submit(
        &self,
        workspace: &Workspace,
        approvals: &Approvals,
        tools: &Toolset,
        approver: &str,
    ) -> Result<Route, ApprovalError> {
        let row = approval_row(approvals, &self.approval).await?;
        if row.request.kind == ApprovalKind::Call
            && let Some(shown) = &self.input
        {
            let asked = serde_json::from_str::<Value>(&row.request.arguments);
            if !asked.is_ok_and(|asked| same(&asked, shown)) {
                return Err(ApprovalError::Tampered);
            }
        }
        let reply = if self.approved {
            Reply::Approve
        } else {
            Reply::Deny
        };
        approvals
            .answer(
                workspace,
                tools,
                &self.approval,
                reply,
                approver,
                self.reason.as_deref(),
            )
            .await
    }
}

/// Returns whether two values are equal for an interface, whose numbers are all `f64`.
fn same(one: &Value, other: &Value) -> bool {
    match (one, other) {
        (Value::Number(one), Value::Number(other)) => one.as_f64() == other.as_f64(),
        (Value::Array(one), Value::Array(other)) => {
            one.len() == other.len() && one.iter().zip(other).all(|(one, other)| same(one, other))
        }
        (Value::Object(one), Value::Object(other)) => {
            let in_other = |(key, one): (&String, &Value)| {
                other.get(key).is_some_and(|other| same(one, other))
            };
            one.len() == other.len() && one.iter().all(in_other)
        }
        _ => one == other,
    }
}

/// Returns the last message that an interface has sent, and its place in the body; `None` if the list is empty.
pub(super) fn last_message(body: &str) -> Result<Option<(Value, String)>, UiError> {
    let mut body: Value =
        serde_json::from_str(body).map_err(|error| wrong("", &format!("JSON ({error})")))?;
    let (messages, place) = match &mut body {
        Value::Array(messages) => (messages, ""),
        body => match body.get_mut("messages") {
            Some(Value::Array(messages)) => (messages, "/messages"),
            _ => return Err(wrong("/messages", "a list of messages")),
        },
    };
    let last = messages.pop();
    Ok(last.map(|last| (last, format!("{place}/{}", messages.len()))))
}

pub(super) fn wrong(pointer: &str, expected: &str) -> UiError {
    UiError::Request {
        pointer: pointer.to_owned(),
        expected: expected.to_owned(),
    }
}

pub(super) fn text(of: &Value, key: &str, place: &str) -> Result<String, UiError> {
    let text = of.get(key).and_then(Value::as_str);
    let wrong = || wrong(&format!("{place}/{key}"), "text");
    text.map(str::to_owned).ok_or_else(wrong)
}

fn boolean(of: &Value, key: &str, place: &str) -> Result<bool, UiError> {
    let truth = of.get(key).and_then(Value::as_bool);
    truth.ok_or_else(|| wrong(&format!("{place}/{key}"), "true or false"))
}

fn reason(of: &Value) -> Option<String> {
    of.get("reason").and_then(Value::as_str).map(str::to_owned)
}
