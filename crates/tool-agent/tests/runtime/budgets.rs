//! Shared budgets of a tree of runs: prompts, handoffs, sub-agents, and runs that continue after a crash.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use futures::future::{BoxFuture, Either, FutureExt as _, join_all, pending, select};
use serde_json::json;
use tool_agent::agent::Agent;
use tool_agent::runtime::{
    AgentEntry, AgentRuntime, Handoff, Immediate, ParentCommunication, PromptTool, Resumable,
    Session, Subagent,
};
use tool_core::CancellationToken;
use tool_core::prelude::*;
use tool_core::store::seal::{NewValue, SealKey, SealKeys, Vault};
use tool_core::store::{
    BudgetAmount, BudgetId, BudgetRow, BudgetStore as _, MemoryStore, RunCause, RunFilter,
    RunStore as _, Scope, Usage, VariableScope, VariableType, Workspace,
};
use tool_core::turn::{Budget, Model, ModelMessage, ModelRequest, Outcome, Turns};

use crate::support::{
    Death, Host, Log, Thinker, agent, calls, context, entry, results, text, thinking, worker,
};

/// The usage that the models of these tests report for a request.
const USED: u64 = 10_000;

/// The output that is reserved for a request. Its input has fewer than `USED - OUTPUT` tokens.
const OUTPUT: u64 = 9_000;

fn used(mut message: ModelMessage, tokens: u64) -> ModelMessage {
    message.usage = Some(Usage {
        output_tokens: tokens,
        ..Usage::default()
    });
    message
}

fn budget(store: &MemoryStore, tokens: u64) -> Budget {
    let budget = Budget::new(store.clone(), "tree").output_tokens(OUTPUT);
    budget.most_tokens(tokens)
}

async fn row(store: &MemoryStore) -> BudgetRow {
    let id = BudgetId::new(&Workspace::new("acme"), "tree").unwrap();
    store.budget(&id).await.unwrap().unwrap()
}

/// Returns a runtime in which a chief calls a prompt, then a sub-agent, and then passes the conversation to a
/// closer.
fn tree(host: &Host, log: &Log) -> AgentRuntime {
    let call = |tool: &str| used(calls([(tool, json!({"message": "Go."}))]), USED);
    let handoff = used(calls([("transfer_to_closer", json!({}))]), USED);
    let chief = agent("chief", log, [call("prompt"), call("sub"), handoff]);
    let answer = |name: &str| agent(name, log, [used(text("Done."), USED)]);
    host.runtime()
        .agent(
            entry(chief)
                .prompt(PromptTool::new("prompt"))
                .subagent(Subagent::new("sub"))
                .handoff(Handoff::to("closer")),
        )
        .agent(worker(answer("prompt")))
        .agent(worker(answer("sub")))
        .agent(entry(answer("closer")))
        .build()
        .unwrap()
}

async fn run(tokens: u64) -> (Outcome, Vec<String>, Host, ToolContext) {
    let (host, log) = (Host::new(), Log::default());
    let cx = context().with(budget(&host.store, tokens)).build();
    let outcome = tree(&host, &log).respond("chief", "Go.", &cx).await;
    let agents = log.all().into_iter().map(|request| request.agent);
    (outcome.unwrap(), agents.collect(), host, cx)
}

// The six requests of the tree share one budget. A smaller budget ends the tree at the first request for which it has too little left, in any agent.
#[tokio::test]
async fn tree_of_agents_shares_one_budget() {
    let whole = ["chief", "prompt", "chief", "sub", "chief", "closer"];
    let (outcome, agents, host, _) = run(6 * USED).await;
    assert!(matches!(outcome, Outcome::Answered(_)), "{outcome:?}");
    assert_eq!(agents, whole);
    let row = row(&host.store).await;
    assert_eq!(
        (row.spent.tokens, row.reserved),
        (6 * USED, BudgetAmount::default())
    );
    for (fit, requests) in (0..6).zip(0..) {
        let (outcome, agents, host, _) = run(fit * USED + USED / 2).await;
        let Outcome::SharedBudget(refused) = outcome else {
            panic!("{fit}: {outcome:?}")
        };
        assert_eq!(refused.id.name(), "tree");
        assert_eq!(agents, whole[..requests], "{fit}");
        let runs = host
            .store
            .list_runs(Scope::All, &RunFilter::default())
            .await
            .unwrap();
        let main = runs
            .iter()
            .find(|run| run.id.thread().conversation() == "main");
        assert_eq!(main.unwrap().cause, Some(RunCause::SharedBudget), "{fit}");
    }
}

// If the budget ends a sub-agent, its parent gets a result that names the budget.
#[tokio::test]
async fn result_of_a_refused_agent_names_the_budget() {
    let (_, agents, host, cx) = run(3 * USED + USED / 2).await;
    assert_eq!(agents.len(), 3);
    let last = results(&host, &cx).await.pop().unwrap();
    assert!(
        last.text.contains("the budget that the agents share"),
        "{last:?}"
    );
}

/// Ends the session.
#[tool(read_only)]
fn finish() -> &'static str {
    "finished"
}

// The requests of a session's partner are charged to the budget. A message that a tool wrote in place of the model used no tokens.
#[tokio::test]
async fn session_is_charged_for_its_requests_only() {
    for (ends_by_tool, requests) in [(false, 5), (true, 3)] {
        let (host, log) = (Host::new(), Log::default());
        let chief = [
            used(calls([("sub", json!({"message": "Go."}))]), USED),
            used(text("Done."), USED),
        ];
        let reply = if ends_by_tool {
            calls([("finish", json!({}))])
        } else {
            text("Which one?")
        };
        let sub = agent("sub", &log, [used(reply, USED)]).tools(|_| toolset![finish]);
        let partner = agent("partner", &log, [used(text("All of them."), USED)]);
        let session = Session::new()
            .partner(partner.build().unwrap())
            .stop_tool("finish")
            .most_turns(2);
        let runtime = host
            .runtime()
            .agent(entry(agent("chief", &log, chief)).subagent(Subagent::new("sub")))
            .agent(worker(sub).session(session))
            .build()
            .unwrap();
        let cx = context().with(budget(&host.store, 10 * USED)).build();
        let outcome = runtime.respond("chief", "Go.", &cx).await.unwrap();
        assert!(matches!(outcome, Outcome::Answered(_)), "{outcome:?}");
        assert_eq!(log.all().len(), requests);
        let row = row(&host.store).await;
        let spent = USED * u64::try_from(requests).unwrap();
        assert_eq!(
            (row.spent.tokens, row.unmeasured, row.reserved),
            (spent, 0, BudgetAmount::default())
        );
    }
}

// The request for the description of an instance is charged to the budget.
#[tokio::test]
async fn description_of_an_instance_is_charged() {
    let (host, log) = (Host::new(), Log::default());
    let keys = SealKeys::new("k1", SealKey::new(&[1; 32])).unwrap();
    let vault = Vault::open(host.store.clone(), keys).await.unwrap();
    let title = NewValue::declared("TITLE", VariableType::Text, SecretString::from("Shop"));
    let scope = VariableScope::thread(&context().build().thread().unwrap());
    let set = vault.set_variables(&scope, vec![title], "ann").await;
    set.unwrap();
    let chief = thinking("chief", &log, |request| {
        let described = json!({"name": "Shop", "message": "Open."});
        let message = if request.tools == ["describe_instance"] {
            calls([("describe_instance", described)])
        } else {
            text("Hello.")
        };
        Ok(used(message, USED))
    });
    let resumable = Resumable::new().parent_communication(ParentCommunication::Explicit);
    let tool = Subagent::new("shop")
        .blocking(false)
        .resumable(resumable)
        .immediate(Immediate::per_instance().name_env("TITLE"));
    let runtime = host
        .runtime()
        .vault(&vault)
        .agent(entry(chief).subagent(tool))
        .agent(worker(agent("shop", &log, [used(text("Open."), USED)])))
        .build()
        .unwrap();
    let cx = context().with(budget(&host.store, 10 * USED)).build();
    runtime.respond("chief", "Hello.", &cx).await.unwrap();
    runtime.idle().await;
    assert_eq!(log.all().len(), 3);
    assert_eq!(row(&host.store).await.spent.tokens, 3 * USED);
}

/// A model that is stopped in the middle of its reply.
#[derive(Clone)]
struct Stopped(CancellationToken);

impl Model for Stopped {
    fn next<'a>(
        &'a mut self,
        _: ModelRequest<'a>,
    ) -> BoxFuture<'a, Result<ModelMessage, ToolError>> {
        self.0.cancel();
        pending().boxed()
    }

    fn interrupted(&mut self) -> Option<ModelMessage> {
        Some(text("Half of"))
    }

    fn unsettled_usage(&mut self) -> Option<Usage> {
        Some(Usage {
            output_tokens: 300,
            ..Usage::default()
        })
    }
}

// If a run is stopped during a reply, the text that has arrived is stored, and the tokens of failed attempts count.
#[tokio::test]
async fn stopped_reply_is_stored_and_counted() {
    let (host, token) = (Host::new(), CancellationToken::new());
    let chief = entry(Agent::builder("chief", Stopped(token.clone())));
    let runtime = host.runtime().agent(chief).build().unwrap();
    let cx = context().cancellation(token).build();
    let outcome = runtime.respond("chief", "Go.", &cx).await.unwrap();
    assert!(matches!(outcome, Outcome::Cancelled), "{outcome:?}");
    let messages = host.turns().messages(&cx, None).await.unwrap();
    assert_eq!(messages.len(), 2);
    assert!(messages[1].content.contains("Half of"), "{messages:?}");
    let filter = RunFilter::default();
    let runs = host.store.list_runs(Scope::All, &filter).await.unwrap();
    assert_eq!(runs[0].progress.usage.output_tokens, 300);
}

/// A model that counts its requests, and returns its reply after other tasks have run.
#[derive(Clone, Default)]
struct Slow(Arc<AtomicUsize>);

impl Model for Slow {
    fn next<'a>(
        &'a mut self,
        _: ModelRequest<'a>,
    ) -> BoxFuture<'a, Result<ModelMessage, ToolError>> {
        async {
            self.0.fetch_add(1, Ordering::SeqCst);
            for _ in 0..8 {
                tokio::task::yield_now().await;
            }
            Ok(used(text("Done."), USED))
        }
        .boxed()
    }
}

// 24 concurrent conversations send exactly as many requests as the budget allows.
#[tokio::test]
async fn concurrent_runs_do_not_overspend() {
    let (store, model) = (MemoryStore::default(), Slow::default());
    let agent = Agent::builder("clerk", model.clone()).build().unwrap();
    let tasks = (0..24).map(|number| {
        let (agent, turns) = (agent.clone(), Turns::new(store.clone()));
        let cx = context().conversation(format!("c{number}"));
        // No estimate is below the usage, so the budget is never exceeded.
        let budget = budget(&store, 5 * USED + USED / 2).output_tokens(USED);
        let cx = cx.with(budget).build();
        async move { agent.respond("Go.", &turns, &cx).await }
    });
    let outcomes = join_all(tasks).await;
    let answered = outcomes
        .iter()
        .filter(|outcome| matches!(outcome, Ok(Outcome::Answered(_))));
    let answered = answered.count();
    let refused = outcomes
        .iter()
        .filter(|outcome| matches!(outcome, Ok(Outcome::SharedBudget(_))));
    assert_eq!((answered, refused.count()), (5, 19));
    assert_eq!(model.0.load(Ordering::SeqCst), 5);
    let row = row(&store).await;
    assert_eq!(
        (row.spent.tokens, row.reserved.tokens, row.overrun),
        (5 * USED, 0, None)
    );
}

// If a request uses more than its estimate, the excess is recorded, and no agent of the tree sends another request.
#[tokio::test]
async fn overrun_is_recorded_and_ends_the_tree() {
    let (host, log) = (Host::new(), Log::default());
    let call = used(calls([("sub", json!({"message": "Go."}))]), USED);
    let chief = agent("chief", &log, [call, used(text("Done."), USED)]);
    let sub = agent("sub", &log, [used(text("A long answer."), 90_000)]);
    let runtime = host.runtime();
    let runtime = runtime
        .agent(entry(chief).subagent(Subagent::new("sub")))
        .agent(worker(sub))
        .build()
        .unwrap();
    let cx = context().with(budget(&host.store, 50_000)).build();
    let outcome = runtime.respond("chief", "Go.", &cx).await.unwrap();
    assert!(matches!(outcome, Outcome::SharedBudget(row) if row.overrun.is_some()));
    assert_eq!(log.all().len(), 2);
    // Another conversation with the same budget is refused, too. It continues after the limit was raised.
    let other = context().conversation("other");
    let cx = other.with(budget(&host.store, 50_000)).build();
    let outcome = runtime.respond("chief", "Go.", &cx).await.unwrap();
    assert!(matches!(outcome, Outcome::SharedBudget(_)), "{outcome:?}");
    let cx = context()
        .conversation("other")
        .with(budget(&host.store, 500_000))
        .build();
    let outcome = runtime.drive("chief", &cx).await.unwrap();
    assert!(matches!(outcome, Outcome::Answered(_)), "{outcome:?}");
}

// A response without usage keeps its reservation. A model that fails before it uses tokens keeps none.
#[tokio::test]
async fn unmeasured_responses_keep_their_reservation() {
    let host = Host::new();
    let cx = context().with(budget(&host.store, 50_000)).build();
    let log = Log::default();
    let silent = agent("silent", &log, [text("Done.")]).build().unwrap();
    silent.respond("Go.", &host.turns(), &cx).await.unwrap();
    let first = row(&host.store).await;
    assert_eq!((first.unmeasured, first.reserved.tokens), (1, 0));
    assert!((OUTPUT..USED).contains(&first.spent.tokens), "{first:?}");
    let failing = Thinker::new("failing", &log, |_| Err(ToolError::new("no connection")));
    let failing = Agent::builder("failing", failing).build().unwrap();
    failing
        .respond("Go.", &host.turns(), &cx)
        .await
        .unwrap_err();
    let second = row(&host.store).await;
    assert_eq!((second.unmeasured, second.taken()), (1, first.taken()));
}

/// A model whose connection breaks after the request was sent, so that the tokens of the request are not known.
#[derive(Clone)]
struct Broken;

impl Model for Broken {
    fn next<'a>(
        &'a mut self,
        _: ModelRequest<'a>,
    ) -> BoxFuture<'a, Result<ModelMessage, ToolError>> {
        async { Err(ToolError::new("the stream broke")) }.boxed()
    }

    fn unmeasured_requests(&mut self) -> u32 {
        1
    }
}

// A failed request of an agent of the runtime keeps its reservation if its tokens are not known.
#[tokio::test]
async fn failed_request_of_an_agent_keeps_its_reservation() {
    let host = Host::new();
    let cx = context().with(budget(&host.store, 50_000)).build();
    let runtime = host.runtime().agent(entry(Agent::builder("chief", Broken)));
    let runtime = runtime.build().unwrap();
    runtime.respond("chief", "Go.", &cx).await.unwrap_err();
    let row = row(&host.store).await;
    assert_eq!((row.unmeasured, row.reserved.tokens), (1, 0));
    assert!((OUTPUT..USED).contains(&row.spent.tokens), "{row:?}");
}

/// Returns the agents of a test with a crash: a chief and a sub-agent.
///
/// `held` receives the sum of the reservations at each request.
fn pair(host: &Host, log: &Log, death: &Death, held: &Arc<Mutex<Vec<u64>>>) -> AgentRuntime {
    let call = used(calls([("sub", json!({"message": "Go."}))]), USED);
    let thinker = |name: &str, replies: Vec<ModelMessage>| {
        let (store, held) = (host.store.clone(), Arc::clone(held));
        let thinker = Thinker::new(name, log, move |request| {
            // A store in memory answers at once.
            let row = row(&store).now_or_never().unwrap();
            held.lock().unwrap().push(row.reserved.tokens);
            Ok(replies[request.step().min(replies.len() - 1)].clone())
        });
        Agent::builder(name, thinker.dying(death)).build().unwrap()
    };
    let chief = thinker("chief", vec![call, used(text("Done."), 1_000)]);
    let sub = thinker("sub", vec![used(text("Done."), 1_000)]);
    host.runtime()
        .agent(AgentEntry::new(chief).subagent(Subagent::new("sub")))
        .agent(AgentEntry::new(sub).autonomous().expose("Works."))
        .build()
        .unwrap()
}

// A process dies between the reservation and the settlement of a step, at each request of a tree. The next process uses the same reservation and makes no
// second one.
#[test]
fn step_that_is_repeated_after_a_crash_has_one_reservation() {
    let process = || {
        // A runtime without worker threads runs nothing after its last `block_on`.
        let mut builder = tokio::runtime::Builder::new_current_thread();
        builder.enable_all().build().unwrap()
    };
    for (request, spent) in [(1, 0), (2, USED), (3, USED + 1_000)] {
        let (store, log, death) = (MemoryStore::default(), Log::default(), Death::at(request));
        let cx = context().with(budget(&store, 100_000)).build();
        let held = Arc::default();
        let first = process();
        first.block_on(async {
            let runtime = pair(&Host::with(store.clone()), &log, &death, &held);
            let run = Box::pin(runtime.respond("chief", "Go.", &cx));
            match select(run, Box::pin(death.died())).await {
                Either::Left((outcome, _)) => panic!("{request}: {outcome:?}"),
                // The process dies: its tasks are neither polled nor dropped.
                Either::Right(((), run)) => std::mem::forget(run),
            }
        });
        std::mem::forget(first);
        process().block_on(async {
            let left = row(&store).await;
            assert_eq!(left.spent.tokens, spent, "{request}");
            assert!(
                left.reserved.tokens > OUTPUT && left.reserved.tokens < USED,
                "{left:?}"
            );
            let host = Host::with(store.clone());
            let runtime = pair(&host, &log, &Death::at(0), &held);
            let outcome = loop {
                match runtime.drive("chief", &cx).await.unwrap() {
                    // The leases of the dead process expire shortly after.
                    Outcome::Busy(_) => tokio::time::sleep(Duration::from_millis(20)).await,
                    outcome => break outcome,
                }
            };
            assert!(
                matches!(outcome, Outcome::Answered(_)),
                "{request}: {outcome:?}"
            );
            let held = held.lock().unwrap().clone();
            assert_eq!(held.len(), 3, "{request}");
            assert!(
                held.iter().all(|held| (OUTPUT..USED).contains(held)),
                "{request}: {held:?}"
            );
            let row = row(&store).await;
            assert_eq!(
                (row.spent.tokens, row.reserved.tokens),
                (USED + 2_000, 0),
                "{request}"
            );
        });
    }
}
