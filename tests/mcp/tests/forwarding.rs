//! Every method of rmcp's handler is forwarded by the composed handler.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test fails here")]

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

/// Returns the sources of the rmcp that this test was built with, found through the compiler's dependency file. `cargo metadata` would ask for crates of every
/// platform, which may not be downloaded.
fn rmcp() -> PathBuf {
    let version = include_str!("../../../Cargo.lock")
        .split("[[package]]")
        .filter_map(|package| package.trim().strip_prefix("name = \"rmcp\"\nversion = \""))
        .map(|rest| rest.split('"').next().unwrap());
    let versions: Vec<_> = version.collect();
    let [version] = versions[..] else {
        panic!("one rmcp: {versions:?}")
    };
    let binary = std::env::current_exe().unwrap();
    let lists = std::fs::read_dir(binary.parent().unwrap()).unwrap();
    let lists = lists.map(|entry| entry.unwrap().path()).filter(|path| {
        let name = path.file_name().unwrap().to_string_lossy();
        name.starts_with("rmcp-") && name.ends_with(".d")
    });
    let wanted = format!("rmcp-{version}/src/lib.rs");
    for list in lists {
        let text = std::fs::read_to_string(list).unwrap();
        let mut files = text
            .split_whitespace()
            .map(|file| file.trim_end_matches(':'));
        let root = files.find(|file| file.ends_with(&wanted) && Path::new(file).is_file());
        if let Some(root) = root {
            return Path::new(root).parent().unwrap().to_owned();
        }
    }
    panic!(
        "no list of sources beside {} names `{wanted}`",
        binary.display()
    )
}

/// Returns the names of the functions in a part of a source.
fn fns(source: &str) -> BTreeSet<&str> {
    let lines = source.lines().map(str::trim_start);
    let lines = lines.filter_map(|line| {
        line.strip_prefix("async fn ")
            .or_else(|| line.strip_prefix("fn "))
    });
    lines
        .filter_map(|line| line.split(['(', '<']).next())
        .collect()
}

fn between<'a>(source: &'a str, from: &str, to: &str) -> &'a str {
    let after = source.split_once(from).unwrap().1;
    after.split_once(to).unwrap().0
}

fn ours(file: &str) -> String {
    let place = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../../crates/tool-mcp/src/server")
        .join(file);
    std::fs::read_to_string(place).unwrap()
}

#[test]
fn every_method_of_the_handler_is_forwarded() {
    let source = std::fs::read_to_string(rmcp().join("handler/server.rs")).unwrap();
    let theirs = between(
        &source,
        "macro_rules! server_handler_methods",
        "pub trait ServerHandler",
    );
    // Lines of doc examples start with slashes, so they are not counted.
    let theirs = fns(theirs);
    assert!(theirs.len() > 30, "{theirs:?}");
    let composed = ours("compose.rs");
    let composed = between(&composed, "ServerHandler for Composed<H> {", "\n}\n");
    assert_eq!(fns(composed), theirs);
}

#[test]
fn every_method_of_clients_is_known() {
    let model = rmcp().join("model.rs");
    let model = std::fs::read_to_string(model).unwrap();
    // Some names are on a line of their own.
    let model: String = model.split_whitespace().collect::<Vec<_>>().join(" ");
    let mut known = BTreeSet::new();
    for union in ["ClientRequest", "ClientNotification"] {
        let variants = between(&model, &format!("export type {union} ="), ";");
        for variant in variants
            .split('|')
            .map(str::trim)
            .filter(|name| !name.is_empty())
        {
            if variant.starts_with("Custom") {
                continue;
            }
            let short = variant.trim_end_matches("Request");
            let method = [format!("{variant}Method"), format!("{short}Method")]
                .into_iter()
                .find_map(|name| {
                    let given = model
                        .split_once(&format!("({name} = \""))
                        .or_else(|| model.split_once(&format!("( {name} = \"")));
                    Some(given?.1.split_once('"')?.0.to_owned())
                });
            // The `initialize` method is named after its result.
            let method = method.unwrap_or_else(|| {
                assert_eq!(variant, "InitializeRequest");
                "initialize".to_owned()
            });
            known.insert(method);
        }
    }
    let message = ours("message.rs");
    let listed = between(&message, "pub(crate) const METHODS", "];");
    let listed = listed
        .lines()
        .filter_map(|line| line.trim().strip_prefix('"')?.split_once('"'));
    let listed: BTreeSet<String> = listed.map(|(method, _)| method.to_owned()).collect();
    assert_eq!(listed, known);
}
