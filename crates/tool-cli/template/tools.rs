//! Tests of the tools.

use tool_core::prelude::*;

use CRATE::{Tone, greet};

#[test]
fn every_tool_has_a_valid_definition() {
    tool_core::assert_tools!();
}

#[tokio::test]
async fn tone_changes_the_greeting() {
    let tools = toolset![greet];
    let cx = ToolContext::anonymous();
    let said = tools
        .invoke(
            greet {
                name: "Ada".into(),
                tone: Tone::Formal,
            },
            &cx,
        )
        .await;
    assert_eq!(said.ok().as_deref(), Some("Dear Ada,"));
    let result = tools
        .call(ToolCall::new("1", "greet", r#"{"name":"Ada"}"#), &cx)
        .await;
    assert_eq!(result.model_text(), "Hi Ada!");
}

#[tokio::test]
async fn blank_name_is_reported_to_the_model() {
    let call = ToolCall::new("1", "greet", r#"{"name":" "}"#);
    let result = toolset![greet].call(call, &ToolContext::anonymous()).await;
    assert_eq!(
        result.model_text(),
        "`name` is blank, write the name of a person"
    );
}
