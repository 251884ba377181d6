//! The packs on four kinds of hosts: as root and as an unprivileged user, each with the helper and with process groups only.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::process::Command;

use serde_json::{Value, json};
use test_support::{Missing, Ran};
use tool_core::prelude::*;
use tool_std::fs::{edit_file, read_file, search_files, write_file};
use tool_std::git::{Pusher, git_push};
use tool_std::isolate::Isolation;
use tool_std::process::{Commands, run_command};

use crate::commands::HOST;
use crate::mark::Mark;
use crate::workspace::CHILD;
use crate::world::{World, output, tools};

/// The variables with the isolation and the helper of the child process.
const ISOLATION: &str = "STD_TESTS_KERNEL_ISOLATION";
const HELPER: &str = "STD_TESTS_KERNEL_HELPER";

// The packs work on hosts that run as root or not, with the helper or with process groups only.
pub(crate) fn packs_work_with_and_without_root_and_helper_case() -> Ran {
    let root = tempfile::tempdir().unwrap();
    let path = root.path();
    fs::set_permissions(path, fs::Permissions::from_mode(0o777)).unwrap();
    let (tests, helper) = (path.join("tests"), path.join("host"));
    fs::copy(std::env::current_exe().unwrap(), &tests).unwrap();
    fs::copy(HOST, &helper).unwrap();
    let own: &[&str] = &["env"];
    let nobody: &[&str] = &[
        "setpriv",
        "--reuid=65534",
        "--regid=65534",
        "--clear-groups",
    ];
    let mut missing = Ok(());
    for user in [own, nobody] {
        for isolation in ["helper", "group"] {
            let mut child = Command::new(user[0]);
            child.args(&user[1..]).arg(&tests).current_dir(path);
            child.env(CHILD, "packs_work").env("TMPDIR", path);
            child.env(ISOLATION, isolation).env(HELPER, &helper);
            match child.output() {
                Ok(said) if String::from_utf8_lossy(&said.stdout).contains("child begins") => {
                    assert!(said.status.success(), "{user:?} {isolation}: {said:?}");
                }
                _ => {
                    missing = Err(Missing::new(
                        "only root can run a program as a different user with `setpriv`",
                    ));
                }
            }
        }
    }
    missing
}

/// Calls the file, process and git tools, and checks that no process or file remains.
pub(crate) fn packs_work() {
    let isolation = match std::env::var(ISOLATION).unwrap().as_str() {
        "group" => Isolation::GroupOnly,
        _ => Isolation::new().helper(std::env::var_os(HELPER).unwrap()),
    };
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(2)
        .enable_all()
        .build()
        .unwrap();
    runtime.block_on(work(isolation));
}

async fn work(isolation: Isolation) {
    let world = World::new();
    let cx = ToolContext::builder()
        .workspace("acme")
        .conversation("c1")
        .with(world.workspaces())
        .with(isolation.clone())
        .with(Commands::new(isolation))
        .with(world.files())
        .build();
    let files = toolset![write_file, edit_file, read_file, search_files, run_command];
    let git = tools();
    let call = async |name: &str, arguments: Value| {
        let call = ToolCall::new("1", name, arguments.to_string());
        let tools = if name.starts_with("git_") {
            &git
        } else {
            &files
        };
        output(&tools.call(call, &cx).await)
    };
    let cloned = call("git_clone", json!({ "repo": "acme/site" })).await;
    let path = cloned["path"].as_str().unwrap().to_owned();
    let below = path.split_once("/c1/").unwrap().1;
    let file = format!("{below}/notes/plan.md");
    call("write_file", json!({ "path": file, "content": "one\n" })).await;
    let edit = json!({ "path": file, "old_text": "one", "new_text": "two" });
    call("edit_file", edit).await;
    let found = call("search_files", json!({ "path": below, "pattern": "^two$" })).await;
    assert_eq!(found["matches"], 1);
    // The process that the command starts in the background is killed, even with process groups only.
    let mark = Mark::new();
    let script = world.workspace().join("run.sh");
    crate::world::script(
        &script,
        &format!("sleep {} & cat {file}; echo made > made", mark.seconds()),
    );
    let ran = call("run_command", json!({ "command": [script] })).await;
    assert_eq!(
        (&ran["stdout"], &ran["exit_code"]),
        (&json!("two\n"), &json!(0))
    );
    mark.wait_for(0);
    let read = call("read_file", json!({ "path": "made" })).await;
    assert_eq!(read["content"], "made\n");
    let commit = json!({ "path": path, "message": "Plan" });
    let commit = call("git_commit", commit).await;
    assert_eq!(commit["files"], 1);
    let branch = json!({ "path": path, "action": "create", "name": "plan" });
    assert_eq!(call("git_branch", branch).await["current"], "plan");
    let handle: Pusher = cx.get().unwrap();
    let pushed = git_push(&handle, None, path.clone(), None).await.unwrap();
    assert_eq!(commit["commit"], pushed.commit);
    let fetch = json!({ "path": path, "branch": "plan" });
    assert_eq!(call("git_fetch", fetch).await["commit"], pushed.commit);
    let status = call("git_status", json!({ "path": path })).await;
    assert_eq!(status["changes"], json!([]));
    assert_eq!(call("git_diff", json!({ "path": path })).await["diff"], "");
    let log = call("git_log", json!({ "path": path, "limit": 1 })).await;
    assert_eq!(log["commits"][0]["subject"], "Plan");
    assert!(world.workspaces().delete_instance("acme").unwrap());
    assert!(!world.workspace().exists());
}
