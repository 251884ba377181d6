//! Steps per second of conversations that a Restate server drives, and the time from a message to the first request to the model.
//!
//! `TOOL_TEST_NODE=… cargo bench -p tool-restate --bench steps` measures the same conversations as `agents workers` in the folder `benches` of the
//! repository: the database is a SQLite file, and the server, the deployment and the client run in separate processes.

#![allow(
    clippy::unwrap_used,
    clippy::panic,
    reason = "a benchmark fails by panicking"
)]
#![allow(missing_docs, reason = "a benchmark")]

use std::collections::HashMap;
use std::io::Read as _;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use restate_sdk::prelude::{Endpoint, HttpServer};
use tool_agent::agent::Agent;
use tool_agent::model::{Script, ScriptedModel};
use tool_agent::runtime::{AgentEntry, AgentRuntime};
use tool_agent::worker::{AgentQueue, Worker};
use tool_core::prelude::*;
use tool_core::store::{ThreadId, WorkState, WorkStore as _};
use tool_core::turn::{ModelMessage, Turns};
use tool_core::{Audit, Gate};
use tool_restate::{AgentThread, ThreadClient};
use tool_store::SqliteStore;

use crate::server::{Http, Server, free_port};

#[path = "../tests/restate/server.rs"]
#[allow(
    dead_code,
    clippy::expect_used,
    reason = "the tests also kill the server and read its tables"
)]
mod server;

/// The number of conversations in the measurement of the steps.
const THREADS: usize = 200;
/// The number of requests to the model in each conversation. Each reply except the last one makes a call.
const STEPS: usize = 10;
/// The number of conversations in the measurement of the latency.
const SINGLE: usize = 40;

fn main() {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    match &words[..] {
        ["host", port, folder] => {
            end_with_parent();
            two_threads().block_on(serve(port.parse().unwrap(), Path::new(folder)));
        }
        // `cargo bench` passes this word, and `cargo test --benches` does not.
        [.., "--bench"] => two_threads().block_on(report()),
        _ => println!("run this with `cargo bench -p tool-restate --bench steps`"),
    }
}

fn two_threads() -> tokio::runtime::Runtime {
    let mut builder = tokio::runtime::Builder::new_multi_thread();
    builder.worker_threads(2).enable_all().build().unwrap()
}

/// Ends this process when the parent process ends, which holds the other end of the pipe.
fn end_with_parent() {
    std::thread::spawn(|| {
        let _ = std::io::stdin().read(&mut [0]);
        std::process::exit(0);
    });
}

/// The process of the deployment, which is killed when this value is dropped.
struct Host(Child);

impl Host {
    fn start(port: u16, folder: &Path) -> Self {
        let mut command = Command::new(std::env::current_exe().unwrap());
        command.args(["host", &port.to_string()]).arg(folder);
        command.stdin(Stdio::piped()).stdout(Stdio::null());
        Self(command.spawn().unwrap())
    }
}

impl Drop for Host {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

async fn report() {
    let folder = tempfile::Builder::new()
        .prefix("restate-")
        .tempdir_in(".")
        .unwrap();
    let server = match Server::start(folder.path()) {
        Ok(server) => server,
        Err(missing) => return println!("not measured: {missing}"),
    };
    let bench = Bench::new(&server, folder.path()).await;
    let port = free_port();
    let host = Host::start(port, folder.path());
    server.register(port).await;
    // The first conversation waits until the deployment is ready.
    bench.single("warm").await;
    tokio::time::sleep(Duration::from_secs(2)).await;
    let mut times = Vec::new();
    for number in 0..SINGLE {
        times.push(bench.single(&format!("single-{number}")).await);
    }
    times.sort_unstable();
    let [median, high] = [times[SINGLE / 2], times[SINGLE * 99 / 100]];
    let rate = bench.many().await;
    println!("steps per second: {rate}");
    println!("message to first request: median {median:?}, 99th percentile {high:?}");
    drop(host);
}

/// The client of the deployment.
struct Bench {
    store: SqliteStore,
    client: ThreadClient<Http>,
    turns: Turns,
}

impl Bench {
    async fn new(server: &Server, folder: &Path) -> Self {
        let store = open(folder).await;
        Self {
            client: ThreadClient::new(&queue(&store), server.client()),
            turns: Turns::new(store.clone()),
            store,
        }
    }

    async fn submit(&self, name: &str) {
        let cx = cx(name);
        let submit = self.client.submit("reader", "Read the pages.", &cx);
        submit.await.unwrap();
    }

    async fn ended(&self, name: &str) {
        let thread = ThreadId::new("acme", name).unwrap();
        let is_ended = |row: tool_core::store::WorkRow| row.state == WorkState::Ended;
        while !self
            .store
            .work(&thread)
            .await
            .unwrap()
            .is_some_and(is_ended)
        {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    }

    /// Returns the time from the message of a conversation to the first request.
    async fn single(&self, name: &str) -> Duration {
        let start = since_epoch();
        self.submit(name).await;
        self.ended(name).await;
        // The model answers with the time of its first request.
        let answer = self.turns.last(&cx(name)).await.unwrap().unwrap();
        let first: u64 = answer.message().text.parse().unwrap();
        Duration::from_nanos(first - start)
    }

    /// Returns the steps per second of many conversations.
    async fn many(&self) -> u128 {
        let start = Instant::now();
        for number in 0..THREADS {
            self.submit(&format!("many-{number}")).await;
        }
        for number in 0..THREADS {
            self.ended(&format!("many-{number}")).await;
        }
        (THREADS * STEPS * 1_000) as u128 / start.elapsed().as_millis()
    }
}

/// Returns the nanoseconds of the clock that the processes share.
fn since_epoch() -> u64 {
    let time = SystemTime::now().duration_since(UNIX_EPOCH).unwrap();
    u64::try_from(time.as_nanos()).unwrap()
}

fn cx(conversation: &str) -> ToolContext {
    let cx = ToolContext::builder().workspace("acme").user("ann");
    cx.conversation(conversation).build()
}

async fn open(folder: &Path) -> SqliteStore {
    SqliteStore::open(folder.join("store.db")).await.unwrap()
}

fn queue(store: &SqliteStore) -> AgentQueue {
    AgentQueue::new(store.clone()).agent("reader", "1")
}

/// Reads one page of a book.
#[tool(read_only)]
async fn page(
    /// The number of the page.
    number: u32,
) -> u32 {
    number
}

/// Returns a model that makes a call in each reply, and answers with the time of its first request in the conversation.
fn model() -> ScriptedModel {
    let times = Arc::new(Mutex::new(HashMap::<String, u64>::new()));
    ScriptedModel::new((0..STEPS).map(|step| {
        let times = Arc::clone(&times);
        Script::with(move |request| {
            let thread = request.cx.thread().unwrap().to_string();
            let mut times = times.lock().unwrap();
            let first = *times.entry(thread).or_insert_with(since_epoch);
            Ok(if step + 1 == STEPS {
                ModelMessage::text(first.to_string())
            } else {
                let id = format!("call_{step}");
                ModelMessage::calls([ToolCall::new(id, "page", r#"{"number":7}"#)])
            })
        })
    }))
}

/// Serves the deployment until the process is killed.
async fn serve(port: u16, folder: &Path) {
    let store = open(folder).await;
    let audit = Audit::required(store.clone());
    let gate = Gate::builder().ledger(store.clone()).audit(audit).build();
    let agent = Agent::builder("reader", model()).tools(|_| toolset![page]);
    let runtime = AgentRuntime::builder(Turns::new(store.clone()), &gate)
        .agent(AgentEntry::new(agent.build().unwrap()))
        .build()
        .unwrap();
    let queue = queue(&store);
    let worker = Worker::builder(&runtime, &queue).build().unwrap();
    let thread = AgentThread::new(&worker, &queue);
    let endpoint = Endpoint::builder().bind(thread.definition()).build();
    let address = ([127, 0, 0, 1], port).into();
    HttpServer::new(endpoint).listen_and_serve(address).await;
}
