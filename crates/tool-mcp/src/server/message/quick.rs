//! Fast path for well-formed `tools/call` messages.
//!
//! Nearly every message of a client is a well-formed call. Every other message is parsed step by
//! step, to report its exact error.

use rmcp::model::{InputResponses, RequestId, RequestMetaObject};
use serde::Deserialize;
use serde_json::value::RawValue;

use super::Call;

#[derive(Deserialize)]
struct Message<'a> {
    // Strings with escapes cannot be borrowed, so a message with an escape in `jsonrpc` or `method` also takes the slow path.
    jsonrpc: &'a str,
    id: RequestId,
    method: &'a str,
    #[serde(borrow)]
    params: Params<'a>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Params<'a> {
    name: String,
    #[serde(borrow)]
    arguments: Option<&'a RawValue>,
    #[serde(rename = "_meta")]
    meta: Option<RequestMetaObject>,
    input_responses: Option<InputResponses>,
    request_state: Option<String>,
}

/// Returns the call if the message is a well-formed call.
pub(super) fn call(text: &str) -> Option<Call<'_>> {
    // A failed parse costs more than this search.
    memchr::memmem::find(text.as_bytes(), br#""tools/call""#)?;
    let message: Message<'_> = serde_json::from_str(text).ok()?;
    if message.jsonrpc != "2.0" || message.method != "tools/call" {
        return None;
    }
    let params = message.params;
    let arguments = params.arguments.map(RawValue::get);
    if arguments.is_some_and(|text| !text.starts_with('{')) {
        return None;
    }
    Some(Call {
        id: message.id,
        name: params.name,
        arguments,
        meta: params.meta,
        input_responses: params.input_responses,
        request_state: params.request_state,
    })
}
