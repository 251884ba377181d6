//! What is left of a command, and of a host: nothing.

use std::os::unix::fs::PermissionsExt as _;
use std::process::{Command, Stdio};

use serde_json::{Value, json};
use tempfile::tempdir;
use tool_std::isolate::Limits;

use crate::mark::Mark;
use crate::support::{HOST, Place, commands};

// Afterwards the table of processes, the time and the memory are as before.
#[tokio::test]
async fn after_the_worst_commands_the_host_is_as_it_was() {
    let limits = Limits::default()
        .memory(192 << 20)
        .processes(40)
        .file_size(20 << 20);
    let place = Place::new(commands().shell("/bin/sh").limits(limits));
    let mark = Mark::new();
    let sleep = format!("sleep {}", mark.seconds());
    let outside = tempdir().unwrap();
    let mut worst = vec![
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
    let report = place.commands.isolation().report().await.unwrap();
    let in_force = |item: &str| {
        let mechanism = &report.item(item).unwrap().mechanism;
        let yes = !mechanism.starts_with("none");
        if !yes {
            println!("skipped: {item}: {mechanism}");
        }
        yes
    };
    if in_force("processes") {
        worst.push(format!(
            "bomb() {{ : {sleep}; bomb | bomb & }}; bomb; {sleep}"
        ));
    }
    if in_force("files") {
        worst.push(format!(
            "echo x > {0}/made; mkdir {0}/made; echo x > /etc/tool-std-was-here",
            outside.path().display()
        ));
    }
    if in_force("signals") {
        worst.push(format!(
            "kill -STOP $PPID; kill -KILL $PPID; kill -KILL {}; {sleep}",
            std::process::id()
        ));
    }
    place.run(json!({ "command": ["true"] })).await;
    let before = own_memory();
    for script in &worst {
        place
            .run(json!({ "command": [script], "timeout_seconds": 2 }))
            .await;
    }
    assert_eq!(mark.mentioned(), 0);
    assert!(!std::path::Path::new("/etc/tool-std-was-here").exists());
    assert_eq!(outside.path().read_dir().unwrap().count(), 0);
    let grown = own_memory().saturating_sub(before);
    assert!(grown < 32 << 20, "{grown} bytes more than before");
    let output = place.run(json!({ "command": ["echo", "alive"] })).await;
    assert_eq!(output["stdout"], "alive\n");
}

#[test]
fn when_the_host_dies_its_commands_die() {
    for bare in [&[][..], &["bare"]] {
        let root = tempdir().unwrap();
        let mark = Mark::new();
        let sleep = format!("sleep {}", mark.seconds());
        let script = format!(
            "setsid sh -c '{sleep} & exec {sleep}' </dev/null >/dev/null 2>&1 & exec {sleep}"
        );
        // A file that is a program: the host allows no shell.
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
    }
}

/// The folders of calls that are in a `TMPDIR`.
fn left_in(path: &std::path::Path) -> Vec<String> {
    let names = std::fs::read_dir(path).unwrap();
    let names = names.map(|entry| entry.unwrap().file_name().into_string().unwrap());
    names.filter(|name| name.starts_with("tool-std-")).collect()
}

// The folder of a call is gone when its result is there.
#[test]
fn a_process_that_ends_with_its_call_leaves_no_folder() {
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

/// What this process has in memory, in bytes.
fn own_memory() -> usize {
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let line = status
        .lines()
        .find_map(|line| line.strip_prefix("VmRSS:"))
        .unwrap();
    line.trim()
        .trim_end_matches(" kB")
        .parse::<usize>()
        .unwrap()
        << 10
}

// A host that is nobody: its namespaces lie below one of users, and what it may not have is not there.
#[tokio::test]
async fn a_host_without_privileges_keeps_its_commands_as_well() {
    let report = commands().isolation().report().await.unwrap();
    let landlock = !report.item("files").unwrap().mechanism.starts_with("none");
    let root = tempdir().unwrap();
    let path = root.path();
    std::fs::set_permissions(path, std::fs::Permissions::from_mode(0o777)).unwrap();
    std::fs::copy(HOST, path.join("host")).unwrap();
    std::fs::write(path.join("secret"), "not for commands").unwrap();
    let mark = Mark::new();
    let script = format!(
        "import os, subprocess\n\
         subprocess.Popen(['sleep', '{0}'], start_new_session=True)\n\
         print(os.getuid(), os.path.exists('mine'))\n\
         try: print(open('{1}/secret').read())\n\
         except OSError as error: print(type(error).__name__)",
        mark.seconds(),
        path.display()
    );
    let as_nobody = |script: &str, bare: &[&str]| {
        let arguments = json!({ "command": ["python3", "-c", script] });
        let mut host = Command::new("setpriv");
        host.args(["--reuid=65534", "--regid=65534", "--clear-groups"]);
        host.arg(path.join("host")).arg(path);
        host.arg(arguments.to_string()).args(bare);
        host.env("TMPDIR", path).output()
    };
    let said = match as_nobody(&script, &[]) {
        Ok(said) if said.status.success() => said,
        other => return println!("skipped: nobody else to be: {other:?}"),
    };
    let said: Value = serde_json::from_slice(&said.stdout).unwrap();
    let lines: Vec<_> = said["stdout"].as_str().unwrap().lines().collect();
    assert_eq!(lines[0], "65534 False", "{said}");
    // The file's mode admits everybody; Landlock, which needs no privilege, does not.
    if landlock {
        assert_eq!(lines[1], "PermissionError", "{said}");
    }
    assert_eq!(mark.alive(), 0);
    // What a command made read-only goes with its folder: modes bind this host.
    let lock = "import os\n\
        base = os.environ['TMPDIR']\n\
        os.makedirs(f'{base}/go/mod/a')\n\
        open(f'{base}/go/mod/a/x.go', 'w').close()\n\
        for folder, mode in ('/go/mod/a', 0), ('/go/mod', 0o555), ('/go', 0o311), ('', 0o555): os.chmod(base + folder, mode)\n\
        print('locked')";
    for bare in [&[][..], &["bare"]] {
        let said = as_nobody(lock, bare).unwrap();
        let said: Value = serde_json::from_slice(&said.stdout).unwrap();
        assert_eq!(said["stdout"], "locked\n", "{said}");
        assert_eq!(left_in(path), [""; 0]);
    }
    // The helper is of the same user and knows the job's environment; nobody looks into it, with nothing but itself to see to that.
    let script = "import os\ntry: print(os.readlink(f'/proc/{os.getppid()}/exe'))\nexcept OSError as error: print(type(error).__name__)";
    let said = as_nobody(script, &["bare"]).unwrap();
    let said: Value = serde_json::from_slice(&said.stdout).unwrap();
    assert_eq!(said["stdout"], "PermissionError\n", "{said}");
}
