//! Races of each tool with a program that exchanges files and folders with links, pipes and each other, including the parts of `.git`.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::Duration;

use rustix::fs::{CWD, Mode, RenameFlags, mkfifoat, renameat_with};

use crate::actors::{Actor, Outcome, Turn};
use crate::rounds;
use crate::scene::{FILE, Scene, text};
use crate::world::{TOKEN, holding, script};

/// Two names in the workspace that the program exchanges.
type Swap = (PathBuf, PathBuf);

/// Returns the path of a repository outside of the workspace.
fn other_repository(scene: &Scene) -> PathBuf {
    scene.world.path("elsewhere/repository")
}

/// Creates files, folders and links next to the originals, and returns the pairs of names that a program could exchange.
fn swaps(scene: &Scene) -> Vec<Swap> {
    let clone = &scene.clone;
    let beside = scene.workspace().join("beside");
    fs::create_dir_all(&beside).unwrap();
    let outside = scene.world.path("outside");
    let conversation = scene.workspace().parent().unwrap().join("conv2");
    let with = |name: &str, make: &dyn Fn(&Path)| {
        let path = beside.join(name);
        make(&path);
        path
    };
    let link = |target: PathBuf| move |path: &Path| symlink(&target, path).unwrap();
    let dot_git = |name: &str| clone.join(".git").join(name);
    let filter = beside.join("filter");
    script(
        &filter,
        &format!(
            "cd {}; for helper in $(env | grep -o \"/[^' \\\"]*/helper\"); do cat \"$(dirname \"$helper\")/token\" >> stolen; done 2>/dev/null\ncat",
            scene.workspace().display()
        ),
    );
    let evil = format!(
        "{}[filter \"x\"]\n\tsmudge = {2}\n\tclean = {2}\n[http]\n\tcurloptResolve = localhost:{1}:127.0.0.2\n[core]\n\thooksPath = {3}\n",
        fs::read_to_string(dot_git("config")).unwrap(),
        scene.git_server.port(),
        filter.display(),
        beside.display(),
    );
    fs::create_dir_all(dot_git("info")).unwrap();
    fs::write(dot_git("info/attributes"), "* filter=x\n").unwrap();
    let side = |path: &Path| fs::write(path, "ref: refs/heads/side\n").unwrap();
    let folder = |path: &Path| fs::create_dir(path).unwrap();
    let repository = other_repository(scene);
    let pipe = |path: &Path| mkfifoat(CWD, path, Mode::RWXU).unwrap();
    let file = scene.file();
    let owner = clone.parent().unwrap().to_owned();
    vec![
        (
            file.clone(),
            with("file-link", &link(conversation.join("secret"))),
        ),
        (file.clone(), with("file-folder", &folder)),
        (
            file.clone(),
            with("file-link-git", &link(dot_git("config"))),
        ),
        (file, with("file-pipe", &pipe)),
        (
            clone.join("src"),
            with("src-link", &link(conversation.clone())),
        ),
        (
            clone.join("src"),
            with("src-link-git", &link(clone.join(".git"))),
        ),
        (
            dot_git("config"),
            with("config", &|path| fs::write(path, &evil).unwrap()),
        ),
        (
            dot_git("config"),
            with("config-link", &link(outside.join("secret"))),
        ),
        (dot_git("HEAD"), with("HEAD", &side)),
        (
            dot_git("index"),
            with("index-link", &link(outside.join("secret"))),
        ),
        (
            dot_git("objects"),
            with("objects-link", &link(repository.join(".git/objects"))),
        ),
        (dot_git("refs"), with("refs", &folder)),
        (
            clone.join(".git"),
            with("git-link", &link(repository.join(".git"))),
        ),
        (clone.clone(), with("clone-link", &link(repository))),
        (owner, with("owner-link", &link(outside))),
    ]
}

/// Exchanges the two names of each pair and exchanges them back, until `stop` is set. Adds the number of first exchanges to `count`.
fn exchange(swaps: &[Swap], stop: &AtomicBool, count: &AtomicUsize) {
    while !stop.load(Ordering::Relaxed) {
        for (one, other) in swaps {
            for _ in 0..20 {
                // The exchange fails if a tool has just removed one of the names.
                let swapped = renameat_with(CWD, one, CWD, other, RenameFlags::EXCHANGE);
                if swapped.is_ok() {
                    count.fetch_add(1, Ordering::Relaxed);
                    std::thread::yield_now();
                    while renameat_with(CWD, one, CWD, other, RenameFlags::EXCHANGE).is_err() {
                        if one.symlink_metadata().is_err() || other.symlink_metadata().is_err() {
                            break;
                        }
                    }
                }
            }
        }
    }
}

/// Calls one tool once for each round, and at least twice, while the names are exchanged.
async fn beside(
    scene: &Arc<Scene>,
    swaps: &[Swap],
    actor: Actor,
    at: usize,
) -> Vec<(Turn, Outcome)> {
    let (stop, count) = (
        Arc::new(AtomicBool::new(false)),
        Arc::new(AtomicUsize::new(0)),
    );
    let thread = {
        let (swaps, stop, count) = (swaps.to_vec(), Arc::clone(&stop), Arc::clone(&count));
        std::thread::spawn(move || exchange(&swaps, &stop, &count))
    };
    let mut done = Vec::new();
    for round in 0..rounds().max(2) {
        let turn = Turn {
            actor,
            seat: 0,
            round: at * 100_000 + round,
        };
        let before = count.load(Ordering::Relaxed);
        let limit = Duration::from_mins(10);
        let outcome = tokio::time::timeout(limit, turn.call(scene)).await;
        assert!(outcome.is_ok(), "{actor:?} does not end");
        done.push((turn, outcome.unwrap()));
        while count.load(Ordering::Relaxed) == before {
            tokio::task::yield_now().await;
        }
    }
    stop.store(true, Ordering::Relaxed);
    thread.join().unwrap();
    done
}

/// Checks that the effect of a successful call is in the workspace, under any name.
fn is_true(scene: &Scene, (turn, outcome): &(Turn, Outcome), is_last: bool) {
    let Ok(value) = outcome else { return };
    let name = turn.name();
    match turn.actor {
        // Only the text of the last call is checked, because later calls overwrite earlier texts.
        Actor::WriteFile if is_last => {
            let wanted = text(&format!("write {name}"));
            let found = holding(&scene.workspace(), &format!("write {name} "));
            assert!(!found.is_empty(), "{value}");
            for path in found {
                assert_eq!(
                    fs::read_to_string(&path).unwrap(),
                    wanted,
                    "{}",
                    path.display()
                );
            }
        }
        Actor::EditFile => {
            let found = holding(&scene.workspace(), &format!("slot-0 by {name}\n"));
            assert!(!found.is_empty(), "{value}");
        }
        // The exit code may be nonzero, because `mv` cannot replace a folder.
        Actor::RunCommand => {
            assert_eq!(value["ended"], "exited", "{value}");
            let all = value["stdout"] == format!("{name}\n");
            assert_eq!(value["exit_code"] == 0, all, "{value}");
        }
        Actor::HttpRequest => assert_eq!(value["body"], format!("/request/{name} \"{name}\"")),
        Actor::Commit => {
            let commit = value["commit"].as_str().unwrap();
            let message = scene.git(&["log", "-1", "--format=%s", commit]);
            assert_eq!(message, format!("Commit {name}"), "{value}");
        }
        Actor::Fetch | Actor::Push => {
            let there = scene.git_there(&["rev-parse", &format!("refs/heads/{}", turn.branch())]);
            assert!(
                there.starts_with(value["commit"].as_str().unwrap()),
                "{value}"
            );
        }
        _ => {}
    }
}

// While a program exchanges files, no tool accesses files outside or returns a wrong result.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn no_tool_escapes_or_misreports_while_files_are_swapped() {
    let scene = Arc::new(Scene::new().await);
    fs::create_dir_all(scene.clone.join("src")).unwrap();
    let other = other_repository(&scene);
    fs::create_dir_all(&other).unwrap();
    scene.world.git(&other, &["init", "-q"]);
    let of_other = crate::world::tree(&other);
    let swaps = swaps(&scene);
    for (at, actor) in Actor::ALL.into_iter().enumerate() {
        // Exchange a few names at a time, so that each exchange happens during a call, and because some exchanges make git fail.
        for (group, swaps) in swaps.chunks(4).enumerate() {
            restore(&scene);
            for round in 0..rounds().max(2) {
                let number = (at * 10 + group) * 100_000 + round;
                let turn = Turn {
                    actor,
                    seat: 0,
                    round: number,
                };
                turn.prepare(&scene);
            }
            let done = beside(&scene, swaps, actor, at * 10 + group).await;
            for (number, one) in done.iter().enumerate() {
                is_true(&scene, one, number + 1 == done.len());
            }
            println!("{actor:?} beside group {group}: {} calls", done.len());
            let what = format!("{actor:?} beside {swaps:?}");
            scene.outside.is_unread(&what);
            scene.outside.is_unchanged();
            let work = scene.world.path("ws/acme/git-work/c1");
            assert!(crate::world::tree(&work).is_empty(), "{what}");
        }
    }
    assert_eq!(crate::world::tree(&other), of_other);
    assert!(scene.other_server.seen().is_empty());
    assert!(holding(&scene.workspace(), TOKEN).is_empty());
}

/// Restores the file that all tools use, even if a folder or a link has its name.
fn restore(scene: &Scene) {
    let file = scene.clone.join(FILE);
    if !file.symlink_metadata().is_ok_and(|meta| meta.is_file()) {
        let _ = fs::remove_file(&file);
        let _ = fs::remove_dir_all(&file);
    }
    fs::write(&file, text("main")).unwrap();
}
