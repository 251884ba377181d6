//! What a pack adds to the tree of `tool-core`.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::collections::BTreeSet;
use std::path::Path;
use std::process::Command;

/// The crates that a package is built from, as the lock file has them.
fn tree(package: &str, features: &str) -> BTreeSet<String> {
    let mut cargo = Command::new(env!("CARGO"));
    cargo.args(["tree", "--offline", "--locked", "-e", "no-dev"]);
    cargo.args(["--prefix", "none", "--no-dedupe", "--no-default-features"]);
    cargo.args(["-p", package, "--features", features, "--format", "{p}"]);
    cargo.current_dir(Path::new(env!("CARGO_MANIFEST_DIR")));
    let said = cargo.output().unwrap();
    let crates = String::from_utf8(said.stdout).unwrap();
    // A proc macro and a folder are told behind the version.
    let name = |line: &str| line.split(' ').take(2).collect::<Vec<_>>().join(" ");
    let crates: BTreeSet<String> = crates.lines().map(name).collect();
    assert!(
        crates.len() > 20,
        "{}",
        String::from_utf8_lossy(&said.stderr)
    );
    crates
}

/// The crates of a pack that are not `tool-core`'s.
fn added(feature: &str) -> usize {
    let crates = tree("tool-std", feature);
    let own = |name: &&String| !name.starts_with("tool-std ");
    crates
        .difference(&tree("tool-core", ""))
        .filter(own)
        .count()
}

// S2-28
#[test]
fn the_pack_of_files_is_small_and_says_how_small() {
    let added = added("fs");
    assert!(added < 60, "{added}");
    let docs = include_str!("../../../tool-std/src/fs/mod.rs");
    let said = format!("//! {added} crates beside those of `tool-core`");
    assert!(docs.contains(&said), "say in the docs of `fs`: {said}");
}
