//! A call in one reading.
//!
//! Nearly every message of a client at work is a call that nothing is wrong with. What is not is read again piece by piece, so that
//! its error says what is wrong.

use rmcp::model::{InputResponses, RequestId, RequestMetaObject};
use serde::Deserialize;
use serde_json::value::RawValue;

use super::Call;

#[derive(Deserialize)]
struct Message<'a> {
    // Texts that are written with escapes do not fit, and are read piece by piece too.
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

/// The call that a message is, if all of it is right.
pub(super) fn call(text: &str) -> Option<Call<'_>> {
    // A reading that ends in an error costs more than this look.
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
