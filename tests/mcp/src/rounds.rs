//! Tools that request input from the client before they finish, with the input-required results of protocol version 2026-07-28.
#![expect(
    deprecated,
    reason = "the suite uses sampling and roots as long as it tests the older protocol"
)]

use rmcp::ErrorData;
use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CallToolResult, ClientCapabilities, ContentBlock,
    CreateMessageRequest, CreateMessageRequestParams, ElicitRequest, ElicitRequestParams,
    InputRequest, InputRequests, InputRequiredResult, JsonObject, ListRootsRequest,
    RequestStateCodec, SamplingMessage,
};
use serde_json::{Value, json};

const PREFIX: &str = "test_input_required_result_";

pub(crate) const NAMES: [&str; 8] = [
    "test_input_required_result_elicitation",
    "test_input_required_result_sampling",
    "test_input_required_result_list_roots",
    "test_input_required_result_request_state",
    "test_input_required_result_multiple_inputs",
    "test_input_required_result_multi_round",
    "test_input_required_result_tampered_state",
    "test_input_required_result_capabilities",
];

/// Returns an elicitation form with one field.
pub(crate) fn form(message: &str, field: &str, kind: &str) -> Result<InputRequest, ErrorData> {
    let schema =
        json!({ "type": "object", "properties": { field: { "type": kind } }, "required": [field] });
    let requested_schema = serde_json::from_value(schema)
        .map_err(|error| ErrorData::internal_error(error.to_string(), None))?;
    let params = ElicitRequestParams::FormElicitationParams {
        meta: None,
        message: message.to_owned(),
        requested_schema,
    };
    Ok(InputRequest::Elicitation(ElicitRequest::new(params)))
}

fn sampling(prompt: &str) -> InputRequest {
    let params = CreateMessageRequestParams::new(vec![SamplingMessage::user_text(prompt)], 100);
    InputRequest::CreateMessage(CreateMessageRequest::new(params))
}

fn roots() -> InputRequest {
    InputRequest::ListRoots(ListRootsRequest::default())
}

#[expect(
    clippy::unnecessary_wraps,
    reason = "the other rounds return a `Result`"
)]
fn done(text: impl Into<String>) -> Result<CallToolResponse, ErrorData> {
    Ok(CallToolResult::success(vec![ContentBlock::text(text)]).into())
}

pub(crate) fn ask<const N: usize>(asked: [(&str, InputRequest); N]) -> InputRequests {
    asked.map(|(key, request)| (key.to_owned(), request)).into()
}

/// One round of a call.
pub(crate) struct Round<'a> {
    pub(crate) codec: &'a RequestStateCodec,
    pub(crate) params: CallToolRequestParams,
    pub(crate) capabilities: ClientCapabilities,
}

impl Round<'_> {
    /// Returns the client's answer under a key. An answer that is not an object is ignored.
    fn answer(&self, key: &str) -> Option<&JsonObject> {
        self.params.input_responses.as_ref()?.get(key)?.as_object()
    }

    fn seal(&self, state: &Value) -> Result<String, ErrorData> {
        let sealed = self.codec.seal_json(state);
        sealed.map_err(|error| ErrorData::internal_error(error.to_string(), None))
    }

    /// Opens the sealed state that the client returned. A modified state is an error.
    fn state(&self) -> Result<Option<Value>, ErrorData> {
        let Some(sealed) = self.params.request_state.as_deref() else {
            return Ok(None);
        };
        let opened = self.codec.open_json(sealed);
        opened
            .map(Some)
            .map_err(|_| ErrorData::invalid_params("the client returned a modified state", None))
    }

    fn with_state(
        &self,
        asked: InputRequests,
        state: &Value,
    ) -> Result<CallToolResponse, ErrorData> {
        Ok(InputRequiredResult::new(Some(asked), Some(self.seal(state)?)).into())
    }

    pub(crate) fn run(&self) -> Result<CallToolResponse, ErrorData> {
        let state = self.state()?;
        let field = |answer: &JsonObject, name: &str| {
            let field = answer.get("content").and_then(|content| content.get(name));
            field.and_then(Value::as_str).unwrap_or_default().to_owned()
        };
        let name = || form("What is your name?", "name", "string");
        match self.params.name.strip_prefix(PREFIX).unwrap_or_default() {
            "elicitation" => match self.answer("user_name") {
                Some(answer) => done(format!("Hello, {}!", field(answer, "name"))),
                None => Ok(
                    InputRequiredResult::from_input_requests(ask([("user_name", name()?)])).into(),
                ),
            },
            #[expect(
                clippy::single_match_else,
                reason = "the other rounds have the same form"
            )]
            "sampling" => match self.answer("capital_question") {
                Some(answer) => done(format!("Sampling response: {:?}", answer.get("content"))),
                None => {
                    let asked = ask([(
                        "capital_question",
                        sampling("What is the capital of France?"),
                    )]);
                    Ok(InputRequiredResult::from_input_requests(asked).into())
                }
            },
            "list_roots" => match self.answer("client_roots") {
                Some(answer) => done(format!("Client roots: {:?}", answer.get("roots"))),
                None => Ok(InputRequiredResult::from_input_requests(ask([(
                    "client_roots",
                    roots(),
                )]))
                .into()),
            },
            "request_state" | "tampered_state" => match state {
                Some(_) => done("Confirmed: state-ok"),
                None => self.with_state(
                    ask([("confirm", form("Please confirm", "ok", "boolean")?)]),
                    &json!(1),
                ),
            },
            "multiple_inputs" => {
                let all = ["user_name", "greeting", "client_roots"];
                if state.is_some() && all.iter().all(|key| self.answer(key).is_some()) {
                    return done("All inputs received");
                }
                let asked = ask([
                    ("user_name", name()?),
                    ("greeting", sampling("Greet me")),
                    ("client_roots", roots()),
                ]);
                self.with_state(asked, &json!(1))
            }
            "multi_round" => match state.and_then(|state| state.as_u64()) {
                None => self.with_state(ask([("step1", name()?)]), &json!(1)),
                Some(1) => self.with_state(
                    ask([("step2", form("Which color?", "color", "string")?)]),
                    &json!(2),
                ),
                Some(_) => done("Multi-round flow complete"),
            },
            "capabilities" => self.capable(),
            other => Err(ErrorData::invalid_params(
                format!("there is no tool {other}"),
                None,
            )),
        }
    }

    /// Requests only input that the client's capabilities support.
    fn capable(&self) -> Result<CallToolResponse, ErrorData> {
        if self.params.input_responses.is_some() {
            return done("Capability-aware flow complete");
        }
        let mut asked = InputRequests::new();
        if self.capabilities.elicitation.is_some() {
            asked.insert(
                "user_name".to_owned(),
                form("What is your name?", "name", "string")?,
            );
        }
        if self.capabilities.sampling.is_some() {
            asked.insert("greeting".to_owned(), sampling("Greet me"));
        }
        if self.capabilities.roots.is_some() {
            asked.insert("client_roots".to_owned(), roots());
        }
        if asked.is_empty() {
            return done("The client has none of the capabilities");
        }
        Ok(InputRequiredResult::from_input_requests(asked).into())
    }
}
