//! Results and files in the format of the Bedrock Converse API.

use serde::Serialize;
use serde_json::value::RawValue;
use serde_json::{Value, json};

use crate::RequestMessages;
use crate::file::{Bytes, File, Piece, piece};
use crate::json::{as_message, json as raw};
use crate::results::{ToolResult, View};

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Resulted<'a> {
    tool_result: Block<'a>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Block<'a> {
    tool_use_id: &'a str,
    content: Vec<Box<RawValue>>,
    status: &'static str,
}

#[derive(Serialize)]
struct Json<'a> {
    json: &'a RawValue,
}

pub(crate) fn results(results: &[ToolResult<'_>], out: &mut RequestMessages) {
    let mut content = Vec::new();
    for result in results {
        let blocks = match &result.view {
            // The API accepts objects as JSON content, but no other JSON values.
            View::Json(json) if json.get().starts_with('{') => vec![raw(&Json { json })],
            View::Parts(parts) => parts
                .iter()
                .map(|part| {
                    let text = match piece(part) {
                        Piece::Text(text) => text.to_owned(),
                        Piece::File(file) => match block(&file, &mut out.documents) {
                            Ok(block) => return raw(&block),
                            Err(why) => out.leave_out(Some(result.id), &file, why),
                        },
                    };
                    raw(&json!({"text": text}))
                })
                .collect(),
            view => vec![raw(&json!({"text": view.text()}))],
        };
        content.push(raw(&Resulted {
            tool_result: Block {
                tool_use_id: result.id,
                content: blocks,
                status: if result.is_error { "error" } else { "success" },
            },
        }));
    }
    out.messages.extend(as_message("user", content));
}

/// Writes a file as a block of a result or of a user's message. `documents` is the number of documents in the request so far, and is increased for a
/// document. The error states why the API does not accept the file.
pub(crate) fn block(file: &File<'_>, documents: &mut usize) -> Result<Value, &'static str> {
    let Bytes::Base64(data) = file.bytes else {
        return Err("Bedrock accepts the bytes of a file, but not an address");
    };
    let image = match file.media_type {
        "image/png" => Some("png"),
        "image/jpeg" => Some("jpeg"),
        "image/gif" => Some("gif"),
        "image/webp" => Some("webp"),
        _ => None,
    };
    let size = file.encoded() / 4 * 3;
    if let Some(format) = image {
        // With a larger image, the API would refuse every later request of the thread.
        if size > 3_750_000 {
            return Err("Bedrock accepts images of at most 3.75 MB");
        }
        return Ok(json!({"image": {"format": format, "source": {"bytes": data}}}));
    }
    let video = match file.media_type {
        "video/mp4" => Some("mp4"),
        "video/webm" => Some("webm"),
        "video/quicktime" => Some("mov"),
        "video/x-matroska" => Some("mkv"),
        "video/mpeg" => Some("mpeg"),
        "video/x-flv" => Some("flv"),
        "video/x-ms-wmv" => Some("wmv"),
        "video/3gpp" => Some("three_gp"),
        _ => None,
    };
    if let Some(format) = video {
        return Ok(json!({"video": {"format": format, "source": {"bytes": data}}}));
    }
    let format = match file.media_type {
        "application/pdf" => "pdf",
        "text/csv" => "csv",
        "application/msword" => "doc",
        "application/vnd.openxmlformats-officedocument.wordprocessingml.document" => "docx",
        "application/vnd.ms-excel" => "xls",
        "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet" => "xlsx",
        "text/html" => "html",
        "text/plain" => "txt",
        "text/markdown" => "md",
        _ => {
            let text = file.as_text();
            let text =
                text.ok_or("Bedrock accepts images, videos, PDF, office documents and texts")?;
            return Ok(json!({"text": text}));
        }
    };
    if size > 4_500_000 {
        return Err("Bedrock accepts documents of at most 4.5 MB");
    }
    *documents += 1;
    let name = document_name(file.name.unwrap_or_default(), *documents);
    Ok(json!({"document": {"format": format, "name": name, "source": {"bytes": data}}}))
}

/// Returns a name that the API accepts: letters, digits, single spaces, hyphens, parentheses and square brackets.
/// The number makes the name unique in the request.
fn document_name(name: &str, number: usize) -> String {
    let plain = |c: char| match c {
        'a'..='z' | 'A'..='Z' | '0'..='9' | '-' | '(' | ')' | '[' | ']' => c,
        _ => ' ',
    };
    let plain: String = name.chars().take(150).map(plain).collect();
    let mut words: Vec<&str> = plain.split_whitespace().collect();
    let number = format!("({number})");
    if words.is_empty() {
        words.push("document");
    }
    words.push(&number);
    words.join(" ")
}
