//! Binary that runs one benchmark scenario a given number of times. Callgrind counts its instructions, and the allocator counts its allocations.
//!
//! `dispatch <library> <hits> <tools> <calls>`; the binary `report` runs the scenarios and prints the tables.

use std::{
    hint::black_box,
    time::Instant,
};

use benches::{
    counting::{self, Counting},
    floor, ours, work,
};
use tool_core::prelude::*;

#[global_allocator]
static ALLOCATOR: Counting<false> = Counting;

fn main() {
    let mut words = std::env::args().skip(1);
    let who = words.next().expect("a scenario");
    let mut number = || words.next().and_then(|word| word.parse::<usize>().ok()).expect("a number");
    let (hits, tools, calls) = (number(), number(), number());
    let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().expect("runtime");
    let _entered = runtime.enter();
    let arguments = work::arguments(u32::try_from(hits).expect("hits"));
    // The text of the arguments is created before the measurement. The measurement includes the library's conversion of this text.
    let text = || arguments.as_str();
    match who.as_str() {
        "floor" => measure(&runtime, calls, |_| text(), async |text| floor::call(black_box(text))),
        "tool-core" | "tool-core-deadline" => {
            let toolset = many(tools).open();
            let mut context = ToolContext::builder();
            if who.ends_with("deadline") {
                context = context.deadline(std::time::Duration::from_secs(60));
            }
            let context = context.build();
            let made = |_| ToolCall::new("call_1", "search", text());
            measure(&runtime, calls, made, async |call| toolset.call(black_box(call), &context).await.model_text());
        }
        // A background task writes the audit rows, as in a host. With `flushed`, the benchmark writes them between the calls instead.
        "tool-core-gate" | "tool-core-gate-flushed" => {
            let (toolset, context) = ours::gated(&many(tools), true);
            let buffer = toolset.gate().and_then(|gate| gate.audit().buffer()).expect("an audit").clone();
            let made = |i| ToolCall::new(format!("call_{i}"), "search", text());
            let flushed = who.ends_with("flushed");
            measure(&runtime, calls, made, async |call| {
                let text = toolset.call(black_box(call), &context).await.model_text();
                if flushed && buffer.waiting() >= 10 {
                    buffer.flush().await.expect("written");
                }
                text
            });
        }
        "tool-core-gate-unaudited" => {
            let (toolset, context) = ours::gated(&many(tools), false);
            let made = |_| ToolCall::new("call_1", "search", text());
            measure(&runtime, calls, made, async |call| toolset.call(black_box(call), &context).await.model_text());
        }
        #[cfg(feature = "peers")]
        "rmcp" | "rmcp-default" => {
            let host = benches::peers::rmcp::Host::new();
            measure(&runtime, calls, |_| text(), async |text| host.call(black_box(text), who == "rmcp-default").await);
        }
        #[cfg(feature = "peers")]
        "rig" => {
            let host = benches::peers::rig::Host::new(tools);
            measure(&runtime, calls, |_| text().to_owned(), async |text| host.call(black_box(text)).await);
        }
        #[cfg(feature = "peers")]
        "swiftide" => {
            let host = benches::peers::swiftide::Host::new(tools);
            let made = |_| benches::peers::swiftide::ready(text().to_owned());
            measure(&runtime, calls, made, async |call| host.call(black_box(call)).await);
        }
        other => panic!("unknown scenario `{other}`"),
    }
}

/// Returns a registry of tool-core with the benchmarked tool among `tools` tools.
fn many(tools: usize) -> Registry {
    let mut builder = Registry::builder().tool::<ours::search>();
    for i in 1..tools {
        builder = builder.dynamic(ours::twin(i));
    }
    builder.build().expect("registry")
}

fn measure<T>(runtime: &tokio::runtime::Runtime, calls: usize, make: impl Fn(usize) -> T, call: impl AsyncFn(T) -> String) {
    let text = runtime.block_on(call(make(0)));
    assert!(text.contains("example.org"), "{text}");
    let before = counting::allocations();
    let start = Instant::now();
    counted_region(runtime, calls, &make, &call);
    let nanos = start.elapsed().as_nanos();
    let allocations = counting::allocations() - before;
    let calls = calls.max(1);
    println!("{} {}", allocations / calls as u64, nanos / calls as u128);
}

/// Makes the calls. Callgrind counts only the instructions of this function, see `report`.
#[inline(never)]
fn counted_region<T>(runtime: &tokio::runtime::Runtime, calls: usize, make: &impl Fn(usize) -> T, call: &impl AsyncFn(T) -> String) {
    runtime.block_on(async {
        for number in 1..=calls {
            black_box(call(make(number)).await);
        }
    });
}
