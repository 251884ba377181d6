//! Tests of faults that only the operating system can cause. This program starts itself as a child process, which opens the store.

#![cfg(target_os = "linux")]
#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::print_stderr,
    reason = "a test fails by panicking, and prints on standard error which steps it skipped"
)]

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use rustix::process::{Resource, Rlimit, setrlimit};
use sqlx::sqlite::SqliteConnectOptions;
use sqlx::{ConnectOptions as _, Executor as _};
use tool_store::suite::records;
use tool_store::*;
use tool_store::{OpenError, SqliteStore};

const JOB: &str = "TOOL_STORE_TEST_FAULT";
const FOLDER: &str = "TOOL_STORE_TEST_FOLDER";

fn row(id: &str, bytes: usize) -> AuditRow {
    AuditRow {
        arguments: "x".repeat(bytes),
        ..AuditRow::new(
            CallId::earlier("acme", id),
            "c1",
            "send_mail",
            Timestamp::default(),
        )
    }
}

async fn ids(store: &SqliteStore) -> Vec<String> {
    let rows = store
        .export(Scope::All, &AuditFilter::default())
        .await
        .unwrap();
    rows.iter()
        .map(|row| row.identity.key().to_string())
        .collect()
}

/// Asserts that a change failed with an error that can be retried, and that its text contains `words`.
fn is_unavailable<T: std::fmt::Debug>(answer: Result<T, StoreError>, words: &str) {
    match answer {
        Err(error @ StoreError::Unavailable(_)) => {
            let text = error.to_string();
            assert!(text.contains(words), "`{text}` does not contain `{words}`");
        }
        other => panic!("expected that the store is unavailable, got {other:?}"),
    }
}

/// Returns two rows for one change. The second row is too large for the limits that the tests set.
fn large() -> Vec<AuditRow> {
    vec![row("half", 10), row("large", 3_000_000)]
}

/// Runs a program and asserts that it succeeds.
fn run(program: &str, arguments: &[&str]) {
    let status = Command::new(program).args(arguments).status().unwrap();
    assert!(status.success(), "{program} {arguments:?}");
}

/// Entry point of the child process: causes one fault in its own process or mount namespace, tests the store, and ends the fault. Without the
/// variables of the child process, this test does nothing.
#[tokio::test(flavor = "multi_thread")]
async fn child() {
    let (Ok(job), Ok(folder)) = (std::env::var(JOB), std::env::var(FOLDER)) else {
        return;
    };
    let folder = PathBuf::from(folder);
    match job.as_str() {
        "full disk" => full_disk(&folder).await,
        "file size" => file_size(&folder).await,
        "memory" => memory(&folder).await,
        "aborted file system" => aborted_file_system(&folder).await,
        "read-only file system" => read_only_file_system(&folder).await,
        job => panic!("no job `{job}`"),
    }
}

async fn full_disk(folder: &Path) {
    let mount = folder.to_str().unwrap();
    run("mount", &["-t", "tmpfs", "-o", "size=2m", "tmpfs", mount]);
    let store = SqliteStore::open(folder.join("state.db")).await.unwrap();
    store.write(vec![row("before", 10)]).await.unwrap();
    for _ in 0..3 {
        is_unavailable(store.write(large()).await, "full");
        assert_eq!(ids(&store).await, ["before"]);
    }
    let message = NewMessage {
        content: "x".repeat(3_000_000),
        ..records::message("thread", Role::User, None)
    };
    is_unavailable(store.append(message).await, "full");
    store.write(vec![row("small", 10)]).await.unwrap();

    // Fill the rest of the file system.
    let filler = folder.join("filler");
    let _ = std::fs::write(&filler, vec![0; 2_000_000]);
    is_unavailable(store.write(large()).await, "full");
    std::fs::remove_file(&filler).unwrap();
    store.write(vec![row("tiny", 10)]).await.unwrap();

    run("mount", &["-o", "remount,size=64m", mount]);
    store.write(vec![row("wide", 3_000_000)]).await.unwrap();
    assert_eq!(ids(&store).await, ["before", "small", "tiny", "wide"]);
}

async fn file_size(folder: &Path) {
    let store = SqliteStore::open(folder.join("state.db")).await.unwrap();
    store.write(vec![row("before", 10)]).await.unwrap();
    let unlimited = rustix::process::getrlimit(Resource::Fsize);
    let limit = Rlimit {
        current: Some(1_000_000),
        ..unlimited
    };
    // Ignoring `SIGXFSZ` makes `write` fail; otherwise the signal would end the process.
    setrlimit(Resource::Fsize, limit).unwrap();
    for _ in 0..3 {
        is_unavailable(store.write(large()).await, "disk");
        assert_eq!(ids(&store).await, ["before"]);
    }
    setrlimit(Resource::Fsize, unlimited).unwrap();
    store.write(vec![row("later", 3_000_000)]).await.unwrap();
    assert_eq!(ids(&store).await, ["before", "later"]);
}

async fn memory(folder: &Path) {
    let store = SqliteStore::open(folder.join("state.db")).await.unwrap();
    let in_memory = SqliteStore::in_memory().await.unwrap();
    let aside = SqliteConnectOptions::new().in_memory(true);
    let mut aside = aside.connect().await.unwrap();
    for store in [&store, &in_memory] {
        store.write(vec![row("before", 10)]).await.unwrap();
        assert_eq!(ids(store).await, ["before"]);
        // The limit applies to all connections of the process.
        aside
            .execute("PRAGMA hard_heap_limit = 3600000")
            .await
            .unwrap();
        for _ in 0..3 {
            is_unavailable(store.write(large()).await, "memory");
        }
        // The limit still applies, because a statement can lower SQLite's limit but not raise it.
        assert_eq!(ids(store).await, ["before"]);
        store.write(vec![row("later", 10)]).await.unwrap();
        assert_eq!(ids(store).await, ["before", "later"]);
    }
}

/// Tests a store on an ext4 file system in an image file. After a remount with `abort`, writes fail as they do after a disk error.
async fn aborted_file_system(folder: &Path) {
    let (image, mount) = (folder.join("image"), folder.join("mount"));
    let (image, mount) = (image.to_str().unwrap(), mount.to_str().unwrap());
    std::fs::create_dir(mount).unwrap();
    std::fs::File::create(image)
        .unwrap()
        .set_len(32 << 20)
        .unwrap();
    run("mkfs.ext4", &["-q", "-F", image]);
    run("mount", &["-o", "loop", image, mount]);
    let file = Path::new(mount).join("state.db");
    let store = SqliteStore::open(&file).await.unwrap();
    store.write(vec![row("before", 10)]).await.unwrap();
    assert_eq!(ids(&store).await, ["before"]);
    run("mount", &["-o", "remount,abort", mount]);
    for _ in 0..3 {
        let refused = store.write(vec![row("lost", 100_000)]).await;
        is_unavailable(refused, "database");
    }
    // An administrator unmounts the file system, repairs it, and mounts it at the same place.
    run("umount", &["-l", mount]);
    is_unavailable(
        store.write(vec![row("lost", 10)]).await,
        "state.db` cannot be opened",
    );
    let checked = Command::new("e2fsck")
        .args(["-fy", image])
        .output()
        .unwrap();
    assert!(checked.status.code().is_some_and(|code| code < 4));
    run("mount", &["-o", "loop", image, mount]);
    store.write(vec![row("later", 10)]).await.unwrap();
    assert_eq!(ids(&store).await, ["before", "later"]);
    store.close().await;
    run("umount", &[mount]);
}

async fn read_only_file_system(folder: &Path) {
    let mount = folder.to_str().unwrap();
    run("mount", &["-t", "tmpfs", "tmpfs", mount]);
    let file = folder.join("state.db");
    let store = SqliteStore::open(&file).await.unwrap();
    store.write(vec![row("before", 10)]).await.unwrap();
    store.close().await;
    run("mount", &["-o", "remount,ro", mount]);
    let error = SqliteStore::open(&file).await.unwrap_err();
    assert!(matches!(error, OpenError::Unopenable { .. }), "{error:?}");
    assert!(error.to_string().contains("may be written"), "{error}");
    run("mount", &["-o", "remount,rw", mount]);
    let store = SqliteStore::open(&file).await.unwrap();
    store.write(vec![row("later", 10)]).await.unwrap();
    assert_eq!(ids(&store).await, ["before", "later"]);
}

/// Runs a job in a child process, and panics with its output if it fails.
fn in_child(job: &str, mounts: bool) {
    let folder = tempfile::tempdir().unwrap();
    let program = std::env::current_exe().unwrap();
    // `SIGXFSZ` is still ignored after `exec`.
    let script = "trap '' XFSZ; exec \"$0\" --exact child --nocapture";
    let mut command = if mounts {
        let mut command = Command::new("unshare");
        command.args(["--mount", "sh", "-c", script]);
        command
    } else {
        let mut command = Command::new("sh");
        command.args(["-c", script]);
        command
    };
    let output = command
        .arg(program)
        .env(JOB, job)
        .env(FOLDER, folder.path())
        .stdin(Stdio::null())
        .output()
        .unwrap();
    assert!(
        output.status.success(),
        "{}\n{}",
        String::from_utf8_lossy(&output.stdout),
        String::from_utf8_lossy(&output.stderr)
    );
}

/// Returns whether this process may mount file systems and has the programs that `what` lists. If not, prints the reason.
fn may_mount(what: &[&str]) -> bool {
    let mut script = "set -e; mount -t tmpfs tmpfs /mnt; umount /mnt".to_owned();
    for program in what {
        script.push_str("; command -v ");
        script.push_str(program);
    }
    let probe = Command::new("unshare")
        .args(["--mount", "sh", "-c", &script])
        .output();
    let may = probe.is_ok_and(|output| output.status.success());
    if !may {
        eprintln!("SKIPPED: this process may not mount file systems, or lacks {what:?}");
    }
    may
}

// After a write failed because the disk is full, the store accepts small writes at once, and large writes when the disk has more space.
#[test]
fn full_disk_accepts_writes_that_fit() {
    if may_mount(&[]) {
        in_child("full disk", true);
    }
}

// A write that exceeds the file size limit of the process changes nothing, and does not prevent later writes.
#[test]
fn io_error_does_not_stop_later_writes() {
    in_child("file size", false);
}

// A change that runs out of memory changes nothing, and does not prevent later writes.
#[test]
fn out_of_memory_does_not_stop_later_writes() {
    in_child("memory", false);
}

// A store on a file system that was aborted as by a disk error works again after the file system has been repaired and mounted.
#[test]
fn aborted_file_system_is_used_again_after_its_repair() {
    if may_mount(&["mkfs.ext4", "e2fsck"]) && Path::new("/dev/loop-control").exists() {
        in_child("aborted file system", true);
    }
}

// A store on a read-only file system does not open, and the error states that the file must be writable. It opens after a remount with write access.
#[test]
fn read_only_file_system_is_refused_at_opening() {
    if may_mount(&[]) {
        in_child("read-only file system", true);
    }
}

// A URL with `mode=ro` is refused, whether the file exists or not, because a store writes.
#[tokio::test]
async fn read_only_url_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("state.db");
    let url = format!("sqlite://{}?mode=ro", file.display());
    assert!(SqliteStore::open(&url).await.is_err());
    let store = SqliteStore::open(&file).await.unwrap();
    let error = SqliteStore::open(&url).await.unwrap_err();
    assert!(error.to_string().contains("may be written"), "{error}");
    store.write(vec![row("a", 10)]).await.unwrap();
    assert_eq!(ids(&store).await, ["a"]);
}
