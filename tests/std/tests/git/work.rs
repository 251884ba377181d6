//! Typical use of the git tools: status, diff, commit, branch, fetch and push.

use std::fs;

use serde_json::{Value, json};
use tool_core::ErrorKind;
use tool_core::prelude::*;
use tool_std::git::{PushStatus, Pushed, Pusher, git_push};

use crate::world::{World, call, clone, http, output};

/// Calls the body of `git_push` without an approval. A separate test covers the approval.
async fn push(cx: &ToolContext, path: &str, branch: Option<&str>) -> Result<Pushed, ToolError> {
    let git: Pusher = cx.get().unwrap();
    git_push(&git, None, path.to_owned(), branch.map(str::to_owned)).await
}

// gitCloneRepo: the tools show, commit and push changes.
#[tokio::test]
async fn changes_are_shown_committed_and_pushed() {
    let world = World::new();
    let server = world.server();
    let cx = world.cx(http(&server));
    let clone = clone(&cx, "acme/site").await;
    let path = clone.to_str().unwrap();
    let on = |more: Value| {
        let mut arguments = json!({ "path": path });
        let more = more.as_object().unwrap().clone();
        arguments.as_object_mut().unwrap().extend(more);
        arguments
    };
    let clean = output(&call(&cx, "git_status", on(json!({}))).await);
    assert_eq!(clean["branch"], "main");
    assert_eq!(
        (&clean["changes"], &clean["ahead"], &clean["upstream"]),
        (&json!([]), &json!(0), &json!("origin/main"))
    );
    fs::write(clone.join("README.md"), "# Other\n").unwrap();
    fs::create_dir(clone.join("new")).unwrap();
    fs::write(clone.join("new/ä file\n\"x\".txt"), "new").unwrap();
    fs::remove_file(clone.join("src/main.rs")).unwrap();
    let status = output(&call(&cx, "git_status", on(json!({}))).await);
    let change = |path: &str, state: &str| json!({ "path": path, "from": null, "staged": "unchanged", "unstaged": state });
    assert_eq!(
        status["changes"],
        json!([
            change("README.md", "modified"),
            change("src/main.rs", "deleted"),
            change("new/", "untracked")
        ])
    );
    let diff = output(&call(&cx, "git_diff", on(json!({ "paths": ["README.md"] }))).await);
    assert!(
        diff["diff"]
            .as_str()
            .unwrap()
            .contains("-# Site\n+# Other\n"),
        "{diff}"
    );
    assert_eq!(diff["truncated"], false);
    let short = output(&call(&cx, "git_diff", on(json!({ "max_bytes": 10 }))).await);
    assert_eq!(
        (short["diff"].as_str().unwrap().len(), &short["truncated"]),
        (10, &json!(true))
    );

    // Commit one path, then the rest.
    let one = json!({ "message": "Rename\n\n# not a comment", "paths": ["README.md"] });
    let one = output(&call(&cx, "git_commit", on(one)).await);
    assert_eq!((&one["files"], &one["branch"]), (&json!(1), &json!("main")));
    let rest = output(&call(&cx, "git_commit", on(json!({ "message": "The rest" }))).await);
    assert_eq!((&rest["files"], &rest["left_out"]), (&json!(2), &json!([])));
    for (message, reason) in [(" \n", "the message is empty"), ("a\0b", "NUL character")] {
        let refused = call(&cx, "git_commit", on(json!({ "message": message }))).await;
        assert!(refused.model_text().contains(reason), "{refused:?}");
    }
    let nothing = call(&cx, "git_commit", on(json!({ "message": "Nothing" }))).await;
    assert!(
        nothing
            .error()
            .unwrap()
            .model_text()
            .contains("nothing to commit")
    );

    let log = output(&call(&cx, "git_log", on(json!({ "limit": 2 }))).await);
    assert_eq!(log["truncated"], true);
    let commits = &log["commits"];
    assert_eq!(
        (&commits[0]["subject"], &commits[1]["body"]),
        (&json!("The rest"), &json!("# not a comment"))
    );
    assert_eq!(
        (&commits[0]["author"], &commits[0]["email"]),
        (&json!("Bot"), &json!("bot@example.org"))
    );
    let ahead = output(&call(&cx, "git_status", on(json!({}))).await);
    assert_eq!((&ahead["ahead"], &ahead["behind"]), (&json!(2), &json!(0)));
    let last = on(json!({ "from": "HEAD~1", "to": "HEAD" }));
    let last = output(&call(&cx, "git_diff", last).await);
    assert!(last["diff"].as_str().unwrap().contains("deleted file"));

    let pushed = push(&cx, path, None).await.unwrap();
    assert_eq!(
        (pushed.branch.as_str(), pushed.status),
        ("main", PushStatus::Updated)
    );
    let there = world.path("srv/acme/site.git");
    assert_eq!(
        world.git(&there, &["log", "-1", "--format=%s", "main"]),
        "The rest"
    );
    assert_eq!(
        push(&cx, path, None).await.unwrap().status,
        PushStatus::UpToDate
    );
    let even = output(&call(&cx, "git_status", on(json!({}))).await);
    assert_eq!(even["ahead"], 0);
}

// gitCloneRepo: the tools create, switch, fetch and push branches.
#[tokio::test]
async fn branches_are_created_switched_fetched_and_pushed() {
    let world = World::new();
    let cx = world.cx(world.files());
    let clone = clone(&cx, "acme/site").await;
    let path = clone.to_str().unwrap();
    let branch = async |action: &str, name: Value, from: Value| {
        let arguments = json!({ "path": path, "action": action, "name": name, "from": from });
        call(&cx, "git_branch", arguments).await
    };
    let made = output(&branch("create", json!("fix/typo"), json!(null)).await);
    assert_eq!(made["current"], "fix/typo");
    let names: Vec<&str> = made["branches"]
        .as_array()
        .unwrap()
        .iter()
        .map(|one| one["name"].as_str().unwrap())
        .collect();
    assert_eq!(names, ["fix/typo", "main", "origin/main"]);
    fs::write(clone.join("x"), "x").unwrap();
    output(&call(&cx, "git_commit", json!({ "path": path, "message": "x" })).await);
    assert_eq!(
        push(&cx, path, None).await.unwrap().status,
        PushStatus::Created
    );
    assert_eq!(
        output(&branch("switch", json!("main"), json!(null)).await)["current"],
        "main"
    );
    assert!(!clone.join("x").exists());
    // A branch with unmerged commits is not deleted.
    let kept = branch("delete", json!("fix/typo"), json!(null)).await;
    let told = kept.error().unwrap().model_text();
    assert!(told.contains("not fully merged"), "{told}");

    let seed = world.path("seed");
    let there = world.path("srv/acme/site.git");
    fs::write(seed.join("later"), "later").unwrap();
    world.git(&seed, &["add", "."]);
    world.git(&seed, &["commit", "-qm", "Later"]);
    world.git(
        &seed,
        &[
            "push",
            "-q",
            there.to_str().unwrap(),
            "main",
            "main:release/1",
        ],
    );
    let fetched = output(&call(&cx, "git_fetch", json!({ "path": path })).await);
    assert_eq!(
        (&fetched["branch"], &fetched["updated"]),
        (&json!("origin/main"), &json!(true))
    );
    let behind = output(&call(&cx, "git_status", json!({ "path": path })).await);
    assert_eq!(behind["behind"], 1);
    let again = output(&call(&cx, "git_fetch", json!({ "path": path })).await);
    assert_eq!(
        (&again["updated"], &again["before"]),
        (&json!(false), &again["commit"])
    );
    let other = output(
        &call(
            &cx,
            "git_fetch",
            json!({ "path": path, "branch": "release/1" }),
        )
        .await,
    );
    assert_eq!(other["before"], json!(null));
    let made = output(&branch("create", json!("release"), json!("origin/release/1")).await);
    assert_eq!(made["current"], "release");
    assert!(clone.join("later").exists());

    // A push that would overwrite commits of the server is refused.
    output(&branch("switch", json!("main"), json!(null)).await);
    fs::write(clone.join("mine"), "mine").unwrap();
    output(
        &call(
            &cx,
            "git_commit",
            json!({ "path": path, "message": "Mine" }),
        )
        .await,
    );
    let refused = push(&cx, path, Some("main")).await.unwrap_err();
    assert!(
        refused.model_text().contains("git_fetch"),
        "{}",
        refused.model_text()
    );
    assert_eq!(
        world.git(&there, &["log", "-1", "--format=%s", "main"]),
        "Later"
    );
}

// S1-91: arguments never become options of git.
#[tokio::test]
async fn arguments_never_become_options() {
    let world = World::new();
    let cx = world.cx(world.files());
    let clone = clone(&cx, "acme/site").await;
    let path = clone.to_str().unwrap();
    for (tool, arguments) in [
        ("git_diff", json!({ "path": path, "from": "--output=x" })),
        (
            "git_diff",
            json!({ "path": path, "from": "HEAD", "to": "--ext-diff" }),
        ),
        (
            "git_diff",
            json!({ "path": path, "paths": ["/etc/passwd"] }),
        ),
        ("git_log", json!({ "path": path, "revision": "--output=x" })),
        (
            "git_log",
            json!({ "path": path, "revision": "HEAD:README.md" }),
        ),
        (
            "git_branch",
            json!({ "path": path, "action": "create", "name": "-D" }),
        ),
        (
            "git_branch",
            json!({ "path": path, "action": "switch", "name": "--orphan" }),
        ),
        (
            "git_branch",
            json!({ "path": path, "action": "delete", "name": "-Dmain" }),
        ),
        (
            "git_branch",
            json!({ "path": path, "action": "create", "name": "a", "from": "--detach" }),
        ),
        (
            "git_fetch",
            json!({ "path": path, "branch": "--upload-pack=x" }),
        ),
        (
            "git_fetch",
            json!({ "path": path, "branch": "main:refs/heads/main" }),
        ),
    ] {
        let result = call(&cx, tool, arguments.clone()).await;
        assert_eq!(
            result.error().unwrap().kind(),
            ErrorKind::InvalidArguments,
            "{tool} {arguments}"
        );
    }
    let refused = push(&cx, path, Some("+main")).await.unwrap_err();
    assert_eq!(refused.kind(), ErrorKind::InvalidArguments);
    // A path that looks like an option or a pattern is passed to git as a plain path.
    for odd in ["--output=x", ":(top)README.md", "*", "-"] {
        let diff = call(&cx, "git_diff", json!({ "path": path, "paths": [odd] })).await;
        assert_eq!(output(&diff)["diff"], "", "{odd}");
    }
    assert!(!clone.join("x").exists());
}

// gitCloneRepo: a commit fails unless the host has set an author.
#[tokio::test]
async fn commits_need_an_author_set_by_the_host() {
    let world = World::new();
    let git = tool_std::git::Git::new();
    let git = git
        .host(&format!("file://{}", world.path("srv").display()))
        .unwrap();
    let cx = world.cx(git);
    let clone = clone(&cx, "acme/site").await;
    // The author in the repository's configuration is ignored.
    world.git(&clone, &["config", "user.name", "Eve"]);
    world.git(&clone, &["config", "user.email", "eve@example.org"]);
    fs::write(clone.join("x"), "x").unwrap();
    let arguments = json!({ "path": clone, "message": "x" });
    let result = call(&cx, "git_commit", arguments.clone()).await;
    assert_eq!(result.error().unwrap().kind(), ErrorKind::Unavailable);
    let cx = world.cx(world.files());
    output(&call(&cx, "git_commit", arguments).await);
    assert_eq!(
        world.git(&clone, &["log", "-1", "--format=%an %cn %ae"]),
        "Bot Bot bot@example.org"
    );
}

// gitCloneRepo: a path that is not a repository is reported.
#[tokio::test]
async fn path_that_is_not_a_repository_is_reported() {
    let world = World::new();
    let cx = world.cx(world.files());
    let clone = clone(&cx, "acme/site").await;
    for path in [".", ".repos", "none", "README.md", ".repos/acme"] {
        let result = call(&cx, "git_status", json!({ "path": path })).await;
        let told = result.error().unwrap().model_text();
        assert!(
            told.contains("no repository") && told.contains("git_clone"),
            "{path}: {told}"
        );
    }
    // A repository that `git_clone` did not create can be inspected, but it has no server.
    let own = world.workspace().join("own");
    fs::create_dir(&own).unwrap();
    world.git(&own, &["init", "-q", "-b", "main"]);
    let status = output(&call(&cx, "git_status", json!({ "path": "own" })).await);
    assert_eq!(
        (&status["branch"], &status["commit"]),
        (&json!("main"), &json!(null))
    );
    let refused = call(&cx, "git_fetch", json!({ "path": "own" })).await;
    assert!(refused.error().unwrap().model_text().contains("git_clone"));
    // A path may be relative to the workspace, and a deleted folder of the clone is reported as a change.
    fs::remove_dir_all(clone.join("src")).unwrap();
    let relative = clone.strip_prefix(world.workspace()).unwrap();
    let status = output(&call(&cx, "git_status", json!({ "path": relative })).await);
    assert_eq!(status["changes"][0]["unstaged"], "deleted");
}

// The fields of a commit and the paths of files are truncated in results, because their authors control the length.
#[tokio::test]
async fn long_commit_fields_and_paths_are_truncated() {
    let world = World::new();
    let cx = world.cx(world.files());
    let clone = clone(&cx, "acme/site").await;
    let much = "long ".repeat(20_000);
    let message = format!("{much}\n\n{much}");
    let mut commit = world.command(&clone);
    commit
        .args(["commit", "-q", "--allow-empty", "-F", "message"])
        .env("GIT_AUTHOR_NAME", &much)
        .env("GIT_AUTHOR_EMAIL", &much);
    fs::write(clone.join("message"), message).unwrap();
    assert!(commit.status().unwrap().success());
    let mut deep = clone.clone();
    for _ in 0..10 {
        deep.push("d".repeat(200));
    }
    fs::create_dir_all(&deep).unwrap();
    for n in 0..200 {
        fs::write(deep.join(format!("f{n}")), "").unwrap();
    }
    world.git(&clone, &["add", "."]);
    let path = clone.to_str().unwrap();
    let log = call(&cx, "git_log", json!({ "path": path })).await;
    let first = output(&log)["commits"][0].clone();
    let chars = |name: &str| first[name].as_str().unwrap().chars().count();
    assert_eq!(
        ["author", "email", "subject", "body"].map(chars),
        [200, 200, 500, 2_000]
    );
    let status = call(&cx, "git_status", json!({ "path": path })).await;
    let told = output(&status);
    assert_eq!(told["truncated"], true);
    assert!(told["changes"].as_array().unwrap().len() > 10);
    assert!(status.model_text().len() < 100_000);
}
