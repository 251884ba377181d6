//! A turn of agents that call each other, on hosts that die at random times.
//!
//! The turn has a handoff, a prompt, a sub-agent in the background, sub-agents at two depths, an approval and six effects. A seed determines the
//! times at which the processes die, the faults of the store, and the order of all tasks. At the end, each effect has happened exactly once, and each
//! outcome was delivered exactly once. After faults of the store, an effect or an outcome may also be missing.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use futures::channel::oneshot;
use futures::future::BoxFuture;
use serde_json::json;
use tokio::time::Instant;
use tool_agent::agent::Agent;
use tool_agent::runtime::{AgentEntry, AgentRuntime, Handoff, PromptTool, SpawnGate, Subagent};
use tool_core::prelude::*;
use tool_core::store::{
    ApprovalFilter, ApprovalStatus, ChildFilter, ChildKind, ChildRow, ChildState,
    EffectLedger as _, EffectState, Message, Resolution, Role, Scope, ThreadId, ThreadStore as _,
    Timestamp, Workspace,
};
use tool_core::turn::{Model, ModelMessage, ModelRequest, Outcome, ToolMessage, Turns};
use tool_core::{Approvals, Audit, Effect, Gate, KeyRing, Reply};

use crate::executor::Executor;
use crate::facts::World;
use crate::plan::Fault;
use crate::process::{Machine, Process, ProcessEnv};
use crate::random::Random;
use crate::run::{Report, StoreKind};
use crate::store::{HostStore, Shared};

const TENANT: &str = "acme";
const MAIN: &str = "main";

/// The letters that the turn sends. The page `e` is published after an approval.
const LETTERS: [&str; 6] = ["a", "b", "c", "d", "e", "f"];

/// The maximum number of rounds in which the test answers, settles and drives.
const ROUNDS: usize = 24;

/// The operations of a store that may have a fault.
const OPERATIONS: [&str; 8] = [
    "child.open",
    "child.end",
    "child.change",
    "child.message",
    "ledger.begin",
    "ledger.end",
    "thread.append",
    "run.begin",
];

/// The letters that have arrived, each with the key of its call.
type Made = Arc<Mutex<Vec<(String, String)>>>;

/// The receiver of the letters, as a host value of the tools.
#[derive(Clone)]
struct Post {
    process: Arc<Process>,
    made: Made,
}
tool_core::host_value!(Post, Effect::WRITE);

impl Post {
    fn arrives(&self, letter: &str, key: String) {
        let mut made = self.made.lock().unwrap_or_else(PoisonError::into_inner);
        made.push((letter.to_owned(), key));
    }

    async fn send(&self, letter: &str, cx: &ToolContext) {
        tokio::time::sleep(self.process.latency()).await;
        if !self.process.is_alive() {
            // A dead process sends nothing.
            std::future::pending::<()>().await;
        }
        let key = cx.idempotency_key();
        let key = key.map(|key| key.as_str().to_owned()).unwrap_or_default();
        self.process.note(&format!("letter {letter} arrives"));
        self.arrives(letter, key);
        tokio::time::sleep(self.process.latency()).await;
    }
}

/// Sends a letter.
#[tool]
async fn post(
    post: &Post,
    cx: &ToolContext,
    /// The letter.
    letter: String,
) -> String {
    post.send(&letter, cx).await;
    "sent".to_owned()
}

/// Publishes a page.
#[tool(approval)]
async fn publish(
    post: &Post,
    cx: &ToolContext,
    /// The page.
    page: String,
) -> String {
    post.send(&page, cx).await;
    "sent".to_owned()
}

fn calls<const N: usize>(calls: [(&str, serde_json::Value); N]) -> ModelMessage {
    let calls = calls.into_iter().zip(1..).map(|((name, arguments), at)| {
        ToolCall::new(format!("call_{at}"), name, arguments.to_string())
    });
    ModelMessage::calls(calls)
}

/// A model that replies by the agent and the number of model messages in the agent's thread.
#[derive(Clone)]
struct Script {
    agent: &'static str,
    process: Arc<Process>,
}

impl Script {
    fn reply(&self, said: usize) -> ModelMessage {
        let letter = |name: &str| ("post", json!({"letter": name}));
        let run = |name: &'static str| (name, json!({"message": "Go."}));
        match (self.agent, said) {
            // The agents `desk` and `chief` share a thread.
            ("desk", _) => calls([letter("a"), ("transfer_to_chief", json!({}))]),
            ("chief", 1) => calls([run("summary"), run("watcher"), run("middle")]),
            ("chief", 2) => calls([letter("b")]),
            ("summary", 0) => calls([letter("c")]),
            ("middle", 0) => calls([letter("d"), run("last")]),
            ("last", 0) => calls([("publish", json!({"page": "e"}))]),
            ("watcher", 0) => calls([letter("f")]),
            (agent, _) => ModelMessage::text(format!("{agent} has ended.")),
        }
    }
}

impl Model for Script {
    fn next<'a>(
        &'a mut self,
        request: ModelRequest<'a>,
    ) -> BoxFuture<'a, Result<ModelMessage, ToolError>> {
        let own = request.messages.iter();
        let said = own
            .filter(|message| message.role == Role::Assistant)
            .count();
        Box::pin(async move {
            let agent = self.agent;
            self.process.note(&format!("{agent} is asked, step {said}"));
            tokio::time::sleep(self.process.latency()).await;
            Ok(self.reply(said))
        })
    }
}

/// The agents in one process.
struct Host {
    process: Arc<Process>,
    store: HostStore,
    gate: Gate,
    runtime: AgentRuntime,
    post: Post,
}

impl Host {
    fn start(
        shared: &Shared,
        process: &Arc<Process>,
        made: &Made,
        one: bool,
    ) -> Result<Self, String> {
        #[expect(clippy::needless_pass_by_value, reason = "an argument of `map_err`")]
        fn text(error: impl ToString) -> String {
            error.to_string()
        }
        let store = HostStore::new(shared, process, one);
        let keys = KeyRing::new("world", b"thirty-two bytes of randomness!!".to_vec());
        let approvals = Approvals::builder(store.clone()).keys(keys.map_err(text)?);
        let gate = Gate::builder()
            .approvals(approvals.build().map_err(text)?)
            .ledger(store.clone())
            .audit(Audit::required(store.clone()))
            .build();
        let entry = |agent: &'static str| {
            let process = Arc::clone(process);
            let agent = Agent::builder(agent, Script { agent, process });
            let agent = agent.tools(|_| toolset![post, publish]).build();
            agent.map(AgentEntry::new).map_err(text)
        };
        let child =
            |agent: &'static str| Ok::<_, String>(entry(agent)?.autonomous().expose("Works."));
        let runtime = AgentRuntime::builder(Turns::new(store.clone()), &gate)
            .children(store.clone())
            .agent(entry("desk")?.handoff(Handoff::to("chief")))
            .agent(
                entry("chief")?
                    .prompt(PromptTool::new("summary"))
                    .subagent(Subagent::new("watcher").blocking(false))
                    .subagent(Subagent::new("middle")),
            )
            .agent(entry("summary")?.expose("Summarizes."))
            .agent(child("watcher")?)
            .agent(
                child("middle")?
                    .subagent(Subagent::new("last"))
                    .spawn(SpawnGate::default().most_depth(2)),
            )
            .agent(child("last")?);
        Ok(Self {
            process: Arc::clone(process),
            gate,
            runtime: runtime.build().map_err(text)?,
            post: Post {
                process: Arc::clone(process),
                made: Arc::clone(made),
            },
            store,
        })
    }

    fn cx(&self) -> ToolContext {
        ToolContext::builder()
            .workspace(TENANT)
            .user("ann")
            .conversation(MAIN)
            .with(self.post.clone())
            .build()
    }

    /// Continues or begins the conversation. Returns whether the agent has answered and no session of a sub-agent is open.
    async fn drive(&self) -> bool {
        let cx = self.cx();
        let Ok(messages) = Turns::new(self.store.clone()).messages(&cx, None).await else {
            return false;
        };
        let outcome = if messages.is_empty() {
            self.runtime.respond("desk", "Go.", &cx).await
        } else {
            self.runtime.drive("desk", &cx).await
        };
        self.process
            .note(&format!("drive: {}", described(&outcome)));
        self.runtime.idle().await;
        let is_answered = matches!(outcome, Ok(Outcome::Answered(_)));
        let rows = self.runtime.children(&cx).await;
        is_answered && rows.is_ok_and(|rows| !rows.iter().any(is_open))
    }

    /// Approves waiting calls, and settles ambiguous effects by the letters that have arrived.
    async fn help(&self) {
        let Some(approvals) = self.gate.approvals() else {
            return;
        };
        let workspace = Workspace::new(TENANT);
        let filter = ApprovalFilter {
            status: Some(ApprovalStatus::Pending),
            ..ApprovalFilter::default()
        };
        let tools = toolset![post, publish].through(&self.gate);
        let rows = approvals.list(Scope::Workspace(&workspace), &filter).await;
        for row in rows.unwrap_or_default() {
            if let Ok(ticket) = approvals.ticket_of(&workspace, &row.request.id).await {
                let (token, reply) = (&ticket.token, Reply::Approve);
                let answer = approvals.answer(&workspace, &tools, token, reply, "olga", None);
                let is_accepted = answer.await.is_ok();
                self.process.note(&format!("answer: {is_accepted}"));
            }
        }
        let _ = self.store.sweep(Scope::All, Timestamp::now()).await;
        let rows = self
            .store
            .list(Scope::All, Some(EffectState::Ambiguous))
            .await;
        for row in rows.unwrap_or_default() {
            let key = row.intent.identity.key();
            let has_arrived = {
                let made = self.post.made.lock();
                let made = made.unwrap_or_else(PoisonError::into_inner);
                made.iter().any(|(_, of)| of == key.as_str())
            };
            let resolution = if has_arrived {
                Resolution::Succeeded("\"sent\"".to_owned())
            } else {
                Resolution::Rerun
            };
            let is_settled = self.gate.resolve(&key, resolution, "olga").await.is_ok();
            self.process.note(&format!("settle: {is_settled}"));
        }
    }
}

/// Returns the cause of an outcome, `busy` for an outcome without a cause, or the text of the error.
fn described<E: std::fmt::Display>(outcome: &Result<Outcome, E>) -> String {
    match outcome {
        Ok(outcome) => outcome
            .cause()
            .map_or("busy", |cause| cause.as_str())
            .to_owned(),
        Err(error) => error.to_string(),
    }
}

/// Returns whether a session of a sub-agent has not ended. A prompt is ignored, because its row does not change if its end could not be stored.
fn is_open(row: &ChildRow) -> bool {
    row.kind == ChildKind::Subagent
        && matches!(row.state, ChildState::Running | ChildState::AwaitingHuman)
}

/// The hosts of one turn.
struct Turn<'a> {
    shared: &'a Shared,
    executor: &'a Executor,
    world: &'a World,
    machine: Arc<Machine>,
    start: Instant,
    seed: u64,
    made: Made,
    one_database: bool,
    processes: u64,
}

impl Turn<'_> {
    fn boot(&mut self) -> Result<Arc<Host>, String> {
        self.processes += 1;
        let process = Process::new(
            self.processes,
            0,
            self.world,
            self.executor,
            &self.machine,
            self.start,
            self.seed,
        );
        let _entered = tool_core::env::enter(Arc::new(ProcessEnv(Arc::clone(&process))));
        process.note("starts");
        let host = Host::start(self.shared, &process, &self.made, self.one_database)?;
        Ok(Arc::new(host))
    }

    /// Runs work in the process of a host. The receiver returns an error if the process dies first.
    fn spawn<T: Send + 'static>(
        &self,
        host: &Arc<Host>,
        work: impl Future<Output = T> + Send + 'static,
    ) -> oneshot::Receiver<T> {
        let (sender, done) = oneshot::channel();
        let env = Arc::new(ProcessEnv(Arc::clone(&host.process)));
        self.executor
            .spawn(host.process.id, Some(env), None, async move {
                let _ = sender.send(work.await);
            });
        done
    }

    /// Starts processes that die during the turn, and then a process that finishes the turn.
    async fn play(&mut self, random: &mut Random, faults: bool) -> Result<(), String> {
        for _ in 0..=random.below(4) {
            let host = self.boot()?;
            if faults {
                for _ in 0..=random.below(2) {
                    let operation = *random.pick(&OPERATIONS);
                    let fault = *random.pick(&[Fault::Before, Fault::Lost, Fault::SlowAfter(300)]);
                    host.process.arm(operation, fault);
                }
            }
            let driven = Arc::clone(&host);
            let _drive = self.spawn(&host, async move { driven.drive().await });
            let pause = |random: &mut Random, most| {
                let millis = u64::try_from(random.below(most)).unwrap_or_default();
                tokio::time::sleep(Duration::from_millis(millis))
            };
            if random.percent(60) {
                pause(random, 900).await;
                let helper = Arc::clone(&host);
                let _help = self.spawn(&host, async move { helper.help().await });
                let driven = Arc::clone(&host);
                let _drive = self.spawn(&host, async move { driven.drive().await });
            }
            pause(random, 700).await;
            host.process.note("dies");
            host.process.die();
            if random.percent(60) {
                // The leases of the dead processes expire.
                tokio::time::sleep(Duration::from_hours(1)).await;
            }
        }
        tokio::time::sleep(Duration::from_hours(3)).await;
        let host = self.boot()?;
        for _ in 0..ROUNDS {
            let helper = Arc::clone(&host);
            let round = self.spawn(&host, async move {
                helper.help().await;
                helper.drive().await
            });
            let round = tokio::time::timeout(Duration::from_mins(10), round).await;
            if matches!(round, Ok(Ok(true))) {
                return Ok(());
            }
            // The lease of a lost drive expires.
            tokio::time::sleep(Duration::from_mins(5)).await;
        }
        self.world
            .violated("stuck", "the turn of the agents never ends");
        Ok(())
    }

    /// Checks the letters that have arrived and the stored rows.
    async fn check(&mut self, faults: bool) -> Result<(), String> {
        let host = self.boot()?;
        let made = self
            .made
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .clone();
        let mut times: BTreeMap<&str, usize> = LETTERS.iter().map(|letter| (*letter, 0)).collect();
        for (letter, _) in &made {
            *times.entry(letter).or_default() += 1;
        }
        for (letter, times) in times {
            if times > 1 {
                let what = format!("letter {letter} arrived {times} times");
                self.world.violated("began_twice", what);
            }
            // If a model reads an error of the store, it continues without the letter.
            if times == 0 && !faults {
                let what = format!("letter {letter} never arrived");
                self.world.violated("told_success_without_effect", what);
            }
        }
        let of_threads = Arc::clone(&host);
        let threads = self.spawn(&host, async move { threads(&of_threads).await });
        let threads = threads.await.map_err(|error| error.to_string())?;
        for (thread, row, messages) in &threads {
            // After an error of the store, the thread of a failed agent may end with a call.
            if row.is_none() || !faults {
                results(self.world, thread, messages);
            }
            if let Some(row) = row
                && (is_open(row) || row.delivered != row.session && !faults)
            {
                let what = format!("{} has the state {}", row.agent, row.state);
                self.world.violated("result_missing", what);
            }
        }
        let mut agents: BTreeMap<&str, usize> = BTreeMap::new();
        for row in threads.iter().filter_map(|(_, row, _)| row.as_ref()) {
            *agents.entry(&row.agent).or_default() += 1;
        }
        for (agent, count) in agents {
            if count > 1 {
                let what = format!("{count} threads of {agent}");
                self.world.violated("began_twice", what);
            }
        }
        let reports = threads[0].2.iter();
        let reports = reports
            .filter(|message| message.content.contains("subagent_result"))
            .count();
        if reports > 1 || reports == 0 && !faults {
            let what = format!("the outcome in the background was delivered {reports} times");
            self.world.violated("message_twice", what);
        }
        host.process.die();
        Ok(())
    }
}

type Thread = (ThreadId, Option<ChildRow>, Vec<Message>);

/// Reads the conversation and the threads below it.
async fn threads(host: &Host) -> Vec<Thread> {
    let mut all = Vec::new();
    let mut open: Vec<(Option<ThreadId>, Option<ChildRow>)> =
        vec![(ThreadId::new(TENANT, MAIN).ok(), None)];
    while let Some((thread, row)) = open.pop() {
        let Some(thread) = thread else { continue };
        let filter = ChildFilter {
            parent: Some(thread.clone()),
            ..ChildFilter::default()
        };
        let scope = Scope::Workspace(thread.workspace());
        let rows = tool_core::store::ChildStore::children(&host.store, scope, &filter).await;
        for row in rows.unwrap_or_default() {
            open.push((Some(row.thread.clone()), Some(row)));
        }
        let messages = host.store.read(&thread, None).await.unwrap_or_default();
        all.push((thread, row, messages));
    }
    all
}

/// Checks that each call of a thread has one result.
fn results(world: &World, thread: &ThreadId, messages: &[Message]) {
    for message in messages
        .iter()
        .filter(|message| message.role == Role::Assistant)
    {
        let Ok(said) = serde_json::from_str::<ModelMessage>(&message.content) else {
            continue;
        };
        for (call, position) in said.calls.iter().zip(0..) {
            let answers = messages.iter().filter(|answer| {
                answer
                    .answers
                    .is_some_and(|place| (place.message, place.position) == (message.seq, position))
            });
            let answers: Vec<ToolMessage> = answers
                .filter_map(|answer| serde_json::from_str(&answer.content).ok())
                .collect();
            if answers.len() != 1 {
                let (name, count) = (&call.name, answers.len());
                let what = format!("`{name}` in {thread} has {count} results");
                world.violated("result_missing", what);
            }
        }
    }
}

/// Runs the turn of a seed, and checks it.
///
/// # Errors
///
/// Returns an error if a store, the runtime or a host cannot be created.
pub fn run(seed: u64, kind: StoreKind) -> Result<Report, String> {
    let mut random = Random::new(seed);
    let shared = Shared::open(kind, false)?;
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_time()
        .start_paused(true)
        .build()
        .map_err(|error| error.to_string())?;
    let executor = Executor::new(random.number());
    let world = World::default();
    let faults = random.percent(30);
    let one_database = random.percent(50);
    runtime.block_on(tokio::task::unconstrained(async {
        let mut turn = Turn {
            shared: &shared,
            executor: &executor,
            world: &world,
            machine: Arc::default(),
            start: Instant::now(),
            seed: random.number(),
            made: Made::default(),
            one_database,
            processes: 0,
        };
        let ran = executor.run(async {
            turn.play(&mut random, faults).await?;
            turn.check(faults).await
        });
        let ran = ran.await;
        executor.kill(0);
        for process in 1..=turn.processes {
            executor.kill(process);
        }
        ran.unwrap_or_else(|| {
            world.violated("no_progress", "tasks wake each other for ever");
            Ok(())
        })
    }))?;
    for text in executor.panics() {
        world.violated("panic_escaped", format!("a call panicked: {text}"));
    }
    let hash = world.hash();
    let facts = world.facts();
    Ok(Report {
        violations: facts.violations.iter().cloned().collect(),
        lines: facts.lines.clone(),
        hash,
    })
}
