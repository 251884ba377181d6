//! A process of the deployment: a scripted agent with tools, on a SQLite file.

use std::fs::OpenOptions;
use std::io::{Read as _, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitCode, Stdio};
use std::time::Duration;

use futures::future::BoxFuture;
use restate_sdk::prelude::{Endpoint, HttpServer};
use tool_agent::agent::Agent;
use tool_agent::runtime::{AgentEntry, AgentRuntime};
use tool_agent::worker::{AgentQueue, Worker};
use tool_core::prelude::*;
use tool_core::store::{Role, WorkRow};
use tool_core::turn::{Model, ModelMessage, ModelRequest, Turns};
use tool_core::{Approvals, Effect, Gate, KeyRing};
use tool_restate::AgentThread;
use tool_store::SqliteStore;

const JOB: &str = "TOOL_RESTATE_TEST_JOB";

/// The lease of claims, runs and effects.
pub(crate) const LEASE: Duration = Duration::from_secs(3);

/// The parameters that a test passes to a process of the deployment.
#[derive(Clone, Debug)]
pub(crate) struct Job {
    pub(crate) name: String,
    pub(crate) folder: PathBuf,
    pub(crate) port: u16,
    pub(crate) longest_step: Duration,
}

impl Job {
    /// Returns the job of this process, if a test has started it as a part of the deployment.
    pub(crate) fn of_this_process() -> Option<Self> {
        let job = std::env::var(JOB).ok()?;
        let mut parts = job.splitn(4, ' ');
        let mut next = || parts.next().unwrap();
        Some(Self {
            name: next().to_owned(),
            port: next().parse().unwrap(),
            longest_step: Duration::from_millis(next().parse().unwrap()),
            folder: next().into(),
        })
    }

    /// Starts a process, which ends at the latest when the test ends.
    pub(crate) fn start(&self) -> Child {
        let (longest, folder) = (self.longest_step.as_millis(), self.folder.display());
        let job = format!("{} {} {longest} {folder}", self.name, self.port);
        let log = self.folder.join("host.log");
        let log = OpenOptions::new()
            .create(true)
            .append(true)
            .open(log)
            .unwrap();
        Command::new(std::env::current_exe().unwrap())
            .env(JOB, job)
            .stdin(Stdio::piped())
            .stdout(Stdio::null())
            .stderr(log)
            .spawn()
            .unwrap()
    }
}

/// The state of the process, for tools.
#[derive(Clone)]
struct Process(Job);
tool_core::host_value!(Process, Effect::WRITE);

/// Appends a line to a file of the test. One write per line, so that lines of different processes are not mixed.
fn append(folder: &Path, file: &str, line: &str) {
    let file = OpenOptions::new()
        .create(true)
        .append(true)
        .open(folder.join(file));
    file.unwrap()
        .write_all(format!("{line}\n").as_bytes())
        .unwrap();
}

/// Returns the lines of a file of the test.
pub(crate) fn lines(folder: &Path, file: &str) -> Vec<String> {
    let text = std::fs::read_to_string(folder.join(file)).unwrap_or_default();
    text.lines().map(str::to_owned).collect()
}

async fn effect(process: &Process, cx: &ToolContext, before: Duration) {
    let (folder, key) = (&process.0.folder, cx.idempotency_key().unwrap());
    append(folder, "begun", key.as_str());
    tokio::time::sleep(before).await;
    append(folder, "effects", key.as_str());
    tokio::time::sleep(Duration::from_millis(80)).await;
}

/// Sends a letter.
#[tool]
async fn post(process: &Process, cx: &ToolContext) -> &'static str {
    effect(process, cx, Duration::from_millis(80)).await;
    "sent"
}

/// Sends a parcel.
#[tool]
async fn ship(process: &Process, cx: &ToolContext) -> &'static str {
    effect(process, cx, Duration::from_secs(8)).await;
    "sent"
}

/// Erases everything.
#[tool(approval)]
async fn erase(process: &Process, cx: &ToolContext) -> &'static str {
    effect(process, cx, Duration::ZERO).await;
    "erased"
}

/// Returns the tools of the agent.
pub(crate) fn tools() -> Toolset {
    toolset![post, ship, erase]
}

/// A model that makes the number of calls that the user asks for, one after the other, and then answers. It never answers the
/// message `slow`.
#[derive(Clone)]
struct Script(Job);

impl Model for Script {
    fn next<'a>(
        &'a mut self,
        request: ModelRequest<'a>,
    ) -> BoxFuture<'a, Result<ModelMessage, ToolError>> {
        let messages = request.messages;
        let said = messages
            .iter()
            .rposition(|message| message.role == Role::User)
            .unwrap();
        let wish: String = serde_json::from_str(&messages[said].content).unwrap();
        let results = messages[said..]
            .iter()
            .filter(|message| message.role == Role::Tool)
            .count();
        Box::pin(async move {
            let (tool, times) = wish.split_once(' ').unwrap_or((&wish, "1"));
            if tool == "slow" {
                append(&self.0.folder, "asked", &self.0.name);
                std::future::pending::<()>().await;
            }
            if results < times.parse().unwrap() {
                let id = format!("c-{results}");
                return Ok(ModelMessage::calls([ToolCall::new(id, tool, "{}")]));
            }
            Ok(ModelMessage::text(format!("done by {}", self.0.name)))
        })
    }
}

/// Returns the gate of a store, with a ledger and approvals.
pub(crate) fn gate(store: &SqliteStore) -> Gate {
    let keys = KeyRing::new("k1", *b"a key that only these tests have").unwrap();
    let approvals = Approvals::builder(store.clone())
        .keys(keys)
        .build()
        .unwrap();
    let gate = Gate::builder().approvals(approvals).ledger(store.clone());
    gate.lease(LEASE).build()
}

/// Returns the queue of a store.
pub(crate) fn queue(store: &SqliteStore) -> AgentQueue {
    AgentQueue::new(store.clone()).agent("chief", "1")
}

/// Opens the database of a folder.
pub(crate) async fn open(folder: &Path) -> SqliteStore {
    SqliteStore::open(folder.join("store.db")).await.unwrap()
}

async fn serve(job: Job) {
    let store = open(&job.folder).await;
    let turns = Turns::new(store.clone()).lease(LEASE);
    let chief = Agent::builder("chief", Script(job.clone())).tools(|_| tools());
    let runtime = AgentRuntime::builder(turns, &gate(&store))
        .agent(AgentEntry::new(chief.build().unwrap()))
        .build()
        .unwrap();
    let (own, queue) = (job.clone(), queue(&store));
    let context = move |row: WorkRow| {
        let cx = ToolContext::builder()
            .workspace(row.workspace().as_str())
            .conversation(row.thread.conversation())
            .user(row.principal.unwrap())
            .with(Process(own.clone()));
        async move { Ok(cx.build()) }
    };
    let worker = Worker::builder(&runtime, &queue)
        .context(context)
        .lease(LEASE)
        .poll(Duration::from_millis(300))
        .most_recoveries(1000)
        .build()
        .unwrap();
    let thread = AgentThread::new(&worker, &queue).longest_step(job.longest_step);
    let endpoint = Endpoint::builder().bind(thread.definition()).build();
    let address = ([127, 0, 0, 1], job.port).into();
    HttpServer::new(endpoint).listen_and_serve(address).await;
}

/// Serves the deployment until the process is killed or the test ends.
pub(crate) fn run(job: Job) -> ExitCode {
    std::thread::spawn(|| {
        // The test holds the other end of the pipe.
        let _ = std::io::stdin().read(&mut [0]);
        std::process::exit(0);
    });
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(2)
        .enable_all()
        .build();
    runtime.unwrap().block_on(serve(job));
    ExitCode::SUCCESS
}
