//! Tests of the chat with `useChat` of React in a real browser. The conversations belong to agents.

use std::collections::HashMap;
use std::path::Path;
use std::process::Stdio;
use std::sync::{Mutex, PoisonError};

use axum::response::{Html, IntoResponse as _, Response};
use serde_json::{Value, json};
use test_support::{Missing, Node, Ran};
use tokio::process::Command;

use crate::host::{Host, Kind, Settings};

/// The scripts of the pages, by their names.
static SCRIPTS: Mutex<Option<HashMap<String, String>>> = Mutex::new(None);

/// Returns a page, such as `7`, or its script, such as `7.js`.
pub(crate) fn page(name: &str) -> Response {
    let scripts = SCRIPTS.lock().unwrap_or_else(PoisonError::into_inner);
    let script = scripts.as_ref().and_then(|scripts| scripts.get(name));
    match script {
        Some(script) => {
            let kind = [("content-type", "text/javascript; charset=utf-8")];
            (kind, script.clone()).into_response()
        }
        None => Html(format!(
            "<!doctype html><meta charset=utf-8><div id=root></div><script src=\"/page/{name}.js\"></script>"
        ))
        .into_response(),
    }
}

/// Returns the path of an installed browser.
fn browser() -> Result<&'static str, Missing> {
    let paths = [
        "/usr/bin/chromium-headless-shell",
        "/usr/bin/chromium",
        "/usr/bin/google-chrome",
    ];
    let path = paths.into_iter().find(|path| Path::new(path).exists());
    path.ok_or_else(|| {
        Missing::new("no browser is installed, install the package `chromium-headless-shell`")
    })
}

fn client(name: &str) -> std::path::PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("clients")
        .join(name)
}

/// Runs a command to its end and returns its output.
async fn output(command: std::process::Command, arguments: &[&str]) -> String {
    let mut command = Command::from(command);
    command
        .args(arguments)
        .stdin(Stdio::null())
        .kill_on_drop(true);
    let output = command.output().await.unwrap();
    let [out, error] = [&output.stdout, &output.stderr].map(|text| String::from_utf8_lossy(text));
    assert!(output.status.success(), "{}\n{out}\n{error}", output.status);
    out.into_owned()
}

/// Builds the page for a version of the AI SDK.
async fn build(node: &Node, version: &str) {
    let core = match version {
        "7" => "ai".to_owned(),
        version => format!("ai-{version}"),
    };
    let (_folder, page) = node.beside(&client("page.jsx")).unwrap();
    let mut esbuild = std::process::Command::new(node.package("esbuild/bin/esbuild"));
    // Aliases are resolved in the current folder.
    esbuild.current_dir(node.package(".."));
    let script = output(
        esbuild,
        &[
            page.to_str().unwrap(),
            "--bundle",
            "--format=iife",
            "--jsx=automatic",
            "--log-level=error",
            "--define:process.env.NODE_ENV=\"production\"",
            &format!("--alias:chat-react=ai-react-{version}"),
            &format!("--alias:chat-core={core}"),
        ],
    )
    .await;
    let mut scripts = SCRIPTS.lock().unwrap_or_else(PoisonError::into_inner);
    let scripts = scripts.get_or_insert_default();
    scripts.insert(format!("{version}.js"), script);
}

/// Plays scenarios in a browser, and returns what the page shows in each of them.
async fn play(version: &str, scenarios: &[&str]) -> Result<(Value, Host), Missing> {
    let browser = browser()?;
    let node = Node::with("puppeteer-core")?;
    build(&node, version).await;
    let settings = Settings {
        resets: version == "7",
        ..Settings::default()
    };
    let host = Host::with(Kind::Agents, settings).await;
    let (_folder, script) = node.beside(&client("browser.mjs")).unwrap();
    let address = format!("http://{}", host.first.address);
    let mut arguments = vec![script.to_str().unwrap(), browser, &address, version];
    arguments.extend(scenarios);
    let told = output(node.command(), &arguments).await;
    Ok((serde_json::from_str(&told).unwrap(), host))
}

/// Returns the texts of the messages that a page shows, with the ids of the answers.
fn texts(page: &Value) -> Vec<(&str, &str)> {
    let messages = page["messages"].as_array().unwrap();
    messages
        .iter()
        .map(|message| {
            (
                message["id"].as_str().unwrap(),
                message["text"].as_str().unwrap(),
            )
        })
        .collect()
}

/// Checks the scenarios that every version shows in the same way.
fn check(told: &Value) {
    let stream = &told["stream"];
    assert_eq!(stream["failed"], "", "{stream}");
    assert_eq!(
        texts(stream),
        [("user", "slow"), ("answer-1", "one two")],
        "{stream}"
    );
    let reload = &told["reload"];
    assert_eq!(reload["failed"], "", "{reload}");
    assert_eq!(
        texts(&reload["first"]),
        [("user", "slow"), ("answer-1", "one two")]
    );
    assert_eq!(
        texts(reload),
        [
            ("user", "slow"),
            ("answer-1", "one two"),
            ("user", "hello"),
            ("answer-3", "Hello.")
        ],
        "{reload}"
    );
    let tabs = &told["tabs"];
    assert!(
        tabs["refused"].as_str().unwrap().contains("is active"),
        "{tabs}"
    );
    for tab in ["first", "second"] {
        assert_eq!(
            texts(&tabs[tab]),
            [("user", "slow"), ("answer-1", "one two")],
            "{tabs}"
        );
    }
}

/// Checks the answers to approval requests: one was approved, and one was denied.
fn check_approvals(told: &Value, host: &Host) {
    let approved = json!(["output-available", "\"sent to bob\""]);
    let denied = json!(["output-denied", ""]);
    let approve = &told["approve"];
    assert_eq!(approve["failed"], "", "{approve}");
    assert_eq!(texts(approve)[1], ("answer-1", "2 results"), "{approve}");
    let calls = &approve["messages"][1]["calls"];
    assert_eq!(*calls, json!([&approved, &denied]), "{approve}");
    let delegate = &told["delegate"];
    assert_eq!(delegate["failed"], "", "{delegate}");
    assert_eq!(texts(delegate)[1], ("answer-1", "1 results"), "{delegate}");
    let calls = &delegate["messages"][1]["calls"];
    assert_eq!([&calls[1], &calls[2]], [&approved, &denied], "{delegate}");
    assert_eq!(calls[0][0], "output-available", "{delegate}");
    assert_eq!(host.world.mails(), ["bob", "bob"]);
}

const COMMON: [&str; 3] = ["stream", "reload", "tabs"];

// S2-14, S2-18: React with version 5 of the AI SDK shows the streams of an agent in a browser. Version 5 does not support approvals.
pub(crate) async fn react_with_ai_sdk_5_shows_the_streams_case() -> Ran {
    let (told, _host) = play("5", &COMMON).await?;
    check(&told);
    Ok(())
}

// S2-14, S2-15, S2-18: React with version 6 of the AI SDK also answers approval requests, including the requests of a sub-agent.
pub(crate) async fn react_with_ai_sdk_6_answers_approvals_case() -> Ran {
    let all = [&COMMON[..], &["approve", "delegate", "flaky"]].concat();
    let (told, host) = play("6", &all).await?;
    check(&told);
    check_approvals(&told, &host);
    // The version cannot withdraw text, so the message ends with an error.
    let flaky = &told["flaky"];
    assert!(
        flaky["failed"].as_str().unwrap().contains("try again"),
        "{flaky}"
    );
    Ok(())
}

// S2-14, S2-15, S2-18: version 7 also withdraws the pieces of a step that is repeated.
pub(crate) async fn react_with_ai_sdk_7_withdraws_pieces_case() -> Ran {
    let all = [&COMMON[..], &["approve", "delegate", "flaky"]].concat();
    let (told, host) = play("7", &all).await?;
    check(&told);
    check_approvals(&told, &host);
    let flaky = &told["flaky"];
    assert_eq!(flaky["failed"], "", "{flaky}");
    assert_eq!(texts(flaky)[1], ("answer-1", "right"), "{flaky}");
    Ok(())
}
