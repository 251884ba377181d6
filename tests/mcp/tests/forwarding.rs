//! What rmcp's handler can do, and that the composed handler forwards it.

#![allow(clippy::unwrap_used, reason = "a test fails here")]

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;

/// Sources of the rmcp that this workspace builds with.
fn rmcp() -> PathBuf {
    let mut cargo = Command::new(env!("CARGO"));
    cargo.args(["metadata", "--format-version", "1", "--offline", "--locked"]);
    let metadata = cargo
        .current_dir(env!("CARGO_MANIFEST_DIR"))
        .output()
        .unwrap();
    let metadata: Value = serde_json::from_slice(&metadata.stdout).unwrap();
    let packages = metadata["packages"].as_array().unwrap();
    let rmcp: Vec<_> = packages
        .iter()
        .filter(|package| package["name"] == "rmcp")
        .collect();
    assert_eq!(rmcp.len(), 1);
    let manifest = Path::new(rmcp[0]["manifest_path"].as_str().unwrap());
    manifest.parent().unwrap().join("src")
}

/// The names of the fns in a part of a source.
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
        .join("../../tool-mcp/src/server")
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
    // Examples in doc comments begin with slashes.
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
    // Some names stand on a line of their own.
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
            // `initialize` is named after its result.
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
