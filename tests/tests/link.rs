//! What a program links is what its registry lists, in every profile.

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

/// The fixture workspace in the target folder, with the versions that the repository has locked, so that nothing is downloaded and no
/// tracked file changes.
fn workspace() -> &'static Path {
    static COPIED: OnceLock<PathBuf> = OnceLock::new();
    COPIED.get_or_init(|| {
        let repository = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
        let copy = Path::new(env!("CARGO_TARGET_TMPDIR")).join("link-workspace");
        copied(&repository.join("tests/fixtures/link"), &copy);
        fs::copy(repository.join("Cargo.lock"), copy.join("Cargo.lock")).expect("a copy");
        copy
    })
}

/// Copies a folder. Files that are the same keep their time, so that nothing is built again.
fn copied(from: &Path, to: &Path) {
    fs::create_dir_all(to).expect("a folder");
    for entry in fs::read_dir(from).expect("a folder") {
        let (from, to) = {
            let entry = entry.expect("an entry");
            (entry.path(), to.join(entry.file_name()))
        };
        if from.is_dir() {
            copied(&from, &to);
            continue;
        }
        let core = Path::new(env!("CARGO_MANIFEST_DIR")).join("../tool-core");
        let text = fs::read_to_string(&from).expect("text");
        let text = text.replace("../../../../tool-core", &core.display().to_string());
        if fs::read_to_string(&to).ok().as_deref() != Some(&text) {
            fs::write(&to, text).expect("a copy");
        }
    }
}

/// Builds the fixture workspace once a profile and runs one of its programs.
fn run(profile: &str, program: &str) -> String {
    static BUILT: [OnceLock<()>; 2] = [const { OnceLock::new() }; 2];
    let target = Path::new(env!("CARGO_TARGET_TMPDIR")).join("link");
    let index = ["dev", "lto"]
        .iter()
        .position(|known| *known == profile)
        .expect("a known profile");
    BUILT[index].get_or_init(|| {
        let status = Command::new(env!("CARGO"))
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
            .status()
            .expect("cargo runs");
        assert!(status.success(), "the fixtures build under `{profile}`");
    });
    let folder = if profile == "dev" { "debug" } else { profile };
    let output = Command::new(target.join(folder).join(program))
        .output()
        .expect("the program runs");
    String::from_utf8(output.stdout)
        .expect("text")
        .trim_end()
        .to_owned()
}

// S0-02, S0-03, S0-04, S1-01, S2-07
#[test]
fn a_pack_that_is_named_once_registers_every_tool_in_order() {
    for profile in ["dev", "lto"] {
        for _ in 0..3 {
            assert_eq!(run(profile, "linked"), "add greet multiply", "{profile}");
        }
    }
}

// S0-04
#[test]
fn a_registry_without_tools_says_how_to_link() {
    for profile in ["dev", "lto"] {
        let text = run(profile, "unlinked");
        assert!(text.contains("use my_pack as _;"), "{profile}: {text}");
    }
}

// S1-02
#[test]
fn two_tools_of_one_name_are_refused_with_both_origins() {
    for profile in ["dev", "lto"] {
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
