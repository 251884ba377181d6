//! The dependencies of `tool-contracts`.

use std::collections::BTreeSet;
use std::process::Command;

/// Returns the names of the package's dependencies of a kind of build, itself included.
fn tree(features: &str, edges: &str) -> BTreeSet<String> {
    let tree = Command::new(env!("CARGO"))
        .current_dir(env!("CARGO_MANIFEST_DIR"))
        // The setting would add the features that other packages enable.
        .env_remove("CARGO_RESOLVER_FEATURE_UNIFICATION")
        .args(["tree", "--offline", "--locked", "-p", "tool-contracts"])
        .args(["--no-default-features", "--features", features, "-e", edges])
        .args(["--prefix", "none", "--no-dedupe", "--format", "{p}"])
        .output()
        .unwrap();
    let text = String::from_utf8(tree.stdout).unwrap();
    let names: BTreeSet<String> = text
        .lines()
        .filter_map(|line| line.split(' ').next())
        .filter(|name| !name.is_empty())
        .map(str::to_owned)
        .collect();
    let error = String::from_utf8_lossy(&tree.stderr);
    assert!(names.contains("tool-contracts"), "{error}");
    names
}

fn set(names: &[&str]) -> BTreeSet<String> {
    names.iter().map(|name| (*name).to_owned()).collect()
}

// S2-24: without features, the crate depends on serde alone; its macro is not part of the program.
#[test]
fn contracts_depend_on_serde_alone() {
    let serde = ["serde", "serde_core", "tool-contracts"];
    assert_eq!(tree("", "normal,no-proc-macro"), set(&serde));
    let derive = [
        "proc-macro2",
        "quote",
        "serde_derive",
        "syn",
        "unicode-ident",
    ];
    assert_eq!(tree("", "no-dev"), set(&[&serde[..], &derive[..]].concat()));
    assert!(tree("schema", "no-dev").contains("tool-core"));
}
