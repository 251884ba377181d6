//! Tests of many processes with one SQLite file. This program starts itself as its child processes.

#![allow(
    clippy::unwrap_used,
    clippy::panic,
    reason = "a test fails by panicking"
)]
#![allow(
    clippy::disallowed_methods,
    reason = "tests read the real clock and spawn their own tasks"
)]

use std::collections::BTreeSet;
use std::io::{BufRead as _, BufReader, Write as _};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use tempfile::TempDir;
use tool_store::SqliteStore;
use tool_store::suite::records::{self, acme, at, audit, key_of, request, says, thread};
use tool_store::*;

#[path = "shared/limits.rs"]
mod limits;

const JOB: &str = "TOOL_STORE_TEST_JOB";
const FILE: &str = "TOOL_STORE_TEST_FILE";
const PROCESSES: usize = 5;

fn intent(key: &str, owner: &str) -> Intent {
    Intent {
        owner: owner.to_owned(),
        ..records::intent(key)
    }
}

/// Returns the result of a call in one thread.
fn message(message: u64, position: u32) -> NewMessage {
    NewMessage {
        answers: Some(CallPlace { message, position }),
        ..records::message("thread", Role::Tool, None)
    }
}

/// Returns a claim with a short lease, by the real clock.
fn index_claim(worker: &str) -> IndexClaim {
    IndexClaim {
        worker: worker.to_owned(),
        lease: Duration::from_millis(500),
        most_recoveries: 3,
        at: Timestamp::now(),
    }
}

/// Entry point of the child process: waits for a line, does its job, and prints one line for each result.
#[tokio::test(flavor = "multi_thread")]
#[ignore = "other tests start it as a child process"]
async fn child() {
    let (Ok(job), Ok(file)) = (std::env::var(JOB), std::env::var(FILE)) else {
        return;
    };
    let me = std::process::id().to_string();
    let mut go = String::new();
    say("ready");
    std::io::stdin().read_line(&mut go).unwrap();
    let store = SqliteStore::open(file).await.unwrap();
    match job.as_str() {
        "open" => say("opened"),
        "spend" => {
            let tasks: Vec<_> = (0..8)
                .map(|_| {
                    let store = store.clone();
                    tokio::spawn(
                        async move { store.spend(&acme(), "a", "nonce", at(2)).await.unwrap() },
                    )
                })
                .collect();
            for task in tasks {
                if task.await.unwrap() {
                    say("spent");
                }
            }
        }
        "answer" => {
            if store
                .answer(&acme(), "a", says(Verdict::Approve))
                .await
                .is_ok()
            {
                say("answered");
            }
        }
        "begin" => {
            for key in 0..20 {
                let key = key.to_string();
                let begun = store.begin(intent(&key, &me), Some(audit(&key))).await;
                if begun.unwrap() == Begun::New {
                    say(&format!("began {key}"));
                }
            }
        }
        "append" => {
            for n in 0..20 {
                let own = u64::from(std::process::id());
                store.append(message(own, n)).await.unwrap();
                if store.append(message(0, n)).await.is_ok() {
                    say(&format!("answered {n}"));
                }
            }
        }
        "begin on" => {
            for n in 0.. {
                let key = format!("{me} {n}");
                store
                    .begin(intent(&key, &me), Some(audit(&key)))
                    .await
                    .unwrap();
                say(&format!("began {key}"));
            }
        }
        "index" => {
            let claim = index_claim("killed");
            let document = store.claim_document(Scope::All, claim).await.unwrap();
            say(&format!("claimed {}", document.unwrap().row.name.file()));
            // The process never finishes the index: the parent kills it here.
            std::future::pending::<()>().await;
        }
        "take units" => limits::take_units(&store, say).await,
        "hold permits" => limits::hold_permits(&store, say).await,
        job => panic!("no job `{job}`"),
    }
    say("done");
}

/// Prints one line for the parent. The mark separates it from the lines of the test harness.
fn say(words: &str) {
    let mut out = std::io::stdout().lock();
    writeln!(out, "\nchild: {words}").unwrap();
    out.flush().unwrap();
}

/// A child process that runs one job.
struct Worker {
    child: Child,
    said: Box<dyn Iterator<Item = String>>,
}

impl Worker {
    fn start(job: &str, file: &Path) -> Self {
        let mut child = Command::new(std::env::current_exe().unwrap())
            .args(["--exact", "child", "--nocapture", "--ignored"])
            .env(JOB, job)
            .env(FILE, file)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let lines = BufReader::new(child.stdout.take().unwrap()).lines();
        let mut said = lines
            .map_while(Result::ok)
            .filter_map(|line| line.strip_prefix("child: ").map(str::to_owned));
        assert_eq!(said.next().as_deref(), Some("ready"));
        let said = Box::new(said);
        Self { child, said }
    }

    fn go(&mut self) {
        self.child.stdin.take().unwrap().write_all(b"go\n").unwrap();
    }

    /// Returns the lines that the child printed until it ended successfully.
    fn finish(mut self) -> Vec<String> {
        let mut said: Vec<String> = self.said.collect();
        assert!(self.child.wait().unwrap().success());
        assert_eq!(said.pop().as_deref(), Some("done"));
        said
    }
}

/// Runs a job in several processes at once, and returns all their lines, sorted.
fn at_once(job: &str, file: &Path) -> Vec<String> {
    let mut workers: Vec<Worker> = (0..PROCESSES).map(|_| Worker::start(job, file)).collect();
    workers.iter_mut().for_each(Worker::go);
    let mut said: Vec<String> = workers.into_iter().flat_map(Worker::finish).collect();
    said.sort();
    said
}

fn folder() -> (TempDir, std::path::PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("state.db");
    (folder, file)
}

#[tokio::test]
async fn many_processes_create_one_file() {
    for _ in 0..5 {
        let (_folder, file) = folder();
        assert_eq!(at_once("open", &file), vec!["opened"; PROCESSES]);
    }
}

// Two processes that start on one new file both open it, and either process may apply the migrations.
#[tokio::test]
async fn two_processes_start_on_one_new_file() {
    for _ in 0..50 {
        let (_folder, file) = folder();
        let mut workers = [Worker::start("open", &file), Worker::start("open", &file)];
        workers.iter_mut().for_each(Worker::go);
        for worker in workers {
            assert_eq!(worker.finish(), ["opened"]);
        }
    }
}

// M5: of 40 tasks in 5 processes that spend one approval, one succeeds.
#[tokio::test]
async fn an_approval_is_spent_once_among_processes() {
    let (_folder, file) = folder();
    let store = SqliteStore::open(&file).await.unwrap();
    store.open(request("a")).await.unwrap();
    store
        .answer(&acme(), "a", says(Verdict::Approve))
        .await
        .unwrap();
    assert_eq!(at_once("spend", &file), ["spent"]);
    assert!(!store.spend(&acme(), "a", "nonce", at(2)).await.unwrap());
}

// S2-13: an answer is single-use across processes.
#[tokio::test]
async fn an_approval_is_answered_once_among_processes() {
    let (_folder, file) = folder();
    let store = SqliteStore::open(&file).await.unwrap();
    store.open(request("a")).await.unwrap();
    assert_eq!(at_once("answer", &file), ["answered"]);
}

// M6: exactly one process begins each effect.
#[tokio::test]
async fn an_effect_is_begun_once_among_processes() {
    let (_folder, file) = folder();
    let said = at_once("begin", &file);
    let mut expected: Vec<String> = (0..20).map(|key| format!("began {key}")).collect();
    expected.sort();
    assert_eq!(said, expected);
}

#[tokio::test]
async fn processes_append_to_one_thread_without_gaps() {
    let (_folder, file) = folder();
    let said = at_once("append", &file);
    let mut expected: Vec<String> = (0..20).map(|n| format!("answered {n}")).collect();
    expected.sort();
    assert_eq!(said, expected);
    let store = SqliteStore::open(&file).await.unwrap();
    let messages = ThreadStore::read(&store, &thread("thread"), None)
        .await
        .unwrap();
    let places: Vec<u64> = messages.into_iter().map(|message| message.seq).collect();
    let all = u64::try_from(20 * PROCESSES + 20).unwrap();
    assert_eq!(places, (1..=all).collect::<Vec<_>>());
}

// M6: a killed process leaves the intent with its audit row, or neither, and every change that was confirmed to it is stored.
#[tokio::test]
async fn killed_process_leaves_no_partial_writes() {
    let (_folder, file) = folder();
    let mut told = BTreeSet::new();
    for round in 0..8 {
        let mut worker = Worker::start("begin on", &file);
        worker.go();
        for line in worker.said.by_ref().take(3 + round) {
            told.insert(line.strip_prefix("began ").unwrap().to_owned());
        }
        worker.child.kill().unwrap();
        worker.child.wait().unwrap();
    }
    let store = SqliteStore::open(&file).await.unwrap();
    let effects = EffectLedger::list(&store, Scope::All, None).await.unwrap();
    let audited = store
        .export(Scope::All, &AuditFilter::default())
        .await
        .unwrap();
    let mut begun: Vec<String> = effects
        .into_iter()
        .map(|row| row.intent.identity.key().as_str().to_owned())
        .collect();
    let mut rows: Vec<String> = audited.iter().map(key_of).collect();
    begun.sort();
    rows.sort();
    assert_eq!(begun, rows);
    assert!(told.iter().all(|key| begun.contains(key)));
    assert!(told.len() >= 8 * 3);
}

// Processes that take units of one limit at the same time never exceed it together.
#[tokio::test]
async fn processes_together_do_not_exceed_a_limit() {
    let (_folder, file) = folder();
    let lines = at_once("take units", &file);
    limits::check_units(&lines, u32::try_from(PROCESSES).unwrap());
}

// The permits of a killed process are released within one lease.
#[tokio::test]
async fn permits_of_a_killed_process_return() {
    let (_folder, file) = folder();
    let store = SqliteStore::open(&file).await.unwrap();
    let mut worker = Worker::start("hold permits", &file);
    worker.go();
    assert_eq!(worker.said.next().as_deref(), Some("holds"));
    let kill = || {
        worker.child.kill().unwrap();
        worker.child.wait().unwrap();
    };
    limits::killed_process_returns_its_permits(&store, kill).await;
}

// If a process is killed while it indexes a document, another process takes the document over when the lease expires, and finishes it.
#[tokio::test]
async fn index_of_a_killed_process_is_taken_over() {
    let (_folder, file) = folder();
    let store = SqliteStore::open(&file).await.unwrap();
    let name = DocumentName::new(&acme(), "a.md").unwrap();
    let write = DocumentWrite {
        name: name.clone(),
        mode: DocumentWriteMode::Replace,
        content: b"the words of the document".to_vec(),
        mime: None,
        source: "agent".to_owned(),
        principal: None,
        at: Timestamp::now(),
    };
    store.write_document(write).await.unwrap();
    let mut worker = Worker::start("index", &file);
    worker.go();
    assert_eq!(worker.said.next().as_deref(), Some("claimed a.md"));
    worker.child.kill().unwrap();
    worker.child.wait().unwrap();

    let first = store.claim_document(Scope::All, index_claim("next")).await;
    assert!(first.unwrap().is_none(), "the lease has not expired");
    let document = loop {
        let claim = index_claim("next");
        if let Some(document) = store.claim_document(Scope::All, claim).await.unwrap() {
            break document;
        }
        tokio::time::sleep(Duration::from_millis(20)).await;
    };
    assert_eq!(
        (document.row.name.clone(), document.row.recoveries),
        (name.clone(), 1)
    );
    let chunks = Document::chunks(str::from_utf8(&document.content).unwrap());
    let outcome = IndexOutcome::Indexed { text: None, chunks };
    let token = document.row.token.unwrap();
    let finished = store.finish_index(&name, &token, outcome, Timestamp::now());
    assert!(finished.await.unwrap());
    let search = ChunkSearch {
        workspace: &acme(),
        query: "words",
        limit: 5,
    };
    assert_eq!(store.search_chunks(search).await.unwrap().len(), 1);
}
