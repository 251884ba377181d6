//! Linking of tools: the registry lists the tools that a program links, in every profile.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "a test fails by panicking"
)]

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;

/// Copies the fixture workspace to the target folder, with the repository's locked versions, so that nothing is downloaded and no tracked file
/// changes.
fn workspace() -> &'static Path {
    static COPIED: OnceLock<PathBuf> = OnceLock::new();
    COPIED.get_or_init(|| {
        let repository = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
        let copy = Path::new(env!("CARGO_TARGET_TMPDIR")).join("link-workspace");
        copied(&repository.join("tests/fixtures/link"), &copy);
        fs::copy(repository.join("Cargo.lock"), copy.join("Cargo.lock"))
            .expect("the lock file can be copied");
        // Run cargo once before the parallel builds, to remove unused entries from the lock file.
        let output = tool_tests::cargo::command()
            .args(["metadata", "--offline", "--format-version", "1"])
            .current_dir(&copy)
            .output()
            .expect("cargo runs");
        assert!(
            output.status.success(),
            "the lock file lacks a version of a dependency"
        );
        copy
    })
}

/// Copies a folder. Unchanged files keep their modification time, so that cargo does not rebuild.
fn copied(from: &Path, to: &Path) {
    fs::create_dir_all(to).expect("the folder can be created");
    for entry in fs::read_dir(from).expect("the folder is readable") {
        let (from, to) = {
            let entry = entry.expect("the entry is readable");
            (entry.path(), to.join(entry.file_name()))
        };
        if from.is_dir() {
            copied(&from, &to);
            continue;
        }
        let core = Path::new(env!("CARGO_MANIFEST_DIR")).join("../tool-core");
        let text = fs::read_to_string(&from).expect("the file is UTF-8");
        let text = text.replace("../../../../tool-core", &core.display().to_string());
        if fs::read_to_string(&to).ok().as_deref() != Some(&text) {
            fs::write(&to, text).expect("the file can be written");
        }
    }
}

const PROFILES: [&str; 2] = ["dev", "lto"];

/// Builds the fixture workspace once with each profile, and returns the target folder. The builds run in parallel, because each profile has its own
/// folder.
fn built() -> &'static Path {
    static BUILT: OnceLock<PathBuf> = OnceLock::new();
    BUILT.get_or_init(|| {
        // All tests that run cargo share trybuild's target folder, so that dependencies are built once.
        let target = Path::new(env!("CARGO_TARGET_TMPDIR")).with_file_name("tests/trybuild");
        let build = |profile: &str| {
            tool_tests::cargo::command()
                .args([
                    "build",
                    "--quiet",
                    "--offline",
                    "--bins",
                    "--profile",
                    profile,
                ])
                .current_dir(workspace())
                .env("CARGO_TARGET_DIR", &target)
                .env_remove("RUSTFLAGS")
                .spawn()
                .expect("cargo runs")
        };
        for (profile, mut cargo) in PROFILES.map(|profile| (profile, build(profile))) {
            let status = cargo.wait().expect("cargo exits");
            assert!(
                status.success(),
                "the fixtures do not build with the profile `{profile}`"
            );
        }
        target
    })
}

/// Runs one of the fixture programs.
fn run(profile: &str, program: &str) -> String {
    let folder = if profile == "dev" { "debug" } else { profile };
    let output = Command::new(built().join(folder).join(program))
        .output()
        .expect("the program runs");
    String::from_utf8(output.stdout)
        .expect("the output is UTF-8")
        .trim_end()
        .to_owned()
}

// S0-02, S0-03, S0-04, S1-01, S2-07: one `use pack as _;` registers every tool of a pack, in a fixed order.
#[test]
fn a_pack_that_is_named_once_registers_every_tool_in_order() {
    for profile in PROFILES {
        for _ in 0..3 {
            assert_eq!(run(profile, "linked"), "add greet multiply", "{profile}");
        }
    }
}

// S0-04: the error of an empty registry explains how to link a pack.
#[test]
fn error_of_an_empty_registry_explains_how_to_link() {
    for profile in PROFILES {
        let text = run(profile, "unlinked");
        assert!(text.contains("use my_pack as _;"), "{profile}: {text}");
    }
}

// S1-02: two tools with one name are refused, and the error names both origins.
#[test]
fn two_tools_of_one_name_are_refused_with_both_origins() {
    for profile in PROFILES {
        let text = run(profile, "duplicate");
        assert!(text.contains("`add`"), "{profile}: {text}");
        assert!(
            text.contains("link-pack") && text.contains("pack/src/add.rs"),
            "{profile}: {text}"
        );
        assert!(
            text.contains("link-app") && text.contains("app/src/bin/duplicate.rs"),
            "{profile}: {text}"
        );
    }
}
