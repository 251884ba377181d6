//! Benchmark of many concurrent turns with this project, with rig, and with a hand-written loop on genai. The provider is a mock.
//!
//! A turn has two requests: the model calls a tool, and then answers. Each library runs in a separate process.

use std::process::Stdio;
use std::sync::Arc;
use std::time::Instant;

use futures::StreamExt as _;
use futures::future::join_all;
use genai::chat::{ChatMessage, ChatOptions, ChatRequest, ChatStreamEvent, ToolResponse};
use genai::resolver::{AuthData, ServiceTargetResolver};
use genai::{ModelIden, ServiceTarget};
use rig_agent::AgentBuilder;
use rig_core::providers::openai::{OpenAIConfig, Route};
use rig_core::tool::{Tool as RigTool, ToolContext as RigContext};
use serde::Deserialize;
use serde_json::json;
use tool_agent::agent::Agent;
use tool_agent::model::{Endpoint, HttpModel};
use tool_agent::runtime::{AgentEntry, AgentRuntime};
use tool_core::prelude::*;
use tool_core::store::MemoryStore;
use tool_core::turn::{Outcome, Turns};
use tool_core::{Audit, Gate, Sweeper};

use crate::provider::Provider;
use crate::{resident, this_program, two_threads, used};

/// Reads one page of a book.
#[tool(read_only)]
pub(crate) async fn page(
    /// The number of the page.
    number: u32,
) -> u32 {
    number
}

const PROMPT: &str = "Read page 7.";

pub(crate) fn report(count: usize) {
    println!("| library | ms for {count} turns | CPU per turn, µs | memory per turn, kB |");
    println!("|---|---|---|---|");
    for library in ["genai", "rig", "tool-agent", "tool-agent, full gate"] {
        // The median of five runs by CPU time.
        let mut rows: Vec<[f64; 3]> = (0..5).map(|_| measure(library, count)).collect();
        rows.sort_by(|a, b| a[1].total_cmp(&b[1]));
        let [wall, cpu, memory] = rows[2];
        println!("| {library} | {wall:.0} | {cpu:.0} | {memory:.1} |");
    }
}

fn measure(library: &str, count: usize) -> [f64; 3] {
    let provider = Provider::start();
    let mut client = this_program(&["turn-client", library, &provider.url, &count.to_string()]);
    let output = client.stderr(Stdio::inherit()).output().expect("a process");
    let text = String::from_utf8(output.stdout).expect("UTF-8");
    let numbers: Vec<f64> = text.split_whitespace().map(|word| word.parse().expect("a number")).collect();
    numbers.try_into().unwrap_or_else(|_| panic!("{library}: {text}"))
}

/// Runs the turns with one library, and prints the time, the CPU time and the memory.
pub(crate) fn client(library: &str, url: &str, count: usize) {
    let runtime = two_threads();
    // The first turn loads data that all later turns share.
    let measure = |run: &dyn Fn(usize)| {
        run(1);
        let (_, cpu_before) = used();
        let (before, start) = (resident(), Instant::now());
        run(count);
        let (wall, (peak, cpu)) = (start.elapsed(), used());
        #[expect(clippy::cast_precision_loss, reason = "figures to print")]
        let [each, memory] = [count as f64, peak.saturating_sub(before) as f64];
        let cpu = (cpu - cpu_before).as_secs_f64() * 1e6 / each;
        println!("{} {cpu} {}", wall.as_secs_f64() * 1e3, memory / each / 1e3);
    };
    match library {
        "genai" => {
            let client = genai_client(url);
            measure(&|count| all(&runtime, count, |_| genai_turn(&client)));
        }
        "rig" => {
            let model = OpenAIConfig::new("sk-test").with_base_url(url).with_route(Route::Chat).client().completion("m");
            let agent = AgentBuilder::new(model).tool(RigPage).default_max_turns(3).build();
            measure(&|count| all(&runtime, count, |_| rig_turn(&agent)));
        }
        _ => {
            let agents = our_runtime(url, library != "tool-agent");
            measure(&|count| all(&runtime, count, |number| our_turn(&agents, number + count)));
        }
    }
}

/// Runs the turns concurrently, each in a task.
fn all<F: Future<Output = ()> + Send + 'static>(runtime: &tokio::runtime::Runtime, count: usize, turn: impl Fn(usize) -> F) {
    runtime.block_on(async {
        for end in join_all((0..count).map(|number| tokio::spawn(turn(number)))).await {
            end.expect("no panic");
        }
    });
}

fn our_runtime(url: &str, full: bool) -> AgentRuntime {
    let store = MemoryStore::default();
    let gate = Gate::builder().sweeper(Sweeper::off());
    let gate = if full { gate.ledger(store.clone()).audit(Audit::required(store.clone())) } else { gate };
    let model = HttpModel::builder(Endpoint::compatible(url), "m").build().expect("a model");
    let agent = Agent::builder("reader", model).tools(|_| toolset![page]).build().expect("an agent");
    let runtime = AgentRuntime::builder(Turns::new(store), &gate.build()).agent(AgentEntry::new(agent));
    runtime.observe(|event| { std::hint::black_box(event.kind.name()); }).build().expect("a runtime")
}

fn our_turn(agents: &AgentRuntime, number: usize) -> impl Future<Output = ()> + Send + 'static {
    let agents = agents.clone();
    async move {
        let cx = ToolContext::builder().workspace("acme").user("ann").conversation(format!("c-{number}")).build();
        let outcome = agents.respond("reader", PROMPT, &cx).await.expect("an outcome");
        assert!(matches!(outcome, Outcome::Answered(_)), "{outcome:?}");
    }
}

struct RigPage;

#[derive(Deserialize)]
struct PageArguments {
    number: u32,
}

impl RigTool for RigPage {
    const NAME: &'static str = "page";
    type Args = PageArguments;
    type Output = u32;
    type Error = std::convert::Infallible;

    fn description(&self) -> String {
        "Reads one page of a book.".to_owned()
    }

    fn parameters(&self) -> serde_json::Value {
        parameters()
    }

    async fn call(&self, _: &mut RigContext, arguments: PageArguments) -> Result<u32, Self::Error> {
        Ok(arguments.number)
    }
}

fn parameters() -> serde_json::Value {
    json!({"type": "object", "properties": {"number": {"type": "integer", "minimum": 0, "description": "The number of the page."}},
        "required": ["number"], "additionalProperties": false})
}

fn rig_turn(agent: &rig_agent::Agent) -> impl Future<Output = ()> + Send + 'static {
    let agent = agent.clone();
    async move {
        let mut items = agent.prompt(PROMPT).stream();
        let mut count = 0;
        while let Some(item) = items.next().await {
            item.expect("an item");
            count += 1;
        }
        assert!(count > 5);
    }
}

fn genai_client(url: &str) -> genai::Client {
    let endpoint = genai::resolver::Endpoint::from_owned(format!("{url}/"));
    let resolver = ServiceTargetResolver::from_resolver_fn(move |target: ServiceTarget| {
        let model = ModelIden::new(genai::adapter::AdapterKind::OpenAI, target.model.model_name);
        Ok::<_, genai::resolver::Error>(ServiceTarget { endpoint: endpoint.clone(), auth: AuthData::from_single("sk-test"), model })
    });
    genai::Client::builder().with_service_target_resolver(resolver).build().expect("a client")
}

fn genai_turn(client: &genai::Client) -> impl Future<Output = ()> + Send + 'static {
    let client = client.clone();
    async move {
        let tool = genai::chat::Tool::new("page").with_description("Reads one page of a book.").with_schema(parameters());
        let mut request = ChatRequest::new(vec![ChatMessage::user(PROMPT)]).with_tools([tool]);
        let options = Arc::new(ChatOptions::default().with_capture_tool_calls(true).with_capture_content(true));
        loop {
            let mut response = client.exec_chat_stream("m", request.clone(), Some(&options)).await.expect("a response");
            let mut calls = Vec::new();
            while let Some(event) = response.stream.next().await {
                if let ChatStreamEvent::End(end) = event.expect("an event") {
                    calls = end.captured_into_tool_calls().unwrap_or_default();
                }
            }
            if calls.is_empty() {
                return;
            }
            let results: Vec<ToolResponse> = calls
                .iter()
                .map(|call| {
                    let arguments: PageArguments = serde_json::from_value(call.fn_arguments.clone()).expect("arguments");
                    ToolResponse::new(call.call_id.clone(), arguments.number.to_string())
                })
                .collect();
            request = request.append_message(ChatMessage::from(calls));
            for result in results {
                request = request.append_message(result);
            }
        }
    }
}
