//! Enablement rows of hosts that share a database.

use std::time::{Duration, Instant};

use test_support::Ran;
use test_support::postgres::database;
use tool_core::prelude::*;
use tool_core::store::InstanceId;
use tool_core::{InstanceRules, Layer};
use tool_store::{PostgresOptions, PostgresStore};

/// Looks.
#[tool(read_only)]
async fn look() -> &'static str {
    "nothing"
}

/// Waits until a condition holds, for at most a second, and returns the elapsed time.
async fn within_a_second(mut holds: impl AsyncFnMut() -> bool) -> Duration {
    let began = Instant::now();
    while !holds().await {
        assert!(
            began.elapsed() < Duration::from_secs(1),
            "the change did not take effect within a second"
        );
        tokio::time::sleep(Duration::from_millis(1)).await;
    }
    began.elapsed()
}

// S1-36: a row that one host changes takes effect in another host within a second, in a new turn and in a turn that runs, with and without
// notifications.
pub(crate) async fn enablement_reaches_another_host_within_a_second_case() -> Ran {
    let url = database().await?;
    let one = PostgresStore::open(&url).await.unwrap();
    let registry = Registry::builder().tool::<look>().boot(&one).await.unwrap();
    let one = InstanceRules::open(one).await.unwrap();
    let options = || PostgresOptions::new(&url).unwrap();
    // The options have a migrator but no listener, so no notification is received.
    let polling = options().migrator(&url).unwrap().unprepared(true);
    let support = InstanceId::new("acme", "support");
    let cx = ToolContext::anonymous();
    for (options, is_notified) in [(polling, false), (options(), true)] {
        let other = InstanceRules::open(options.open().await.unwrap());
        let other = other.await.unwrap();
        let turn = async || registry.toolset(&cx, &other.rules(&support).await.unwrap());
        let mut early = 0;
        for _ in 0..5 {
            assert_eq!(turn().await.names().count(), 0);
            one.enable(&support, "look", "olga").await.unwrap();
            within_a_second(async || turn().await.names().count() == 1).await;
            let running = turn().await;
            let call = async || running.call(ToolCall::new("c-1", "look", "{}"), &cx).await;
            assert!(!call().await.is_error());
            one.disable(&support, "look", "olga").await.unwrap();
            let took = within_a_second(async || call().await.is_error()).await;
            early += u32::from(took < Duration::from_millis(50));
            assert_eq!(running.explain("look").layer(), Some(Layer::Enablement));
        }
        assert!(
            !is_notified || early >= 3,
            "only {early} of 5 changes took effect within 50 ms"
        );
    }
    Ok(())
}
