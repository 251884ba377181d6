//! Tests with randomly generated paths.

use std::os::unix::fs::symlink;

use proptest::prelude::*;
use proptest::test_runner::TestRunner;

use super::Trial;

/// Returns a strategy for components of paths: existing names inside and outside, `..`, links, and unusual characters.
fn piece() -> impl Strategy<Value = String> {
    let known = prop::sample::select(vec![
        "..",
        ".",
        "",
        "a",
        "b",
        "inside.txt",
        "file",
        "conv1",
        "conv2",
        "conv1x",
        "secret",
        "deep",
        "outside",
        "ws",
        "acme",
        "conversations",
        "up",
        "root",
        "to-secret",
        "self",
        "hard",
        "~",
        "\\",
        "C:",
        "\0",
        ".git",
        "..\\..",
        "%2e%2e",
    ]);
    let link = prop::sample::select(vec!["up", "root", "self", "to-secret", "a/up", "a/out"]);
    prop_oneof![
        6 => link.prop_map(str::to_owned),
        6 => known.prop_map(str::to_owned),
        1 => "\\PC{1,6}",
        1 => any::<String>(),
        1 => "[.]{1,4}",
    ]
}

fn path() -> impl Strategy<Value = String> {
    let separator = prop::sample::select(vec!["/", "/", "/", "//", "\\", "\u{ff0f}"]);
    let pieces = prop::collection::vec((piece(), separator), 1..5);
    (any::<prop::sample::Index>(), pieces).prop_map(|(start, pieces)| {
        // The test replaces `\u{1}` with the workspace's own path.
        let starts = ["", "", "", "/", "\u{1}", "\u{1}/"];
        let mut path = starts[start.index(starts.len())].to_owned();
        for (piece, separator) in pieces {
            path.push_str(&piece);
            path.push_str(separator);
        }
        path
    })
}

// S1-78: no tool accesses a file outside with a random path.
#[test]
fn no_random_path_touches_anything_outside() {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .build()
        .unwrap();
    let trial = Trial::new();
    let base = trial.place.path.clone();
    let links = [
        ("up", ".."),
        ("root", "/"),
        ("self", "."),
        ("to-secret", "../conv2/secret"),
        ("a/up", "../.."),
        ("a/out", "../../conv2"),
    ];
    let own = base.display().to_string();
    let mut runner = TestRunner::new(ProptestConfig {
        cases: 400,
        failure_persistence: None,
        ..ProptestConfig::default()
    });
    let checked = runner.run(&path(), |path| {
        for (link, target) in links {
            let _ = symlink(target, base.join(link));
        }
        runtime.block_on(trial.every_tool(&path.replace('\u{1}', &own)));
        Ok(())
    });
    checked.unwrap();
    trial.is_untouched();
}
