//! The names, metadata, links and files of the published packages.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use serde_json::Value;
use tool_tests::sources::each_source;

use crate::capabilities::has_attribute;

/// Returns all packages of the workspace.
fn all_packages() -> Vec<Value> {
    let mut cargo = tool_tests::cargo::command();
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
    metadata["packages"].as_array().unwrap().clone()
}

/// Returns the packages of the workspace that can be published.
fn packages() -> Vec<Value> {
    // Cargo reports `publish = false` as an empty list of registries, and a missing key as null.
    let published = |package: &Value| package["publish"].is_null();
    all_packages().into_iter().filter(published).collect()
}

// The published packages have exactly these names. `tool-macros` is not one of them, because `tool_macros` is a different project and crates.io
// treats `-` and `_` as the same.
#[test]
fn published_packages_have_the_expected_names() {
    let packages = packages();
    let mut names: Vec<&str> = packages
        .iter()
        .map(|package| package["name"].as_str().unwrap())
        .collect();
    names.sort_unstable();
    let expected = [
        "tool-agent",
        "tool-cli",
        "tool-code",
        "tool-contracts",
        "tool-core",
        "tool-core-macros",
        "tool-http",
        "tool-import",
        "tool-isolate",
        "tool-mcp",
        "tool-rules",
        "tool-schema",
        "tool-server",
        "tool-std",
        "tool-store",
        "tool-wire",
    ];
    assert_eq!(names, expected);
}

// Each package has a readme, keywords, categories, metadata for docs.rs and licence files.
#[test]
fn each_package_has_complete_metadata() {
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
        // crates.io refuses longer keywords.
        for keyword in package["keywords"].as_array().unwrap() {
            assert!(keyword.as_str().unwrap().len() <= 20, "{name}: {keyword}");
        }
        let docs = &package["metadata"]["docs"]["rs"];
        assert_eq!(docs["all-features"], true, "{name}");
    }
}

/// Returns the folder of a package, and the files that cargo packages.
fn files(package: &Value) -> (PathBuf, BTreeSet<PathBuf>) {
    let manifest = Path::new(package["manifest_path"].as_str().unwrap());
    let listed = tool_tests::cargo::command()
        .args([
            "package",
            "--list",
            "--allow-dirty",
            "--offline",
            "--manifest-path",
        ])
        .arg(manifest)
        .output()
        .unwrap();
    let listed = String::from_utf8(listed.stdout).unwrap();
    let files: BTreeSet<PathBuf> = listed.lines().map(PathBuf::from).collect();
    (manifest.parent().unwrap().to_owned(), files)
}

/// Returns the paths of files to which a page links with `](path)` or `[name]: path`.
fn linked(page: &str) -> impl Iterator<Item = &str> {
    let inline = page
        .split("](")
        .skip(1)
        .filter_map(|rest| rest.split(')').next());
    let defined = page.lines().filter_map(|line| {
        let (name, path) = line.strip_prefix('[')?.split_once("]: ")?;
        (!name.contains(']')).then_some(path)
    });
    let paths = inline
        .chain(defined)
        .map(|link| link.split('#').next().unwrap());
    // The target of a link with `.html` is a page of the documentation, not a file.
    let is_file =
        |path: &&str| !path.is_empty() && !path.contains("://") && !path.contains(".html");
    paths.filter(is_file)
}

/// Returns the files that a source includes as text.
fn included(source: &str) -> impl Iterator<Item = &str> {
    source.split("include_str!(").skip(1).filter_map(|rest| {
        let literal = rest.trim_start().strip_prefix('"')?;
        literal.split('"').next()
    })
}

/// Resolves each `..` in the text of a path.
fn plain(path: &Path) -> PathBuf {
    let mut plain = PathBuf::new();
    for part in path.components() {
        if part == std::path::Component::ParentDir {
            plain.pop();
        } else {
            plain.push(part);
        }
    }
    plain
}

// Each package contains every file that its pages link to or that its sources include.
#[test]
fn packages_contain_every_linked_and_included_file() {
    let mut pages = 0;
    for package in packages() {
        let name = package["name"].as_str().unwrap();
        let (folder, files) = files(&package);
        for file in ["README.md", "LICENSE-MIT", "LICENSE-APACHE", "src/lib.rs"] {
            assert!(files.contains(Path::new(file)), "{name}: {file}");
        }
        for file in &files {
            let extension = file.extension().unwrap_or_default();
            // Cargo copies the readme to the root of the package, so its path in the repository may be different.
            let Ok(text) = fs::read_to_string(folder.join(file)) else {
                continue;
            };
            let needed: Vec<&str> = match extension.to_str().unwrap() {
                "md" => linked(&text).collect(),
                "rs" => included(&text).collect(),
                _ => continue,
            };
            pages += usize::from(extension == "md" && !needed.is_empty());
            for one in needed {
                let one = plain(&file.with_file_name(one));
                assert!(
                    files.contains(&one),
                    "{name}: {} needs {}",
                    file.display(),
                    one.display()
                );
            }
        }
    }
    assert!(pages >= 5, "only {pages} pages have links");
}

// Each crate enables `doc_cfg` on docs.rs, so that the page of an item shows the required feature.
#[test]
fn docs_of_each_package_show_features() {
    for package in packages() {
        let name = package["name"].as_str().unwrap();
        let metadata = &package["metadata"]["docs"]["rs"];
        assert_eq!(
            metadata["rustdoc-args"],
            serde_json::json!(["--cfg", "docsrs"]),
            "{name}"
        );
        let manifest = Path::new(package["manifest_path"].as_str().unwrap());
        let source = fs::read_to_string(manifest.with_file_name("src/lib.rs")).unwrap();
        assert!(
            source.contains("cfg_attr(docsrs, feature(doc_cfg))"),
            "{name}"
        );
    }
}

#[test]
fn readmes_share_one_example() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let read = |path: &str| fs::read_to_string(root.join(path)).unwrap();
    let text = read("README.md");
    let tool = text.split("```rust\n").nth(1).unwrap();
    let tool = tool.split("```").next().unwrap();
    assert!(read("tool-core/README.md").contains(tool));
}

// A library or binary with `test = false` or `doctest = false` contains no tests. Manifests set these options, because cargo would otherwise build
// the target a second time.
#[test]
fn targets_that_are_not_tested_contain_no_tests() {
    let mut found = Vec::new();
    for package in all_packages() {
        for target in package["targets"].as_array().unwrap() {
            let kind = target["kind"][0].as_str().unwrap();
            if !matches!(kind, "lib" | "bin") {
                continue;
            }
            let file = Path::new(target["src_path"].as_str().unwrap());
            let mut check = |path: &Path| {
                for line in fs::read_to_string(path).unwrap().lines() {
                    let line = line.trim_start();
                    let documented = line.starts_with("//") && line.contains("```");
                    if (target["test"] == false && has_attribute(line))
                        || (kind == "lib" && target["doctest"] == false && documented)
                    {
                        found.push(format!("{}: {line}", path.display()));
                    }
                }
            };
            let folder = file.parent().unwrap();
            if folder.ends_with("src") || folder.ends_with("src/bin") {
                each_source(folder, &mut check);
            } else {
                check(file);
            }
        }
    }
    assert!(
        found.is_empty(),
        "remove `test = false` or `doctest = false` from the manifest: {found:#?}"
    );
}
