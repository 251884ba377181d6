//! Test that engine processes end with their run. It is a separate program, because no other test may start an engine at the same time.

#![cfg(target_os = "linux")]
#![allow(
    clippy::unwrap_used,
    clippy::panic,
    reason = "a test fails by panicking"
)]

use std::path::Path;
use std::time::Duration;

use tool_code::{Code, Limits, Status};
use tool_core::prelude::*;
use tool_isolate::Isolation;

const HOST: &str = env!("CARGO_BIN_EXE_code-host");

/// Lists the running processes of the engine's binary.
fn left() -> Vec<String> {
    let processes = std::fs::read_dir("/proc").unwrap().filter_map(Result::ok);
    processes
        .map(|entry| entry.path())
        .filter(|path| std::fs::read_link(path.join("exe")).is_ok_and(|exe| exe == Path::new(HOST)))
        .map(|path| path.display().to_string())
        .collect()
}

/// Waits until an engine process runs.
async fn begun() {
    while left().is_empty() {
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
}

async fn all_gone(after: &str) {
    for _ in 0..2000 {
        if left().is_empty() {
            return;
        }
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    assert_eq!(left(), Vec::<String>::new(), "{after}");
}

// S4-06: no engine process remains after a run, no matter how the run ends.
#[tokio::test]
async fn no_process_outlives_its_run() {
    let limits = Limits {
        time: Duration::from_millis(800),
        ..Limits::default()
    };
    let isolation = Isolation::new().helper(HOST);
    let setup = Code::builder()
        .isolation(isolation)
        .limits(limits)
        .build()
        .unwrap();
    let (tools, cx) = (toolset![], ToolContext::anonymous());
    let native = "new Array(2 ** 32 - 1).join('')";
    // A remaining process may exit just before the check, so short runs are repeated.
    for (code, times) in [
        ("return 1", 20),
        ("throw 1", 20),
        ("for (;;);", 1),
        (native, 1),
        ("const a = []; for (;;) a.push([0])", 1),
    ] {
        for _ in 0..times {
            setup.start(code, &tools, &cx).finish().await.unwrap();
            assert_eq!(left(), Vec::<String>::new(), "{code}");
        }
    }
    // In the rest of the test, no run exceeds its time limit, even on a slow machine.
    let isolation = Isolation::new().helper(HOST);
    let limits = Limits {
        time: Duration::from_mins(10),
        ..Limits::default()
    };
    let setup = Code::builder()
        .isolation(isolation)
        .limits(limits)
        .build()
        .unwrap();
    // The future of a run is dropped while the run is active.
    for code in ["for (;;);", native] {
        tokio::select! {
            result = setup.start(code, &tools, &cx).finish() => panic!("{code}: {result:?}"),
            () = begun() => {}
        }
        all_gone(code).await;
    }
    // The caller terminates the run.
    let run = setup.start(native, &tools, &cx);
    let handle = run.handle();
    let (result, ()) = tokio::join!(run.finish(), async {
        begun().await;
        handle.terminate("enough");
    });
    assert_eq!(result.unwrap().status, Status::Terminated);
    assert_eq!(left(), Vec::<String>::new());
}
