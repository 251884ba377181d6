//! One scenario, run a given number of times: callgrind counts its instructions, the allocator here its allocations.
//!
//! `dispatch <who> <hits> <tools> <calls>`; `report` (beside this) runs all and prints the table.

use std::{
    alloc::{GlobalAlloc, Layout, System},
    hint::black_box,
    sync::atomic::{AtomicU64, Ordering},
    time::Instant,
};

use benches::{floor, ours, work};
use tool_core::prelude::*;

struct Counting;

static ALLOCATIONS: AtomicU64 = AtomicU64::new(0);

// SAFETY: passes every call on to the system's allocator.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        ALLOCATIONS.fetch_add(1, Ordering::Relaxed);
        unsafe { System.alloc(layout) }
    }
    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        unsafe { System.dealloc(pointer, layout) }
    }
    unsafe fn realloc(&self, pointer: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        ALLOCATIONS.fetch_add(1, Ordering::Relaxed);
        unsafe { System.realloc(pointer, layout, size) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

fn main() {
    let mut words = std::env::args().skip(1);
    let who = words.next().expect("who");
    let mut number = || words.next().and_then(|word| word.parse::<usize>().ok()).expect("a number");
    let (hits, tools, calls) = (number(), number(), number());
    let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().expect("runtime");
    runtime.block_on(run(&who, hits, tools, calls));
}

async fn run(who: &str, hits: usize, tools: usize, calls: usize) {
    let arguments = work::arguments(u32::try_from(hits).expect("hits"));
    match who {
        "floor" => measure(calls, async || floor::call(black_box(&arguments))).await,
        "tool-core" | "tool-core-deadline" => {
            let toolset = many(tools);
            let mut context = ToolContext::builder();
            if who.ends_with("deadline") {
                context = context.deadline(std::time::Duration::from_secs(60));
            }
            let context = context.build();
            let call = async || {
                let call = ToolCall::new("call_1", "search", arguments.as_str());
                toolset.call(black_box(call), &context).await.model_text()
            };
            measure(calls, call).await;
        }
        #[cfg(feature = "peers")]
        "rmcp" | "rmcp-default" => {
            let host = benches::peers::rmcp::Host::new();
            measure(calls, async || host.call(black_box(&arguments), who == "rmcp-default").await).await;
        }
        #[cfg(feature = "peers")]
        "rig" => {
            let host = benches::peers::rig::Host::new(tools);
            measure(calls, async || host.call(black_box(arguments.clone())).await).await;
        }
        #[cfg(feature = "peers")]
        "swiftide" => {
            let host = benches::peers::swiftide::Host::new(tools);
            measure(calls, async || host.call(black_box(arguments.clone())).await).await;
        }
        other => panic!("unknown scenario `{other}`"),
    }
}

/// Tool-core with the bench tool among `tools`.
fn many(tools: usize) -> Toolset {
    let mut builder = Registry::builder().tool::<ours::search>();
    for i in 1..tools {
        builder = builder.dynamic(ours::twin(i));
    }
    builder.build().expect("registry").open()
}

async fn measure(calls: usize, call: impl AsyncFn() -> String) {
    let text = call().await;
    assert!(text.contains("example.org"), "{text}");
    let allocations = ALLOCATIONS.load(Ordering::Relaxed);
    let start = Instant::now();
    for _ in 0..calls {
        black_box(call().await);
    }
    let nanos = start.elapsed().as_nanos();
    let allocations = ALLOCATIONS.load(Ordering::Relaxed) - allocations;
    let calls = calls.max(1);
    println!("{} {}", allocations / calls as u64, nanos / calls as u128);
}
