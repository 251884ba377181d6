//! Agents with scripted models: instructions, limits and typed outputs.

#![allow(
    clippy::unwrap_used,
    clippy::panic,
    reason = "a test fails by panicking"
)]

mod file;
mod guardrails;
mod native;

use std::sync::{Arc, Mutex};

use serde_json::Value;
use tool_agent::agent::{Agent, AgentConfigError, AgentError};
use tool_agent::model::{Script, ScriptedModel};
use tool_core::prelude::*;
use tool_core::store::MemoryStore;
use tool_core::turn::{ModelMessage, ModelRequest, Outcome, StopReason, TurnError, Turns};
use tool_core::{Approvals, Gate, Reply, ToolContextBuilder};

/// Adds two numbers.
#[tool(read_only)]
fn add(
    /// The first number.
    a: i32,
    /// The second number.
    b: i32,
) -> i64 {
    i64::from(a) + i64::from(b)
}

/// Sends the report.
#[tool(destructive, approval)]
fn send() -> String {
    "sent".to_owned()
}

/// The output of the tests.
#[derive(Debug, PartialEq, serde::Deserialize, StrictSchema)]
struct Report {
    /// The sum.
    #[schema(range = 0..=100)]
    sum: i32,
    /// A remark; null if there is none.
    remark: Option<String>,
}

fn context() -> ToolContextBuilder {
    ToolContext::builder()
        .workspace("acme")
        .conversation("main")
}

fn turns() -> Turns {
    Turns::new(MemoryStore::default())
}

fn call(name: &str, arguments: &str) -> Script {
    Script::calls([ToolCall::new("c", name, arguments)])
}

/// The messages of each request, as role and content.
type Seen = Arc<Mutex<Vec<Vec<(String, String)>>>>;

/// Records the request of each script.
fn recorded(scripts: impl IntoIterator<Item = Script>, seen: &Seen) -> ScriptedModel {
    let scripts = scripts.into_iter().map(|script| {
        let seen = Arc::clone(seen);
        Script::with(move |request: &ModelRequest<'_>| {
            let line = |message: &tool_core::store::Message| {
                (message.role.to_string(), message.content.clone())
            };
            let lines = request.messages.iter().map(line).collect();
            seen.lock().unwrap().push(lines);
            script.reply(request)
        })
    });
    ScriptedModel::new(scripts)
}

// The instructions come first in every request, are not stored, and change with the agent.
#[tokio::test]
async fn instructions_are_sent_and_not_stored() {
    let (seen, turns, cx) = (Seen::default(), turns(), context().build());
    let script = || [call("add", r#"{"a":1,"b":2}"#), Script::text("3")];
    for instructions in ["Be brief.", "Be long."] {
        let agent = Agent::builder("clerk", recorded(script(), &seen));
        let agent = agent.instructions(instructions).tools(|_| toolset![add]);
        let outcome = agent.build().unwrap().respond("1 + 2?", &turns, &cx).await;
        assert!(matches!(outcome, Ok(Outcome::Answered(text)) if text == "3"));
    }
    let seen = seen.lock().unwrap();
    let roles = |at: usize| {
        let roles: Vec<&str> = seen[at].iter().map(|(role, _)| &**role).collect();
        roles.join(" ")
    };
    assert_eq!(roles(0), "system user");
    assert_eq!(roles(1), "system user assistant tool");
    assert_eq!(
        roles(3),
        "system user assistant tool assistant user assistant tool"
    );
    for (at, text) in [
        (0, "Be brief."),
        (1, "Be brief."),
        (2, "Be long."),
        (3, "Be long."),
    ] {
        assert_eq!(serde_json::from_str::<Value>(&seen[at][0].1).unwrap(), text);
    }
}

// S4-12: the instructions may contain variables of the context, and a missing one ends the run before a request.
#[tokio::test]
async fn instructions_are_written_for_each_run() {
    let seen = Seen::default();
    let agent = Agent::builder("clerk", recorded([Script::text("Hello.")], &seen));
    let agent = agent.instructions_of(|cx| {
        let company = cx.variable("COMPANY");
        let company = company.ok_or_else(|| ToolError::unavailable("variable `COMPANY`"))?;
        Ok(format!("You work for {company}."))
    });
    let agent = agent.build().unwrap();
    let error = agent.respond("Hello.", &turns(), &context().build()).await;
    assert!(
        matches!(error, Err(TurnError::Model(error)) if error.operator_text().contains("COMPANY"))
    );
    assert!(seen.lock().unwrap().is_empty());
    let cx = context().variable("COMPANY", "Acme").build();
    agent.respond("Hello.", &turns(), &cx).await.unwrap();
    assert_eq!(seen.lock().unwrap()[0][0].1, r#""You work for Acme.""#);
}

// The limits of an agent replace the limits of the loop.
#[tokio::test]
async fn limits_of_the_agent_end_the_run() {
    let endless = || (0..50).map(|_| call("add", r#"{"a":1,"b":2}"#));
    let agent = Agent::builder("clerk", ScriptedModel::new(endless()));
    let agent = agent
        .tools(|_| toolset![add])
        .most_steps(3)
        .build()
        .unwrap();
    let outcome = agent
        .respond("1 + 2?", &turns().most_steps(9), &context().build())
        .await;
    assert!(matches!(outcome, Ok(Outcome::StepLimit)), "{outcome:?}");
    for limits_cost in [false, true] {
        let model = ScriptedModel::new((0..50).map(|_| {
            let mut message = ModelMessage::calls([ToolCall::new("c", "add", r#"{"a":1,"b":2}"#)]);
            message.usage = Some(tool_core::store::Usage {
                input_tokens: 60,
                cost_micros: Some(60),
                ..Default::default()
            });
            Script::message(message)
        }));
        let agent = Agent::builder("clerk", model).tools(|_| toolset![add]);
        let agent = if limits_cost {
            agent.most_cost(100)
        } else {
            agent.most_tokens(100)
        };
        let outcome = agent
            .build()
            .unwrap()
            .respond("1 + 2?", &turns(), &context().build())
            .await;
        assert!(matches!(outcome, Ok(Outcome::Budget)), "{outcome:?}");
    }
}

#[test]
fn faulty_configurations_are_refused() {
    let builder = |name: &str| Agent::builder(name, ScriptedModel::new([]));
    assert_eq!(builder(" ").build().unwrap_err(), AgentConfigError::NoName);
    let none = builder("clerk").most_steps(0).build();
    assert_eq!(none.unwrap_err(), AgentConfigError::NoSteps);
}

fn reporter(scripts: impl IntoIterator<Item = Script>) -> Agent {
    let agent = Agent::builder("clerk", ScriptedModel::new(scripts));
    agent.tools(|_| toolset![add]).build().unwrap()
}

// The first valid output ends the run; the calls before it in the same message run first.
#[tokio::test]
async fn valid_output_ends_the_run() {
    let both = Script::calls([
        ToolCall::new("c-1", "add", r#"{"a":1,"b":2}"#),
        ToolCall::new("c-2", "final_answer", r#"{"sum":3,"remark":null}"#),
    ]);
    let (turns, cx) = (turns(), context().build());
    let order = Arc::new(Mutex::new(Vec::new()));
    let log = Arc::clone(&order);
    let turns = turns.observe(move |result| log.lock().unwrap().push(result.name.clone()));
    let agent = reporter([both]);
    let report: Report = agent.run("1 + 2?", &turns, &cx).await.unwrap();
    assert_eq!(
        report,
        Report {
            sum: 3,
            remark: None
        }
    );
    assert_eq!(*order.lock().unwrap(), ["add", "final_answer"]);
    // If the host has lost the output, `resume` returns it again without a request.
    let again: Report = reporter([]).resume(&turns, &cx).await.unwrap();
    assert_eq!(again, report);
}

// After an invalid output, the model reads the problem and gets a new request. After the last retry, the error contains the problem.
#[tokio::test]
async fn invalid_output_is_asked_for_again_a_bounded_number_of_times() {
    let invalid = || call("final_answer", r#"{"sum":"three"}"#);
    let good = || call("final_answer", r#"{"sum":3,"remark":null}"#);
    let run = async |scripts: Vec<Script>| -> Result<Report, AgentError> {
        reporter(scripts)
            .run("1 + 2?", &turns(), &context().build())
            .await
    };
    assert_eq!(
        run(vec![invalid(), invalid(), good()]).await.unwrap().sum,
        3
    );
    assert_eq!(
        run(vec![Script::text("3"), invalid(), good()])
            .await
            .unwrap()
            .sum,
        3
    );
    for scripts in [
        vec![invalid(), invalid(), invalid(), good()],
        vec![Script::text("3"), Script::text("3"), invalid(), good()],
    ] {
        let error = run(scripts).await.unwrap_err().to_string();
        assert!(
            error.starts_with("the model returned no valid output: after 3 attempts: "),
            "{error}"
        );
        assert!(error.contains("`/sum`: expected"), "{error}");
    }
    let error = run(vec![
        Script::text("3"),
        Script::text("3"),
        Script::text("It is 3."),
    ])
    .await;
    assert!(
        error
            .unwrap_err()
            .to_string()
            .ends_with(r#"it answered with the text "It is 3." and did not call `final_answer`"#)
    );
}

// A new request is not sent after an answer that reached the limit on tokens.
#[tokio::test]
async fn truncated_output_is_not_asked_for_again() {
    let mut cut = ModelMessage::text("{\"sum\":");
    (cut.truncated, cut.stop) = (true, Some(StopReason::Length));
    let agent = reporter([Script::message(cut), Script::text("never")]);
    let outcome = agent
        .run::<Report>("1 + 2?", &turns(), &context().build())
        .await;
    assert!(matches!(outcome, Err(AgentError::Truncated)), "{outcome:?}");
}

// A run that waits for an approval has no output. After the answer, it continues until it has one.
#[tokio::test]
async fn run_with_an_approval_is_resumed_to_its_output() {
    let store = MemoryStore::default();
    let approvals = Approvals::builder(store.clone()).build().unwrap();
    let gate = Gate::builder().approvals(approvals).ledger(store).build();
    let guarded = gate.clone();
    let scripts = [
        call("send", "{}"),
        call("final_answer", r#"{"sum":3,"remark":"sent"}"#),
    ];
    let agent = Agent::builder("clerk", ScriptedModel::new(scripts.clone()));
    let agent = agent
        .tools(move |_| toolset![send].through(&guarded))
        .build()
        .unwrap();
    let (turns, cx) = (turns(), context().build());
    let stopped = agent.run::<Report>("Send it.", &turns, &cx).await;
    let Err(AgentError::Stopped(outcome)) = stopped else {
        panic!("{stopped:?}");
    };
    let Outcome::Waiting(tickets) = *outcome else {
        panic!("{outcome:?}");
    };
    let tools = toolset![send].through(&gate);
    let (workspace, token) = (cx.own_workspace(), &tickets[0].token);
    let answer = gate.approvals().unwrap();
    let answer = answer.answer(&workspace, &tools, token, Reply::Approve, "ann", None);
    answer.await.unwrap();
    // Each run uses a clone of the scripted model, which begins with its first message, so the second agent has only the rest of the script.
    let [_, rest] = scripts;
    let agent = Agent::builder("clerk", ScriptedModel::new([rest]));
    let agent = agent
        .tools(move |_| toolset![send].through(&gate))
        .build()
        .unwrap();
    let report: Report = agent.resume(&turns, &cx).await.unwrap();
    assert_eq!(report.remark.as_deref(), Some("sent"));
}

/// Returns the answer.
#[tool(read_only)]
fn final_answer() -> String {
    String::new()
}

#[tokio::test]
async fn tool_with_the_name_of_the_output_is_refused() {
    let agent = Agent::builder("clerk", ScriptedModel::new([]));
    let agent = agent.tools(|_| toolset![final_answer]).build().unwrap();
    let outcome = agent
        .run::<Report>("1 + 2?", &turns(), &context().build())
        .await;
    assert!(matches!(outcome, Err(AgentError::NameTaken)), "{outcome:?}");
}
