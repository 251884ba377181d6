//! Removal of old clones and their tokens.

use std::fs;
use std::path::Path;
use std::time::{Duration, SystemTime};

use serde_json::json;

use crate::clock::{Clock, HOURS, next};
use crate::world::{World, call, clone, http, isolation, output, tree};

const YOUNG: Duration = Duration::from_mins(119);

// S1-88: a clone is removed after two hours together with its token, and a warning is logged.
#[tokio::test]
async fn clone_and_token_are_removed_after_two_hours_with_a_warning() {
    let (world, clock) = (World::new(), Clock::new());
    let server = world.server();
    let cx = world.cx(clock.of(http(&server)));
    let other = world.conversation(clock.of(http(&server)), "c2", isolation());
    let old = clone(&cx, "acme/site").await;
    let beside = clone(&other, "acme/site").await;
    let state = world.state_of(&old);
    assert!(state.join("token").exists());

    clock.set(&old, YOUNG);
    let (removed, log) = next(&cx).await;
    assert_eq!((removed.len(), log.as_str()), (0, ""));
    assert!(old.exists() && state.join("token").exists());

    clock.set(&old, HOURS + Duration::from_secs(1));
    let (removed, log) = next(&cx).await;
    assert!(removed.contains(&old.strip_prefix(world.workspace()).unwrap().to_owned()));
    assert!(!old.exists() && !state.exists());
    let name = state.file_name().unwrap().to_str().unwrap();
    assert!(
        log.contains("WARN")
            && log.contains("a token of an unused or removed repository was removed")
            && log.contains(name),
        "{log}"
    );
    assert!(!log.contains(crate::world::TOKEN));

    // Clones of another conversation are kept.
    assert!(beside.join("README.md").exists());
    let kept = world.path("ws/acme/git-state/c2");
    assert!(tree(&kept).keys().any(|path| path.ends_with("token")));
}

// S1-88: a clone without a token is removed without a warning.
#[tokio::test]
async fn clone_without_a_token_is_removed_without_a_warning() {
    let (world, clock) = (World::new(), Clock::new());
    let cx = world.cx(clock.of(world.files()));
    let old = clone(&cx, "acme/site").await;
    clock.set(&old, HOURS + Duration::from_secs(1));
    let (removed, log) = next(&cx).await;
    assert_eq!((removed.len(), log.as_str()), (1, ""));
    assert!(!old.exists());
}

/// Sets the modification time of a file, a folder or a link. A link is not followed.
fn touch(path: &Path, time: SystemTime) {
    use rustix::fs::{AtFlags, CWD, Timespec, Timestamps, utimensat};

    let since = time.duration_since(SystemTime::UNIX_EPOCH).unwrap();
    let time = Timespec {
        tv_sec: since.as_secs().try_into().unwrap(),
        tv_nsec: since.subsec_nanos().into(),
    };
    let times = Timestamps {
        last_access: time,
        last_modification: time,
    };
    utimensat(CWD, path, &times, AtFlags::SYMLINK_NOFOLLOW).unwrap();
}

/// Sets all times of a clone and its state so that the last change has this age.
fn left(world: &World, clone: &Path, age: Duration) {
    let state = world.state_of(clone);
    let all = tree(clone).into_keys().chain(tree(&state).into_keys());
    for path in all.chain([clone.to_owned(), state]) {
        touch(&path, SystemTime::now() - age);
    }
}

// S1-88: the age is the time since the last change, measured with the system's clock by default.
#[tokio::test]
async fn age_counts_from_the_last_change_by_the_system_clock_too() {
    let world = World::new();
    let server = world.server();
    let cx = world.cx(http(&server));
    let (old, young) = (clone(&cx, "acme/site").await, clone(&cx, "acme/site").await);
    left(&world, &old, HOURS + Duration::from_secs(1));
    left(&world, &young, YOUNG);
    let (removed, log) = next(&cx).await;
    assert_eq!(removed.len(), 1);
    assert!(!old.exists() && !world.state_of(&old).exists() && log.contains("token"));
    assert!(young.exists() && world.state_of(&young).join("token").exists());
}

// S1-88: a clone is kept if any of its files changed recently.
#[tokio::test]
async fn recently_changed_clone_is_kept() {
    let world = World::new();
    let cx = world.cx(world.files());
    let old = clone(&cx, "acme/site").await;
    world.git(&old, &["switch", "-q", "-c", "mine"]);
    for changed in [
        "",
        "README.md",
        "src",
        "src/main.rs",
        ".git/index",
        ".git/HEAD",
        ".git/logs/HEAD",
        ".git/refs/heads/mine",
    ] {
        left(&world, &old, HOURS * 2);
        touch(&old.join(changed), SystemTime::now() - YOUNG);
        let (removed, _) = next(&cx).await;
        assert!(removed.is_empty() && old.exists(), "{changed}");
    }
    // A clone with a new commit is kept too.
    left(&world, &old, HOURS * 2);
    world.git(&old, &["commit", "-q", "--allow-empty", "-m", "Mine"]);
    let (removed, _) = next(&cx).await;
    assert!(removed.is_empty() && old.exists());
    left(&world, &old, HOURS * 2);
    assert_eq!(next(&cx).await.0.len(), 1);
}

// S1-88: a clone that a git tool used within the last two hours is kept.
#[tokio::test]
async fn clone_used_recently_by_a_tool_is_kept() {
    let (world, clock) = (World::new(), Clock::new());
    let server = world.server();
    let cx = world.cx(clock.of(http(&server)));
    let old = clone(&cx, "acme/site").await;
    let later = |more: Duration| *clock.0.lock().unwrap() += more;
    for (tool, arguments) in [
        ("git_status", json!({ "path": old })),
        ("git_diff", json!({ "path": old })),
        ("git_log", json!({ "path": old })),
        ("git_branch", json!({ "path": old, "action": "list" })),
        ("git_fetch", json!({ "path": old })),
    ] {
        later(YOUNG);
        output(&call(&cx, tool, arguments).await);
        later(YOUNG);
        let (removed, _) = next(&cx).await;
        let own = old.strip_prefix(world.workspace()).unwrap();
        assert!(!removed.contains(&own.to_owned()) && old.exists(), "{tool}");
        output(&call(&cx, "git_status", json!({ "path": old })).await);
    }
    later(HOURS + Duration::from_secs(1));
    next(&cx).await;
    assert!(!old.exists());
}

// S1-88: file times in the future do not prevent the removal of a clone.
#[tokio::test]
async fn future_file_times_do_not_keep_a_clone() {
    let world = World::new();
    let cx = world.cx(world.files());
    let old = clone(&cx, "acme/site").await;
    std::os::unix::fs::symlink(world.path("seed/README.md"), old.join("link")).unwrap();
    left(&world, &old, HOURS + Duration::from_secs(1));
    for path in tree(&old).into_keys().chain([old.clone()]) {
        touch(&path, SystemTime::now() + HOURS * 12 * 365);
    }
    let (removed, _) = next(&cx).await;
    assert_eq!(removed.len(), 1);
    assert!(!old.exists());
    assert!(world.path("seed/README.md").exists());
}

// S1-84, S1-88: if a program has removed a repository, its token is removed too.
#[tokio::test]
async fn token_is_removed_with_its_repository() {
    let (world, clock) = (World::new(), Clock::new());
    let server = world.server();
    let cx = world.cx(clock.of(http(&server)));
    let clone = clone(&cx, "acme/site").await;
    let state = world.state_of(&clone);
    // Remove only the repository, like a program that does not know the token.
    fs::remove_dir_all(&clone).unwrap();
    clock.set(&state, Duration::from_mins(2));
    let (removed, log) = next(&cx).await;
    assert!(
        removed.is_empty()
            && log.contains("a token of an unused or removed repository was removed"),
        "{log}"
    );
    assert!(!state.exists());
}

// S1-83, S1-88: files of a host that crashed during a clone are removed.
#[tokio::test]
async fn leftovers_of_a_crashed_host_are_removed() {
    let (world, clock) = (World::new(), Clock::new());
    let cx = world.cx(clock.of(world.files()));
    clone(&cx, "acme/site").await;
    let left = world.state().join("clone-0badcafe");
    fs::create_dir(&left).unwrap();
    fs::write(left.join("token"), "tok").unwrap();
    clock.set(&left, YOUNG);
    let (_, log) = next(&cx).await;
    assert!(
        left.exists() && log.is_empty(),
        "a running clone was removed: {log}"
    );
    clock.set(&left, Duration::from_mins(121));
    let (_, log) = next(&cx).await;
    assert!(!left.exists() && log.contains("clone-0badcafe"), "{log}");
}

// S1-76, S1-88: the removal of old clones does not follow links.
#[tokio::test]
async fn removal_of_old_clones_follows_no_link() {
    let (world, clock) = (World::new(), Clock::new());
    let cx = world.cx(clock.of(world.files()));
    let old = clone(&cx, "acme/site").await;
    let outside = world.path("outside/inner/kept");
    fs::create_dir_all(&outside).unwrap();
    let repositories = world.workspace().join(".repos");
    std::os::unix::fs::symlink(world.path("outside"), repositories.join("link")).unwrap();
    std::os::unix::fs::symlink(world.path("outside"), repositories.join("acme/link")).unwrap();
    std::os::unix::fs::symlink(world.path("outside"), old.join("link")).unwrap();
    clock.set(&old, HOURS * 100);
    let (removed, _) = next(&cx).await;
    assert_eq!(removed.len(), 1);
    assert!(outside.exists());
}

// S1-89: `delete_instance` removes the clones and tokens of a workspace.
#[tokio::test]
async fn deleting_a_workspace_removes_clones_and_tokens() {
    let world = World::new();
    let server = world.server();
    for id in ["c1", "c2"] {
        let cx = world.conversation(http(&server), id, isolation());
        clone(&cx, "acme/site").await;
    }
    assert!(
        tree(&world.path("ws/acme"))
            .keys()
            .any(|path| path.ends_with("token"))
    );
    assert!(world.workspaces().delete_instance("acme").unwrap());
    assert!(tree(&world.path("ws")).is_empty());
}

// S1-90: deleting a conversation removes its clones and tokens.
#[tokio::test]
async fn deleting_a_conversation_removes_clones_and_tokens() {
    let world = World::new();
    let server = world.server();
    let mut clones = Vec::new();
    for id in ["c1", "c2"] {
        let cx = world.conversation(http(&server), id, isolation());
        clones.push(clone(&cx, "acme/site").await);
    }
    assert!(
        world
            .workspaces()
            .delete_conversation("acme", "c1")
            .unwrap()
    );
    assert!(!clones[0].exists() && !world.path("ws/acme/git-state/c1").exists());
    assert!(clones[1].join("README.md").exists());
    let tokens: Vec<_> = tree(&world.path("ws/acme"))
        .into_keys()
        .filter(|path| path.ends_with("token"))
        .collect();
    assert_eq!(tokens.len(), 1);
    assert!(
        tokens[0].starts_with(world.path("ws/acme/git-state/c2")),
        "{tokens:?}"
    );
}
