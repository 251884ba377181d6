//! Tests that no process or folder remains after a command has ended or its host was killed.

use std::process::{Command, Stdio};

use serde_json::{Value, json};
use tempfile::tempdir;
use tool_std::isolate::Limits;

use super::support::{HOST, Place, commands, leaves_nothing, left_in};
use crate::mark::Mark;

// No process remains after hostile commands, and the host's memory does not grow.
#[tokio::test]
async fn hostile_commands_leave_the_host_unchanged() {
    let limits = Limits::default()
        .memory(192 << 20)
        .processes(40)
        .file_size(20 << 20);
    let place = Place::new(commands().shell("/bin/sh").limits(limits));
    let mark = Mark::new();
    let sleep = format!("sleep {}", mark.seconds());
    let worst = vec![
        format!(
            "for i in 1 2 3 4 5; do setsid sh -c '{sleep} & {sleep}' >/dev/null 2>&1 </dev/null & done"
        ),
        format!("trap '' TERM HUP INT QUIT USR1 USR2; {sleep} & {sleep}"),
        String::from("yes | head -c 100000000"),
        String::from("cat /dev/zero | tr '\\0' x >&2"),
        String::from("python3 -c 'b = bytearray(1 << 30)'"),
        String::from(
            "for i in 1 2 3 4; do python3 -c 'import time; b = bytearray(100 << 20); time.sleep(9)' & done; wait",
        ),
        String::from("dd if=/dev/zero of=big bs=1M count=40"),
    ];
    leaves_nothing(&place, &mark, &worst).await;
}

#[test]
fn commands_of_a_killed_host_are_killed() {
    for bare in [&[][..], &["bare"]] {
        let root = tempdir().unwrap();
        let mark = Mark::new();
        let sleep = format!("sleep {}", mark.seconds());
        let script = format!(
            "setsid sh -c '{sleep} & exec {sleep}' </dev/null >/dev/null 2>&1 & exec {sleep}"
        );
        // The script is in a file, because the host does not accept shell lines.
        let folder = root.path().join("acme/conversations/c1");
        std::fs::create_dir_all(&folder).unwrap();
        std::fs::write(folder.join("stay"), script).unwrap();
        let mut host = Command::new(HOST);
        host.arg(root.path())
            .arg(r#"{"command": ["sh", "stay"]}"#)
            .args(bare);
        host.env("TMPDIR", root.path()).stdout(Stdio::null());
        let mut host = host.spawn().unwrap();
        mark.wait_for(3);
        host.kill().unwrap();
        host.wait().unwrap();
        mark.wait_for(0);
        // The folder of the killed call remains until the next host removes it. Folders of running hosts are kept.
        assert_eq!(left_in(root.path()).len(), 1);
        let mut other = Command::new(HOST);
        other
            .arg(root.path())
            .arg(r#"{"command": ["sleep", "300"]}"#)
            .env("TMPDIR", root.path())
            .stdout(Stdio::null());
        let mut other = other.spawn().unwrap();
        // The other host may lock its own new folder while it looks for old folders. Its call then uses a folder with a different
        // number.
        let of_other = format!("tool-std-{}-", other.id());
        let only_of_other =
            || matches!(&left_in(root.path())[..], [name] if name.starts_with(&of_other));
        for _ in 0..1_000 {
            if only_of_other() {
                break;
            }
            std::thread::sleep(std::time::Duration::from_millis(20));
        }
        let mut third = Command::new(HOST);
        third
            .arg(root.path())
            .arg(r#"{"command": ["true"]}"#)
            .env("TMPDIR", root.path());
        assert!(third.output().unwrap().status.success());
        assert!(only_of_other(), "{:?}", left_in(root.path()));
        other.kill().unwrap();
        other.wait().unwrap();
    }
}

// The folder of a call is deleted before the result is returned.
#[test]
fn host_that_exits_after_a_call_leaves_no_folder() {
    let root = tempdir().unwrap();
    let script = "import os\n\
        for n in range(300): os.makedirs(f'{os.environ[\"TMPDIR\"]}/a{n}/b')\n\
        print(len(os.listdir(os.environ['TMPDIR'])))";
    let mut host = Command::new(HOST);
    host.arg(root.path());
    host.arg(json!({ "command": ["python3", "-c", script] }).to_string());
    let said = host.env("TMPDIR", root.path()).output().unwrap();
    let said: Value = serde_json::from_slice(&said.stdout).unwrap();
    assert_eq!(said["stdout"], "300\n", "{said}");
    assert_eq!(left_in(root.path()), [""; 0]);
}
