//! Steps per second of workers on a queue, and the time from a message to the first request, on SQLite and PostgreSQL.

use std::path::Path;
use std::process::Stdio;
use std::sync::Arc;
use std::time::{Duration, Instant};

use sqlx::{Connection as _, Executor as _, PgConnection};
use tool_agent::agent::Agent;
use tool_agent::model::{Script, ScriptedModel};
use tool_agent::runtime::{AgentEntry, AgentRuntime};
use tool_agent::worker::{AgentQueue, Worker};
use tool_core::prelude::*;
use tool_core::store::{RunStore, ThreadStore, WorkState, WorkStore};
use tool_core::turn::Turns;
use tool_core::{Audit, CancellationToken, Gate};
use tool_store::{PostgresStore, SqliteStore};

use crate::turns::page;
use crate::{Killed, monotonic, percentiles, this_program, two_threads};

/// The number of conversations in a measurement.
const THREADS: usize = 200;
/// The number of requests to the model in each conversation. Each reply except the last one makes a call.
const STEPS: usize = 10;
/// The number of conversations in the measurement of the latency.
const SINGLE: usize = 40;

pub(crate) fn report(url: Option<&str>) {
    let folder = tempfile::Builder::new().prefix("agents-").tempdir_in(".").expect("a folder");
    println!("| store | processes | steps per second | message to first request, ms: median | 99th percentile |");
    println!("|---|---|---|---|---|");
    two_threads().block_on(async {
        for processes in [1, 2, 4] {
            let file = folder.path().join(format!("{processes}.db"));
            let store = SqliteStore::open(&file).await.expect("a store");
            measure("SQLite", &store, &file.display().to_string(), processes).await;
        }
        let Some(url) = url else { return };
        for processes in [1, 2, 4] {
            let url = database(url, processes).await;
            let store = PostgresStore::open(&url).await.expect("a store");
            measure("PostgreSQL", &store, &url, processes).await;
        }
    });
}

/// Creates an empty database on a server, and returns its URL.
async fn database(server: &str, number: usize) -> String {
    let name = format!("agents_{}_{number}", std::process::id());
    let mut connection = PgConnection::connect(server).await.expect("a server");
    let create = sqlx::AssertSqlSafe(format!("CREATE DATABASE {name}"));
    connection.execute(create).await.expect("a database");
    let (base, _) = server.rsplit_once('/').expect("a database in the URL");
    format!("{base}/{name}")
}

async fn measure<S: WorkStore + RunStore + ThreadStore + Clone>(name: &str, store: &S, place: &str, processes: usize) {
    let workers: Vec<Killed> = (0..processes)
        .map(|_| Killed(this_program(&["worker", place]).stdout(Stdio::null()).spawn().expect("a process")))
        .collect();
    let queue = queue(Arc::new(store.clone()));
    let turns = Turns::new(store.clone());
    // The first conversation waits until the workers are ready.
    single(store, &queue, &turns, "warm").await;
    tokio::time::sleep(Duration::from_secs(2)).await;
    let mut times = Vec::new();
    for number in 0..SINGLE {
        times.push(single(store, &queue, &turns, &format!("single-{number}")).await);
    }
    let [median, high] = percentiles(times);
    let start = Instant::now();
    for number in 0..THREADS {
        queue.submit("reader", "Read the pages.", &context(&format!("many-{number}"))).await.expect("queued");
    }
    for number in 0..THREADS {
        ended(store, &format!("many-{number}")).await;
    }
    let rate = (THREADS * STEPS * 1_000) / usize::try_from(start.elapsed().as_millis()).expect("short");
    println!("| {name} | {processes} | {rate} | {} | {} |", median / 1_000_000, high / 1_000_000);
    drop(workers);
}

/// Returns the nanoseconds from the message of a conversation to the first request of the worker.
async fn single<S: WorkStore>(store: &S, queue: &AgentQueue, turns: &Turns, name: &str) -> u64 {
    let cx = context(name);
    let start = monotonic();
    queue.submit("reader", "Read the pages.", &cx).await.expect("queued");
    ended(store, name).await;
    // The model answers with the time of its first request.
    let answer = turns.last(&cx).await.expect("a thread").expect("an answer");
    answer.message().text.parse::<u64>().expect("a time") - start
}

async fn ended<S: WorkStore>(store: &S, name: &str) {
    let thread = context(name).thread().expect("a conversation");
    while store.work(&thread).await.expect("a row").is_none_or(|row| row.state != WorkState::Ended) {
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
}

fn context(name: &str) -> ToolContext {
    ToolContext::builder().workspace("acme").user("ann").conversation(name).build()
}

fn queue(store: Arc<dyn WorkStore>) -> AgentQueue {
    AgentQueue::shared(store).agent("reader", "1")
}

/// Drives conversations until the process is killed.
pub(crate) fn work(place: &str) {
    two_threads().block_on(async {
        if place.starts_with("postgres") {
            let store = PostgresStore::open(place).await.expect("a store");
            let gate = Gate::builder().ledger(store.clone()).audit(Audit::required(store.clone())).build();
            drive(Turns::new(store.clone()), &gate, &queue(Arc::new(store))).await;
        } else {
            let store = SqliteStore::open(Path::new(place)).await.expect("a store");
            let gate = Gate::builder().ledger(store.clone()).audit(Audit::required(store.clone())).build();
            drive(Turns::new(store.clone()), &gate, &queue(Arc::new(store))).await;
        }
    });
}

async fn drive(turns: Turns, gate: &Gate, queue: &AgentQueue) {
    let time = Arc::new(std::sync::Mutex::new(std::collections::HashMap::<String, u64>::new()));
    let mut script: Vec<Script> = Vec::new();
    for step in 0..STEPS {
        let time = Arc::clone(&time);
        script.push(Script::with(move |request| {
            let thread = request.cx.thread().expect("a conversation").to_string();
            let mut times = time.lock().expect("no panic");
            let first = *times.entry(thread).or_insert_with(monotonic);
            Ok(if step + 1 == STEPS {
                tool_core::turn::ModelMessage::text(first.to_string())
            } else {
                tool_core::turn::ModelMessage::calls([ToolCall::new(format!("call_{step}"), "page", r#"{"number":7}"#)])
            })
        }));
    }
    let agent = Agent::builder("reader", ScriptedModel::new(script)).tools(|_| toolset![page]).build().expect("an agent");
    let runtime = AgentRuntime::builder(turns, gate).agent(AgentEntry::new(agent)).build().expect("a runtime");
    let worker = Worker::builder(&runtime, queue).build().expect("a worker");
    worker.run(CancellationToken::new()).await;
}
