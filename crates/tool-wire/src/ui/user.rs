//! A user's message, read from the request of an interface.

use serde_json::Value;
use tool_core::Part;
use tool_core::turn::UserMessage;

use super::UiError;
use super::approvals::{last_message, text, wrong};

/// Reads the user's message from the request of an interface: the texts and files of the last message, for
/// [`Turns::say`](tool_core::turn::Turns::say).
///
/// The body is the object with `messages` that `useChat` posts, or the list of messages itself. Returns `None` if the list is empty, or if the last
/// message is not from a user: then it may have answers to approval requests, which [`ApprovalResponses`](super::ApprovalResponses) reads, or results
/// of client tools, which [`client_results`](super::client_results) reads. Empty texts and parts of other types, such as an application's own parts
/// (`data-…`), are left out.
///
/// ```
/// use tool_core::Part;
/// use tool_wire::ui::user_message;
///
/// let body = r#"{"id": "chat-1", "messages": [{"id": "u-1", "role": "user", "parts": [
///     {"type": "text", "text": "What is on this picture?"},
///     {"type": "file", "mediaType": "image/png", "filename": "cat.png", "url": "data:image/png;base64,iVBORw0KGgo="}
/// ]}]}"#;
/// let message = user_message(body)?.expect("a message of the user");
/// assert_eq!(message.parts()[1], Part::base64("image/png", "iVBORw0KGgo=").named("cat.png"));
/// # Ok::<(), tool_wire::ui::UiError>(())
/// ```
pub fn user_message(body: &str) -> Result<Option<UserMessage>, UiError> {
    let Some((message, place)) = last_message(body)? else {
        return Ok(None);
    };
    if text(&message, "role", &place)? != "user" {
        return Ok(None);
    }
    let Some(Value::Array(all)) = message.get("parts") else {
        return Err(wrong(&format!("{place}/parts"), "a list of parts"));
    };
    let mut parts = Vec::new();
    for (at, part) in all.iter().enumerate() {
        let place = format!("{place}/parts/{at}");
        match &*text(part, "type", &place)? {
            "text" => {
                let content = text(part, "text", &place)?;
                if !content.trim().is_empty() {
                    parts.push(Part::text(content));
                }
            }
            "file" => parts.push(file(part, &place)?),
            _ => {}
        }
    }
    Ok(Some(UserMessage::from(parts)))
}

fn file(part: &Value, place: &str) -> Result<Part, UiError> {
    let (media_type, url) = (text(part, "mediaType", place)?, text(part, "url", place)?);
    let file = match url.strip_prefix("data:") {
        None => Part::url(media_type, url),
        Some(data) => {
            let data = data
                .split_once(',')
                .filter(|(head, _)| head.ends_with(";base64"));
            let Some((_, data)) = data else {
                let expected = "an address, or a `data:` URL with `;base64`";
                return Err(wrong(&format!("{place}/url"), expected));
            };
            Part::base64(media_type, data)
        }
    };
    Ok(match part.get("filename").and_then(Value::as_str) {
        Some(name) => file.named(name),
        None => file,
    })
}
