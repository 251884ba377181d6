//! Tests of the tools.

use tool_core::prelude::*;

use CRATE::{Tone, greet};

#[test]
fn every_tool_keeps_its_word() {
    tool_core::assert_tools!();
}

#[tokio::test]
async fn a_greeting_is_as_warm_as_it_is_asked_for() {
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
async fn a_blank_name_is_told_to_the_model() {
    let call = ToolCall::new("1", "greet", r#"{"name":" "}"#);
    let result = toolset![greet].call(call, &ToolContext::anonymous()).await;
    assert_eq!(result.model_text(), "`name` is blank, say whom to greet");
}
