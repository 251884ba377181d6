//! Replacement of a conversation's stored git token with a newer one.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;

use serde_json::json;
use tool_core::prelude::*;
use tool_std::git::{Git, Pusher, git_push};

use crate::server::Server;
use crate::world::{TOKEN, World, call, clone, holding, http, isolation, output, script, tree};

const OTHER: &str = "tok-9d2b60e1c47f-renewed";

/// Builds the context of a turn, with or without the secret.
fn turn(world: &World, git: Git, token: Option<&str>) -> ToolContext {
    let cx = ToolContext::builder()
        .workspace("acme")
        .conversation("c1")
        .with(world.workspaces())
        .with(isolation())
        .with(git);
    match token {
        Some(token) => cx.secret("github_token", SecretString::from(token)).build(),
        None => cx.build(),
    }
}

fn modes(state: &Path) -> Vec<(String, u32)> {
    let name = |path: &Path| path.file_name().unwrap().to_str().unwrap().to_owned();
    let all = tree(state).into_iter();
    all.map(|(path, mode)| (name(&path), mode)).collect()
}

async fn push(cx: &ToolContext, token: Option<&str>, clone: &Path) -> Result<(), ToolError> {
    let git: Pusher = cx.get().unwrap();
    let path = clone.display().to_string();
    let pushed = git_push(&git, token.map(SecretString::from), path, None).await;
    pushed.map(|_| ())
}

// S1-84, S1-86: the token of a call replaces the stored token, for example one that has expired.
#[tokio::test]
async fn call_token_replaces_the_stored_token() {
    let world = World::new();
    let server = world.server();
    let cx = |token: Option<&str>| turn(&world, http(&server), token);
    let clone = clone(&cx(Some(TOKEN)), "acme/site").await;
    let state = world.state_of(&clone);
    let helper = fs::read_to_string(state.join("helper")).unwrap();
    let fetched = async |token: Option<&str>| {
        let result = call(&cx(token), "git_fetch", json!({ "path": clone })).await;
        !result.is_error()
    };
    assert!(fetched(None).await);
    // The first token expires.
    server.expect(OTHER);
    for stale in [None, Some(TOKEN), Some(""), Some(" \n")] {
        assert!(!fetched(stale).await, "{stale:?}");
    }
    assert!(fetched(Some(OTHER)).await);
    assert_eq!(holding(&world.path("ws"), OTHER), [state.join("token")]);
    assert!(holding(&world.path("ws"), TOKEN).is_empty());
    // Later turns without a token use the stored token, and so does plain git.
    assert!(fetched(None).await);
    world.git(&clone, &["fetch", "-q"]);
    world.git(&clone, &["commit", "-q", "--allow-empty", "-m", "Mine"]);
    push(&cx(None), None, &clone).await.unwrap();
    // A push stores a new token too.
    server.expect(TOKEN);
    world.git(&clone, &["commit", "-q", "--allow-empty", "-m", "Again"]);
    push(&cx(None), None, &clone).await.unwrap_err();
    push(&cx(None), Some(TOKEN), &clone).await.unwrap();
    assert!(fetched(None).await);
    assert_eq!(
        modes(&state),
        [
            ("helper", 0o700),
            ("token", 0o600),
            ("url", 0o600),
            ("used", 0o600)
        ]
        .map(|(name, mode)| (name.to_owned(), mode))
    );
    assert_eq!(fs::read_to_string(state.join("helper")).unwrap(), helper);
}

// S1-86: if a repository was cloned without a token, the token of a later call is stored.
#[tokio::test]
async fn a_clone_that_needed_no_token_may_get_one_later() {
    let world = World::new();
    let server = Server::start(&world.path("srv"), None);
    let cx = |token: Option<&str>| turn(&world, http(&server), token);
    let clone = clone(&cx(None), "acme/site").await;
    assert!(!world.state_of(&clone).join("token").exists());
    server.expect(TOKEN);
    let fetch = async |token| call(&cx(token), "git_fetch", json!({ "path": clone })).await;
    assert!(fetch(None).await.is_error());
    output(&fetch(Some(TOKEN)).await);
    output(&fetch(None).await);
    output(&call(&cx(None), "git_status", json!({ "path": clone })).await);
    // A repository at a `file://` URL needs no token, so no token is stored for it.
    let files = world.files();
    let cx = turn(&world, files, Some(TOKEN));
    let other = crate::world::clone(&cx, "acme/site").await;
    output(&call(&cx, "git_fetch", json!({ "path": other })).await);
    assert!(!world.state_of(&other).join("token").exists());
}

// S1-84: a stored token is redacted in results, even if the context of the call has no token.
#[tokio::test]
async fn stored_token_is_redacted_even_if_the_call_lacks_it() {
    let world = World::new();
    let server = world.server();
    let cx = |token: Option<&str>| turn(&world, http(&server), token);
    let clone = clone(&cx(Some(TOKEN)), "acme/site").await;
    world.git(&clone, &["commit", "-q", "--allow-empty", "-m", "Mine"]);
    let hook = world.path("srv/acme/site.git/hooks/pre-receive");
    script(
        &hook,
        &format!("echo 'nobody with {TOKEN} may push'; exit 1"),
    );
    assert_eq!(
        fs::metadata(&hook).unwrap().permissions().mode() & 0o777,
        0o755
    );
    let error = push(&cx(None), None, &clone).await.unwrap_err();
    for message in [error.model_text(), error.operator_text()] {
        assert!(
            message.contains("nobody with [secret:github_token] may push"),
            "{message}"
        );
        assert!(!message.contains(TOKEN), "{message}");
    }
}
