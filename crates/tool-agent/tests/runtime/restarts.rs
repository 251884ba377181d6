//! Runs that are continued after their process died.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use serde_json::{Value, json};
use tool_agent::agent::Agent;
use tool_agent::runtime::{AgentRuntime, PromptTool, Resumable, SpawnGate, Subagent};
use tool_core::prelude::*;
use tool_core::store::{ChildState, ChildStore as _, MemoryStore, Role};
use tool_core::turn::Outcome;
use tool_core::{DynamicTool, Registry, Reply};

use crate::support::{
    Death, Host, Log, Request, Thinker, agent, calls, context, entry, in_conversation, only_child,
    results, text, thinking, worker,
};

/// The number of times that each effect took place.
type Effects = Arc<Mutex<BTreeMap<String, u32>>>;

fn effects(effects: &Effects) -> Toolset {
    let schema = json!({
        "type": "object",
        "properties": {"name": {"type": "string", "description": "The name."}},
        "required": ["name"],
        "additionalProperties": false,
    });
    let made = effects.clone();
    let tool = DynamicTool::new(
        "make",
        "Makes something.",
        schema,
        move |arguments: Value, _| {
            let made = made.clone();
            async move {
                let name = arguments["name"].as_str().unwrap().to_owned();
                *made.lock().unwrap().entry(name.clone()).or_default() += 1;
                Ok::<_, ToolError>(format!("made {name}"))
            }
        },
    );
    let tool = tool.effect(tool_core::Effect::WRITE);
    Registry::builder().dynamic(tool).build().unwrap().open()
}

/// Returns a runtime with a chief that runs a prompt and a sub-agent. The sub-agent has its own sub-agent,
/// which has an effect, too.
fn tree(host: &Host, log: &Log, made: &Effects, death: &Death) -> AgentRuntime {
    let replies = |name: &str, replies: Vec<tool_core::turn::ModelMessage>| {
        let tools = effects(made);
        let think =
            move |request: &Request| Ok(replies[request.step().min(replies.len() - 1)].clone());
        let thinker = Thinker::new(name, log, think).dying(death);
        Agent::builder(name, thinker).tools(move |_| tools.clone())
    };
    let effect = |name: &str| ("make", json!({"name": name}));
    let run = |name: &'static str| (name, json!({"message": "Go."}));
    let chief = replies(
        "chief",
        vec![
            calls([effect("a"), run("summary"), run("middle")]),
            calls([effect("b")]),
            text("Done."),
        ],
    );
    let summary = replies("summary", vec![calls([effect("c")]), text("Summary.")]);
    let middle = replies(
        "middle",
        vec![
            calls([effect("d"), run("last"), effect("e")]),
            text("Middle."),
        ],
    );
    let last = replies("last", vec![calls([effect("f")]), text("Last.")]);
    host.runtime()
        .agent(
            entry(chief)
                .prompt(PromptTool::new("summary"))
                .subagent(Subagent::new("middle")),
        )
        .agent(entry(summary).expose("Summarizes."))
        .agent(
            worker(middle)
                .subagent(Subagent::new("last"))
                .spawn(SpawnGate::default().most_depth(2)),
        )
        .agent(worker(last))
        .build()
        .unwrap()
}

// S4-34, S4-42: a process dies at each request of a tree of agents in turn, and another process continues: each effect takes place once, and the tree has one thread for
// each call.
#[test]
fn tree_of_agents_is_continued_after_a_death_at_any_request() {
    let new_runtime = || {
        let mut builder = tokio::runtime::Builder::new_current_thread();
        builder.enable_all().build().unwrap()
    };
    let golden = new_runtime().block_on(async {
        let (host, log, made) = (Host::new(), Log::default(), Effects::default());
        let runtime = tree(&host, &log, &made, &Death::at(0));
        let cx = context().build();
        let outcome = runtime.respond("chief", "Go.", &cx).await.unwrap();
        assert!(matches!(outcome, Outcome::Answered(text) if text == "Done."));
        let below = runtime.threads_below(&cx).await.unwrap();
        assert_eq!(below.len(), 3);
        // The list contains the thread of `last` before the thread of `middle`, which started it.
        let row = host.store.child(&below[0]).await.unwrap().unwrap();
        assert_eq!(row.agent, "last");
        transcript(&host, &runtime, &cx).await
    });
    for request in 1..=9 {
        let (store, made) = (MemoryStore::default(), Effects::default());
        let (log, death) = (Log::default(), Death::at(request));
        let process = new_runtime();
        process.block_on(async {
            let runtime = tree(&Host::with(store.clone()), &log, &made, &death);
            let cx = context().build();
            let run = Box::pin(runtime.respond("chief", "Go.", &cx));
            let ended = futures::future::select(run, Box::pin(death.died())).await;
            match ended {
                futures::future::Either::Left((outcome, _)) => panic!("{request}: {outcome:?}"),
                // The process dies: its tasks are neither polled nor dropped.
                futures::future::Either::Right(((), run)) => std::mem::forget(run),
            }
        });
        std::mem::forget(process);
        new_runtime().block_on(continued(request, store, log, made, &golden));
    }
}

async fn continued(request: u32, store: MemoryStore, log: Log, made: Effects, golden: &str) {
    let cx = context().build();
    let second = Host::with(store);
    let runtime = tree(&second, &log, &made, &Death::at(0));
    // The leases of the dead process expire shortly after.
    let outcome = loop {
        match runtime.drive("chief", &cx).await.unwrap() {
            Outcome::Busy(_) => tokio::time::sleep(Duration::from_millis(20)).await,
            outcome => break outcome,
        }
    };
    assert!(
        matches!(outcome, Outcome::Answered(_)),
        "{request}: {outcome:?}"
    );
    let made = made.lock().unwrap().clone();
    assert_eq!(made.len(), 6, "{request}: {made:?}");
    assert!(
        made.values().all(|times| *times == 1),
        "{request}: {made:?}"
    );
    let now = transcript(&second, &runtime, &cx).await;
    assert_eq!(now, golden, "{request}");
}

/// Returns the messages of a tree of threads, without ids.
async fn transcript(host: &Host, runtime: &AgentRuntime, cx: &ToolContext) -> String {
    let mut lines = String::new();
    let mut open = vec![(0, cx.clone())];
    while let Some((depth, cx)) = open.pop() {
        for message in host.turns().messages(&cx, None).await.unwrap() {
            let content: Value = serde_json::from_str(&message.content).unwrap();
            let text = content.as_str().or_else(|| content["text"].as_str());
            let text = text.unwrap_or("calls");
            let _ = writeln!(lines, "{depth} {}: {text}", message.role);
        }
        let mut rows = runtime.children(&cx).await.unwrap();
        rows.sort_by(|a, b| a.agent.cmp(&b.agent));
        for row in rows {
            let _ = writeln!(lines, "{depth} child {} {}", row.agent, row.state);
            open.push((depth + 1, in_conversation(row.thread.conversation())));
        }
    }
    lines
}

// If the process of a background sub-agent died, the next drive of its parent continues the sub-agent, and its answer is delivered once.
#[tokio::test]
async fn background_sub_agent_is_continued_by_another_process() {
    let (store, log) = (MemoryStore::default(), Log::default());
    let dies = Arc::new(AtomicBool::new(true));
    let build = |host: &Host| {
        let chief = thinking("chief", &log, |request| {
            let first = request.texts(Role::User).len() == 1 && request.step() == 0;
            Ok(if first {
                calls([("worker", json!({"message": "Go."}))])
            } else {
                text("Noted.")
            })
        });
        let dies = dies.clone();
        let pending = thinking("worker", &log, move |_| {
            if dies.swap(false, Ordering::SeqCst) {
                return Err(ToolError::new("never"));
            }
            Ok(text("Answer."))
        });
        host.runtime()
            .agent(entry(chief).subagent(Subagent::new("worker").blocking(false)))
            .agent(worker(pending))
            .build()
            .unwrap()
    };
    let cx = context().build();
    // The first process opens the child and dies before the session of the child: the background task is
    // never polled.
    {
        let host = Host::with(store.clone());
        let runtime = build(&host);
        let local = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build()
            .unwrap();
        let (runtime, cx) = (runtime.clone(), cx.clone());
        std::thread::spawn(move || {
            let outcome = local.block_on(runtime.respond("chief", "Go.", &cx));
            assert!(matches!(outcome, Ok(Outcome::Answered(_))), "{outcome:?}");
            // Dropping the runtime drops its tasks.
        })
        .join()
        .unwrap();
    }
    dies.store(false, Ordering::SeqCst);
    let host = Host::with(store);
    let runtime = build(&host);
    let before = only_child(&runtime, &cx).await;
    runtime.drive("chief", &cx).await.unwrap();
    runtime.idle().await;
    let row = only_child(&runtime, &cx).await;
    assert_eq!((row.thread, row.delivered), (before.thread, 1));
    assert_eq!(row.state, ChildState::Terminated);
    let messages = host.turns().messages(&cx, None).await.unwrap();
    let reports = messages
        .iter()
        .filter(|message| message.content.contains("subagent_result"));
    assert_eq!(reports.count(), 1);
}

// A sub-agent below an idle sub-agent is continued, too. Its answer begins a session of the idle sub-agent, whose outcome is delivered.
#[tokio::test]
async fn sub_agent_below_an_idle_one_is_continued_by_another_process() {
    let (store, log) = (MemoryStore::default(), Log::default());
    let death = Death::at(4);
    let build = |host: &Host, death: &Death| {
        let dying = |name: &str, create: Option<&'static str>| {
            let think = move |request: &Request| {
                let first = request.texts(Role::User).len() == 1 && request.step() == 0;
                Ok(match create.filter(|_| first) {
                    Some(agent) => calls([(
                        "subagent_create",
                        json!({"agent": agent, "name": "one", "message": "Go.", "attachments": []}),
                    )]),
                    None => text("Noted."),
                })
            };
            Agent::builder(name, Thinker::new(name, &log, think).dying(death))
        };
        let tool = |name: &str| Subagent::new(name).resumable(Resumable::new());
        host.runtime()
            .agent(entry(dying("chief", Some("middle"))).subagent(tool("middle")))
            .agent(
                worker(dying("middle", Some("last")))
                    .subagent(tool("last").blocking(false))
                    .spawn(SpawnGate::default().most_depth(2)),
            )
            .agent(worker(dying("last", None)))
            .build()
            .unwrap()
    };
    let cx = context().build();
    {
        let (host, died) = (Host::with(store.clone()), death.died());
        let (runtime, cx) = (build(&host, &death), cx.clone());
        std::thread::spawn(move || {
            let mut local = tokio::runtime::Builder::new_current_thread();
            local.enable_all().build().unwrap().block_on(async {
                let outcome = runtime.respond("chief", "Go.", &cx).await;
                assert!(matches!(outcome, Ok(Outcome::Answered(_))), "{outcome:?}");
                died.await;
            });
            // Dropping the runtime drops its tasks.
        })
        .join()
        .unwrap();
    }
    let host = Host::with(store);
    let runtime = build(&host, &Death::at(0));
    runtime.drive("chief", &cx).await.unwrap();
    runtime.idle().await;
    let middle = only_child(&runtime, &cx).await;
    assert_eq!((middle.state, middle.session), (ChildState::Idle, 2));
    let below = in_conversation(middle.thread.conversation());
    let last = only_child(&runtime, &below).await;
    assert_eq!((last.state, last.delivered), (ChildState::Idle, 1));
    let messages = host.turns().messages(&cx, None).await.unwrap();
    let reports = messages
        .iter()
        .filter(|message| message.content.contains("subagent_result"));
    assert_eq!(reports.count(), 1);
}

/// Sends money.
#[tool(destructive, approval)]
fn pay() -> &'static str {
    "paid"
}

// If a sub-agent is terminated while its call waits for an approval, the call gets a result, the approval is withdrawn, and the call never runs.
#[tokio::test]
async fn terminated_sub_agent_makes_no_call() {
    let (host, log) = (Host::new(), Log::default());
    let chief = thinking("chief", &log, |request| {
        let first = request.texts(Role::User).len() == 1 && request.step() == 0;
        let arguments =
            json!({"agent": "payer", "name": "one", "message": "Pay.", "attachments": []});
        Ok(if first {
            calls([("subagent_create", arguments)])
        } else {
            text("Noted.")
        })
    });
    let payer = agent("payer", &log, [calls([("pay", json!({}))]), text("Paid.")]);
    let tool = Subagent::new("payer")
        .blocking(false)
        .resumable(Resumable::new());
    let runtime = host
        .runtime()
        .agent(entry(chief).subagent(tool))
        .agent(worker(payer.tools(|_| toolset![pay])))
        .build()
        .unwrap();
    let cx = context().build();
    runtime.respond("chief", "Go.", &cx).await.unwrap();
    runtime.idle().await;
    let row = only_child(&runtime, &cx).await;
    assert_eq!(row.state, ChildState::AwaitingHuman);
    let child = in_conversation(row.thread.conversation());
    let approvals = host.gate.approvals().unwrap();
    let open = approvals.waiting(&row.thread).await.unwrap();
    assert_eq!(open.len(), 1);

    let ended = runtime
        .terminate(row.thread.conversation(), &cx)
        .await
        .unwrap();
    assert_eq!(ended.state, ChildState::Terminated);
    let result = results(&host, &child).await.pop().unwrap();
    assert!(result.is_error(), "{}", result.text);
    let tools = toolset![pay].through(&host.gate);
    let (workspace, token) = (cx.own_workspace(), &open[0].token);
    let late = approvals.answer(&workspace, &tools, token, Reply::Approve, "olga", None);
    assert!(late.await.is_err());
    assert_eq!(log.of("payer").len(), 1);
    // The outcome of a terminated sub-agent is not delivered later.
    runtime.drive("chief", &cx).await.unwrap();
    runtime.idle().await;
    let messages = host.turns().messages(&cx, None).await.unwrap();
    assert!(
        !messages
            .iter()
            .any(|message| message.content.contains("Paid."))
    );
}
