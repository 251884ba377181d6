//! Resuming a message in another process, after the first process died between two calls of the message or during the second call.

use std::fs::OpenOptions;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use tool_core::prelude::*;
use tool_core::store::{Role, ThreadId, ThreadStore};
use tool_core::turn::{ModelMessage, Outcome, Turns};
use tool_core::{Effect, Gate};
use tool_store::SqliteStore;

use crate::support::Script;

const JOB: &str = "TOOL_STORE_TEST_RESUMED";

/// The file in which the tool records the start of its effects. The stores do not use this file.
#[derive(Clone)]
struct Effects {
    file: PathBuf,
    /// The number of the call in which the process dies.
    dies_at: Option<u32>,
}
tool_core::host_value!(Effects, Effect::WRITE);

impl Effects {
    fn of(folder: &Path) -> Self {
        Self {
            file: folder.join("effects"),
            dies_at: None,
        }
    }

    fn begun(&self) -> Vec<String> {
        let text = std::fs::read_to_string(&self.file).unwrap_or_default();
        text.lines().map(str::to_owned).collect()
    }
}

/// Has an effect that must not be repeated.
#[tool]
async fn act(
    effects: &Effects,
    /// The number of the call.
    number: u32,
) -> Result<String, ToolError> {
    let mut file = OpenOptions::new()
        .create(true)
        .append(true)
        .open(&effects.file)?;
    file.write_all(format!("{number}\n").as_bytes())?;
    file.sync_all()?;
    if effects.dies_at == Some(number) {
        std::process::abort();
    }
    Ok(format!("did {number}"))
}

fn script() -> Script {
    let call = |number: u32| {
        let arguments = format!(r#"{{"number":{number}}}"#);
        ToolCall::new(format!("call_{number}"), "act", arguments)
    };
    Script::new(vec![ModelMessage::calls([call(1), call(2)])])
}

/// Drives the thread of a folder. `end` is the name of the point at which the process dies; empty if it survives.
async fn drive(folder: &Path, ledger: bool, end: &str) -> (Outcome, usize) {
    let store = SqliteStore::open(folder.join("state.db")).await.unwrap();
    let mut tools = toolset![act];
    if ledger {
        tools = tools.through(&Gate::builder().ledger(store.clone()).build());
    }
    let effects = Effects {
        dies_at: (end == "in the second call").then_some(2),
        ..Effects::of(folder)
    };
    let cx = ToolContext::builder()
        .workspace("acme")
        .conversation("main")
        .with(effects)
        .build();
    let dies = end == "after the first result";
    // The process that continues waits until the lease of the dead process has expired.
    let lease = Duration::from_secs(1);
    let turns = Turns::new(store.clone())
        .lease(lease)
        .observe(move |message| {
            if dies && message.id == "call_1" {
                std::process::abort();
            }
        });
    let mut model = script();
    let outcome = loop {
        let outcome = turns.drive(&mut model, |_| tools.clone(), &cx).await;
        match outcome.unwrap() {
            Outcome::Busy(_) => tokio::time::sleep(lease / 10).await,
            outcome => break outcome,
        }
    };
    store.close().await;
    (outcome, model.requests())
}

#[tokio::test]
#[ignore = "other tests start it as a child process"]
async fn child() {
    let job = std::env::var(JOB).unwrap();
    let mut parts = job.splitn(3, '|');
    let mut part = || parts.next().unwrap();
    let (ledger, end, folder) = (part() == "ledger", part(), part());
    drive(Path::new(folder), ledger, end).await;
}

async fn results(folder: &Path) -> Vec<String> {
    let store = SqliteStore::open(folder.join("state.db")).await.unwrap();
    let thread = ThreadId::new("acme", "main").unwrap();
    let messages = ThreadStore::read(&store, &thread, None).await.unwrap();
    store.close().await;
    let results = messages
        .into_iter()
        .filter(|message| message.role == Role::Tool);
    results.map(|message| message.content).collect()
}

// S4-63: the result of the first of two calls is stored before the second begins, so a process that continues after a crash does not run
// the first call again.
#[tokio::test]
async fn first_call_is_not_run_again_after_a_crash() {
    for (ledger, end, begun, later) in [
        (
            "none",
            "after the first result",
            &["1"][..],
            &["1", "2"][..],
        ),
        ("ledger", "after the first result", &["1"], &["1", "2"]),
        // Without a ledger, the host has no record that the second call began.
        ("none", "in the second call", &["1", "2"], &["1", "2", "2"]),
    ] {
        let folder = tempfile::tempdir().unwrap();
        let folder = folder.path();
        let died = Command::new(std::env::current_exe().unwrap())
            .args(["--exact", "resumed::child", "--ignored"])
            .env(JOB, format!("{ledger}|{end}|{}", folder.display()))
            .output()
            .unwrap();
        assert_eq!(died.status.code(), None, "{end}: {died:?}");
        let effects = Effects::of(folder);
        assert_eq!(effects.begun(), begun, "{end}");
        let stored = results(folder).await;
        assert_eq!(stored.len(), 1, "{end}: {stored:?}");
        assert!(stored[0].contains("did 1"), "{stored:?}");

        let (outcome, requests) = drive(folder, ledger == "ledger", "").await;
        assert!(matches!(outcome, Outcome::Answered(text) if text == "done"));
        assert_eq!(requests, 1, "the model got the first request again");
        assert_eq!(effects.begun(), later, "{end}");
        let all = results(folder).await;
        assert_eq!((all.len(), &all[0]), (2, &stored[0]), "{end}");
        assert!(all[1].contains("did 2"), "{all:?}");
    }
}
