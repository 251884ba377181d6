//! When clones and their tokens go.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};
use std::time::{Duration, SystemTime};

use serde_json::json;
use tool_core::ToolContext;
use tool_std::git::Git;

use crate::world::{World, call, clone, http, isolation, output, tree};

const HOURS: Duration = Duration::from_hours(2);
const YOUNG: Duration = Duration::from_mins(119);

/// A clock that the test sets, by the time that a folder was changed.
#[derive(Clone)]
struct Clock(Arc<Mutex<SystemTime>>);

impl Clock {
    fn new() -> Self {
        Self(Arc::new(Mutex::new(SystemTime::now())))
    }

    fn set(&self, folder: &Path, later: Duration) {
        let changed = fs::metadata(folder).unwrap().modified().unwrap();
        *self.0.lock().unwrap() = changed + later;
    }

    fn of(&self, git: Git) -> Git {
        let clock = self.clone();
        git.clock(move || *clock.0.lock().unwrap())
    }
}

/// What a call logs at level `WARN`.
async fn warnings<T>(work: impl Future<Output = T>) -> (T, String) {
    use tracing::instrument::WithSubscriber as _;

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
    let lines = Lines::default();
    let writer = lines.clone();
    let subscriber = tracing_subscriber::fmt()
        .with_writer(move || writer.clone())
        .with_max_level(tracing::Level::WARN)
        .with_ansi(false)
        .finish();
    let done = work.with_subscriber(subscriber).await;
    let text = String::from_utf8(lines.0.lock().unwrap().clone()).unwrap();
    (done, text)
}

/// The repository that a clone call removed, if any.
async fn next(cx: &ToolContext) -> (Vec<PathBuf>, String) {
    let calling = call(cx, "git_clone", json!({ "repo": "acme/site" }));
    let (result, log) = warnings(calling).await;
    let removed = output(&result)["removed"].clone();
    (serde_json::from_value(removed).unwrap(), log)
}

// S1-88
#[tokio::test]
async fn a_clone_goes_after_two_hours_with_its_token_and_a_warning() {
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
        log.contains("WARN") && log.contains("a token was left over") && log.contains(name),
        "{log}"
    );
    assert!(!log.contains(crate::world::TOKEN));

    // Another conversation's are its own.
    assert!(beside.join("README.md").exists());
    let kept = world.path("ws/acme/git-state/c2");
    assert!(tree(&kept).keys().any(|path| path.ends_with("token")));
}

// S1-88
#[tokio::test]
async fn a_clone_without_a_token_goes_without_a_warning() {
    let (world, clock) = (World::new(), Clock::new());
    let cx = world.cx(clock.of(world.files()));
    let old = clone(&cx, "acme/site").await;
    clock.set(&old, HOURS + Duration::from_secs(1));
    let (removed, log) = next(&cx).await;
    assert_eq!((removed.len(), log.as_str()), (1, ""));
    assert!(!old.exists());
}

// S1-88
#[tokio::test]
async fn age_is_that_of_the_folder_also_by_the_systems_clock() {
    let world = World::new();
    let server = world.server();
    let cx = world.cx(http(&server));
    let (old, young) = (clone(&cx, "acme/site").await, clone(&cx, "acme/site").await);
    let touch = |folder: &Path, age: Duration| {
        let time = SystemTime::now() - age;
        fs::File::open(folder).unwrap().set_modified(time).unwrap();
    };
    touch(&old, HOURS + Duration::from_secs(1));
    touch(&young, YOUNG);
    let (removed, log) = next(&cx).await;
    assert_eq!(removed.len(), 1);
    assert!(!old.exists() && !world.state_of(&old).exists() && log.contains("token"));
    assert!(young.exists() && world.state_of(&young).join("token").exists());
}

// S1-84, S1-88
#[tokio::test]
async fn a_token_goes_with_its_repository() {
    let (world, clock) = (World::new(), Clock::new());
    let server = world.server();
    let cx = world.cx(clock.of(http(&server)));
    let clone = clone(&cx, "acme/site").await;
    let state = world.state_of(&clone);
    // Whoever removes the repository knows nothing of the token.
    fs::remove_dir_all(&clone).unwrap();
    clock.set(&state, Duration::from_mins(2));
    let (removed, log) = next(&cx).await;
    assert!(
        removed.is_empty() && log.contains("a token was left over"),
        "{log}"
    );
    assert!(!state.exists());
}

// S1-83, S1-88
#[tokio::test]
async fn what_a_host_that_died_has_left_goes_too() {
    let (world, clock) = (World::new(), Clock::new());
    let cx = world.cx(clock.of(world.files()));
    clone(&cx, "acme/site").await;
    let left = world.state().join("clone-0badcafe");
    fs::create_dir(&left).unwrap();
    fs::write(left.join("token"), "tok").unwrap();
    clock.set(&left, YOUNG);
    let (_, log) = next(&cx).await;
    assert!(left.exists() && log.is_empty(), "a clone that runs: {log}");
    clock.set(&left, Duration::from_mins(121));
    let (_, log) = next(&cx).await;
    assert!(!left.exists() && log.contains("clone-0badcafe"), "{log}");
}

// S1-76, S1-88
#[tokio::test]
async fn the_first_clock_follows_no_link() {
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

// S1-89
#[tokio::test]
async fn the_end_of_an_instance_is_the_end_of_clones_and_tokens() {
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

// S1-90
#[tokio::test]
async fn the_end_of_a_conversation_is_the_end_of_its_clones_and_tokens() {
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
