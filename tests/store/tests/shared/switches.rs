//! Kill switches of hosts that share a database.

use std::time::{Duration, Instant};

use test_support::Ran;
use test_support::postgres::{Proxy, database, server};
use tool_core::prelude::*;
use tool_core::{ErrorKind, Gate, Rules, Switches};
use tool_store::{PostgresOptions, PostgresStore};

/// Sends a letter.
#[tool]
async fn post(
    /// The time until the tool returns, in milliseconds.
    millis: u64,
) -> u64 {
    tokio::time::sleep(Duration::from_millis(millis)).await;
    millis
}

/// Returns its argument.
#[tool(read_only)]
async fn look(
    /// The number to return.
    at: u64,
) -> u64 {
    at
}

/// A host with its own gate and its own view of the switches.
struct Host {
    switches: Switches,
    gate: Gate,
}

impl Host {
    async fn new(store: PostgresStore) -> Self {
        Self {
            gate: Gate::builder().ledger(store.clone()).build(),
            switches: Switches::open(store).await.unwrap(),
        }
    }

    fn cx() -> ToolContext {
        let cx = ToolContext::builder().workspace("acme").user("ann");
        cx.build()
    }

    fn tools(&self) -> Toolset {
        let rules = Rules::default().switches(&self.switches);
        let registry = Registry::builder().tool::<post>().tool::<look>();
        let registry = registry.build().unwrap();
        registry.toolset(&Self::cx(), &rules).through(&self.gate)
    }
}

fn post_for(millis: u64) -> ToolCall {
    ToolCall::new("c", "post", format!(r#"{{"millis":{millis}}}"#))
}

/// Returns the time until `other` applies a kill switch that `one` sets.
async fn time_to_apply(one: &Host, other: &Host, tool: &str) -> Duration {
    one.switches.kill(tool, None, "olga", None).await.unwrap();
    let began = Instant::now();
    while !other.switches.is_killed(tool, "acme") {
        assert!(
            began.elapsed() < Duration::from_secs(1),
            "`{tool}` is not killed"
        );
        tokio::time::sleep(Duration::from_millis(1)).await;
    }
    began.elapsed()
}

// A switch applies in all hosts within a second with notifications, without notifications, and with a half-open connection of the listener.
pub(crate) async fn kill_switch_reaches_another_host_within_a_second_case() -> Ran {
    let url = database().await?;
    let proxy = Proxy::start(server()?.address()).await;
    let one = Host::new(PostgresStore::open(&url).await.unwrap()).await;
    let options = || PostgresOptions::new(&url).unwrap();
    let polling = options().migrator(&url).unwrap().unprepared(true);
    let polling = Host::new(polling.open().await.unwrap()).await;
    let notified = options().listener(&proxy.url(&url)).unwrap();
    let notified = Host::new(notified.open().await.unwrap()).await;
    let mut early = 0;
    for round in 0..10 {
        time_to_apply(&one, &polling, &format!("polled {round}")).await;
        let took = time_to_apply(&one, &notified, &format!("notified {round}")).await;
        early += u32::from(took < Duration::from_millis(50));
    }
    assert!(
        early > 5,
        "only {early} of 10 switches applied within 50 ms"
    );
    proxy.half_open();
    for round in 0..5 {
        time_to_apply(&one, &notified, &format!("half open {round}")).await;
    }
    Ok(())
}

pub(crate) async fn kill_switch_cancels_a_call_of_another_host_case() -> Ran {
    let url = database().await?;
    let one = Host::new(PostgresStore::open(&url).await.unwrap()).await;
    let other = Host::new(PostgresStore::open(&url).await.unwrap()).await;
    let (tools, cx) = (other.tools(), Host::cx());
    let began = Instant::now();
    let (result, ()) = tokio::join!(tools.call(post_for(20_000), &cx), async {
        tokio::time::sleep(Duration::from_millis(300)).await;
        one.switches.kill("post", None, "olga", None).await.unwrap();
    });
    assert!(result.is_error());
    assert!(
        began.elapsed() < Duration::from_secs(5),
        "{:?}",
        began.elapsed()
    );
    Ok(())
}

// A host that cannot read the switches for a second refuses calls with effects, still runs reads, and recovers when the database responds.
pub(crate) async fn host_that_cannot_read_the_switches_refuses_effects_case() -> Ran {
    let url = database().await?;
    let proxy = Proxy::start(server()?.address()).await;
    let options = PostgresOptions::new(&proxy.url(&url)).unwrap();
    let options = options.migrator(&url).unwrap().listener(&url).unwrap();
    let store = options
        .patience(Duration::from_secs(2))
        .open()
        .await
        .unwrap();
    let host = Host::new(store).await;
    let (tools, cx) = (host.tools(), Host::cx());
    assert!(!tools.call(post_for(0), &cx).await.is_error());

    proxy.freeze(true);
    tokio::time::sleep(Duration::from_millis(2_200)).await;
    let refused = tools.call(post_for(0), &cx).await;
    let kind = refused.error().map(ToolError::kind);
    assert_eq!(kind, Some(ErrorKind::Unavailable), "{refused:?}");
    let looked = tools
        .call(ToolCall::new("c", "look", r#"{"at":1}"#), &cx)
        .await;
    assert!(!looked.is_error(), "{looked:?}");

    proxy.freeze(false);
    let began = Instant::now();
    while tools.call(post_for(0), &cx).await.is_error() {
        assert!(
            began.elapsed() < Duration::from_secs(20),
            "the host did not recover"
        );
        tokio::time::sleep(Duration::from_millis(100)).await;
    }
    Ok(())
}
