//! Models that choose their replies by the messages of the request, and a log of the requests.

use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use futures::future::{BoxFuture, pending, ready};
use serde_json::Value;
use tool_agent::agent::{Agent, AgentBuilder};
use tool_agent::runtime::{AgentEntry, AgentResult, AgentRuntime, AgentRuntimeBuilder};
use tool_core::prelude::*;
use tool_core::store::{ChildRow, MemoryStore, Message, Role};
use tool_core::turn::{Model, ModelMessage, ModelRequest, ToolMessage, Turns};
use tool_core::{Approvals, CancellationToken, Gate, ToolContextBuilder};

/// A request that a model received.
#[derive(Clone, Debug)]
pub(crate) struct Request {
    pub(crate) agent: String,
    pub(crate) messages: Vec<Message>,
    pub(crate) tools: Vec<String>,
    /// The definitions of the tools, as JSON.
    pub(crate) definitions: String,
}

impl Request {
    /// Returns the texts of the messages of a role.
    pub(crate) fn texts(&self, role: Role) -> Vec<String> {
        let messages = self.messages.iter();
        let messages = messages.filter(|message| message.role == role);
        messages
            .map(|message| {
                let content: Value = serde_json::from_str(&message.content).unwrap();
                match (role, content) {
                    (_, Value::String(text)) => text,
                    (_, content) => content["text"].as_str().unwrap_or_default().to_owned(),
                }
            })
            .collect()
    }

    /// Returns the last text of a role.
    pub(crate) fn last(&self, role: Role) -> String {
        self.texts(role).pop().unwrap_or_default()
    }

    /// Returns the number of messages of the model after the last message of a user.
    pub(crate) fn step(&self) -> usize {
        let messages = self.messages.iter().rev();
        let run = messages.take_while(|message| message.role != Role::User);
        run.filter(|message| message.role == Role::Assistant)
            .count()
    }
}

/// All requests of a test, in order.
#[derive(Clone, Default)]
pub(crate) struct Log(Arc<Mutex<Vec<Request>>>);

impl Log {
    pub(crate) fn all(&self) -> Vec<Request> {
        self.0.lock().unwrap().clone()
    }

    pub(crate) fn of(&self, agent: &str) -> Vec<Request> {
        let all = self.all().into_iter();
        all.filter(|request| request.agent == agent).collect()
    }
}

/// Stops a process at one of its requests to a model: the request never ends, as if the process had died.
#[derive(Clone)]
pub(crate) struct Death {
    requests: Arc<AtomicU32>,
    at: u32,
    died: CancellationToken,
}

impl Death {
    pub(crate) fn at(request: u32) -> Self {
        Self {
            requests: Arc::default(),
            at: request,
            died: CancellationToken::new(),
        }
    }

    /// Returns a future that ends when the process has died.
    pub(crate) fn died(&self) -> impl Future<Output = ()> + use<> {
        self.died.clone().cancelled_owned()
    }

    /// Returns whether the process dies at this request.
    fn strikes(&self) -> bool {
        let dies = self.requests.fetch_add(1, Ordering::SeqCst) + 1 == self.at;
        if dies {
            self.died.cancel();
        }
        dies
    }
}

type Think = dyn Fn(&Request) -> Result<ModelMessage, ToolError> + Send + Sync;

/// A model whose replies depend on the request alone, so that a continued run gets the same replies.
#[derive(Clone)]
pub(crate) struct Thinker {
    agent: String,
    log: Log,
    think: Arc<Think>,
    death: Option<Death>,
}

impl Thinker {
    pub(crate) fn new(
        agent: &str,
        log: &Log,
        think: impl Fn(&Request) -> Result<ModelMessage, ToolError> + Send + Sync + 'static,
    ) -> Self {
        Self {
            agent: agent.to_owned(),
            log: log.clone(),
            think: Arc::new(think),
            death: None,
        }
    }

    /// Makes the process die at a request.
    pub(crate) fn dying(mut self, death: &Death) -> Self {
        self.death = Some(death.clone());
        self
    }
}

impl Model for Thinker {
    fn next<'a>(
        &'a mut self,
        request: ModelRequest<'a>,
    ) -> BoxFuture<'a, Result<ModelMessage, ToolError>> {
        let request = Request {
            agent: self.agent.clone(),
            messages: request.messages.to_vec(),
            tools: request.tools.names().map(str::to_owned).collect(),
            definitions: request.tools.definitions(Dialect::JsonSchema),
        };
        self.log.0.lock().unwrap().push(request.clone());
        if self.death.as_ref().is_some_and(Death::strikes) {
            return Box::pin(pending());
        }
        Box::pin(ready((self.think)(&request)))
    }
}

/// Returns an agent whose model replies by the number of the step after the last message of a user. The last reply is repeated.
pub(crate) fn agent(
    name: &str,
    log: &Log,
    replies: impl IntoIterator<Item = ModelMessage>,
) -> AgentBuilder {
    let replies: Vec<ModelMessage> = replies.into_iter().collect();
    thinking(name, log, move |request| {
        let at = request.step().min(replies.len() - 1);
        Ok(replies[at].clone())
    })
}

/// Returns an agent whose replies depend on the request.
pub(crate) fn thinking(
    name: &str,
    log: &Log,
    think: impl Fn(&Request) -> Result<ModelMessage, ToolError> + Send + Sync + 'static,
) -> AgentBuilder {
    Agent::builder(name, Thinker::new(name, log, think))
}

pub(crate) fn text(text: &str) -> ModelMessage {
    ModelMessage::text(text)
}

/// Returns a message with calls, given as pairs of the name and the arguments.
pub(crate) fn calls<const N: usize>(calls: [(&str, Value); N]) -> ModelMessage {
    let calls = calls.into_iter().zip(0..);
    ModelMessage::calls(calls.map(|((name, arguments), at)| {
        ToolCall::new(format!("call_{at}"), name, arguments.to_string())
    }))
}

/// The stores and the gate that a test uses.
pub(crate) struct Host {
    pub(crate) store: MemoryStore,
    pub(crate) gate: Gate,
}

impl Host {
    pub(crate) fn new() -> Self {
        Self::with(MemoryStore::default())
    }

    pub(crate) fn with(store: MemoryStore) -> Self {
        let approvals = Approvals::builder(store.clone()).build().unwrap();
        let gate = Gate::builder().approvals(approvals).ledger(store.clone());
        let gate = gate.build();
        Self { store, gate }
    }

    pub(crate) fn turns(&self) -> Turns {
        Turns::new(self.store.clone()).lease(Duration::from_millis(200))
    }

    pub(crate) fn runtime(&self) -> AgentRuntimeBuilder {
        AgentRuntime::builder(self.turns(), &self.gate).children(self.store.clone())
    }
}

pub(crate) fn context() -> ToolContextBuilder {
    ToolContext::builder()
        .workspace("acme")
        .user("ann")
        .conversation("main")
}

/// Returns the results of tools in a conversation, in order.
pub(crate) async fn results(host: &Host, cx: &ToolContext) -> Vec<ToolMessage> {
    let messages = host.turns().messages(cx, None).await.unwrap();
    let results = messages.iter().filter(|message| message.role == Role::Tool);
    results
        .map(|message| serde_json::from_str(&message.content).unwrap())
        .collect()
}

/// Returns the context of a different conversation.
pub(crate) fn in_conversation(conversation: &str) -> ToolContext {
    context().conversation(conversation).build()
}

pub(crate) fn entry(builder: AgentBuilder) -> AgentEntry {
    AgentEntry::new(builder.build().unwrap())
}

/// Returns the entry of an autonomous agent that is exposed as a tool.
pub(crate) fn worker(builder: AgentBuilder) -> AgentEntry {
    entry(builder).autonomous().expose("Works.")
}

/// Returns the only child of a conversation.
pub(crate) async fn only_child(runtime: &AgentRuntime, cx: &ToolContext) -> ChildRow {
    let mut rows = runtime.children(cx).await.unwrap();
    assert_eq!(rows.len(), 1, "{rows:?}");
    rows.remove(0)
}

/// Returns the payload of the result of an agent.
pub(crate) fn payload(result: &ToolMessage) -> AgentResult {
    serde_json::from_str(result.output.as_ref().unwrap().get()).unwrap()
}
