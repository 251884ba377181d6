//! Parsing of JSON-RPC messages, and the errors for malformed messages.
//!
//! rmcp's own parsing is lenient: it turns `arguments` into a map (it uses the last of two equal keys, and rounds big numbers), responds to malformed
//! parameters with "method not found", and drops messages that it cannot parse. Here the text of `arguments` is preserved, and a response to
//! a malformed message has the right error code.

use std::borrow::Cow;
use std::sync::Arc;

use rmcp::model::{
    CallToolRequest, CallToolRequestParams, ClientJsonRpcMessage, ClientNotification,
    ClientRequest, ErrorData, GetMeta as _, InputResponses, JsonRpcError, JsonRpcMessage,
    RequestId, RequestMetaObject,
};
use serde::Deserialize;
use serde_json::value::RawValue;

use super::verbatim::Rendered;

mod quick;

/// The text of a call's `arguments`, as the client wrote it.
#[derive(Clone, Debug)]
pub(crate) struct RawArguments(pub(crate) Arc<str>);

/// A JSON-RPC error for a message that is rejected.
#[derive(Debug)]
pub(crate) struct Reject {
    id: Option<RequestId>,
    error: ErrorData,
    /// Whether the message was a notification or a response, to which the server does not respond over stdio.
    quiet: bool,
}

impl Reject {
    fn parse(why: impl std::fmt::Display) -> Self {
        Self {
            id: None,
            error: ErrorData::parse_error(format!("the message is not JSON: {why}"), None),
            quiet: false,
        }
    }

    fn request(id: Option<RequestId>, why: impl Into<Cow<'static, str>>) -> Self {
        Self {
            id,
            error: ErrorData::invalid_request(why, None),
            quiet: false,
        }
    }

    fn params(id: Option<RequestId>, why: impl Into<String>) -> Self {
        Self {
            id,
            error: ErrorData::invalid_params(why.into(), None),
            quiet: false,
        }
    }

    /// Returns the error for a message that is longer than the limit.
    #[cfg(feature = "stdio")]
    pub(crate) fn too_long(most: usize) -> Self {
        Self {
            id: None,
            error: ErrorData::invalid_request(
                format!("the message is longer than {most} bytes"),
                None,
            ),
            quiet: false,
        }
    }

    /// Sets whether the response is omitted over stdio.
    fn quietly(mut self, quiet: bool) -> Self {
        self.quiet = quiet;
        self
    }

    #[cfg(feature = "stdio")]
    pub(crate) fn is_quiet(&self) -> bool {
        self.quiet
    }

    pub(crate) fn into_message(self) -> JsonRpcError {
        JsonRpcError::new(self.id, self.error)
    }
}

/// The top level of a message; its members are not parsed yet.
#[derive(Deserialize)]
struct Envelope<'a> {
    #[serde(borrow)]
    jsonrpc: Option<&'a RawValue>,
    // `null` differs from a missing key here: a message without an `id` is a notification.
    #[serde(borrow, default, deserialize_with = "present")]
    id: Option<&'a RawValue>,
    #[serde(borrow)]
    method: Option<&'a RawValue>,
    #[serde(borrow)]
    params: Option<&'a RawValue>,
    #[serde(borrow)]
    result: Option<&'a RawValue>,
    #[serde(borrow)]
    error: Option<&'a RawValue>,
}

fn present<'de, D: serde::Deserializer<'de>>(
    deserializer: D,
) -> Result<Option<&'de RawValue>, D::Error> {
    <&RawValue>::deserialize(deserializer).map(Some)
}

/// The parameters of `tools/call`.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct CallParams<'a> {
    #[serde(borrow)]
    name: Option<&'a RawValue>,
    #[serde(borrow)]
    arguments: Option<&'a RawValue>,
    #[serde(default, rename = "_meta")]
    meta: Option<RequestMetaObject>,
    #[serde(default)]
    input_responses: Option<InputResponses>,
    #[serde(default)]
    request_state: Option<String>,
}

/// A message with a valid top level.
pub(crate) enum Incoming<'a> {
    /// A `tools/call` request, which this module has parsed.
    Call(Call<'a>),
    /// Any other message, which rmcp parses.
    Other(Other<'a>),
}

/// A call of a tool.
#[cfg_attr(test, derive(Debug, PartialEq))]
pub(crate) struct Call<'a> {
    id: RequestId,
    pub(crate) name: String,
    /// The text of the `arguments` object, if present.
    pub(crate) arguments: Option<&'a str>,
    meta: Option<RequestMetaObject>,
    input_responses: Option<InputResponses>,
    request_state: Option<String>,
}

/// A message that rmcp parses.
pub(crate) struct Other<'a> {
    text: &'a str,
    id: Option<RequestId>,
    /// The method of a request or notification; `None` for a response.
    pub(crate) method: Option<String>,
}

/// Parses one JSON-RPC message, first with the fast path for well-formed calls.
pub(crate) fn read(bytes: &[u8]) -> Result<Incoming<'_>, Reject> {
    let text = std::str::from_utf8(bytes).map_err(Reject::parse)?;
    match quick::call(text) {
        Some(call) => Ok(Incoming::Call(call)),
        None => piecemeal(text),
    }
}

/// Parses one message step by step, to report its exact error.
fn piecemeal(text: &str) -> Result<Incoming<'_>, Reject> {
    let envelope: Envelope<'_> = serde_json::from_str(text).map_err(|error| {
        if !error.is_data() {
            Reject::parse(error)
        } else if text.trim_start().starts_with('{') {
            // The message is an object with a fault, such as a duplicate key.
            Reject::request(
                None,
                format!("the message is not a JSON-RPC object: {error}"),
            )
        } else {
            let why = "the message is not one JSON-RPC object; batches are not part of MCP";
            Reject::request(None, why)
        }
    })?;
    let is_answer = envelope.method.is_none();
    // The response to a message that could not be parsed has an `id` of null.
    let id = envelope.id.map(RawValue::get);
    let id = id.filter(|id| !(is_answer && *id == "null"));
    let id = id.map(serde_json::from_str);
    let id = match id {
        None => None,
        Some(Ok(id)) => Some(id),
        Some(Err(_)) => {
            return Err(Reject::request(
                None,
                "`id` is neither a string nor an integer",
            ));
        }
    };
    if envelope.jsonrpc.map(RawValue::get) != Some(r#""2.0""#) {
        return Err(Reject::request(id, "`jsonrpc` is not \"2.0\""));
    }
    let Some(method) = envelope.method else {
        return match (envelope.result, envelope.error) {
            (None, None) => Err(Reject::request(id, "`method` is missing")),
            (Some(_), Some(_)) => Err(Reject::request(
                id,
                "the message has both a `result` and an `error`",
            )
            .quietly(true)),
            _ => Ok(Incoming::Other(Other {
                text,
                id,
                method: None,
            })),
        };
    };
    let Ok(method) = serde_json::from_str::<String>(method.get()) else {
        return Err(Reject::request(id, "`method` is not a string"));
    };
    if let Some(params) = envelope.params
        && !params.get().starts_with('{')
    {
        let quiet = id.is_none();
        return Err(Reject::params(id, "`params` is not an object").quietly(quiet));
    }
    if method.ends_with("/list")
        && let Some(params) = envelope.params
        && serde_json::from_str::<Paged>(params.get()).is_err()
    {
        let quiet = id.is_none();
        return Err(Reject::params(id, "`params.cursor` is not a string").quietly(quiet));
    }
    match id {
        Some(id) if method == "tools/call" => call(id, envelope.params).map(Incoming::Call),
        id => Ok(Incoming::Other(Other {
            text,
            id,
            method: Some(method),
        })),
    }
}

/// The parameters of a list request; rmcp treats a cursor of the wrong type as missing.
#[derive(Deserialize)]
struct Paged {
    #[serde(default, rename = "cursor")]
    _cursor: Option<String>,
}

fn call(id: RequestId, params: Option<&RawValue>) -> Result<Call<'_>, Reject> {
    let Some(params) = params else {
        return Err(Reject::params(
            Some(id),
            "`params` is missing: `params.name` is required",
        ));
    };
    let params: CallParams<'_> = match serde_json::from_str(params.get()) {
        Ok(params) => params,
        Err(error) => return Err(Reject::params(Some(id), format!("`params`: {error}"))),
    };
    let Some(name) = params.name else {
        return Err(Reject::params(Some(id), "`params.name` is missing"));
    };
    let Ok(name) = serde_json::from_str(name.get()) else {
        return Err(Reject::params(Some(id), "`params.name` is not a string"));
    };
    let arguments = match params.arguments.map(RawValue::get) {
        None | Some("null") => None,
        Some(text) if text.starts_with('{') => Some(text),
        Some(_) => {
            return Err(Reject::params(
                Some(id),
                "`params.arguments` is not an object",
            ));
        }
    };
    Ok(Call {
        id,
        name,
        arguments,
        meta: params.meta,
        input_responses: params.input_responses,
        request_state: params.request_state,
    })
}

impl Call<'_> {
    /// Converts the call to an rmcp message, with the text of the arguments in its extensions. The arguments are parsed to a map only if `parsed` is set.
    #[cfg_attr(
        not(feature = "stdio"),
        expect(dead_code, reason = "over HTTP, rmcp makes the message itself")
    )]
    pub(crate) fn into_message(self, parsed: bool) -> Result<ClientJsonRpcMessage, Reject> {
        let mut params = CallToolRequestParams::new(self.name);
        if parsed && let Some(text) = self.arguments {
            match serde_json::from_str(text) {
                Ok(arguments) => params.arguments = Some(arguments),
                Err(error) => {
                    return Err(Reject::params(
                        Some(self.id),
                        format!("`params.arguments`: {error}"),
                    ));
                }
            }
        }
        params.input_responses = self.input_responses;
        params.request_state = self.request_state;
        let mut request = CallToolRequest::new(params);
        if let Some(meta) = self.meta {
            request.extensions.insert(meta);
        }
        if let Some(text) = self.arguments {
            request.extensions.insert(RawArguments(text.into()));
        }
        request.extensions.insert(Rendered);
        Ok(JsonRpcMessage::request(
            ClientRequest::CallToolRequest(request),
            self.id,
        ))
    }
}

impl Other<'_> {
    /// Parses the message with rmcp.
    pub(crate) fn into_message(self) -> Result<ClientJsonRpcMessage, Reject> {
        let Some(method) = self.method else {
            return serde_json::from_str(self.text).map_err(|_| {
                Reject::request(self.id, "this is not a JSON-RPC response").quietly(true)
            });
        };
        let mut message: ClientJsonRpcMessage =
            serde_json::from_str(self.text).map_err(|error| {
                Reject::params(self.id.clone(), format!("`params` are invalid: {error}"))
                    .quietly(self.id.is_none())
            })?;
        // rmcp treats a message that it cannot parse as a custom method.
        let unread = match &message {
            JsonRpcMessage::Request(request) => {
                matches!(request.request, ClientRequest::CustomRequest(_))
            }
            JsonRpcMessage::Notification(message) => {
                matches!(
                    message.notification,
                    ClientNotification::CustomNotification(_)
                )
            }
            JsonRpcMessage::Response(_) | JsonRpcMessage::Error(_) => false,
        };
        let removed = REMOVED.contains(&method.as_str()) && is_modern(&message);
        if unread && !removed && METHODS.contains(&method.as_str()) {
            let quiet = self.id.is_none();
            let why = format!("`params` are not valid for `{method}`");
            return Err(Reject::params(self.id, why).quietly(quiet));
        }
        message.insert_extension(Rendered);
        Ok(message)
    }
}

/// Returns whether a request contains its protocol version, which all requests do since 2026-07-28.
fn is_modern(message: &ClientJsonRpcMessage) -> bool {
    match message {
        JsonRpcMessage::Request(request) => request.request.get_meta().protocol_version().is_some(),
        _ => false,
    }
}

/// Methods that the 2026-07-28 protocol removed; they are rejected regardless of their parameters.
const REMOVED: [&str; 5] = [
    "initialize",
    "logging/setLevel",
    "ping",
    "resources/subscribe",
    "resources/unsubscribe",
];

/// The client methods that rmcp supports.
pub(crate) const METHODS: [&str; 25] = [
    "completion/complete",
    "initialize",
    "logging/setLevel",
    "notifications/cancelled",
    "notifications/initialized",
    "notifications/progress",
    "notifications/roots/list_changed",
    "ping",
    "prompts/get",
    "prompts/list",
    "resources/directory/read",
    "resources/list",
    "resources/read",
    "resources/subscribe",
    "resources/templates/list",
    "resources/unsubscribe",
    "server/discover",
    "skills/get",
    "skills/list",
    "subscriptions/listen",
    "tasks/cancel",
    "tasks/get",
    "tasks/update",
    "tools/call",
    "tools/list",
];

#[cfg(test)]
mod tests;
