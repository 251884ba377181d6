//! What a stranger sees of the packages in a registry.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::path::Path;
use std::process::Command;

use serde_json::Value;

/// The packages of the workspace that can be published.
fn packages() -> Vec<Value> {
    let mut cargo = Command::new(env!("CARGO"));
    cargo
        .current_dir(concat!(env!("CARGO_MANIFEST_DIR"), "/.."))
        .args([
            "metadata",
            "--no-deps",
            "--offline",
            "--format-version",
            "1",
        ]);
    let metadata: Value = serde_json::from_slice(&cargo.output().unwrap().stdout).unwrap();
    let all = metadata["packages"].as_array().unwrap().clone();
    // An empty list of registries is `publish = false`.
    let published = |package: &Value| package["publish"].is_null();
    all.into_iter().filter(published).collect()
}

// G1: the registry has a `tool_macros` of another project, and takes `-` and `_` as the same
#[test]
fn no_package_has_the_name_of_somebody_elses() {
    let packages = packages();
    let mut names: Vec<&str> = packages
        .iter()
        .map(|package| package["name"].as_str().unwrap())
        .collect();
    names.sort_unstable();
    let expected = [
        "tool-cli",
        "tool-code",
        "tool-core",
        "tool-core-macros",
        "tool-mcp",
        "tool-std",
        "tool-store",
    ];
    assert_eq!(names, expected);
}

// G8: no package has a readme, keywords, categories, metadata for docs.rs or a licence file
#[test]
fn each_package_says_what_it_is() {
    for package in packages() {
        let name = package["name"].as_str().unwrap();
        let folder = Path::new(package["manifest_path"].as_str().unwrap())
            .parent()
            .unwrap();
        let text = |field: &str| package[field].as_str().unwrap_or_default();
        assert!(text("description").len() > 40, "{name}");
        assert_eq!(text("license"), "MIT OR Apache-2.0", "{name}");
        for file in [text("readme"), "LICENSE-MIT", "LICENSE-APACHE"] {
            assert!(folder.join(file).is_file(), "{name}: {file}");
        }
        for (list, most) in [("keywords", 5), ("categories", 5)] {
            let list = package[list].as_array().unwrap();
            assert!((1..=most).contains(&list.len()), "{name}: {list:?}");
        }
        // The registry refuses others.
        for keyword in package["keywords"].as_array().unwrap() {
            assert!(keyword.as_str().unwrap().len() <= 20, "{name}: {keyword}");
        }
        let docs = &package["metadata"]["docs"]["rs"];
        assert_eq!(docs["all-features"], true, "{name}");
    }
}
