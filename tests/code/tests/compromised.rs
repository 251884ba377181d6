//! Tests that the kernel denies files, network and threads to a compromised engine process.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::process::ExitCode;
use std::time::Duration;

use serde_json::Value;
use tempfile::TempDir;
use test_support::{Missing, Ran, suite};
use tool_code::{Code, Limits};
use tool_core::prelude::*;
use tool_isolate::Isolation;

fn main() -> ExitCode {
    suite![
        compromised_engine_has_no_file_access_case,
        compromised_engine_has_no_network_access_case,
        compromised_engine_starts_few_threads_case,
    ]
    .run()
}

fn isolation() -> Isolation {
    Isolation::new().helper(env!("CARGO_BIN_EXE_compromised-engine"))
}

async fn needs(item: &str) -> Ran {
    let report = isolation().report().await.unwrap();
    let mechanism = &report.item(item).unwrap().mechanism;
    if mechanism.starts_with("none") {
        return Err(Missing::new(format_args!("{item}: {mechanism}")));
    }
    Ok(())
}

/// Runs the compromised engine with this folder and this port, and returns which attempts succeeded.
async fn attempts(folder: &TempDir, port: u16) -> Value {
    std::fs::write(folder.path().join("secret"), "secret").unwrap();
    let limits = Limits {
        time: Duration::from_mins(1),
        ..Limits::default()
    };
    let setup = Code::builder()
        .isolation(isolation())
        .limits(limits)
        .build()
        .unwrap();
    let done = r#"{"done":{"status":"success","result":1,"error":null,"logs_dropped":0}}"#;
    let code = format!("try {} {port}\nsay {done}", folder.path().display());
    let run = setup.start(&code, &toolset![], &ToolContext::anonymous());
    let result = run.finish().await.unwrap();
    serde_json::from_str(result.reports[0].get()).unwrap()
}

// S4-05, S4-06: a compromised engine cannot read, write or execute files.
async fn compromised_engine_has_no_file_access_case() -> Ran {
    needs("files").await?;
    let folder = tempfile::tempdir().unwrap();
    let can = attempts(&folder, 1).await;
    for attempt in ["reads", "lists", "writes", "changes", "starts"] {
        assert_eq!(can[attempt], false, "{attempt}: {can}");
    }
    assert!(!folder.path().join("new").exists());
    Ok(())
}

// S4-05, S4-06: a compromised engine cannot open a network connection.
async fn compromised_engine_has_no_network_access_case() -> Ran {
    needs("network off").await?;
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    let can = attempts(&tempfile::tempdir().unwrap(), port).await;
    assert_eq!(can["connects"], false, "{can}");
    Ok(())
}

// S4-05, S4-06: a compromised engine can start only a few threads.
async fn compromised_engine_starts_few_threads_case() -> Ran {
    needs("processes").await?;
    let can = attempts(&tempfile::tempdir().unwrap(), 1).await;
    assert!(can["threads"].as_u64() < Some(16), "{can}");
    Ok(())
}
