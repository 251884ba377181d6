//! Tests that cargo refuses a program with two versions of `tool-core`.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    reason = "a test fails by panicking"
)]

use std::fs;
use std::path::Path;

use serde_json::Value;
use tool_tests::sources::each_source;

/// Returns the root of the repository.
fn root() -> &'static Path {
    Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/.."))
}

/// Returns the version and the value of `links` in the manifest of `tool-core`.
fn core() -> (String, Value) {
    let output = tool_tests::cargo::command()
        .current_dir(root())
        .args([
            "metadata",
            "--no-deps",
            "--offline",
            "--format-version",
            "1",
        ])
        .output()
        .unwrap();
    let metadata: Value = serde_json::from_slice(&output.stdout).unwrap();
    let packages = metadata["packages"].as_array().unwrap();
    let core = packages
        .iter()
        .find(|package| package["name"] == "tool-core");
    let core = core.unwrap();
    (
        core["version"].as_str().unwrap().to_owned(),
        core["links"].clone(),
    )
}

/// Writes a package with an empty library.
fn package(folder: &Path, name: &str, version: &str, rest: &str) {
    fs::create_dir_all(folder.join("src")).unwrap();
    let manifest = format!(
        "[package]\nname = \"{name}\"\nversion = \"{version}\"\nedition = \"2024\"\n{rest}"
    );
    fs::write(folder.join("Cargo.toml"), manifest).unwrap();
    fs::write(folder.join("src/lib.rs"), "").unwrap();
    fs::write(folder.join("build.rs"), "fn main() {}\n").unwrap();
}

/// Returns cargo's error for a host and a pack on these versions of `tool-core`, or `None` if cargo resolves them.
fn refusal(links: &Value, pack: &str, host: &str) -> Option<String> {
    let folder = tempfile::tempdir().unwrap();
    let place = folder.path().canonicalize().unwrap();
    let links = links
        .as_str()
        .map_or_else(String::new, |links| format!("links = \"{links}\"\n"));
    for version in [pack, host] {
        package(
            &place.join(format!("tool-core-{version}")),
            "tool-core",
            version,
            &links,
        );
    }
    let on = |version: &str| {
        format!("tool-core = {{ path = \"../tool-core-{version}\", version = \"{version}\" }}\n")
    };
    package(
        &place.join("my-pack"),
        "my-pack",
        "1.0.0",
        &format!("\n[dependencies]\n{}", on(pack)),
    );
    let rest = format!(
        "\n[dependencies]\nmy-pack = {{ path = \"../my-pack\" }}\n{}\n[workspace]\n",
        on(host)
    );
    package(&place.join("my-host"), "my-host", "1.0.0", &rest);
    let output = tool_tests::cargo::command()
        .current_dir(place.join("my-host"))
        .args(["tree", "--offline", "--color", "never"])
        .output()
        .unwrap();
    let message = String::from_utf8(output.stderr).unwrap();
    // Other tests may run cargo at the same time.
    let is_of_lock = |line: &&str| {
        line.trim_start()
            .starts_with("Blocking waiting for file lock")
    };
    let parts = message.split_inclusive('\n');
    let message: String = parts.filter(|line| !is_of_lock(line)).collect();
    (!output.status.success()).then(|| message.replace(place.to_str().unwrap(), "/src"))
}

// Two versions of `tool-core` in one program are refused with the documented error. Earlier, the tools of a pack with a different version were
// missing without an error.
#[test]
fn two_versions_in_one_program_are_refused_as_documented() {
    let (version, links) = core();
    let next = "0.2.0";
    assert!(
        version.starts_with("0.1."),
        "docs/versions.md describes only the versions 0.1 and {next}"
    );
    let message = refusal(&links, &version, next).expect("cargo accepts two versions");
    let page = fs::read_to_string(root().join("docs/versions.md")).unwrap();
    assert!(
        page.contains(message.trim()),
        "docs/versions.md does not quote this text:\n{message}"
    );
    // Control test: cargo accepts one version, and two versions without `links`.
    assert_eq!(refusal(&links, &version, &version), None);
    assert_eq!(refusal(&Value::Null, &version, next), None);
}

// The name of the module for generated code contains the patch version, and no source of `tool-core` names the module of a different version.
#[test]
fn private_module_is_named_after_the_patch_version() {
    let (version, _) = core();
    let name = format!("__private{}", version.rsplit('.').next().unwrap());
    let lib = fs::read_to_string(root().join("tool-core/src/lib.rs")).unwrap();
    assert!(lib.contains(&format!("pub mod {name} {{")));
    each_source(&root().join("tool-core/src"), &mut |path| {
        let text = fs::read_to_string(path).unwrap();
        for (at, _) in text.match_indices("__private") {
            assert!(
                text[at..].starts_with(&name),
                "{} names a different version",
                path.display()
            );
        }
    });
}
