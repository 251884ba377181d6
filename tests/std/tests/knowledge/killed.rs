//! An indexer whose process is killed while it computes embeddings. The test program starts itself as the process.

use std::io::{BufRead as _, BufReader};
use std::process::{Command, Stdio};
use std::time::Duration;

use tool_std::knowledge::Knowledge;
use tool_store::SqliteStore;

use crate::hybrid::{Mood, Subjects, eventually};
use crate::support::Desk;

const FILE: &str = "TOOL_KNOWLEDGE_TEST_FILE";
const LEASE: Duration = Duration::from_millis(500);

#[tokio::test]
#[ignore = "another test starts it as a child process"]
async fn child_hangs_in_the_second_batch() {
    let Ok(file) = std::env::var(FILE) else {
        return;
    };
    let store = SqliteStore::open(file).await.unwrap();
    let embedder = Subjects::new("m");
    let knowledge = Knowledge::new(store).embedder(embedder.clone());
    let indexer = knowledge.indexer().lease(LEASE);
    while embedder.calls().is_empty() {
        indexer.run_once().await.unwrap();
    }
    embedder.set(Mood::Hangs);
    println!("calls the embedder");
    indexer.run_once().await.unwrap();
}

// The process of an indexer is killed in the second batch of a document. Another process computes only the missing embeddings, and each chunk is
// found.
#[tokio::test]
async fn embeddings_survive_a_kill() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("state.db");
    let store = SqliteStore::open(&file).await.unwrap();
    let embedder = Subjects::new("m");
    let desk = Desk::of(Knowledge::new(store).embedder(embedder.clone()), "acme");
    // The document has 70 chunks, which are two batches.
    desk.write("a.md", &"tea ".repeat(31_550)).await;
    let mut child = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "killed::child_hangs_in_the_second_batch"])
        .args(["--ignored", "--nocapture"])
        .env(FILE, &file)
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
    let hangs = lines.any(|line| line.unwrap().contains("calls the embedder"));
    assert!(hangs);
    // The child stores the claim of the second batch before it calls the embedder. After the kill, the next process waits until the lease of this
    // claim has expired.
    tokio::time::sleep(LEASE / 4).await;
    child.kill().unwrap();
    child.wait().unwrap();
    assert_eq!(desk.search("tea").await, ["a.md"; 5]);
    embedder.taken();
    let indexer = desk.knowledge.indexer().lease(LEASE);
    eventually(async || indexer.run_once().await.unwrap()).await;
    assert_eq!(indexer.run_until_idle().await.unwrap(), 0);
    assert_eq!(embedder.taken().len(), 6);
    assert_eq!(desk.search("beverage").await, ["a.md"; 5]);
}
