//! Threads of [`tool_agent`] as virtual objects of [Restate](https://restate.dev), for hosts that already run this durable execution engine.
//!
//! [`AgentThread`] is a virtual object. Its key is a thread ([`object_key`]), and its handlers are:
//!
//! | handler | kind | action |
//! |---|---|---|
//! | `drive` | exclusive | drives the thread step by step, until the run ends or waits; only the other handlers call it |
//! | `message` | shared | sends `drive`, after a message was stored |
//! | `answer` | shared | queues the thread again and sends `drive`, after an approval was answered or variables were supplied |
//! | `cancel` | shared | cancels the thread in any state |
//!
//! A host stores messages and answers in the database, and [`ThreadClient`] calls the handlers. The engine gets no content: an invocation contains
//! the key of a thread, and its journal contains the sequence numbers of messages.
//!
//! # Steps
//!
//! `drive` claims the row of the thread in the queue ([`Worker::take`]) and makes each step in a separate closure: one request to the model, and the
//! calls of its message. The closure first checks whether the step is stored, and returns when it is. If the engine or the process dies in between,
//! the step is not repeated, but a request to the model that had not ended is made again. A call with an effect whose end is unknown is never
//! repeated: its row in the ledger becomes ambiguous, and the thread waits until an operator settles it. Failures of tools and of models are values;
//! a closure returns an error only if the database does not answer.
//!
//! A turn that waits ends its invocation, so no invocation lasts for days, and the answer starts an invocation on the newest deployment. A cancelled
//! invocation does not stop a running closure; `cancel` stops the run in the database, which the closure checks before each step and with each
//! renewal of its lease.
//!
//! # Limits
//!
//! Every retry policy has a maximum. `drive` is killed when its attempts are used up, so that it never blocks its thread, and [`ThreadClient::sweep`]
//! sends it again. A thread whose driver dies too often ends with the cause [`CrashLimit`](tool_core::store::WorkCause::CrashLimit), as with workers.
//!
//! The engine aborts an attempt that makes no step for twice the time of [`AgentThread::longest_step`]. That time has to be longer than the longest
//! request and the longest call together.
//!
//! No handler waits for the handler of another thread, and `drive` cannot be called from outside, so a tool cannot wait for its own thread or for a
//! cycle of threads. Sub-agents run within the invocation of their parent; a sub-agent's thread has no row in the queue, so `drive` of its key does
//! nothing.
//!
//! # Example
//!
//! ```no_run
//! use restate_sdk::prelude::{Endpoint, HttpServer};
//! use tool_agent::agent::Agent;
//! use tool_agent::model::{Script, ScriptedModel};
//! use tool_agent::runtime::{AgentEntry, AgentRuntime};
//! use tool_agent::worker::{AgentQueue, Worker};
//! use tool_core::Gate;
//! use tool_core::store::MemoryStore;
//! use tool_core::turn::Turns;
//! use tool_restate::AgentThread;
//!
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> Result<(), Box<dyn std::error::Error>> {
//! // A real host uses PostgreSQL, and the same lease for the runs and the worker.
//! let store = MemoryStore::default();
//! let queue = AgentQueue::new(store.clone()).agent("chief", "1");
//! let model = ScriptedModel::new([Script::text("It is 1,308 m deep.")]);
//! let runtime = AgentRuntime::builder(Turns::new(store), &Gate::builder().build())
//!     .agent(AgentEntry::new(Agent::builder("chief", model).build()?))
//!     .build()?;
//! let worker = Worker::builder(&runtime, &queue).build()?;
//!
//! let endpoint = Endpoint::builder().bind(AgentThread::new(&worker, &queue).definition()).build();
//! HttpServer::new(endpoint).listen_and_serve("127.0.0.1:9080".parse()?).await;
//! # Ok(())
//! # }
//! ```
//!
//! # When to use this
//!
//! The workers of [`tool_agent::worker`] need only the database, and give the same guarantees. Use this crate if the host already runs Restate: other
//! services then start and observe turns like any invocation, Restate distributes them to deployments, and its UI shows the steps.
//!
//! The server of Restate has the Business Source License 1.1, which is not an open source license; this crate and the SDK do not contain it.
//!
//! [`Worker::take`]: tool_agent::worker::Worker::take
#![forbid(unsafe_code)]

mod client;
mod key;
mod object;
mod step;

pub use client::ThreadClient;
pub use key::{KeyError, object_key, thread_of};
pub use object::{AgentThread, AgentThreadClient, AgentThreadIngressClient};
