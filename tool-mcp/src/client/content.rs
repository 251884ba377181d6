//! What came of a call, as a host has it: the payload, what the model reads, or the error.

use rmcp::ErrorData;
use rmcp::model::{CallToolResult, ContentBlock, ErrorCode, ResourceContents, Role};
use rmcp::service::ServiceError;
use serde::{Serialize, Serializer};
use serde_json::Value;
use tool_core::{ErrorKind, ModelOutput, Part, ToModelOutput, ToolError};

use super::connect::Unanswered;

/// The most of an error that a model reads, in bytes.
const MOST_ERROR: usize = 8 << 10;

/// The output of a call.
#[derive(Debug)]
pub(crate) struct Told {
    payload: Value,
    model: Vec<Part>,
}

impl Serialize for Told {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.payload.serialize(serializer)
    }
}

impl ToModelOutput for Told {
    fn to_model_output(&self) -> ModelOutput {
        match &self.model[..] {
            // Nothing but the payload is there to be read.
            [] => match &self.payload {
                Value::String(text) => ModelOutput::text(text.as_str()),
                payload => ModelOutput::json(payload),
            },
            [Part::Text { text }] => ModelOutput::text(text.as_str()),
            parts => ModelOutput::parts(parts.iter().cloned()),
        }
    }
}

/// The output, or the failure that the tool tells of. `limit` is the most bytes that all of it may have.
pub(crate) fn told(result: CallToolResult, limit: usize) -> Result<Told, ToolError> {
    let size = size(&result);
    if size > limit {
        return Err(ToolError::new(format!(
            "the output has {size} bytes and at most {limit} are allowed, ask for less"
        )));
    }
    if result.is_error == Some(true) {
        return Err(failure(&result));
    }
    let model = parts(&result.content);
    let payload = match result.structured_content {
        Some(structured) => structured,
        None => match &result.content[..] {
            [ContentBlock::Text(text)] => Value::from(text.text.as_str()),
            content => serde_json::to_value(content)?,
        },
    };
    Ok(Told { payload, model })
}

/// How many bytes a result has, about.
fn size(result: &CallToolResult) -> usize {
    let block = |block: &ContentBlock| match block {
        ContentBlock::Text(text) => text.text.len(),
        ContentBlock::Image(image) => image.data.len(),
        ContentBlock::Audio(audio) => audio.data.len(),
        ContentBlock::Resource(embedded) => match &embedded.resource {
            ResourceContents::TextResourceContents { text, .. } => text.len(),
            ResourceContents::BlobResourceContents { blob, .. } => blob.len(),
            _ => 0,
        },
        _ => 0,
    };
    let content: usize = result.content.iter().map(block).sum();
    let structured = result.structured_content.as_ref();
    content + structured.map_or(0, |value| value.to_string().len())
}

/// What the tool says of its failure is meant for the model.
fn failure(result: &CallToolResult) -> ToolError {
    let mut text = ModelOutput::parts(parts(&result.content)).to_text();
    if text.trim().is_empty() {
        text = match &result.structured_content {
            Some(structured) => structured.to_string(),
            None => "the tool failed and does not say why".to_owned(),
        };
    }
    if text.len() > MOST_ERROR {
        text.truncate(text.floor_char_boundary(MOST_ERROR));
        text.push_str(" […]");
    }
    ToolError::of(ErrorKind::Failed, text)
}

/// What a model reads of the content: what is only for its user is left out.
fn parts(content: &[ContentBlock]) -> Vec<Part> {
    let all: Vec<Part> = content
        .iter()
        .filter(|block| is_for_model(block))
        .filter_map(part)
        .collect();
    if all.is_empty() && !content.is_empty() {
        return vec![Part::text(
            "[the output is for the user and not shown here]",
        )];
    }
    all
}

fn is_for_model(block: &ContentBlock) -> bool {
    let annotations = match block {
        ContentBlock::Text(block) => &block.annotations,
        ContentBlock::Image(block) => &block.annotations,
        ContentBlock::Audio(block) => &block.annotations,
        ContentBlock::Resource(block) => &block.annotations,
        ContentBlock::ResourceLink(block) => &block.annotations,
        _ => return true,
    };
    let audience = annotations
        .as_ref()
        .and_then(|annotations| annotations.audience.as_ref());
    audience.is_none_or(|audience| audience.is_empty() || audience.contains(&Role::Assistant))
}

fn part(block: &ContentBlock) -> Option<Part> {
    Some(match block {
        ContentBlock::Text(text) => Part::text(text.text.as_str()),
        ContentBlock::Image(image) => Part::base64(image.mime_type.as_str(), image.data.as_str()),
        ContentBlock::Audio(audio) => Part::base64(audio.mime_type.as_str(), audio.data.as_str()),
        ContentBlock::Resource(embedded) => match &embedded.resource {
            ResourceContents::TextResourceContents { text, .. } => Part::text(text.as_str()),
            ResourceContents::BlobResourceContents {
                mime_type, blob, ..
            } => {
                let media_type = mime_type.as_deref().unwrap_or("application/octet-stream");
                Part::base64(media_type, blob.as_str())
            }
            _ => return None,
        },
        // As text: a provider that is given an address fetches it, and this one is the server's.
        ContentBlock::ResourceLink(link) => {
            let about = link
                .description
                .as_deref()
                .map_or_else(String::new, |about| format!(": {about}"));
            Part::text(format!("[resource `{}` at {}{about}]", link.name, link.uri))
        }
        _ => return None,
    })
}

/// The error of a call that has no result. What a server says in the protocol's own errors is for the operator: a failure that a model
/// is to read comes as a result.
pub(crate) fn unanswered(why: Unanswered) -> ToolError {
    match why {
        Unanswered::Asks => ToolError::of(
            ErrorKind::Unavailable,
            "the tool asks its user something, and nobody can be asked here",
        )
        .operator("connect with `McpClient::connect_with` and a handler that answers"),
        Unanswered::Task => ToolError::new(
            "the tool works in the background, and its result cannot be awaited here",
        )
        .operator("the server answered `tools/call` with a task"),
        Unanswered::Service(error) => service(error),
    }
}

fn service(error: ServiceError) -> ToolError {
    match error {
        ServiceError::McpError(error) => protocol(&error),
        ServiceError::TransportClosed | ServiceError::TransportSend(_) => ToolError::of(
            ErrorKind::Unavailable,
            "the tool is not available: its server cannot be reached",
        )
        .operator(error.to_string()),
        ServiceError::Timeout { .. } => ToolError::of(
            ErrorKind::TimedOut,
            "the tool's server did not answer in time",
        )
        .operator(error.to_string()),
        other => {
            ToolError::foreign(other).operator("the MCP server's answer is none to `tools/call`")
        }
    }
}

fn protocol(error: &ErrorData) -> ToolError {
    let said = format!("the MCP server says {}: {}", error.code.0, error.message);
    match error.code {
        ErrorCode::INVALID_PARAMS => ToolError::of(
            ErrorKind::InvalidArguments,
            "the tool's server refused the arguments, compare them with what the tool and its parameters say",
        )
        .operator(said),
        ErrorCode::METHOD_NOT_FOUND => ToolError::of(
            ErrorKind::Unavailable,
            "the tool is not available: its server does not take the call",
        )
        .operator(said),
        _ => ToolError::foreign(said),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn result(value: Value) -> CallToolResult {
        serde_json::from_value(value).unwrap()
    }

    #[test]
    fn structured_content_is_the_payload_and_content_is_read() {
        let told = told(
            result(json!({"content": [{"type": "text", "text": "2 rows"}], "structuredContent": {"rows": [1, 2]}})),
            1000,
        )
        .unwrap();
        assert_eq!(serde_json::to_string(&told).unwrap(), r#"{"rows":[1,2]}"#);
        assert_eq!(told.to_model_output().to_text(), "2 rows");
    }

    #[test]
    fn content_for_the_user_is_not_read_by_the_model() {
        let audience =
            |who: &str| json!({"type": "text", "text": who, "annotations": {"audience": [who]}});
        let both = told(
            result(json!({"content": [audience("user"), audience("assistant")]})),
            1000,
        )
        .unwrap();
        assert_eq!(both.to_model_output().to_text(), "assistant");
        assert_eq!(
            serde_json::to_value(&both)
                .unwrap()
                .as_array()
                .unwrap()
                .len(),
            2
        );
        let user = told(result(json!({"content": [audience("user")]})), 1000).unwrap();
        assert_eq!(
            user.to_model_output().to_text(),
            "[the output is for the user and not shown here]"
        );
    }

    #[test]
    fn errors_of_the_protocol_have_two_faces() {
        for code in [
            ErrorCode::INVALID_PARAMS,
            ErrorCode::METHOD_NOT_FOUND,
            ErrorCode::INTERNAL_ERROR,
            ErrorCode(-32000),
        ] {
            let error = protocol(&ErrorData::new(code, "at /srv/secret.py:12", None));
            assert!(
                !error.model_text().contains("/srv"),
                "{}",
                error.model_text()
            );
            assert!(
                error.operator_text().contains("/srv/secret.py:12"),
                "{}",
                error.operator_text()
            );
        }
    }

    #[test]
    fn a_long_failure_is_cut_and_a_huge_output_refused() {
        let long = "ö".repeat(MOST_ERROR);
        let failed = told(
            result(json!({"content": [{"type": "text", "text": long}], "isError": true})),
            usize::MAX,
        )
        .unwrap_err();
        assert!(failed.model_text().len() < MOST_ERROR + 16);
        let huge = told(
            result(json!({"content": [{"type": "text", "text": long}]})),
            100,
        )
        .unwrap_err();
        assert!(
            huge.model_text().contains("at most 100"),
            "{}",
            huge.model_text()
        );
    }
}
