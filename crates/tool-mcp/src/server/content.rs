//! Conversion of call results to MCP results.

use std::borrow::Cow;
use std::fmt::Write as _;

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD as BASE64;
use rmcp::model::{CallToolResult, ContentBlock, MetaObject, Resource, ResourceContents};
use serde_json::Value;
use tool_core::{CallResult, ErrorKind, Part, Source, ToolError};

use super::list::OutputSchema;
use super::{Wire, verbatim};

/// Converts the result of a call: the model's output becomes the content. If the tool has an output schema, the payload without the bytes of
/// files becomes the structured content.
pub(crate) fn result(
    result: CallResult,
    outlet: Option<&OutputSchema>,
    wire: Wire,
) -> CallToolResult {
    let meta = meta(&result);
    let text = match (result.model_output(), result.error()) {
        (Some(model), _) if matches!(&model.to_parts()[..], [Part::Text { .. }]) => {
            Some(model.to_text())
        }
        (None, None) => Some(result.model_text()),
        _ => None,
    };
    // The bytes of files are only in the content, because clients pass structured content to models as text.
    let structured = outlet.and_then(|outlet| {
        let payload = result.output_without_bytes()?;
        Some(structured(&payload, outlet, wire))
    });
    let mut told = match result.into_parts() {
        Err(error) => failure(&error),
        Ok((_, model)) => {
            let content = match (text, model) {
                (Some(text), _) => vec![ContentBlock::text(text)],
                (None, model) => model.map_or_else(Vec::new, |model| {
                    let parts = model.to_parts();
                    parts
                        .iter()
                        .enumerate()
                        .map(|(at, part)| block(at, part))
                        .collect()
                }),
            };
            let mut told = CallToolResult::success(content);
            told.structured_content = structured;
            told
        }
    };
    told.meta = meta;
    told
}

/// Converts an error to a tool result that the model can read and react to.
fn failure(error: &ToolError) -> CallToolResult {
    CallToolResult::error(vec![ContentBlock::text(error.model_text())])
}

fn structured(payload: &str, outlet: &OutputSchema, wire: Wire) -> Value {
    let text: Cow<'_, str> = if wire.legacy && outlet.is_wrapped() {
        format!(r#"{{"result":{payload}}}"#).into()
    } else {
        payload.into()
    };
    verbatim::value(&text, wire.rendered)
}

/// Returns metadata for clients, not for models: citations, the kind of error, and the issues of invalid arguments.
fn meta(result: &CallResult) -> Option<MetaObject> {
    let mut meta = MetaObject::new();
    if !result.citations().is_empty()
        && let Ok(citations) = serde_json::to_value(result.citations())
    {
        meta.0.insert("tool-core/citations".into(), citations);
    }
    if let Some(error) = result.error() {
        meta.0
            .insert("tool-core/error".into(), error.kind().as_str().into());
        if error.kind() == ErrorKind::InvalidArguments && !error.issues().is_empty() {
            let issues = error.issues().iter().map(|issue| {
                serde_json::json!({
                    "pointer": issue.pointer, "expected": issue.expected, "found": issue.found,
                })
            });
            meta.0.insert("tool-core/issues".into(), issues.collect());
        }
    }
    (!meta.0.is_empty()).then_some(meta)
}

/// Converts one part of the model's output.
fn block(at: usize, part: &Part) -> ContentBlock {
    match part {
        Part::Text { text } => ContentBlock::text(text.as_str()),
        Part::File {
            media_type,
            source: Source::Base64(data),
            name,
        } => {
            if media_type.starts_with("image/") {
                ContentBlock::image(data.as_str(), media_type.as_str())
            } else if media_type.starts_with("audio/") {
                ContentBlock::audio(data.as_str(), media_type.as_str())
            } else {
                ContentBlock::resource(embedded(at, media_type, data, name.as_deref()))
            }
        }
        Part::File {
            media_type,
            source: Source::Url(url),
            name,
        } => {
            let name = name.as_deref().unwrap_or(url);
            let link = Resource::new(url.as_str(), name).with_mime_type(media_type.as_str());
            ContentBlock::resource_link(link)
        }
        // `Part` and `Source` are non-exhaustive, so a later variant is printed.
        other => ContentBlock::text(format!("{other:?}")),
    }
}

/// Embeds a file. A name that is a URI becomes the URI of the resource; text is embedded as text instead of base64.
fn embedded(at: usize, media_type: &str, data: &str, name: Option<&str>) -> ResourceContents {
    let uri = match name {
        Some(name) if is_uri(name) => name.to_owned(),
        Some(name) => format!("attachment:{at}/{}", percent_encoded(name)),
        None => format!("attachment:{at}"),
    };
    let is_text = media_type.starts_with("text/")
        || media_type == "application/json"
        || media_type.ends_with("+json");
    let text = is_text
        .then(|| BASE64.decode(data).ok())
        .flatten()
        .and_then(|bytes| String::from_utf8(bytes).ok());
    let contents = match text {
        Some(text) => ResourceContents::text(text, uri),
        None => ResourceContents::blob(data, uri),
    };
    contents.with_mime_type(media_type)
}

/// Percent-encodes a name for use as a URI segment.
fn percent_encoded(name: &str) -> String {
    let mut out = String::with_capacity(name.len());
    for byte in name.bytes() {
        if byte.is_ascii_alphanumeric() || b"-._~".contains(&byte) {
            out.push(char::from(byte));
        } else {
            // Writing to a `String` does not fail.
            let _ = write!(out, "%{byte:02X}");
        }
    }
    out
}

fn is_uri(name: &str) -> bool {
    name.split_once(':').is_some_and(|(scheme, rest)| {
        !rest.is_empty()
            && scheme.starts_with(|first: char| first.is_ascii_alphabetic())
            && scheme
                .chars()
                .all(|c| c.is_ascii_alphanumeric() || matches!(c, '+' | '-' | '.'))
    })
}
