//! The host of a conversation: its stores, its agents, and the actions.

use std::collections::{BTreeMap, VecDeque};
use std::sync::{Arc, Mutex};

use futures::future::{BoxFuture, join};
use object_store::ObjectStore;
use object_store::memory::InMemory;
use tool_agent::agent::Agent;
use tool_agent::files::ThreadFiles;
use tool_agent::model::{Script, ScriptedModel};
use tool_agent::runtime::{
    AgentEntry, AgentRuntime, Handoff, Immediate, ParentCommunication, PromptTool, Resumable,
    RuntimeError, Session, Side, SpawnGate, Subagent,
};
use tool_core::prelude::*;
use tool_core::store::seal::{NewValue, SealKey, SealKeys, Vault};
use tool_core::store::{
    MemoryStore, RunFilter, RunState, ThreadId, VariableScope, VariableType, Workspace,
};
use tool_core::turn::{Model, ModelMessage, ModelRequest, Outcome, Turns};
use tool_core::{Approvals, Gate, Reply, VariableKind, VariableNeed};

use crate::conversation::{
    AgentText, Conversation, HandoffText, ImmediateText, Need, PromptText, ReplyText,
    ResumableText, SessionText, Step, SubagentText,
};
use crate::ids::{child_ids, paths, request_ids};
use crate::record::{Journal, outcome};
use crate::tools::{Hold, named};

/// The conversation of the user.
const MAIN: &str = "main";

/// The remaining replies of a model. The agents of all processes share them.
type Replies = Arc<Mutex<VecDeque<ReplyText>>>;

/// A model that writes the replies of its file, and records its requests.
#[derive(Clone)]
struct Recorded {
    agent: String,
    replies: Replies,
    journal: Journal,
}

impl Model for Recorded {
    fn next<'a>(
        &'a mut self,
        request: ModelRequest<'a>,
    ) -> BoxFuture<'a, Result<ModelMessage, ToolError>> {
        self.journal.request(&self.agent, &request);
        let said: String = request
            .messages
            .iter()
            .map(|message| &*message.content)
            .collect();
        let reply = self.replies.lock().unwrap().pop_front();
        let reply = reply.unwrap_or_else(|| ReplyText {
            text: String::new(),
            calls: Vec::new(),
            error: Some("the file has no reply for this request".to_owned()),
        });
        let script = match &reply.error {
            Some(error) => {
                let error = error.clone();
                Script::with(move |_| Err(ToolError::new(error.clone())))
            }
            None => Script::message(message(&reply, &said)),
        };
        // A scripted model passes the pieces of its message to the observers of the run.
        Box::pin(async move { ScriptedModel::new([script]).next(request).await })
    }
}

/// Returns a reply. `{sub:N}` and `{path:N}` are replaced by the references and the paths that the request contains, in order.
fn message(reply: &ReplyText, said: &str) -> ModelMessage {
    let filled = |text: &str| {
        let mut text = text.to_owned();
        for (word, found) in [("sub", child_ids(said)), ("path", paths(said))] {
            for (number, value) in found.iter().enumerate() {
                text = text.replace(&format!("{{{word}:{}}}", number + 1), value);
            }
        }
        text
    };
    let calls = reply.calls.iter().zip(1..);
    let calls = calls.map(|([name, arguments], number)| {
        ToolCall::new(format!("call_{number}"), name, filled(arguments))
    });
    let mut message = ModelMessage::calls(calls);
    message.text = filled(&reply.text);
    message
}

/// The host of a conversation.
pub(crate) struct Stage<'c> {
    conversation: &'c Conversation,
    pub(crate) store: MemoryStore,
    pub(crate) gate: Gate,
    pub(crate) vault: Vault,
    pub(crate) files: Arc<InMemory>,
    pub(crate) journal: Journal,
    hold: Hold,
    replies: BTreeMap<String, Replies>,
    variables: BTreeMap<String, String>,
    pub(crate) runtime: AgentRuntime,
}

fn first(conversation: &Conversation) -> &str {
    &conversation.agents[0].name
}

impl<'c> Stage<'c> {
    pub(crate) async fn open(conversation: &'c Conversation) -> Self {
        let store = MemoryStore::default();
        let keys = SealKeys::new("k1", SealKey::new(&[1; 32])).unwrap();
        let vault = Vault::open(store.clone(), keys).await.unwrap();
        let approvals = Approvals::builder(store.clone()).build().unwrap();
        let gate = Gate::builder().approvals(approvals).ledger(store.clone());
        let gate = gate.build();
        let files = Arc::new(InMemory::new());
        let journal = Journal::default();
        let replies: BTreeMap<String, Replies> = conversation
            .agents
            .iter()
            .map(|agent| {
                let replies = agent.replies.iter().cloned().collect();
                (agent.name.clone(), Arc::new(Mutex::new(replies)))
            })
            .collect();
        let parts = Parts {
            conversation,
            store: &store,
            gate: &gate,
            vault: &vault,
            files: &files,
            journal: &journal,
            replies: &replies,
        };
        let runtime = parts.runtime();
        let stage = Self {
            conversation,
            store,
            gate,
            vault,
            files,
            journal,
            hold: Hold::new(),
            replies,
            variables: conversation.variables.clone(),
            runtime,
        };
        stage.prepare().await;
        stage
    }

    /// Stores the variables and the files of the conversation.
    async fn prepare(&self) {
        let scope = VariableScope::thread(&Self::thread());
        for [name, kind, value] in &self.conversation.stored {
            let kind = match &**kind {
                "text" => VariableType::Text,
                "secret" => VariableType::Secret,
                other => panic!("there is no type `{other}`"),
            };
            let value = NewValue::declared(name, kind, SecretString::from(&**value));
            let set = self.vault.set_variables(&scope, vec![value], "ann");
            set.await.unwrap();
        }
        for (name, content) in &self.conversation.files {
            let files = self.files_of(&Self::thread());
            files.write(name, content.clone().into()).await.unwrap();
        }
    }

    pub(crate) fn thread() -> ThreadId {
        ThreadId::new("acme", MAIN).unwrap()
    }

    pub(crate) fn turns(&self) -> Turns {
        Turns::new(self.store.clone())
    }

    pub(crate) fn files_of(&self, thread: &ThreadId) -> ThreadFiles {
        let store: Arc<dyn ObjectStore> = self.files.clone();
        ThreadFiles::new(store, thread.clone())
    }

    /// Returns the context of a run.
    pub(crate) fn context(&self) -> ToolContext {
        let mut cx = ToolContext::builder()
            .workspace("acme")
            .user("ann")
            .conversation(MAIN)
            .with(self.hold.clone());
        for (name, value) in &self.variables {
            cx = cx.variable(name, value);
        }
        for (name, value) in &self.conversation.secrets {
            cx = cx.secret_variable(name, SecretString::from(&**value));
        }
        cx.build()
    }

    /// Performs a step of the conversation.
    pub(crate) async fn play(&mut self, step: &Step) {
        self.journal.step(&step.to_string());
        let cx = self.context();
        let agent = first(self.conversation);
        match step {
            Step::User(text) => {
                let text = self.with_files(text).await;
                self.ended(&self.runtime.respond(agent, text, &cx).await);
            }
            Step::UserOnly(text) => {
                let text = self.with_files(text).await;
                self.ended(&self.runtime.respond(agent, text, &cx).await);
                return;
            }
            Step::UserCancelled(text) => {
                let turn = self.runtime.respond(agent, &**text, &cx);
                let (result, ()) = join(turn, self.cancel()).await;
                self.ended(&result);
            }
            Step::Drive => self.ended(&self.runtime.drive(agent, &cx).await),
            Step::Approve(tools) => self.answer_calls(tools, &Reply::Approve).await,
            Step::Deny(tools) => self.answer_calls(tools, &Reply::Deny).await,
            Step::Answer(values) => self.answer(values).await,
            Step::StartDeferred => {
                let started = self.runtime.start_deferred(agent, &cx).await.unwrap();
                self.journal.line(&format!("started {}", started.len()));
            }
            Step::Variables(variables) => self.variables.clone_from(variables),
            Step::Restart => self.runtime = self.parts().runtime(),
            Step::RemoveFiles => {
                let removed = self.files_of(&Self::thread()).remove_all().await.unwrap();
                self.journal.line(&format!("removed {removed} files"));
            }
            Step::Terminate(number) => {
                let ids = child_ids(&self.journal.raw());
                let ended = self.runtime.terminate(&ids[number - 1], &cx).await;
                let state = ended.map(|row| row.state.as_str().to_owned());
                self.journal.line(&format!("terminated: {state:?}"));
            }
            Step::Held(calls) => {
                self.hold.begun(*calls).await;
                return;
            }
            Step::Release(calls) => self.hold.release(*calls),
        }
        self.runtime.idle().await;
    }

    fn ended(&self, result: &Result<Outcome, RuntimeError>) {
        self.journal.line(&outcome(result));
    }

    /// Replaces `{file:NAME}` with the path of a file of the conversation.
    async fn with_files(&self, text: &str) -> String {
        let mut text = text.to_owned();
        let files = self.files_of(&Self::thread());
        for path in files.list().await.unwrap() {
            let content = files.read(&path).await.unwrap();
            let mut own = self.conversation.files.iter();
            if let Some((name, _)) = own.find(|(_, own)| own.as_bytes() == content) {
                text = text.replace(&format!("{{file:{name}}}"), &path);
            }
        }
        text
    }

    /// Cancels the run of the conversation while `slow` runs.
    async fn cancel(&self) {
        self.hold.begun(1).await;
        let filter = RunFilter {
            conversation: Some(MAIN.to_owned()),
            state: Some(RunState::Running),
            ..RunFilter::default()
        };
        let turns = self.turns();
        let acme = Workspace::new("acme");
        for run in turns.runs(&acme, &filter).await.unwrap() {
            turns.cancel(&run.id).await.unwrap();
        }
        // The run detects its cancellation with the next renewal of its lease.
    }

    async fn answer_calls(&self, tools: &[String], reply: &Reply) {
        let cx = self.context();
        let workspace = cx.own_workspace();
        let approvals = self.gate.approvals().unwrap();
        let all = named(tools).through(&self.gate);
        let waiting = self.runtime.waiting(&cx).await.unwrap();
        let mut answered = Vec::new();
        for ticket in waiting.iter().filter(|row| tools.contains(&row.tool)) {
            let (token, reply) = (&ticket.token, reply.clone());
            let answer = approvals.answer(&workspace, &all, token, reply, "olga", None);
            answer.await.unwrap();
            answered.push(&*ticket.tool);
        }
        self.journal.line(&format!("answered {answered:?}"));
    }

    async fn answer(&self, values: &BTreeMap<String, String>) {
        let ids = request_ids(&self.journal.raw());
        let values = values
            .iter()
            .map(|(name, value)| (name.clone(), SecretString::from(&**value)));
        let values: Vec<_> = values.collect();
        for id in ids {
            let answered = self
                .vault
                .answer_variables(&Self::thread(), &id, values.clone(), "ann")
                .await;
            let line = match answered {
                Ok(missing) => format!("answered request {id}, still missing {missing:?}"),
                Err(error) => format!("request {id}: {error}"),
            };
            self.journal.line(&line);
        }
    }

    /// Returns the replies that were not requested.
    pub(crate) fn unused(&self) -> Vec<String> {
        let unused = |(agent, replies): (&String, &Replies)| {
            let left = replies.lock().unwrap().len();
            (left > 0).then(|| format!("{left} replies of `{agent}` were not requested"))
        };
        self.replies.iter().filter_map(unused).collect()
    }

    fn parts(&self) -> Parts<'_> {
        Parts {
            conversation: self.conversation,
            store: &self.store,
            gate: &self.gate,
            vault: &self.vault,
            files: &self.files,
            journal: &self.journal,
            replies: &self.replies,
        }
    }
}

/// The parts of a process.
struct Parts<'s> {
    conversation: &'s Conversation,
    store: &'s MemoryStore,
    gate: &'s Gate,
    vault: &'s Vault,
    files: &'s Arc<InMemory>,
    journal: &'s Journal,
    replies: &'s BTreeMap<String, Replies>,
}

impl Parts<'_> {
    fn runtime(&self) -> AgentRuntime {
        let mut turns = Turns::new(self.store.clone());
        if self.conversation.relaxed {
            turns = turns.relaxed_order();
        }
        let journal = self.journal.clone();
        let mut runtime = AgentRuntime::builder(turns, self.gate)
            .children(self.store.clone())
            .vault(self.vault)
            .files(self.files.clone())
            .observe(move |event| journal.event(event));
        for agent in &self.conversation.agents {
            if !agent.is_partner {
                runtime = runtime.agent(self.entry(agent));
            }
        }
        runtime.build().unwrap()
    }

    fn agent(&self, text: &AgentText) -> Agent {
        let model = Recorded {
            agent: text.name.clone(),
            replies: Arc::clone(&self.replies[&text.name]),
            journal: self.journal.clone(),
        };
        let tools = named(&text.tools);
        let mut agent = Agent::builder(&text.name, model).tools(move |_| tools.clone());
        if let Some(instructions) = &text.instructions {
            agent = agent.instructions(instructions);
        }
        agent.build().unwrap()
    }

    fn entry(&self, text: &AgentText) -> AgentEntry {
        let mut entry = AgentEntry::new(self.agent(text));
        if text.autonomous {
            entry = entry.autonomous();
        }
        if let Some(description) = &text.expose {
            entry = entry.expose(description);
        }
        if let Some(schema) = &text.arguments {
            entry = entry.arguments_schema(schema);
        }
        if !text.allow.is_empty() {
            entry = entry.allow(&text.allow);
        }
        if !text.deny.is_empty() {
            entry = entry.deny(&text.deny);
        }
        entry = text
            .variables
            .iter()
            .map(need)
            .fold(entry, AgentEntry::variable);
        entry = text
            .prompts
            .iter()
            .map(prompt)
            .fold(entry, AgentEntry::prompt);
        entry = text
            .handoffs
            .iter()
            .map(handoff)
            .fold(entry, AgentEntry::handoff);
        entry = text
            .subagents
            .iter()
            .map(subagent)
            .fold(entry, AgentEntry::subagent);
        if let Some(spawn) = &text.spawn {
            let mut gate = if spawn.disabled {
                SpawnGate::disabled()
            } else {
                SpawnGate::default()
            };
            if let Some(targets) = &spawn.targets {
                gate = gate.targets(targets);
            }
            if let Some(depth) = spawn.depth {
                gate = gate.most_depth(depth);
            }
            entry = entry.spawn(gate);
        }
        if let Some(session) = &text.session {
            entry = entry.session(self.session(session));
        }
        entry
    }

    fn session(&self, text: &SessionText) -> Session {
        let mut session = Session::new();
        if let Some(stop) = &text.stop {
            session = session.stop_tool(stop);
        }
        if let Some(fail) = &text.fail {
            session = session.fail_tool(fail);
        }
        if let Some(turns) = text.turns {
            session = session.most_turns(turns);
        }
        if let Some(partner) = &text.partner {
            let mut agents = self.conversation.agents.iter();
            let partner = agents.find(|agent| agent.name == *partner).unwrap();
            session = session.partner(self.agent(partner));
        }
        session
    }
}

fn need(text: &Need) -> VariableNeed {
    VariableNeed {
        name: text.name.clone().into(),
        kind: if text.secret {
            VariableKind::Secret
        } else {
            VariableKind::Text
        },
        required: !text.optional,
        scoped: text.scoped,
        description: text.description.clone().map(Into::into),
    }
}

fn prompt(text: &PromptText) -> PromptTool {
    let mut prompt = PromptTool::new(&text.agent)
        .include_text_response(text.text.unwrap_or(true))
        .include_tool_calls(text.calls.unwrap_or(true))
        .include_errors(text.errors.unwrap_or(true));
    if let Some(property) = &text.message {
        prompt = prompt.init_user_message(property);
    }
    if let Some(property) = &text.attachments {
        prompt = prompt.init_attachments(property);
    }
    if let Some(flag) = &text.optional {
        prompt = prompt.optional(flag);
    }
    prompt
}

fn handoff(text: &HandoffText) -> Handoff {
    let handoff = Handoff::to(&text.agent);
    match &text.optional {
        Some(flag) => handoff.optional(flag),
        None => handoff,
    }
}

fn subagent(text: &SubagentText) -> Subagent {
    let mut tool = Subagent::new(&text.agent);
    if let Some(blocking) = text.blocking {
        tool = tool.blocking(blocking);
    }
    if let Some(property) = &text.message {
        tool = tool.init_user_message(property);
    }
    if let Some(property) = &text.attachments {
        tool = tool.init_attachments(property);
    }
    if let Some(property) = &text.name {
        tool = tool.init_agent_name(property);
    }
    if let Some(flag) = &text.optional {
        tool = tool.optional(flag);
    }
    if let Some(text) = &text.immediate {
        tool = tool.immediate(immediate(text));
    }
    if let Some(text) = &text.resumable {
        tool = tool.resumable(resumable(text));
    }
    tool
}

fn immediate(text: &ImmediateText) -> Immediate {
    let mut immediate = match &text.once {
        Some(message) => Immediate::once(message),
        None => Immediate::per_instance(),
    };
    if let Some(name) = &text.name_env {
        immediate = immediate.name_env(name);
    }
    if let Some(name) = &text.description_env {
        immediate = immediate.description_env(name);
    }
    immediate.scoped_env(&text.scoped_env)
}

fn resumable(text: &ResumableText) -> Resumable {
    let mut resumable = Resumable::new();
    if text.side_b {
        resumable = resumable.receives_messages(Side::B);
    }
    if let Some(most) = text.most {
        resumable = resumable.most_instances(most);
    }
    if text.explicit {
        resumable = resumable.parent_communication(ParentCommunication::Explicit);
    }
    resumable
}
