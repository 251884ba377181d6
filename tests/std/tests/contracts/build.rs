//! The dependencies and the targets of `tool-contracts`.

use std::collections::BTreeSet;
use std::path::Path;
use std::process::Command;

use test_support::{Missing, Ran};

/// Returns the names of `tool-contracts` and of its dependencies with these features. `edges` selects the kinds of dependencies.
fn tree(features: &str, edges: &str) -> BTreeSet<String> {
    let tree = tool_tests::cargo::command()
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
pub(crate) fn contracts_depend_on_serde_alone_case() -> Ran {
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
    Ok(())
}

const TARGET: &str = "wasm32-unknown-unknown";

// S2-24: a client in a browser can use the crate.
pub(crate) fn contracts_build_for_web_assembly_case() -> Ran {
    let rustc = Command::new("rustc")
        .args(["--print", "target-libdir", "--target", TARGET])
        .output()
        .unwrap();
    let folder = String::from_utf8(rustc.stdout).unwrap();
    if !Path::new(folder.trim()).is_dir() {
        let install = format!("the target {TARGET}: `rustup target add {TARGET}`");
        return Err(Missing::new(install));
    }
    let check = tool_tests::cargo::command()
        .current_dir(env!("CARGO_MANIFEST_DIR"))
        .env_remove("CARGO_RESOLVER_FEATURE_UNIFICATION")
        .env("CARGO_TARGET_DIR", env!("CARGO_TARGET_TMPDIR"))
        .args(["check", "--offline", "--locked", "-p", "tool-contracts"])
        .args(["--target", TARGET])
        .output()
        .unwrap();
    let text = String::from_utf8_lossy(&check.stderr);
    assert!(check.status.success(), "{text}");
    Ok(())
}
