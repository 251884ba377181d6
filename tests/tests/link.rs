//! What a program links is what its registry lists, in every profile.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "a test fails by panicking"
)]

use std::{path::Path, process::Command, sync::OnceLock};

/// Builds the fixture workspace once a profile and runs one of its programs.
fn run(profile: &str, program: &str) -> String {
    static BUILT: [OnceLock<()>; 2] = [const { OnceLock::new() }; 2];
    let fixtures = Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/link");
    let target = Path::new(env!("CARGO_TARGET_TMPDIR")).join("link");
    let index = ["dev", "lto"]
        .iter()
        .position(|known| *known == profile)
        .expect("a known profile");
    BUILT[index].get_or_init(|| {
        let status = Command::new(env!("CARGO"))
            .args(["build", "--quiet", "--bins", "--profile", profile])
            .current_dir(&fixtures)
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
