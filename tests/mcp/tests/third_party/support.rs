//! The test server as a child process, and the client programs that call it.

#![allow(
    unreachable_pub,
    clippy::unwrap_used,
    clippy::panic,
    reason = "a test fails by panicking"
)]

use std::io::{BufRead as _, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use test_support::Node;

/// The path of the test server's binary.
pub const FIXTURE: &str = env!("CARGO_BIN_EXE_mcp-fixture");

/// A test server over HTTP. The process is killed on drop.
pub struct Server {
    child: Child,
    pub address: String,
    /// The output of the process on standard error.
    pub said: Arc<Mutex<String>>,
}

impl Server {
    pub fn start(arguments: &[&str]) -> Self {
        let mut child = Command::new(FIXTURE)
            .args(arguments)
            .args(["--http", "0"])
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let mut lines = BufReader::new(child.stderr.take().unwrap());
        let mut address = String::new();
        lines.read_line(&mut address).unwrap();
        let said = Arc::new(Mutex::new(String::new()));
        let log = Arc::clone(&said);
        std::thread::spawn(move || {
            let mut line = String::new();
            while lines.read_line(&mut line).is_ok_and(|read| read > 0) {
                log.lock().unwrap().push_str(&line);
                line.clear();
            }
        });
        Self {
            child,
            address: address.trim().to_owned(),
            said,
        }
    }

    /// Waits until the process has printed a text.
    pub fn until(&self, text: &str) {
        let begun = Instant::now();
        while !self.said.lock().unwrap().contains(text) {
            assert!(
                begun.elapsed() < Duration::from_secs(30),
                "the test server has not printed {text:?} within 30 s"
            );
            std::thread::sleep(Duration::from_millis(10));
        }
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Runs a Node program with these arguments.
pub fn run(node: &Node, script: &Path, arguments: &[&str]) -> Output {
    finished(node.command().arg(script).args(arguments))
}

/// Runs a script of this crate next to the installed Node packages, and returns its output.
pub fn script(node: &Node, name: &str, arguments: &[&str]) -> String {
    let (_folder, copy) = node.beside(&own(name)).unwrap();
    said(&run(node, &copy, arguments))
}

/// Runs a script of this crate with a Python interpreter, and returns its output.
pub fn python(interpreter: &Path, name: &str, arguments: &[&str]) -> String {
    let mut command = Command::new(interpreter);
    said(&finished(command.arg(own(name)).args(arguments)))
}

fn own(script: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("clients")
        .join(script)
}

/// Waits for a program to exit and returns its output. A program that exceeds the timeout is killed.
fn finished(command: &mut Command) -> Output {
    let mut child = command
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let (mut out, mut err) = (child.stdout.take().unwrap(), child.stderr.take().unwrap());
    let (out, err) = (
        std::thread::spawn(move || read(&mut out)),
        std::thread::spawn(move || read(&mut err)),
    );
    let begun = Instant::now();
    let status = loop {
        if let Some(status) = child.try_wait().unwrap() {
            break status;
        }
        if begun.elapsed() > Duration::from_mins(2) {
            child.kill().unwrap();
        }
        std::thread::sleep(Duration::from_millis(20));
    };
    Output {
        status,
        stdout: out.join().unwrap(),
        stderr: err.join().unwrap(),
    }
}

fn read(pipe: &mut impl std::io::Read) -> Vec<u8> {
    let mut bytes = Vec::new();
    pipe.by_ref().read_to_end(&mut bytes).unwrap();
    bytes
}

/// Returns the standard output of a program, which must have succeeded.
pub fn said(output: &Output) -> String {
    let (out, err) = (
        String::from_utf8_lossy(&output.stdout),
        String::from_utf8_lossy(&output.stderr),
    );
    assert!(output.status.success(), "{}\n{out}\n{err}", output.status);
    out.into_owned()
}
