//! The worker process: a scripted agent with tools, on a store.

use std::process::ExitCode;
use std::time::Duration;

use futures::future::BoxFuture;
use rustix::process::{Signal, getpid, kill_process};
use tool_agent::agent::Agent;
use tool_agent::runtime::{AgentEntry, AgentRuntime};
use tool_agent::worker::{AgentQueue, Worker};
use tool_core::prelude::*;
use tool_core::store::{BatchStore, ChildStore, Role, Store, WorkStore};
use tool_core::turn::{Model, ModelMessage, ModelRequest, Turns};
use tool_core::{Audit, CancellationToken, Effect, Gate};

use crate::process::{Hold, Job, append, on_store};

/// The lease of claims, runs and effects.
pub(crate) const LEASE: Duration = Duration::from_millis(900);

/// The interval at which workers look for threads.
pub(crate) const POLL: Duration = Duration::from_millis(50);

/// The time for which a worker waits in a request or a tool: longer than a lease.
pub(crate) const HELD: Duration = Duration::from_millis(2500);

/// The number of recoveries that a thread may have.
pub(crate) const MOST_RECOVERIES: u32 = 3;

/// The traits that a worker needs.
pub(crate) trait State: Store + WorkStore + ChildStore + BatchStore + Clone {}
impl<T: Store + WorkStore + ChildStore + BatchStore + Clone> State for T {}

/// The state of the process, for the model and for tools with effects.
#[derive(Clone)]
struct World(Job);
tool_core::host_value!(World, Effect::WRITE);

/// The state of the process, for tools that only read.
#[derive(Clone)]
struct View(Job);
tool_core::host_value!(View, Effect::READ);

/// Waits, if the job blocks at this place.
async fn hold(job: &Job, at: &[Hold]) {
    if !at.contains(&job.hold) {
        return;
    }
    job.log("holds");
    if job.hold == Hold::Block {
        std::thread::sleep(HELD);
    } else {
        tokio::time::sleep(HELD).await;
    }
    job.log("went on");
}

/// Sends a letter.
#[tool]
async fn post(world: &World, cx: &ToolContext) -> String {
    hold(&world.0, &[Hold::Tool]).await;
    let key = cx.idempotency_key().unwrap();
    append(&world.0.folder.join("effects"), key.as_str());
    "sent".to_owned()
}

/// Looks out of the window.
#[tool(read_only)]
async fn look(view: &View) -> String {
    hold(&view.0, &[Hold::Tool]).await;
    format!("seen by {}", view.0.name)
}

/// A model that calls the tool that the user names, and then answers with the name of the process. For `slow`, it answers without a call after half a
/// lease, and for `die`, it kills its process.
#[derive(Clone)]
struct Script(Job);

impl Model for Script {
    fn next<'a>(
        &'a mut self,
        request: ModelRequest<'a>,
    ) -> BoxFuture<'a, Result<ModelMessage, ToolError>> {
        let mut messages = request.messages.iter().rev();
        let said = messages.find(|message| message.role == Role::User);
        let wish: String = serde_json::from_str(&said.unwrap().content).unwrap();
        let step = request.step;
        Box::pin(async move {
            if wish == "die" {
                self.0.log("dies");
                kill_process(getpid(), Signal::KILL).unwrap();
            }
            if wish == "slow" {
                tokio::time::sleep(LEASE / 2).await;
            } else if step == 1 {
                return Ok(ModelMessage::calls([ToolCall::new("c-1", wish, "{}")]));
            } else {
                hold(&self.0, &[Hold::Model, Hold::Block]).await;
            }
            Ok(ModelMessage::text(format!("done by {}", self.0.name)))
        })
    }
}

/// Returns the gate of a store, with a ledger and a required audit.
pub(crate) fn gate(store: &impl State) -> Gate {
    Gate::builder()
        .ledger(store.clone())
        .audit(Audit::required(store.clone()))
        .lease(LEASE)
        .build()
}

pub(crate) fn queue(store: &impl State) -> AgentQueue {
    AgentQueue::new(store.clone()).agent("chief", "1")
}

async fn work(store: impl State, job: &Job) {
    let turns = Turns::new(store.clone()).lease(LEASE);
    let chief = Agent::builder("chief", Script(job.clone())).tools(|_| toolset![post, look]);
    let runtime = AgentRuntime::builder(turns, &gate(&store))
        .agent(AgentEntry::new(chief.build().unwrap()))
        .build()
        .unwrap();
    let own = job.clone();
    let context = move |row: tool_core::store::WorkRow| {
        let cx = ToolContext::builder()
            .workspace(row.workspace().as_str())
            .conversation(row.thread.conversation())
            .user(row.principal.unwrap())
            .with(World(own.clone()))
            .with(View(own.clone()));
        async move { Ok(cx.build()) }
    };
    let worker = Worker::builder(&runtime, &queue(&store))
        .context(context)
        .name(&job.name)
        .lease(LEASE)
        .poll(POLL)
        .most_recoveries(MOST_RECOVERIES)
        .build()
        .unwrap();
    job.log("works");
    worker.run(CancellationToken::new()).await;
}

/// Runs a worker until the process is killed.
pub(crate) fn run(job: &Job) -> ExitCode {
    on_store!(&job.store, store => work(store, job).await)
}
