//! The instructions of one additional step of a run, with `Turns` and with `AgentRuntime`, in threads of different lengths.

use std::future::ready;
use std::hint::black_box;
use std::process::Command;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use futures::future::BoxFuture;
use tokio::runtime::{Builder, Runtime};
use tool_agent::agent::Agent;
use tool_agent::runtime::{AgentEntry, AgentRuntime};
use tool_core::prelude::*;
use tool_core::store::MemoryStore;
use tool_core::turn::{Model, ModelMessage, ModelRequest, Outcome, Turns};
use tool_core::{Audit, Gate, Sweeper};

/// Reads one page of a book.
#[tool(read_only)]
async fn page(
    /// The number of the page.
    number: u32,
) -> u32 {
    number
}

/// A model that makes `left` calls of the tool, and then answers.
#[derive(Clone, Default)]
struct Script {
    left: Arc<AtomicUsize>,
}

impl Model for Script {
    fn next<'a>(&'a mut self, _: ModelRequest<'a>) -> BoxFuture<'a, Result<ModelMessage, ToolError>> {
        let before = self.left.load(Ordering::Relaxed);
        let Some(left) = before.checked_sub(1) else {
            return Box::pin(ready(Ok(ModelMessage::text("done"))));
        };
        self.left.store(left, Ordering::Relaxed);
        let call = ToolCall::new(format!("call_{left}"), "page", r#"{"number":7}"#);
        Box::pin(ready(Ok(ModelMessage::calls([call]))))
    }
}

/// The two loops that are compared, on one gate and one store each.
enum Loop {
    Turns(Box<(Turns, Toolset)>),
    Runtime(AgentRuntime),
}

struct Bench {
    driver: Loop,
    turns: Turns,
    model: Script,
    cx: ToolContext,
}

impl Bench {
    fn new(which: &str) -> Self {
        let store = MemoryStore::default();
        let gate = Gate::builder().ledger(store.clone()).audit(Audit::required(store.clone())).sweeper(Sweeper::off()).build();
        let turns = Turns::new(store.clone()).most_steps(u32::MAX);
        let model = Script::default();
        let driver = if which == "turns" {
            Loop::Turns(Box::new((turns.clone(), toolset![page].through(&gate))))
        } else {
            let agent = Agent::builder("reader", model.clone()).tools(|_| toolset![page]).most_steps(u32::MAX);
            let runtime = AgentRuntime::builder(turns.clone(), &gate).agent(AgentEntry::new(agent.build().expect("an agent")));
            let runtime = match which {
                "observed" => runtime.observe(|event| { black_box(event.kind.name()); }),
                "stored" => runtime.events(store),
                _ => runtime,
            };
            Loop::Runtime(runtime.build().expect("a runtime"))
        };
        let cx = ToolContext::builder().workspace("acme").user("ann").conversation("main").build();
        Self { driver, turns, model, cx }
    }

    async fn say(&self, text: &str) {
        self.turns.say(text, &self.cx).await.expect("stored");
    }

    async fn drive(&self, steps: usize) {
        self.model.left.store(steps, Ordering::Relaxed);
        let outcome = match &self.driver {
            Loop::Turns(parts) => {
                let (turns, tools) = &**parts;
                turns.drive(&mut self.model.clone(), |_| tools.clone(), &self.cx).await.expect("an outcome")
            }
            Loop::Runtime(runtime) => runtime.drive("reader", &self.cx).await.expect("an outcome"),
        };
        assert!(matches!(outcome, Outcome::Answered(_)), "{outcome:?}");
    }
}

pub(crate) fn run(which: &str, messages: usize, steps: usize) {
    let runtime = Builder::new_current_thread().enable_time().build().expect("a runtime");
    let bench = Bench::new(which);
    runtime.block_on(async {
        // The thread repeats a user's message, calls with their results, and an answer, until it has the
        // wanted length.
        let mut stored = 0;
        while stored < messages {
            let calls = ((messages - stored).saturating_sub(2) / 2).min(9);
            bench.say("Read the pages.").await;
            bench.drive(calls).await;
            stored += 2 + 2 * calls;
        }
        bench.say("Read more pages.").await;
    });
    counted_region(&runtime, &bench, steps);
}

#[inline(never)]
fn counted_region(runtime: &Runtime, bench: &Bench, steps: usize) {
    runtime.block_on(bench.drive(steps));
}

pub(crate) fn report() {
    println!("| messages | loop | instructions of a step | times `Turns` |");
    println!("|---|---|---|---|");
    for messages in [40, 4_000] {
        let mut floor = None;
        for which in ["turns", "runtime", "observed", "stored"] {
            let [few, many] = [10, 110].map(|steps| instructions(which, messages, steps));
            let step = (many - few) / 100;
            #[expect(clippy::cast_precision_loss, reason = "a ratio to print")]
            let ratio = step as f64 / *floor.get_or_insert(step) as f64;
            println!("| {messages} | {which} | {step} | {ratio:.3} |");
        }
    }
}

fn instructions(which: &str, messages: usize, steps: usize) -> u64 {
    let output = Command::new("valgrind")
        .args(["--tool=callgrind", "--callgrind-out-file=/dev/null"])
        .args(["--collect-atstart=no", "--toggle-collect=agents::step::counted_region"])
        .arg(std::env::current_exe().expect("path"))
        .args(["step", which, &messages.to_string(), &steps.to_string()])
        .output()
        .expect("valgrind");
    let text = String::from_utf8_lossy(&output.stderr).into_owned();
    let collected = text.lines().find_map(|line| line.split_once("Collected : "));
    collected.unwrap_or_else(|| panic!("no count: {text}")).1.trim().parse().expect("a number")
}
