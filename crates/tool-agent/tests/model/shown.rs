//! `Restart::Hold` and `Restart::Refuse`, for interfaces that cannot remove text, and pieces that an output guardrail holds.

use std::sync::{Arc, Mutex};

use tool_agent::agent::Agent;
use tool_agent::agent::guardrails::{OutputCheck, guardrail};
use tool_agent::model::{
    Delta, ModelErrorKind, ModelEvent, ModelObserver, Restart, Retry, Script, ScriptedModel,
};
use tool_core::prelude::*;
use tool_core::turn::{Model as _, ModelRequest};

use crate::standin::{StandIn, cut, events};
use crate::support::{Events, World, answer, anthropic, call, quick, start, text};

fn restart(restart: Restart) -> Retry {
    let mut retry = quick();
    retry.restart = restart;
    retry
}

// With `Hold`, the pieces of an attempt are passed to the observer when the attempt is complete.
#[tokio::test]
async fn held_pieces_of_a_failed_attempt_are_never_passed_on() {
    let broken = cut([vec![start()], text(0, "Half of")].concat());
    let server = StandIn::start(vec![broken, events(answer("Done."))]).await;
    let builder = anthropic(&server).retry(restart(Restart::Hold));
    let (mut model, seen) = Events::of(builder.build().unwrap());
    assert_eq!(World::new().await.answer(&mut model).await, "Done.");
    let expected = [
        "request claude 1",
        "failed broken_stream retry",
        "request claude 2",
        "text Done.",
    ];
    assert_eq!(seen.lines(), expected);
}

// With `Refuse`, an attempt that passed on a text or a call is not repeated, and no other model of the chain is tried.
#[tokio::test]
async fn attempt_that_was_shown_is_not_repeated() {
    for begun in [text(0, "Half of"), call(0, "t-1")] {
        let broken = cut([vec![start()], begun].concat());
        let server = StandIn::start(vec![broken, events(answer("Done."))]).await;
        let first = anthropic(&server).retry(restart(Restart::Refuse));
        let second = anthropic(&server).build().unwrap();
        let (mut model, seen) = Events::of(first.build().unwrap().or(second));
        let failure = World::new().await.failure(&mut model).await;
        assert_eq!(failure.kind, ModelErrorKind::BrokenStream);
        assert_eq!(server.received().len(), 1);
        assert!(!seen.lines().contains(&"restarted".to_owned()));
    }
}

// With `Refuse`, an attempt that has shown nothing is repeated.
#[tokio::test]
async fn attempt_that_was_not_shown_is_repeated() {
    let server = StandIn::start(vec![cut([start()]), events(answer("Done."))]).await;
    let builder = anthropic(&server).retry(restart(Restart::Refuse));
    let mut model = builder.build().unwrap();
    assert_eq!(World::new().await.answer(&mut model).await, "Done.");
}

// With an output guardrail, no piece of a failed attempt is passed on. So a model with `Refuse` repeats the attempt, because nothing was shown.
#[tokio::test]
async fn output_guardrail_holds_the_pieces_of_each_attempt() {
    for mode in [Restart::Withdraw, Restart::Refuse] {
        let broken = cut([vec![start()], text(0, "Half of")].concat());
        let server = StandIn::start(vec![broken, events(answer("Done."))]).await;
        let builder = anthropic(&server).retry(restart(mode));
        let (model, seen) = Events::of(builder.build().unwrap());
        let at_check = seen.clone();
        let agent = Agent::builder("clerk", model)
            .output_guardrail(guardrail(move |check: OutputCheck| {
                let shown = at_check.lines();
                assert!(
                    !shown.iter().any(|line| line.starts_with("text")),
                    "{shown:?}"
                );
                assert_eq!(check.text(), "Done.");
                async { Ok(()) }
            }))
            .build()
            .unwrap();
        let world = World::new().await;
        agent.drive(&world.turns, &world.cx).await.unwrap();
        let expected = [
            "request claude 1",
            "failed broken_stream retry",
            "request claude 2",
            "text Done.",
        ];
        assert_eq!(seen.lines(), expected);
    }
}

/// Asks a model within a call.
#[tool(read_only)]
async fn ask(cx: &ToolContext) -> Result<String, ToolError> {
    let mut model = ScriptedModel::new([Script::text("Hello.")]);
    let request = ModelRequest {
        messages: &[],
        tools: &toolset![],
        step: 1,
        cx,
    };
    Ok(model.next(request).await?.text)
}

// The observer of a context also receives the pieces of a model that the body of a tool calls with this context.
#[tokio::test]
async fn observer_receives_the_pieces_of_a_model_in_a_call() {
    let shown = Arc::new(Mutex::new(String::new()));
    let log = Arc::clone(&shown);
    let observer = ModelObserver::new(move |event| {
        if let ModelEvent::Delta(Delta::Text(text)) = event {
            log.lock().unwrap().push_str(text);
        }
    });
    let cx = ToolContext::builder().with(observer).build();
    let result = toolset![ask]
        .call(ToolCall::new("c-1", "ask", "{}"), &cx)
        .await;
    assert_eq!(result.model_text(), "Hello.");
    assert_eq!(*shown.lock().unwrap(), "Hello.");
}
