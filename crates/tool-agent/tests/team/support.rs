//! Models, tools and agents of the tests.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use futures::future::{BoxFuture, FutureExt as _};
use futures::stream::StreamExt as _;
use serde_json::Value;
use tool_agent::agent::Agent;
use tool_agent::model::{Script, ScriptedModel};
use tool_agent::team::{LocalTeam, LocalTeamBuilder, TeamMember};
use tool_core::prelude::*;
use tool_core::store::{MemoryStore, Role};
use tool_core::turn::{Model, ModelMessage, ModelRequest, Turns};
use tool_core::{CallResult, Citation, DynamicTool, ToolContextBuilder, ToolEvent};

/// Adds two numbers.
#[tool(read_only)]
pub(crate) fn add(
    /// The first number.
    a: i32,
    /// The second number.
    b: i32,
) -> i64 {
    i64::from(a) + i64::from(b)
}

/// Sends the report.
#[tool(destructive, approval)]
pub(crate) fn send() -> String {
    "sent".to_owned()
}

/// Searches the web.
#[tool(read_only)]
pub(crate) fn search(
    /// The words to search for.
    words: String,
    cx: &ToolContext,
) -> String {
    cx.cite(Citation::new("web", words.as_str()));
    format!("a page about {words}")
}

pub(crate) fn turns() -> Turns {
    Turns::new(MemoryStore::default())
}

pub(crate) fn context() -> ToolContextBuilder {
    ToolContext::builder()
        .workspace("acme")
        .user("ann")
        .session("s-1")
        .agent("lead")
        .conversation("main")
}

/// A model that answers after a time.
#[derive(Clone)]
pub(crate) struct Timed {
    after: Duration,
    answer: Script,
    /// The number of requests that were dropped before their reply.
    pub(crate) dropped: Arc<AtomicUsize>,
    /// The number of requests that were sent.
    pub(crate) asked: Arc<AtomicUsize>,
}

pub(crate) fn timed(seconds: u64, answer: Script) -> Timed {
    Timed {
        after: Duration::from_secs(seconds),
        answer,
        dropped: Arc::default(),
        asked: Arc::default(),
    }
}

/// A request that counts itself if it is dropped before its reply.
struct Open(Option<Arc<AtomicUsize>>);

impl Drop for Open {
    fn drop(&mut self) {
        if let Some(dropped) = &self.0 {
            dropped.fetch_add(1, Ordering::Relaxed);
        }
    }
}

impl Model for Timed {
    fn next<'a>(
        &'a mut self,
        request: ModelRequest<'a>,
    ) -> BoxFuture<'a, Result<ModelMessage, ToolError>> {
        self.asked.fetch_add(1, Ordering::Relaxed);
        async move {
            let mut open = Open(Some(Arc::clone(&self.dropped)));
            tokio::time::sleep(self.after).await;
            open.0 = None;
            self.answer.reply(&request)
        }
        .boxed()
    }
}

/// The requests of a model: for each, the tools and the messages as role and content.
pub(crate) type Seen = Arc<Mutex<Vec<(Vec<String>, Vec<(Role, String)>)>>>;

/// Records the request of each script.
pub(crate) fn recorded(scripts: impl IntoIterator<Item = Script>, seen: &Seen) -> ScriptedModel {
    let scripts = scripts.into_iter().map(|script| {
        let seen = Arc::clone(seen);
        Script::with(move |request: &ModelRequest<'_>| {
            let messages = request.messages.iter();
            let messages = messages.map(|message| (message.role, message.content.clone()));
            let tools = request.tools.names().map(str::to_owned).collect();
            seen.lock().unwrap().push((tools, messages.collect()));
            script.reply(request)
        })
    });
    ScriptedModel::new(scripts)
}

pub(crate) fn call(name: &str, arguments: &Value) -> ToolCall {
    ToolCall::new("c", name, arguments.to_string())
}

pub(crate) fn calls(name: &str, arguments: &Value) -> Script {
    Script::calls([call(name, arguments)])
}

/// Returns a script that fails, with one text for the model and one for the operator.
pub(crate) fn fails() -> Script {
    Script::with(|_| {
        Err(ToolError::new("the agent is overloaded").operator("the quota of host-17 is used up"))
    })
}

pub(crate) fn agent(id: &str, model: impl Model + Clone + Sync + 'static) -> Agent {
    Agent::builder(id, model).build().unwrap()
}

pub(crate) fn member(id: &str) -> TeamMember {
    let name = format!("The {id} agent");
    TeamMember::new(id, name, format!("Knows everything about {id}."))
}

/// Builds a team of agents without tools.
pub(crate) fn team<M: Model + Clone + Sync + 'static>(
    turns: &Turns,
    agents: impl IntoIterator<Item = (&'static str, M)>,
) -> LocalTeam {
    let add = |team: LocalTeamBuilder, (id, model)| team.member(member(id), agent(id, model));
    let team = agents.into_iter().fold(LocalTeam::builder(turns), add);
    team.build().unwrap()
}

/// Returns a toolset with one tool.
pub(crate) fn only(tool: DynamicTool) -> Toolset {
    Registry::builder().dynamic(tool).build().unwrap().open()
}

pub(crate) fn output(result: &CallResult) -> Value {
    let output = result
        .output()
        .unwrap_or_else(|| panic!("{}", result.model_text()));
    serde_json::from_str(output.get()).unwrap()
}

/// Makes a call, and returns its progress and its result.
pub(crate) async fn follow(
    tools: &Toolset,
    call: ToolCall,
    cx: &ToolContext,
) -> (Vec<Value>, CallResult) {
    let mut progress = Vec::new();
    let mut events = Box::pin(tools.stream(call, cx));
    while let Some(event) = events.next().await {
        match event {
            ToolEvent::Started => {}
            ToolEvent::Progress(step) => progress.push(serde_json::from_str(step.get()).unwrap()),
            ToolEvent::Done(result) => return (progress, result),
        }
    }
    panic!("the call has no result")
}
