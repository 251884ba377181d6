//! A worker process that drives a tree of agents and dies at a chosen point of the turn.

use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use futures::future::BoxFuture;
use rustix::process::{Signal, getpid, kill_process};
use serde_json::json;
use tool_agent::agent::Agent;
use tool_agent::runtime::{
    AgentEntry, AgentEventKind, AgentRuntime, Handoff, PromptTool, SpawnGate, Subagent,
};
use tool_agent::worker::{AgentQueue, Worker};
use tool_core::prelude::*;
use tool_core::store::{Role, WorkRow};
use tool_core::turn::{Model, ModelMessage, ModelRequest, Turns};
use tool_core::{Approvals, Audit, CancellationToken, Effect, Gate, KeyRing};

use crate::process::{append, on_store};
use crate::work::{POLL, State};

const JOB: &str = "TOOL_STORE_TEST_TREE";

/// The lease of claims, runs and effects. It is much longer than any pause of a process on a busy machine. A process that loses a lease drops its
/// calls, and the results of these calls report the loss.
pub(crate) const LEASE: Duration = Duration::from_secs(8);

/// The arguments of a worker process.
#[derive(Clone, Debug)]
pub(crate) struct Job {
    /// The versions of the agents that the process has. Each conversation uses a separate version.
    pub(crate) versions: Vec<u32>,
    /// The point at which the process dies; 0 if it does not die.
    pub(crate) death: u32,
    /// The URL of a database, or the path of a SQLite file.
    pub(crate) store: String,
    pub(crate) folder: PathBuf,
}

impl Job {
    /// Returns the job of this process, if a test has started it as such a worker.
    pub(crate) fn of_this_process() -> Option<Self> {
        let job = std::env::var(JOB).ok()?;
        let mut parts = job.splitn(4, ' ').map(str::to_owned);
        let mut next = || parts.next().unwrap();
        let versions = next();
        let versions = versions.split(',').map(|version| version.parse().unwrap());
        Some(Self {
            versions: versions.collect(),
            death: next().parse().unwrap(),
            store: next(),
            folder: next().into(),
        })
    }

    /// Returns the variable of the process.
    pub(crate) fn variable(&self) -> (&'static str, String) {
        let versions: Vec<String> = self.versions.iter().map(u32::to_string).collect();
        let (versions, folder) = (versions.join(","), self.folder.display());
        let (death, store) = (self.death, &self.store);
        (JOB, format!("{versions} {death} {store} {folder}"))
    }
}

/// Returns the conversation of a version of the agents.
pub(crate) fn conversation(version: u32) -> String {
    format!("tree-{version}")
}

/// Returns the file with the effects of a conversation.
pub(crate) fn effects(folder: &Path, conversation: &str) -> PathBuf {
    folder.join(format!("effects-{conversation}"))
}

/// Returns the file with the points that the process of a conversation has passed.
pub(crate) fn points(folder: &Path, version: u32) -> PathBuf {
    folder.join(format!("points-{version}"))
}

/// The state of the process, for the models and the tools.
#[derive(Clone)]
struct Process {
    job: Job,
    passed: Arc<AtomicU32>,
    /// The conversation of the user.
    root: String,
}
tool_core::host_value!(Process, Effect::WRITE);

impl Process {
    /// Counts a point of the turn, and kills the process at the point of its death. A process with one version also records each point in a file.
    fn point(&self, name: &str) {
        let passed = self.passed.fetch_add(1, Ordering::SeqCst) + 1;
        if self.job.versions.len() == 1 {
            let file = points(&self.job.folder, self.job.versions[0]);
            append(&file, &format!("{passed} {name}"));
        }
        if passed == self.job.death {
            kill_process(getpid(), Signal::KILL).unwrap();
            // Ending the other threads by the signal may take a moment.
            std::thread::sleep(Duration::from_mins(1));
        }
    }

    /// Records the effect `name`, with a point before and after it.
    fn make(&self, name: &str, key: &str) {
        self.point("before an effect");
        let file = effects(&self.job.folder, &self.root);
        append(&file, &format!("{name} {key}"));
        self.point("after an effect");
    }
}

/// Sends a letter.
#[tool]
async fn post(
    process: &Process,
    cx: &ToolContext,
    /// The letter.
    letter: String,
) -> String {
    process.make(&letter, cx.idempotency_key().unwrap().as_str());
    "sent".to_owned()
}

/// Publishes a page.
#[tool(approval)]
async fn publish(
    process: &Process,
    cx: &ToolContext,
    /// The page.
    page: String,
) -> String {
    process.make(&page, cx.idempotency_key().unwrap().as_str());
    "published".to_owned()
}

/// Returns the tools with effects.
pub(crate) fn tools() -> Toolset {
    toolset![post, publish]
}

/// The names of the effects of a turn.
pub(crate) const EFFECTS: [&str; 6] = ["a", "b", "c", "d", "e", "f"];

/// The text with which the agent answers the outcome of a sub-agent.
pub(crate) const NOTED: &str = "Noted.";

fn calls<const N: usize>(calls: [(&str, serde_json::Value); N]) -> ModelMessage {
    let calls = calls.into_iter().zip(1..).map(|((name, arguments), at)| {
        ToolCall::new(format!("call_{at}"), name, arguments.to_string())
    });
    ModelMessage::calls(calls)
}

/// A model that replies by the number of messages that it has written in the thread, so that a continued run gets the same replies.
#[derive(Clone)]
struct Script {
    agent: &'static str,
    process: Process,
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
            ("chief", 3) => ModelMessage::text("Done."),
            ("chief", _) => ModelMessage::text(NOTED),
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
        let said = own.filter(|message| message.role == Role::Assistant);
        let said = said.count();
        Box::pin(async move {
            self.process.point("request");
            // In the meantime, sub-agents in the background make progress.
            tokio::time::sleep(Duration::from_millis(5)).await;
            self.process.point("reply");
            Ok(self.reply(said))
        })
    }
}

/// Returns the gate of a store, with approvals, a ledger and a required audit.
pub(crate) fn gate(store: &impl State) -> Gate {
    let keys = KeyRing::new("k1", vec![7; 32]).unwrap();
    let approvals = Approvals::builder(store.clone())
        .keys(keys)
        .build()
        .unwrap();
    Gate::builder()
        .approvals(approvals)
        .ledger(store.clone())
        .audit(Audit::required(store.clone()))
        .lease(LEASE)
        .build()
}

/// Returns the queue for these versions of the agents. A new message is for the last version.
pub(crate) fn queue(store: &impl State, versions: &[u32]) -> AgentQueue {
    let queue = AgentQueue::new(store.clone());
    let versions = versions.iter().map(u32::to_string);
    versions.fold(queue, |queue, version| queue.agent("desk", version))
}

/// Returns the runtime of a process.
fn agents(store: &impl State, process: &Process) -> AgentRuntime {
    let entry = |agent: &'static str| {
        let process = process.clone();
        let script = Script { agent, process };
        AgentEntry::new(
            Agent::builder(agent, script)
                .tools(|_| tools())
                .build()
                .unwrap(),
        )
    };
    let child = |agent: &'static str| entry(agent).autonomous().expose("Works.");
    let observer = process.clone();
    AgentRuntime::builder(Turns::new(store.clone()).lease(LEASE), &gate(store))
        .children(store.clone())
        .observe(move |event| match event.kind {
            // These events have no points, because the points of the request follow at once.
            AgentEventKind::RunStarted | AgentEventKind::StepStarted { .. } => {}
            _ => observer.point(event.kind.name()),
        })
        .agent(entry("desk").handoff(Handoff::to("chief")))
        .agent(
            entry("chief")
                .prompt(PromptTool::new("summary"))
                .subagent(Subagent::new("watcher").blocking(false))
                .subagent(Subagent::new("middle")),
        )
        .agent(entry("summary").expose("Summarizes."))
        .agent(child("watcher"))
        .agent(
            child("middle")
                .subagent(Subagent::new("last"))
                .spawn(SpawnGate::default().most_depth(2)),
        )
        .agent(child("last"))
        .build()
        .unwrap()
}

async fn work(store: impl State, job: &Job) {
    let process = Process {
        job: job.clone(),
        passed: Arc::default(),
        root: String::new(),
    };
    let runtime = agents(&store, &process);
    let context = move |row: WorkRow| {
        let root = row.thread.conversation().to_owned();
        let process = Process {
            root: root.clone(),
            ..process.clone()
        };
        let cx = ToolContext::builder()
            .workspace(row.workspace().as_str())
            .conversation(root)
            .user(row.principal.unwrap())
            .with(process);
        async move { Ok(cx.build()) }
    };
    let worker = Worker::builder(&runtime, &queue(&store, &job.versions))
        .context(context)
        .lease(LEASE)
        .poll(POLL)
        .build()
        .unwrap();
    worker.run(CancellationToken::new()).await;
}

/// Runs a worker until the process is killed.
pub(crate) fn run(job: &Job) -> ExitCode {
    on_store!(&job.store, store => work(store, job).await)
}
