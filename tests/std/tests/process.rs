//! `run_command`.

#![allow(
    clippy::panic,
    clippy::unwrap_used,
    reason = "a test fails by panicking"
)]

use std::os::unix::fs::PermissionsExt as _;
use std::pin::pin;
use std::process::{Command, Stdio};

use futures::StreamExt as _;
use serde_json::{Value, json};
use tempfile::{TempDir, tempdir};
use tool_core::ErrorKind;
use tool_core::prelude::*;
use tool_std::isolate::{Isolation, Keep, Limits, Network};
use tool_std::process::{Commands, run_command};
use tool_std::workspace::Workspaces;

#[path = "isolate/mark.rs"]
#[allow(dead_code, reason = "the tests of `isolate` use the rest")]
mod mark;

use mark::Mark;

const HOST: &str = env!("CARGO_BIN_EXE_std-host");

fn commands() -> Commands {
    Commands::new(Isolation::new().helper(HOST))
}

/// A workspace and a way to call the tool in it.
struct Place {
    root: TempDir,
    commands: Commands,
}

impl Place {
    fn new(commands: Commands) -> Self {
        let root = tempdir().unwrap();
        Self { root, commands }
    }

    fn context(&self) -> ToolContext {
        ToolContext::builder()
            .workspace("acme")
            .conversation("c1")
            .with(Workspaces::new(self.root.path()))
            .with(self.commands.clone())
            .build()
    }

    async fn events(&self, arguments: Value) -> Vec<ToolEvent> {
        let tools = Registry::builder()
            .tool::<run_command>()
            .build()
            .unwrap()
            .open();
        let call = ToolCall::new("1", "run_command", arguments.to_string());
        tools.stream(call, &self.context()).collect().await
    }

    async fn result(&self, arguments: Value) -> CallResult {
        match self.events(arguments).await.pop() {
            Some(ToolEvent::Done(result)) => result,
            other => panic!("{other:?}"),
        }
    }

    async fn run(&self, arguments: Value) -> Value {
        let result = self.result(arguments).await;
        let output = result
            .output()
            .unwrap_or_else(|| panic!("{}", result.model_text()));
        serde_json::from_str(output.get()).unwrap()
    }

    async fn refused(&self, arguments: Value) -> String {
        self.result(arguments).await.error().unwrap().model_text()
    }
}

/// What S1-80 lists.
const LISTED: [&str; 20] = [
    "PATH",
    "HOME",
    "USER",
    "SHELL",
    "TMPDIR",
    "TERM",
    "LANG",
    "LC_ALL",
    "LC_CTYPE",
    "NODE_EXTRA_CA_CERTS",
    "SSL_CERT_FILE",
    "SSL_CERT_DIR",
    "HTTP_PROXY",
    "HTTPS_PROXY",
    "NO_PROXY",
    "http_proxy",
    "https_proxy",
    "no_proxy",
    "NODE_ENV",
    "NODE_OPTIONS",
];

/// What `env` prints as a command of a host that has every listed variable, some secrets and these; sorted.
fn printed(settings: &str, vars: &[(&str, &str)]) -> Vec<(String, String)> {
    let root = tempdir().unwrap();
    let mut host = Command::new(std::env::current_exe().unwrap());
    host.args(["--exact", "child_prints_an_environment"]);
    host.args(["--nocapture", "--ignored"]);
    host.env("SETTINGS", settings);
    for name in LISTED {
        host.env(name, format!("/value-of-{name}"));
    }
    host.env("PATH", std::env::var_os("PATH").unwrap());
    host.env("TMPDIR", root.path());
    for name in [
        "DATABASE_URL",
        "ENCRYPTION_KEY",
        "AUTH_SECRET",
        "OPENAI_API_KEY",
        "ANTHROPIC_API_KEY",
        "AWS_SECRET_ACCESS_KEY",
        "LD_PRELOAD_X",
        "GIT_SSH",
        "ALL_PROXY",
        "UNLISTED",
    ] {
        host.env(name, "/value-of-a-secret");
    }
    host.envs(vars.iter().copied());
    let said = String::from_utf8(host.output().unwrap().stdout).unwrap();
    let lines = said.lines().find_map(|line| line.split("printed=").nth(1));
    let lines: String = serde_json::from_str(lines.unwrap_or_else(|| panic!("{said}"))).unwrap();
    let pair = |line: &str| {
        let (name, value) = line.split_once('=').unwrap();
        // One folder of the call's own; the host's is not to be had.
        let own = value.starts_with(&format!("{}/tool-std-", root.path().display()));
        assert_eq!(own, ["HOME", "TMPDIR"].contains(&name), "{line}");
        (name.to_owned(), value.to_owned())
    };
    let mut pairs: Vec<_> = lines.lines().map(pair).collect();
    pairs.sort_unstable();
    pairs
}

#[tokio::test]
#[ignore = "a child of the tests below"]
async fn child_prints_an_environment() {
    let settings = std::env::var("SETTINGS").unwrap();
    let mut commands = commands();
    for setting in settings.split_whitespace() {
        commands = match setting.split_once('=') {
            None if setting == "open" => commands.network(Network::Open),
            None if setting == "port" => commands.network(Network::tcp([443])),
            None if setting == "ports" => commands.network(Network::tcp([])),
            None => commands.without_env(setting),
            Some((name, value)) => commands.env(name, value.to_owned()),
        };
    }
    let output = Place::new(commands)
        .run(json!({ "command": ["env"] }))
        .await;
    println!("printed={}", output["stdout"]);
}

fn names(printed: &[(String, String)]) -> Vec<&str> {
    printed.iter().map(|(name, _)| name.as_str()).collect()
}

// S1-80, S1-82
#[test]
fn only_listed_variables_pass_and_no_secret_does() {
    let mut listed = LISTED;
    listed.sort_unstable();
    let printed = printed("open", &[]);
    assert_eq!(names(&printed), listed);
    for (name, value) in &printed {
        if !["HOME", "TMPDIR", "PATH"].contains(&name.as_str()) {
            assert_eq!(*value, format!("/value-of-{name}"));
        }
    }
    let mut passed = tool_std::isolate::PASSED;
    passed.sort_unstable();
    assert_eq!(passed, listed);
}

// S1-80, S1-82: proxies are for commands that reach a network
#[test]
fn a_command_without_a_network_sees_no_proxy() {
    let is_proxy = |name: &&str| name.to_lowercase().ends_with("_proxy");
    let mut rest: Vec<_> = LISTED.into_iter().filter(|name| !is_proxy(name)).collect();
    rest.sort_unstable();
    assert_eq!(names(&printed("", &[])), rest);
    assert_eq!(names(&printed("ports", &[])), rest);
    assert_eq!(names(&printed("port", &[])).len(), LISTED.len());
}

// S1-81, S1-82: the password of a proxy
#[test]
fn a_proxy_is_shown_without_its_password_unless_the_host_names_it() {
    let secret = "http://user:secret@proxy:3128/";
    let vars = [
        ("HTTPS_PROXY", secret),
        ("http_proxy", "user:secret@proxy:3128"),
        ("NO_PROXY", "a@b"),
    ];
    let printed_with = |settings: &str| {
        let all = printed(settings, &vars);
        move |name: &str| {
            let found = all.iter().find(|(known, _)| known == name);
            found.map(|(_, value)| value.clone())
        }
    };
    let of = printed_with("open");
    assert_eq!(of("HTTPS_PROXY").as_deref(), Some("http://proxy:3128/"));
    assert_eq!(of("http_proxy").as_deref(), Some("proxy:3128"));
    assert_eq!(of("NO_PROXY").as_deref(), Some("a@b"));
    let of = printed_with(&format!("HTTPS_PROXY={secret}"));
    assert_eq!(of("HTTPS_PROXY").as_deref(), Some(secret));
    assert_eq!(of("http_proxy"), None);
}

// S1-81
#[test]
fn what_the_host_leaves_out_is_not_there() {
    let out = printed("X=1 open USER HTTPS_PROXY HOME X Y=2 LANG LANG=own", &[]);
    let names = names(&out);
    for name in ["USER", "HTTPS_PROXY", "X"] {
        assert!(!names.contains(&name), "{name}");
    }
    for name in ["HOME", "SHELL", "https_proxy"] {
        assert!(names.contains(&name), "{name}");
    }
    for (name, value) in [("Y", "2"), ("LANG", "own")] {
        assert!(
            out.contains(&(name.to_owned(), value.to_owned())),
            "{out:?}"
        );
    }
}

// S1-81
#[tokio::test]
async fn what_the_host_adds_is_there_and_has_the_last_word() {
    let place = Place::new(
        commands()
            .env("GH_TOKEN", "t-1".to_owned())
            .env("HOME", "/own".to_owned())
            .env("PATH", "/usr/bin".to_owned()),
    );
    let output = place
        .run(json!({ "command": ["sh", "../../x", "-x"] }))
        .await;
    assert_eq!(output["exit_code"], 2, "{output}");
    let output = place.run(json!({ "command": ["env"] })).await;
    let lines: Vec<_> = output["stdout"].as_str().unwrap().lines().collect();
    for line in ["GH_TOKEN=t-1", "HOME=/own", "PATH=/usr/bin"] {
        assert!(lines.contains(&line), "{lines:?}");
    }
}

#[tokio::test]
async fn arguments_arrive_as_they_are() {
    let place = Place::new(commands());
    let words = ["a b", "$HOME", "*", "\"q\"", "a\nb", "", "--", "ä"];
    let mut command = vec!["printf", "[%s]"];
    command.extend(words);
    let output = place.run(json!({ "command": command })).await;
    assert_eq!(
        output["stdout"],
        words.map(|word| format!("[{word}]")).concat()
    );
}

#[tokio::test]
async fn the_exit_code_and_both_streams_are_in_the_result() {
    let place = Place::new(commands().shell("/bin/sh"));
    let output = place
        .run(json!({ "command": ["echo out; echo err >&2; exit 3"] }))
        .await;
    assert_eq!(output["ended"], "exited");
    assert_eq!(output["exit_code"], 3);
    assert_eq!(output["note"], Value::Null);
    assert_eq!(
        (output["stdout"].as_str(), output["stderr"].as_str()),
        (Some("out\n"), Some("err\n"))
    );
    let output = place.run(json!({ "command": ["kill -KILL $$"] })).await;
    assert_eq!(
        (&output["ended"], &output["exit_code"]),
        (&json!("killed"), &json!(137))
    );
}

// S1-94
#[tokio::test]
async fn a_timeout_says_that_it_is_one_and_after_how_long() {
    let place = Place::new(commands());
    let output = place
        .run(json!({ "command": ["sleep", "60"], "timeout_seconds": 1 }))
        .await;
    assert_eq!(output["ended"], "timed_out");
    assert_eq!(output["exit_code"], 124);
    assert_eq!(
        output["note"],
        "timed out after 1 s and was killed with all that it had started"
    );
    assert!(output["duration_ms"].as_u64().unwrap() >= 1000, "{output}");
}

// S1-93
#[tokio::test]
async fn limits_are_set_by_call_and_by_host() {
    let place = Place::new(commands().most(std::time::Duration::from_millis(700)));
    let output = place
        .run(json!({ "command": ["sleep", "60"], "timeout_seconds": 3600 }))
        .await;
    assert!(
        output["note"]
            .as_str()
            .unwrap()
            .starts_with("timed out after 0.7 s"),
        "{output}"
    );
    let place = Place::new(commands().keep(Keep {
        head: 5,
        tail: 3,
        limit: 100,
    }));
    let output = place
        .run(json!({ "command": ["printf", "0123456789abcdef"] }))
        .await;
    assert_eq!(output["stdout"], "01234\n… 8 bytes left out …\ndef");
    assert_eq!(
        (&output["stdout_bytes"], &output["ended"]),
        (&json!(16), &json!("exited"))
    );
}

// S1-92
#[tokio::test]
async fn a_flood_is_killed_at_the_limit() {
    let place = Place::new(commands());
    let output = place
        .run(json!({ "command": ["yes", "flood"], "timeout_seconds": 60 }))
        .await;
    assert_eq!(output["ended"], "too_much_output");
    assert!(
        output["note"]
            .as_str()
            .unwrap()
            .starts_with("wrote more than 5000000 bytes and was killed"),
        "{output}"
    );
    assert!(output["stdout"].as_str().unwrap().len() < 40_000);
    assert!(output["stdout_bytes"].as_u64().unwrap() < 5_100_000);
}

// S1-92: both streams have one limit
#[tokio::test]
async fn a_flood_on_both_streams_is_killed_at_the_limit_of_both() {
    let keep = Keep {
        head: 100,
        tail: 100,
        limit: 1_000_000,
    };
    let place = Place::new(commands().shell("/bin/sh").keep(keep));
    let much = "head -c 600000 /dev/zero | tr '\\0' x";
    let out = place.run(json!({ "command": [much] })).await;
    assert_eq!(
        (&out["ended"], &out["stdout_bytes"]),
        (&json!("exited"), &json!(600_000))
    );
    let script = format!("{much}; {{ {much}; }} >&2; sleep 60; echo over > over");
    let out = place.run(json!({ "command": [script] })).await;
    assert_eq!(out["ended"], "too_much_output", "{out}");
    let bytes = |stream: &str| out[stream].as_u64().unwrap();
    let (one, other) = (bytes("stdout_bytes"), bytes("stderr_bytes"));
    assert!(one <= 600_000 && other <= 600_000, "{one} {other}");
    assert!(one + other > 1_000_000, "{one} {other}");
    assert!(
        out["note"]
            .as_str()
            .unwrap()
            .starts_with("wrote more than 1000000 bytes and was killed"),
        "{out}"
    );
    assert!(
        !place
            .root
            .path()
            .join("acme/conversations/c1/over")
            .exists()
    );
}

#[tokio::test]
async fn output_is_told_in_whole_lines_while_it_comes() {
    let place = Place::new(commands().shell("/bin/sh"));
    let script = "echo one; while [ ! -e go ]; do sleep 0.01; done; printf tw; sleep 0.1; echo o; echo err >&2; printf end";
    let tools = Registry::builder()
        .tool::<run_command>()
        .build()
        .unwrap()
        .open();
    let arguments = json!({ "command": [script] }).to_string();
    let cx = place.context();
    let mut events = pin!(tools.stream(ToolCall::new("1", "run_command", arguments), &cx));
    let mut told = [String::new(), String::new()];
    while let Some(event) = events.next().await {
        let ToolEvent::Progress(value) = event else {
            continue;
        };
        let step: Value = serde_json::from_str(value.get()).unwrap();
        let text = step["text"].as_str().unwrap();
        // The command waits for this: the first line is told while it runs.
        std::fs::write(place.root.path().join("acme/conversations/c1/go"), "").unwrap();
        assert!(text.ends_with('\n') || text == "end", "{text}");
        told[usize::from(step["stream"] == "stderr")].push_str(text);
    }
    assert_eq!(told, ["one\ntwo\nend", "err\n"]);
}

#[tokio::test]
async fn it_runs_in_a_folder_of_the_workspace_and_in_no_other() {
    let place = Place::new(commands());
    place
        .run(json!({ "command": ["mkdir", "-p", "a/b"] }))
        .await;
    place
        .run(json!({ "command": ["ln", "-s", "/usr", "out"] }))
        .await;
    let output = place.run(json!({ "command": ["pwd"], "cwd": "a/b" })).await;
    assert!(
        output["stdout"]
            .as_str()
            .unwrap()
            .ends_with("/acme/conversations/c1/a/b\n"),
        "{output}"
    );
    for cwd in [
        "..", "/", "/usr", "a/../..", "out", "out/bin", "missing", "a\0b",
    ] {
        let said = place
            .refused(json!({ "command": ["pwd"], "cwd": cwd }))
            .await;
        assert!(
            said.contains("workspace") || said.contains("NUL") || said.contains("null"),
            "{cwd}: {said}"
        );
    }
}

#[tokio::test]
async fn there_is_no_shell_unless_the_host_allows_one() {
    let place = Place::new(commands());
    for command in [
        json!(["sh", "-c", "id"]),
        json!(["/bin/bash", "-lc", "id"]),
        json!(["dash", "-ec", "id"]),
    ] {
        let said = place.refused(json!({ "command": command })).await;
        assert!(said.starts_with("there is no shell here"), "{said}");
    }
    // A script is no line, and its arguments are its own.
    place
        .run(json!({ "command": ["cp", "/dev/null", "build.sh"] }))
        .await;
    let output = place
        .run(json!({ "command": ["sh", "build.sh", "-race"] }))
        .await;
    assert_eq!(output["exit_code"], 0, "{output}");
    let said = place.refused(json!({ "command": ["echo hi > x"] })).await;
    assert!(
        said.starts_with("there is no program `echo hi > x`, write the program and each"),
        "{said}"
    );
    let said = place
        .refused(json!({ "command": ["no-such-program", "x"] }))
        .await;
    assert_eq!(said, "there is no program `no-such-program`");
    let place = Place::new(commands().shell("/bin/sh"));
    let output = place.run(json!({ "command": ["echo hi | tr h H"] })).await;
    assert_eq!(output["stdout"], "Hi\n");
}

#[tokio::test]
async fn text_is_fed_and_bytes_that_are_none_are_shown() {
    let place = Place::new(commands());
    let output = place
        .run(json!({ "command": ["wc", "-c"], "stdin": "x".repeat(1 << 20) }))
        .await;
    assert_eq!(output["stdout"], "1048576\n");
    let output = place.run(json!({ "command": ["cat"] })).await;
    assert_eq!(output["stdout"], "");
    let output = place.run(json!({ "command": ["printf", "a\\377b"] })).await;
    assert_eq!(output["stdout"], "a\u{fffd}b");
}

#[tokio::test]
async fn memory_that_it_may_not_have_is_told() {
    let place = Place::new(commands().limits(Limits::default().memory(128 << 20)));
    let output = place
        .run(json!({ "command": ["python3", "-c", "bytearray(1 << 30)"] }))
        .await;
    assert_ne!(output["exit_code"], 0, "{output}");

    let report = place.commands.isolation().report().await.unwrap();
    let memory = report.item("memory").unwrap();
    if !memory.open.is_empty() {
        return println!("skipped: a job together: {}", memory.mechanism);
    }
    // Many that each stay below: the limit of all of them is told by its name.
    let script = "import subprocess, time\n\
        one = ['python3', '-c', 'import time; b = bytearray(64 << 20); time.sleep(60)']\n\
        many = [subprocess.Popen(one) for _ in range(4)]\n\
        while all(each.poll() is None for each in many): time.sleep(0.01)\n\
        for each in many: each.kill()";
    let output = place
        .run(json!({ "command": ["python3", "-c", script], "timeout_seconds": 60 }))
        .await;
    assert_eq!(output["ended"], "out_of_memory", "{output}");
    assert_eq!(
        output["note"],
        "needed more memory than it may have, and the system killed it or a part of it"
    );
}

#[tokio::test]
async fn a_context_without_isolation_or_workspace_has_no_commands() {
    let tools = Registry::builder()
        .tool::<run_command>()
        .build()
        .unwrap()
        .open();
    let call = || ToolCall::new("1", "run_command", r#"{"command": ["true"]}"#);
    let root = tempdir().unwrap();
    let workspaces = Workspaces::new(root.path());
    let only_workspace = ToolContext::builder()
        .workspace("acme")
        .conversation("c1")
        .with(workspaces)
        .build();
    let only_commands = ToolContext::builder().with(commands()).build();
    for cx in [only_workspace, only_commands, ToolContext::anonymous()] {
        let result = tools.call(call(), &cx).await;
        assert_eq!(result.error().unwrap().kind(), ErrorKind::Unavailable);
    }
}

#[test]
fn it_may_do_anything_and_says_so() {
    let registry = Registry::builder().tool::<run_command>().build().unwrap();
    let tools = registry.open();
    let def = tools.get("run_command").unwrap();
    assert_eq!(def.effect(), tool_core::Effect::ALL);
}

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
