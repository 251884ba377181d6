//! Tests that start cargo do not make cargo compile crates again.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::fs;
use std::path::Path;
use std::process::Command;

use tool_tests::sources::each_source;

/// Variables that cargo sets for a test, and on which the build script of `ring` depends.
const OF_CARGO: [&str; 4] = [
    "CARGO_MANIFEST_DIR",
    "CARGO_PKG_NAME",
    "CARGO_PKG_VERSION_MAJOR",
    "CARGO_PKG_VERSION_PRE",
];

/// Builds a package, and returns whether cargo compiled it.
fn compiles(mut cargo: Command, package: &Path) -> bool {
    let output = cargo
        .args(["build", "--offline", "--target-dir", "target"])
        .current_dir(package)
        .output()
        .unwrap();
    let log = String::from_utf8(output.stderr).unwrap();
    assert!(output.status.success(), "{log}");
    log.contains("Compiling ")
}

#[test]
fn cargo_of_a_test_reuses_the_build_of_a_shell() {
    let folder = tempfile::tempdir().unwrap();
    let package = folder.path();
    fs::create_dir(package.join("src")).unwrap();
    fs::write(package.join("src/lib.rs"), "").unwrap();
    fs::write(
        package.join("Cargo.toml"),
        "[package]\nname = \"ring-like\"\nedition = \"2024\"\n\n[workspace]\n",
    )
    .unwrap();
    let lines = OF_CARGO.map(|name| format!("println!(\"cargo::rerun-if-env-changed={name}\");"));
    let script = format!("fn main() {{ {} }}", lines.concat());
    fs::write(package.join("build.rs"), script).unwrap();
    let of_a_shell = || {
        let mut cargo = Command::new(std::env::var_os("CARGO").unwrap());
        for name in OF_CARGO {
            cargo.env_remove(name);
        }
        cargo
    };
    assert!(compiles(of_a_shell(), package));
    assert!(!compiles(tool_tests::cargo::command(), package));
    assert!(!compiles(of_a_shell(), package));
}

// A test that starts cargo with `Command::new` would compile `ring` and the crates above it again.
#[test]
fn tests_start_cargo_without_the_variables_of_the_outer_cargo() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let direct = concat!("Command::new(env!(", "\"CARGO\"))");
    let mut found = Vec::new();
    each_source(&root, &mut |path| {
        if !path.ends_with("tests/src/cargo.rs")
            && fs::read_to_string(path).unwrap().contains(direct)
        {
            found.push(path.display().to_string());
        }
    });
    assert!(
        found.is_empty(),
        "call `tool_tests::cargo::command()` in {found:?}"
    );
}
