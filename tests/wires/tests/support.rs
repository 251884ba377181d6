//! Client programs of vendors, run as child processes.

use std::path::{Path, PathBuf};
use std::process::Stdio;

use test_support::{Missing, Node};
use tokio::io::AsyncWriteExt as _;
use tokio::process::Command;

fn script(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("clients")
        .join(name)
}

/// Runs a script of this crate with the vendors' Python clients.
#[allow(dead_code, reason = "each test uses a part of the helpers")]
pub(crate) async fn python(name: &str, arguments: &[&str], input: &str) -> Result<String, Missing> {
    let mut command = Command::new(test_support::python("venv")?);
    command.arg(script(name)).args(arguments);
    Ok(said(command, input).await)
}

/// Runs a script of this crate next to the installed Node packages.
#[allow(dead_code, reason = "each test uses a part of the helpers")]
pub(crate) async fn node(package: &str, name: &str, arguments: &[&str]) -> Result<String, Missing> {
    let node = Node::with(package)?;
    let (_folder, copy) = node.beside(&script(name)).unwrap();
    let mut command = Command::from(node.command());
    command.arg(copy).args(arguments);
    Ok(said(command, "").await)
}

/// Returns the output of a program, which must succeed.
async fn said(mut command: Command, input: &str) -> String {
    command
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .kill_on_drop(true);
    let mut child = command.spawn().unwrap();
    let mut stdin = child.stdin.take().unwrap();
    stdin.write_all(input.as_bytes()).await.unwrap();
    drop(stdin);
    let output = child.wait_with_output().await.unwrap();
    let out = String::from_utf8_lossy(&output.stdout).into_owned();
    let err = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{}\n{out}\n{err}", output.status);
    out
}
