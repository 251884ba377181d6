//! Guardrails: their requests, the texts that are shown and stored after a refusal, and guardrails that fail.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll};

use futures::future::{BoxFuture, FutureExt as _, pending};
use tool_agent::agent::guardrails::{CallCheck, InputCheck, OutputCheck, Refusal, guardrail};
use tool_agent::agent::{Agent, AgentError};
use tool_agent::model::{Delta, ModelEvent, ModelObserver, Script, ScriptedModel};
use tool_core::CancellationToken;
use tool_core::prelude::*;
use tool_core::store::{MemoryStore, Message, RunCause, RunFilter, RunRow, Usage, Workspace};
use tool_core::turn::{GuardrailKind, Model, ModelMessage, ModelRequest, Outcome, Tripped, Turns};
use tower::{BoxError, Layer, Service};

use crate::{Report, Seen, add, call, context, recorded, turns};

/// Records the events of a model as the words that an interface would show.
#[derive(Clone, Default)]
struct Shown(Arc<Mutex<Vec<String>>>);

impl Shown {
    fn observer(&self) -> ModelObserver {
        let shown = self.clone();
        ModelObserver::new(move |event| shown.add(event))
    }

    fn add(&self, event: &ModelEvent<'_>) {
        let line = match event {
            ModelEvent::Delta(Delta::Text(text)) => text.trim().to_owned(),
            ModelEvent::Delta(Delta::Call { name, .. }) => name.clone(),
            ModelEvent::StepRestarted => "restarted".to_owned(),
            _ => return,
        };
        self.0.lock().unwrap().push(line);
    }

    fn lines(&self) -> Vec<String> {
        self.0.lock().unwrap().clone()
    }
}

fn tripped(outcome: &Outcome) -> (GuardrailKind, &str) {
    match outcome {
        Outcome::Guardrail(Tripped { kind, text }) => (*kind, text),
        other => panic!("expected a guardrail, got {other:?}"),
    }
}

async fn stored(turns: &Turns, cx: &ToolContext) -> Vec<Message> {
    turns.messages(cx, None).await.unwrap()
}

/// Returns the row of the only run.
async fn run_row(turns: &Turns) -> RunRow {
    let (workspace, filter) = (Workspace::new("acme"), RunFilter::default());
    let mut rows = turns.runs(&workspace, &filter).await.unwrap();
    assert_eq!(rows.len(), 1);
    rows.remove(0)
}

/// Creates a guardrail that refuses texts with a word.
macro_rules! without {
    ($check:ty, $word:literal) => {
        guardrail(|check: $check| async move {
            if check.text().contains($word) {
                Err(Refusal::new("I cannot answer that.")
                    .operator("operator: s3cr3t-t0ken")
                    .into())
            } else {
                Ok(())
            }
        })
    };
}

// The refused message is sent to no model, not even in a later turn, and the run is not retried.
#[tokio::test]
async fn refused_input_makes_no_request_and_is_withheld_later() {
    for instructions in ["", "Be brief."] {
        let (seen, turns, cx) = (Seen::default(), turns(), context().build());
        let agent = Agent::builder("clerk", recorded([Script::text("Hi.")], &seen));
        let agent = agent
            .instructions(instructions)
            .input_guardrail(without!(InputCheck, "poison"))
            .build()
            .unwrap();
        let outcome = agent.respond("A poison.", &turns, &cx).await.unwrap();
        let refused = (GuardrailKind::Input, "I cannot answer that.");
        assert_eq!(tripped(&outcome), refused);
        assert_eq!(outcome.cause(), Some(RunCause::Guardrail));
        assert_eq!(run_row(&turns).await.cause, Some(RunCause::Guardrail));
        let again = agent.drive(&turns, &cx).await.unwrap();
        assert_eq!(tripped(&again), refused);
        assert!(seen.lock().unwrap().is_empty());
        let messages = stored(&turns, &cx).await;
        assert_eq!(messages.len(), 2);
        assert!(messages[1].content.contains("I cannot answer that."));
        assert!(!messages[1].content.contains("operator"));

        let outcome = agent.respond("Hello.", &turns, &cx).await.unwrap();
        assert!(matches!(outcome, Outcome::Answered(text) if text == "Hi."));
        let seen = seen.lock().unwrap();
        let request = format!("{seen:?}");
        assert!(!request.contains("poison"), "{request}");
        let roles = if instructions.is_empty() {
            "user assistant user"
        } else {
            "system user assistant user"
        };
        let sent: Vec<&str> = seen[0].iter().map(|(role, _)| &**role).collect();
        assert_eq!(sent.join(" "), roles);
        assert!(request.contains("withheld this message"), "{request}");
    }
}

// The input guardrails of a later turn do not read a message that was refused earlier.
#[tokio::test]
async fn refused_message_is_withheld_from_later_checks() {
    for instructions in ["", "Be brief."] {
        let seen = Arc::new(Mutex::new(Vec::new()));
        let log = Arc::clone(&seen);
        let agent = Agent::builder("clerk", ScriptedModel::new([Script::text("Hi.")]))
            .instructions(instructions)
            .input_guardrail(guardrail(move |check: InputCheck| {
                log.lock().unwrap().push(format!("{:?}", check.messages()));
                let refuses = check.text().contains("poison");
                async move {
                    if refuses {
                        return Err(Refusal::new("No.").into());
                    }
                    Ok(())
                }
            }))
            .build()
            .unwrap();
        let (turns, cx) = (turns(), context().build());
        agent.respond("A poison.", &turns, &cx).await.unwrap();
        agent.respond("Hello.", &turns, &cx).await.unwrap();
        let seen = seen.lock().unwrap();
        assert_eq!(seen.len(), 2);
        assert!(!seen[1].contains("poison"), "{}", seen[1]);
        assert!(seen[1].contains("withheld this message"), "{}", seen[1]);
    }
}

// The text of the check has the texts of the current turn, and its messages are the whole thread.
#[tokio::test]
async fn input_guardrail_sees_the_turn_and_the_thread() {
    let seen = Arc::new(Mutex::new(Vec::new()));
    let log = Arc::clone(&seen);
    let model = ScriptedModel::new([call("add", r#"{"a":1,"b":2}"#), Script::text("3")]);
    let agent = Agent::builder("clerk", model)
        .instructions("Be brief.")
        .tools(|_| toolset![add])
        .input_guardrail(guardrail(move |check: InputCheck| {
            let line = (check.text(), check.messages().len());
            log.lock().unwrap().push(line);
            async { Ok(()) }
        }))
        .build()
        .unwrap();
    let (turns, cx) = (turns(), context().build());
    agent.respond("1 + 2?", &turns, &cx).await.unwrap();
    turns.say("Again,", &cx).await.unwrap();
    agent.respond("please.", &turns, &cx).await.unwrap();
    // The guardrail runs once for each drive, and not before the second step.
    let expected = [("1 + 2?".to_owned(), 1), ("Again,\nplease.".to_owned(), 6)];
    assert_eq!(*seen.lock().unwrap(), expected);
}

// A message that arrives during the run is checked before the request that contains it.
#[tokio::test]
async fn message_during_the_run_is_checked() {
    let (seen, turns, cx) = (Seen::default(), turns(), context().build());
    let (during, of) = (turns.clone(), cx.clone());
    let turns_of_run = turns.clone().observe(move |_| {
        let say = during.say("A poison.", &of);
        // The future is ready at once, because the store is in memory.
        say.now_or_never().unwrap().unwrap();
    });
    // The message arrives before the result of the second call, so the next request contains it.
    let both = ["c-1", "c-2"].map(|id| ToolCall::new(id, "add", r#"{"a":1,"b":2}"#));
    let scripts = [Script::calls(both), Script::text("3")];
    let agent = Agent::builder("clerk", recorded(scripts, &seen))
        .tools(|_| toolset![add])
        .input_guardrail(without!(InputCheck, "poison"))
        .build()
        .unwrap();
    let outcome = agent.respond("1 + 2?", &turns_of_run, &cx).await.unwrap();
    assert_eq!(tripped(&outcome).0, GuardrailKind::Input);
    assert_eq!(seen.lock().unwrap().len(), 1);
}

fn with_usage(text: &str) -> Script {
    let mut message = ModelMessage::text(text);
    message.usage = Some(Usage {
        input_tokens: 7,
        ..Usage::default()
    });
    Script::message(message)
}

// A text is held until the guardrails accept it. A refused text is neither shown nor stored, and its tokens
// count.
#[tokio::test]
async fn refused_output_is_neither_shown_nor_stored() {
    let (of_model, of_context) = (Shown::default(), Shown::default());
    let (turns, cx) = (turns(), context().with(of_context.observer()).build());
    let passed = Arc::new(Mutex::new(Vec::new()));
    let (log, shown) = (Arc::clone(&passed), of_context.clone());
    let observer = of_model.clone();
    let scripts = [
        call("add", r#"{"a":1,"b":2}"#),
        with_usage("The poison is here."),
    ];
    let model = ScriptedModel::new(scripts).observe(move |event| observer.add(event));
    let agent = Agent::builder("clerk", model)
        .tools(|_| toolset![add])
        .output_guardrail(without!(OutputCheck, "poison"))
        .output_guardrail(guardrail(move |check: OutputCheck| {
            log.lock().unwrap().push((check.text(), shown.lines()));
            async { Ok(()) }
        }))
        .build()
        .unwrap();
    let outcome = agent.respond("1 + 2?", &turns, &cx).await.unwrap();
    let refused = (GuardrailKind::Output, "I cannot answer that.");
    assert_eq!(tripped(&outcome), refused);
    assert_eq!(of_model.lines(), ["add"]);
    assert_eq!(of_context.lines(), ["add"]);
    // A message that only has calls has no text to check.
    let checked = ("The poison is here.".to_owned(), vec!["add".to_owned()]);
    assert_eq!(*passed.lock().unwrap(), [checked]);
    let messages = stored(&turns, &cx).await;
    assert!(!format!("{messages:?}").contains("poison"));
    let row = run_row(&turns).await;
    assert_eq!(row.progress.usage.input_tokens, 7);
    assert_eq!(row.cause, Some(RunCause::Guardrail));
    let again = agent.drive(&turns, &cx).await.unwrap();
    assert_eq!(tripped(&again), refused);
}

// The reasoning of a message without a text is checked before it is stored, even if the message has calls.
#[tokio::test]
async fn refused_reasoning_of_a_call_is_not_stored() {
    let mut message = ModelMessage::calls([ToolCall::new("c-1", "add", r#"{"a":1,"b":2}"#)]);
    message.reasoning = "The poison is here.".to_owned();
    let agent = Agent::builder("clerk", ScriptedModel::new([Script::message(message)]))
        .tools(|_| toolset![add])
        .output_guardrail(guardrail(|check: OutputCheck| async move {
            if check.message().reasoning.contains("poison") {
                return Err(Refusal::new("I cannot answer that.").into());
            }
            Ok(())
        }))
        .build()
        .unwrap();
    let (turns, cx) = (turns(), context().build());
    let outcome = agent.respond("1 + 2?", &turns, &cx).await.unwrap();
    assert_eq!(tripped(&outcome).0, GuardrailKind::Output);
    let messages = stored(&turns, &cx).await;
    assert!(!format!("{messages:?}").contains("poison"), "{messages:?}");
}

// If a run is cancelled while a guardrail checks a message, the tokens of the message count.
#[tokio::test]
async fn tokens_of_an_unchecked_message_count() {
    let token = CancellationToken::new();
    let (turns, cx) = (turns(), context().cancellation(token.clone()).build());
    let model = ScriptedModel::new([with_usage("It is 3.")]);
    let agent = Agent::builder("clerk", model)
        .output_guardrail(guardrail(move |_: OutputCheck| {
            token.cancel();
            pending::<Result<(), BoxError>>()
        }))
        .build()
        .unwrap();
    let outcome = agent.respond("1 + 2?", &turns, &cx).await.unwrap();
    assert!(matches!(outcome, Outcome::Cancelled), "{outcome:?}");
    assert_eq!(stored(&turns, &cx).await.len(), 1);
    assert_eq!(run_row(&turns).await.progress.usage.input_tokens, 7);
}

#[tokio::test]
async fn accepted_output_is_shown_after_the_check() {
    let shown = Shown::default();
    let (turns, cx) = (turns(), context().with(shown.observer()).build());
    let before = Arc::new(Mutex::new(None));
    let (log, lines) = (Arc::clone(&before), shown.clone());
    let agent = Agent::builder("clerk", ScriptedModel::new([Script::text("It is 3.")]))
        .output_guardrail(guardrail(move |_: OutputCheck| {
            *log.lock().unwrap() = Some(lines.lines());
            async { Ok(()) }
        }))
        .build()
        .unwrap();
    agent.respond("1 + 2?", &turns, &cx).await.unwrap();
    assert_eq!(*before.lock().unwrap(), Some(Vec::new()));
    assert_eq!(shown.lines(), ["It", "is", "3."]);
}

// If a host shows unchecked text, a refusal emits the event that withdraws it.
#[tokio::test]
async fn unchecked_output_is_withdrawn_after_a_refusal() {
    let shown = Shown::default();
    let (turns, cx) = (turns(), context().with(shown.observer()).build());
    let model = ScriptedModel::new([Script::text("A poison.")]);
    let agent = Agent::builder("clerk", model)
        .output_guardrail(without!(OutputCheck, "poison"))
        .show_unchecked_output()
        .build()
        .unwrap();
    let outcome = agent.respond("1 + 2?", &turns, &cx).await.unwrap();
    assert_eq!(tripped(&outcome).0, GuardrailKind::Output);
    assert_eq!(shown.lines(), ["A", "poison.", "restarted"]);
    assert!(!format!("{:?}", stored(&turns, &cx).await).contains("poison"));
}

/// A model that shows a part of its answer and never ends.
#[derive(Clone)]
struct Endless(CancellationToken);

impl Model for Endless {
    fn next<'a>(
        &'a mut self,
        _: ModelRequest<'a>,
    ) -> BoxFuture<'a, Result<ModelMessage, ToolError>> {
        self.0.cancel();
        Box::pin(pending())
    }

    fn interrupted(&mut self) -> Option<ModelMessage> {
        Some(ModelMessage::text("Half of"))
    }
}

// A text that no guardrail has checked is not stored when the run is cancelled.
#[tokio::test]
async fn unchecked_part_of_a_cancelled_run_is_not_stored() {
    for guarded in [false, true] {
        let token = CancellationToken::new();
        let (turns, cx) = (turns(), context().cancellation(token.clone()).build());
        let mut agent = Agent::builder("clerk", Endless(token));
        if guarded {
            agent = agent.output_guardrail(without!(OutputCheck, "poison"));
        }
        let agent = agent.build().unwrap();
        let outcome = agent.respond("1 + 2?", &turns, &cx).await.unwrap();
        assert!(matches!(outcome, Outcome::Cancelled), "{outcome:?}");
        let stored = stored(&turns, &cx).await;
        assert_eq!(stored.len(), if guarded { 1 } else { 2 });
    }
}

/// Counts its calls.
#[tool(read_only)]
fn count(counter: &Counter) -> &'static str {
    counter.0.fetch_add(1, Ordering::Relaxed);
    "counted"
}

#[derive(Clone, Default)]
struct Counter(Arc<AtomicUsize>);

tool_core::host_value!(Counter, tool_core::Effect::READ);

// One refused call stops the whole message.
#[tokio::test]
async fn refused_call_stops_all_calls_of_its_message() {
    let counter = Counter::default();
    let (turns, cx) = (turns(), context().with(counter.clone()).build());
    let both = Script::calls([
        ToolCall::new("c-1", "count", "{}"),
        ToolCall::new("c-2", "add", r#"{"a":13,"b":2}"#),
    ]);
    let agent = Agent::builder("clerk", ScriptedModel::new([both]))
        .tools(|_| toolset![add, count])
        .call_guardrail(guardrail(|check: CallCheck| async move {
            if check.call().arguments.contains("13") {
                Err(Refusal::new("13 is not allowed.").into())
            } else {
                Ok(())
            }
        }))
        .build()
        .unwrap();
    let outcome = agent.respond("13 + 2?", &turns, &cx).await.unwrap();
    let refused = (GuardrailKind::Call, "13 is not allowed.");
    assert_eq!(tripped(&outcome), refused);
    assert_eq!(counter.0.load(Ordering::Relaxed), 0);
    assert_eq!(stored(&turns, &cx).await.len(), 2);
    assert_eq!(tripped(&agent.drive(&turns, &cx).await.unwrap()), refused);
}

/// A layer whose service fails in `poll_ready`.
#[derive(Clone)]
struct Unready;

impl<S> Layer<S> for Unready {
    type Service = Self;

    fn layer(&self, _: S) -> Self {
        Self
    }
}

impl<R> Service<R> for Unready {
    type Response = ();
    type Error = BoxError;
    type Future = std::future::Ready<Result<(), BoxError>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), BoxError>> {
        Poll::Ready(Err("the service is closed".into()))
    }

    fn call(&mut self, _: R) -> Self::Future {
        std::future::ready(Ok(()))
    }
}

// A guardrail that panics or fails refuses, and the user does not read why.
#[tokio::test]
async fn failing_guardrails_refuse() {
    let agent = || Agent::builder("clerk", ScriptedModel::new([Script::text("never shown")]));
    let agents = [
        agent().input_guardrail(guardrail(|_: InputCheck| async {
            Err("the classifier at 10.0.0.1 is down".into())
        })),
        agent().input_guardrail(guardrail(|_: InputCheck| async { panic!("in the check") })),
        agent().input_guardrail(Unready),
        agent().output_guardrail(guardrail(|check: OutputCheck| {
            assert!(check.text().is_empty(), "before the check");
            async { Ok(()) }
        })),
        agent().output_guardrail(Unready),
    ];
    for agent in agents {
        let (turns, cx) = (turns(), context().build());
        let outcome = agent.build().unwrap().respond("Hi.", &turns, &cx).await;
        let outcome = outcome.unwrap();
        let text = "The answer was withheld, because a check of the host failed.";
        assert_eq!(tripped(&outcome).1, text);
        let stored = format!("{:?}", stored(&turns, &cx).await);
        for hidden in ["never shown", "10.0.0.1", "the check", "closed"] {
            assert!(!stored.contains(hidden), "{stored}");
        }
    }
}

// The layer that is added last runs first, and each layer can stop the others.
#[tokio::test]
async fn last_layer_runs_first() {
    let order = Arc::new(Mutex::new(Vec::new()));
    let noting = |name: &'static str| {
        let order = Arc::clone(&order);
        guardrail(move |check: InputCheck| {
            order.lock().unwrap().push(name);
            let stops = check.text().contains(name);
            async move {
                if stops {
                    Err(Refusal::new(name).into())
                } else {
                    Ok(())
                }
            }
        })
    };
    let agent = Agent::builder("clerk", ScriptedModel::new([Script::text("Hi.")]))
        .input_guardrail(noting("first"))
        .input_guardrail(noting("second"))
        .build()
        .unwrap();
    let (turns, cx) = (turns(), context().build());
    let outcome = agent.respond("second", &turns, &cx).await.unwrap();
    assert_eq!(tripped(&outcome).1, "second");
    let outcome = agent.respond("first", &turns, &cx).await.unwrap();
    assert_eq!(tripped(&outcome).1, "first");
    assert_eq!(*order.lock().unwrap(), ["second", "second", "first"]);
}

// A typed output is checked by the output guardrails, and not by the call guardrails.
#[tokio::test]
async fn typed_output_passes_the_output_guardrails() {
    let output = |remark: &str| {
        let arguments = format!(r#"{{"sum":3,"remark":"{remark}"}}"#);
        call("final_answer", &arguments)
    };
    for (remark, passes) in [("fine", true), ("a poison", false)] {
        let agent = Agent::builder("clerk", ScriptedModel::new([output(remark)]))
            .output_guardrail(without!(OutputCheck, "poison"))
            .call_guardrail(guardrail(|check: CallCheck| async move {
                Err(Refusal::new(check.call().name.clone()).into())
            }))
            .build()
            .unwrap();
        let (turns, cx) = (Turns::new(MemoryStore::default()), context().build());
        let outcome = agent.run::<Report>("1 + 2?", &turns, &cx).await;
        match outcome {
            Ok(report) => assert!(passes && report.sum == 3),
            Err(AgentError::Guardrail(tripped)) => {
                assert!(!passes && tripped.kind == GuardrailKind::Output);
            }
            Err(error) => panic!("{error}"),
        }
        let is_stored = format!("{:?}", stored(&turns, &cx).await).contains(remark);
        assert_eq!(is_stored, passes);
    }
}

// Secrets of the context are redacted in the text for the user.
#[tokio::test]
async fn secrets_in_a_refusal_are_redacted() {
    let agent = Agent::builder("clerk", ScriptedModel::new([]))
        .input_guardrail(guardrail(|check: InputCheck| async move {
            Err(Refusal::new(format!("I cannot answer `{}`.", check.text())).into())
        }))
        .build()
        .unwrap();
    let cx = context().secret("TOKEN", "s3cr3t-t0ken").build();
    let outcome = agent.respond("s3cr3t-t0ken", &turns(), &cx).await.unwrap();
    assert_eq!(tripped(&outcome).1, "I cannot answer `[secret:TOKEN]`.");
}
