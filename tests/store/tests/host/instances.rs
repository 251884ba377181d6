//! Enablement in a file that several processes open.

use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use tool_core::prelude::*;
use tool_core::store::{EnablementStore as _, InstanceId, Timestamp};
use tool_core::{InstanceRules, Layer};
use tool_store::SqliteStore;

const FILE: &str = "STORE_TESTS_ENABLED_FILE";

/// Looks around, for this test.
#[tool(read_only)]
async fn look() -> &'static str {
    "nothing"
}

fn own() -> InstanceId {
    InstanceId::new("acme", "support")
}

/// Runs in the child process: enables the tool, or disables it if it is enabled.
#[tokio::test]
#[ignore = "another test starts it as a child process"]
async fn child() {
    let Ok(file) = std::env::var(FILE) else {
        return;
    };
    let store = SqliteStore::open(file).await.unwrap();
    let now = Timestamp::now();
    if store.rows(&own()).await.unwrap().is_empty() {
        store.enable(&own(), "look", "olga", now).await.unwrap();
    } else {
        store.disable(&own(), "look", "olga").await.unwrap();
    }
    store.close().await;
}

/// Runs the child process. Returns the time at which it ended.
fn change_elsewhere(file: &std::path::Path) -> Instant {
    let done = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "instances::child", "--ignored"])
        .env(FILE, file)
        .stdout(Stdio::null())
        .status()
        .unwrap();
    assert!(done.success());
    Instant::now()
}

// S1-36: a row that one process changes takes effect in another process within a second, in a new turn and in a turn that runs.
#[tokio::test(flavor = "multi_thread")]
async fn row_of_another_process_takes_effect_within_a_second() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("state.db");
    let store = SqliteStore::open(&file).await.unwrap();
    let registry = Registry::builder()
        .tool::<look>()
        .boot(&store)
        .await
        .unwrap();
    let instances = InstanceRules::open(store).await.unwrap();
    let cx = ToolContext::anonymous();
    let turn = async || registry.toolset(&cx, &instances.rules(&own()).await.unwrap());
    assert_eq!(turn().await.names().count(), 0);

    let stored = change_elsewhere(&file);
    while turn().await.names().count() == 0 {
        assert!(stored.elapsed() < Duration::from_secs(1));
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    let running = turn().await;
    let call = async || running.call(ToolCall::new("c-1", "look", "{}"), &cx).await;
    assert!(!call().await.is_error());

    let stored = change_elsewhere(&file);
    while !call().await.is_error() {
        assert!(stored.elapsed() < Duration::from_secs(1));
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    assert_eq!(running.explain("look").layer(), Some(Layer::Enablement));
    assert_eq!(turn().await.names().count(), 0);
}

// S1-41, S1-42, S1-44: after a restart without a tool, its entry and its rows are removed from the file, and the row of an agent is kept.
#[tokio::test]
async fn restart_without_a_tool_removes_its_rows_from_the_file() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("state.db");
    let store = SqliteStore::open(&file).await.unwrap();
    Registry::builder()
        .tool::<look>()
        .boot(&store)
        .await
        .unwrap();
    for tool in ["look", "agent:law"] {
        store
            .enable(&own(), tool, "olga", Timestamp::now())
            .await
            .unwrap();
    }
    store.close().await;
    let store = SqliteStore::open(&file).await.unwrap();
    let (_, report) = Registry::builder().boot_reported(&store).await.unwrap();
    assert_eq!(
        (
            report.removed[0].name.as_str(),
            report.removed[0].rows.len()
        ),
        ("look", 1)
    );
    let rows = store.rows(&own()).await.unwrap();
    assert_eq!((rows.len(), rows[0].tool.as_str()), (1, "agent:law"));
}
