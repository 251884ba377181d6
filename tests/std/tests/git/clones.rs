//! The `git_clone` tool: its folder, its result and its errors.

use std::fs;
use std::os::unix::fs::MetadataExt as _;

use serde_json::json;
use tool_core::ErrorKind;

use crate::world::{World, call, clone, isolation, output, script, tree};

// S1-77, S1-87, S1-91, gitCloneRepo: a clone returns its absolute path, its branch, its commit and its status.
#[tokio::test]
async fn clone_returns_its_path_branch_and_status() {
    let world = World::new();
    let cx = world.cx(world.files());
    let result = call(&cx, "git_clone", json!({ "repo": "acme/site" })).await;
    let cloned = output(&result);
    let path = cloned["path"].as_str().unwrap();
    let folder = path
        .strip_prefix(&format!(
            "{}/.repos/acme/site-",
            world.workspace().display()
        ))
        .unwrap();
    assert!(
        folder.len() == 8 && folder.bytes().all(|byte| byte.is_ascii_hexdigit()),
        "{folder}"
    );
    assert_eq!(cloned["branch"], "main");
    assert_eq!(cloned["status"], "cloned");
    assert_eq!(cloned["removed"], json!([]));
    assert!(cloned["duration_ms"].is_u64());
    let commit = world.git(&world.path("seed"), &["rev-parse", "HEAD"]);
    let short = cloned["commit"].as_str().unwrap();
    assert!(
        short.len() >= 7 && short.len() < 40 && commit.starts_with(short),
        "{short}"
    );
    // The clone has one commit of one branch.
    let clone = std::path::Path::new(path);
    assert_eq!(world.git(clone, &["rev-list", "--count", "--all"]), "1");
    assert_eq!(
        world.git(clone, &["rev-parse", "--is-shallow-repository"]),
        "true"
    );
    // No file is a hard link to a file of the original.
    for file in tree(clone).into_keys().filter(|path| path.is_file()) {
        assert_eq!(fs::metadata(&file).unwrap().nlink(), 1, "{file:?}");
    }
    assert!(!clone.join(".git/hooks").exists());
    assert!(!clone.join(".git/objects/info/alternates").exists());
}

// S1-77: only the conversation that cloned a repository can read files at the path of the clone.
#[tokio::test]
async fn clone_path_is_readable_only_by_its_conversation() {
    let world = World::new();
    let cx = world.cx(world.files());
    let path = clone(&cx, "acme/site").await.join("README.md");
    let read = call(&cx, "read_file", json!({ "path": path })).await;
    assert_eq!(output(&read)["content"], "# Site\n");
    for other in ["c1x", "c", "c2"] {
        let sibling = world.conversation(world.files(), other, isolation());
        let read = call(&sibling, "read_file", json!({ "path": path })).await;
        let message = read.error().unwrap().model_text();
        assert!(
            message.contains("outside the workspace"),
            "{other}: {message}"
        );
        let read = call(&sibling, "git_status", json!({ "path": path.parent() })).await;
        let message = read.error().unwrap().model_text();
        assert!(
            message.contains("outside the workspace"),
            "{other}: {message}"
        );
    }
}

// S1-87: two clones of the same repository have different folders.
#[tokio::test]
async fn a_repository_that_is_cloned_twice_has_two_folders() {
    let world = World::new();
    let cx = world.cx(world.files());
    let (one, other) = (clone(&cx, "acme/site").await, clone(&cx, "acme/site").await);
    assert_ne!(one, other);
    assert_eq!(one.parent(), other.parent());
    assert!(one.join("README.md").exists() && other.join("README.md").exists());
}

// S1-91, gitCloneRepo: the branch may be chosen, and its name may contain a slash.
#[tokio::test]
async fn branch_name_may_contain_a_slash() {
    let world = World::new();
    let cx = world.cx(world.files());
    let wanted = json!({ "repo": "acme/site", "branch": "feature/x" });
    let result = call(&cx, "git_clone", wanted).await;
    assert_eq!(output(&result)["branch"], "feature/x");
}

// S1-91: an invalid repository or branch name is refused before git starts.
#[tokio::test]
async fn invalid_repository_or_branch_is_refused_before_git_starts() {
    let world = World::new();
    let ran = world.path("ran");
    let fake = world.path("bin/git");
    script(&fake, &format!("touch {}; exit 1", ran.display()));
    let cx = world.conversation(
        world.files().program(&fake),
        "c1",
        tool_std::isolate::Isolation::GroupOnly,
    );
    for arguments in [
        json!({ "repo": "acme/site", "branch": "--upload-pack=x" }),
        json!({ "repo": "acme/site", "branch": "-b" }),
        json!({ "repo": "acme/site", "branch": "a..b" }),
        json!({ "repo": "acme/site", "branch": "a b" }),
        json!({ "repo": "acme/site", "branch": "a\u{0}b" }),
        json!({ "repo": "acme/site", "branch": "refs/../x" }),
        json!({ "repo": "acme/site", "branch": "" }),
        json!({ "repo": "--upload-pack=x/y" }),
        json!({ "repo": "../../etc" }),
        json!({ "repo": "acme/.." }),
        json!({ "repo": "acme/site/../../x" }),
        json!({ "repo": "/etc/passwd" }),
        json!({ "repo": "ext::sh -c id" }),
        json!({ "repo": "https://github.com/o/r" }),
        json!({ "repo": "git@github.com:o/r" }),
        json!({ "repo": "" }),
    ] {
        let result = call(&cx, "git_clone", arguments.clone()).await;
        let error = result.error().unwrap();
        assert_eq!(error.kind(), ErrorKind::InvalidArguments, "{arguments}");
        assert!(!ran.exists(), "{arguments}");
    }
    assert!(!world.path("ws").exists() || tree(&world.workspace()).is_empty());
    // Control test: git is started for a valid name.
    call(&cx, "git_clone", json!({ "repo": "acme/site" })).await;
    assert!(ran.exists());
}

// S1-83, S1-91: no file remains after a failed clone.
#[tokio::test]
async fn failed_clone_leaves_no_files() {
    let world = World::new();
    let cx = world.cx(world.files());
    let kept = clone(&cx, "acme/site").await;
    let before = (tree(&world.workspace()), tree(&world.state()));
    for (arguments, message) in [
        (
            json!({ "repo": "acme/none" }),
            "does not appear to be a git repository",
        ),
        (
            json!({ "repo": "nobody/none" }),
            "does not appear to be a git repository",
        ),
        (
            json!({ "repo": "acme/site", "branch": "none" }),
            "Remote branch none not found",
        ),
    ] {
        let result = call(&cx, "git_clone", arguments).await;
        let error = result.error().unwrap();
        assert_eq!(error.kind(), ErrorKind::Failed);
        assert!(
            error.model_text().contains(message),
            "{}",
            error.model_text()
        );
    }
    assert_eq!((tree(&world.workspace()), tree(&world.state())), before);
    assert!(kept.exists());
    let alone = World::new();
    call(
        &alone.cx(alone.files()),
        "git_clone",
        json!({ "repo": "acme/none" }),
    )
    .await;
    assert!(tree(&alone.workspace()).is_empty());
}

// gitCloneRepo: a repository without commits can be cloned.
#[tokio::test]
async fn repository_without_commits_can_be_cloned() {
    let world = World::new();
    let seed = world.path("empty");
    fs::create_dir(&seed).unwrap();
    world.git(&seed, &["init", "-q", "-b", "trunk"]);
    world.publish(&seed, "acme/empty");
    let cx = world.cx(world.files());
    let result = call(&cx, "git_clone", json!({ "repo": "acme/empty" })).await;
    let cloned = output(&result);
    assert_eq!(
        (&cloned["status"], &cloned["commit"]),
        (&json!("empty"), &json!(null))
    );
    assert_eq!(cloned["branch"], "trunk");
}

// gitCloneRepo: if the context has no `Git` value of the host, the error reports that git is unavailable.
#[tokio::test]
async fn context_without_git_reports_it_as_unavailable() {
    let world = World::new();
    let cx = tool_core::ToolContext::builder()
        .workspace("acme")
        .conversation("c1")
        .with(world.workspaces())
        .build();
    let result = call(&cx, "git_clone", json!({ "repo": "acme/site" })).await;
    let error = result.error().unwrap();
    assert_eq!(error.kind(), ErrorKind::Unavailable);
    assert!(
        error.operator_text().contains("`Git`"),
        "{}",
        error.operator_text()
    );
}
