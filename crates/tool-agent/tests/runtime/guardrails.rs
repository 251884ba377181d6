//! Guardrails of the agents of a runtime.

use std::sync::{Arc, Mutex};

use futures::StreamExt as _;
use serde_json::json;
use tool_agent::agent::Agent;
use tool_agent::agent::guardrails::{InputCheck, OutputCheck, Refusal, guardrail};
use tool_agent::model::{Script, ScriptedModel};
use tool_agent::runtime::{AgentEntry, Handoff, PromptTool, Subagent};
use tool_core::turn::{GuardrailKind, Outcome};

use crate::support::{Host, Log, agent, calls, context, entry, results, text, worker};

/// The agents whose input was checked, and the agents that made requests, in order.
type Order = Arc<Mutex<Vec<String>>>;

fn refusal() -> Refusal {
    Refusal::new("Not here.").operator("operator only")
}

// The input guardrails of an agent run before the first request of the agent, also after a handoff.
#[tokio::test]
async fn input_guardrails_run_before_the_first_request_of_every_agent() {
    for refuses in [false, true] {
        let (host, log, order) = (Host::new(), Log::default(), Order::default());
        let checks = |name: &'static str, refuses: bool| {
            let order = Arc::clone(&order);
            let log = log.clone();
            guardrail(move |check: InputCheck| {
                let requests = log.of(name).len();
                let line = format!("{name} {} {requests}", check.text());
                order.lock().unwrap().push(line);
                async move {
                    if refuses {
                        Err(refusal().into())
                    } else {
                        Ok(())
                    }
                }
            })
        };
        let support = agent(
            "support",
            &log,
            [calls([("transfer_to_billing", json!({}))])],
        );
        let billing = agent("billing", &log, [text("unused"), text("You owe 42.")]);
        let runtime = host
            .runtime()
            .agent(
                entry(support.input_guardrail(checks("support", false)))
                    .handoff(Handoff::to("billing")),
            )
            .agent(entry(billing.input_guardrail(checks("billing", refuses))))
            .build()
            .unwrap();
        let cx = context().build();
        let outcome = runtime.respond("support", "What do I owe?", &cx).await;
        match outcome.unwrap() {
            Outcome::Answered(text) => assert!(!refuses && text == "You owe 42."),
            Outcome::Guardrail(tripped) => {
                assert!(refuses);
                assert_eq!(
                    (tripped.kind, &*tripped.text),
                    (GuardrailKind::Input, "Not here.")
                );
                // The same agent answers the next turn, and its guardrail refuses again.
                let next = runtime.respond("support", "And now?", &cx).await.unwrap();
                assert!(matches!(next, Outcome::Guardrail(_)), "{next:?}");
                assert!(log.of("billing").is_empty());
                assert_eq!(order.lock().unwrap()[2], "billing And now? 0");
            }
            other => panic!("{other:?}"),
        }
        let expected = ["support What do I owe? 0", "billing What do I owe? 0"];
        assert_eq!(order.lock().unwrap()[..2], expected);
    }
}

// The guardrail of a sub-agent or a prompt ends only the run of this sub-agent or prompt. The parent reads the text for users.
#[tokio::test]
async fn guardrail_of_a_child_ends_the_run_of_the_child() {
    for is_prompt in [false, true] {
        let (host, log) = (Host::new(), Log::default());
        let chief = agent(
            "chief",
            &log,
            [
                calls([("helper", json!({"message": "Find the poison."}))]),
                text("I could not."),
            ],
        );
        let helper = agent("helper", &log, [text("The poison is here.")]);
        let helper = helper.output_guardrail(guardrail(|check: OutputCheck| async move {
            if check.text().contains("poison") {
                Err(refusal().into())
            } else {
                Ok(())
            }
        }));
        let chief = entry(chief);
        let (chief, helper) = if is_prompt {
            let chief = chief.prompt(PromptTool::new("helper"));
            (chief, entry(helper).expose("Helps."))
        } else {
            (chief.subagent(Subagent::new("helper")), worker(helper))
        };
        let runtime = host.runtime().agent(chief).agent(helper).build().unwrap();
        let cx = context().build();
        let outcome = runtime.respond("chief", "Go.", &cx).await.unwrap();
        assert!(matches!(outcome, Outcome::Answered(text) if text == "I could not."));
        let results = results(&host, &cx).await;
        let result = format!("{:?}", results[0]);
        assert!(result.contains("Not here."), "{result}");
        for hidden in ["operator only", "The poison is here."] {
            assert!(!result.contains(hidden), "{result}");
        }
    }
}

// No event of a run contains a text that an output guardrail refused.
#[tokio::test]
async fn events_have_no_refused_text() {
    let host = Host::new();
    let model = ScriptedModel::new([Script::text("The poison is here.")]);
    let agent = Agent::builder("chief", model)
        .output_guardrail(guardrail(|_: OutputCheck| async { Err(refusal().into()) }));
    let runtime = host
        .runtime()
        .agent(AgentEntry::new(agent.build().unwrap()))
        .build()
        .unwrap();
    let mut lines = Vec::new();
    let mut events = runtime.stream("chief", "Go.", &context().build());
    while let Some(event) = events.next().await {
        lines.push(serde_json::to_string(&event).unwrap());
    }
    let all = lines.join("\n");
    assert!(
        !all.contains("poison") && !all.contains("operator"),
        "{all}"
    );
    assert!(all.contains(r#""text":"Not here.""#), "{all}");
    assert!(
        lines.last().unwrap().contains(r#""cause":"guardrail""#),
        "{all}"
    );
}
