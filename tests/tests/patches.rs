//! Patches that skip a step of a call do not compile.
//!
//! Each file in `tests/patches` says what it skips and which error of the compiler it expects, then comes the patch. The compiler sees a
//! copy of `tool-core` and `tool-macros` below the target folder.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "a test fails by panicking"
)]

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;

fn repository() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

fn write(to: &Path, text: &[u8]) {
    // Files that are the same keep their time, so that nothing is built again.
    if fs::read(to).ok().as_deref() != Some(text) {
        fs::write(to, text).expect("a copy");
    }
}

fn copied(from: &Path, to: &Path) {
    fs::create_dir_all(to).expect("a folder");
    for entry in fs::read_dir(from).expect("a folder") {
        let entry = entry.expect("an entry");
        let (from, to) = (entry.path(), to.join(entry.file_name()));
        if from.is_dir() {
            copied(&from, &to);
        } else {
            write(&to, &fs::read(&from).expect("a file"));
        }
    }
}

/// Brings the copy to the state of the repository.
fn restored(copy: &Path) {
    let repository = repository();
    for (krate, parts) in [
        ("tool-core", &["src"][..]),
        ("tool-macros", &["src", "docs"]),
    ] {
        for part in parts {
            copied(
                &repository.join(krate).join(part),
                &copy.join(krate).join(part),
            );
        }
        let manifest = fs::read(repository.join(krate).join("Cargo.toml")).expect("a manifest");
        write(&copy.join(krate).join("Cargo.toml"), &manifest);
    }
    let manifest = fs::read_to_string(repository.join("Cargo.toml")).expect("a manifest");
    let members = r#"members = ["tool-macros", "tool-core"]"#;
    let of_all = manifest
        .lines()
        .find(|line| line.starts_with("members = "))
        .expect("the members of the workspace in one line");
    write(
        &copy.join("Cargo.toml"),
        manifest.replacen(of_all, members, 1).as_bytes(),
    );
    // Cargo removes what these members do not need.
    if !copy.join("Cargo.lock").exists() {
        fs::copy(repository.join("Cargo.lock"), copy.join("Cargo.lock")).expect("a copy");
    }
}

/// What the compiler says: code and text of each error, with the lines that it is about.
fn errors(copy: &Path) -> Vec<(String, String)> {
    let output = Command::new(env!("CARGO"))
        .args(["check", "--offline", "--package", "tool-core", "--lib"])
        .args(["--no-default-features", "--features", "host"])
        .args(["--message-format", "json", "--target-dir"])
        .arg(Path::new(env!("CARGO_TARGET_TMPDIR")).join("patches-target"))
        .current_dir(copy)
        .env("CARGO_INCREMENTAL", "1")
        .env_remove("RUSTFLAGS")
        .env_remove("CARGO_ENCODED_RUSTFLAGS")
        .output()
        .expect("cargo");
    let messages = String::from_utf8(output.stdout).expect("text");
    let found: Vec<_> = messages
        .lines()
        .filter_map(|line| serde_json::from_str::<Value>(line).ok())
        .map(|line| line["message"].clone())
        .filter(|message| message["level"] == "error")
        .map(|message| {
            let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
            (text(&message["code"]["code"]), text(&message["rendered"]))
        })
        .collect();
    assert!(
        !found.is_empty() || output.status.success(),
        "{}",
        String::from_utf8_lossy(&output.stderr)
    );
    found
}

/// Code and name that the head of a patch expects.
fn expected(patch: &str) -> (&str, &str) {
    let line = patch
        .lines()
        .find_map(|line| line.strip_prefix("expects: "))
        .expect("a line `expects: CODE NAME`");
    line.split_once(' ').expect("a code and a name")
}

#[test]
fn patches_that_skip_a_step_do_not_compile() {
    let copy = Path::new(env!("CARGO_TARGET_TMPDIR")).join("patches");
    let folder = repository().join("tests/patches");
    let mut patches: Vec<PathBuf> = fs::read_dir(folder)
        .expect("the patches")
        .map(|entry| fs::canonicalize(entry.expect("an entry").path()).expect("a path"))
        .collect();
    patches.sort();
    assert!(patches.len() >= 5, "{patches:?}");
    for path in patches {
        let name = path.file_name().expect("a name").to_string_lossy();
        let patch = fs::read_to_string(&path).expect("a patch");
        let (code, subject) = expected(&patch);
        restored(&copy);
        let applied = Command::new("git")
            .args(["apply", "--whitespace=nowarn"])
            .arg(&path)
            .current_dir(&copy)
            // The copy may lie in a repository, whose root is not the root of the patch.
            .env("GIT_CEILING_DIRECTORIES", copy.parent().expect("a parent"))
            .output()
            .expect("git");
        let why = String::from_utf8_lossy(&applied.stderr);
        assert!(
            applied.status.success(),
            "{name} no longer applies, adapt it: {why}"
        );
        let errors = errors(&copy);
        let is_found = errors
            .iter()
            .any(|(found, text)| found == code && text.contains(subject));
        assert!(
            is_found,
            "{name} expects {code} about `{subject}`: {errors:#?}"
        );
    }
    restored(&copy);
}
