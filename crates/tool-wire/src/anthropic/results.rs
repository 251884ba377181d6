//! Results and files in the format of the Anthropic Messages API.

use serde::Serialize;
use serde_json::{Value, json};

use crate::RequestMessages;
use crate::file::{Bytes, File, Piece, piece};
use crate::json::{as_message, json as raw};
use crate::results::{ToolResult, View};

#[derive(Serialize)]
struct Block<'a> {
    r#type: &'static str,
    tool_use_id: &'a str,
    content: Content<'a>,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    is_error: bool,
}

#[derive(Serialize)]
#[serde(untagged)]
enum Content<'a> {
    Text(&'a str),
    Parts(Vec<Value>),
}

/// Writes all results into one message, as the API requires.
pub(crate) fn results(results: &[ToolResult<'_>], out: &mut RequestMessages) {
    let mut content = Vec::new();
    for result in results {
        let text;
        let parts = match &result.view {
            View::Parts(parts) => Content::Parts(
                parts
                    .iter()
                    .map(|part| match piece(part) {
                        Piece::Text(text) => json!({"type": "text", "text": text}),
                        Piece::File(file) => block(&file).unwrap_or_else(|why| {
                            let line = out.leave_out(Some(result.id), &file, why);
                            json!({"type": "text", "text": line})
                        }),
                    })
                    .collect(),
            ),
            view => {
                text = view.text();
                Content::Text(&text)
            }
        };
        content.push(raw(&Block {
            r#type: "tool_result",
            tool_use_id: result.id,
            content: parts,
            is_error: result.is_error,
        }));
    }
    out.messages.extend(as_message("user", content));
}

/// Writes a file as a block of a result or of a user's message. The error states why the API does not accept the file.
pub(crate) fn block(file: &File<'_>) -> Result<Value, &'static str> {
    if matches!(file.bytes, Bytes::At(_)) && !file.is_web() {
        return Err("Anthropic fetches only http and https addresses");
    }
    let source = match file.bytes {
        Bytes::At(url) => json!({"type": "url", "url": url}),
        Bytes::Base64(data) => {
            json!({"type": "base64", "media_type": file.media_type, "data": data})
        }
    };
    match file.media_type {
        // With a larger image, the API would refuse every later request of the thread: `image exceeds 5 MB maximum: … bytes > 5242880 bytes`.
        // The API counts the bytes of the base64 text.
        _ if file.is_common_image() && file.encoded() > 5 << 20 => {
            Err("Anthropic accepts images of at most 5 MB as base64 text")
        }
        _ if file.is_common_image() => Ok(json!({"type": "image", "source": source})),
        "application/pdf" => Ok(document(file, &source)),
        kind if kind.starts_with("text/") => {
            // The API accepts every type of text, but only as `text/plain`, and not as base64.
            let text = file
                .text()
                .ok_or("Anthropic accepts texts only as UTF-8, not by address")?;
            let source = json!({"type": "text", "media_type": "text/plain", "data": text});
            Ok(document(file, &source))
        }
        // JSON, SVG and similar types are text too.
        _ if let Some(text) = file.as_text() => Ok(json!({"type": "text", "text": text})),
        _ => Err("Anthropic accepts JPEG, PNG, GIF, WebP, PDF and texts"),
    }
}

fn document(file: &File<'_>, source: &Value) -> Value {
    let mut block = json!({"type": "document", "source": source});
    if let Some(name) = file.name {
        block["title"] = json!(name);
    }
    block
}
