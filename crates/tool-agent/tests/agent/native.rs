//! Typed outputs by the structured output of the provider.

use std::sync::{Arc, Mutex};

use serde_json::Value;
use tool_agent::agent::{Agent, AgentError, OutputMode};
use tool_agent::model::{OutputFormat, Script, ScriptedModel};
use tool_core::prelude::*;
use tool_core::turn::{ModelMessage, ModelRequest, Outcome, StopReason};

use crate::{Report, Seen, add, context, recorded, turns};

const VALID: &str = r#"{"sum":3,"remark":null}"#;

fn native(scripts: impl IntoIterator<Item = Script>) -> Agent {
    let agent = Agent::builder("clerk", ScriptedModel::new(scripts)).tools(|_| toolset![add]);
    agent.output_mode(OutputMode::Native).build().unwrap()
}

// The text of the model is the output, and no tool is added.
#[tokio::test]
async fn text_is_the_output() {
    let formats = Arc::new(Mutex::new(Vec::new()));
    let log = Arc::clone(&formats);
    let model = ScriptedModel::new([Script::with(move |request: &ModelRequest<'_>| {
        let format: OutputFormat = request.cx.get()?;
        let names: Vec<String> = request.tools.names().map(str::to_owned).collect();
        let schema: Value = serde_json::from_str(format.schema(Dialect::OpenAi))?;
        log.lock().unwrap().push((names, schema));
        Ok(ModelMessage::text(VALID))
    })]);
    let agent = Agent::builder("clerk", model)
        .tools(|_| toolset![add])
        .output_mode(OutputMode::Native)
        .build()
        .unwrap();
    let (turns, cx) = (turns(), context().build());
    let report: Report = agent.run("1 + 2?", &turns, &cx).await.unwrap();
    assert_eq!((report.sum, report.remark), (3, None));
    {
        let formats = formats.lock().unwrap();
        assert_eq!(formats[0].0, ["add"]);
        let required = &formats[0].1["required"];
        assert_eq!(required, &serde_json::json!(["sum", "remark"]));
    }
    // If the host has lost the output, `resume` returns it again without a request.
    let again: Report = native([]).resume(&turns, &cx).await.unwrap();
    assert_eq!(again.sum, 3);
    // A run without a typed output has no format.
    let plain = Script::with(|request: &ModelRequest<'_>| {
        let has_format = request.cx.get::<OutputFormat>().is_ok();
        Ok(ModelMessage::text(has_format.to_string()))
    });
    let outcome = native([plain]).respond("Hello.", &turns, &cx).await;
    assert!(matches!(outcome, Ok(Outcome::Answered(text)) if text == "false"));
}

// If a message has a native output and calls, the calls run and the run continues.
#[tokio::test]
async fn calls_beside_an_output_run_and_the_run_continues() {
    let mut both = ModelMessage::calls([ToolCall::new("c-1", "add", r#"{"a":1,"b":2}"#)]);
    both.text = r#"{"sum":0,"remark":"early"}"#.to_owned();
    let seen = Seen::default();
    let scripts = [Script::message(both), Script::text(VALID)];
    let agent = Agent::builder("clerk", recorded(scripts, &seen))
        .tools(|_| toolset![add])
        .output_mode(OutputMode::Native)
        .build()
        .unwrap();
    let report: Report = agent
        .run("1 + 2?", &turns(), &context().build())
        .await
        .unwrap();
    assert_eq!(report.sum, 3);
    assert_eq!(seen.lock().unwrap()[1].last().unwrap().0, "tool");
}

// The model reads the problem of an invalid text and is asked again, a bounded number of times.
#[tokio::test]
async fn invalid_text_is_asked_for_again_a_bounded_number_of_times() {
    let out_of_range = || Script::text(r#"{"sum":300,"remark":null}"#);
    let seen = Seen::default();
    let scripts = [
        Script::text("It is 3."),
        out_of_range(),
        Script::text(VALID),
    ];
    let agent = Agent::builder("clerk", recorded(scripts, &seen)).output_mode(OutputMode::Native);
    let agent = agent.build().unwrap();
    let report: Report = agent
        .run("1 + 2?", &turns(), &context().build())
        .await
        .unwrap();
    assert_eq!(report.sum, 3);
    let (role, content) = seen.lock().unwrap()[2].last().unwrap().clone();
    assert_eq!(role, "user");
    assert!(content.contains("`/sum`"), "{content}");
    let scripts = [
        out_of_range(),
        out_of_range(),
        out_of_range(),
        Script::text(VALID),
    ];
    let outcome = native(scripts)
        .run::<Report>("1 + 2?", &turns(), &context().build())
        .await;
    let error = outcome.unwrap_err().to_string();
    assert!(
        error.contains("after 3 attempts: ") && error.contains("`/sum`"),
        "{error}"
    );
}

// A truncated text is not requested again, although its beginning may be valid.
#[tokio::test]
async fn truncated_text_is_not_asked_for_again() {
    for text in [VALID, r#"{"sum":"#] {
        let mut cut = ModelMessage::text(text);
        (cut.truncated, cut.stop) = (true, Some(StopReason::Length));
        let agent = native([Script::message(cut), Script::text(VALID)]);
        let outcome = agent
            .run::<Report>("1 + 2?", &turns(), &context().build())
            .await;
        assert!(matches!(outcome, Err(AgentError::Truncated)), "{outcome:?}");
    }
}
