//! The number of crates that a pack adds to the dependencies of `tool-core`, and the documented time of its build.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::path::Path;
use std::sync::LazyLock;

use serde_json::Value;

/// Returns the package and its dependencies without dev-dependencies, in the versions of the lock file. `None` means the default features.
fn tree(package: &str, features: Option<&str>) -> BTreeSet<String> {
    let mut cargo = tool_tests::cargo::command();
    cargo.args(["tree", "--offline", "--locked", "-e", "no-dev"]);
    cargo.args(["--prefix", "none", "--no-dedupe"]);
    cargo.args(["-p", package, "--format", "{p}"]);
    if let Some(features) = features {
        cargo.args(["--no-default-features", "--features", features]);
    }
    cargo.current_dir(Path::new(env!("CARGO_MANIFEST_DIR")));
    // The setting would add the features that other packages enable.
    cargo.env_remove("CARGO_RESOLVER_FEATURE_UNIFICATION");
    let said = cargo.output().unwrap();
    let crates = String::from_utf8(said.stdout).unwrap();
    // cargo prints `(proc-macro)` or a path after the version.
    let name = |line: &str| line.split(' ').take(2).collect::<Vec<_>>().join(" ");
    let crates: BTreeSet<String> = crates.lines().map(name).collect();
    assert!(
        crates.len() > 20,
        "{}",
        String::from_utf8_lossy(&said.stderr)
    );
    crates
}

/// The crates of `tool-core` without features.
static CORE: LazyLock<BTreeSet<String>> = LazyLock::new(|| tree("tool-core", Some("")));

/// Counts the crates that a package needs in addition to `tool-core` and its dependencies.
fn added(package: &str, features: Option<&str>) -> usize {
    let crates = tree(package, features);
    let own = |name: &&String| !name.starts_with(&format!("{package} "));
    crates.difference(&CORE).filter(own).count()
}

// S2-28: the pack of file tools is small, and the docs of each pack that needs no network contain its number of crates.
#[test]
fn file_pack_is_small_and_packs_document_their_crate_counts() {
    assert!(added("tool-std", Some("fs")) < 60);
    for (package, feature, docs) in [
        (
            "tool-std",
            "fs",
            include_str!("../../../../tool-std/src/fs.rs"),
        ),
        (
            "tool-std",
            "process",
            include_str!("../../../../tool-std/src/process.rs"),
        ),
        (
            "tool-std",
            "git",
            include_str!("../../../../tool-std/src/git.rs"),
        ),
        (
            "tool-isolate",
            "",
            include_str!("../../../../crates/tool-isolate/src/lib.rs"),
        ),
    ] {
        let added = added(package, Some(feature));
        let said = format!("//! {added} crates in addition to those of `tool-core`");
        assert!(
            docs.contains(&said),
            "write in the docs of {package} {feature}: {said}"
        );
    }
}

// S2-28: by default, only the pack of file tools is built, and it adds at most 40 crates.
#[test]
fn default_features_build_only_the_file_pack() {
    assert_eq!(tree("tool-std", None), tree("tool-std", Some("fs")));
    assert!(added("tool-std", None) <= 40);
    assert_ne!(tree("tool-std", Some("fs,web")), tree("tool-std", None));
}

/// Returns the features of `tool-std` except `default`, sorted.
fn features() -> Vec<String> {
    let metadata = tool_tests::cargo::command()
        .args(["metadata", "--no-deps", "--offline"])
        .args(["--format-version", "1"])
        .current_dir(Path::new(env!("CARGO_MANIFEST_DIR")))
        .output()
        .unwrap();
    let metadata: Value = serde_json::from_slice(&metadata.stdout).unwrap();
    let packages = metadata["packages"].as_array().unwrap();
    let of_std = packages.iter().find(|one| one["name"] == "tool-std");
    let features = of_std.unwrap()["features"].as_object().unwrap();
    let named = features.keys().filter(|name| *name != "default");
    named.cloned().collect()
}

/// Returns the seconds of each feature in the table of the docs. `.ci/build-times` measures them.
fn documented_seconds(table: &str) -> BTreeMap<&str, u32> {
    let rows = table.lines().filter_map(|line| {
        let cells: Vec<_> = line.split('|').map(str::trim).collect();
        let [_, feature, _, seconds, _] = cells[..] else {
            return None;
        };
        Some((feature.trim_matches('`'), seconds.parse().ok()?))
    });
    rows.collect()
}

// S2-28: the docs of `tool-std` have the number of crates of each feature, and the seconds of its build. `UPDATE=1` writes the numbers of crates.
#[test]
fn each_feature_documents_its_crates_and_its_build_time() {
    const HEAD: &str = "//! | feature | crates | seconds |\n//! |---|---|---|\n";
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tool-std/src/lib.rs");
    let source = std::fs::read_to_string(&path).unwrap();
    let (before, table) = source.split_once(HEAD).unwrap();
    let end = table.find("//!\n").unwrap();
    let seconds = documented_seconds(&table[..end]);
    let mut expected = String::new();
    for feature in features() {
        let crates = added("tool-std", Some(&feature));
        let seconds = seconds.get(&*feature).copied().unwrap_or_default();
        assert!(
            (1..600).contains(&seconds),
            "the row of `{feature}` in {} has no seconds: write the row that `.ci/build-times {feature}` prints",
            path.display()
        );
        writeln!(expected, "//! | `{feature}` | {crates} | {seconds} |").unwrap();
    }
    if std::env::var_os("UPDATE").is_some() {
        let text = format!("{before}{HEAD}{expected}{}", &table[end..]);
        std::fs::write(path, text).unwrap();
        return;
    }
    assert_eq!(
        &table[..end],
        expected,
        "run `UPDATE=1 cargo test -p std-tests --test fs each_feature`"
    );
}
