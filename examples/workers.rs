//! Two worker processes that answer the conversations of a queue.
//!
//! The program stores four questions, and starts itself twice as a worker. Each worker claims questions from the queue in the SQLite file and answers
//! them. If a worker is killed, the other worker continues its conversation when the lease has expired. With the variable `ANTHROPIC_API_KEY`, a
//! model answers; without it, a script does, and no network is needed.
//!
//! ```text
//! cargo run --example workers
//! ```

use std::env;
use std::error::Error;
use std::path::Path;
use std::time::Duration;

use tokio::process::{Child, Command};
use tool_agent::agent::Agent;
use tool_agent::model::{ApiKey, Endpoint, HttpModel, Script, ScriptedModel};
use tool_agent::runtime::{AgentEntry, AgentEventKind, AgentRuntime};
use tool_agent::worker::{AgentQueue, Worker};
use tool_core::store::{WorkState, WorkStore};
use tool_core::turn::Turns;
use tool_core::{CancellationToken, Gate, ToolContext};
use tool_store::SqliteStore;

const QUESTIONS: [&str; 4] = [
    "How deep is the Sognefjord?",
    "How long is it?",
    "Where does it end?",
    "Is it navigable?",
];

/// The lease of a worker on a conversation. After a crash, another worker waits until the lease expires.
const LEASE: Duration = Duration::from_secs(5);

fn context(number: usize) -> ToolContext {
    let conversation = format!("question-{number}");
    let cx = ToolContext::builder().workspace("acme").user("ann");
    cx.conversation(conversation).build()
}

fn queue(store: &SqliteStore) -> AgentQueue {
    AgentQueue::new(store.clone()).agent("guide", "1")
}

/// Answers questions until the process is killed.
async fn work(name: &str, store: SqliteStore) -> Result<(), Box<dyn Error>> {
    let builder = if env::var_os("ANTHROPIC_API_KEY").is_some() {
        let endpoint = Endpoint::anthropic(ApiKey::from_env("ANTHROPIC_API_KEY")?);
        let model = HttpModel::builder(endpoint, "claude-sonnet-4-5").build()?;
        Agent::builder("guide", model)
    } else {
        Agent::builder(
            "guide",
            ScriptedModel::new([Script::text("Ask a fisherman.")]),
        )
    };
    let gate = Gate::builder().ledger(store.clone()).build();
    let worker_name = name.to_owned();
    let runtime = AgentRuntime::builder(Turns::new(store.clone()).lease(LEASE), &gate)
        .agent(AgentEntry::new(builder.build()?))
        .observe(move |event| {
            if let AgentEventKind::Message { text, .. } = &event.kind {
                println!("{worker_name} answers {}: {text}", event.conversation);
            }
        })
        .build()?;
    let worker = Worker::builder(&runtime, &queue(&store)).name(name);
    let worker = worker.threads(1).lease(LEASE).build()?;
    worker.run(CancellationToken::new()).await;
    Ok(())
}

fn start(name: &str, file: &Path) -> Result<Child, std::io::Error> {
    let mut worker = Command::new(env::current_exe()?);
    worker.args([name.as_ref(), file.as_os_str()]);
    worker.kill_on_drop(true).spawn()
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = env::args().skip(1).collect();
    if let [name, file] = &arguments[..] {
        let store = SqliteStore::open(Path::new(file)).await?;
        return work(name, store).await;
    }
    let folder = tempfile::tempdir()?;
    let file = folder.path().join("state.db");
    let store = SqliteStore::open(&file).await?;
    for (number, question) in QUESTIONS.into_iter().enumerate() {
        queue(&store)
            .submit("guide", question, &context(number))
            .await?;
    }
    let _workers = [start("worker 1", &file)?, start("worker 2", &file)?];
    for number in 0..QUESTIONS.len() {
        let thread = context(number)
            .thread()
            .ok_or("the context has no conversation")?;
        while store
            .work(&thread)
            .await?
            .is_none_or(|row| row.state != WorkState::Ended)
        {
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
    }
    println!("All questions are answered.");
    Ok(())
}
