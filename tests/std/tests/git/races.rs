//! Races of git with programs that change the repository at the same time, with full isolation.
//!
//! During the whole test, `run_command` runs a program in the workspace. The program has no network, and changes the repositories. Each race runs 50
//! times or `STD_TESTS_GIT_ROUNDS` times. The race of `git_push` is slow, so it runs a fifth as often.

use std::fs;
use std::path::{Path, PathBuf};

use serde_json::{Value, json};
use tool_core::prelude::*;
use tool_std::git::{Pusher, git_push};
use tool_std::process::{Commands, run_command};

use crate::server::Server;
use crate::world::{TOKEN, World, call, clone, holding, isolation, output, script};

/// Returns the number of rounds of each race.
fn races() -> usize {
    let said = std::env::var("STD_TESTS_GIT_ROUNDS").ok();
    said.map_or(50, |rounds| rounds.parse().unwrap())
}

/// A program that runs in the workspace until the file `stop` exists.
struct Attack {
    stop: PathBuf,
    runs: tokio::task::JoinHandle<Value>,
}

impl Attack {
    /// Runs the lines of a shell script in a loop.
    async fn start(world: &World, cx: &ToolContext, lines: &str) -> Self {
        let (stop, started) = (
            world.workspace().join("stop"),
            world.workspace().join("started"),
        );
        let file = world.workspace().join("attack.sh");
        script(
            &file,
            &format!(
                "cd {}; touch started; while [ ! -e stop ]; do\n{lines}\ndone",
                world.workspace().display()
            ),
        );
        let tools = Registry::builder().tool::<run_command>().build().unwrap();
        let arguments = json!({ "command": [file], "timeout_seconds": 600 }).to_string();
        let (tools, cx) = (tools.open(), cx.clone());
        let runs = tokio::spawn(async move {
            let call = ToolCall::new("attack", "run_command", arguments);
            output(&tools.call(call, &cx).await)
        });
        while !started.exists() {
            assert!(!runs.is_finished(), "the attack has ended early");
            tokio::time::sleep(std::time::Duration::from_millis(5)).await;
        }
        Self { stop, runs }
    }

    async fn end(self) {
        fs::write(&self.stop, "").unwrap();
        let ran = self.runs.await.unwrap();
        assert_eq!(ran["ended"], "exited", "{ran}");
    }
}

fn cx(world: &World, git: tool_std::git::Git) -> ToolContext {
    ToolContext::builder()
        .workspace("acme")
        .conversation("c1")
        .secret("github_token", SecretString::from(TOKEN))
        .with(world.workspaces())
        .with(isolation())
        .with(Commands::new(isolation()))
        .with(git)
        .build()
}

/// Writes a filter that tries to copy the token, and records that it ran.
fn thief(world: &World) -> PathBuf {
    let (filter, home) = (
        world.path("ws/acme/conversations/c1/evil.sh"),
        world.workspace(),
    );
    script(
        &filter,
        &format!(
            "cd {}; touch ran\nfor helper in $(env | grep -o \"/[^' \\\"]*/helper\"); do cat \"$(dirname \"$helper\")/token\" >> stolen; done 2>/dev/null\ncat",
            home.display()
        ),
    );
    filter
}

/// Starts a server at the name `localhost`, which a git setting can redirect, and another server on the same port of a different address.
fn two_servers(world: &World) -> (Server, Server, tool_std::git::Git) {
    let server = world.server();
    let port = server.port();
    let other = Server::start_at(
        &world.path("srv"),
        Some(TOKEN),
        ([127, 0, 0, 2], port).into(),
    );
    let git = tool_std::git::Git::new()
        .host(&format!("http://localhost:{port}"))
        .unwrap()
        .author("Bot", "bot@example.org");
    (server, other, git)
}

/// Returns shell lines that alternately replace the configuration of a clone with the original and with a changed configuration.
fn exchanges(clone: &Path, added: &str) -> String {
    let dot_git = clone.join(".git");
    let good = fs::read_to_string(dot_git.join("config")).unwrap();
    fs::write(dot_git.join("good"), &good).unwrap();
    fs::write(dot_git.join("evil"), format!("{good}{added}")).unwrap();
    format!(
        "cd {0}; cp good a; mv a config; cp evil b; mv b config; cp good a; mv a config; cd - >/dev/null",
        dot_git.display()
    )
}

// A filter that a program adds during `git_clone` does not run, and the token is not in the workspace.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn filter_added_during_a_clone_has_no_token_or_network() {
    let world = World::new();
    let server = world.server();
    let cx = cx(&world, crate::world::http(&server));
    // The first clone creates the workspace.
    clone(&cx, "acme/site").await;
    let filter = thief(&world);
    let lines = format!(
        "for git in .repos/*/*/.git; do\n\
         [ -e $git/config ] && ! grep -q evil $git/config && printf '[filter \"x\"]\\n\\tsmudge = {}\\n' >> $git/config && mkdir -p $git/info && echo '* filter=x' > $git/info/attributes\n\
         done 2>/dev/null",
        filter.display()
    );
    let attack = Attack::start(&world, &cx, &lines).await;
    for _ in 0..races() {
        let path = clone(&cx, "acme/site").await;
        // The clone is complete, although the program changed the repository.
        assert!(path.join("README.md").exists() && path.join("src/main.rs").exists());
        // Ignore an error, because the program may still write to the folder.
        let _ = fs::remove_dir_all(&path);
    }
    attack.end().await;
    assert!(!world.workspace().join("ran").exists(), "the filter ran");
    assert!(holding(&world.workspace(), TOKEN).is_empty());
}

// Settings that a program adds during `git_fetch` do not redirect the request with the token.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn config_added_during_a_fetch_does_not_leak_the_token() {
    let world = World::new();
    let (server, other, git) = two_servers(&world);
    let cx = cx(&world, git);
    let clone = clone(&cx, "acme/site").await;
    let added = format!(
        "[http]\n\tcurloptResolve = localhost:{}:127.0.0.2\n",
        server.port()
    );
    let attack = Attack::start(&world, &cx, &exchanges(&clone, &added)).await;
    let mut fetched = 0;
    for _ in 0..races() {
        let result = call(&cx, "git_fetch", json!({ "path": clone })).await;
        fetched += usize::from(!result.is_error());
    }
    attack.end().await;
    assert!(fetched > 0, "the program made every fetch fail");
    assert!(other.seen().is_empty(), "{:?}", other.seen());
    // Control test: the setting redirects plain git.
    let mut plain = world.command(&world.path(""));
    let resolve = format!("http.curloptResolve=localhost:{}:127.0.0.2", server.port());
    plain.args(["-c", &resolve, "ls-remote"]);
    plain.arg(format!("http://localhost:{}/acme/site.git", server.port()));
    plain.output().unwrap();
    assert!(!other.seen().is_empty());
}

// Settings that a program adds during `git_push` do not redirect the request with the token.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn config_added_during_a_push_does_not_leak_the_token() {
    let world = World::new();
    let (server, other, git) = two_servers(&world);
    let cx = cx(&world, git);
    let clone = clone(&cx, "acme/site").await;
    let git: Pusher = cx.get().unwrap();
    let added = format!(
        "[http]\n\tcurloptResolve = localhost:{}:127.0.0.2\n",
        server.port()
    );
    let lines = exchanges(&clone, &added);
    let attack = Attack::start(&world, &cx, &lines).await;
    let mut pushed = 0;
    for round in 0..races() / 5 {
        fs::write(clone.join("round"), round.to_string()).unwrap();
        let message = json!({ "path": clone, "message": format!("Round {round}") });
        call(&cx, "git_commit", message).await;
        let result = git_push(&git, None, clone.display().to_string(), None).await;
        pushed += usize::from(result.is_ok());
    }
    attack.end().await;
    assert!(pushed > 0, "the program made every push fail");
    assert!(other.seen().is_empty(), "{:?}", other.seen());
}
