//! What a pack adds to the tree of `tool-core`.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::collections::BTreeSet;
use std::path::Path;
use std::process::Command;

/// The crates that a package is built from, as the lock file has them; without a list of features, with those of its default.
fn tree(package: &str, features: Option<&str>) -> BTreeSet<String> {
    let mut cargo = Command::new(env!("CARGO"));
    cargo.args(["tree", "--offline", "--locked", "-e", "no-dev"]);
    cargo.args(["--prefix", "none", "--no-dedupe"]);
    cargo.args(["-p", package, "--format", "{p}"]);
    if let Some(features) = features {
        cargo.args(["--no-default-features", "--features", features]);
    }
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
fn added(features: Option<&str>) -> usize {
    let crates = tree("tool-std", features);
    let own = |name: &&String| !name.starts_with("tool-std ");
    crates
        .difference(&tree("tool-core", Some("")))
        .filter(own)
        .count()
}

// S2-28
#[test]
fn the_pack_of_files_is_small_and_says_how_small() {
    let added = added(Some("fs"));
    assert!(added < 60, "{added}");
    let docs = include_str!("../../../tool-std/src/fs/mod.rs");
    let said = format!("//! {added} crates beside those of `tool-core`");
    assert!(docs.contains(&said), "say in the docs of `fs`: {said}");
}

// S2-28: what nobody asked for is not built
#[test]
fn without_a_list_of_features_the_pack_of_files_is_all() {
    assert_eq!(tree("tool-std", None), tree("tool-std", Some("fs")));
    assert!(added(None) < 60);
    assert_ne!(tree("tool-std", Some("fs,web")), tree("tool-std", None));
}
