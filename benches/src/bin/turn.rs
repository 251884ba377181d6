//! The cost of one step of a run in threads of different lengths, without the model's request.
//!
//! `turn <messages> <steps>` drives a thread of that many messages for that many steps, each with a call of a read-only tool; callgrind counts
//! the instructions inside `counted_region`. `turn` alone counts threads of 40 and of 4,000 messages and prints the table of README.md.

use std::future::ready;
use std::process::Command;

use futures::future::BoxFuture;
use tool_core::prelude::*;
use tool_core::store::MemoryStore;
use tool_core::turn::{Model, ModelMessage, Outcome, ModelRequest, Turns};
use tool_core::{Audit, Gate, Sweeper};

/// Reads one page of a book.
#[tool(read_only)]
async fn page(
    /// The number of the page.
    number: u32,
) -> u32 {
    number
}

struct Script(usize);

impl Model for Script {
    fn next<'a>(&'a mut self, _: ModelRequest<'a>) -> BoxFuture<'a, Result<ModelMessage, ToolError>> {
        let Some(left) = self.0.checked_sub(1) else {
            return Box::pin(ready(Ok(ModelMessage::text("done"))));
        };
        self.0 = left;
        let call = ToolCall::new(format!("call_{left}"), "page", r#"{"number":7}"#);
        Box::pin(ready(Ok(ModelMessage::calls([call]))))
    }
}

fn main() {
    let mut numbers = std::env::args().skip(1).map(|word| word.parse().expect("a number"));
    match (numbers.next(), numbers.next()) {
        (Some(messages), Some(steps)) => run(messages, steps),
        _ => report(),
    }
}

fn run(messages: usize, steps: usize) {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().expect("a runtime");
    let store = MemoryStore::default();
    let gate = Gate::builder().ledger(store.clone()).audit(Audit::required(store.clone())).sweeper(Sweeper::off()).build();
    let tools = toolset![page].through(&gate);
    let turns = Turns::new(store).most_steps(u32::MAX);
    let cx = ToolContext::builder().workspace("acme").user("ann").conversation("main").build();
    runtime.block_on(async {
        // The thread repeats a user's message, calls with their results, and an answer, until it has the
        // wanted length.
        let mut stored = 0;
        while stored < messages {
            let calls = ((messages - stored).saturating_sub(2) / 2).min(9);
            turns.say("Read the pages.", &cx).await.expect("stored");
            drive(&turns, calls, &tools, &cx).await;
            stored += 2 + 2 * calls;
        }
        turns.say("Read more pages.", &cx).await.expect("stored");
    });
    counted_region(&runtime, &turns, steps, &tools, &cx);
}

async fn drive(turns: &Turns, steps: usize, tools: &Toolset, cx: &ToolContext) {
    let outcome = turns.drive(&mut Script(steps), |_| tools.clone(), cx).await;
    assert!(matches!(outcome, Ok(Outcome::Answered(_))), "{outcome:?}");
}

#[inline(never)]
fn counted_region(runtime: &tokio::runtime::Runtime, turns: &Turns, steps: usize, tools: &Toolset, cx: &ToolContext) {
    runtime.block_on(drive(turns, steps, tools, cx));
}

fn report() {
    println!("| messages | instructions of a step | times |");
    println!("|---|---|---|");
    let mut first = None;
    for messages in [40, 4_000] {
        let [few, many] = [10, 110].map(|steps| instructions(messages, steps));
        let step = (many - few) / 100;
        #[expect(clippy::cast_precision_loss, reason = "a ratio to print")]
        let ratio = step as f64 / *first.get_or_insert(step) as f64;
        println!("| {messages} | {step} | {ratio:.2} |");
    }
}

fn instructions(messages: usize, steps: usize) -> u64 {
    let output = Command::new("valgrind")
        .args(["--tool=callgrind", "--callgrind-out-file=/dev/null"])
        .args(["--collect-atstart=no", "--toggle-collect=turn::counted_region"])
        .arg(std::env::current_exe().expect("path"))
        .args([messages.to_string(), steps.to_string()])
        .output()
        .expect("valgrind");
    let text = String::from_utf8_lossy(&output.stderr).into_owned();
    let collected = text.lines().find_map(|line| line.split_once("Collected : ")).expect("a count");
    collected.1.trim().parse().expect("a number")
}
