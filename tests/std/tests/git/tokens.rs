//! Storage of git tokens: a token is in one file, and never in arguments, variables, logs or workspaces.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use serde_json::json;
use tool_core::prelude::*;
use tool_core::store::{AuditFilter, AuditSink, MemoryStore, Scope};
use tool_core::{Audit, ErrorKind, Gate};
use tool_std::git::{Pusher, git_push};
use tool_std::isolate::Isolation;

use crate::server::{Manner, Server};
use crate::world::{TOKEN, World, call, clone, holding, http, isolation, output, tools, tree};

fn mode(path: &Path) -> u32 {
    fs::metadata(path).unwrap().permissions().mode() & 0o7777
}

/// A thread that searches the arguments and environments of all processes for the token, and records the modes of the files in the conversation's
/// state.
struct Watch {
    done: Arc<AtomicBool>,
    seen: Option<std::thread::JoinHandle<Seen>>,
}

#[derive(Default)]
struct Seen {
    /// The processes with the token in their arguments or environment.
    leaks: Vec<String>,
    /// The arguments that contain the test's folder. They prove that the thread has detected the programs of the clone.
    arguments: Vec<String>,
    /// All modes that files in the state had at any time.
    modes: Vec<(String, u32)>,
}

impl Watch {
    fn start(world: &World) -> Self {
        let done = Arc::new(AtomicBool::new(false));
        let (stop, state, root) = (Arc::clone(&done), world.state(), world.path(""));
        let root = root.to_str().unwrap().to_owned();
        let seen = std::thread::spawn(move || {
            let mut seen = Seen::default();
            while !stop.load(Ordering::Relaxed) {
                for process in fs::read_dir("/proc").unwrap().flatten() {
                    look(&process.path(), &root, &mut seen);
                }
                for (path, mode) in tree(&state) {
                    let name = path.file_name().unwrap().to_str().unwrap().to_owned();
                    let parent = path
                        .parent()
                        .unwrap()
                        .file_name()
                        .unwrap()
                        .to_str()
                        .unwrap();
                    let lent = |name: &str| name.split('-').next() == Some("clone");
                    let name = if lent(parent) {
                        format!("clone/{name}")
                    } else if lent(&name) {
                        String::from("clone")
                    } else {
                        name
                    };
                    if !seen.modes.contains(&(name.clone(), mode)) {
                        seen.modes.push((name, mode));
                    }
                }
            }
            seen
        });
        Self {
            done,
            seen: Some(seen),
        }
    }

    fn end(mut self) -> Seen {
        self.done.store(true, Ordering::Relaxed);
        self.seen.take().unwrap().join().unwrap()
    }
}

fn look(process: &Path, root: &str, seen: &mut Seen) {
    // The test process itself is checked too, because it has the token only in its memory.
    for file in ["cmdline", "environ"] {
        let Ok(bytes) = fs::read(process.join(file)) else {
            continue;
        };
        let text = String::from_utf8_lossy(&bytes).replace('\0', " ");
        if text.contains(TOKEN) {
            seen.leaks.push(format!("{file}: {text}"));
        }
        if file == "cmdline" && text.contains(root) && !seen.arguments.contains(&text) {
            seen.arguments.push(text);
        }
    }
}

// S1-83, S1-84, S1-85: the token is first in a temporary file and then in its final file, and in no other file. The helper script contains only the
// path.
#[tokio::test]
async fn token_is_in_two_files_in_turn_and_nowhere_else() {
    let world = World::new();
    let server = world.server();
    let cx = world.cx(http(&server));
    let watch = Watch::start(&world);
    let arguments = json!({ "repo": "acme/site" });
    let result = call(&cx, "git_clone", arguments).await;
    let seen = watch.end();
    let cloned = output(&result);
    let clone = PathBuf::from(cloned["path"].as_str().unwrap());
    let state = world.state_of(&clone);

    let (token, helper) = (state.join("token"), state.join("helper"));
    assert_eq!(fs::read_to_string(&token).unwrap(), format!("{TOKEN}\n"));
    assert_eq!((mode(&token), mode(&helper)), (0o600, 0o700));
    assert_eq!((mode(&state), mode(&world.state())), (0o700, 0o700));
    let script = fs::read_to_string(&helper).unwrap();
    assert!(script.contains(token.to_str().unwrap()) && !script.contains(TOKEN));
    // The temporary files of the clone are deleted.
    assert!(
        tree(&world.state())
            .keys()
            .all(|path| !path.to_str().unwrap().contains("clone-"))
    );
    // No other file contains the token, in particular no file in a workspace.
    assert_eq!(holding(&world.path(""), TOKEN), [token]);
    assert!(holding(&world.workspace(), TOKEN).is_empty());
    assert!(!result.model_text().contains(TOKEN) && !result.model_text().contains("[secret"));
    assert!(seen.leaks.is_empty(), "{:?}", seen.leaks);
    for (name, mode) in seen.modes {
        let right = match name.as_str() {
            "token" | "clone/token" | "url" | "used" => 0o600,
            _ => 0o700,
        };
        assert_eq!(mode, right, "{name}");
    }
    // The server has received the token.
    let given = server
        .seen()
        .iter()
        .filter(|seen| seen.authorization.is_some())
        .count();
    assert!(given >= 2, "{given}");
}

// S1-83, S1-84: while git runs, no argument and no environment contains the token.
#[tokio::test]
async fn while_git_runs_the_token_is_in_no_argument_and_no_environment() {
    let world = World::new();
    let server = world.server();
    server.behave(Manner::Hang);
    let git = http(&server).deadline(Duration::from_secs(3));
    let cx = world.cx(git);
    let watch = Watch::start(&world);
    let result = call(&cx, "git_clone", json!({ "repo": "acme/site" })).await;
    let seen = watch.end();
    assert_eq!(result.error().unwrap().kind(), ErrorKind::TimedOut);
    // Git has sent the token and has waited for an answer.
    assert!(
        server
            .seen()
            .iter()
            .any(|seen| seen.authorization.is_some())
    );
    assert!(
        seen.arguments
            .iter()
            .any(|line| line.contains("clone") && line.contains("--depth=1"))
    );
    assert!(seen.leaks.is_empty(), "{:?}", seen.leaks);
    for (name, mode) in [
        ("clone", 0o700),
        ("clone/token", 0o600),
        ("clone/helper", 0o700),
    ] {
        let seen: Vec<u32> = seen
            .modes
            .iter()
            .filter(|(seen, _)| seen == name)
            .map(|(_, mode)| *mode)
            .collect();
        // The file or folder had the same mode at all times.
        assert_eq!(seen, [mode], "{name}");
    }
    // No file of the clone remains.
    assert!(tree(&world.state()).is_empty() && tree(&world.workspace()).is_empty());
    assert!(holding(&world.path(""), TOKEN).is_empty());
}

// S1-83, S1-84: a token that the server refuses is deleted, and the error does not contain it.
#[tokio::test]
async fn refused_token_is_deleted_and_not_shown() {
    let world = World::new();
    let server = Server::start(&world.path("srv"), Some("tok-another-0000000"));
    let cx = world.cx(http(&server));
    let result = call(&cx, "git_clone", json!({ "repo": "acme/site" })).await;
    let error = result.error().unwrap();
    assert!(
        error.model_text().contains("refused access"),
        "{}",
        error.model_text()
    );
    assert!(!error.model_text().contains(TOKEN) && !error.operator_text().contains(TOKEN));
    assert!(tree(&world.state()).is_empty() && tree(&world.workspace()).is_empty());
    // Without a token, git does not prompt for a password.
    let without = ToolContext::builder()
        .workspace("acme")
        .conversation("c1")
        .with(world.workspaces())
        .with(isolation())
        .with(http(&server))
        .build();
    let result = call(&without, "git_clone", json!({ "repo": "acme/site" })).await;
    assert!(
        result
            .error()
            .unwrap()
            .model_text()
            .contains("refused access")
    );
    assert!(tree(&world.state()).is_empty());
}

// S1-84: neither the audit rows nor the logs contain the token.
#[tokio::test]
async fn the_token_is_in_no_audit_row_and_no_log() {
    #[derive(Clone, Default)]
    struct Lines(Arc<Mutex<Vec<u8>>>);
    impl std::io::Write for Lines {
        fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
            self.0.lock().unwrap().extend_from_slice(bytes);
            Ok(bytes.len())
        }
        fn flush(&mut self) -> std::io::Result<()> {
            Ok(())
        }
    }
    use tracing::instrument::WithSubscriber as _;

    let world = World::new();
    let server = world.server();
    let cx = world.cx(http(&server));
    let store = MemoryStore::default();
    let gate = Gate::builder()
        .audit(Audit::required(store.clone()))
        .build();
    let tools = tools().through(&gate);
    let lines = Lines::default();
    let writer = lines.clone();
    let subscriber = tracing_subscriber::fmt()
        .with_writer(move || writer.clone())
        .with_max_level(tracing::Level::TRACE)
        .finish();
    let work = async {
        let call = ToolCall::new("1", "git_clone", r#"{"repo": "acme/site"}"#);
        let cloned = output(&tools.call(call, &cx).await);
        let path = json!({ "path": cloned["path"] }).to_string();
        for name in ["git_fetch", "git_status", "git_log", "git_diff"] {
            output(
                &tools
                    .call(ToolCall::new(name, name, path.clone()), &cx)
                    .await,
            );
        }
    };
    work.with_subscriber(subscriber).await;
    let rows = store
        .export(Scope::All, &AuditFilter::default())
        .await
        .unwrap();
    assert_eq!(rows.len(), 5);
    let rows = serde_json::to_string(&rows).unwrap();
    let log = String::from_utf8(lines.0.lock().unwrap().clone()).unwrap();
    assert!(log.contains("git_clone"), "the call is not logged");
    for text in [rows, log] {
        assert!(!text.contains(TOKEN) && !text.contains("[secret"), "{text}");
    }
}

// S1-84: neither `read_file` nor `git_diff` returns the token, even through a symbolic link.
#[tokio::test]
async fn no_tool_reads_the_token() {
    let world = World::new();
    let server = world.server();
    let cx = world.cx(http(&server));
    let clone = clone(&cx, "acme/site").await;
    let token = world.state_of(&clone).join("token");
    let back = "../../git-state/c1";
    let name = world.state_of(&clone);
    let name = name.file_name().unwrap().to_str().unwrap();
    for path in [
        token.to_str().unwrap().to_owned(),
        format!("{back}/{name}/token"),
        format!("{}/{back}/{name}/token", world.workspace().display()),
    ] {
        let read = call(&cx, "read_file", json!({ "path": path })).await;
        let error = read.error().unwrap();
        assert!(!error.model_text().contains(TOKEN), "{path}");
    }
    std::os::unix::fs::symlink(&token, clone.join("link")).unwrap();
    let read = call(&cx, "read_file", json!({ "path": clone.join("link") })).await;
    assert!(read.is_error());
    // Git does not follow the link either. It stores the link itself.
    fs::write(clone.join("x"), "x").unwrap();
    output(&call(&cx, "git_commit", json!({ "path": clone, "message": "x" })).await);
    let diff = json!({ "path": clone, "from": "HEAD~1", "to": "HEAD" });
    let diff = call(&cx, "git_diff", diff).await;
    assert!(
        output(&diff)["diff"].as_str().unwrap().contains("link")
            && !diff.model_text().contains(TOKEN)
    );
}

// S1-86: plain git fetches and pushes later with the stored token.
#[tokio::test]
async fn git_fetches_and_pushes_later_with_the_stored_token() {
    let world = World::new();
    let server = world.server();
    let cx = world.cx(http(&server));
    let clone = clone(&cx, "acme/site").await;
    let seed = world.path("seed");
    let there = world.path("srv/acme/site.git");
    fs::write(seed.join("later"), "later").unwrap();
    world.git(&seed, &["add", "."]);
    world.git(&seed, &["commit", "-qm", "Later"]);
    world.git(&seed, &["push", "-q", there.to_str().unwrap(), "main"]);
    world.git(&clone, &["fetch", "-q"]);
    assert_eq!(
        world.git(&clone, &["log", "-1", "--format=%s", "origin/main"]),
        "Later"
    );
    world.git(&clone, &["switch", "-q", "-c", "mine"]);
    world.git(&clone, &["commit", "-q", "--allow-empty", "-m", "Mine"]);
    world.git(&clone, &["push", "-q", "origin", "mine"]);
    assert_eq!(
        world.git(&there, &["log", "-1", "--format=%s", "mine"]),
        "Mine"
    );
    assert!(holding(&world.workspace(), TOKEN).is_empty());
}

// S1-86: the tools fetch and push in later turns whose context lacks the secret.
#[tokio::test]
async fn the_tools_fetch_and_push_later_without_the_secret() {
    let world = World::new();
    let server = world.server();
    let clone = clone(&world.cx(http(&server)), "acme/site").await;
    // The context of a later turn has no secrets.
    let cx = ToolContext::builder()
        .workspace("acme")
        .conversation("c1")
        .with(world.workspaces())
        .with(isolation())
        .with(http(&server))
        .build();
    let watch = Watch::start(&world);
    output(&call(&cx, "git_fetch", json!({ "path": clone })).await);
    fs::write(clone.join("x"), "x").unwrap();
    output(&call(&cx, "git_commit", json!({ "path": clone, "message": "x" })).await);
    let git: Pusher = cx.get().unwrap();
    git_push(&git, None, clone.display().to_string(), None)
        .await
        .unwrap();
    let seen = watch.end();
    assert!(seen.leaks.is_empty(), "{:?}", seen.leaks);
    let there = world.path("srv/acme/site.git");
    assert_eq!(
        world.git(&there, &["log", "-1", "--format=%s", "main"]),
        "x"
    );
}

// S1-85: the target of a redirect does not receive the token.
#[tokio::test]
async fn redirect_target_gets_no_token() {
    for isolation in [isolation(), Isolation::GroupOnly] {
        let world = World::new();
        let (server, other) = (world.server(), world.server());
        let cx = world.conversation(http(&server), "c1", isolation);
        let clone = clone(&cx, "acme/site").await;
        server.behave(Manner::Redirect(other.base()));
        let fetched = call(&cx, "git_fetch", json!({ "path": clone })).await;
        assert!(fetched.is_error());
        let again = call(&cx, "git_clone", json!({ "repo": "acme/site" })).await;
        assert!(again.is_error());
        assert!(other.seen().is_empty(), "{:?}", other.seen());
        // Plain git follows the redirect, but the stored helper script does not send the token to its target.
        let mut plain = world.command(&world.path(""));
        plain
            .args(["-c", "http.followRedirects=true", "-C"])
            .arg(&clone)
            .args(["fetch", "-q"]);
        plain.output().unwrap();
        let wanted = other.seen();
        assert!(!wanted.is_empty(), "plain git did not follow the redirect");
        assert!(
            wanted.iter().all(|seen| seen.authorization.is_none()),
            "{wanted:?}"
        );
    }
}
