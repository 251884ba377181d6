//! Crash tests: a host is killed at every point between two of its steps, and a different process continues.
//!
//! This program starts itself as its child processes. A child drives a scripted model through the whole gate on a SQLite file, and kills
//! itself (SIGKILL) at the n-th point. There are points before and after the calls of a store, each time a store makes its caller wait, and inside
//! the model and the tools. The tools write their real effects to a separate file.

#![cfg(unix)]
#![allow(
    clippy::unwrap_used,
    clippy::panic,
    reason = "a test fails by panicking"
)]
#![allow(
    clippy::disallowed_methods,
    reason = "tests read the real clock and spawn their own tasks"
)]

mod check;
mod forgery;
mod host;
mod kill;
mod store;

use std::collections::BTreeMap;
use std::os::unix::process::ExitStatusExt as _;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use tool_core::store::Timestamp;
use tool_store::SqliteStore;

use check::Snapshot;
use kill::Death;

const JOB: &str = "TOOL_STORE_TEST_JOB";

/// The number of parallel rounds.
const WORKERS: usize = 3;

/// Runs in the child process: drives a script on the files of a folder until the script ends or the process dies.
#[tokio::test]
#[ignore = "other tests start it as a child process"]
async fn child() {
    let Ok(job) = std::env::var(JOB) else { return };
    let (death, rest) = Death::read(&job);
    kill::arm(death);
    let (script, folder) = rest.split_once(' ').unwrap();
    host::work(script.parse().unwrap(), Path::new(folder)).await;
    kill::say("done");
}

/// Runs a child. Returns the point at which it died, or `None` if its script ended.
fn start(death: Death, script: u64, folder: &Path) -> Option<String> {
    let output = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "child", "--nocapture", "--ignored"])
        .env(JOB, format!("{death} {script} {}", folder.display()))
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&output.stdout);
    let mut said = said
        .lines()
        .filter_map(|line| line.strip_prefix("child: "))
        .map(str::to_owned);
    let last = said.next_back();
    if output.status.signal() == Some(9) {
        return last;
    }
    assert!(
        output.status.success() && last.as_deref() == Some("done"),
        "{death} {script}: {last:?}\n{}",
        String::from_utf8_lossy(&output.stderr)
    );
    None
}

/// The counts over all rounds.
#[derive(Default)]
struct Counts {
    kills: usize,
    points: BTreeMap<String, usize>,
    outcomes: BTreeMap<String, usize>,
}

impl Counts {
    fn died(&mut self, at: String) {
        self.kills += 1;
        *self.points.entry(at).or_default() += 1;
    }
}

/// Runs one script that is killed at one point. Returns whether the script reached this point.
async fn round(death: Death, script: u64, template: &Path, counts: &Mutex<Counts>) -> bool {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    std::fs::copy(template, folder.join("state.db")).unwrap();
    let Some(at) = start(death, script, folder) else {
        return false;
    };
    counts.lock().unwrap().died(at);
    let mut seen = Snapshot::take(folder).await;
    seen.holds();
    if death.number.is_multiple_of(2) {
        seen.lapses(folder).await;
    }
    // The next process continues, and dies at a different point.
    let other = death.at(death.number * 7 % 31 + 1);
    if let Some(at) = start(other, script, folder) {
        counts.lock().unwrap().died(at);
        let next = Snapshot::take(folder).await;
        next.holds();
        next.follows(&seen);
        seen = next;
    }
    host::work(script, folder).await;
    let end = Snapshot::take(folder).await;
    end.holds();
    end.follows(&seen);
    let outcomes = end.is_whole(script);
    let mut counts = counts.lock().unwrap();
    for outcome in outcomes {
        *counts.outcomes.entry(outcome).or_default() += 1;
    }
    true
}

/// Kills a script at the point `first` and at every `step`-th point after it, until a run of the script ends before the point.
fn at_every_point(first: Death, step: usize, script: u64, template: &Path, counts: &Mutex<Counts>) {
    let next = AtomicUsize::new(first.number);
    std::thread::scope(|scope| {
        for _ in 0..WORKERS {
            scope.spawn(|| {
                let runtime = tokio::runtime::Builder::new_current_thread()
                    .enable_all()
                    .build()
                    .unwrap();
                loop {
                    let number = next.fetch_add(step, Ordering::SeqCst);
                    if !runtime.block_on(round(first.at(number), script, template, counts)) {
                        return;
                    }
                }
            });
        }
    });
}

async fn template(folder: &Path) -> PathBuf {
    let file = folder.join("state.db");
    SqliteStore::open(&file).await.unwrap().close().await;
    file
}

// M5, M6, S0-24, S2-15, S4-62, S4-63, S4-64: if a process dies at any named point of one script, or at every second wait of another script, no effect
// happens twice, the ledger records no effect that did not happen, and the turn continues.
#[test]
fn crash_neither_repeats_nor_invents_an_effect() {
    let folder = tempfile::tempdir().unwrap();
    let runtime = tokio::runtime::Runtime::new().unwrap();
    let template = runtime.block_on(template(folder.path()));
    let counts = Mutex::new(Counts::default());
    let begun = Timestamp::now();
    at_every_point(Death::at_point(1), 1, 1, &template, &counts);
    at_every_point(Death::at_wait(1), 2, 2, &template, &counts);
    let Counts {
        kills,
        points,
        outcomes,
    } = counts.into_inner().unwrap();
    println!(
        "{kills} kills at {} kinds of points in {} ms",
        points.len(),
        Timestamp::now().as_millis() - begun.as_millis()
    );
    for (point, kills) in &points {
        println!("{kills:5} {point}");
    }
    for (outcome, calls) in &outcomes {
        println!("{calls:5} calls {outcome}");
    }
    assert!(kills >= 200, "{kills}");
    for call in [
        "approval.open",
        "approval.get",
        "approval.answer",
        "approval.spend",
        "approval.list",
        "ledger.begin",
        "ledger.close",
        "batch",
        "audit.write",
        "thread.read",
        "run.begin",
        "run.end",
        "spill.put",
        "body.effect",
        "body",
    ] {
        for side in ["before", "after"] {
            let point = format!("{side} {call}");
            assert!(points.contains_key(&point), "no process died {point}");
        }
    }
    for outcome in [
        "succeeded",
        "failed",
        "denied",
        "read",
        "settled by the operator: succeeded",
    ] {
        assert!(outcomes.contains_key(outcome), "no call {outcome}");
    }
}
