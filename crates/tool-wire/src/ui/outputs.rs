//! Outputs of client tools, read from the requests of a user interface.

use serde_json::Value;
use serde_json::value::to_raw_value;
use tool_core::turn::ClientResult;

use super::UiError;
use super::approvals::{last_message, text, wrong};

/// Reads the results of client tools from the request of an interface, for [`Turns::supply`](tool_core::turn::Turns::supply): the outputs and errors
/// in the last step of the last message, if that message is the assistant's.
///
/// The body is the object with `messages` that `useChat` posts, or the list of messages itself. An interface sends the results of all tools of
/// the step, so the list also contains results of tools that the host has run. Use only the results of open calls of client tools, as
/// [`BegunRun::drive`](tool_core::turn::BegunRun::drive) does. Progress (preliminary outputs) and tools that the provider has run are left out.
///
/// ```
/// use tool_wire::ui::client_results;
///
/// let body = r#"{"id": "chat-1", "messages": [{"id": "a-1", "role": "assistant", "parts": [
///     {"type": "step-start"},
///     {"type": "dynamic-tool", "toolName": "ask_color", "toolCallId": "c-1", "state": "output-available", "input": {}, "output": {"color": "red"}}
/// ]}]}"#;
/// let results = client_results(body)?;
/// assert_eq!((results.len(), results[0].call()), (1, "c-1"));
/// # Ok::<(), tool_wire::ui::UiError>(())
/// ```
pub fn client_results(body: &str) -> Result<Vec<ClientResult>, UiError> {
    let Some((message, place)) = last_message(body)? else {
        return Ok(Vec::new());
    };
    if text(&message, "role", &place)? != "assistant" {
        return Ok(Vec::new());
    }
    let Some(Value::Array(parts)) = message.get("parts") else {
        return Err(wrong(&format!("{place}/parts"), "a list of parts"));
    };
    let is_step = |part: &Value| part.get("type").is_some_and(|kind| kind == "step-start");
    let from = parts.iter().rposition(is_step).map_or(0, |at| at + 1);
    let mut results = Vec::new();
    for (at, part) in parts.iter().enumerate().skip(from) {
        let place = format!("{place}/parts/{at}");
        let kind = text(part, "type", &place)?;
        let is_tool = kind.starts_with("tool-") || kind == "dynamic-tool";
        let is_set = |key: &str| part.get(key) == Some(&Value::Bool(true));
        if !is_tool || is_set("providerExecuted") || is_set("preliminary") {
            continue;
        }
        let call = text(part, "toolCallId", &place)?;
        match &*text(part, "state", &place)? {
            "output-available" => {
                let output = part.get("output").unwrap_or(&Value::Null);
                let output = to_raw_value(output);
                let output = output.map_err(|_| wrong(&format!("{place}/output"), "JSON"))?;
                results.push(ClientResult::output(call, output));
            }
            "output-error" => {
                let why = text(part, "errorText", &place)?;
                results.push(ClientResult::failed(call, why));
            }
            _ => {}
        }
    }
    Ok(results)
}
