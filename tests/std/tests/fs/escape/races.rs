//! Races of tools with a program that exchanges names, so that a name alternates between a file or folder and a link.

use std::fs;
use std::os::unix::fs::symlink;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use rustix::fs::{CWD, RenameFlags, renameat_with};
use serde_json::json;

use super::{CANARY, Trial, UNNAMED};

/// A guard that stops the background thread on drop, even if the test panics.
struct Stop<'a>(&'a AtomicBool);

impl Drop for Stop<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

/// Exchanges two names in the workspace repeatedly while `during` runs, and returns the number of exchanges.
fn exchanging(trial: &Trial, one: &str, other: &str, during: impl FnOnce()) -> usize {
    let (one, other) = (trial.place.path.join(one), trial.place.path.join(other));
    let (stop, swaps) = (AtomicBool::new(false), AtomicUsize::new(0));
    std::thread::scope(|scope| {
        scope.spawn(|| {
            while !stop.load(Ordering::Relaxed) {
                renameat_with(CWD, &one, CWD, &other, RenameFlags::EXCHANGE).unwrap();
                swaps.fetch_add(1, Ordering::Relaxed);
            }
        });
        let _stop = Stop(&stop);
        during();
    });
    swaps.into_inner()
}

fn runtime() -> tokio::runtime::Runtime {
    tokio::runtime::Builder::new_current_thread()
        .build()
        .unwrap()
}

/// Runs every tool on the paths while the names `one` and `other` are exchanged.
fn under_exchange(trial: &Trial, one: &str, other: &str, paths: &[&str], rounds: usize) {
    let runtime = runtime();
    let mut errors = 0;
    let swaps = exchanging(trial, one, other, || {
        for path in (0..rounds).flat_map(|_| paths) {
            let results = runtime.block_on(trial.every_tool(path));
            errors += results.iter().filter(|result| result.is_error()).count();
        }
    });
    assert!(swaps > rounds, "{swaps}");
    // Each of the two states must occur in some calls; otherwise no race took place.
    let calls = rounds * paths.len() * 12;
    assert!(errors > 0 && errors < calls, "{errors} of {calls}");
    trial.is_untouched();
}

// S1-76, S1-78: if a folder is exchanged for a link to a folder outside, tools do not follow the link.
#[test]
fn folder_swapped_for_a_link_is_not_followed() {
    let trial = Trial::new();
    trial.place.put("x/inside.txt", "inside\n");
    trial.place.put("x/deep/secret", "inside\n");
    symlink("../conv2", trial.place.path.join("y")).unwrap();
    under_exchange(
        &trial,
        "x",
        "y",
        &[
            "x/inside.txt",
            "x/secret",
            "x/deep",
            "x/deep/secret",
            "x",
            ".",
            "x/new",
            "x/new/er",
        ],
        60,
    );
    assert!(
        !trial
            .place
            .path
            .parent()
            .unwrap()
            .join("conv2/new")
            .exists()
    );
}

// S1-76, S1-78: if a file is exchanged for a link to a file outside, tools do not follow the link.
#[test]
fn file_swapped_for_a_link_is_not_followed() {
    let trial = Trial::new();
    trial.place.put("x", "inside\n");
    let secret = trial.place.around().join("outside/secret");
    symlink(&secret, trial.place.path.join("y")).unwrap();
    // If a tool writes to `x`, a regular file replaces the link, so the thread creates the link again in each round.
    let runtime = runtime();
    let stop = AtomicBool::new(false);
    let (one, other) = (trial.place.path.join("x"), trial.place.path.join("y"));
    std::thread::scope(|scope| {
        scope.spawn(|| {
            while !stop.load(Ordering::Relaxed) {
                let _ = fs::remove_file(&other);
                let _ = symlink(&secret, &other);
                let _ = fs::rename(&other, &one);
                let _ = fs::remove_file(&one);
                let _ = fs::write(&one, "inside\n");
            }
        });
        let _stop = Stop(&stop);
        for _ in 0..200 {
            for path in ["x", "./x", "."] {
                runtime.block_on(trial.every_tool(path));
            }
        }
    });
    trial.is_untouched();
    let text = fs::read_to_string(&secret).unwrap();
    assert!(text.contains(CANARY));
}

// S1-78: if folders become links during a directory walk, the walk does not list files outside.
#[test]
fn a_walk_lists_nothing_outside_while_folders_become_links() {
    let trial = Trial::new();
    for n in 0..40 {
        trial
            .place
            .put(&format!("x/d{n}/deep/inside.txt"), "inside\n");
        trial.place.put(&format!("x/d{n}/.gitignore"), "none\n");
    }
    symlink("../conv2", trial.place.path.join("y")).unwrap();
    let runtime = runtime();
    exchanging(&trial, "x/d7", "y", || {
        for _ in 0..150 {
            for (tool, arguments) in [
                ("find_files", json!({"pattern": "*", "hidden": true})),
                ("search_files", json!({"pattern": ".", "hidden": true})),
                ("search_files", json!({"pattern": ".", "path": "x/d7"})),
            ] {
                let result = runtime.block_on(trial.place.call(tool, arguments));
                let message = result.model_text();
                assert!(
                    !message.contains(CANARY) && !message.contains(UNNAMED),
                    "{message}"
                );
                trial.outside.is_quiet(tool);
            }
        }
    });
    trial.is_untouched();
}

// If a folder is exchanged for a link to `.git`, tools do not write through the link.
#[test]
fn a_folder_that_becomes_a_link_to_git_is_not_written_through() {
    let trial = Trial::new();
    trial.place.put("x/config", "inside\n");
    trial.place.put(".git/config", "kept\n");
    symlink(".git", trial.place.path.join("y")).unwrap();
    let runtime = runtime();
    let swaps = exchanging(&trial, "x", "y", || {
        for round in 0..400 {
            for (tool, arguments) in [
                (
                    "write_file",
                    json!({"path": "x/config", "content": format!("{round}\n")}),
                ),
                (
                    "write_file",
                    json!({"path": "x/hooks/pre-commit", "content": "x"}),
                ),
                (
                    "edit_file",
                    json!({"path": "x/config", "old_text": "\n", "new_text": "\r"}),
                ),
            ] {
                runtime.block_on(trial.place.call(tool, arguments));
            }
        }
    });
    assert_eq!(trial.place.holds(".git/config"), "kept\n");
    assert_eq!(
        fs::read_dir(trial.place.path.join(".git")).unwrap().count(),
        1
    );
    assert!(swaps > 0);
}

// If a program writes to a file while a tool reads it, the call returns a result or an error and does not panic.
#[test]
fn file_that_changes_in_place_is_read_or_refused() {
    use std::os::unix::fs::FileExt as _;

    let trial = Trial::new();
    // The first two texts are longer than the buffer of a tool, with all line ends at the beginning or at the end. The third has short lines only.
    let (ends, letters) = ("\n".repeat(300_000), "x".repeat(300_000));
    let texts = [
        format!("{ends}{letters}"),
        format!("{letters}{ends}"),
        "short\n".repeat(100_000),
    ];
    trial.place.put("x", &texts[0]);
    let file = fs::OpenOptions::new()
        .write(true)
        .open(trial.place.path.join("x"))
        .unwrap();
    let runtime = runtime();
    let stop = AtomicBool::new(false);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            while !stop.load(Ordering::Relaxed) {
                for text in &texts {
                    file.write_all_at(text.as_bytes(), 0).unwrap();
                    file.set_len(text.len().try_into().unwrap()).unwrap();
                }
            }
        });
        let _stop = Stop(&stop);
        for round in 0_u32..10 {
            let line = 1 + round * 29_999 % 300_000;
            for (tool, arguments) in [
                ("read_file", json!({"path": "x", "tail": 400})),
                ("read_file", json!({"path": "x", "offset": 500_000})),
                (
                    "read_file_parts",
                    json!({"parts": [{"path": "x", "start_line": line, "end_line": line + 300}]}),
                ),
                ("search_files", json!({"path": "x", "pattern": "x$"})),
                (
                    "edit_file",
                    json!({"path": "x", "old_text": "none of it", "new_text": ""}),
                ),
            ] {
                let result = runtime.block_on(trial.place.call(tool, arguments));
                let kind = result.error().map(tool_core::ToolError::kind);
                assert!(
                    matches!(kind, None | Some(tool_core::ErrorKind::Failed)),
                    "{tool}: {}",
                    result.error().unwrap().operator_text()
                );
            }
        }
    });
    trial.is_untouched();
}
