//! User messages in each provider's format.

use serde_json::value::RawValue;
use serde_json::{Value, json};
use tool_core::Part;

use super::file::{File, Piece, piece};
use super::json::json as raw;
use super::{Provider, RequestMessages, anthropic, bedrock, chat, gemini, responses};

/// Writes a message that contains only a text, in the shortest form that the provider accepts.
pub(super) fn text(provider: Provider, text: &str) -> Box<RawValue> {
    raw(&match provider {
        Provider::Chat | Provider::Responses | Provider::Anthropic => {
            json!({"role": "user", "content": text})
        }
        Provider::Gemini => json!({"role": "user", "parts": [{"text": text}]}),
        Provider::Bedrock => json!({"role": "user", "content": [{"text": text}]}),
    })
}

/// Writes a message with any parts.
pub(super) fn write(provider: Provider, parts: &[Part], out: &mut RequestMessages) {
    if let [Part::Text { text: line }] = parts {
        out.messages.push(text(provider, line));
        return;
    }
    let (mut content, mut has_text) = (Vec::new(), false);
    let documents = out.documents;
    for part in parts {
        let line = match piece(part) {
            Piece::Text(text) => text.to_owned(),
            Piece::File(file) => match written(provider, &file, &mut out.documents) {
                Ok(file) => {
                    content.push(file);
                    continue;
                }
                Err(why) => out.leave_out(None, &file, why),
            },
        };
        has_text = true;
        content.push(text_part(provider, &line));
    }
    // Bedrock refuses a message that has documents and no text.
    if out.documents > documents && !has_text {
        content.push(text_part(provider, "The user sent only files."));
    }
    let key = match provider {
        Provider::Gemini => "parts",
        _ => "content",
    };
    out.messages
        .push(raw(&json!({"role": "user", key: content})));
}

fn text_part(provider: Provider, text: &str) -> Value {
    match provider {
        Provider::Chat | Provider::Anthropic => json!({"type": "text", "text": text}),
        Provider::Responses => json!({"type": "input_text", "text": text}),
        Provider::Gemini | Provider::Bedrock => json!({"text": text}),
    }
}

/// Writes a file as a part of the message. The error states why the provider does not accept the file.
fn written(
    provider: Provider,
    file: &File<'_>,
    documents: &mut usize,
) -> Result<Value, &'static str> {
    match provider {
        Provider::Chat => chat::content(file),
        Provider::Responses => {
            let mut part = responses::content(file)?;
            if file.is_common_image() {
                // `detail` is optional in a result, but required here.
                part["detail"] = json!("auto");
            }
            Ok(part)
        }
        Provider::Anthropic => anthropic::block(file),
        Provider::Gemini => gemini::content(file),
        Provider::Bedrock => bedrock::block(file, documents),
    }
}
