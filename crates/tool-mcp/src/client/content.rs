//! Conversion of MCP results to tool results: the payload, the model's output, or the error.

use std::borrow::Cow;

use rmcp::ErrorData;
use rmcp::model::{CallToolResult, ContentBlock, ErrorCode, ResourceContents, Role};
use rmcp::service::ServiceError;
use serde::{Serialize, Serializer};
use serde_json::Value;
use tool_core::{ErrorKind, ModelOutput, Part, ToModelOutput, ToolError, hidden};

use super::connect::Unanswered;
use super::text::{escaped, shown};

/// Maximum length of an error text for the model, in bytes.
const MOST_ERROR: usize = 8 << 10;

/// Options for the conversion of results.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Results {
    /// Maximum size of a result in bytes.
    pub(crate) limit: usize,
    /// Whether the model reads results unchanged, hidden characters included.
    pub(crate) exact: bool,
}

impl Results {
    /// Converts a text for the model.
    fn text(self, text: &str) -> Cow<'_, str> {
        if self.exact {
            Cow::Borrowed(text)
        } else {
            hidden::escape(text)
        }
    }
}

/// The output of a successful call: the payload, and the content for the model.
#[derive(Debug)]
pub(crate) struct ConvertedOutput {
    payload: Value,
    model: Vec<Part>,
    results: Results,
}

impl Serialize for ConvertedOutput {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.payload.serialize(serializer)
    }
}

impl ToModelOutput for ConvertedOutput {
    fn to_model_output(&self) -> ModelOutput {
        match &self.model[..] {
            // Without content, the model reads the payload.
            [] => match &self.payload {
                Value::String(text) => ModelOutput::text(self.results.text(text)),
                payload if self.results.exact => ModelOutput::json(payload),
                payload => ModelOutput::json(&escaped(payload)),
            },
            [Part::Text { text }] => ModelOutput::text(text.as_str()),
            parts => ModelOutput::parts(parts.iter().cloned()),
        }
    }
}

/// Converts a result to the output, or to an error if the tool reports a failure or the result exceeds the size limit.
pub(crate) fn told(result: CallToolResult, results: Results) -> Result<ConvertedOutput, ToolError> {
    let (size, limit) = (size(&result), results.limit);
    if size > limit {
        return Err(ToolError::new(format!(
            "the output has {size} bytes and at most {limit} are allowed, ask for less"
        )));
    }
    if result.is_error == Some(true) {
        return Err(failure(&result, results));
    }
    let model = parts(&result.content, results);
    let payload = match result.structured_content {
        Some(structured) => structured,
        None => match &result.content[..] {
            [ContentBlock::Text(text)] => Value::from(text.text.as_str()),
            content => serde_json::to_value(content)?,
        },
    };
    Ok(ConvertedOutput {
        payload,
        model,
        results,
    })
}

/// Returns the approximate size of a result in bytes.
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

/// Converts a result that reports a failure. The tool's own error text is for the model.
fn failure(result: &CallToolResult, results: Results) -> ToolError {
    let mut text = ModelOutput::parts(parts(&result.content, results)).to_text();
    if text.trim().is_empty() {
        text = match &result.structured_content {
            Some(structured) => results.text(&structured.to_string()).into_owned(),
            None => "the tool failed without an error message".to_owned(),
        };
    }
    if text.len() > MOST_ERROR {
        text.truncate(text.floor_char_boundary(MOST_ERROR));
        text.push_str(" […]");
    }
    ToolError::of(ErrorKind::Failed, text)
}

/// Returns the content for the model, without content that is only for the user or has an unknown type. If nothing is left, returns a note.
fn parts(content: &[ContentBlock], results: Results) -> Vec<Part> {
    let all: Vec<Part> = content
        .iter()
        .filter(|block| is_for_model(block))
        .filter_map(|block| part(block, results))
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

fn part(block: &ContentBlock, results: Results) -> Option<Part> {
    Some(match block {
        ContentBlock::Text(text) => Part::text(results.text(&text.text)),
        ContentBlock::Image(image) => Part::base64(shown(&image.mime_type), image.data.as_str()),
        ContentBlock::Audio(audio) => Part::base64(shown(&audio.mime_type), audio.data.as_str()),
        ContentBlock::Resource(embedded) => match &embedded.resource {
            ResourceContents::TextResourceContents { text, .. } => Part::text(results.text(text)),
            ResourceContents::BlobResourceContents {
                mime_type, blob, ..
            } => {
                let media_type = mime_type.as_deref().unwrap_or("application/octet-stream");
                Part::base64(shown(media_type), blob.as_str())
            }
            _ => return None,
        },
        // The link is passed as text, because a provider would fetch the URI itself, and some URIs can be read only through the MCP server.
        ContentBlock::ResourceLink(link) => {
            let about = link
                .description
                .as_deref()
                .map_or_else(String::new, |about| format!(": {about}"));
            let text = format!("[resource `{}` at {}{about}]", link.name, link.uri);
            Part::text(results.text(&text))
        }
        _ => return None,
    })
}

/// Converts the failure of a call without a result. Protocol errors of a server are for the operator; failures that the model should read are
/// results.
pub(crate) fn unanswered(why: Unanswered) -> ToolError {
    match why {
        Unanswered::Asks => ToolError::of(
            ErrorKind::Unavailable,
            "the tool asks its user a question, and no user can be asked here",
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
            ToolError::foreign(other).operator("the MCP server returned no result of `tools/call`")
        }
    }
}

fn protocol(error: &ErrorData) -> ToolError {
    let message = hidden::show(&error.message, MOST_ERROR);
    let said = format!(
        "the MCP server returned the error {}: {message}",
        error.code.0
    );
    match error.code {
        ErrorCode::INVALID_PARAMS => ToolError::of(
            ErrorKind::InvalidArguments,
            "the tool's server refused the arguments, compare them with the descriptions of the tool and its parameters",
        )
        .operator(said),
        ErrorCode::METHOD_NOT_FOUND => ToolError::of(
            ErrorKind::Unavailable,
            "the tool is not available: its server does not accept the call",
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

    fn most(limit: usize) -> Results {
        Results {
            limit,
            exact: false,
        }
    }

    // Models and people see hidden characters of a result as escapes; the payload is unchanged.
    #[test]
    fn hidden_characters_of_results_are_escaped() {
        let hidden = "a\u{e0041}\u{200b}\u{1b}[31m👩‍⚕️";
        let shown = r"a\u{e0041}\u{200b}\u{1b}[31m👩‍⚕️";
        let link = json!({"type": "resource_link", "name": hidden, "uri": "x:\u{202e}y", "description": hidden});
        let resource = json!({"type": "resource", "resource": {"uri": "x:y", "text": hidden}});
        for content in [
            json!([{"type": "text", "text": hidden}]),
            json!([link]),
            json!([resource]),
        ] {
            for is_error in [false, true] {
                let value = json!({"content": content, "isError": is_error});
                let text = |exact| match told(
                    result(value.clone()),
                    Results {
                        exact,
                        ..most(1000)
                    },
                ) {
                    Ok(told) => told.to_model_output().to_text(),
                    Err(error) => error.model_text(),
                };
                assert!(text(false).contains(shown), "{}", text(false));
                assert!(!hidden::is_found(&text(false)));
                assert!(text(true).contains(hidden));
            }
        }
        let structured = told(
            result(json!({"content": [], "structuredContent": {"k": [hidden]}})),
            most(1000),
        )
        .unwrap();
        assert_eq!(
            serde_json::to_value(&structured).unwrap(),
            json!({"k": [hidden]})
        );
        let text = structured.to_model_output().to_text();
        assert!(text.contains(&shown.replace('\\', "\\\\")), "{text}");
        let error = protocol(&ErrorData::new(ErrorCode::INTERNAL_ERROR, hidden, None));
        assert!(
            error.operator_text().contains(shown),
            "{}",
            error.operator_text()
        );
    }

    #[test]
    fn structured_content_is_the_value_and_content_the_model_text() {
        let told = told(
            result(json!({"content": [{"type": "text", "text": "2 rows"}], "structuredContent": {"rows": [1, 2]}})),
            most(1000),
        )
        .unwrap();
        assert_eq!(serde_json::to_string(&told).unwrap(), r#"{"rows":[1,2]}"#);
        assert_eq!(told.to_model_output().to_text(), "2 rows");
    }

    #[test]
    fn content_for_the_user_is_hidden_from_the_model() {
        let audience =
            |who: &str| json!({"type": "text", "text": who, "annotations": {"audience": [who]}});
        let both = told(
            result(json!({"content": [audience("user"), audience("assistant")]})),
            most(1000),
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
        let user = told(result(json!({"content": [audience("user")]})), most(1000)).unwrap();
        assert_eq!(
            user.to_model_output().to_text(),
            "[the output is for the user and not shown here]"
        );
    }

    #[test]
    fn protocol_error_details_are_for_the_operator_only() {
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
    fn long_error_is_cut_and_huge_output_is_refused() {
        let long = "ö".repeat(MOST_ERROR);
        let failed = told(
            result(json!({"content": [{"type": "text", "text": long}], "isError": true})),
            most(usize::MAX),
        )
        .unwrap_err();
        assert!(failed.model_text().len() < MOST_ERROR + 16);
        let huge = told(
            result(json!({"content": [{"type": "text", "text": long}]})),
            most(100),
        )
        .unwrap_err();
        assert!(
            huge.model_text().contains("at most 100"),
            "{}",
            huge.model_text()
        );
    }
}
