//! Tests of patches: a patch that skips a step of a call must not compile, and a patch that reintroduces a fixed fault must apply.
//!
//! The head of each file in `tests/patches` names the skipped step and the expected compiler error. The compiler checks a copy of `tool-core`,
//! `tool-macros`, `tool-rules`, `tool-schema` and `tool-store` below the target folder.
//!
//! The head of each file in `tests/world/patches` names the finding that the patch reintroduces, and the plan, invariant and seed that make the
//! simulator detect it. `.ci/slow patches` builds the simulator with each patch; this test only applies the patches.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "a test fails by panicking"
)]

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;

fn repository() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

fn write(to: &Path, text: &[u8]) {
    // Unchanged files keep their modification time, so that cargo does not rebuild.
    if fs::read(to).ok().as_deref() != Some(text) {
        fs::write(to, text).expect("the file can be written");
    }
}

fn copied(from: &Path, to: &Path) {
    fs::create_dir_all(to).expect("the folder can be created");
    for entry in fs::read_dir(from).expect("the folder is readable") {
        let entry = entry.expect("the entry is readable");
        let (from, to) = (entry.path(), to.join(entry.file_name()));
        if from.is_dir() {
            copied(&from, &to);
        } else {
            write(&to, &fs::read(&from).expect("the file is readable"));
        }
    }
}

/// Returns a manifest without its dev-dependencies and test targets. The copy has no tests, and cargo would read the manifest of each dev-dependency.
fn without_tests(manifest: &str) -> String {
    let is_of_tests =
        |header: &str| header.contains("dev-dependencies") || header.starts_with("[[test]]");
    let mut keep = true;
    let kept = manifest.lines().filter(|line| {
        if line.starts_with('[') {
            keep = !is_of_tests(line);
        }
        keep
    });
    kept.flat_map(|line| [line, "\n"]).collect()
}

/// Resets the copy to the state of the repository.
fn restored(copy: &Path) {
    let repository = repository();
    for (krate, parts) in [
        ("crates/tool-rules", &["src"][..]),
        ("crates/tool-schema", &["src"]),
        ("crates/tool-store", &["src", "migrations"]),
        ("tool-core", &["src"]),
        ("tool-macros", &["src", "docs"]),
    ] {
        for part in parts {
            copied(
                &repository.join(krate).join(part),
                &copy.join(krate).join(part),
            );
        }
        let manifest = fs::read_to_string(repository.join(krate).join("Cargo.toml"))
            .expect("the manifest is readable");
        write(
            &copy.join(krate).join("Cargo.toml"),
            without_tests(&manifest).as_bytes(),
        );
    }
    let script =
        fs::read(repository.join("tool-core/build.rs")).expect("the build script is readable");
    write(&copy.join("tool-core/build.rs"), &script);
    let manifest =
        fs::read_to_string(repository.join("Cargo.toml")).expect("the manifest is readable");
    let members = r#"members = ["crates/tool-rules", "crates/tool-schema", "crates/tool-store", "tool-macros", "tool-core"]"#;
    let of_all = manifest
        .lines()
        .find(|line| line.starts_with("members = "))
        .expect("the members of the workspace in one line");
    write(
        &copy.join("Cargo.toml"),
        manifest.replacen(of_all, members, 1).as_bytes(),
    );
    // Cargo removes the unused entries from the copied lock file.
    if !copy.join("Cargo.lock").exists() {
        fs::copy(repository.join("Cargo.lock"), copy.join("Cargo.lock"))
            .expect("the lock file can be copied");
    }
}

/// Returns the code and the text of each compiler error. The text includes the source lines of the error.
fn errors(copy: &Path) -> Vec<(String, String)> {
    let output = tool_tests::cargo::command()
        .args(["check", "--offline", "--package", "tool-core", "--lib"])
        .args(["--no-default-features", "--features", "host"])
        .args(["--message-format", "json", "--target-dir"])
        .arg(Path::new(env!("CARGO_TARGET_TMPDIR")).with_file_name("tests/trybuild"))
        .current_dir(copy)
        .env("CARGO_INCREMENTAL", "1")
        .env_remove("RUSTFLAGS")
        .env_remove("CARGO_ENCODED_RUSTFLAGS")
        .output()
        .expect("cargo runs");
    let messages = String::from_utf8(output.stdout).expect("the messages are UTF-8");
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

/// Returns the value of a line `NAME: …` in the head of a patch.
fn field<'p>(patch: &'p str, name: &str) -> &'p str {
    let mut head = patch.lines().take_while(|line| !line.starts_with("diff"));
    head.find_map(|line| line.strip_prefix(name)?.strip_prefix(": "))
        .unwrap_or_else(|| panic!("the head has no line `{name}: …`:\n{patch}"))
}

/// Returns the patches in a folder of the repository, sorted by name.
fn patches_of(folder: &str) -> Vec<PathBuf> {
    let mut patches: Vec<PathBuf> = fs::read_dir(repository().join(folder))
        .expect("the folder of patches is readable")
        .map(|entry| {
            fs::canonicalize(entry.expect("the entry is readable").path()).expect("the file exists")
        })
        .collect();
    patches.sort();
    patches
}

/// Applies a patch to a folder, or only tests it with `--check`.
fn apply(patch: &Path, to: &Path, options: &[&str]) -> Result<(), String> {
    let to = fs::canonicalize(to).expect("the folder exists");
    let applied = Command::new("git")
        .args(["apply", "--whitespace=nowarn"])
        .args(options)
        .arg(patch)
        .current_dir(&to)
        // The folder may be inside a repository. The variable stops git from applying the patch relative to the root of that repository.
        .env(
            "GIT_CEILING_DIRECTORIES",
            to.parent().expect("the folder has a parent"),
        )
        .output()
        .expect("git runs");
    let why = String::from_utf8_lossy(&applied.stderr).into_owned();
    applied.status.success().then_some(()).ok_or(why)
}

/// A patch that the compiler must refuse.
struct Refused {
    path: PathBuf,
    name: String,
    code: String,
    subject: String,
    /// The file that the patch changes.
    file: String,
}

impl Refused {
    fn read(path: PathBuf) -> Self {
        let text = fs::read_to_string(&path).expect("the patch is readable");
        let expected = field(&text, "expects");
        let (code, subject) = expected
            .split_once(' ')
            .expect("the head names a code and a subject");
        let file = text.lines().find_map(|line| line.strip_prefix("+++ b/"));
        Self {
            name: path
                .file_name()
                .expect("the path has a file name")
                .to_string_lossy()
                .into(),
            code: code.to_owned(),
            subject: subject.to_owned(),
            file: file.expect("the patch changes a file").to_owned(),
            path,
        }
    }

    fn is_among(&self, errors: &[(String, String)]) -> bool {
        errors.iter().any(|(found, text)| {
            *found == self.code && text.contains(&self.subject) && text.contains(&self.file)
        })
    }
}

#[test]
fn patches_that_skip_a_step_do_not_compile() {
    let copy = Path::new(env!("CARGO_TARGET_TMPDIR")).join("patches");
    let mut groups: BTreeMap<String, Vec<Refused>> = BTreeMap::new();
    for patch in patches_of("tests/patches").into_iter().map(Refused::read) {
        groups.entry(patch.code.clone()).or_default().push(patch);
    }
    assert!(groups.values().map(Vec::len).sum::<usize>() >= 5);
    // A check takes ten seconds, so patches with the same error code are checked together. The compiler reports errors
    // of one code together, whereas errors of an early phase hide errors of later phases.
    let mut alone = Vec::new();
    for group in groups.into_values() {
        restored(&copy);
        let (applied, rest): (Vec<_>, Vec<_>) = group
            .into_iter()
            .partition(|patch| apply(&patch.path, &copy, &[]).is_ok());
        let errors = errors(&copy);
        let hidden = applied.into_iter().filter(|patch| !patch.is_among(&errors));
        alone.extend(hidden.chain(rest));
    }
    for patch in alone {
        restored(&copy);
        let Refused {
            name,
            code,
            subject,
            ..
        } = &patch;
        if let Err(why) = apply(&patch.path, &copy, &[]) {
            panic!("{name} no longer applies, adapt it: {why}");
        }
        let errors = errors(&copy);
        assert!(
            patch.is_among(&errors),
            "{name} expects the error {code} about `{subject}`: {errors:#?}"
        );
    }
    restored(&copy);
}

/// Returns an error if a patch that reintroduces a fault no longer applies, or if its head is out of date.
fn stale(path: &Path, page: &str) -> Result<(), String> {
    let name = path
        .file_stem()
        .expect("the path has a file name")
        .to_string_lossy();
    let change = fs::read_to_string(path).expect("the patch is readable");
    apply(path, &repository(), &["--check"])
        .map_err(|why| format!("{name} no longer applies, adapt it: {why}"))?;
    let is_change = |line: &&str| {
        (line.starts_with('+') && !line.starts_with("+++"))
            || (line.starts_with('-') && !line.starts_with("---"))
    };
    let changed = change.lines().filter(is_change).count();
    if !(1..=40).contains(&changed) {
        return Err(format!("{name} changes {changed} lines, change at most 40"));
    }
    let [finding, plan, invariant, seed] =
        ["finding", "plan", "invariant", "seed"].map(|of| field(&change, of));
    let file = format!("tests/world/plans/{plan}.json");
    let text = fs::read_to_string(repository().join(&file))
        .map_err(|error| format!("{name} names the plan `{file}`: {error}"))?;
    let plan_now: Value = serde_json::from_str(&text).expect("the plan is JSON");
    let expect = &plan_now["expect"];
    if (&expect["finding"], &expect["state"]) != (&finding.into(), &"fixed".into()) {
        return Err(format!(
            "`{file}` is not a fixed plan of {finding}: {expect}"
        ));
    }
    let row = format!(
        "| [`{name}`](../tests/world/patches/{name}.patch) | {finding} | `{plan}` | `{invariant}` | {seed} |"
    );
    if !page.contains(&row) {
        return Err(format!("docs/world.md has no row `{row}`"));
    }
    Ok(())
}

// Each patch that reintroduces a fixed fault applies, and its head is up to date.
#[test]
fn patches_that_reintroduce_a_fault_apply() {
    let patches = patches_of("tests/world/patches");
    let page =
        fs::read_to_string(repository().join("docs/world.md")).expect("the page is readable");
    let has = |finding: &str| {
        let of = |path: &PathBuf| fs::read_to_string(path).expect("the patch is readable");
        patches
            .iter()
            .any(|path| field(&of(path), "finding") == finding)
    };
    for finding in ["A1", "A2", "A3", "A4", "A5", "A6", "B2", "B3", "B6", "C1"] {
        assert!(has(finding), "no patch reintroduces {finding}");
    }
    let stale: Vec<String> = patches
        .iter()
        .filter_map(|path| stale(path, &page).err())
        .collect();
    assert!(stale.is_empty(), "{stale:#?}");
}
