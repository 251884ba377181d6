//! The time from the provider's first byte of a text to the first event of the runtime.

use std::sync::{Arc, Mutex};

use tool_agent::agent::Agent;
use tool_agent::model::{Endpoint, HttpModel};
use tool_agent::runtime::{AgentEntry, AgentEventKind, AgentRuntime};
use tool_core::store::MemoryStore;
use tool_core::turn::Turns;
use tool_core::{Gate, ToolContext, toolset};

use crate::provider::Provider;
use crate::turns::page;
use crate::{monotonic, percentiles, two_threads};

pub(crate) fn report(count: usize) {
    let provider = Provider::start();
    let times = Arc::new(Mutex::new(Vec::new()));
    let seen = Arc::clone(&times);
    let model = HttpModel::builder(Endpoint::compatible(&provider.url), "m").build().expect("a model");
    let agent = Agent::builder("reader", model).tools(|_| toolset![page]).build().expect("an agent");
    let runtime = AgentRuntime::builder(Turns::new(MemoryStore::default()), &Gate::builder().build())
        .agent(AgentEntry::new(agent))
        .observe(move |event| {
            let now = monotonic();
            // The first piece of a text is the time at which the provider wrote it.
            if let AgentEventKind::Text { delta } = &event.kind
                && let Ok(written) = delta.trim().parse::<u64>()
            {
                seen.lock().expect("no panic").push(now - written);
            }
        })
        .build()
        .expect("a runtime");
    two_threads().block_on(async {
        for number in 0..count {
            let cx = ToolContext::builder().workspace("acme").user("ann").conversation(format!("c-{number}")).build();
            runtime.respond("reader", "Read page 7.", &cx).await.expect("an outcome");
        }
    });
    let times = std::mem::take(&mut *times.lock().expect("no panic"));
    assert_eq!(times.len(), count);
    let [median, high] = percentiles(times);
    println!("first byte to first event, {count} replies: median {} µs, 99th percentile {} µs", median / 1_000, high / 1_000);
}
